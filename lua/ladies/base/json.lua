--- Writes and reads JSON. What is written has its keys sorted, so that the same value gives the
-- same bytes, and is indented on request. Reading and the escaping of strings are lua-cjson's,
-- which can neither sort nor indent.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local installed = require "ladies.base.installed"
local tables = require "ladies.base.tables"

local cjson = installed "cjson"

local json = {}

local encode_value

local function is_scalar_list(list)
  for i = 1, rawlen(list) do
    if type(list[i]) == "table" then return false end
  end
  return true
end

local function join(parts, open, close, inner, outer)
  if #parts == 0 then return open .. close end
  return open .. inner .. table.concat(parts, "," .. inner) .. outer .. close
end

-- The metatable that marks a list as an array, which tells an empty array from an empty object.
local LIST = {}

--- Marks a list, which then becomes an array in JSON even when it is empty, and returns it.
function json.list(list)
  return setmetatable(list, LIST)
end

-- Tells whether a table has elements and no other fields.
local function has_elements_alone(t)
  local count, length = 0, rawlen(t)        -- a metamethod may promise more than memory holds
  for _ in next, t do count = count + 1 end
  return length > 0 and count == length
end

local function encode_table(t, indent, depth)
  local parts = {}
  local inner = indent and "\n" .. indent:rep(depth + 1) or ""
  local outer = indent and "\n" .. indent:rep(depth) or ""
  if has_elements_alone(t) then
    local length = rawlen(t)
    for i = 1, length do parts[i] = encode_value(t[i], indent, depth + 1) end
    if indent and is_scalar_list(t) then return "[" .. table.concat(parts, ", ") .. "]" end
    return join(parts, "[", "]", inner, outer)
  end
  if getmetatable(t) == LIST then return "[]" end
  for i, key in ipairs(tables.sorted_keys(t)) do
    local text = encode_value(t[key], indent, depth + 1)
    parts[i] = cjson.encode(tostring(key)) .. (indent and ": " or ":") .. text
  end
  return join(parts, "{", "}", inner, outer)
end

function encode_value(value, indent, depth)
  if type(value) == "table" then return encode_table(value, indent, depth) end
  if type(value) == "number" then return json.number(value) end
  if type(value) == "boolean" then return tostring(value) end
  return cjson.encode(value)
end

--- Returns a number as JSON text from which exactly the same number is read back; infinities and
-- NaN, which JSON lacks, become null.
function json.number(x)
  if x ~= x or x == math.huge or x == -math.huge then return "null" end
  if math.type(x) == "integer" then return ("%d"):format(x) end
  local short = ("%.15g"):format(x)
  return tonumber(short) == x and short or ("%.17g"):format(x)
end

--- Returns plain data (tables, strings, numbers, booleans) as JSON text. A table of elements alone
-- is an array, and so is one of json.list; any other is an object, whose keys become strings.
-- `indent` is the white space of one level, or nil for one line.
function json.encode(value, indent)
  return encode_value(value, indent, 0)
end

-- Returns the place of the quote that ends the JSON string which begins at the place `at`.
local function end_of_string(text, at)
  at = at + 1
  while true do
    at = text:find('["\\]', at)
    if not at then return #text end
    if text:sub(at, at) == '"' then return at end
    at = at + 2
  end
end

-- lua-cjson reads every number as a double, which cannot hold integers of 16 digits and more: they
-- become strings that begin with this, and integers again afterwards.
local DIGITS, EXACT = ("%d"):rep(16), "\1integer "

local function as_string(number)
  return #number >= 16 and math.type(tonumber(number)) == "integer"
    and ('"\\u0001integer %s"'):format(number) or nil
end

local function keep_integers(text)
  if not text:find("%f[%d.]" .. DIGITS) then return text end
  local parts, at = {}, 1
  while at <= #text do
    local quote = text:find('"', at, true) or #text + 1
    parts[#parts + 1] = text:sub(at, quote - 1):gsub("[-+%w.]+", as_string)
    at = quote <= #text and end_of_string(text, quote) + 1 or quote
    parts[#parts + 1] = text:sub(quote, at - 1)
  end
  return table.concat(parts)
end

local function number_of(value)
  if type(value) == "string" and value:sub(1, #EXACT) == EXACT then
    return math.tointeger(tonumber(value:sub(#EXACT + 1)))
  end
  return math.type(value) == "float" and math.tointeger(value) or value
end

--- Returns the value of a JSON text; fields that are null are left out, and integers are exact.
-- Errors name `what`, the file or member read.
function json.decode(text, what)
  text = text:gsub("^\xEF\xBB\xBF", "")       -- the mark that some editors begin a file with
  local ok, value = errors.try(cjson.decode, keep_integers(text))
  if not ok then errors.fail(("%s is not valid JSON: %s"):format(what or "the text", value)) end
  local function drop_nulls(t)
    for key, field in pairs(t) do
      if field == cjson.null then t[key] = nil
      elseif type(field) == "table" then drop_nulls(field)
      else t[key] = number_of(field)
      end
    end
  end
  if type(value) ~= "table" then return number_of(value) end
  drop_nulls(value)
  return value
end

--- Reads a file that holds a JSON object and returns its data; an error names the file when it is
-- missing, not JSON, or holds no object.
function json.read_object(path)
  local value = json.decode(core.file.read(path), path)
  if type(value) ~= "table" or value[1] ~= nil then
    errors.fail(("%s must hold a JSON object, got %s"):format(path, json.encode(value)))
  end
  return value
end

return json
