--- Inference: a model's logits, exact or sampled.
--
-- Exact inference is the model over the whole graph, one layer after the other, without sampling.
-- Every layer is computed for all nodes before the next begins, so a node costs its degree once a
-- layer and not its whole neighbourhood of five hops. Held at a time: the output of the layer
-- before and two intermediates of the one in hand, 3 N K floats for N nodes and K columns, besides
-- P and the features. A layer may pass on a table of tensors, for layers further on (jumping
-- knowledge, initial residuals); these are held as long as they are passed on. Features that stay
-- in a file (Rows) are never all in memory: layers are then computed by blocks of nodes.

local core = require "ladies_core"
local by_blocks = require "ladies.evaluation.by_blocks"
local errors = require "ladies.base.errors"
local options = require "ladies.base.options"
local propagation = require "ladies.graph.propagation"
local sampling = require "ladies.sampling"

local inference = {}

-- The model's own P of a graph or a data set, which must be that which it was trained with.
local function own_propagation(where, model, of)
  local graph = options.class_of(of) == "Graph" and of or of.graph
  options.value(where, "the graph", graph, "Graph")
  local P, name = propagation.of_model(where, model, graph)
  propagation.check_trained(where, model, P, name, graph)
  return P
end

-- Adds the tensors of a value, a Tensor or a table that holds some however deep, to a set.
local function add_tensors(set, value)
  if options.class_of(value) == "Tensor" then
    set[value] = true
  elseif type(value) == "table" and not set[value] then
    set[value] = true
    for _, part in next, value do add_tensors(set, part) end
  end
  return set
end

-- Gives back the tensors of what a layer was given, but for those that it passed on, as `output`,
-- and those in the set `held`.
local function release(input, output, held)
  local passed_on = add_tensors({}, output)
  for tensor in pairs(add_tensors({}, input)) do
    if type(tensor) == "userdata" and not passed_on[tensor] and not held[tensor]
      and not tensor.in_step then
      tensor:release()
    end
  end
end

local function run(where, model, P, features)
  if options.class_of(features) == "Rows" then
    return options.value(where, "what the last layer returns", by_blocks(model, P, features),
      "Tensor")
  end
  local nodes = core.range(1, P.n_rows)
  local block = {adj = P, dst = nodes, src = nodes}
  local held = add_tensors({[features] = true}, model)
  local h = features
  for i = 1, model.n_layers do
    local input = h
    h = errors.within("layer %d", i, model.layer, model, i, input, block)
    release(input, h, held)
  end
  return options.value(where, "what the last layer returns", h, "Tensor")
end

--- inference.lacking(model) -> string | nil: what a model lacks of what exact inference needs,
-- layer(i, h, block) and n_layers, as a text; nil where it has both, or n_layers = 0, which says
-- that it reads no graph.
function inference.lacking(model)
  options.value("ladies.inference", "the model", model, "table")
  if model.n_layers == 0 then return nil end
  local missing = {}
  if model.layer == nil then missing[1] = "layer(i, h, block)" end
  if model.n_layers == nil then missing[#missing + 1] = "n_layers" end
  return missing[1] and table.concat(missing, " and ")
end

--- inference.possible(model) -> boolean: whether a model has what exact inference needs: it lacks
-- nothing.
function inference.possible(model)
  return inference.lacking(model) == nil
end

local CHUNK = 1 << 14      -- nodes of a forward without a graph

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
  core.no_grad(function()
    for first = 1, n, CHUNK do
      local last = math.min(first + CHUNK - 1, n)
      local nodes = core.range(first, last)
      local h = model:forward(features, {input = nodes, output = nodes, blocks = {}}, false)
      options.value(where, "what the model's forward returns", h, "Tensor")
      logits = logits or core.zeros(n, h.n_cols)
      logits:slice(first, last):copy_(h)
    end
  end)
  return logits
end

--- inference.exact(model, data: Dataset | Graph | Matrix [, {P =, features =}]) -> Tensor: the
-- logits of all nodes, N x outputs.
-- model     has `n_layers` and `layer(i, h, block)`, as nn.gcn; its `P`, a Matrix, or `normalize`
--           ("sym" or "row") and `lambda`, as for graph:normalize, say which P it is for. A layer
--           may return a table of tensors for the next one, the last one returns the logits. With
--           n_layers = 0 a model reads no graph: see inference.without_graph
-- data      a data set; or a Graph, or P itself as a Matrix, and then `features` as well
-- P         a Matrix in place of the model's own. That is refused when the model was trained on
--           mini-batches of another one, as far as these tell.
-- Nothing is recorded, no element is dropped, and the result belongs to no step. Features that
-- carry a gradient in a step are an error; so is a P that does, outside of steps too: call this by
-- ladies.no_grad, or give P:detach().
function inference.exact(model, data, given)
  local where = "ladies.inference.exact"
  if not inference.possible(model) then
    errors.fail(where .. ": the model must have layer(i, h, block) and n_layers, or n_layers = 0 "
      .. "where it reads no graph")
  end
  options.value(where, "the data set", data, "table or Matrix")
  local opts = options.check(where, given, {
    P = "Matrix or nil", features = "Tensor or Matrix or Rows or nil",
  })
  local features = opts.features or options.class_of(data) ~= "Matrix" and data.features
  if model.n_layers == 0 then return inference.without_graph(model, features) end
  local P = opts.P or options.class_of(data) == "Matrix" and data
    or own_propagation(where, model, data)
  options.value(where, "features", features or nil, "Tensor or Matrix or Rows")
  core.check_constant(where, P)
  core.check_constant(where, features)
  if features.n_rows ~= P.n_rows then
    errors.fail(("%s: %d rows of features for a graph of %d nodes"):format(where, features.n_rows,
      P.n_rows))
  end
  return core.no_grad(run, where, model, P, features)
end

local SAMPLED = {
  sampler = "callable",
  batch_size = {"positive integer", 512},
  draws = {"positive integer", 1},
  seed = {"integer", 1},
}

--- inference.sampled(model, data, nodes, {sampler =, batch_size = 512, draws = 1, seed = 1})
-- -> Tensor: the logits of the Index `nodes`, #nodes x outputs, each from a sampled neighbourhood.
-- With more draws every node is sampled so many times and the logits are averaged. The nodes go
-- through the sampler in batches of batch_size; called without a place in an epoch, it must give
-- mini-batches whose output holds all of its seeds (Cluster-GCN: the clusters that hold them;
-- VR-GCN: by its histories as they are, and sampler:fill(model, features) makes them the model's).
-- As for exact inference nothing is recorded.
function inference.sampled(model, data, nodes, given)
  local where = "ladies.inference.sampled"
  options.value(where, "the model", model, "table")
  options.value(where, "the data set", data, "table")
  options.value(where, "the graph", data.graph, "Graph")
  options.value(where, "the nodes", nodes, "Index")
  local opts = options.check(where, given, SAMPLED)
  core.check_constant(where, data.features)
  if #nodes == 0 then errors.fail(where .. ": there are no nodes") end
  local rng, size, n = core.rng(opts.seed), opts.batch_size, #nodes
  local guard = propagation.guard(where, model, data.graph, "the sampler", function() end)
  local logits
  core.no_grad(function()
    for draw = 1, opts.draws do
      for first = 1, n, size do
        local last = math.min(first + size - 1, n)
        local seeds = nodes:slice(first, last)
        local batch = opts.sampler(seeds, rng:fork(draw):fork(first))
        options.value(where, "what the sampler returns", batch, "table")
        propagation.state(batch, opts.sampler)
        guard(batch)
        local places = sampling.find(batch.output, seeds)
        if #places < #seeds then
          errors.fail(("%s: the output of a mini-batch lacks %d of its %d seeds"):format(
            where, #seeds - #places, #seeds))
        end
        local h = model:forward(data.features, batch, false)
        logits = logits or core.zeros(n, h.n_cols)
        local rows = logits:slice(first, last)
        rows:copy_(rows + h[places] / opts.draws)
      end
    end
  end)
  return logits
end

return inference
