--- Modules: shapes, both orders of a convolution, first weights, dropout's draws, the models of the
-- presets, and models of a user's own making.
local lu = require "luaunit"
local ladies = require "ladies"
local compare = require "reference.compare"
local tables = require "ladies.base.tables"
local toy = require "reference.toy_data"

local nn = ladies.nn
local tests = {}

local function random(n_rows, n_cols, seed)
  return ladies.zeros(n_rows, n_cols):normal_(1, ladies.rng(seed))
end

local function names_of(named)
  return tables.map(named, function(parameter) return parameter.name end)
end

-- A mini-batch of exact neighbourhoods of a few nodes.
local function batch_of(data, layers, nodes)
  return toy.neighbourhoods(data.graph:normalize "sym", layers)(ladies.index(nodes))
end

-- ---------------------------------------------------------------- layers

function tests.test_linear()
  local linear = nn.linear{inputs = 3, outputs = 2, rng = ladies.rng(1)}
  linear.bias:copy_(ladies.tensor{1, -1})
  local x = random(4, 3, 2)
  local expected = x:matmul(linear.weight) + linear.bias
  compare.assert_close(linear:forward(x), expected, 1e-6, "dense")
  compare.assert_close(linear:forward(ladies.sparse(x)), expected, 1e-6, "sparse")
  lu.assertEquals(names_of(linear:named_parameters()), {"bias", "weight"})
  lu.assertEquals(tostring(linear), "Linear 3 -> 2")
end

--- A convolution gives the same numbers in both orders and for sparse features.
function tests.test_orders_of_a_convolution()
  local data = toy.new()
  local P, x = data.graph:normalize "sym", data.features
  local outputs = {}
  for _, order in ipairs{"auto", "transform_first", "propagate_first"} do
    local conv = nn.gcn_conv{inputs = toy.FEATURES, outputs = 5, order = order, rng = ladies.rng(3)}
    conv.bias:copy_(ladies.tensor{1, 2, 3, 4, 5})
    outputs[#outputs + 1] = conv:forward(x, P)
    outputs[#outputs + 1] = conv:forward(ladies.sparse(x), P)
  end
  for i = 2, #outputs do compare.assert_close(outputs[i], outputs[1], 1e-5, "output " .. i) end
end

--- The order with fewer multiplications, counted by hand.
function tests.test_cheaper_order()
  local cheaper = require "ladies.nn.gcn_conv".transform_is_cheaper
  -- 10 columns, 2 rows, 10 entries, 4 inputs, 3 outputs: 120 + 30 against 40 + 24.
  lu.assertFalse(cheaper({n_rows = 2, n_cols = 10, nnz = 10}, 4, 3))
  -- With 100 entries and 10 rows the counts are 120 + 300 against 400 + 120.
  lu.assertTrue(cheaper({n_rows = 10, n_cols = 10, nnz = 100}, 4, 3))
end

function tests.test_layer_norm()
  local norm = nn.layer_norm{width = 4}
  local y = norm:forward(ladies.tensor{{1, 2, 3, 4}, {5, 5, 5, 5}}):to_table()
  lu.assertAlmostEquals(y[1][1] + y[1][2] + y[1][3] + y[1][4], 0, 1e-5)
  lu.assertAlmostEquals(y[1][4], 1.3416, 1e-3)
  lu.assertEquals(y[2], {0, 0, 0, 0})
end

function tests.test_activations()
  local x = ladies.tensor{-2, 0.5}
  local expected = {
    none = {-2, 0.5}, relu = {0, 0.5}, elu = {math.exp(-2) - 1, 0.5}, leaky_relu = {-0.02, 0.5},
    sigmoid = {1 / (1 + math.exp(2)), 1 / (1 + math.exp(-0.5))}, tanh = {-0.9640276, 0.4621172},
  }
  for name, values in pairs(expected) do
    compare.assert_close(nn.activation(name)(x), values, 1e-6, name)
  end
  lu.assertErrorMsgContains('did you mean "relu"?', nn.activation, "reul")
end

-- ---------------------------------------------------------------- first weights

function tests.test_first_weights_have_the_right_spread()
  local inputs, outputs = 300, 200
  local variance = {
    glorot_uniform = 2 / 500, glorot_normal = 2 / 500, kaiming_uniform = 2 / 300,
    kaiming_normal = 2 / 300,
  }
  for name, expected in pairs(variance) do
    local w = nn.initialize[name](ladies.zeros(inputs, outputs), ladies.rng(7))
    local found = w:norm()^2 / (inputs * outputs)
    lu.assertAlmostEquals(found / expected, 1, 0.03, name)
    lu.assertAlmostEquals(w:sum():item() / (inputs * outputs), 0, 0.002, name)
    if name:find "uniform" then
      lu.assertTrue(w:max() <= math.sqrt(3 * expected), name)
    end
  end
  lu.assertEquals(nn.initialize.zeros(random(2, 2, 1)):to_table(), {{0, 0}, {0, 0}})
end

function tests.test_first_weights_follow_the_seed()
  local function hash(seed)
    local model = nn.gcn{inputs = 4, hidden = 8, outputs = 3, layers = 2, seed = seed}
    return model.layers[1].conv.weight:hash() .. model.layers[2].conv.weight:hash()
  end
  lu.assertEquals(hash(1), hash(1))
  lu.assertNotEquals(hash(1), hash(2))
end

--- Weights of equal shape still get different draws.
function tests.test_layers_differ()
  local model = nn.gcn{inputs = 8, hidden = 8, outputs = 8, layers = 2}
  lu.assertNotEquals(model.layers[1].conv.weight:hash(), model.layers[2].conv.weight:hash())
end

-- ---------------------------------------------------------------- dropout

--- All 64 bits of a sub-stream's number count.
function tests.test_dropout_of_distant_substreams()
  local x, rng, seen = ladies.ones(30, 20), ladies.rng(1), {}
  for _, id in ipairs{0, 1, 1 << 32, 1 << 40} do
    local hash = x:dropout(0.5, rng:at(id)):hash()
    lu.assertNil(seen[hash])
    seen[hash] = true
  end
end

function tests.test_dropout_draws_only_with_an_rng()
  local x = ladies.ones(50, 40)
  local dropout = nn.dropout{p = 0.5}
  lu.assertTrue(rawequal(dropout:forward(x), x))
  lu.assertTrue(rawequal(nn.dropout{p = 0}:forward(x, ladies.rng(1)), x))
  local y = dropout:forward(x, ladies.rng(1))
  lu.assertAlmostEquals(y:sum():item() / 2000, 1, 0.1)
  lu.assertEquals(dropout:forward(x, ladies.rng(1)):hash(), y:hash())
end

function tests.test_model_draws_from_the_batch()
  local data = toy.new()
  local model = nn.gcn{inputs = toy.FEATURES, hidden = 16, outputs = 3, layers = 3, dropout = 0.5}
  local batch = batch_of(data, 3, {1, 2, 3})
  local function logits(...) return model:forward(data.features, batch, ...):hash() end
  local plain = logits()
  lu.assertEquals(logits(), plain)
  batch.rng = ladies.rng(5)
  local dropped = logits()
  lu.assertNotEquals(dropped, plain)
  lu.assertEquals(logits(ladies.rng(5)), dropped)   -- the same draws
  lu.assertEquals(logits(false), plain)             -- evaluation
end

-- ---------------------------------------------------------------- models

function tests.test_gcn_shapes()
  local data = toy.new()
  for _, opts in ipairs{
    {layers = 1}, {layers = 4}, {layers = 2, head = "linear"}, {layers = 3, norm = true},
    {layers = 2, bias = false}, {layers = 2, activation = "elu", order = "transform_first"},
  } do
    opts.inputs, opts.hidden, opts.outputs = toy.FEATURES, 8, 3
    local model = nn.gcn(opts)
    local logits = model:forward(data.features, batch_of(data, opts.layers, {4, 9, 30}))
    lu.assertEquals({logits.n_rows, logits.n_cols}, {3, 3})
    lu.assertTrue(logits:is_finite())
  end
end

function tests.test_names_of_parameters()
  local model = nn.gcn{inputs = 3, hidden = 4, outputs = 2, layers = 2, head = "linear",
    norm = true}
  lu.assertEquals(names_of(model:named_parameters()), {
    "head.linear.bias", "head.linear.weight",
    "layers.1.conv.bias", "layers.1.conv.weight", "layers.1.norm.bias", "layers.1.norm.gain",
    "layers.2.conv.bias", "layers.2.conv.weight", "layers.2.norm.bias", "layers.2.norm.gain",
  })
  lu.assertEquals(#model:parameters(), 10)
  lu.assertEquals(nn.size(model), 2 + 8 + 4 + 12 + 8 + 4 + 16 + 8)
end

function tests.test_gradients_reach_every_parameter()
  local data = toy.new()
  local model = nn.gcn{inputs = toy.FEATURES, hidden = 8, outputs = 3, layers = 3, head = "linear",
    norm = true, dropout = 0.2, head_dropout = 0.2}
  local batch = batch_of(data, 3, {1, 2, 3, 4, 5, 6})
  batch.rng = ladies.rng(1)
  local _ <close> = ladies.step()
  local loss = ladies.loss.cross_entropy(model:forward(data.features, batch),
    data.labels[batch.output])
  loss:backward()
  for _, parameter in ipairs(model:named_parameters()) do
    lu.assertNotNil(parameter.tensor.grad, parameter.name)
    lu.assertTrue(parameter.tensor.grad:norm() > 0, parameter.name)
  end
end

function tests.test_sparse_features_train_as_dense_ones()
  local dense, sparse = toy.new(), toy.new(true)
  local batch = batch_of(dense, 2, {1, 2, 3})
  local model = nn.gcn{inputs = toy.FEATURES, hidden = 8, outputs = 3, layers = 2}
  compare.assert_close(model:forward(sparse.features, batch), model:forward(dense.features, batch),
    1e-5, "logits")
end

function tests.test_wrong_number_of_blocks()
  local data = toy.new()
  local model = nn.gcn{inputs = toy.FEATURES, outputs = 3, layers = 2}
  lu.assertErrorMsgContains("the batch has 3 blocks, the model 2 layers", model.forward, model,
    data.features, batch_of(data, 3, {1}))
end

function tests.test_unknown_option()
  lu.assertErrorMsgContains('did you mean "hidden"?', nn.gcn, {inputs = 2, outputs = 2, hiden = 3})
end

function tests.test_text_form()
  local model = nn.gcn{inputs = 10, hidden = 4, outputs = 2, layers = 2, dropout = 0.5}
  lu.assertEquals(tostring(model), "Gcn of 2 layers, P = sym, 54 parameters")
  lu.assertEquals(tostring(nn.gcn{inputs = 10, outputs = 2, layers = 1}),
    "Gcn of 1 layer, P = sym, 22 parameters")
  lu.assertEquals(ladies.show(model, 50), [[
Gcn of 2 layers, P = sym, 54 parameters
  layer  what                                parameters
  1      GcnConv 10 -> 4, relu, dropout 0.5          44
      conv.bias 4, conv.weight 10 x 4
  2      GcnConv 4 -> 2                              10
      conv.bias 2, conv.weight 4 x 2]])
end

--- A table of parameters with a `forward` is a model.
function tests.test_a_model_of_ones_own()
  local own = {blocks = {{w = ladies.ones(2, 2)}, {w = ladies.ones(2, 1)}}, scale = ladies.ones(1)}
  own.self = own                               -- cycles do no harm
  own.history = ladies.zeros(5, 2)             -- not a parameter
  own.blocks[1].w:requires_grad_()
  own.blocks[2].w:requires_grad_()
  own.scale:requires_grad_()
  lu.assertEquals(names_of(nn.named_parameters(own)), {"blocks.1.w", "blocks.2.w", "scale"})
  lu.assertEquals(nn.size(own), 7)
end

-- ---------------------------------------------------------------- frozen, tied and misnamed

local function parameter(n) return ladies.ones(n):requires_grad_() end

--- A frozen parameter is one still, that no optimizer gets; a tensor that never was one is none.
function tests.test_frozen_parameters()
  local own = {a = parameter(2), b = parameter(3), c = ladies.ones(4):requires_grad_(false),
    plain = ladies.ones(5)}
  own.a:requires_grad_(false)
  lu.assertEquals({own.a.is_parameter, own.a.requires_grad}, {true, false})
  lu.assertEquals({own.plain.is_parameter, own.a:clone().is_parameter}, {false, false})
  lu.assertEquals(names_of(nn.named_parameters(own)), {"a", "b", "c"})
  lu.assertEquals(#nn.parameters(own), 1)
  lu.assertTrue(rawequal(nn.parameters(own)[1], own.b))
  lu.assertEquals(nn.size(own), 9)
  for _, each in ipairs(nn.named_parameters(own)) do each.tensor:requires_grad_() end
  lu.assertEquals(#nn.parameters(own), 3)
end

--- A tensor at two places is one parameter, and trains as one.
function tests.test_tied_parameters()
  local own = {encode = {w = parameter(2)}, scale = parameter(1)}
  own.decode = {w = own.encode.w}
  lu.assertEquals(names_of(nn.named_parameters(own)), {"decode.w", "scale"})
  lu.assertEquals(nn.size(own), 3)
  local sgd = ladies.optim.sgd(nn.parameters(own), {lr = 0.5})
  local _ <close> = ladies.step()
  local loss = (own.encode.w + own.decode.w):sum()
  loss:backward()
  sgd:step()
  lu.assertEquals(own.encode.w:to_table(), {0, 0})
end

function tests.test_two_parameters_of_one_name()
  local function refused(message, own)
    lu.assertErrorMsgContains(message, nn.named_parameters, own)
    lu.assertErrorMsgContains(message, ladies.save_model, own, "/nowhere/own.npz")
  end
  refused('two parameters have the name a.b: model["a"]["b"] and model["a.b"]',
    {["a.b"] = parameter(1), a = {b = parameter(1)}})
  refused('two parameters have the name 1: model[1] and model["1"]',
    {parameter(1), ["1"] = parameter(1)})
  refused('the name x\\ny.z: model["x\\ny"]["z"] and model["x\\ny.z"]',
    {["x\ny"] = {z = parameter(1)}, ["x\ny.z"] = parameter(1)})
end

--- Weights of classes make a weighted mean; factors of classes leave the sum what it estimates.
function tests.test_class_weights_and_factors()
  local logits, labels = ladies.tensor{{1, 0}, {-2, 1}, {0.5, 3}}, ladies.index{1, 2, 1}
  local cross_entropy, by_class = ladies.loss.cross_entropy, ladies.tensor{3, 0.5}
  local of_row, log_p = {}, logits:log_softmax()
  for r = 1, 3 do of_row[r] = -log_p:get(r, labels[r]) end
  local sum = 3 * of_row[1] + 0.5 * of_row[2] + 3 * of_row[3]
  local function is(want, how)
    lu.assertAlmostEquals(cross_entropy(logits, labels, how):item(), want, 1e-6)
  end
  is(sum / 6.5, {class_weights = by_class})
  is(sum / 3, {class_factors = by_class})
  is(6 * of_row[1] + 0.5 * 0.25 * of_row[2], {class_factors = by_class,
    weights = ladies.tensor{2, 0.25, 0}})
  is((of_row[1] + of_row[2] + of_row[3]) / 3, {})
  for _, other in ipairs{"weights", "class_factors"} do
    lu.assertErrorMsgContains("class_weights make a weighted mean of all rows", cross_entropy,
      logits, labels, {class_weights = by_class,
        [other] = ladies.ones(other == "weights" and 3 or 2)})
  end
end

--- The loss follows from the form of labels; a sparse Matrix of them has no form for a loss.
function tests.test_loss_of_labels()
  local loss, several = ladies.loss, ladies.tensor{{1, 0}, {1, 1}}
  lu.assertEquals(loss.of(ladies.index{1, 2}), loss.cross_entropy)
  lu.assertEquals(loss.of(several), loss.binary_cross_entropy)
  lu.assertErrorMsgContains("ladies.loss.of: the labels must be an Index or a Tensor", loss.of,
    ladies.sparse(several))
end

return tests
