--- Defines the task of node regression: to predict a real number, or several, for each node.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local options = require "ladies.base.options"
local regression = require "ladies.task.regression"
local Task = require "ladies.task.object"
local tables = require "ladies.base.tables"

local WHERE = "ladies.task.node_regression"

--- ladies.task.node_regression(data: Dataset [, {shift = 0, scale = 1}]) -> Task: the task of a
-- data set with `targets`, a Tensor of nodes x targets in which NaN is not known. The model gives
-- (target - shift) / scale, whose mean squared error is the loss; MAE, by which training goes, RMSE
-- and R2 are of the targets themselves: of several, MAE and R2 are means over them, and RMSE is the
-- root of the mean of their MSEs. Every command takes it where the data set has targets and no
-- classes, with the mean and the standard deviation of the training part as shift and scale.
-- shift, scale   numbers, or an array of one for each target
return function(data, given)
  options.value(WHERE, "the data set", data, "Dataset or table")
  if data.graph_of then
    errors.fail(WHERE .. ": the data set is many graphs, and its targets are of these: "
      .. "graph_regression")
  end
  local targets = options.value(WHERE, "data.targets", data.targets, "Tensor")
  local opts = options.check(WHERE, given, regression.SPEC)
  return Task.new(tables.merged(regression.fields(data, targets, opts), {
    name = "node regression", data = data, all = core.range(1, targets.n_rows),
    units = {train = data.train, val = data.val, test = data.test},
  }), WHERE)
end
