--- AS-GCN: the probabilities, an unbiased estimate, and a penalty whose mean gradient is that of
-- the variance, all by enumeration of what can be drawn from a graph of four nodes.
local lu = require "luaunit"
local ladies = require "ladies"
local compare = require "reference.compare"
local finite_differences = require "reference.finite_differences"
local graphs = require "reference.graphs"
local statistics = require "reference.statistics"
local toy = require "reference.toy_data"

local fails, close = lu.assertErrorMsgContains, compare.assert_close
local asgcn, index = ladies.samplers.asgcn, ladies.index

local tests = {}

local P = graphs.matrix(4, {{1, 1, 0.5}, {1, 2, 2}, {1, 3, 1}, {1, 4, 0.25}, {2, 3, 1}, {2, 4, 3},
  {3, 1, 2}})
local FEATURES = ladies.tensor{{1, 0, 2}, {0, 1, 0}, {2, 1, 1}, {1, -1, 0}}
local W = {0.3, 0.5, -0.2}

-- A sampler whose w is W for every layer.
local function new_sampler(own)
  local opts = {samples = {2}, features = FEATURES, penalty = 1}
  for key, value in pairs(own or {}) do opts[key] = value end
  local sampler = asgcn(P, opts)
  for _, w in ipairs(sampler.parameters) do w:copy_(ladies.tensor(W):reshape(3, 1)) end
  return sampler
end

-- q for the nodes {1, 2, 3, 4} below the nodes 1 and 2, by hand.
local function probabilities(w)
  local q, total = {}, 0
  local squares = {0.5 ^ 2, 2 ^ 2, 1 + 1, 0.25 ^ 2 + 3 ^ 2}
  for u, square in ipairs(squares) do
    local score = 0
    for c = 1, 3 do score = score + FEATURES:get(u, c) * w[c] end
    q[u] = math.sqrt(square) * (math.max(score, 0) + 1)
    total = total + q[u]
  end
  for u = 1, 4 do q[u] = q[u] / total end
  return q
end

-- All draws of two, with replacement, of the four nodes: key -> {chance, u, v}.
local function outcomes(q)
  local all = {}
  for u = 1, 4 do
    for v = u, 4 do
      local key = u == v and tostring(u) or u .. " " .. v
      all[key] = {chance = q[u] * q[v] * (u == v and 1 or 2), u = u, v = v}
    end
  end
  return all
end

-- Counts the outcomes of so many draws for the seeds 1 and 2; returns also a batch of each.
local function batches_of(sampler, draws)
  local root = ladies.rng(4)
  return statistics.count(draws, function(i)
    local batch = sampler(index{1, 2}, root:fork(i))
    return table.concat(batch.input:sort():to_table(), " "), batch
  end)
end

--- Every outcome has its probability, and over all of them the estimate is the exact one.
function tests.test_unbiased_by_enumeration()
  local draws, mean, expected = 3000, ladies.zeros(2, 3), {}
  local counts, batches = batches_of(new_sampler(), draws)
  for key, one in pairs(outcomes(probabilities(W))) do
    local block = batches[key].blocks[1]
    mean = mean + block.adj:matmul(FEATURES[block.src]) * one.chance
    expected[key] = one.chance * draws
  end
  close(mean, P:matmul(FEATURES)[index{1, 2}], 1e-5, "mean")
  statistics.assert_frequencies(counts, expected)
end

-- A model that passes its input on, and none of it.
local passing = {layer = function(_, _, h) return h end}

-- The variance per element of the estimate of rows 1 and 2 of P H from two draws by q(w): the mean
-- over all outcomes of its squared error, in double.
local function variance(H, w)
  local q = probabilities(w)
  local dense, rows, d = P:to_dense():to_table(), H:to_table(), H.n_cols
  local total = 0
  for _, one in pairs(outcomes(q)) do
    for v = 1, 2 do
      for c = 1, d do
        local exact, estimate = 0, 0
        for u = 1, 4 do exact = exact + dense[v][u] * rows[u][c] end
        for _, u in ipairs{one.u, one.v} do
          estimate = estimate + dense[v][u] * rows[u][c] / (2 * q[u])
        end
        total = total + one.chance * (estimate - exact) ^ 2
      end
    end
  end
  return total / (2 * d)
end

--- Over all outcomes the penalty is the variance and what does not depend on w, and its gradient
-- has the mean of the variance's finite differences.
function tests.test_penalty_by_enumeration()
  local H = ladies.tensor{{1, 2}, {0, 3}, {-1, 1}, {0.5, 0}}
  local lambda = 0.7
  local sampler = new_sampler{penalty = lambda}
  local w = sampler.parameters[1]
  local _, batches = batches_of(sampler, 1500)
  local mean, gradient = 0, ladies.zeros(3, 1)
  for key, one in pairs(outcomes(probabilities(W))) do
    local batch = batches[key]
    w:set_grad_(ladies.zeros(3, 1))
    do
      local _ <close> = ladies.step()
      batch.propagate(passing, H[batch.input], batch)
      local loss = batch:penalty(passing)
      mean = mean + one.chance * loss:item()
      loss:backward()
    end
    gradient = gradient + w.grad * one.chance
  end
  local exact = P:matmul(H)[index{1, 2}]:square():sum():item() / (2 * 2 * 2)
  lu.assertAlmostEquals(mean, lambda * (variance(H, W) + exact), 1e-4)
  local flat, step = compare.flatten(gradient), finite_differences.step
  for c = 1, 3 do
    local up, down = {table.unpack(W)}, {table.unpack(W)}
    up[c], down[c] = W[c] + step, W[c] - step
    local want = lambda * (variance(H, up) - variance(H, down)) / (2 * step)
    lu.assertAlmostEquals(flat[c], want, finite_differences.tolerance)
    lu.assertTrue(math.abs(want) > 10 * finite_differences.tolerance)
  end
end

--- Nodes that are always there are not drawn, and their columns not estimated.
function tests.test_nodes_that_are_always_there()
  local draws, mean = 400, ladies.zeros(2, 3)
  local sampler = new_sampler{self_nodes = "previous"}
  local root = ladies.rng(1)
  local q = probabilities(W)
  for i = 1, draws do
    local batch = sampler(index{1, 2}, root:fork(i))
    local block = batch.blocks[1]
    lu.assertEquals(block.src:slice(1, 2):to_table(), {1, 2})
    for _, e in ipairs(block.near[block.drawn]:to_table()) do lu.assertTrue(e > 2) end
    for j = 3, #block.src do
      local u = block.src[j]
      local times = block.weight[j] * 2 * q[u] / (q[3] + q[4])
      lu.assertAlmostEquals(times, math.floor(times + 0.5), 1e-4)
    end
    mean = mean + block.adj:matmul(FEATURES[block.src]) / draws
  end
  close(mean, P:matmul(FEATURES)[index{1, 2}], 0.35, "mean")
end

--- Training w alone lowers the variance towards the least that there is, that of q as
-- ||P(S,u)|| ||h(u)||.
function tests.test_variance_falls()
  local data = {
    features = FEATURES, labels = index{1, 2, 1, 2}, train = index{1, 2},
    graph = ladies.graph.new(P),
  }
  local H = ladies.tensor{{4, 0}, {0.5, 0}, {0, 6}, {0, 0.5}}
  local scale = ladies.ones(1):requires_grad_()
  local model = {scale = scale}
  function model.layer(_, _, h) return h end
  function model:forward(_, batch)
    batch.propagate(self, H[batch.input], batch)
    return (batch.blocks[1].adj:matmul(H[batch.input]) * 0) * self.scale
  end
  local sampler = new_sampler{samples = {2}, penalty = 1, seed = 3}
  local function current() return variance(H, compare.flatten(sampler.parameters[1])) end
  local before = current()
  ladies.train{data = data, model = model, sampler = sampler, batch_size = 4, lr = 0.05,
    validation = function() return 0 end, patience = 0, max_batches = 150, quiet = true}
  lu.assertTrue(current() < 0.7 * before, ("%g, %g"):format(before, current()))
end

--- The penalty leaves no gradient in the model, and w gets none from the loss of the classes.
function tests.test_who_is_trained_by_what()
  local data = toy.new(true)
  local model = ladies.nn.gcn{inputs = toy.FEATURES, hidden = 4, outputs = 3, layers = 2}
  local sampler = asgcn(data.graph:normalize "sym", {samples = {9, 9}, features = data.features})
  local batch = sampler(data.train, ladies.rng(2))
  local function gradients(loss_of)
    for _, t in ipairs(ladies.nn.parameters{model, sampler.parameters}) do t:set_grad_(t * 0) end
    local _ <close> = ladies.step()
    local logits = model:forward(data.features, batch)
    loss_of(logits):backward()
    return model.layers[1].conv.weight.grad:norm(), sampler.parameters[1].grad:norm()
  end
  local of_model, of_sampler = gradients(function() return batch:penalty(model) end)
  lu.assertEquals(of_model, 0)
  lu.assertTrue(of_sampler > 0)
  of_model, of_sampler = gradients(function(logits) return logits:square():sum() end)
  lu.assertTrue(of_model > 0)
  lu.assertEquals(of_sampler, 0)
end

function tests.test_errors()
  fails("3 rows of features for a graph of 4 nodes", asgcn, P,
    {samples = {1}, features = ladies.ones(3, 1)})
  fails("features must be a Tensor or a Matrix", asgcn, P, {samples = {1}})
  local batch = new_sampler()(index{1}, ladies.rng(1))
  fails("must call batch.propagate, as that of nn.gcn does", batch.penalty, batch)
end

return tests
