--- Defines the task of graph regression: a real number, or several, for each of many graphs.

local graphs = require "ladies.task.graphs"
local options = require "ladies.base.options"
local regression = require "ladies.task.regression"
local tables = require "ladies.base.tables"
local Task = require "ladies.task.object"

local WHERE = "ladies.task.graph_regression"

--- ladies.task.graph_regression(data: Dataset [, {pooling = "mean", shift = 0, scale = 1, seed =
-- 1}]) -> Task: the task of a data set of many graphs (data.graph_of) with `targets`, a row for
-- each graph: what the model gives for the nodes of a graph is pooled; the rest is as for
-- ladies.task.node_regression. Every command takes it where the data set is many graphs with
-- targets and no classes.
-- pooling        "mean", "sum", "max" or "attention" (see nn.pooling), whose first weights are of
--                `seed`
-- shift, scale   numbers, or an array of one for each target
return function(data, given)
  options.value(WHERE, "the data set", data, "Dataset or table")
  local targets = options.value(WHERE, "data.targets", data.targets, "Tensor")
  graphs.check(WHERE, data)
  local opts = options.check(WHERE, given, tables.merged(regression.SPEC, graphs.SPEC))
  return Task.new(tables.merged(regression.fields(data, targets, opts),
    graphs.fields(data, targets.n_cols, opts), {name = "graph regression"}), WHERE)
end
