--- Makes what tasks of many graphs have in common: a mini-batch is drawn of graphs, all their nodes
-- are its seeds, and the rows that a model gives for these are pooled to one row for each graph.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local pooling = require "ladies.nn.pooling"

local graphs = {}

--- The options of these tasks, for options.check.
graphs.SPEC = {pooling = {"mean|sum|max|attention", "mean"}, seed = {"integer", 1}}

--- Fails, with `where` before it, for a data set that is one graph.
function graphs.check(where, data)
  if data.graph_of then return end
  errors.fail(("%s: %s is one graph; of many, graph_of says in which one each node is")
    :format(where, data.name or "the data set"))
end

--- graphs.fields(data, outputs, opts) -> table: the fields of a task (see ladies.task.new) of a
-- data set of many graphs that are about its units: opts.pooling is the kind of pooling of rows of
-- so many outputs.
function graphs.fields(data, outputs, opts)
  local graph_of, find = data.graph_of, core.sampling.find
  local by_graph = {}                     -- the nodes of each graph, as tables
  for node, graph in ipairs(graph_of:to_table()) do
    by_graph[graph] = by_graph[graph] or {}
    table.insert(by_graph[graph], node)
  end
  local index = core.index

  local function nodes_of(units)
    local nodes, n = {}, 0
    for _, unit in ipairs(units:to_table()) do
      for _, node in ipairs(by_graph[unit]) do
        n = n + 1
        nodes[n] = node
      end
    end
    return index(nodes)
  end

  local function make()
    return pooling.new{kind = opts.pooling, inputs = outputs, rng = core.rng(opts.seed)}
  end
  local has_parameters = opts.pooling == "attention"
  local plain = not has_parameters and make() or nil
  return {
    unit = "graph", data = data, all = core.range(1, data.n_graphs),
    units = {train = data.train, val = data.val, test = data.test},
    nodes = nodes_of,
    draw = function(units, _, sample) return sample(nodes_of(units)) end,
    read = function(h, batch, model)
      local places = find(batch.units, graph_of[batch.output])
      return (plain or model.decoder):forward(h, places, #batch.units)
    end,
    decoder = has_parameters and make or nil,
  }
end

return graphs
