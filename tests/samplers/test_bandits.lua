--- The samplers whose nodes are players of bandits: probabilities after rewards made by hand, what
-- a step pays, and estimates that are unbiased whatever has been learnt.
local lu = require "luaunit"
local ladies = require "ladies"
local compare = require "reference.compare"
local edge_bandits = require "ladies.sampling.edge_bandits"
local graphs = require "reference.graphs"
local statistics = require "reference.statistics"
local toy = require "reference.toy_data"
local two_layers = require "reference.two_layers"

local fails, close = lu.assertErrorMsgContains, compare.assert_close
local index, samplers, sampling = ladies.index, ladies.samplers, ladies.sampling

local tests = {}

-- Node 1 has the neighbours 1, 2, 3 and 4, node 2 has 3 and 4, node 3 has 1; node 4 has none.
local function small()
  return graphs.matrix(4, {{1, 1, 0.5}, {1, 2, 2}, {1, 3, 1}, {1, 4, 0.25}, {2, 3, 1}, {2, 4, 3},
    {3, 1, 2}})
end

-- A model without parameters that multiplies, with the inputs of its layers given.
local function given(inputs)
  local model = {n_layers = #inputs}
  function model.layer(_, l, _, block)
    return inputs[l + 1] and inputs[l + 1][block.dst] or block
  end
  function model:forward(features, batch)
    return batch.propagate(self, features[batch.input], batch)
  end
  return model
end

local function learnt(players)
  for l, log in ipairs(players.logs) do
    log:copy_(ladies.zeros(#log):uniform_(-1, 1, ladies.rng(l)))
  end
end

-- ---------------------------------------------------------------- probabilities

--- q = (1 - eta) w / sum w + eta / d, with w the product of what was paid.
function tests.test_probabilities()
  local P, eta = small(), 0.4
  local players = edge_bandits.new(P, 2, eta)
  close(players:probabilities(1, P), {.25, .25, .25, .25, .5, .5, 1}, 1e-6, "at first")
  players:pay(1, index{2, 6}, ladies.tensor{math.log(3), 1})
  players:pay(1, index{2, 1}, ladies.tensor{math.log(2), math.log(5)})
  local e = math.exp(1)
  local want = {
    0.6 * 5 / 13 + 0.1, 0.6 * 6 / 13 + 0.1, 0.6 / 13 + 0.1, 0.6 / 13 + 0.1,
    0.6 / (1 + e) + 0.2, 0.6 * e / (1 + e) + 0.2, 1,
  }
  close(players:probabilities(1, P), want, 1e-6, "paid")
  close(players:probabilities(2, P), {.25, .25, .25, .25, .5, .5, 1}, 1e-6, "the other layer")
  local U = P:slice(index{2, 4, 1})
  close(players:probabilities(1, U), {want[5], want[6], want[1], want[2], want[3], want[4]}, 1e-6,
    "of some rows")
  players:pay(1, index{1}, ladies.tensor{1e6})                     -- no weight overflows
  close(players:probabilities(1, P:slice(index{1})), {0.7, 0.1, 0.1, 0.1}, 1e-6, "sure")
end

--- A slice of another matrix has its positions in that one.
function tests.test_a_matrix_that_is_a_slice()
  local P = small():slice(index{2, 1}, index{3, 4, 1})
  local players = edge_bandits.new(P, 1, 0)
  lu.assertEquals(#players.logs[1], 7)
  players:pay(1, P.edge, ladies.tensor{0, math.log(3), 0, 0, 0})
  close(players:probabilities(1, P), {.25, .75, 1 / 3, 1 / 3, 1 / 3}, 1e-6, "q")
end

-- ---------------------------------------------------------------- rewards

--- GNN-BS pays the rewards of its paper, in a batch in which nothing is left to chance.
function tests.test_rewards_of_bandit()
  local P, cap, delta, k = small(), 0.5, 0.1, 9
  local sampler = samplers.bandit(P, {samples = {k, k}, delta = delta, cap = cap, eta = 0.4})
  local H = {ladies.tensor{{1, 1}, {2, 0}, {0, 3}, {1, 2}}, ladies.tensor{{4}, {0}, {1}, {1}}}
  local squares, q = {{2, 4, 9, 5}, {16, 0, 1, 1}}, {.25, .25, .25, .25, .5, .5, 1}
  local rows, cols, d = P:row_of():to_table(), P:col_of():to_table(), {4, 2, 1, 0}
  local batch = sampler(index{1, 2, 3, 4}, ladies.rng(1))
  given(H):forward(H[1], batch)
  batch.after_step(batch)
  for l = 1, 2 do
    local want = {}
    for e = 1, P.nnz do
      local gain = delta * P:entry_values()[e] ^ 2 * squares[l][cols[e]] / (k * q[e] ^ 2)
      want[e] = math.min(cap, gain) / d[rows[e]]
    end
    close(sampler.players.logs[l], want, 1e-6, "layer " .. l)
    lu.assertTrue(sampler.players.logs[l]:max() >= cap / 4)         -- the cap was met
  end
end

--- GNN-BS pays a reward times its design weight in draws with and without replacement, so that what
-- is paid is, over all draws, as if every neighbour had been paid.
function tests.test_rewards_of_draws()
  local P, delta, k = small(), 0.01, 2
  local H = ladies.tensor{{1, 1}, {2, 0}, {0, 3}, {1, 2}}
  local squares, q, draws = {2, 4, 9, 5}, 0.25, 1500
  for _, replace in ipairs{true, false} do
    local sums = ladies.zeros(4)
    for i = 1, draws do
      local sampler = samplers.bandit(P, {samples = {k}, delta = delta, cap = 100,
        replace = replace})
      local batch = sampler(index{1}, ladies.rng(i))
      given{H}:forward(H, batch)
      batch.after_step(batch)
      local paid, block = sampler.players.logs[1], batch.blocks[1]
      for e, at in ipairs(block.drawn.edge:to_table()) do
        local r = P:entry_values()[at] ^ 2 * squares[at] / (k * q ^ 2)
        local weight = block.adj:entry_values()[e] / P:entry_values()[at]
        lu.assertAlmostEquals(paid[at] / (delta * r * weight / 4), 1, 1e-5)
      end
      sums:add_at_(index{1, 2, 3, 4}, paid[index{1, 2, 3, 4}])
    end
    for e = 1, 4 do
      local all = delta * P:entry_values()[e] ^ 2 * squares[e] / (k * q ^ 2) / 4
      -- Weights have a deviation of at most 1.3: six of the mean's.
      lu.assertAlmostEquals(sums[e] / draws / all, 1, 0.2, tostring(replace))
    end
  end
end

--- Players who meet the same H again and again end where the variance is least, q as |P| ||h||, and
-- not at the squares of these, whose variance is that of uniform draws.
function tests.test_players_end_where_the_variance_is_least()
  local P = graphs.matrix(4, {{1, 1, 1}, {1, 2, 1}, {1, 3, 1}, {1, 4, 1}})
  local H, sizes = ladies.tensor{{1}, {2}, {3}, {6}}, {1, 2, 3, 6}
  local sampler = samplers.bandit(P, {samples = {1}, eta = 0.1, delta = 2e-4, cap = 100,
    replace = true})
  local model, mean, steps = given{H}, ladies.zeros(4), 0
  for i = 1, 6000 do
    local batch = sampler(index{1}, ladies.rng(i))
    model:forward(H, batch)
    batch.after_step(batch)
    if i > 3000 then
      mean, steps = mean + sampler.players:probabilities(1, P:slice(index{1})), steps + 1
    end
  end
  local variance, squares = 0, 0
  for u, size in ipairs(sizes) do
    lu.assertAlmostEquals(mean[u] / steps, size / 12, 0.04)
    variance, squares = variance + size ^ 2 / (mean[u] / steps), squares + size ^ 2
  end
  local least, uniform = 12 ^ 2, 4 * squares
  lu.assertTrue(variance - least < 0.1 * (uniform - least), tostring(variance))
end

--- Only neighbours that were drawn are paid, and the next draw uses the new probabilities.
function tests.test_only_drawn_neighbours_are_paid()
  local P = graphs.random(30, 6, 2):normalize "row"
  local H = ladies.zeros(30, 3):uniform_(0, 1, ladies.rng(3))
  for _, name in ipairs{"bandit", "bliss"} do
    local sampler = samplers[name](P, {samples = {3}})
    local batch = sampler(index{5, 9, 20}, ladies.rng(1))
    given{H}:forward(H, batch)
    batch.after_step(batch)
    local paid = sampler.players.logs[1]:above(0)
    local drawn = batch.blocks[1].drawn
    lu.assertEquals(paid:sum():item(), drawn.nnz, name)
    lu.assertEquals(paid[drawn.edge]:sum():item(), drawn.nnz, name)
  end
end

--- BLISS pays the rewards of its paper, in draws in which every node has its probability pi and a
-- row some of its neighbours.
function tests.test_rewards_of_bliss()
  local P, eta, steps = graphs.random(12, 3, 5):normalize "row", 0.3, 50
  local H = ladies.zeros(12, 3):uniform_(0, 1, ladies.rng(3))
  local squares, some = H:row_sums(2), false
  for seed = 1, 20 do
    for _, cap in ipairs{1, 1e-3} do
      local sampler = samplers.bliss(P, {samples = {4}, eta = eta, steps = steps, cap = cap})
      local batch = sampler(index{1, 5, 7}, ladies.rng(seed))
      given{H}:forward(H, batch)
      batch.after_step(batch)
      local block = batch.blocks[1]
      local row, k, d = block.drawn:row_of(), block.drawn:degrees(), P:degrees(block.dst)
      for e, at in ipairs(block.drawn.edge:to_table()) do
        local u, v = block.drawn:col_of()[e], row[e]
        local pi, q = 1 / block.weight[u], 1 / d[v]
        local r = P:entry_values()[at] ^ 2 * squares[block.src[u]] / (k[v] * q ^ 2)
        local delta = math.sqrt((1 - eta) * eta ^ 4 * k[v] ^ 5 * math.log(d[v] / k[v])
          / (steps * d[v] ^ 4))
        local want = math.min(cap, delta * r / (d[v] * pi))
        lu.assertAlmostEquals(sampler.players.logs[1][at], want, 1e-6)
        some = some or want == cap
      end
    end
  end
  lu.assertTrue(some)
end

-- ---------------------------------------------------------------- estimates

--- With replacement, every outcome of two draws of node 1's four neighbours has its probability,
-- and the estimates of all outcomes have the mean of the whole row.
function tests.test_unbiased_by_enumeration()
  local P, H = small(), ladies.tensor{{1, 1}, {2, 0}, {0, 3}, {1, 2}}
  local sampler = samplers.bandit(P, {samples = {2}, replace = true, eta = 0.3})
  learnt(sampler.players)
  local q = sampler.players:probabilities(1, P:slice(index{1})):to_table()
  local draws, root, mean, expected = 3000, ladies.rng(4), ladies.zeros(1, 2), {}
  local counts, estimates = statistics.count(draws, function(i)
    local block = sampler(index{1}, root:fork(i)).blocks[1]
    local nodes = block.src[block.adj:col_of()]:sort():to_table()
    return table.concat(nodes, " "), block.adj:matmul(H[block.src])
  end)
  for i = 1, 4 do
    for j = i, 4 do
      local chance = q[i] * q[j] * (i == j and 1 or 2)
      local key = i == j and tostring(i) or i .. " " .. j
      mean = mean + estimates[key] * chance
      expected[key] = chance * draws
    end
  end
  close(mean, P:slice(index{1}, index{1, 2, 3, 4}):matmul(H), 1e-4, "mean")
  statistics.assert_frequencies(counts, expected)
end

--- BLISS draws each of four columns on its own with pi = min(1, c p), p from the q of the players,
-- and again where that gives none: all fifteen outcomes, and their mean.
function tests.test_bliss_is_unbiased_by_enumeration()
  local P, H = small(), ladies.tensor{{1, 1}, {2, 0}, {0, 3}, {1, 2}}
  local sampler = samplers.bliss(P, {samples = {2}, row_normalize = false, eta = 0.3})
  learnt(sampler.players)
  local dst = index{2, 1}
  local U, near = P:slice(dst)                                         -- columns 3, 4, 1, 2
  local q, squares = sampler.players:probabilities(1, U):to_table(), {0, 0, 0, 0}
  for e, col in ipairs(U:col_of():to_table()) do squares[col] = squares[col] + q[e] ^ 2 end
  local p = ladies.tensor(squares):sqrt()
  local pi = sampling.poisson_probabilities(p, 2):to_table()
  local draws, root, mean, expected, none = 3000, ladies.rng(6), ladies.zeros(2, 2), {}, 1
  local counts, estimates = statistics.count(draws, function(i)
    local block = sampler(dst, root:fork(i)).blocks[1]
    return table.concat(block.src:to_table(), " "), block.adj:matmul(H[block.src])
  end)
  for i = 1, 4 do none = none * (1 - pi[i]) end
  lu.assertTrue(none > 0.01)
  for set = 1, 15 do
    local chance, nodes = 1 / (1 - none), {}
    for i = 1, 4 do
      local is_in = set >> (i - 1) & 1 == 1
      chance = chance * (is_in and pi[i] or 1 - pi[i])
      if is_in then nodes[#nodes + 1] = near[i] end
    end
    local key = table.concat(nodes, " ")
    expected[key] = chance * draws
    if estimates[key] then mean = mean + estimates[key] * chance end
  end
  close(mean, U:matmul(H[near]), 1e-3, "mean")
  statistics.assert_frequencies(counts, expected)
end

--- Over two layers and many draws, both ways of drawing, nothing of the mean is lost.
function tests.test_unbiased_over_two_layers()
  local P, H = graphs.random(30, 4, 7):normalize "row", ladies.zeros(30, 1)
  H:uniform_(0, 2, ladies.rng(8))
  local seeds = index{3, 17, 28}
  for i, sampler in ipairs{
    samplers.bandit(P, {samples = {2, 3}}), samplers.bandit(P, {samples = {2, 3}, replace = true}),
    samplers.bliss(P, {samples = {9, 6}, row_normalize = false}),
    samplers.bliss(P, {samples = {9, 6}, row_normalize = false, self_nodes = "previous"}),
    samplers.bliss(P, {samples = {9, 6}, row_normalize = false, draw = "wr"}),
    samplers.bliss(P, {samples = {9, 6}, row_normalize = false, draw = "wor", debias = true}),
  } do
    learnt(sampler.players)
    local worst = two_layers.deviation(sampler, P, seeds, H, ladies.rng(i), 2000)
    lu.assertTrue(worst < 5, ("%d: %g standard errors"):format(i, worst))
  end
end

--- On a row-normalised P of a graph without weights q = P at first, so that BLISS draws as LADIES
-- (flat) does.
function tests.test_bliss_begins_as_ladies()
  local P = toy.new().graph:normalize("row", {self_loops = false})
  local U = P:slice(index{2, 8, 11})
  local players = edge_bandits.new(P, 1, 0.4)
  close(U:with_values(players:probabilities(1, U)):col_sums(2):sqrt(), U:col_sums(2):sqrt(), 1e-6,
    "p")
end

-- ---------------------------------------------------------------- models

--- Layers of a model may pass on a table, with their rows in `last`.
function tests.test_models()
  local data = toy.new()
  local P = data.graph:normalize "sym"
  for _, name in ipairs{"bandit", "bliss"} do
    for _, make in ipairs{ladies.nn.gcn, ladies.nn.gcnii} do
      local model = make{inputs = toy.FEATURES, hidden = 4, outputs = 3, layers = 3}
      local sampler = samplers[name](P, {samples = {4, 4, 4},
        self_nodes = name == "bliss" and "previous" or nil})
      local batch = sampler(data.train:slice(1, 10), ladies.rng(1))
      local _ <close> = ladies.step()
      local logits = model:forward(data.features, batch)
      logits:sum():backward()
      batch.after_step(batch, model)
      for l = 1, 3 do lu.assertTrue(sampler.players.logs[l]:max() > 0) end
    end
  end
end

function tests.test_errors()
  local P = small()
  for _, name in ipairs{"bandit", "bliss"} do
    local sampler = samplers[name](P, {samples = {2}})
    local batch = sampler(index{1}, ladies.rng(1))
    fails("must call batch.propagate, as that of nn.gcn does", batch.after_step, batch)
    batch.layer_inputs = {{first = 1}}
    fails("what layer 1 is given, or its field last must be a Tensor or a Matrix, got nil",
      batch.after_step, batch)
    fails("eta must be a number in [0, 1], got 2", samplers[name], P, {samples = {2}, eta = 2})
  end
end

return tests
