--- PASS: probabilities by hand, the mean over all draws, and gradients whose mean over all draws is
-- that of finite differences of the mean loss, of one layer and of two.
local lu = require "luaunit"
local ladies = require "ladies"
local compare = require "reference.compare"
local finite_differences = require "reference.finite_differences"
local graphs = require "reference.graphs"
local statistics = require "reference.statistics"
local toy = require "reference.toy_data"

local fails, close = lu.assertErrorMsgContains, compare.assert_close
local index, pass = ladies.index, ladies.samplers.pass

local tests = {}

-- Nodes 1 and 2 have two neighbours each, 3 has three, 4 one, 5 none.
local P = graphs.matrix(5, {{1, 2, 1}, {1, 3, 2}, {2, 1, 1}, {2, 2, 0.5}, {3, 1, 2}, {3, 3, 1},
  {3, 4, 0.5}, {4, 5, 1}})
local FEATURES = ladies.tensor{{1, 0.5}, {0.5, -1}, {0, 1}, {2, 1}, {-1, 1}}
local H = ladies.tensor{{1, 2}, {0, 3}, {-1, 1}, {0.5, 0}, {2, -1}}

local function new_sampler(samples, features)
  local sampler = pass(P, {samples = samples, features = features or FEATURES, attention = 2})
  sampler.parameters.W1:copy_(ladies.tensor{{0.6, 0.1}, {-0.2, 0.5}})
  sampler.parameters.W2:copy_(ladies.tensor{{0.3, -0.4}, {0.2, 0.7}})
  return sampler
end

-- q of all entries by the formula, in double: q[v][u].
local function by_hand(parameters)
  local W1, W2 = parameters.W1:to_table(), parameters.W2:to_table()
  local x, weights, total, q = FEATURES:to_table(), {}, 0, {}
  for i, a in ipairs(parameters.a:to_table()[1]) do
    weights[i] = math.exp(a)
    total = total + weights[i]
  end
  local function dot(W, v, u)
    local sum = 0
    for j = 1, 2 do
      sum = sum + (x[v][1] * W[1][j] + x[v][2] * W[2][j]) * (x[u][1] * W[1][j] + x[u][2] * W[2][j])
    end
    return sum
  end
  local rows, cols, values = P:row_of():to_table(), P:col_of():to_table(), P:entry_values()
  local sums = {0, 0, 0, 0, 0}
  for e, v in ipairs(rows) do
    local u = cols[e]
    local score = (weights[1] * dot(W1, v, u) + weights[2] * dot(W2, v, u)
      + weights[3] * values[e]) / total
    q[v] = q[v] or {}
    q[v][u] = math.max(score, 0) + 1e-9
    sums[v] = sums[v] + q[v][u]
  end
  for v, row in pairs(q) do
    for u, one in pairs(row) do row[u] = one / sums[v] end
  end
  return q
end

function tests.test_probabilities()
  local sampler = new_sampler{2}
  local dense = sampler:expectation():to_dense()
  for v, row in pairs(by_hand(sampler.parameters)) do
    for u, q in pairs(row) do lu.assertAlmostEquals(dense:get(v, u), q, 1e-6) end
  end
  close(sampler:expectation():row_sums(), {1, 1, 1, 1, 0}, 1e-6, "sums")
  close(new_sampler({2}, ladies.sparse(FEATURES)):expectation():to_dense(), dense, 1e-6, "sparse")
  sampler.parameters.a:copy_(ladies.tensor{{30, -30, -30}})     -- W1 alone, of negative scores
  sampler.parameters.W1:copy_(ladies.tensor{{0, 0}, {1, 0}})
  local least = 1
  dense = sampler:expectation():to_dense()
  for v, row in pairs(by_hand(sampler.parameters)) do
    for u, q in pairs(row) do
      lu.assertAlmostEquals(dense:get(v, u), q, 1e-5)
      least = math.min(least, q)
    end
  end
  lu.assertTrue(least < 1e-6)
end

-- ---------------------------------------------------------------- gradients

-- sum of pull * estimate, whose mean over all draws is sum of pull * exact.
local pull = ladies.tensor{{1, -0.5}, {0.5, 2}}

-- A model of so many layers that multiplies.
local function multiplying(layers)
  local model = {n_layers = layers}
  function model.layer(_, _, h, block) return block.adj:matmul(h) end
  return model
end

-- Loss and gradients of a batch, as flat arrays by the parameters' names.
local function gradients(sampler, batch, layers, weights)
  for _, t in pairs(sampler.parameters) do t:set_grad_(t * 0) end
  local value
  do
    local _ <close> = ladies.step()
    local loss = (batch.propagate(multiplying(layers), H[batch.input], batch) * weights):sum()
    value = loss:item()
    loss:backward()
  end
  local found = {}
  for name, t in pairs(sampler.parameters) do found[name] = t.grad * 1 end
  return value, found
end

-- Counts the outcomes of so many draws for `seeds`, told apart by the entries of blocks; returns
-- also a batch of each.
local function outcomes(sampler, seeds, draws)
  local root = ladies.rng(6)
  return statistics.count(draws, function(i)
    local batch, key = sampler(seeds, root:fork(i)), {}
    for l = #batch.blocks, 1, -1 do
      local block = batch.blocks[l]
      local src, values = block.src[block.adj:col_of()]:to_table(), block.adj:entry_values()
      for e, v in ipairs(block.dst[block.adj:row_of()]:to_table()) do
        key[#key + 1] = ("%d-%d*%g"):format(v, src[e], values[e])
      end
    end
    table.sort(key)
    return table.concat(key, " "), batch
  end)
end

-- The mean loss by its formula, of the parameters as they are, and its finite differences.
local function exact(sampler, seeds, layers, weights)
  local Q, h = sampler:expectation(), H
  for _ = 1, layers do h = Q:matmul(h) end
  return (h[seeds] * weights):sum()
end

local function assert_gradients(sampler, mean, seeds, layers, weights)
  for name, t in pairs(sampler.parameters) do
    local want = finite_differences.gradient(function()
      return exact(sampler, seeds, layers, weights)
    end, t, {1})
    close(mean[name], want, finite_differences.tolerance, name)
    lu.assertTrue(ladies.tensor(want):norm() > 10 * finite_differences.tolerance, name)
  end
end

--- The mean gradient over all draws is that of the mean loss for one layer, with two draws each for
-- the nodes 1 and 2: nine outcomes.
function tests.test_gradients_by_enumeration()
  local sampler, seeds, draws = new_sampler{2}, index{1, 2}, 2000
  local q, total, mean, expected = by_hand(sampler.parameters), 0, {}, {}
  local function draws_of(v)
    local list = {}
    for u, a in pairs(q[v]) do
      for w, b in pairs(q[v]) do
        if u == w then list[("%d-%d*1"):format(v, u)] = a * a end
        if u < w then
          list[("%d-%d*0.5 %d-%d*0.5"):format(v, u, v, w)] = 2 * a * b
        end
      end
    end
    return list
  end
  local counts, batches = outcomes(sampler, seeds, draws)
  for one, p in pairs(draws_of(1)) do
    for other, r in pairs(draws_of(2)) do
      local outcome, chance = one .. " " .. other, p * r
      local value, gradient = gradients(sampler, batches[outcome], 1, pull)
      total = total + chance * value
      for name, g in pairs(gradient) do mean[name] = (mean[name] or g * 0) + g * chance end
      expected[outcome] = chance * draws
    end
  end
  statistics.assert_frequencies(counts, expected)
  lu.assertAlmostEquals(total, exact(sampler, seeds, 1, pull):item(), 1e-5)
  assert_gradients(sampler, mean, seeds, 1, pull)
end

--- The mean gradient is right for two layers, with one draw each from node 3 on: it draws 1, 3 or
-- 4, and that one draws in turn, as 3 does again.
function tests.test_gradients_of_two_layers()
  local sampler, seeds, weights = new_sampler{1, 1}, index{3}, pull[index{1}]
  local q, total, mean, n = by_hand(sampler.parameters), 0, {}, 0
  local _, batches = outcomes(sampler, seeds, 1500)
  local function add(chance, ...)
    local key = {...}
    table.sort(key)
    local value, gradient = gradients(sampler, batches[table.concat(key, " ")], 2, weights)
    total, n = total + chance * value, n + 1
    for name, g in pairs(gradient) do mean[name] = (mean[name] or g * 0) + g * chance end
  end
  for u, p in pairs(q[3]) do
    for w, r in pairs(q[u]) do
      local first, second = ("3-%d*1"):format(u), ("%d-%d*1"):format(u, w)
      if u == 3 then add(p * r, first, second) end
      for t, other in pairs(u ~= 3 and q[3] or {}) do
        add(p * r * other, first, second, ("3-%d*1"):format(t))
      end
    end
  end
  lu.assertEquals(n, 3 + 3 * 2 + 3)
  lu.assertAlmostEquals(total, exact(sampler, seeds, 2, weights):item(), 1e-5)
  assert_gradients(sampler, mean, seeds, 2, weights)
end

--- The gradients that blocks carry change neither the model's outputs nor its own gradients, which
-- are those of the plain block.
function tests.test_values_stay()
  local data = toy.new(true)
  local model = ladies.nn.gcn{inputs = toy.FEATURES, hidden = 4, outputs = 3, layers = 2}
  local sampler = pass(data.graph:normalize "row", {samples = {3, 3}, features = data.features})
  local batch = sampler(data.train, ladies.rng(2))
  local plain = {blocks = batch.blocks, input = batch.input, output = batch.output}
  local found = {}
  for i, one in ipairs{batch, plain} do
    local step = ladies.step()
    local logits = model:forward(data.features, one)
    logits:square():sum():backward()
    found[i] = {logits:detach(), model.layers[1].conv.weight.grad:to_table()}
    step:close()
    for _, parameter in ipairs(model:parameters()) do parameter:set_grad_(parameter * 0) end
  end
  close(found[1][1], found[2][1], 1e-5, "logits")
  close(found[1][2], found[2][2], 1e-4, "gradients")
  lu.assertTrue(sampler.parameters.W1.grad:norm() > 0)
end

--- Where one of two neighbours alone lowers the loss, it is drawn ever more often.
function tests.test_it_learns_whom_to_ask()
  local data = {
    features = FEATURES, labels = index{1, 1, 1, 1, 1}, train = index{1},
    graph = ladies.graph.new(P),
  }
  local model = {scale = ladies.ones(1):requires_grad_(), n_layers = 1}
  local values = ladies.tensor{{0, 0}, {3, 0}, {0, 3}, {0, 0}, {0, 0}}   -- node 2 says class 1
  function model.layer(_, _, h, block) return block.adj:matmul(h) end
  function model:forward(_, batch)
    return batch.propagate(self, values[batch.input], batch) * self.scale:detach()
      + self.scale * 0
  end
  local sampler = new_sampler{2}
  local before = sampler:expectation():to_dense():get(1, 2)
  ladies.train{data = data, model = model, sampler = sampler, batch_size = 1, lr = 0.05, P = P,
    validation = function() return 0 end, patience = 0, max_batches = 100, quiet = true}
  local after = sampler:expectation():to_dense():get(1, 2)
  lu.assertTrue(before < 0.5 and after > 0.8, ("%g, %g"):format(before, after))
end

function tests.test_errors()
  fails("3 rows of features for a graph of 5 nodes", pass, P,
    {samples = {1}, features = ladies.ones(3, 1)})
  local batch = new_sampler{1}(index{1}, ladies.rng(1))
  fails("must call batch.propagate, as that of nn.gcn does", batch.after_step, batch)
end

return tests
