--- Draws of exactly k positions with given inclusion probabilities: every outcome against complete
-- enumeration (reference/choice.lua), the probabilities of positions and of pairs, and limits.
local lu = require "luaunit"
local ladies = require "ladies"
local outcomes = require "reference.outcomes"
local reference = require "reference.choice"
local statistics = require "reference.statistics"

local fails = lu.assertErrorMsgContains
local sampling, tensor = ladies.sampling, ladies.tensor
local RULES = {"systematic", "pivotal", "sampford"}

local tests = {}

local CASES = {
  {{0.5, 0.25, 0.15, 0.1}, 1}, {{0.5, 0.25, 0.15, 0.1}, 2}, {{0.5, 0.25, 0.15, 0.1}, 3},
  {{0.5, 0.25, 0.15, 0.1}, 4}, {{0.5, 0.25, 0.15, 0.1}, 9},
  {{3, 0, 1, 7, 0, 2}, 2}, {{3, 0, 1, 7, 0, 2}, 3}, {{100, 1, 1, 2, 0.5, 4}, 3},
  {{1, 1, 1, 1, 1}, 2}, {{1, 2, 3, 4, 5, 6, 7}, 3}, {{7, 1, 6, 2, 5, 3, 4}, 5},
  {{0.3, 0.9, 0.2, 0.8, 0.5, 0.3}, 3},
}

function tests.test_every_outcome()
  for i, case in ipairs(CASES) do
    local p, k = table.unpack(case)
    for _, draw in ipairs(RULES) do
      for _, always in ipairs{{}, {2}} do
        local opts = {draw = draw, always = #always > 0 and always or nil}
        local name, rng = ("%s %d of case %d"):format(draw, k, i), ladies.rng(i)
        outcomes.check(name, reference.outcomes(p, k, opts), 3000, function()
          local pick, w = sampling.choice(tensor(p), k, {draw = draw, rng = rng,
            always = opts.always and ladies.index(always)})
          return pick:to_table(), w:to_table()
        end)
      end
    end
  end
end

--- The rules' own probabilities are what they promise: those of each position by the enumeration,
-- and those of pairs by sampling.joint_probabilities too.
function tests.test_probabilities_of_positions_and_pairs()
  for i, case in ipairs(CASES) do
    local p, k = table.unpack(case)
    local pi = sampling.poisson_probabilities(tensor(p), k)
    for _, draw in ipairs{"poisson", "systematic", "pivotal", "sampford"} do
      local all = reference.outcomes(p, k, {draw = draw})
      lu.assertAlmostEquals(pi:to_table(), reference.inclusions(all, #p), 1e-6)
      local got = sampling.joint_probabilities(tensor(p), k, {draw = draw}):to_table()
      lu.assertAlmostEquals(got, reference.pairs(all, #p), 1e-6, draw .. i)
    end
  end
end

--- The probabilities of a position's pairs, itself among them, sum to k times its own.
function tests.test_pairs_of_many()
  local p = ladies.zeros(120):uniform_(0.1, 3, ladies.rng(1))
  local pi = sampling.poisson_probabilities(p, 40)
  for _, draw in ipairs(RULES) do
    local both = sampling.joint_probabilities(p, 40, {draw = draw})
    lu.assertAlmostEquals((both:sum(2) / pi):to_table(), ladies.full(120, 40):to_table(), 1e-3)
    lu.assertEquals(both, both:transpose())
    lu.assertTrue(both:min() >= 0)
  end
end

--- Few of many are drawn by Sampford's successive draws, whose pairs are those of the rule, too.
function tests.test_few_of_many()
  local p = ladies.ones(300)
  for i = 1, 10 do p[i] = 60 end
  local both, rng = sampling.joint_probabilities(p, 3, {draw = "sampford"}), ladies.rng(2)
  local expected, counts = {0, 0, 0}, {0, 0, 0}
  local function kind(i, j) return (i <= 10 and 0 or 1) + (j <= 10 and 0 or 1) + 1 end
  for i = 1, 300 do
    for j = i + 1, 300 do
      expected[kind(i, j)] = expected[kind(i, j)] + 10000 * both:get(i, j)
    end
  end
  for _ = 1, 10000 do
    local pick = sampling.choice(p, 3, {draw = "sampford", rng = rng}):to_table()
    for a = 1, 3 do
      for b = a + 1, 3 do
        counts[kind(pick[a], pick[b])] = counts[kind(pick[a], pick[b])] + 1
      end
    end
  end
  for i = 1, 3 do
    lu.assertTrue(math.abs(counts[i] - expected[i]) < 5 * math.sqrt(3 * expected[i]),
      ("%d: %g, expected %g"):format(i, counts[i], expected[i]))
  end
end

--- Many of many are drawn by Sampford's Poisson way: every pair as often as the rule has it,
-- whichever end its positions lie at, certain ones and hardly probable ones among them.
function tests.test_many_of_many()
  local n, k, draws = 60, 24, 6000
  local p, rng = ladies.zeros(n):uniform_(0.2, 1.5, ladies.rng(1)), ladies.rng(2)
  p[7], p[50], p[59] = 90, 90, 0.001
  local both = sampling.joint_probabilities(p, k, {draw = "sampford"})
  local counts = ladies.zeros(n, n)
  for _ = 1, draws do
    local pick = sampling.choice(p, k, {draw = "sampford", rng = rng})
    lu.assertEquals(#pick, k)
    local is_in = ladies.zeros(n):add_at_(pick, 1)
    counts = counts + is_in:reshape(n, 1):matmul(is_in:reshape(1, n))
  end
  local off = counts - both * draws
  local bound = ((both * (1 - both) * draws):clamp(0, math.huge) + 1):sqrt() * 5
  lu.assertTrue((off:abs() - bound):max() < 0)
  local square = (off:square() / (both * (1 - both) * draws + 1)):mean():item()
  lu.assertTrue(square < 1.3, square)
end

--- Estimated sums over thousands of positions, some of them certain, are unbiased, and k are drawn.
function tests.test_large()
  local n = 5000
  local p, f = ladies.zeros(n), ladies.zeros(n):uniform_(0, 1, ladies.rng(3))
  for i = 1, n do p[i] = i % 11 == 0 and 0 or 10 ^ (i * 7919 % 1000 / 1000 * 4 - 2) end
  local total = (f * p:above(0)):sum():item()
  for _, draw in ipairs(RULES) do
    local run, rng = statistics.running(), ladies.rng(4)
    for _ = 1, 150 do
      local pick, w = sampling.choice(p, 600, {draw = draw, rng = rng})
      lu.assertEquals(#pick, 600)
      lu.assertEquals(pick:sort(), pick)
      lu.assertEquals(#sampling.unique(pick), 600)
      lu.assertTrue(p[pick]:min() > 0)
      run.add((w * f[pick]):sum():item())
    end
    lu.assertTrue(math.abs(run.mean() - total) < 5 * run.standard_error(), draw)
  end
end

function tests.test_streams()
  local p = ladies.zeros(200):uniform_(0, 1, ladies.rng(1))
  for _, draw in ipairs(RULES) do
    local function pick(rng) return (sampling.choice(p, 20, {draw = draw, rng = rng})) end
    local rng = ladies.rng(7)
    local first, second = pick(rng), pick(rng)
    lu.assertFalse(first == second)
    lu.assertEquals(pick(ladies.rng(7)), first)
    lu.assertEquals(pick(rng:at(5)), pick(rng:at(5)))
  end
end

--- A layer has just as many nodes as are asked for, and the mean of many is P's rows.
function tests.test_layers()
  local A = ladies.matrix{n_rows = 30, n_cols = 30, rows = (ladies.range(1, 200) * 7) % 30 + 1,
    cols = (ladies.range(1, 200) * 11 + ladies.range(1, 200) // 9) % 30 + 1}
  local P = A:symmetrize():normalize "sym"
  local seeds = ladies.index{3, 14, 15}
  local want = P:rows(seeds):to_dense()
  for _, draw in ipairs(RULES) do
    local sampler = ladies.samplers.ladies(P, {samples = 6, layers = 1, draw = draw,
      row_normalize = false})
    local sum, squares, rng = ladies.zeros(3, 30), ladies.zeros(3, 30), ladies.rng(5)
    for i = 1, 1000 do
      local block = sampler(seeds, rng:fork(i)).blocks[1]
      lu.assertEquals(#block.src, 6)
      local full = ladies.zeros(30, 3):copy_rows_(block.src, block.adj:to_dense():transpose())
      sum, squares = sum + full:transpose(), squares + full:transpose():square()
    end
    local error = ((squares / 1000 - (sum / 1000):square()) / 1000):clamp(0, 1):sqrt()
    lu.assertTrue(((sum / 1000 - want):abs() - error * 5):max() < 1e-4, draw)
  end
end

function tests.test_refused()
  local p = tensor{1, 2, 3}
  for _, draw in ipairs(RULES) do
    local how = {draw = draw, rng = ladies.rng(1)}
    lu.assertEquals(#sampling.choice(p, 0, how), 0)
    fails("choice: all 2 probabilities are zero", sampling.choice, ladies.zeros(2), 1, how)
    how.debias = true
    fails("debias is for draw wor", sampling.choice, p, 1, how)
  end
  fails("draw must be one of poisson, systematic, pivotal, sampford",
    sampling.joint_probabilities, p, 2, {draw = "wor"})
  fails("p must be a vector", sampling.joint_probabilities, tensor{-1, 2}, 1, {draw = "pivotal"})
end

return tests
