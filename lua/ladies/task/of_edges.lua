--- Defines the tasks of edge classification and edge regression: to predict the type of an edge, or
-- a number, from the rows that the model computes for its two ends. All edges are used in
-- propagation, since that they exist is known; but samplers and models do not see features, types
-- and times of edges, nor weights if these are the targets. Of edges divided by time those for
-- training alone are used; or, in time, the edges from before each, of which all is known by then.

local blind = require "ladies.task.blind"
local by_chance = require "ladies.links.by_chance"
local copies = require "ladies.data.copies"
local core = require "ladies_core"
local csv = require "ladies.report.csv"
local edge_cells = require "ladies.task.edge_cells"
local EdgeData = require "ladies.data.edges"
local edge_list = require "ladies.data.edges.list"
local edge_split = require "ladies.task.edge_split"
local errors = require "ladies.base.errors"
local f1 = require "ladies.task.f1"
local Graph = require "ladies.graph"
local is_example = require "ladies.links.is_example"
local links_in_time = require "ladies.links.in_time"
local losses = require "ladies.nn.loss"
local metrics = require "ladies.evaluation.metrics"
local Mlp = require "ladies.nn.mlp"
local options = require "ladies.base.options"
local tables = require "ladies.base.tables"
local Task = require "ladies.task.object"

local sampling = core.sampling
local of_edges = {}

local SPEC = {
  edge_split = {"string", "85/5/10"}, edge_split_seed = {"integer", 1}, seed = {"integer", 1},
  embedding = {"positive integer", 64}, in_time = {"boolean", false},
}

-- Returns what is known of the edges of a data set, of a graph that is only weighted its weights.
local function edges_of(where, data)
  if data.edges then return data.edges end
  local A = data.graph.adjacency
  local weights = A:entry_values()
  if A.nnz > 0 and (weights:min() ~= 1 or weights:max() ~= 1) then
    return EdgeData.new{adjacency = A, weights = weights}
  end
  errors.fail(("%s: %s has no features, types, times or weights of edges"):format(where,
    data.name or "the data set"))
end

-- Returns the examples of a data set: where they begin and end, their positions among its edges,
-- the parts of the split, their times in time, and what propagation uses.
local function examples(where, data, opts)
  local edges = edges_of(where, data)
  local entries = edges:entries()
  local A = edges.adjacency
  local from, to = A:col_of()[entries], A:row_of()[entries]
  local chosen = is_example(edges, from, to):positions()
  local val, test, by_time = edge_split(where, opts.edge_split)
  local list = {from = from[chosen], to = to[chosen], chosen = chosen, graph = data.graph,
    known = edges}
  if by_time and not edges.times then
    errors.fail(where .. ": a split by time asks for edges with times")
  elseif opts.in_time and not by_time then
    errors.fail(('%s: in time the edges are divided by their times: edge_split = "time" or '
      .. '"time:%s"'):format(where, opts.edge_split))
  end
  local parts = by_time and links_in_time.parts(where, edges.times[chosen], val, test)
    or by_chance(where, #chosen, opts.edge_split_seed, val, test)
  list.units = {train = parts.train, val = parts.val, test = parts.test}
  if parts.cut then
    local past = edges.times:below(parts.cut):positions()
    list.graph = Graph.new(edge_list.part(edges, past).adjacency)
  end
  if opts.in_time then
    list.times, list.time_origin, list.edges = edges.times[chosen], edges.time_origin, edges
  end
  return list
end

-- Adds what differs in time to the fields of a task: rows are those of nodes at the times of edges.
local function in_time(fields, list, n_nodes, both)
  local all_from, all_to, all_times = list.from, list.to, list.times
  local function seeds_of(units)
    local from, to, times = all_from[units], all_to[units], all_times[units]
    local nodes, at, places = links_in_time.distinct(from .. to, times .. times, n_nodes)
    return nodes, at, {from = places(from, times), to = places(to, times)}
  end
  fields.draw = function(units, _, sample)
    local nodes, at, ends = seeds_of(units)
    local batch = sample(nodes, at)
    if batch.output ~= nodes then
      errors.fail "edges in time: the output of the sampler must be the seeds in their order"
    end
    batch.pairs = ends
    return batch
  end
  fields.infer = function(units, model, rows)
    local nodes, at, ends = seeds_of(units)
    return both(rows(nodes, at), ends.from, ends.to, model.decoder)
  end
  fields.nodes, fields.score = nil, nil
  return fields
end

-- Returns the fields that both tasks have, for `outputs` numbers of each edge.
local function common(list, opts, outputs)
  local all_from, all_to = list.from, list.to
  local function both(h, from, to, decoder, rng)
    return decoder.mlp:apply(h[from]:concat(h[to]), rng)
  end
  local fields = {
    unit = "edge", units = list.units, all = core.range(1, #list.from),
    outputs = opts.embedding, outputs_are = "columns of a row",
    draw = function(units, _, sample)
      local from, to = all_from[units], all_to[units]
      local batch = sample(sampling.unique(from .. to))
      batch.pairs = {from = sampling.find(batch.output, from), to = sampling.find(batch.output, to)}
      return batch
    end,
    read = function(h, batch, model)
      return both(h, batch.pairs.from, batch.pairs.to, model.decoder, batch.rng)
    end,
    nodes = function(units) return sampling.unique(all_from[units] .. all_to[units]) end,
    score = function(h, units, model)
      local from, to = all_from[units], all_to[units]
      local nodes = sampling.unique(from .. to)
      return both(h, sampling.find(nodes, from), sampling.find(nodes, to), model.decoder)
    end,
    decoder = function()
      return {mlp = Mlp.part({inputs = 2 * opts.embedding, hidden = opts.embedding,
        outputs = outputs, layers = 2, dropout = 0, input_dropout = 0, activation = "relu",
        bias = true, init = "glorot_uniform", norm = false}, core.rng(opts.seed):fork(-2))}
    end,
  }
  return list.times and in_time(fields, list, list.graph.n_nodes, both) or fields
end

--- ladies.task.edge_classification(data: Dataset [, {edge_split = "85/5/10", edge_split_seed = 1,
-- embedding = 64, seed = 1, in_time = false}]) -> Task: of which type each edge of a data set is
-- (data.edges.types): cross-entropy, micro-F1 and macro-F1. The model gives the nodes rows of
-- `embedding` columns, and a multilayer perceptron reads those of both ends. Mini-batches are drawn
-- of edges; an edge and its reverse count as one, and edges of an inverse type do not count. The
-- split is by chance, by its seed, or with edge_split = "time" or "time:80/10/10" by the times of
-- edges, as links.split has it; propagation then has the edges for training alone. With in_time,
-- for such a split and the sampler ladies.samplers.temporal, it has for each edge those from before
-- it, with features and types. `seed` is of the perceptron's first weights.
function of_edges.classification(data, given)
  local where = "ladies.task.edge_classification"
  options.value(where, "the data set", data, "Dataset")
  local opts = options.check(where, given, SPEC)
  local list = examples(where, data, opts)
  if not list.known.types then errors.fail(where .. ": the edges have no types") end
  local types, names = list.known.types[list.chosen], list.known.type_names
  local classes = types:max()
  return Task.new(tables.merged(common(list, opts, classes), {
    name = "edge classification", data = copies.with_graph(data, list.graph, list.edges),
    targets = function(units) return types[units] end,
    loss = function(out, targets) return losses.cross_entropy(out, targets) end,
    predict = function(out) return out:argmax() end,
    blind = blind.class(types, list.units.train, "edge"),
    metrics = f1,
    arrays = function(out, units)
      return {predicted = out:argmax(), types = types[units], from = list.from[units],
        to = list.to[units], type_names = names}
    end,
    columns = function(out, units)
      local predicted = out:argmax()
      local head, ends_at = edge_cells(list, data)
      local named = names and ",predicted_name,type_name" or ""
      return head .. ",predicted,type" .. named, function(i)
        local guess, truth = predicted[i], types[units[i]]
        local cells = ("%s,%d,%d"):format(ends_at(units[i]), guess - 1, truth - 1)
        return names and ("%s,%s,%s"):format(cells, csv.field(names[guess]),
          csv.field(names[truth])) or cells
      end
    end,
  }), where)
end

-- Returns the target of each edge: its weight, or one of its features by name or number.
local function numbers_of(where, edges, target)
  if target == "weight" then
    return edges.weights or errors.fail(where .. ": the edges have no weights")
  end
  local names = edges.feature_names or {}
  local column = math.tointeger(tonumber(target))
  for i, name in ipairs(names) do
    if name == target then column = i end
  end
  local n = edges.features and edges.features.n_cols or 0
  if n == 0 and edges.weights then
    errors.fail(('%s: the edges have weights alone, and target must be "weight", got "%s"'):format(
      where, target))
  elseif n == 0 then
    errors.fail(('%s: the edges have neither features nor weights, got the target "%s"'):format(
      where, target))
  elseif not column or column < 1 or column > n then
    errors.fail(('%s: target must be "weight", or a feature of the edges by its name or its number '
      .. 'from 1 to %d, got "%s"%s'):format(where, n, target,
        options.hint(tostring(target), names, "there are")))
  end
  return edges.features:slice_cols(column, column):reshape(#edges)
end

--- ladies.task.edge_regression(data: Dataset [, {target = "1", edge_split = "85/5/10",
-- edge_split_seed = 1, embedding = 64, seed = 1, in_time = false}]) -> Task: which number each edge
-- of a data set has: `target` is "weight", or one of the features of edges (data.edges.features) by
-- its name or number. Squared errors; MAE, by which training goes, MSE and R2. All else is as in
-- ladies.task.edge_classification.
function of_edges.regression(data, given)
  local where = "ladies.task.edge_regression"
  options.value(where, "the data set", data, "Dataset")
  local opts = options.check(where, given, tables.merged(SPEC, {target = {"string", "1"}}))
  local list = examples(where, data, opts)
  local numbers = numbers_of(where, list.known, opts.target)[list.chosen]
  local A, graph = list.graph.adjacency, list.graph
  if opts.target == "weight" then graph = Graph.new(A:with_values(core.ones(A.nnz))) end
  return Task.new(tables.merged(common(list, opts, 1), {
    name = "edge regression", data = copies.with_graph(data, graph, list.edges),
    targets = function(units) return numbers[units] end,
    loss = function(out, targets)
      return (out:reshape(out.n_rows) - targets):square():mean()
    end,
    predict = function(out) return out:reshape(out.n_rows) end,
    blind = blind.median(numbers, list.units.train, "edge"),
    metrics = {
      {name = "MAE", of = metrics.mae, mode = "min"},
      {name = "MSE", of = metrics.mse, mode = "min"},
      {name = "R2", of = metrics.r2},
    },
    arrays = function(out, units)
      return {predicted = out:reshape(out.n_rows), targets = numbers[units],
        from = list.from[units], to = list.to[units]}
    end,
    columns = function(out, units)
      local head, ends_at = edge_cells(list, data)
      return head .. ",predicted,target", function(i)
        return ("%s,%.9g,%.9g"):format(ends_at(units[i]), out:get(i, 1), numbers[units[i]])
      end
    end,
  }), where)
end

return of_edges
