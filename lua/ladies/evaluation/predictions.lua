--- Writes a model's predictions to CSV and .npz files. Ids and classes count from 0 in files.

local core = require "ladies_core"
local csv = require "ladies.report.csv"
local options = require "ladies.base.options"
local tables = require "ladies.base.tables"

local predictions = {}

local SPLIT = {"train", "val", "test"}

local PIECE = 1 << 14      -- units of a piece of text

-- Returns the part of the split to which each of some units of a task belongs, an Index of
-- positions in SPLIT; 0 is none. A unit in several belongs to the last one.
local function parts_of(task, units)
  local most = units:max()
  for _, name in ipairs(SPLIT) do
    local ids = task.units[name]
    if ids and #ids > 0 then most = math.max(most, ids:max()) end
  end
  local parts = core.zeros(most)
  for i, name in ipairs(SPLIT) do
    local ids = task.units[name]
    if ids and #ids > 0 then
      local is_there = core.ones(#ids):scatter_add(ids, most):above(0)
      parts = parts * (1 - is_there) + is_there * i
    end
  end
  return parts[units]:to_index()
end

-- Returns a prediction as text: the numbers of a row have blanks between.
local function text_of(x)
  if options.class_of(x) ~= "Tensor" then return x end
  return table.concat(tables.map(x:to_table(), function(number)
    return ("%.9g"):format(number)
  end), " ")
end

-- Returns the head and the cells of the task's columns for some units.
local function columns_of(task, units, out)
  if task.columns then return task.columns(out, units) end
  local predicted = task.predict(out, units)
  return "predicted", function(i) return csv.field(text_of(predicted[i])) end
end

--- Writes the predictions as CSV by write(text), a piece at a time: a head, which it returns, and a
-- line for each of `units` of a task, for which a model's output is `out`. Its columns are the
-- unit, called node, edge or graph; name, where nodes have names; those of the task; and split:
-- train, val, test, or nothing for a unit in none of them. Of a task by rows no more than a piece
-- is computed at a time.
function predictions.write_csv(task, units, out, write)
  local names, parts = task.unit == "node" and task.data.node_names, parts_of(task, units)
  local size, whole = task.by_rows and PIECE or #units, nil
  for first = 1, #units, size do
    local last = math.min(first + size - 1, #units)
    local some = units:slice(first, last)
    local head, cells = columns_of(task, some, size < #units and out:slice(first, last) or out)
    local lines = {}
    if first == 1 then
      whole = ("%s,%s%s,split"):format(task.unit, names and "name," or "", head)
      lines[1] = whole
    end
    for i = 1, last - first + 1 do
      local name = names and csv.field(names[some[i]]) .. "," or ""
      lines[#lines + 1] = ("%d,%s%s,%s"):format(some[i] - 1, name, cells(i),
        SPLIT[parts[first + i - 1]] or "")
    end
    lines[#lines + 1] = ""
    write(table.concat(lines, "\n"))
  end
  return whole
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
