--- Models of a script's own: layers that pass tables on, for layers further on, and models that
-- read no graph at all. Both train and are tested as others are.
local lu = require "luaunit"
local ladies = require "ladies"
local stderr_of = require "tools.stderr_of"
local temporary = require "reference.temporary"
local toy = require "reference.toy_data"
local toy_training = require "reference.toy_training"

local tests = {}
local options, weights = toy_training.options, toy_training.weights
local HIDDEN, LAYERS = 8, 3

local function linear(inputs, outputs, key)
  return ladies.nn.linear{inputs = inputs, outputs = outputs, rng = ladies.rng(1):fork(key)}
end

-- A forward over the blocks of a mini-batch by model:layer.
local function forward(model, features, batch)
  local h = features:rows(batch.input)
  for i, block in ipairs(batch.blocks) do h = model:layer(i, h, block) end
  return h
end

-- The rows of x, those of a block's src, that are its dst.
local function rows_of(x, block)
  return x[ladies.sampling.find(block.src, block.dst)]
end

-- Jumping knowledge (Xu et al., ICML 2018): the head sees the sum of all layers' outputs.
local function jumping()
  local model = {n_layers = LAYERS, normalize = "sym", forward = forward, convs = {},
    head = linear(HIDDEN, 3, 9)}
  for i = 1, LAYERS do model.convs[i] = linear(i == 1 and toy.FEATURES or HIDDEN, HIDDEN, i) end
  function model:layer(i, h, block)
    local near = self.convs[i]:forward(block.adj:matmul(i == 1 and h or h.last)):relu()
    local sum = i == 1 and near or rows_of(h.sum, block) + near
    if i == self.n_layers then return self.head:forward(sum) end
    return {last = near, sum = sum}
  end
  return model
end

-- Initial residuals (Chen et al., ICML 2020): every layer sees the first representation.
local function residual()
  local model = {n_layers = LAYERS, normalize = "sym", forward = forward, convs = {},
    first = linear(toy.FEATURES, HIDDEN, 8), head = linear(HIDDEN, 3, 9), scale = ladies.ones(1)}
  for i = 1, LAYERS do model.convs[i] = linear(HIDDEN, HIDDEN, i) end
  function model:layer(i, h, block)
    local first = i == 1 and self.first:forward(h) or h.first
    local near = block.adj:matmul(i == 1 and first or h[1][1]) * 0.9
    local kept = rows_of(first, block)
    near = self.convs[i]:forward(near + kept * 0.1):relu()
    if i == self.n_layers then return self.head:forward(near) end
    return {{near}, first = kept, scale = self.scale, weight = self.head.weight}
  end
  return model
end

local function full(data)
  return ladies.samplers.full(data.graph:normalize "sym", {layers = LAYERS})
end

--- Exact inference gives what forward does on whole neighbourhoods, again and again.
function tests.test_layers_that_return_tables()
  local data = toy.new()
  local all = ladies.range(1, toy.NODES)
  for _, make in ipairs{jumping, residual} do
    local model = make()
    local expected = model:forward(data.features, full(data)(all)):to_table()
    for _ = 1, 2 do
      local found = ladies.inference.exact(model, data):to_table()
      for v = 1, toy.NODES do
        for c = 1, 3 do lu.assertAlmostEquals(found[v][c], expected[v][c], 1e-5) end
      end
    end
    if model.scale then lu.assertEquals(model.scale:to_table(), {1}) end
  end
end

--- Models of one's own train, with validation and test by exact inference, and go on with the same
-- bits.
function tests.test_they_train()
  for name, make in pairs{jumping = jumping, residual = residual} do
    local function run(folder, batches, resume)
      local opts = options{model = make(), max_batches = batches, resume = resume,
        out = temporary.path(folder)}
      opts.sampler = full(opts.data)
      return ladies.train(opts), opts
    end
    local result, whole = run(name, 60)
    lu.assertTrue(result.test_f1 > 0.8, result.test_f1)
    lu.assertEquals(ladies.metrics.f1(whole.model, whole.data, whole.data.test), result.test_f1)
    run(name .. " in parts", 31)
    local _, parts = run(name .. " in parts", 60, true)
    lu.assertEquals(weights(parts.model), weights(whole.model))
  end
end

--- Tensors that a layer does not pass on are given back at once.
function tests.test_tables_are_given_back()
  local model, data, seen = jumping(), toy.new(), {}
  local layer = model.layer
  function model:layer(i, h, block)
    seen[i] = h
    return layer(self, i, h, block)
  end
  ladies.inference.exact(model, data)
  for i = 2, LAYERS do
    lu.assertErrorMsgContains("released", function() return seen[i].sum:to_table() end)
  end
  lu.assertEquals(#data.features:to_table(), toy.NODES)
end

function tests.test_tables_where_there_must_be_a_tensor()
  local model, data = jumping(), toy.new()
  model.n_layers = 2
  local layer = model.layer
  function model:layer(i, h, block)
    return layer({convs = self.convs, n_layers = 3}, i, h, block)
  end
  lu.assertErrorMsgContains("what the last layer returns must be a Tensor, got a table",
    ladies.inference.exact, model, data)
  local opts = options{model = ladies.nn.gcn{inputs = toy.FEATURES, hidden = HIDDEN, outputs = 3,
    layers = 2}, max_batches = 1}
  local plain = opts.model.layer
  function opts.model.layer(...) return {plain(...)} end
  opts.sampler = ladies.samplers.vrgcn(opts.data.graph:normalize "sym", {layers = 2,
    hidden = HIDDEN})
  lu.assertErrorMsgContains("what layer 1 returns must be a Tensor, got a table", ladies.train,
    opts)
end

-- ---------------------------------------------------------------- without layers

--- A model that lacks what validation needs is refused before anything is trained; where it is
-- validated in another way, a note says that there is no test.
function tests.test_models_without_layers()
  local trained = 0
  local function train(own, lacking)
    local opts = options{model = jumping(), max_batches = 2, on_batch = function()
      trained = trained + 1
    end}
    opts.sampler = full(opts.data)
    for key, value in pairs(own) do opts[key] = value end
    local layer = opts.model.layer
    function opts.model.forward(model, features, batch)
      local h = features:rows(batch.input)
      for i, block in ipairs(batch.blocks) do h = layer(model, i, h, block) end
      return h
    end
    for _, name in ipairs(lacking) do opts.model[name] = nil end
    return ladies.train(opts)
  end
  local function refused(text, lacking, own)
    lu.assertErrorMsgContains(text, train, own or {}, lacking)
  end
  refused("ladies.train: the model has no layer(i, h, block), by which validation and test go; add "
    .. "it, or validate in another way", {"layer"})
  refused("ladies.train: the model has no n_layers, by which", {"n_layers"})
  refused("the model has no layer(i, h, block) and n_layers, by which validation and test go; add "
    .. "them, or", {"layer", "n_layers"})
  refused("ladies.train: the model's forward must be a callable, got nil", {"forward"})
  lu.assertEquals(trained, 0)
  local result
  local said = stderr_of(function()
    result = train({validation = function() return 0.5 end}, {"layer"})
  end)
  lu.assertEquals({said, result.test_f1, trained},
    {"ladies.train: the model has no layer(i, h, block): there will be no test\n", nil, 2})
end

-- ---------------------------------------------------------------- no graph

local function perceptron(n_layers)
  local model = {first = linear(toy.FEATURES, 16, 1), second = linear(16, 3, 2),
    n_layers = n_layers}
  function model:forward(features, batch, rng)
    if rng == nil then rng = batch.rng end
    local h = self.first:forward(features:rows(batch.input)):relu()
    return self.second:forward(rng and h:dropout(0.2, rng) or h)
  end
  return model
end

--- Without a sampler a model that reads no graph trains like any other: with validation, test,
-- files, and the same bits after a resumption.
function tests.test_a_model_without_a_graph()
  for _, sparse in ipairs{false, true} do
    local function run(folder, batches, resume)
      local opts = options{data = toy.new(sparse), model = perceptron(), max_batches = batches,
        resume = resume, out = temporary.path(folder .. tostring(sparse))}
      opts.sampler = nil
      opts.data.graph = nil
      return ladies.train(opts), opts
    end
    local result, whole = run("mlp", 60)
    lu.assertTrue(result.test_f1 > 0.6, result.test_f1)
    lu.assertTrue(result.best_value > 0.6, result.best_value)
    run("mlp in parts", 31)
    local _, parts = run("mlp in parts", 60, true)
    lu.assertEquals(weights(parts.model), weights(whole.model))
    local model = perceptron(0)
    ladies.load_model(temporary.path("mlp" .. tostring(sparse)), model)
    lu.assertEquals(ladies.metrics.f1(model, whole.data, whole.data.test), result.test_f1)
    local line = toy_training.log(temporary.path("mlp" .. tostring(sparse)))[1]
    lu.assertEquals({line.nodes, line.edges}, {{20}, {}})
  end
end

--- The loop by hand has the same mini-batches.
function tests.test_batches_without_a_sampler()
  local batch = ladies.batches(ladies.index{5, 3, 8}, {batch_size = 2, shuffle = false})()
  lu.assertEquals({batch.input:to_table(), batch.output:to_table(), batch.blocks},
    {{5, 3}, {5, 3}, {}})
end

--- Nodes go through the forward in chunks: the logits are those of all at once.
function tests.test_chunks()
  local n = 40000
  local features = ladies.zeros(n, 4):normal_(1, ladies.rng(1))
  local w, sizes = ladies.zeros(4, 2):normal_(1, ladies.rng(2)), {}
  local model = {n_layers = 0, forward = function(_, x, batch)
    sizes[#sizes + 1] = #batch.output
    return x:rows(batch.input):matmul(w)
  end}
  local found = ladies.inference.exact(model, {features = features})
  lu.assertEquals(found:hash(), features:matmul(w):hash())
  lu.assertTrue(#sizes > 1 and math.max(table.unpack(sizes)) < n)
end

function tests.test_what_is_refused_without_a_sampler()
  local function refused(expected, own)
    local opts = options(own)
    opts.sampler = nil
    lu.assertErrorMsgContains(expected, ladies.train, opts)
  end
  refused("ladies.train: the model has 2 layers over a graph and needs a sampler", {})
  refused("ladies.train: P is of a model that reads a graph",
    {P = toy.new().graph:normalize "row", model = perceptron()})
  lu.assertErrorMsgContains("or n_layers = 0 where it reads no graph", ladies.inference.exact,
    perceptron(), toy.new())
end

return tests
