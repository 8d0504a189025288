--- The labels of nodes in an open npz file, whatever numbers or texts they are.

local core = require "ladies_core"
local checks = require "ladies.data.checks"
local multi = require "ladies.data.labels.multi"
local notes = require "ladies.data.notes"

local npz_labels = {}

-- Floats that are whole numbers as classes; NaN is none.
local function from_floats(context, key, numbers)
  local classes = {}
  for i, x in ipairs(numbers) do
    local class = x ~= x and -1 or math.tointeger(x)
    if not class or class < -1 or class >= (1 << 31) - 1 then
      checks.fail(context, "%s[%d] is %s, must be a class from 0 on, or -1 or nan for none", key,
        i - 1, x == core.pickle.none and "None" or x)
    end
    classes[i] = class + 1
  end
  return core.index(classes)
end

-- Names of classes, which are counted in their order as texts; "" is none.
local function from_texts(context, key, texts)
  local number, names, classes = {}, {}, {}
  for i, text in ipairs(texts) do
    if type(text) ~= "string" then
      checks.fail(context, "%s[%d] must be a text or a number, got a %s", key, i - 1, type(text))
    end
    if text ~= "" and not number[text] then number[text], names[#names + 1] = 0, text end
  end
  table.sort(names)
  for i, name in ipairs(names) do number[name] = i end
  for i, text in ipairs(texts) do classes[i] = number[text] or 0 end
  return core.index(classes), names
end

-- A matrix of 0 and 1. One with a single 1 in each row may be meant as one class a node.
local function from_matrix(context, list, key, cells)
  if cells.n_rows > 0 and cells:is_finite() and cells:min() == 0 and cells:max() == 1
    and cells:row_sums():min() == 1 and cells:row_sums():max() == 1 then
    notes.add(context, list, "%s has exactly one 1 in each row and is taken as several classes a "
      .. "node; for one class, give numbers (in Python, %s.argmax(1))", key, key)
  end
  return multi.from_cells(cells)
end

--- The labels of a table of numbers, where -1 or NaN is none, or of texts, where "" is, and the
-- names of the classes if they are texts; anything else as it is. `key` is for messages.
function npz_labels.of_values(context, key, value)
  local first = type(value) == "table" and type(value[1])
  if first == "number" then return from_floats(context, key, value) end
  if first == "string" then return from_texts(context, key, value) end
  return value
end

--- The labels in the array `key` of an open npz `file`, and the names of the classes where the
-- labels are texts. Notes go into `list`. An array is one of
--
--   whole numbers      classes, -1 or NaN = unlabelled; also in one column, or as floats
--   texts              names of classes, "" = unlabelled
--   a matrix           of 0 and 1: several classes a node; -1 or NaN throughout a row = unlabelled
--   a pickled array    of these, or a sparse matrix of 0 and 1
function npz_labels.read(context, list, file, key)
  local dtype, shape = file:dtype(key), file:shape(key)
  if dtype == "object" then return npz_labels.of_values(context, key, file:object(key)) end
  local vector = #shape < 2 or shape[2] == 1
  if dtype:find "^[<|]?[US]" then
    local texts = file:strings(key)
    if #shape ~= 1 then checks.fail(context, "%s: texts must have one dimension", key) end
    return from_texts(context, key, texts)
  elseif not vector then
    return from_matrix(context, list, key, file:tensor(key))
  elseif dtype:find "int" then
    return file:index(key)
  end
  local numbers = file:numbers(key)
  if type(numbers) ~= "table" then
    checks.fail(context, "%s must have a label for each node", key)
  end
  for i, x in ipairs(numbers) do numbers[i] = type(x) == "table" and x[1] or x end
  return from_floats(context, key, numbers)
end

return npz_labels
