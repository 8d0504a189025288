--- Defines the task of node classification: which class each node has, or which of several classes.
-- What differs between these two kinds of labels is in ladies.data.labels.

local classes = require "ladies.task.classes"
local classes_page = require "ladies.task.classes_page"
local core = require "ladies_core"
local errors = require "ladies.base.errors"
local f1 = require "ladies.task.f1"
local options = require "ladies.base.options"
local tables = require "ladies.base.tables"
local Task = require "ladies.task.object"

local WHERE = "ladies.task.node_classification"

--- ladies.task.node_classification(data: Dataset) -> Task: the task of a data set with classes:
-- cross-entropy, or binary cross-entropy where a node may have several classes, micro-F1, by which
-- training goes, and macro-F1. It is the one that every command takes where the data set has
-- classes of nodes.
return function(data)
  options.value(WHERE, "the data set", data, "Dataset or table")
  if data.graph_of then
    errors.fail(WHERE .. ": the data set is many graphs, and its labels are of these: "
      .. "graph_classification")
  end
  local labels = options.value(WHERE, "data.labels", data.labels, "Index or Tensor")
  return Task.new(tables.merged(classes(data), {
    name = "node classification", data = data,
    units = {train = data.train, val = data.val, test = data.test},
    all = core.range(1, options.class_of(labels) == "Tensor" and labels.n_rows or #labels),
    metrics = f1,
    page = classes_page,
  }), WHERE)
end
