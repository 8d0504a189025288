--- Completes what is typed when Tab is pressed: names and fields, options of the function that is
-- called, and, within a string, names of data sets and files. It runs none of the user's code.

local core = require "ladies_core"
local cut = require "ladies.base.cut"
local data = require "ladies.data"
local format = require "ladies.prompt.format"
local help = require "ladies.prompt.help"
local known = require "ladies.prompt.known"
local lexer = require "ladies.prompt.lexer"
local members = require "ladies.prompt.members"
local registry = require "ladies.data.store.registry"

local complete = {}

local PLAIN = {number = true, string = true, boolean = true}   -- types whose values show themselves

local FEW = 16   -- so many candidates come with their first line of documentation

-- Returns the function among whose options the cursor is, at the end of the tokens, as in `f{` and
-- `f(x, {a = 1,`; or nil.
local function called(tokens, env)
  local last = tokens[#tokens]
  local is_open = last and (last.text == "{" or last.text == ",")
  local brace = is_open and known.open_bracket(tokens, #tokens)
  if not brace or tokens[brace].text ~= "{" then return nil end
  local f = known.function_before(tokens, brace, env)
  if f then return f end
  local call = known.open_bracket(tokens, brace - 1)
  return call and tokens[call].text == "(" and known.function_before(tokens, call, env) or nil
end

-- Makes a collector of candidates that begin with `prefix`: found.names, sorted by finish, and
-- found.values, what each name stands for.
local function collector(prefix)
  local found = {names = {}, values = {}}
  function found.add(name, value)
    if found.values[name] == nil and name:sub(1, #prefix) == prefix then
      found.values[name] = value
      found.names[#found.names + 1] = name
    end
  end
  return found
end

-- Makes a candidate that stands for no value, with a text that describes it.
local function candidate(name, text) return {name = name, text = text} end

local function add_files(found, text)
  local folder = text:match "^(.*/)" or ""
  for _, name in ipairs(core.files(folder == "" and "." or folder)) do
    local path = folder .. name
    local is_folder = core.exists(path) == "folder"
    found.add(is_folder and path .. "/" or path, candidate(name, is_folder and "folder" or "file"))
  end
end

-- Adds the names that a setting of this name may have: of methods, models, tasks or optimizers.
-- Their modules take as long to load as the prompt, so they are not loaded before.
local function add_entries(found, setting)
  local kind = require("ladies.experiment.kinds").by_name[setting]
  for name in pairs(kind and kind.entries or {}) do found.add(name, candidate(name, setting)) end
end

local function in_string(tokens, open)
  local text = open.text:sub(2)
  local found = collector(text)
  local at = #tokens
  local option = at > 1 and tokens[at].text == "=" and tokens[at - 1].text
  if option then add_entries(found, option) end
  if #found.names > 0 then return open.at + 1, found end
  if tokens[at] and tokens[at].text == "(" then at = at - 1 end
  if option == "data" or tokens[at] and tokens[at].text == "load" then
    for _, list in ipairs{data.names(), registry.names()} do
      for _, name in ipairs(list) do found.add(name, candidate(name, "data set")) end
    end
  end
  add_files(found, text)
  return open.at + 1, found
end

local function add_members(found, what, is_method, prefix)
  local function add(key, value)
    local is_name = type(key) == "string" and key:find "^[%a_][%w_]*$"
      and (prefix ~= "" or key:sub(1, 1) ~= "_")
    if is_name and (not is_method or members.is_callable(value)) then found.add(key, value) end
  end
  local value = what.class and setmetatable({}, what.class) or what.value
  members.each(value, add)
  -- Loads the modules that are only loaded when first looked up, which had only a name so far.
  for _, name in ipairs(#found.names <= FEW and found.names or {}) do
    local member = members.get(value, name)
    found.values[name] = member == nil and candidate(name, "field") or member
  end
end

--- Completes the end of `line`, the text up to the cursor. Returns the position where the word to
-- complete begins, a sorted array of all candidates, and a table from their names to values. Names
-- are those of the table `env`.
function complete.at(line, env)
  local tokens = lexer.tokens(line)
  local last = tokens[#tokens]
  if last and last.kind == "open" then
    table.remove(tokens)
    if not last.text:find "^['\"]" then return #line + 1, {}, {} end
    local start, found = in_string(tokens, last)
    table.sort(found.names)
    return start, found.names, found.values
  end
  local prefix, start = "", #line + 1
  if last and last.kind == "name" and last.at + #last.text == start then
    prefix, start = last.text, last.at
    table.remove(tokens)
  end
  local found, separator = collector(prefix), tokens[#tokens] and tokens[#tokens].text
  local is_number = last and last.kind == "number" and last.at + #last.text == #line + 1
  if separator == "." or separator == ":" then
    local what = known.of(tokens, #tokens - 1, env)
    if what and (what.class or what.value ~= nil) then
      add_members(found, what, separator == ":", prefix)
    end
  elseif not is_number then
    local f = called(tokens, env)
    for _, option in ipairs(f and help.options(f) or {}) do found.add(option.name, option) end
    if #found.names == 0 and prefix ~= "" then
      add_members(found, {value = env}, false, prefix)
      for word in pairs(format.KEYWORDS) do found.add(word, candidate(word, "keyword")) end
    end
  end
  table.sort(found.names)
  return start, found.names, found.values
end

--- Arranges `words` in columns, to be read downwards, that fit into `width`.
function complete.columns(words, width)
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

-- Returns a line about a candidate, "" where nothing is known. An option is {name =, text =}; other
-- tables are read with rawget, since a table may raise an error for names that it does not have.
local function about(value)
  if type(value) == "table" and rawget(value, "name") and rawget(value, "text") then
    return value.text
  end
  local is_ours = type(value) == "function" or members.is_module(value)
  return is_ours and help.summary(value) or ""
end

local function listed(names, values, width)
  local texts, some = {}, false
  for i, name in ipairs(#names <= FEW and names or {}) do
    texts[i] = about(values[name])
    some = some or texts[i] ~= ""
  end
  if not some then return complete.columns(names, width) end
  local widest = 0
  for _, name in ipairs(names) do widest = math.max(widest, #name) end
  for i, name in ipairs(names) do
    local line = ("%-" .. widest .. "s  %s"):format(name, texts[i])
    texts[i] = cut(line, width):gsub("%s+$", "")
  end
  return table.concat(texts, "\n")
end

-- Returns a text about the only candidate: how a function is called, what a module is or has, or a
-- plain value itself.
local function details(value, width)
  local text = type(value) == "function" and help.signature(value) or about(value)
  if text ~= "" then return text end
  if type(value) == "table" then
    local found = collector ""
    add_members(found, {value = value}, false, "")
    table.sort(found.names)
    if found.names[1] then return complete.columns(found.names, width) end
  end
  return PLAIN[type(value)] and format.line(value, width) or type(value)
end

--- Returns what Tab does after `line`, with names of `env`: the text to insert; and where there is
-- nothing to insert, a list of several candidates, or a text about the only one.
function complete.tab(line, width, env)
  local start, names, values = complete.at(line, env)
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
  if insert ~= "" then return insert end
  if #names > 1 then return "", listed(names, values, width) end
  return "", details(values[first], width)
end

return complete
