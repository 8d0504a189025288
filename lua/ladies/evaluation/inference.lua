--- Computes the logits of a model, exactly on the whole graph or from sampled neighbourhoods.
--
-- Exact inference is the model over the whole graph, one layer after the other, without sampling;
-- in bounded memory, and for the nodes that are asked for (see ladies.evaluation.way).

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local fold = require "ladies.ranks.fold"
local in_time = require "ladies.evaluation.in_time"
local link = require "ladies.ranks.link"
local mapped_files = require "ladies.base.mapped_files"
local options = require "ladies.base.options"
local OwnRows = require "ladies.ranks.own_rows"
local propagation = require "ladies.graph.propagation"
local sampling = require "ladies.sampling"
local tables = require "ladies.base.tables"
local Way = require "ladies.evaluation.way"

local inference = {in_time = in_time}

-- Returns the P that the model names, for a graph or a data set; fails if the model was trained
-- with another P.
local function own_propagation(where, model, of)
  local graph = options.class_of(of) == "Graph" and of or of.graph
  options.value(where, "the graph", graph, "Graph")
  local P, name = propagation.of_model(where, model, graph)
  propagation.check_trained(where, model, P, name, graph)
  return P
end

--- inference.lacking(model) -> string | nil: names, for an error, what a model lacks for exact
-- inference, which needs layer(i, h, block) and n_layers; nil where it has both, or n_layers = 0,
-- which says that it reads no graph.
function inference.lacking(model)
  options.value("ladies.inference", "the model", model, "table")
  if model.n_layers == 0 then return nil end
  local missing = {}
  if model.layer == nil then missing[1] = "layer(i, h, block)" end
  if model.n_layers == nil then missing[#missing + 1] = "n_layers" end
  return missing[1] and table.concat(missing, " and ")
end

--- inference.possible(model) -> boolean: whether a model has what exact inference needs, layer(i,
-- h, block) and n_layers.
function inference.possible(model)
  return inference.lacking(model) == nil
end

local CHUNK = 1 << 14      -- nodes of a forward without a graph

--- inference.way{nodes = Index, memory = integer | string, folder = string, ranks_infer = string}
-- -> Way: settings of how exact inference is computed, for the option `way` of inference.exact. An
-- object that is used again for the same model and P does not plan anew, and tostring(way) tells in
-- a line what it has chosen and why.
-- nodes    those whose logits are wanted, by default all. Of the layers before the last one what
--          these need is computed alone, where that is at most half of the work
-- memory   the bytes of activations that may be in memory, also as "4G" (half of the machine's);
--          those beyond lie in files without names, which are gone with the call, whatever ends it
-- folder   of these files (the environment's TMPDIR, or /var/tmp)
-- ranks_infer   in ladies.comm.together: "together", or "alone", each rank all of it; by default
--          what is faster, which is measured once for a model
function inference.way(given)
  return Way.new("ladies.inference.way", given or {})
end

--- inference.without_graph(model, features: Tensor | Matrix) -> Tensor: the logits of all rows of
-- the features, by the model's forward on some of them at a time. The mini-batches are {input =
-- nodes, output = nodes, blocks = {}}, as those of ladies.batches without a sampler: for models
-- that read no graph. Nothing is recorded.
function inference.without_graph(model, features)
  local where = "ladies.inference.without_graph"
  options.value(where, "the model", model, "table")
  options.value(where, "features", features, "Tensor or Matrix or Rows")
  options.value(where, "the model's forward", model.forward, "callable")
  core.check_constant(where, features)
  local n, logits = features.n_rows, nil
  core.in_float32(core.no_grad, function()
    for first = 1, n, CHUNK do
      local last = math.min(first + CHUNK - 1, n)
      local nodes = core.range(first, last)
      local h = model:forward(features, {input = nodes, output = nodes, blocks = {}}, false)
      options.value(where, "what the model's forward returns", h, "Tensor")
      logits = logits or core.zeros(n, h.n_cols)
      logits:slice(first, last):copy_(h)
    end
  end)
  mapped_files.check()
  return logits
end

local EXACT = {
  P = "Matrix or nil", features = "Tensor or Matrix or Rows or nil", way = "table or nil",
  nodes = "Index or nil", memory = "string or positive number or nil", folder = "string or nil",
  ranks_infer = "together|alone or nil",
}

-- Computes the logits of a model that reads no graph, for the nodes of the way, in its memory and
-- files.
local function of_nodes(model, features, way)
  return way.room:within(function()
    local logits, nodes = inference.without_graph(model, features), way.nodes
    if not nodes or nodes == core.range(1, logits.n_rows) then return logits end
    return logits:rows(nodes)
  end)
end

--- inference.exact(model, data: Dataset | Graph | Matrix [, {P =, features =, nodes =, memory =,
-- folder =, ranks_infer =, way =}]) -> Tensor: the logits of all nodes, N x outputs, or of the
-- Index `nodes`.
-- model     has `n_layers` and `layer(i, h, block)`, as nn.gcn; its `P`, a Matrix, or `normalize`
--           ("sym" or "row") and `lambda`, as for graph:normalize, say which P it is for. A layer
--           may return a table of tensors for the next one, the last one returns the logits. With
--           n_layers = 0 a model reads no graph: see inference.without_graph
-- data      a data set; or a Graph, or P itself as a Matrix, and then `features` as well
-- P         a Matrix in place of the model's own. That is refused when the model was trained on
--           mini-batches of another one, as far as these tell.
-- nodes, memory, folder, ranks_infer   see inference.way; or a `way` in their place
-- Nothing is recorded, no element is dropped, products are of float32, also within
-- ladies.in_bfloat16, and the result belongs to no step. Features that carry a gradient in a step
-- are an error; so is a P that does, outside of steps too: call this by ladies.no_grad, or give
-- P:detach().
function inference.exact(model, data, given)
  local where = "ladies.inference.exact"
  if not inference.possible(model) then
    errors.fail(where .. ": the model must have layer(i, h, block) and n_layers, or n_layers = 0 "
      .. "where it reads no graph")
  end
  options.value(where, "the data set", data, "table or Matrix")
  local opts = options.check(where, given, EXACT)
  local given_way = {nodes = opts.nodes, memory = opts.memory, folder = opts.folder,
    ranks_infer = opts.ranks_infer}
  if opts.way and next(given_way) then
    errors.fail(("%s: give %s to ladies.inference.way, not beside the way that it made"):format(
      where, tables.sorted_keys(given_way)[1]))
  end
  local way = options.value(where, "way", opts.way, "Way or nil") or Way.new(where, given_way)
  local class = options.class_of(data)
  local features = opts.features or class ~= "Matrix" and class ~= "Graph" and data.features
  if model.n_layers == 0 then return of_nodes(model, features, way) end
  local P = opts.P or class == "Matrix" and data or own_propagation(where, model, data)
  options.value(where, "features", features or nil, "Tensor or Matrix or Rows")
  core.check_constant(where, P)
  core.check_constant(where, features)
  if features.n_rows ~= P.n_rows then
    errors.fail(("%s: %d rows of features for a graph of %d nodes"):format(where, features.n_rows,
      P.n_rows))
  end
  local edges = class == "Dataset" and data.edges or nil
  local logits = core.in_float32(core.no_grad, way.logits, way, model, P, features, edges)
  mapped_files.check()
  return logits
end

local SAMPLED = {
  sampler = "callable",
  batch_size = {"positive integer", 512},
  draws = {"positive integer", 1},
  seed = {"integer", 1},
}

-- Returns the logits of one mini-batch of seeds, in their order.
local function of_seeds(model, data, sampler, seeds, rng, guard)
  local where = "ladies.inference.sampled"
  local batch = sampler(seeds, rng)
  options.value(where, "what the sampler returns", batch, "table")
  propagation.state(batch, sampler)
  guard(batch)
  if data.edges then data.edges:attach_all(batch) end
  local places = sampling.find(batch.output, seeds)
  if #places < #seeds then
    errors.fail(("%s: the output of a mini-batch lacks %d of its %d seeds"):format(where,
      #seeds - #places, #seeds))
  end
  return model:forward(data.features, batch, false)[places]
end

-- Calls f(first, last) for all of n nodes, in batches of `size`, and returns its result. Within
-- link.shared, where each rank has all of the graph and the features and there is a batch for each,
-- it is called for this rank's batches alone, and the rows that it returns are joined.
local function by_batches(data, n, size, f)
  local in_parts = OwnRows.are_in_parts(data.graph.adjacency, data.features)
  local bounds, batches = {0}, (n + size - 1) // size
  if not link.is_sharing() or in_parts or batches < link.size then return f(1, n) end
  for rank = 0, link.size - 1 do
    bounds[rank + 2] = math.min(n, size * select(2, fold.share(rank, link.size, batches)))
  end
  return link.joined(bounds, f, bounds[link.rank + 1] + 1, bounds[link.rank + 2])
end

--- inference.sampled(model, data, nodes, {sampler =, batch_size = 512, draws = 1, seed = 1})
-- -> Tensor: the logits of the Index `nodes`, #nodes x outputs, each from a sampled neighbourhood.
-- With more draws every node is sampled so many times and the logits are averaged. The nodes go
-- through the sampler in batches of batch_size; called without a place in an epoch, it must give
-- mini-batches whose output holds all of its seeds (Cluster-GCN: the clusters that hold them;
-- VR-GCN: by its histories as they are, and sampler:fill(model, features) makes them the model's).
-- As for exact inference nothing is recorded. In ladies.comm.together each rank takes its share of
-- the batches, unless features or graph are in parts.
function inference.sampled(model, data, nodes, given)
  local where = "ladies.inference.sampled"
  options.value(where, "the model", model, "table")
  options.value(where, "the data set", data, "table")
  options.value(where, "the graph", data.graph, "Graph")
  options.value(where, "the nodes", nodes, "Index")
  local opts = options.check(where, given, SAMPLED)
  core.check_constant(where, data.features)
  if #nodes == 0 then errors.fail(where .. ": there are no nodes") end
  local rng, size = core.rng(opts.seed), opts.batch_size
  local guard = propagation.guard(where, model, data.graph, "the sampler", function() end)
  local logits = core.no_grad(by_batches, data, #nodes, size, function(begin, n)
    local own
    for draw = 1, opts.draws do
      for first = begin, n, size do
        local last = math.min(first + size - 1, n)
        local h = of_seeds(model, data, opts.sampler, nodes:slice(first, last),
          rng:fork(draw):fork(first), guard)
        own = own or core.zeros(n - begin + 1, h.n_cols)
        local rows = own:slice(first - begin + 1, last - begin + 1)
        rows:copy_(rows + h / opts.draws)
      end
    end
    return own
  end)
  mapped_files.check()
  return logits
end

return inference
