--- Batch normalisation: the operation against loops, the running averages, and a network with it in
-- training, files and exact inference. Gradients are in the lists of test_gradient_contract.lua.
local lu = require "luaunit"
local ladies = require "ladies"
local compare = require "reference.compare"
local temporary = require "reference.temporary"
local toy = require "reference.toy_data"
local toy_training = require "reference.toy_training"

local nn, tensor = ladies.nn, ladies.tensor
local tests = {}

--- Means and variances of the columns of a table of rows, over `over(n)` for n rows.
local function moments(rows, over)
  local means, variances = {}, {}
  for j = 1, #rows[1] do
    local sum, square = 0, 0
    for _, row in ipairs(rows) do sum = sum + row[j] end
    means[j] = sum / #rows
    for _, row in ipairs(rows) do square = square + (row[j] - means[j]) ^ 2 end
    variances[j] = square / over(#rows)
  end
  return means, variances
end

local function all(n) return n end
local function but_one(n) return n - 1 end

local rows = {{1, -2, 1000.5}, {0, 4, 1000.25}, {2, 2, 1001}, {-3, 0.5, 1000}, {7, 1, 1000}}
local gain, bias, eps = {1, -2, 0.5}, {0, 3, 1}, 0.01

--- (x - mean) / sqrt(variance + eps) * gain + bias.
local function normalized(x, means, variances)
  local result = {}
  for r, row in ipairs(x) do
    result[r] = {}
    for j, value in ipairs(row) do
      result[r][j] = (value - means[j]) / math.sqrt(variances[j] + eps) * gain[j] + bias[j]
    end
  end
  return result
end

function tests.test_operation()
  local y, mean, variance = tensor(rows):batch_norm(tensor(gain), tensor(bias), eps)
  local means, variances = moments(rows, all)
  compare.assert_close(y, normalized(rows, means, variances), 1e-5, "y")
  compare.assert_close(mean, means, 1e-6, "mean")
  compare.assert_close(variance, variances, 1e-6, "variance")
  local constant = ladies.full(4, 2, 3):batch_norm(ladies.ones(2), tensor{5, 6})
  lu.assertEquals(constant:to_table(), {{5, 6}, {5, 6}, {5, 6}, {5, 6}})
end

function tests.test_refused()
  local x = tensor(rows)
  local fails, three, two = lu.assertErrorMsgContains, tensor(gain), tensor{1, 2}
  fails("batch_norm: x is 5 x 3, gain 2 and bias 3; vectors as long as a row", x.batch_norm, x, two,
        three)
  fails("batch_norm: x is 3, gain 3", three.batch_norm, three, three, three)
  fails("batch_norm: there are no rows", x.batch_norm, ladies.zeros(0, 3), three, three)
end

--- Changing the moments that a user was given does not change the gradient.
function tests.test_moments_are_copies()
  local function gradient(change)
    local x = tensor(rows):requires_grad_()
    local _ <close> = ladies.step()
    local y, mean, variance = x:batch_norm(tensor(gain), tensor(bias), eps)
    if change then mean:fill_(7) variance:fill_(7) end
    y:square():sum():backward()
    return x.grad:to_table()
  end
  lu.assertEquals(gradient(true), gradient(false))
end

local function module()
  local norm = nn.batch_norm{width = 3, momentum = 0.25, eps = eps}
  norm.gain:copy_(tensor(gain))
  norm.bias:copy_(tensor(bias))
  return norm
end

function tests.test_running_averages()
  local norm = module()
  local other = {{3, 3, 990}, {5, 1, 1010}}
  local means, variances = {0, 0, 0}, {1, 1, 1}
  for _, x in ipairs{rows, other, rows} do
    norm:forward(tensor(x), ladies.rng(1))
    local m, v = moments(x, but_one)
    for j = 1, 3 do
      means[j] = 0.75 * means[j] + 0.25 * m[j]
      variances[j] = 0.75 * variances[j] + 0.25 * v[j]
    end
  end
  compare.assert_close(norm.mean, means, 1e-6, "mean")
  compare.assert_close(norm.variance, variances, 1e-6, "variance")
  local y = norm:forward(tensor(rows))
  compare.assert_close(y, normalized(rows, means, variances), 1e-4, "evaluation")
  lu.assertEquals(norm:forward(tensor{rows[4]})[1], y[4])    -- whatever rows are beside it
  lu.assertEquals(tostring(norm), "BatchNorm 3")
end

--- A batch of one row has a mean and says nothing of the variance.
function tests.test_one_row()
  local norm = module()
  lu.assertEquals(norm:forward(tensor{{4, 8, 12}}, ladies.rng(1)):to_table(), {bias})
  lu.assertEquals(norm.mean:to_table(), {1, 2, 3})
  lu.assertEquals(norm.variance:to_table(), {1, 1, 1})
end

-- ---------------------------------------------------------------- in a network

local HIDDEN = 8

-- Two convolutions with a batch norm between them.
local function network()
  local rng = ladies.rng(1)
  local model = {
    n_layers = 2, normalize = "sym", norm = nn.batch_norm{width = HIDDEN},
    convs = {nn.gcn_conv{inputs = toy.FEATURES, outputs = HIDDEN, rng = rng:fork(1)},
      nn.gcn_conv{inputs = HIDDEN, outputs = toy.CLASSES, rng = rng:fork(2)}},
  }
  function model:layer(i, h, block, draws)
    local out = self.convs[i]:forward(h, block.adj)
    return i == 1 and self.norm:forward(out, draws):relu() or out
  end
  function model:forward(features, batch)
    local h = features:rows(batch.input)
    for i, block in ipairs(batch.blocks) do h = self:layer(i, h, block, batch.rng) end
    return h
  end
  return model
end

local function train(name, batches, more)
  local opts = toy_training.options{model = network(), max_batches = batches,
    out = temporary.path(name)}
  for key, value in pairs(more or {}) do opts[key] = value end
  return ladies.train(opts), opts
end

--- The best model is tested with the running averages that it had, and a run that goes on ends as a
-- whole one does.
function tests.test_training()
  local result, whole = train("whole", 40)
  lu.assertTrue(result.test_f1 > 0.8, result.test_f1)
  lu.assertEquals(ladies.metrics.f1(whole.model, whole.data, whole.data.test), result.test_f1)
  lu.assertNotEquals(whole.model.norm.mean:to_table(), ladies.zeros(HIDDEN):to_table())
  train("parts", 23)
  local _, parts = train("parts", 40, {resume = true})
  lu.assertEquals(toy_training.weights(parts.model), toy_training.weights(whole.model))
  local loaded = ladies.load_model(temporary.path "whole", network())
  lu.assertEquals(toy_training.weights(loaded), toy_training.weights(whole.model))
  lu.assertTrue(ladies.inference.exact(loaded, whole.data)
    == ladies.inference.exact(whole.model, whole.data))
end

function tests.test_the_optimizer_leaves_the_averages_alone()
  local norm = module()
  lu.assertEquals(#norm:parameters(), 2)
  lu.assertEquals(#norm:named_parameters(), 4)
end

return tests
