--- Pooled draws, by enumeration of all outcomes of a small layer: the probabilities that weights
-- divide by, the mean and the variance, and the frequency of each outcome.
local lu = require "luaunit"
local ladies = require "ladies"
local graphs = require "reference.graphs"
local layer = require "reference.small_layer"

local index, pooled = ladies.index, ladies.samplers.pooled
local fails = lu.assertErrorMsgContains

local tests = {}

local N, SEEDS, P, DENSE, X = layer.N, layer.SEEDS, layer.P, layer.DENSE, layer.X

-- ---------------------------------------------------------------- by the book

-- All sets of k of a list's elements.
local function subsets(list, k)
  if k == 0 then return {{}} end
  local found = {}
  for i = 1, #list - k + 1 do
    for _, rest in ipairs(subsets({table.unpack(list, i + 1)}, k - 1)) do
      found[#found + 1] = {list[i], table.unpack(rest)}
    end
  end
  return found
end

-- The entries that row v draws from, and those that it has for certain.
local function row_of(v, self_nodes)
  local open, certain = {}, {}
  for u = 1, N do
    if DENSE[v][u] ~= 0 then
      local list = self_nodes == "previous" and u == v and certain or open
      list[#list + 1] = u
    end
  end
  return open, certain
end

-- All outcomes, {nodes = a set, probability =}, those with the same nodes put together. `keep` are
-- the nodes that are there for certain.
local function outcomes(k, self_nodes)
  local list = {{nodes = {}, probability = 1}}
  for _, v in ipairs(SEEDS) do
    local open, certain = row_of(v, self_nodes)
    local ways, longer = subsets(open, math.min(k, #open)), {}
    for _, before in ipairs(list) do
      for _, way in ipairs(ways) do
        local nodes = {}
        for u in pairs(before.nodes) do nodes[u] = true end
        for _, u in ipairs(way) do nodes[u] = true end
        for _, u in ipairs(certain) do nodes[u] = true end
        longer[#longer + 1] = {nodes = nodes, probability = before.probability / #ways}
      end
    end
    list = longer
  end
  return layer.merged(list, self_nodes)
end

-- ---------------------------------------------------------------- the formulas of doc/samplers.md

-- The number of columns among `these` that row v may draw, and of how many it draws.
local function drawn_from(v, these, self_nodes)
  local open, count = row_of(v, self_nodes), 0
  for _, u in ipairs(open) do
    for _, w in ipairs(these) do count = count + (u == w and 1 or 0) end
  end
  return count, #open
end

-- The probability that no row draws any of the columns: the product over the rows of
-- (d - k)(d - k - 1)... / d(d - 1)..., with a factor for each of the columns that the row has.
local function missed(k, these, self_nodes)
  local product = 1
  for _, v in ipairs(SEEDS) do
    local count, d = drawn_from(v, these, self_nodes)
    for j = 0, count - 1 do product = product * math.max(0, d - k - j) / math.max(1, d - j) end
  end
  return product
end

local function is_seed(u)
  for _, v in ipairs(SEEDS) do if u == v then return true end end
  return false
end

-- pi_u and pi_uw by the formulas of the page.
local function joint(k, u, w, self_nodes)
  local certain = {u = self_nodes ~= "none" and is_seed(u), w = self_nodes ~= "none" and is_seed(w)}
  local mu, mw = certain.u and 0 or missed(k, {u}, self_nodes),
    certain.w and 0 or missed(k, {w}, self_nodes)
  if u == w then return 1 - mu end
  local both = (certain.u or certain.w) and 0 or missed(k, {u, w}, self_nodes)
  return 1 - mu - mw + both
end

-- The variance of the unbiased estimate of row v by the formula of the page.
local function variance(k, v, self_nodes)
  local total = 0
  for u = 1, N do
    for w = 1, N do
      if DENSE[v][u] ~= 0 and DENSE[v][w] ~= 0 then
        local pu, pw = joint(k, u, u, self_nodes), joint(k, w, w, self_nodes)
        total = total + DENSE[v][u] * X[u] * DENSE[v][w] * X[w]
          * (joint(k, u, w, self_nodes) / (pu * pw) - 1)
      end
    end
  end
  return total
end

local function each_case(f)
  for k = 1, 3 do
    for _, self_nodes in ipairs{"none", "previous", "batch"} do f(k, self_nodes) end
  end
end

--- The formulas for pi, for pairs and for the variance are those of the enumeration; the unbiased
-- estimate has P's rows for its mean, and the form "mean" the bias of the page.
function tests.test_the_formulas_by_enumeration()
  local biased, smaller = 0, 0
  each_case(function(k, self_nodes)
    local list = outcomes(k, self_nodes)
    local pi = layer.probabilities(list)
    for u = 1, N do
      for w = 1, N do
        lu.assertAlmostEquals(joint(k, u, w, self_nodes), layer.chance(list, u, w), 1e-12)
      end
    end
    local mean, spread = layer.moments(list, pi, "unbiased")
    local ratio_mean, ratio_spread = layer.moments(list, pi, "mean")
    for i, v in ipairs(SEEDS) do
      lu.assertAlmostEquals(mean[i], layer.exact(v), 1e-12)
      lu.assertAlmostEquals(spread[i], variance(k, v, self_nodes), 1e-10)
      local bias = ratio_mean[i] - layer.exact(v)
      lu.assertAlmostEquals(bias, layer.ratio_bias(list, pi, i), 1e-12)
      biased = biased + (math.abs(bias) > 1e-6 and 1 or 0)
      smaller = smaller + (ratio_spread[i] < spread[i] - 1e-9 and 1 or 0)
    end
  end)
  lu.assertTrue(biased > 0, "the ratio estimate is biased somewhere")
  lu.assertTrue(smaller > 0, "and has less variance somewhere")
end

--- A draw is one of the outcomes, as often as it should be, and has the weights of the definition.
function tests.test_draws()
  each_case(function(k, self_nodes)
    local list, by_key = outcomes(k, self_nodes)
    for _, form in ipairs{"mean", "unbiased"} do
      layer.assert_draws(pooled(P, {samples = {k}, form = form, self_nodes = self_nodes}), list,
        by_key, form, self_nodes, k)
    end
  end)
end

-- ---------------------------------------------------------------- rows and layers

--- With k at least the degrees a layer is the exact one, and every row keeps P's sum.
function tests.test_all_of_a_row()
  local A = graphs.random(40, 5, 1)
  local M, seeds = A:normalize "sym", ladies.range(3, 12)
  for _, self_nodes in ipairs{"none", "previous", "batch"} do
    local block = pooled(M, {samples = {40}, self_nodes = self_nodes})(seeds, ladies.rng(1))
      .blocks[1]
    local U = M:slice(seeds, block.src)
    lu.assertTrue((block.adj:entry_values() - U:entry_values()):abs():max() < 1e-6)
    local few = pooled(M, {samples = {1}, self_nodes = self_nodes})(seeds, ladies.rng(2)).blocks[1]
    lu.assertTrue((few.adj:row_sums() - M:row_sums()[seeds]):abs():max() < 1e-6)
    lu.assertEquals(few.adj:empty_rows(), 0)
  end
end

--- Each layer draws its own number, below what the layer above has drawn.
function tests.test_layers()
  local A = graphs.random(300, 12, 2):normalize "sym"
  local seeds = index{5, 9, 200}
  local batch = ladies.sampling.check(pooled(A, {samples = {3, 1}})(seeds, ladies.rng(1)))
  lu.assertTrue(#batch.blocks[2].src <= 3)
  lu.assertTrue(#batch.blocks[1].src <= 3 * #batch.blocks[2].src)
  lu.assertTrue(#batch.blocks[1].src > #batch.blocks[2].src)
end

--- A column that a hub alone has is drawn with k / d, to the last digits, however large d is.
function tests.test_hubs_are_weighted_exactly()
  local leaves, k = 200000, 3
  local cols = ladies.range(1, leaves)
  local hub = ladies.matrix{n_rows = leaves, n_cols = leaves, rows = cols * 0 + 1, cols = cols}
  local block = pooled(hub, {samples = {k}, form = "unbiased"})(index{1}, ladies.rng(1)).blocks[1]
  lu.assertEquals(#block.src, k)
  for e = 1, k do
    lu.assertAlmostEquals(block.adj:entry_values()[e] / (leaves / k), 1, 1e-6)
  end
end

function tests.test_errors()
  local A = graphs.star():normalize "sym"
  local function rejects(message, ...)
    fails("ladies.samplers.pooled: " .. message, pooled, ...)
  end
  rejects("samples is one number, 3, and layers does not say", A, {samples = 3})
  rejects('form must be one of mean, unbiased, got "ratio"', A, {samples = {3}, form = "ratio"})
end

return tests
