--- Defines the task of graph classification: which class each of many graphs has, or which of
-- several classes.

local classes = require "ladies.task.classes"
local classes_page = require "ladies.task.classes_page"
local f1 = require "ladies.task.f1"
local graphs = require "ladies.task.graphs"
local metrics = require "ladies.evaluation.metrics"
local options = require "ladies.base.options"
local tables = require "ladies.base.tables"
local Task = require "ladies.task.object"

local WHERE = "ladies.task.graph_classification"

--- ladies.task.graph_classification(data: Dataset [, {pooling = "mean", seed = 1}]) -> Task: the
-- task of a data set of many graphs (data.graph_of) with a class for each: the logits of a graph
-- are those that the model gives for its nodes, pooled; cross-entropy, or binary cross-entropy
-- where a graph may have several classes; accuracy, by which training goes, micro-F1 and macro-F1.
-- Every command takes it where the data set is many graphs with classes.
-- pooling   "mean", "sum", "max" or "attention" (see nn.pooling), whose first weights are of `seed`
return function(data, given)
  options.value(WHERE, "the data set", data, "Dataset or table")
  local opts = options.check(WHERE, given, graphs.SPEC)
  graphs.check(WHERE, data)
  options.value(WHERE, "data.labels", data.labels, "Index or Tensor")
  return Task.new(tables.merged(classes(data), graphs.fields(data, data.classes, opts), {
    name = "graph classification", page = classes_page,
    metrics = {{name = "accuracy", of = metrics.accuracy, percent = true}, table.unpack(f1)},
  }), WHERE)
end
