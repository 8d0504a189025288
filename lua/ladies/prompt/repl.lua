--- What the prompt shows: values on one line, completions, where its history lies. Nothing here
-- needs a terminal; the host (src/host) edits lines and runs them.

local repl = {}

local KEYWORDS = {}
for word in ([[and break do else elseif end false for function goto if in local nil not or repeat
    return then true until while]]):gmatch("%a+") do
  KEYWORDS[word] = true
end

-- Printing ------------------------------------------------------------------------------

local ESCAPES = {['"'] = '\\"', ["\\"] = "\\\\", ["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t"}

-- `text` cut to `width` columns; UTF-8 characters count as one column and stay whole.
local function cut(text, width)
  local length = utf8.len(text)
  if (length or #text) <= width then return text end
  local last = length and utf8.offset(text, width - 2) or width - 2
  return text:sub(1, math.max(last - 1, 0)) .. "..."
end

local function quote(text, width)
  -- Any byte is at least a column, or a part of a character of at most four bytes.
  local quoted = text:sub(1, 4 * width):gsub('[%c"\\]', function(c)
    return ESCAPES[c] or ("\\%d"):format(c:byte())
  end)
  if not utf8.len(text:sub(1, 4 * width)) then
    quoted = quoted:gsub("[\x80-\xff]", function(c) return ("\\%d"):format(c:byte()) end)
  end
  if #text <= 4 * width and utf8.len(quoted) + 2 <= width then return '"' .. quoted .. '"' end
  local size = (" (%d bytes)"):format(#text)
  return '"' .. cut(quoted, math.max(width - #size - 2, 4)) .. '"' .. size
end

-- Integers first, then other numbers, strings, and the rest, each in its own order.
local function key_order(a, b)
  local kind_a, kind_b = type(a), type(b)
  if kind_a == "number" and kind_b == "number" then return a < b end
  if kind_a ~= kind_b then
    if kind_a == "number" or kind_b == "number" then return kind_a == "number" end
    if kind_a == "string" or kind_b == "string" then return kind_a == "string" end
    return kind_a < kind_b
  end
  return tostring(a) < tostring(b)
end

local format

local function format_key(key, width)
  if type(key) == "string" and key:find("^[%a_][%w_]*$") and not KEYWORDS[key] then return key end
  return "[" .. format(key, width, 0) .. "]"
end

-- {1, 2, x = 3, ... 97 more}; nested tables at most `depth` deep.
local function format_table(value, width, depth)
  if next(value) == nil then return "{}" end
  if depth == 0 then return "{...}" end
  local keys, n = {}, rawlen(value)
  for key in next, value do
    if not (math.type(key) == "integer" and key >= 1 and key <= n) then keys[#keys + 1] = key end
  end
  table.sort(keys, key_order)
  local total, parts, used = n + #keys, {}, 2
  for i = 1, total do
    local rest = total - i
    local more = rest > 0 and (", ... %d more"):format(rest) or ""
    local room = width - used - #more - 2
    local part
    if i <= n then
      part = format(rawget(value, i), room, depth - 1)
    else
      local key = format_key(keys[i - n], room)
      part = key .. " = " .. format(rawget(value, keys[i - n]), room - #key - 3, depth - 1)
    end
    if (utf8.len(part) or #part) > room then
      parts[#parts + 1] = ("... %d more"):format(total - i + 1)
      break
    end
    parts[#parts + 1] = part
    used = used + (utf8.len(part) or #part) + 2
  end
  return "{" .. table.concat(parts, ", ") .. "}"
end

function format(value, width, depth)
  width = math.max(width, 8)
  local meta = debug.getmetatable(value)
  if type(value) == "string" then return quote(value, width) end
  local speaks = meta and (rawget(meta, "__tostring") or rawget(meta, "__name"))
  if type(value) ~= "table" or speaks then
    return cut(tostring(value):gsub("%s*\n%s*", " "), width)
  end
  return format_table(value, width, depth)
end

--- `value` on one line of at most about `width` columns: strings quoted, tables expanded as far as
-- there is room, their keys sorted, anything else through tostring.
function repl.format(value, width)
  return format(value, width or 80, 3)
end

--- The text the prompt prints for the results of a chunk, separated by commas. A single object
-- whose own text has several lines keeps them.
function repl.results(width, ...)
  local values = table.pack(...)
  local n, first = values.n, ...
  local meta = type(first) ~= "string" and debug.getmetatable(first)
  if n == 1 and meta and rawget(meta, "__tostring") then
    local own = tostring(first)
    if own:find("\n") then return (own:gsub("\n+$", "")) end
  end
  local function join(share)
    local parts = {}
    for i = 1, n do parts[i] = repl.format(values[i], share) end
    return table.concat(parts, ", ")
  end
  local text = join(width)
  return (utf8.len(text) or #text) <= width and text or join(math.max(width // n - 2, 20))
end

-- Completion ----------------------------------------------------------------------------

-- Whether the end of `line` lies inside a string or a comment.
local function in_string(line)
  local quote_mark, i = nil, 1
  while i <= #line do
    local c = line:sub(i, i)
    if quote_mark then
      if c == "\\" then i = i + 1 elseif c == quote_mark then quote_mark = nil end
    elseif c == '"' or c == "'" then
      quote_mark = c
    elseif line:sub(i, i + 1) == "--" then
      return true
    end
    i = i + 1
  end
  return quote_mark ~= nil
end

local function raw_index(value, key)
  for _ = 1, 100 do -- a chain of __index may be a ring
    local meta = debug.getmetatable(value)
    if type(value) == "table" then
      local found = rawget(value, key)
      if found ~= nil then return found end
    end
    if type(meta) ~= "table" then return nil end
    if rawget(meta, "__load") then return meta.__load(key) end
    local methods, index = rawget(meta, "__methods"), rawget(meta, "__index")
    if type(methods) == "table" and rawget(methods, key) ~= nil then return rawget(methods, key) end
    if type(index) ~= "table" then return nil end
    value = index
  end
end

-- Calls add(name, value) for all that can follow `value` without running any code of its own.
local function each_member(value, add)
  local function each(t)
    for key, member in next, t do add(key, member) end
  end
  for _ = 1, 100 do
    if type(value) == "table" then each(value) end
    local meta = debug.getmetatable(value)
    if type(meta) ~= "table" then return end
    local fields, methods, index = rawget(meta, "__fields"), rawget(meta, "__methods"),
      rawget(meta, "__index")
    if type(methods) == "table" then each(methods) end
    if type(fields) == "table" then
      for _, name in ipairs(fields) do add(name, true) end
    end
    if type(index) ~= "table" then return end
    value = index
  end
end

local function is_callable(value)
  local meta = debug.getmetatable(value)
  return type(value) == "function" or (type(meta) == "table" and rawget(meta, "__call") ~= nil)
end

--- Completes the name that ends `line`, the text up to the cursor: returns the position where the
-- name begins and the sorted array of the whole names that may stand there. Looks fields up raw and
-- through __index tables, `__methods`, `__fields` and `__load`; runs none of the user's code.
function repl.complete(line, env)
  local name = line:match("[%a_][%w_]*$") or ""
  local start = #line - #name + 1
  local before = line:sub(1, start - 1)
  local path, separator = before:match("([%a_][%w_.]*)([.:])$")
  if in_string(before) or before:find("%w$") or (before:find("[.:]$") and not path)
    or before:find("%.%.$") and name == "" then
    return start, {}
  end
  local object, at_object = env, false
  if path and not before:find("%.%.$") then
    if before:sub(1, -#path - 2):find("[%w_.:%)%]]$") then return start, {} end
    for step in path:gmatch("[^.]+") do
      object = raw_index(object, step)
      if object == nil then return start, {} end
    end
    at_object = true
  end
  if not at_object and name == "" then return start, {} end

  local found, names = {}, {}
  local function add(key, value)
    if type(key) == "string" and not found[key] and key:find("^[%a_][%w_]*$")
      and key:sub(1, #name) == name and (name ~= "" or key:sub(1, 1) ~= "_")
      and (separator ~= ":" or is_callable(value)) then
      found[key] = true
      names[#names + 1] = key
    end
  end
  each_member(object, add)
  if not at_object then
    for word in pairs(KEYWORDS) do add(word) end
  end
  table.sort(names)
  return start, names
end

--- `words` in columns that fit `width`, read downwards.
function repl.columns(words, width)
  local widest = 0
  for _, word in ipairs(words) do widest = math.max(widest, #word + 2) end
  local n_columns = math.max(1, width // widest)
  local n_rows = (#words + n_columns - 1) // n_columns
  local lines = {}
  for row = 1, n_rows do
    local cells = {}
    for i = row, #words, n_rows do cells[#cells + 1] = ("%-" .. widest .. "s"):format(words[i]) end
    lines[row] = table.concat(cells):gsub("%s+$", "")
  end
  return table.concat(lines, "\n")
end

--- What Tab does after `line`: the text to insert, and the candidates to show when nothing can be
-- inserted and there are several.
function repl.tab(line, width)
  local start, names = repl.complete(line, _G)
  if #names == 0 then return "" end
  local typed = #line - start + 1
  local common = #names[1]
  local first, last = names[1], names[#names] -- sorted: these two differ first
  for i = 1, common do
    if first:byte(i) ~= last:byte(i) then
      common = i - 1
      break
    end
  end
  local insert = first:sub(typed + 1, common)
  return insert, insert == "" and #names > 1 and repl.columns(names, width) or nil
end

-- Locals and history --------------------------------------------------------------------

--- A hint for a line that makes a local, which Lua forgets at the end of the line; nil for others.
function repl.local_note(line)
  local rest = line:match("^%s*local%s+([%a_].*)")
  if not rest then return nil end
  local instead = rest:match("^function%s+[%a_][%w_]*") or rest:match("^[%a_][%w_]*") .. " = ..."
  return ("note: a local ends with its line here; to keep it, write `%s`"):format(instead)
end

local ENTRIES = 1000

--- The file that keeps the history, or nil for none: LADIES_HISTORY, else ladies/history under
-- XDG_STATE_HOME or ~/.local/state.
function repl.history_file()
  local chosen = os.getenv "LADIES_HISTORY"
  if chosen then return chosen ~= "" and chosen or nil end
  local state, home = os.getenv "XDG_STATE_HOME", os.getenv "HOME"
  if state and state:find("^/") then return state .. "/ladies/history" end
  return home and home:find("^/") and home .. "/.local/state/ladies/history" or nil
end

-- A history file has an entry a line, with \n and \\ for a newline and a backslash in it. What
-- cannot be read or written is no reason to trouble anyone at the prompt.
local ENCODE, DECODE = {["\n"] = "\\n", ["\\"] = "\\\\"}, {["\\n"] = "\n", ["\\\\"] = "\\"}

local function write_entries(path, mode, entries)
  local file = require("ladies_host").make_private(path) and io.open(path, mode)
  if not file then return end
  for _, entry in ipairs(entries) do file:write((entry:gsub("[\n\\]", ENCODE)), "\n") end
  file:close()
end

--- The entries of the history file, the oldest first. Cuts a file that has grown too long.
function repl.read_history()
  local path, entries = repl.history_file(), {}
  local file = path and io.open(path)
  if not file then return entries end
  for line in file:lines() do entries[#entries + 1] = line:gsub("\\.", DECODE) end
  file:close()
  if #entries <= ENTRIES then return entries end
  local latest = table.move(entries, #entries - ENTRIES + 1, #entries, 1, {})
  if #entries > 2 * ENTRIES then write_entries(path, "w", latest) end
  return latest
end

--- Adds an entry to the history file. At once, so that sessions can share it and need not end well.
function repl.append_history(entry)
  local path = repl.history_file()
  if path then write_entries(path, "a", {entry}) end
end

return repl
