--- Writes a model's predictions to CSV and .npz files. Ids and classes count from 0 in files.

local core = require "ladies_core"
local csv = require "ladies.report.csv"
local options = require "ladies.base.options"
local tables = require "ladies.base.tables"

local predictions = {}

local SPLIT = {"train", "val", "test"}

-- Returns the part of the split to which each of some units of a task belongs, an Index of
-- positions in SPLIT; 0 is none.
local function parts_of(task, units)
  local part_of, parts = {}, units:to_table()
  for i, name in ipairs(SPLIT) do
    for _, unit in ipairs(task.units[name] and task.units[name]:to_table() or {}) do
      part_of[unit] = i
    end
  end
  for i, unit in ipairs(parts) do parts[i] = part_of[unit] or 0 end
  return core.index(parts)
end

-- Returns a prediction as text: the numbers of a row have blanks between.
local function text_of(x)
  if options.class_of(x) ~= "Tensor" then return x end
  return table.concat(tables.map(x:to_table(), function(number)
    return ("%.9g"):format(number)
  end), " ")
end

--- Returns the predictions as CSV with a head and a line for each of `units` of a task, for which a
-- model's output is `out`. Its columns are the unit, called node, edge or graph; name, where nodes
-- have names; those of the task; and split: train, val, test, or nothing for a unit in none of
-- them.
function predictions.csv(task, units, out)
  local columns = task.columns or function()
    local predicted = task.predict(out, units)
    return "predicted", function(i) return csv.field(text_of(predicted[i])) end
  end
  local head, cells = columns(out, units)
  local names, parts = task.unit == "node" and task.data.node_names, parts_of(task, units)
  local lines = {("%s,%s%s,split"):format(task.unit, names and "name," or "", head)}
  for i = 1, #units do
    local name = names and csv.field(names[units[i]]) .. "," or ""
    lines[i + 1] = ("%d,%s%s,%s"):format(units[i] - 1, name, cells(i), SPLIT[parts[i]] or "")
  end
  lines[#lines + 1] = ""
  return table.concat(lines, "\n")
end

--- Returns the arrays of a file of predictions: those of the task for these units, for which a
-- model's output is `out`, with `whole` all that it has; and split, positions in split_names, -1
-- for none. With `whole` the units are among them, called nodes, edges or graphs.
function predictions.arrays(task, units, out, whole)
  local arrays = task.arrays and task.arrays(out, units, whole)
    or {predicted = task.predict(out, units)}
  arrays = tables.merged(arrays, {split = parts_of(task, units), split_names = SPLIT})
  if whole then arrays[task.unit .. "s"] = units end
  return arrays
end

return predictions
