--- Packs plain data into a text, to send it to another rank, and unpacks it there to the same
-- values, to the last bit: nil, booleans, numbers, strings, and tables of these.

local errors = require "ladies.base.errors"

local packed = {}

local INTEGER, FLOAT, STRING = "<i8", "<d", "<s8"

local put

local function put_table(parts, value, within)
  if within[value] then errors.fail "comm: a table that holds itself cannot be sent" end
  within[value] = true
  parts[#parts + 1] = "{"
  for key, field in next, value do
    put(parts, key, within)
    put(parts, field, within)
  end
  parts[#parts + 1] = "}"
  within[value] = nil
end

function put(parts, value, within)
  local kind = math.type(value) or type(value)
  if kind == "table" then return put_table(parts, value, within) end
  local text
  if kind == "nil" then text = "n"
  elseif kind == "boolean" then text = value and "t" or "f"
  elseif kind == "integer" then text = "i" .. string.pack(INTEGER, value)
  elseif kind == "float" then text = "d" .. string.pack(FLOAT, value)
  elseif kind == "string" then text = "s" .. string.pack(STRING, value)
  else
    errors.fail(("comm: a %s cannot be sent; plain data can: numbers, strings, booleans and tables "
      .. "of these"):format(kind))
  end
  parts[#parts + 1] = text
end

--- Returns the packed text of a value, without metatables.
function packed.text(value)
  local parts = {}
  put(parts, value, {})
  return table.concat(parts)
end

local FORMATS = {i = INTEGER, d = FLOAT, s = STRING}
local CONSTANTS = {n = {}, t = {true}, f = {false}}

-- Reads the value at a place of a packed text; returns it and the place after it.
local function get(text, at)
  local letter = text:sub(at, at)
  if FORMATS[letter] then return string.unpack(FORMATS[letter], text, at + 1) end
  if letter ~= "{" then return CONSTANTS[letter][1], at + 1 end
  local value = {}
  at = at + 1
  while text:sub(at, at) ~= "}" do
    local key, behind = get(text, at)
    value[key], at = get(text, behind)
  end
  return value, at + 1
end

--- Returns the value of which packed.text made a text.
function packed.value(text)
  return (get(text, 1))
end

return packed
