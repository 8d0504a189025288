--- Exact inference by the arguments that it is given (test_models.lua and test_pyg.lua test its
-- numbers), and sampled inference.
local lu = require "luaunit"
local ladies = require "ladies"
local compare = require "reference.compare"
local toy = require "reference.toy_data"

local tests = {}

local function model_for(data, opts)
  opts.inputs, opts.hidden, opts.outputs = data.features.n_cols, 8, data.classes
  return ladies.nn.gcn(opts)
end

--- Inference takes a data set, a graph, or P itself.
function tests.test_ways_to_name_the_graph()
  local data = toy.new()
  local model = model_for(data, {layers = 2})
  local expected = ladies.inference.exact(model, data):hash()
  lu.assertEquals(ladies.inference.exact(model, data.graph,
    {features = data.features}):hash(), expected)
  lu.assertEquals(ladies.inference.exact(model, data.graph:normalize "sym",
    {features = data.features}):hash(),
    expected)
end

--- Inference records nothing, even inside a step, and its result outlives the step.
function tests.test_inside_a_step()
  local data = toy.new()
  local model = model_for(data, {layers = 2})
  local logits
  do
    local step <close> = ladies.step()
    logits = ladies.inference.exact(model, data)
    lu.assertEquals(tostring(step), "Step, 0 operations recorded")
  end
  lu.assertEquals(logits:hash(), ladies.inference.exact(model, data):hash())
end

function tests.test_errors()
  local data = toy.new()
  local model = model_for(data, {layers = 2})
  lu.assertErrorMsgContains("layer(i, h, block)", ladies.inference.exact, {}, data)
  lu.assertErrorMsgContains("3 rows of features for a graph of 180 nodes", ladies.inference.exact,
    model, data.graph, {features = ladies.zeros(3, toy.FEATURES)})
end

-- ---------------------------------------------------------------- sampled

--- With whole neighbourhoods sampled inference is exact, in the order of the nodes and in batches
-- of any size.
function tests.test_sampled_with_whole_neighbourhoods()
  local data = toy.new()
  local model = model_for(data, {layers = 3, dropout = 0.5})
  local sampler = ladies.samplers.full(data.graph:normalize "sym", {layers = 3})
  local nodes = ladies.index{7, 2, 9, 30, 1}
  local exact = ladies.inference.exact(model, data)[nodes]
  for _, size in ipairs{1, 2, 5, 100} do
    compare.assert_close(ladies.inference.sampled(model, data, nodes,
      {sampler = sampler, batch_size = size, draws = 2}), exact, 1e-5, "batches of " .. size)
  end
end

--- A sampler that draws its own seeds in training is asked for the clusters of these.
function tests.test_sampled_with_clusters()
  local data = toy.new()
  local config = {layers = 2, train = data.train, partition = "random", clusters = 1, lambda = 0.5}
  local model = model_for(data, {layers = 2, normalize = "row", lambda = 0.5})
  local nodes = ladies.index{7, 2, 9, 30, 1}
  local exact = ladies.inference.exact(model, data)[nodes]
  for _, parts in ipairs{1, 6} do
    config.parts = parts
    local sampler = ladies.samplers.clustergcn(data.graph.adjacency, config)
    local logits = ladies.inference.sampled(model, data, nodes, {sampler = sampler, batch_size = 2})
    lu.assertEquals((logits - exact):norm() < 1e-4, parts == 1)    -- all clusters, or one or two
  end
end

--- Sampled inference by VR-GCN with the histories of the model is exact, whatever it draws.
function tests.test_sampled_with_histories()
  local data = toy.new()
  local model = model_for(data, {layers = 2})
  local sampler = ladies.samplers.vrgcn(data.graph:normalize "sym",
    {layers = 2, hidden = 8, samples = 1})
  local function distance()
    local logits = ladies.inference.sampled(model, data, data.val, {sampler = sampler})
    return (logits - ladies.inference.exact(model, data)[data.val]):norm()
  end
  lu.assertTrue(distance() > 0.1)
  sampler:fill(model, data.features)
  lu.assertTrue(distance() < 1e-4)
end

--- A linear model's mean over many draws of an unbiased sampler is its exact value.
function tests.test_draws_are_averaged()
  local data = toy.new()
  local model = model_for(data, {layers = 1})
  local sampler = ladies.samplers.ladies(data.graph:normalize "sym",
    {samples = {3}, draw = "wr", row_normalize = false})
  local exact = ladies.inference.exact(model, data)[data.val]
  local function distance(draws)
    return (ladies.inference.sampled(model, data, data.val,
      {sampler = sampler, batch_size = 10, draws = draws}) - exact):norm() / exact:norm()
  end
  lu.assertTrue(distance(1) > 0.3)
  lu.assertTrue(distance(2000) < 0.1)
end

function tests.test_sampled_refuses()
  local data = toy.new()
  local model = model_for(data, {layers = 1})
  local part = toy.neighbourhoods(data.graph:normalize "sym", 1)
  lu.assertErrorMsgContains("the output of a mini-batch lacks 2 of its 4 seeds",
    ladies.inference.sampled, model, data, ladies.index{5, 1, 9, 2},
    {sampler = function() return part(ladies.index{1, 2, 3}) end})
  lu.assertErrorMsgContains("there are no nodes", ladies.inference.sampled, model, data,
    ladies.index{}, {sampler = print})
end

return tests
