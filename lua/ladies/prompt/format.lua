--- Formats any value on one line, with strings quoted and tables expanded as far as there is room.

local core = require "ladies_core"
local cut = require "ladies.base.cut"
local show = require "ladies.show"

local format = {}

--- The keywords of Lua, as a set.
format.KEYWORDS = {}
for word in ([[and break do else elseif end false for function goto if in local nil not or repeat
    return then true until while]]):gmatch("%a+") do
  format.KEYWORDS[word] = true
end

--- Returns the number of columns of a text in UTF-8.
function format.columns(text)
  return utf8.len(text) or #text
end

local function quote(text, width)
  -- The first 4 * width bytes are enough, since a character has at most four bytes.
  local quoted = core.printable((text:sub(1, 4 * width):gsub('["\\]', "\\%0")))
  if #text <= 4 * width and utf8.len(quoted) + 2 <= width then return '"' .. quoted .. '"' end
  local size = (" (%d bytes)"):format(#text)
  return '"' .. cut(quoted, math.max(width - #size - 2, 4)) .. '"' .. size
end

-- Compares two keys for sorting: numbers come first, then strings, then all others.
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

local format_value

local function format_key(key, width)
  local is_name = type(key) == "string" and key:find "^[%a_][%w_]*$" and not format.KEYWORDS[key]
  return is_name and key or "[" .. format_value(key, width, 0) .. "]"
end

-- Returns the text of a table, such as {1, 2, x = 3, ... 97 more}, with nested tables at most
-- `depth` deep.
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
      part = format_value(rawget(value, i), room, depth - 1)
    else
      local key = format_key(keys[i - n], room)
      part = ("%s = %s"):format(key, format_value(rawget(value, keys[i - n]), room - #key - 3,
        depth - 1))
    end
    if format.columns(part) > room then
      parts[#parts + 1] = ("... %d more"):format(total - i + 1)
      break
    end
    parts[#parts + 1] = part
    used = used + format.columns(part) + 2
  end
  return "{" .. table.concat(parts, ", ") .. "}"
end

-- Returns the place where a Lua function is defined; for a function in C its tostring.
local function function_text(f)
  local info = debug.getinfo(f, "S")
  return info.what == "C" and tostring(f)
    or ("function: %s:%d"):format(info.short_src, info.linedefined)
end

function format_value(value, width, depth)
  width = math.max(width, 8)
  local meta = debug.getmetatable(value)
  if type(value) == "string" then return quote(value, width) end
  if type(value) == "function" then return cut(core.printable(function_text(value)), width) end
  local own = show.line(value)
  if own then return cut(core.printable(own), width) end
  local speaks = meta and (rawget(meta, "__tostring") or rawget(meta, "__name"))
  if type(value) ~= "table" or speaks then
    return cut(core.printable((tostring(value):gsub("%s*\n%s*", " "))), width)
  end
  return format_table(value, width, depth)
end

--- Formats `value` on one line of at most about `width` columns: strings quoted, tables expanded as
-- far as there is room, their keys sorted; a mini-batch by what it is; anything else through
-- tostring.
function format.line(value, width)
  return format_value(value, width, 3)
end

return format
