--- Converts the types and times of edges that readers find (texts or numbers) to the Indexes that a
-- data set holds.

local core = require "ladies_core"
local checks = require "ladies.data.checks"
local dates = require "ladies.data.edges.dates"
local tables = require "ladies.base.tables"

local columns = {}

-- The largest time that an Index holds.
local MOST = (1 << 31) - 2

-- Returns the different texts of an array in alphabetical order.
local function different(context, key, texts)
  local seen = {}
  for i, text in ipairs(texts) do
    if type(text) ~= "string" or text == "" then
      checks.fail(context, "%s[%d] must be the name of a type", key, i + context.shift)
    end
    seen[text] = true
  end
  return tables.sorted_keys(seen)
end

--- Converts an array of texts to types: returns an Index, and what the types are called. These are
-- `names` in their order, or where there are none the different texts in alphabetical order.
function columns.types_of_texts(context, key, texts, names)
  names = names or different(context, key, texts)
  local number, types = {}, {}
  for i, name in ipairs(names) do number[name] = i end
  for i, text in ipairs(texts) do
    types[i] = number[text] or checks.fail(context, "%s[%d] is %q, which is none of the names", key,
      i + context.shift, tostring(text))
  end
  return core.index(types), names
end

--- Converts an array of numbers from 0 on to types.
function columns.types_of_numbers(context, key, numbers)
  local types = {}
  for i, x in ipairs(numbers) do
    local number = type(x) == "number" and math.tointeger(x)
    if not number or number < 0 or number > MOST then
      checks.fail(context, "%s[%d] is %s, must be a type, a whole number from 0 on", key,
        i + context.shift, type(x) == "table" and "a list" or tostring(x))
    end
    types[i] = number + 1
  end
  return core.index(types)
end

--- Reads types from the array `key` of an open npz file, texts or integers from 0. Returns them,
-- and what they are called: `names`, or the texts.
function columns.read_types(context, file, key, names)
  local dtype = file:dtype(key)
  if dtype:find "^[<|]?[US]" then
    return columns.types_of_texts(context, key, file:strings(key), names)
  elseif dtype:find "int" and #file:shape(key) == 1 then
    return file:index(key), names
  end
  local numbers = file:numbers(key)
  for i, x in ipairs(numbers) do numbers[i] = type(x) == "table" and x[1] or x end
  return columns.types_of_numbers(context, key, numbers), names
end

--- Reads times from the array `key` of an open npz file; returns what columns.times does.
function columns.read_times(context, file, key)
  local numbers = file:numbers(key)
  for i, x in ipairs(numbers) do numbers[i] = type(x) == "table" and x[1] or x end
  return columns.times(context, key, numbers)
end

--- Converts an array of integers, such as seconds, days or steps, or of texts of these or of dates
-- (see ladies.data.edges.dates), to times: returns an Index, and the number from which they are
-- counted, which is 0 unless the least is negative or the greatest does not fit.
function columns.times(context, key, numbers)
  local least, greatest, whole = math.huge, -math.huge, {}
  local are_numbers = dates.is_number(numbers[1])
  for i, x in ipairs(numbers) do
    local time = type(x) == "number" and math.tointeger(x)
      or type(x) == "string" and dates.time(x)
    if not time then
      checks.fail(context, "%s[%d] is %s; times must be whole numbers, such as seconds, days or "
        .. "steps, or dates such as 2024-01-31", key, i + context.shift, tostring(x))
    elseif dates.is_number(x) ~= are_numbers then
      checks.fail(context, "%s[%d] is %s and %s[%d] %s; times must be all numbers or all dates",
        key, 1 + context.shift, tostring(numbers[1]), key, i + context.shift, tostring(x))
    end
    whole[i], least, greatest = time, math.min(least, time), math.max(greatest, time)
  end
  local origin = #whole > 0 and (least < 0 or greatest > MOST) and least or 0
  if greatest - origin > MOST then
    checks.fail(context, "%s: times from %d to %d are more than 2^31 apart; give larger units, "
      .. "such as seconds in place of milliseconds", key, least, greatest)
  end
  if origin ~= 0 then
    for i, time in ipairs(whole) do whole[i] = time - origin end
  end
  return core.index(whole), origin
end

--- columns.times_of_texts(context, title, texts, which) -> Index, integer: the times of edges, from
-- the different texts of a column of a table (ladies.text.names) and an Index of which of them each
-- edge has; and the number from which they are counted.
function columns.times_of_texts(context, title, texts, which)
  local of = {}
  local function fail(i, expected)
    checks.fail(context, 'column %s, row %d of the edges: found "%s", expected %s', title,
      which:equals(i):positions()[1], texts[i], expected)
  end
  for i = 1, #texts do
    of[i] = dates.time(texts[i]) or fail(i, dates.EXPECTED)
    if dates.is_number(texts[i]) ~= dates.is_number(texts[1]) then
      fail(i, (dates.is_number(texts[1]) and "a number" or "a date") .. " as in row 1")
    end
  end
  local whole, origin = columns.times(context, title, of)
  return #which > 0 and whole[which] or core.index{}, origin
end

return columns
