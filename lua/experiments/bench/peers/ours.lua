--- Our side of a case: ours.prepare(case, data, threads) gives {run =, settings =, arrays =},
-- where run() returns the seconds of one piece of work, of the sampling and of the gathering in
-- it; settings and arrays are what the peers need for the same.

local core = require "ladies_core"
local ladies = require "ladies"
local experiment = require "ladies.experiment"
local options = require "ladies.base.options"
local partition = require "ladies.graph.partition"
local tables = require "ladies.base.tables"

local ours = {}

local FEW = 8         -- columns of the product that is checked
local ALL = 1 << 30   -- more neighbours than any node has

-- The models whose layers read the types or features of edges; a loop that is no edge has none.
local READ_EDGES = {rgcn = true, gine = true}

-- Adds the arrays of a matrix, under names that begin with `name`.
local function add_matrix(arrays, name, A)
  arrays[name .. "_indptr"], arrays[name .. "_indices"] = A:offsets(), A:col_of()
  arrays[name .. "_data"], arrays[name .. "_cols"] = A:entry_values(), core.tensor{A.n_cols}
end

-- ---------------------------------------------------------------- what trains

-- Returns a sampler of mini-batches with the whole graph in every layer and the loss at the
-- training nodes.
local function all_rows(P, data, layers)
  local nodes = core.range(1, P.n_rows)
  return function()
    local blocks = {}                 -- new ones, since they keep what they read of edges in a step
    for i = 1, layers do blocks[i] = {adj = P, dst = nodes, src = nodes} end
    return {blocks = blocks, input = nodes, output = nodes, loss_nodes = data.train}
  end
end

-- Sampler, model and P of a case.
local function trained(case, data, config, arrays)
  local is_gcn, loose = config.model == "gcn", case.variant == "no self-loops"
  local P = data.graph:normalize(loose and is_gcn and "row" or config.normalize,
    {self_loops = not (loose or READ_EDGES[config.model])})
  if loose then
    local sampler = ladies.samplers[config.method](P, {samples = config.samples,
      layers = config.layers, form = config.form,
      self_nodes = is_gcn and "none" or "previous"})
    if not is_gcn then return sampler, experiment.model(config, data), P end
    return sampler, ladies.nn.gcn{inputs = data.features.n_cols, outputs = data.classes, P = P,
      layers = config.layers, dropout = config.dropout, order = config.order}, P
  end
  local model = experiment.model(config, data)
  if case.variant == "all rows" then return all_rows(P, data, config.layers), model, P end
  if config.method == "clustergcn" then
    local parts = partition.of(data.graph.adjacency, config.parts)
    arrays.parts = partition.part_of("ladies bench peers", parts, P.n_rows)
    return ladies.samplers.clustergcn(data.graph.adjacency, {layers = config.layers, parts = parts,
      train = data.train, clusters = config.clusters, normalize = config.normalize}), model, P
  end
  return experiment.sampler(config, data, model), model, P
end

-- Returns the edges that mini-batches bring, for layers that read them; nil for others.
local function edges_of(config, data) return READ_EDGES[config.model] and data.edges or nil end

-- Returns the mini-batch whose numbers are compared with those of the peers. Networks other than a
-- GCN are given all neighbours: if only some were drawn, the numbers would differ, since peers do
-- not weight an edge by how often it is drawn.
local function first_batch(data, config, P, sampler, task)
  if config.model ~= "gcn" and config.method ~= "full" then
    sampler = ladies.samplers.graphsage(P, {layers = config.layers, samples = ALL,
      form = config.form, self_nodes = "previous"})
  end
  return ladies.batches(task and task.units.train or data.train, {sampler = sampler, task = task,
    batch_size = experiment.batch_size(config, data), edges = edges_of(config, data)})()
end

-- Returns the logits that carry the loss, their nodes, and the weights of their losses, or nil.
local function logits_of(model, data, batch, rng)
  local logits, weight = model:forward(data.features, batch, rng), rawget(batch, "loss_weight")
  local places = batch.loss_nodes
  if not places then return logits, batch.output, weight end
  return logits:rows(places), batch.output[places], weight and weight[places]
end

-- Returns the blocks of a mini-batch and their nodes.
local function blocks_of(batch)
  local arrays = {}
  for i, block in ipairs(batch.blocks) do
    add_matrix(arrays, "block" .. i, block.adj)
    arrays["dst" .. i], arrays["src" .. i] = block.dst, block.src
    arrays["edge" .. i] = block.edge
  end
  return arrays
end

-- Returns the norms of the gradients of a model's parameters.
local function norms_of(model)
  return core.tensor(tables.map(model:parameters(), function(p) return p.grad:norm() end))
end

-- Returns a mini-batch with what the model makes of it without dropout.
local function checked(model, data, batch)
  local arrays = blocks_of(batch)
  arrays.input = batch.input
  local _ <close> = core.step()
  local logits, nodes = logits_of(model, data, batch, false)
  local loss = ladies.loss.cross_entropy(logits, data.labels[nodes])
  loss:backward()
  arrays.output, arrays.logits = nodes, core.no_grad(function() return logits:detach():clone() end)
  arrays.places = batch.loss_nodes or core.range(1, #nodes)
  arrays.loss = core.tensor{loss:item()}
  arrays.gradients = norms_of(model)
  return arrays
end

local function parameters_of(model)
  local arrays = {}
  for _, one in ipairs(ladies.nn.named_parameters(model)) do arrays[one.name] = one.tensor end
  return arrays
end

-- Returns a step of training as a function that returns its seconds, of sampling and of gathering.
local function stepper(data, config, sampler, model)
  local adam = ladies.optim.adam(model:parameters(), {lr = config.lr})
  local next_batch = ladies.batches(data.train,
    {batch_size = experiment.batch_size(config, data), sampler = sampler, epochs = 1 << 30,
      edges = edges_of(config, data)})
  adam:clear()
  return function()
    local began = core.clock()
    local batch = next_batch()
    local sampled = core.clock()
    local _ <close> = core.step()
    local logits, nodes, weight = logits_of(model, data, batch)
    local loss = ladies.loss.cross_entropy(logits, data.labels[nodes], weight)
    loss:backward()
    adam:step(config.clip ~= 0 and {clip = config.clip} or nil)
    loss:item()
    return core.clock() - began, sampled - began, batch.gathering
  end
end

local function sampling_alone(data, config, sampler)
  local next_batch = ladies.batches(data.train,
    {batch_size = config.batch_size, sampler = sampler, epochs = 1 << 30})
  return function()
    local began = core.clock()
    next_batch()
    local seconds = core.clock() - began
    return seconds, seconds, 0
  end
end

-- ---------------------------------------------------------------- the kinds of work

local work = {}

function work.training(case, data, config, arrays)
  local sampler, model, P = trained(case, data, config, arrays)
  local check = checked(model, data, first_batch(data, config, P, sampler))
  return stepper(data, config, sampler, model), P, {weights = parameters_of(model), check = check}
end

-- Link prediction: a step of a mini-batch of positives and as many negatives.
function work.links(case, data, config, arrays)
  local task = experiment.task(config, data)
  data = task.data
  local sampler, model, P = trained(case, data, config, arrays)
  local adam = ladies.optim.adam(model:parameters(), {lr = config.lr})
  local function loss_of(batch, rng)
    local out = task.read(model:forward(data.features, batch, rng), batch, model)
    return task.loss(out, task.targets(batch.units, batch), nil, batch, model), out
  end
  add_matrix(arrays, "A", data.graph.adjacency)
  local first = first_batch(data, config, P, sampler, task)
  local check = blocks_of(first)
  check.input, check.output = first.input, first.pairs.from
  check.from, check.to = first.pairs.from, first.pairs.to
  do
    local _ <close> = core.step()
    local loss, scores = loss_of(first, false)
    loss:backward()
    check.logits = core.no_grad(function() return scores:detach():clone() end)
    check.loss, check.gradients = core.tensor{loss:item()}, norms_of(model)
  end
  adam:clear()
  local next_batch = ladies.batches(task.units.train, {batch_size = config.batch_size,
    sampler = sampler, task = task, epochs = 1 << 30})
  return function()
    local began = core.clock()
    local batch = next_batch()
    local sampled = core.clock()
    local _ <close> = core.step()
    local loss = loss_of(batch)
    loss:backward()
    adam:step()
    loss:item()
    return core.clock() - began, sampled - began, batch.gathering
  end, P, {weights = parameters_of(model), check = check}
end

function work.sampling(case, data, config, arrays)
  local sampler, _, P = trained(case, data, config, arrays)
  local first = ladies.batches(data.train, {batch_size = config.batch_size, sampler = sampler})()
  return sampling_alone(data, config, sampler), P, {check = blocks_of(first)}
end

function work.inference(case, data, config, arrays)
  local _, model, P = trained(case, data, config, arrays)
  local sampler = all_rows(P, data, config.layers)
  local check = checked(model, data, sampler())
  -- Each block is all of P here, which the peers have already, and is large.
  for name in pairs(blocks_of(sampler())) do check[name] = nil end
  return function()
    local began = core.clock()
    ladies.inference.exact(model, data):release()
    return core.clock() - began, 0, 0
  end, P, {weights = parameters_of(model), check = check}
end

function work.product(case, data, config)
  local P, rng = data.graph:normalize(config.normalize), ladies.rng(1)
  local h = core.zeros(P.n_cols, case.columns):normal_(1, rng)
  local few = core.zeros(P.n_cols, FEW):normal_(1, rng)
  return function()
    local began = core.clock()
    P:matmul(h):release()
    return core.clock() - began, 0, 0
  end, P, {check = {h = few, product = P:matmul(few)}}
end

--- Prepares our side of a case, as the file's header says. `arrays` are by file: data, weights,
-- check.
function ours.prepare(case, data, threads)
  local config = experiment.configure(tables.merged({model = "gcn"}, case.settings))
  experiment.resolve(config, data)
  local arrays = {labels = data.labels, train = data.train}
  local run, P, files = work[case.work == "start" and "training" or case.work](case, data, config,
    arrays)
  if not arrays.A_indptr then add_matrix(arrays, "A", data.graph.adjacency) end
  add_matrix(arrays, "P", P)
  if edges_of(config, data) then
    arrays.edge_types, arrays.edge_features = data.edges.types, data.edges.features
  end
  if case.work ~= "sampling" and case.work ~= "product" then
    if options.class_of(data.features) == "Tensor" then
      arrays.x = data.features
    else
      add_matrix(arrays, "x", data.features)
    end
  end
  files.data = arrays
  return {run = run, arrays = files, settings = {
    work = case.work, threads = threads, columns = case.columns,
    method = config.method, samples = config.samples, batch = config.batch_size,
    layers = config.layers, lr = config.lr, clip = config.clip, normalize = config.normalize,
    activation = config.activation or "relu", dropout = config.dropout or 0,
    head_dropout = config.head_dropout or 0, order = config.order or "auto",
    self_nodes = config.self_nodes or "none", union = config.union or "pre",
    parts = config.parts, clusters = config.clusters, length = config.length,
    coverage = config.coverage, all_rows = case.variant == "all rows", hidden = config.hidden,
    nodes = P.n_rows, entries = P.nnz,
    model = config.model, heads = config.heads, alpha = config.alpha, theta = config.theta,
    bases = config.bases, embedding = config.embedding,
    relations = arrays.edge_types and #data.edges.type_names, exclude = config.exclude,
    features = data.features.n_cols, train = #data.train,
    losses = files.check and files.check.output and #files.check.output,
  }}
end

return ours
