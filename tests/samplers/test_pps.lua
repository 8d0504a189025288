--- PPS, by enumeration: a systematic draw follows from one random number, so that a small layer has
-- few outcomes, which give the chances of nodes and of pairs, the mean, the variance and the bias.
local lu = require "luaunit"
local ladies = require "ladies"
local graphs = require "reference.graphs"
local layer = require "reference.small_layer"

local pps = ladies.samplers.pps
local fails = lu.assertErrorMsgContains

local tests = {}

local N, SEEDS, P, DENSE, X = layer.N, layer.SEEDS, layer.P, layer.DENSE, layer.X

-- The nodes that are drawn from, in the order in which the rows of the seeds touch them first, and
-- what their chances are in proportion to: the sums of their columns over these rows. Nodes that
-- are there for certain are left out.
local function sizes(self_nodes)
  local is_known, nodes, a = {}, {}, {}
  for _, v in ipairs(self_nodes == "none" and {} or SEEDS) do is_known[v] = true end
  for _, v in ipairs(SEEDS) do
    for u = 1, N do
      if DENSE[v][u] ~= 0 and not is_known[u] then
        local sum = 0
        for _, w in ipairs(SEEDS) do sum = sum + DENSE[w][u] end
        is_known[u], nodes[#nodes + 1], a[#a + 1] = true, u, sum
      end
    end
  end
  return nodes, a
end

-- The chances of the nodes, by the definition: c is raised until they add up to s.
local function chances(a, s)
  local pi, c = {}, 0
  for _ = 1, #a do
    local open, left = 0, s
    for _, x in ipairs(a) do
      if c * x >= 1 then left = left - 1 else open = open + x end
    end
    if open == 0 then break end
    c = left / open
  end
  for i, x in ipairs(a) do pi[i] = s >= #a and 1 or math.min(1, c * x) end
  return pi
end

-- All outcomes: the chances are laid end to end, and the node at every whole step from a start in
-- [0, 1) is drawn. Between the places where chances end, all starts draw the same.
local function outcomes(s, self_nodes)
  local nodes, a = sizes(self_nodes)
  local pi, ends, starts = chances(a, s), {[0] = 0}, {0, 1}
  for i, x in ipairs(pi) do
    ends[i] = ends[i - 1] + x
    starts[#starts + 1] = ends[i] % 1
  end
  table.sort(starts)
  local list = {}
  for i = 1, #starts - 1 do
    local length, middle = starts[i + 1] - starts[i], (starts[i] + starts[i + 1]) / 2
    if length > 1e-12 then
      local one = {nodes = {}, probability = length}
      for j, u in ipairs(nodes) do
        if math.floor(ends[j] - middle) > math.floor(ends[j - 1] - middle) then
          one.nodes[u] = true
        end
      end
      list[#list + 1] = one
    end
  end
  return layer.merged(list, self_nodes)
end

local function each_case(f)
  for s = 1, 3 do
    for _, self_nodes in ipairs{"none", "previous", "batch"} do f(s, self_nodes) end
  end
end

-- The chances of all pairs of nodes as the library has them, and 1 of nodes that are certain.
local function joint(s, self_nodes)
  local nodes, a = sizes(self_nodes)
  local pairs_of, place = ladies.sampling.joint_probabilities(ladies.tensor(a), s,
    {draw = "systematic"}):to_table(), {}
  for i, u in ipairs(nodes) do place[u] = i end
  return function(u, w)
    local i, j = place[u], place[w]
    if i and j then return pairs_of[i][j] end
    i = i or j
    return i and pairs_of[i][i] or 1
  end
end

--- The chances are in proportion to the columns' sums, those of pairs are the library's; the
-- unbiased weights have P's rows for their mean, with the variance of doc/samplers.md, and dividing
-- by estimated row sums has the bias of the page, and mostly less variance.
function tests.test_the_formulas_by_enumeration()
  local smaller = 0
  each_case(function(s, self_nodes)
    local list = outcomes(s, self_nodes)
    local pi, both = layer.probabilities(list), joint(s, self_nodes)
    local mean, spread = layer.moments(list, pi, "unbiased")
    local ratio_mean, ratio_spread = layer.moments(list, pi, "mean")
    for i, v in ipairs(SEEDS) do
      local variance = 0
      for u = 1, N do
        for w = 1, N do
          if DENSE[v][u] ~= 0 and DENSE[v][w] ~= 0 then
            lu.assertAlmostEquals(both(u, w), layer.chance(list, u, w), 1e-6)
            variance = variance + DENSE[v][u] * X[u] * DENSE[v][w] * X[w]
              * (both(u, w) / (pi[u] * pi[w]) - 1)
          end
        end
      end
      lu.assertAlmostEquals(mean[i], layer.exact(v), 1e-9)
      lu.assertAlmostEquals(spread[i], variance, 1e-5)
      lu.assertAlmostEquals(ratio_mean[i] - layer.exact(v), layer.ratio_bias(list, pi, i), 1e-9)
      smaller = smaller + (ratio_spread[i] < spread[i] - 1e-9 and 1 or 0)
    end
  end)
  lu.assertTrue(smaller >= 12, smaller)
end

--- A draw is one of the outcomes, as often as it should be, and has the weights of the definition.
function tests.test_draws()
  each_case(function(s, self_nodes)
    local list, by_key = outcomes(s, self_nodes)
    layer.assert_draws(pps(P, {samples = {s}, self_nodes = self_nodes}), list, by_key, "mean",
      self_nodes, s)
  end)
end

--- Other rules have the same chances, so that they give the same weights to the same nodes; with
-- enough samples a layer is the exact one.
function tests.test_rules()
  local A, x = graphs.random(60, 6, 1):normalize "sym", ladies.range(1, 60)
  for _, draw in ipairs{"systematic", "poisson", "pivotal", "sampford", "wor", "wr"} do
    local block = pps(A, {samples = {20}, draw = draw})(x:slice(1, 9), ladies.rng(1)).blocks[1]
    lu.assertEquals(block.src:slice(1, 9):to_table(), x:slice(1, 9):to_table())
    lu.assertTrue((block.adj:row_sums() - A:row_sums():slice(1, 9)):abs():max() < 1e-6, draw)
    if draw ~= "poisson" and draw ~= "wr" then lu.assertEquals(#block.src, 29) end
  end
  local whole = pps(A, {samples = {60}})(x:slice(1, 9), ladies.rng(1)).blocks[1]
  local U = A:slice(x:slice(1, 9), whole.src)
  lu.assertTrue((whole.adj:entry_values() - U:entry_values()):abs():max() < 1e-6)
end

function tests.test_errors()
  local A = graphs.star():normalize "sym"
  fails("ladies.samplers.pps: samples is one number, 3, and layers does not say", pps, A,
    {samples = 3})
  fails('ladies.samplers.pps: probability = "sums" is for entries of 0 or more, P has -1', pps,
    A:with_values(-ladies.ones(A.nnz)), {samples = {3}})
end

return tests
