--- Has what tasks with real targets share, whatever their units are: the loss, the metrics, the
-- arrays in files of predictions and the sections of a run's page.

local blind = require "ladies.task.blind"
local core = require "ladies_core"
local csv = require "ladies.report.csv"
local grouped = require("ladies.base.units").grouped
local metrics = require "ladies.evaluation.metrics"
local plot = require "ladies.report.plot"
local real = require "ladies.data.labels.targets"

local MOST_POINTS, MOST_ROWS = 2000, 50

local regression = {}

-- Computes the mean squared error over the elements that are known; with weights, one for each row,
-- the weighted sum of the rows' means, as binary cross-entropy has it.
local function squared_error(out, targets, weights)
  local known = targets:equals(targets)             -- NaN, an unknown target, equals nothing
  local square = (out - core.where(known, targets, out:detach())):square()
  if weights then
    return (square:row_sums() / known:row_sums():clamp(1, math.huge) * weights):sum()
  end
  return square:sum() / known:sum():item()
end

local function rmse(predicted, targets) return math.sqrt(metrics.mse(predicted, targets)) end

-- Names the columns of targets: "target" where there is one without a name.
local function column_names(data, n)
  if data.target_names then return data.target_names end
  local names = {}
  for i = 1, n do names[i] = n == 1 and "target" or ("target_%d"):format(i - 1) end
  return names
end

-- Returns a cell of a file: a number, or nothing for one that is not known.
local function cell(x) return x == x and ("%.9g"):format(x) or "" end

-- Adds a picture of predicted over true numbers for each target, and the units that are predicted
-- worst.
local function add_page(page, found)
  local targets, predicted, task = found.targets, found.predicted, found.task
  local n, names = targets.n_rows, column_names(task.data, targets.n_cols)
  page:heading "Predictions"
  page:add '<div class="figures">'
  local errors = {}
  for column, name in ipairs(names) do
    local points, step = {}, math.max(1, n // MOST_POINTS)
    for i = 1, n do
      local x, y = targets:get(i, column), predicted:get(i, column)
      if x == x then
        if i % step == 0 then points[#points + 1] = {x, y} end
        errors[#errors + 1] = {i, column, math.abs(y - x)}
      end
    end
    page:figure(plot.figure{title = name, x = "true", y = "predicted",
      series = {{name = "", points = points, style = "points"}}}.plot)
  end
  page:add "</div>"
  table.sort(errors, function(a, b)
    if a[3] ~= b[3] then return a[3] > b[3] end
    return a[1] < b[1] or a[1] == b[1] and a[2] < b[2]
  end)
  local rows, of_nodes = {}, task.unit == "node" and task.data.node_names
  for k = 1, math.min(#errors, MOST_ROWS) do
    local i, column, apart = table.unpack(errors[k])
    local id = found.units[i]
    rows[k] = {of_nodes and of_nodes[id] or ("%s %s"):format(task.unit, grouped(id)),
      names[column], ("%.6g"):format(targets:get(i, column)),
      ("%.6g"):format(predicted:get(i, column)), ("%.3g"):format(apart)}
  end
  page:heading "The largest errors"
  page:table({task.unit, "target", "true", "predicted", "off by"}, rows)
end

-- Returns a number, or an array of one for each column, as a number or a row vector.
local function as_row(x)
  return type(x) == "number" and x or core.tensor(x)
end

--- Returns the mean and the standard deviation of each column of targets over some units, as
-- numbers or, for several columns, arrays of numbers. Sums are in double; a column that is
-- constant, or known for one unit, has the deviation 1.
function regression.moments(targets, units)
  local means, deviations = {}, {}
  for column = 1, targets.n_cols do
    local sum, squares, n = 0, 0, 0
    local list = targets[units]:slice_cols(column, column):to_table()
    for _, row in ipairs(list) do
      local x = row[1]
      if x == x then sum, n = sum + x, n + 1 end
    end
    local mean = n > 0 and sum / n or 0
    for _, row in ipairs(list) do
      local x = row[1]
      if x == x then squares = squares + (x - mean) ^ 2 end
    end
    local deviation = n > 1 and math.sqrt(squares / n) or 0
    means[column], deviations[column] = mean, deviation > 0 and deviation or 1
  end
  if targets.n_cols > 1 then return means, deviations end
  return means[1], deviations[1]
end

--- The options of tasks with real targets, for options.check.
regression.SPEC = {
  shift = {"number or array of numbers", 0},
  scale = {"positive number or array of positive numbers", 1},
}

--- regression.fields(data, targets, opts) -> table: the fields of a task (see ladies.task.new) of
-- real targets, a Tensor with a row for each unit: all but its name, its units, and how units
-- become seeds. opts: `shift` and `scale`; the model gives (target - shift) / scale.
function regression.fields(data, targets, opts)
  local shift, scale = as_row(opts.shift), as_row(opts.scale)
  local function predict(out) return out * scale + shift end
  return {
    outputs = targets.n_cols, outputs_are = "targets", by_rows = true,
    targets = function(units) return targets[units] end,
    loss = function(out, truth, weights)
      return squared_error(out, (truth - shift) / scale, weights)
    end,
    predict = predict,
    blind = data.train
      and blind.median(targets, data.train, data.n_graphs and "graph" or "node") or nil,
    known = function() return real.known(targets) end,
    metrics = {
      {name = "MAE", of = metrics.mae, mode = "min"},
      {name = "RMSE", of = rmse, mode = "min"},
      {name = "R2", of = metrics.r2},
    },
    arrays = function(out, units)
      return {predicted = predict(out), targets = targets[units], target_names = data.target_names}
    end,
    columns = function(out, units)
      local predicted = predict(out)
      local names, truth, heads = column_names(data, targets.n_cols), targets[units], {}
      local prefix = (#names > 1 or data.target_names) and "predicted_%s" or "predicted"
      for i, name in ipairs(names) do
        local head = prefix:format(name)
        heads[i] = csv.field(head) .. "," .. csv.field(name)
      end
      return table.concat(heads, ","), function(i)
        local cells = {}
        for column = 1, #names do
          cells[column] = cell(predicted:get(i, column)) .. "," .. cell(truth:get(i, column))
        end
        return table.concat(cells, ",")
      end
    end,
    page = add_page,
  }
end

return regression
