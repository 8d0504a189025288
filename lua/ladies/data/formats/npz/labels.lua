--- Reads the labels or the targets of nodes from an open npz file, in any form of numbers or texts.
-- Numbers that are not all integers are real targets, others are classes, unless `labels_as`, an
-- option of ladies.data.load, says otherwise.

local core = require "ladies_core"
local checks = require "ladies.data.checks"
local class_numbers = require "ladies.data.labels.class_numbers"
local multi = require "ladies.data.labels.multi"
local notes = require "ladies.data.notes"
local targets = require "ladies.data.labels.targets"

local npz_labels = {}

-- Converts floats that are integers to classes; NaN stands for no class.
local function from_floats(context, key, numbers)
  local classes = {}
  for i, x in ipairs(numbers) do
    classes[i] = class_numbers.of(x)
    if not classes[i] then
      checks.fail(context, "%s[%d] is %s, must be a class from 0 on, or -1 or nan for none", key,
        i - 1, x == core.pickle.none and "None" or x)
    end
  end
  return core.index(classes)
end

-- Converts names of classes to classes, numbered in alphabetical order of the names; "" stands for
-- no class.
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

-- Makes labels of a matrix of 0 and 1. A note tells if each row has a single 1, since one class a
-- node may be meant.
local function from_matrix(context, list, key, cells)
  if cells.n_rows > 0 and cells:is_finite() and cells:min() == 0 and cells:max() == 1
    and cells:row_sums():min() == 1 and cells:row_sums():max() == 1 then
    notes.add(context, list, "%s has exactly one 1 in each row and is taken as several classes a "
      .. "node; for one class, give numbers (in Python, %s.argmax(1))", key, key)
  end
  return multi.from_cells(cells)
end

-- Adds the elements of a Tensor to the fields as targets; unless they were asked for, a note tells.
local function add_targets(context, fields, key, cells, asked)
  fields.targets, context.keys.targets = targets.columns(cells), key
  context.keys.target_names = "target_names"
  if asked then return end
  notes.add(context, fields.notes, "%s has numbers that are not whole: they are targets, and no "
    .. "classes; --labels-as (in Lua labels_as) says what they are", key)
end

-- Tells whether numbers are targets: those in a Tensor are, and those for which targets were asked.
local function are_targets(cells, asked)
  return asked == "targets" or asked == nil and targets.has_fractions(cells)
end

-- Fails where targets were asked for and there are none.
local function check_asked(context, key, asked)
  if asked == "targets" then
    checks.fail(context, "%s must be numbers to be read as targets", key)
  end
end

--- Adds the labels in a value that is no Tensor to the fields of a data set, or adds it as targets
-- if it is numbers that are targets. In a table of numbers -1 or NaN stands for no class, in one of
-- texts, which become class names, "" does. Any other value is taken for labels as it is. `key` is
-- for messages; asked: the option labels_as.
function npz_labels.add(context, fields, key, value, asked)
  local first = type(value) == "table" and type(value[1])
  if first == "number" then
    local numeric = true
    for _, x in ipairs(value) do numeric = numeric and type(x) == "number" end
    local cells = numeric and core.tensor(value)
    if cells and are_targets(cells, asked) then
      return add_targets(context, fields, key, cells, asked)
    end
    fields.labels = from_floats(context, key, value)
  elseif first == "string" then
    check_asked(context, key, asked)
    fields.labels, fields.class_names = from_texts(context, key, value)
  else
    check_asked(context, key, asked)
    fields.labels = value
  end
end

--- Adds the labels in a Tensor of several columns to the fields, or the targets.
function npz_labels.add_matrix(context, fields, key, cells, asked)
  if are_targets(cells, asked) then return add_targets(context, fields, key, cells, asked) end
  fields.labels = from_matrix(context, fields.notes, key, cells)
end

--- Adds what the array `key` of an open npz `file` has of the nodes to the fields of a data set:
-- `labels`, and `class_names` where these are texts; or `targets`. asked: the option labels_as. The
-- array is one of
--
--   whole numbers      classes, -1 or NaN = unlabelled; also in one column, or as floats
--   other numbers      targets, NaN = unknown; one column or several
--   texts              names of classes, "" = unlabelled
--   a matrix           of 0 and 1: several classes a node; -1 or NaN throughout a row = unlabelled
--   a pickled array    of these, or a sparse matrix of 0 and 1
function npz_labels.read(context, fields, file, key, asked)
  local dtype, shape = file:dtype(key), file:shape(key)
  if dtype == "object" then
    return npz_labels.add(context, fields, key, file:object(key), asked)
  end
  local vector = #shape < 2 or shape[2] == 1
  if dtype:find "^[<|]?[US]" then
    local texts = file:strings(key)
    if #shape ~= 1 then checks.fail(context, "%s: texts must have one dimension", key) end
    return npz_labels.add(context, fields, key, texts, asked)
  elseif not vector then
    return npz_labels.add_matrix(context, fields, key, file:tensor(key), asked)
  elseif dtype:find "int" and asked ~= "targets" then
    fields.labels = file:index(key)
    return
  end
  local numbers = file:numbers(key)
  if type(numbers) ~= "table" then
    checks.fail(context, "%s must have a label for each node", key)
  end
  for i, x in ipairs(numbers) do numbers[i] = type(x) == "table" and x[1] or x end
  npz_labels.add(context, fields, key, numbers, asked)
end

--- Adds the array `targets` of an open npz `file` to the fields, where it has one; an error where
-- its labels were read as targets, too.
function npz_labels.read_targets(context, fields, file)
  if not file:has "targets" then return end
  if fields.targets then
    checks.fail(context, "has both targets and %s, which is read as targets; keep one of them",
      context.keys.targets)
  end
  context.keys.targets, context.keys.target_names = "targets", "target_names"
  fields.targets = targets.columns(file:tensor "targets")
end

return npz_labels
