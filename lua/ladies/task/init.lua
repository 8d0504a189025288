--- Gathers the tasks (ladies.task): a task says what is learned from a data set, such as node
-- classification. ladies.task.new documents what a task consists of; the other functions make the
-- tasks that come with the program, each in a file of its name, for one data set. A user's own task
-- is a file of 20 to 40 lines (doc/tasks.md), which commands take by --task.

local errors = require "ladies.base.errors"
local fields = require "ladies.base.fields"
local options = require "ladies.base.options"
local of_edges = require "ladies.task.of_edges"
local Task = require "ladies.task.object"

local task = {
  new = Task.new,
  edge_classification = of_edges.classification,
  edge_regression = of_edges.regression,
  graph_classification = require "ladies.task.graph_classification",
  graph_regression = require "ladies.task.graph_regression",
  link_prediction = require "ladies.task.link_prediction",
  node_classification = require "ladies.task.node_classification",
  node_regression = require "ladies.task.node_regression",
}

--- ladies.task.default_name(data: Dataset) -> string: returns the name of the default task for a
-- data set.
function task.default_name(data)
  options.value("ladies.task", "the data set", data, "Dataset or table")
  local unit = data.graph_of and "graph" or "node"
  if data.labels then return unit .. "_classification" end
  if data.targets then return unit .. "_regression" end
  errors.fail(("ladies.task: %s has neither labels nor targets; a task of edges, such as --task "
    .. "link_prediction (in Lua task), needs none"):format(data.name or "the data set"))
end

--- ladies.task.of(data: Dataset) -> Task: makes the default task for a data set.
function task.of(data)
  return task[task.default_name(data)](data)
end

return fields.of_module("ladies.task", task)
