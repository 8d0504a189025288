--- GRAPES: the probability of drawing nodes in a given order; both objectives by enumeration of all
-- draws; and a policy that learns to draw the one node that helps.
local lu = require "luaunit"
local ladies = require "ladies"
local compare = require "reference.compare"
local finite_differences = require "reference.finite_differences"
local graphs = require "reference.graphs"
local statistics = require "reference.statistics"

local fails, close = lu.assertErrorMsgContains, compare.assert_close
local grapes, index = ladies.samplers.grapes, ladies.index

local tests = {}

-- Below the nodes 1 and 2 are 3, 4, 5 and 6.
local P = graphs.matrix(6, {{1, 3, 1}, {1, 4, 0.5}, {1, 5, 2}, {2, 4, 1}, {2, 6, 0.25}})
local FEATURES = ladies.tensor{{1, 0.5}, {0.5, -1}, {0, 1}, {2, 1}, {-1, 1}, {1, 1}}
local SEEDS = index{1, 2}

local function new_sampler(own)
  local opts = {samples = {2}, features = FEATURES, policy = 3, self_nodes = "none",
    objective = "reinforce"}
  for key, value in pairs(own or {}) do opts[key] = value end
  local sampler = grapes(P, opts)
  sampler.parameters.b[1]:copy_(ladies.tensor{0.4, 0.5, 0.3})   -- so that some hidden units are 0
  return sampler
end

-- p of the nodes 3 to 6 by the formula.
local function proportions(parameters)
  local W1, W2 = parameters.W1:to_table(), parameters.W2:to_table()
  local w, b = parameters.w:to_table(), parameters.b[1]:to_table()
  local x, dense, p = FEATURES:to_table(), P:to_dense():to_table(), {}
  for u = 3, 6 do
    local logit = 0
    for j = 1, 3 do
      local hidden = b[j]
      for c = 1, 2 do
        hidden = hidden + x[u][c] * W1[c][j]
        for v = 1, 2 do hidden = hidden + dense[v][u] * x[v][c] * W2[c][j] end
      end
      logit = logit + math.max(hidden, 0) * w[j][1]
    end
    p[u] = 1 / (1 + math.exp(-logit))
  end
  return p
end

-- The probability of every pair in its order: key -> chance.
local function chances(sampler)
  local p, total, list = proportions(sampler.parameters), 0, {}
  for u = 3, 6 do total = total + p[u] end
  for u = 3, 6 do
    for v = 3, 6 do
      if u ~= v then list[u .. " " .. v] = p[u] / total * p[v] / (total - p[u]) end
    end
  end
  return list
end

-- Counts the orders in which nodes were drawn; returns also a batch of each.
local function batches_of(sampler, draws)
  local root = ladies.rng(3)
  return statistics.count(draws, function(i)
    local batch = sampler(SEEDS, root:fork(i))
    return table.concat(batch.input:to_table(), " "), batch
  end)
end

-- A loss made by hand for every pair.
local function loss_of(key)
  local u, v = key:match "(%d) (%d)"
  return ladies.tensor{(u * 3 + v * v) % 7 / 2 + 0.25}
end

local function all_parameters(sampler) return ladies.nn.parameters(sampler.parameters) end

-- The mean over all pairs of the penalty's gradients, a table for each parameter, and of penalties.
local function means_of(sampler, draws, list)
  local parameters, gradients, mean = all_parameters(sampler), {}, 0
  local _, batches = batches_of(sampler, draws)
  for key, chance in pairs(list) do
    for _, t in ipairs(parameters) do t:set_grad_(t * 0) end
    do
      local _ <close> = ladies.step()
      local loss = batches[key]:penalty(nil, loss_of(key))
      mean = mean + chance * loss:item()
      loss:backward()
    end
    for i, t in ipairs(parameters) do
      gradients[i] = (gradients[i] or t.grad * 0) + t.grad * chance
    end
  end
  return gradients, mean
end

-- Asserts that `gradients` are the finite differences of the number f().
local function assert_gradients(sampler, gradients, f)
  for i, t in ipairs(all_parameters(sampler)) do
    local want = finite_differences.gradient(function() return f() end, t, {1})
    close(gradients[i], want, 2 * finite_differences.tolerance, "parameter " .. i)
    lu.assertTrue(ladies.tensor(want):norm() > 0.005, i)
  end
end

-- ---------------------------------------------------------------- probabilities

function tests.test_probabilities()
  local sampler, draws, means = new_sampler(), 4000, {}
  local counts, batches = batches_of(sampler, draws)
  for key, chance in pairs(chances(sampler)) do
    means[key] = chance * draws
    local log_q = ladies.no_grad(sampler.log_probability, sampler, 1, batches[key].blocks[1])
    lu.assertAlmostEquals(log_q:item(), math.log(chance), 1e-5)
  end
  statistics.assert_frequencies(counts, means)
end

--- Rows of a block are averages over the drawn nodes; without row_normalize they have P's entries.
function tests.test_blocks()
  local batch = new_sampler()(SEEDS, ladies.rng(2))
  local block = batch.blocks[1]
  local S = P:slice(SEEDS, batch.input)
  close(block.adj:to_dense(), S:row_normalize():to_dense(), 1e-6, "averages")
  block = new_sampler{row_normalize = false}(SEEDS, ladies.rng(2)).blocks[1]
  close(block.adj:to_dense(), S:to_dense(), 1e-6, "entries")
  block = new_sampler{self_nodes = "previous"}(SEEDS, ladies.rng(2)).blocks[1]
  lu.assertEquals(block.src:slice(1, 2):to_table(), {1, 2})
  lu.assertEquals(#block.src, 4)
end

--- Where all candidates are taken nothing is left to chance, and there is nothing to train.
function tests.test_nothing_left_to_chance()
  for _, own in ipairs{{samples = {4}}, {samples = {9}, self_nodes = "batch"}} do
    local batch = new_sampler(own)(SEEDS, ladies.rng(1))
    lu.assertEquals(batch:penalty(nil, ladies.ones(1)):item(), 0)
  end
end

-- ---------------------------------------------------------------- objectives

--- With objective "reinforce" the mean gradient of the penalty is that of the mean loss.
function tests.test_reinforce_by_enumeration()
  local sampler = new_sampler()
  local gradients, mean = means_of(sampler, 2000, chances(sampler))
  lu.assertAlmostEquals(mean, 0, 1e-6)
  assert_gradients(sampler, gradients, function()
    local total = 0
    for key, chance in pairs(chances(sampler)) do total = total + chance * loss_of(key):item() end
    return total
  end)
end

--- With objective "balance" the penalty is the squared difference of the flows, averaged over the
-- draws.
function tests.test_balance_by_enumeration()
  local alpha = 3
  local sampler = new_sampler{objective = "balance", reward_scale = alpha}
  sampler.parameters.log_z:copy_(ladies.tensor{0.7})
  local list = chances(sampler)
  local function objective()
    local total = 0
    for key, now in pairs(chances(sampler)) do
      local flow = sampler.parameters.log_z:item() + math.log(now) + alpha * loss_of(key):item()
      total = total + list[key] * flow ^ 2 / alpha ^ 2
    end
    return total
  end
  local gradients, mean = means_of(sampler, 2000, list)
  lu.assertAlmostEquals(mean, objective(), 1e-4)
  assert_gradients(sampler, gradients, objective)
end

--- The penalty of trajectory balance is zero where nodes are drawn with probabilities as exp(-alpha
-- L).
function tests.test_balance_is_met()
  local sampler = new_sampler{objective = "balance", reward_scale = 2}
  sampler.parameters.log_z:copy_(ladies.tensor{-1.5})
  local _, batches = batches_of(sampler, 2000)
  for key, chance in pairs(chances(sampler)) do
    local loss = ladies.tensor{-(math.log(chance) - 1.5) / 2}
    lu.assertAlmostEquals(batches[key]:penalty(nil, loss):item(), 0, 1e-8)
  end
end

--- A batch is good where node 6 is in it: by both objectives it is drawn ever more often.
function tests.test_the_policy_learns()
  for _, own in ipairs{{objective = "reinforce"}, {objective = "balance", reward_scale = 2}} do
    own.samples = {1}
    local sampler = new_sampler(own)
    local function share()
      local p = proportions(sampler.parameters)
      return p[6] / (p[3] + p[4] + p[5] + p[6])
    end
    local adam, root = ladies.optim.adam(all_parameters(sampler), {lr = 0.03}), ladies.rng(8)
    for i = 1, 300 do
      local batch = sampler(SEEDS, root:fork(i))
      local _ <close> = ladies.step()
      batch:penalty(nil, ladies.tensor{batch.input[1] == 6 and 0 or 1}):backward()
      adam:step()
    end
    lu.assertTrue(share() > 0.5, ("%s: %g"):format(own.objective, share()))
  end
end

function tests.test_errors()
  fails("3 rows of features for a graph of 6 nodes", grapes, P,
    {samples = {1}, features = ladies.ones(3, 1)})
  fails("objective must be one of balance, reinforce", new_sampler, {objective = "luck"})
end

return tests
