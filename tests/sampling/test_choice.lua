--- sampling.choice and its kin against complete enumeration (reference/choice.lua): the weights of
-- every outcome, the frequencies of the outcomes, the exact means; then properties, limits, errors.
local lu = require "luaunit"
local ladies = require "ladies"
local outcomes = require "reference.outcomes"
local reference = require "reference.choice"
local statistics = require "reference.statistics"
local tables = require "ladies.base.tables"

local sampling = ladies.sampling
local choice = sampling.choice

local tests = {}

-- Calls choice with opts whose tables, which the reference takes, are converted to what choice
-- takes.
local function choose(p, k, opts, rng)
  local given = tables.merged({rng = rng}, opts)
  given.always = given.always and ladies.index(given.always)
  return choice(type(p) == "table" and ladies.tensor(p) or p, k, given)
end

-- --- enumeration --------------------------------------------------------------------------------

local EXAMPLE = {0.5, 0.25, 0.15, 0.1}      -- samplers.md's, with f = 1, 2, 3, 4
local ZEROS = {3, 0, 1, 7, 0, 2}            -- not normalised
local SKEWED = {100, 1, 1, 2, 0.5, 4}       -- a Poisson draw must cap the first
local EVEN = {1, 1, 1, 1, 1}

local WOR, DEBIASED, WR, POISSON = {}, {debias = true}, {draw = "wr"}, {draw = "poisson"}

local CASES = {
  {EXAMPLE, 1, WOR}, {EXAMPLE, 2, WOR}, {EXAMPLE, 3, WOR}, {EXAMPLE, 4, WOR}, {EXAMPLE, 9, WOR},
  {EXAMPLE, 1, DEBIASED}, {EXAMPLE, 2, DEBIASED}, {EXAMPLE, 3, DEBIASED}, {EXAMPLE, 4, DEBIASED},
  {EXAMPLE, 1, WR}, {EXAMPLE, 2, WR}, {EXAMPLE, 5, WR},
  {EXAMPLE, 1, POISSON}, {EXAMPLE, 2, POISSON}, {EXAMPLE, 3, POISSON}, {EXAMPLE, 4, POISSON},
  {ZEROS, 2, WOR}, {ZEROS, 3, DEBIASED}, {ZEROS, 3, WR}, {ZEROS, 2, POISSON}, {ZEROS, 5, POISSON},
  {SKEWED, 3, WOR}, {SKEWED, 3, DEBIASED}, {SKEWED, 2, WR}, {SKEWED, 1, POISSON},
  {SKEWED, 3, POISSON}, {SKEWED, 5, POISSON},
  {EVEN, 2, WOR}, {EVEN, 3, DEBIASED}, {EVEN, 2, POISSON},
  {EXAMPLE, 2, {always = {2}}}, {EXAMPLE, 2, {always = {4, 1}}}, {EXAMPLE, 0, {always = {3, 1}}},
  {EXAMPLE, 2, {always = {1}, debias = true}}, {ZEROS, 2, {always = {4, 2}, debias = true}},
  {EXAMPLE, 2, {always = {1}, draw = "wr"}}, {EXAMPLE, 2, {always = {1}, draw = "poisson"}},
  {ZEROS, 2, {always = {1, 3, 4, 6}, draw = "wr"}}, {ZEROS, 5, {always = {2, 4}}},
  {EXAMPLE, 2, {always = {4, 1}, union = "post"}}, {EXAMPLE, 2, {union = "post"}},
  {ZEROS, 2, {always = {2, 4, 5}, union = "post"}}, {ZEROS, 5, {always = {2}, union = "post"}},
  {EXAMPLE, 0, {always = {2, 3}, union = "post"}},
}

local function name_of(case)
  local p, k, opts = table.unpack(case)
  local words = {}
  for key, value in pairs(opts) do
    words[#words + 1] = key .. "=" .. (type(value) == "table" and table.concat(value, "+")
      or tostring(value))
  end
  table.sort(words)
  return ("p=%s k=%d %s"):format(table.concat(p, ","), k, table.concat(words, " "))
end

-- Draws many times; every draw must be an outcome of the enumeration with just its weights, and the
-- frequencies must fit. Each outcome gets the weights that the program gave it, in `got`.
-- With `by_table` the alias table of p stands for it.
local function check_outcomes(case, draws, rng, by_table)
  local p, k, opts = table.unpack(case)
  local tensor = ladies.tensor(p)
  local given = by_table and sampling.alias(tensor) or tensor
  return outcomes.check(name_of(case), reference.outcomes(p, k, opts), draws, function()
    local pick, w = choose(given, k, opts, rng)
    return pick:to_table(), w:to_table()
  end)
end

-- f(u) = u for every position of p, and the sum of f over those that can be drawn.
local function positions_of(p)
  local f, total = {}, 0
  for u in ipairs(p) do
    f[u] = u
    total = total + (p[u] > 0 and u or 0)
  end
  return f, total
end

--- The program draws the outcomes of the enumeration, and its weights give the exact mean over all
-- of them, weighted by their exact probabilities.
function tests.test_every_outcome()
  local function mean(case, seed)
    local found = check_outcomes(case, 4000, ladies.rng(seed))
    for _, o in ipairs(found) do o.w = o.got or o.w end
    return reference.mean(found, positions_of(case[1]))
  end
  for seed, case in ipairs(CASES) do
    local p, k, opts = table.unpack(case)
    local biased = (opts.draw or "wor") == "wor" and not opts.debias
    local unseen = opts.always and k == 0
    local f, total = positions_of(p)
    for _, u in ipairs(opts.always or {}) do total = total + (p[u] > 0 and 0 or f[u]) end
    local found = mean(case, seed)
    if not biased and not unseen then
      lu.assertAlmostEquals(found, total, 1e-5 * total, name_of(case))
    end
  end
  lu.assertAlmostEquals(mean({EXAMPLE, 2, WOR}, 1), 11.78, 0.005)
end

--- The outcomes are right where draws are made again: those that fall on a position that is always
-- included and, without replacement, on one that is drawn already. Nearly all draws would be, in
-- some cases, and then the program goes another way. It draws from a table, and without one where k
-- is at most half of the support.
function tests.test_every_outcome_drawn_again()
  local cases = {
    {EXAMPLE, 2, {draw = "wr", always = {1}}}, {EXAMPLE, 3, {draw = "wr", always = {4, 2}}},
    {ZEROS, 3, {draw = "wr", always = {4, 2}}}, {SKEWED, 2, {draw = "wr", always = {1}}},
    {{1000, 1, 2, 1}, 2, {draw = "wr", always = {1}}},
    {ZEROS, 2, {draw = "wr", always = {1, 3, 4, 6}}},
  }
  for _, p in ipairs{{300, 1, 2, 1}, {1e6, 1, 2, 1}, {1000, 900, 1, 2}} do -- found at times, never
    for k = 1, 3 do
      for _, opts in ipairs{WOR, DEBIASED, {always = {3}, debias = true}, {always = {1}}} do
        cases[#cases + 1] = {p, k, opts}
      end
    end
  end
  for i, case in ipairs(cases) do check_outcomes(case, 2000, ladies.rng(200 + i)) end
  for _, case in ipairs(CASES) do
    if (case[3].draw or "wor") == "wor" then cases[#cases + 1] = case end
  end
  for i, case in ipairs(cases) do check_outcomes(case, 2000, ladies.rng(100 + i), true) end
end

--- Each position is taken as often as the enumeration's exact probability says.
function tests.test_inclusion_probabilities()
  local draws = 20000
  for _, opts in ipairs{WOR, WR, POISSON} do
    local rng, inside = ladies.rng(11), {0, 0, 0, 0, 0, 0}
    for _ = 1, draws do
      for _, u in ipairs(choose(SKEWED, 3, opts, rng):to_table()) do inside[u] = inside[u] + 1 end
    end
    local exact = reference.inclusions(reference.outcomes(SKEWED, 3, opts), 6)
    for u, q in ipairs(exact) do
      local error = math.sqrt(q * (1 - q) / draws)
      lu.assertTrue(math.abs(inside[u] / draws - q) <= 4 * error + 1e-9,
        ("position %d: %g, expected %g"):format(u, inside[u] / draws, q))
    end
  end
end

-- --- larger problems ----------------------------------------------------------------------------

local LARGE = 5000

-- Probabilities over seven powers of ten, every eleventh zero.
local function large_p()
  local p = ladies.zeros(LARGE)
  for i = 1, LARGE do p[i] = i % 11 == 0 and 0 or 10 ^ (i * 7919 % 1000 / 1000 * 7 - 3) end
  return p
end

--- Debiased weights of draws from a large p have sums that are unbiased, with a table and without.
function tests.test_debiased_draws_from_a_large_table()
  local p, rng = large_p(), ladies.rng(20)
  local table_of_p, n = sampling.alias(p), p:above(0):sum():item()
  for _, given in ipairs{p, table_of_p} do
    local sum, squares = 0, 0
    for _ = 1, 400 do
      local _, w = choose(given, 50, DEBIASED, rng)
      local of_draw = w:sum():item()
      sum, squares = sum + of_draw, squares + of_draw^2
    end
    local mean = sum / 400
    local deviation = math.sqrt((squares / 400 - mean^2) / 400)
    lu.assertTrue(math.abs(mean - n) < 5 * deviation, ("%g is not %g +- %g"):format(mean, n,
      deviation))
  end
end

--- A draw of k positions begins with the draw of fewer positions from the same random numbers, if
-- both are made in the same way: one after the other, or, of more than half of the support, by
-- keys.
function tests.test_shorter_draws_begin_longer_ones()
  local p, rng = large_p(), ladies.rng(2):at(1)
  local support = 0
  for i = 1, LARGE do support = support + (p[i] > 0 and 1 or 0) end
  local half = support // 2
  for longest, shorter in pairs{
    [half] = {1, 2, 3, 64, 511, 512, 1024},
    [support - 1] = {half + 1, half + 64, support - 2},
  } do
    local all = choose(p, longest, WOR, rng)
    lu.assertEquals(#sampling.unique(all), longest)
    for _, k in ipairs(shorter) do
      lu.assertTrue(k < longest)
      lu.assertTrue(choose(p, k, WOR, rng) == all:slice(1, k), k)
    end
  end
end

--- Nodes are drawn in proportion from millions, too: the first million has nine tenths of the mass.
function tests.test_of_millions()
  local p = ladies.full(1000000, 35):scatter_add(ladies.range(1, 1000000), 5000000) + 1
  local pick = choose(p, 2000, WOR, ladies.rng(4))
  local found = 0
  for _, u in ipairs(pick:to_table()) do found = found + (u <= 1000000 and 1 or 0) end
  lu.assertEquals(#sampling.unique(pick), 2000)
  lu.assertTrue(math.abs(found - 1800) < 4 * math.sqrt(180))
end

function tests.test_zeros_are_never_drawn()
  local p, rng = large_p(), ladies.rng(3)
  for _, opts in ipairs{WOR, WR, POISSON} do
    for _, k in ipairs{500, 4900} do
      local pick = choose(p, k, opts, rng)
      lu.assertTrue(p[pick]:min() > 0)
      lu.assertEquals(#sampling.unique(pick), #pick)
    end
  end
end

--- Estimated sums of f over 5000 positions are within four standard errors, but for draws without
-- replacement and without debiasing, which are far off.
function tests.test_monte_carlo_means()
  local p, f, rng = large_p(), ladies.zeros(LARGE), ladies.rng(4)
  local total = 0
  for i = 1, LARGE do
    f[i] = math.sqrt(p[i]) * (1 + i % 3)
    total = total + f[i]
  end
  local function estimate(opts)
    local run = statistics.running()
    for _ = 1, 200 do
      local pick, w = choose(p, 1000, opts, rng)
      run.add((w * f[pick]):sum():item())
    end
    return math.abs(run.mean() - total) / run.standard_error()
  end
  for _, opts in ipairs{DEBIASED, WR, POISSON} do lu.assertTrue(estimate(opts) < 4) end
  lu.assertTrue(estimate(WOR) > 50)
end

function tests.test_poisson_with_many_capped()
  local p, rng = large_p(), ladies.rng(6)
  for _, k in ipairs{300, 3000} do
    local pi, sizes = reference.inclusion(p:to_table(), k), statistics.running()
    for _ = 1, 100 do
      local pick, w = choose(p, k, POISSON, rng)
      for i = 1, #pick, 97 do lu.assertAlmostEquals(1 / w[i], pi[pick[i]], 2e-7) end
      sizes.add(#pick)
    end
    lu.assertTrue(math.abs(sizes.mean() - k) < 4 * sizes.standard_error())
  end
end

--- The mass that is left after a draw that takes nearly all of it is not lost to rounding.
function tests.test_debias_of_extreme_probabilities()
  local pick, w = choose({1, 1e-20, 1e-20, 1e-20}, 2, DEBIASED, ladies.rng(1))
  lu.assertEquals(pick[1], 1)
  lu.assertEquals(w:to_table(), {1, 2})
end

-- --- random numbers -----------------------------------------------------------------------------

function tests.test_streams()
  local p = large_p()
  for _, opts in ipairs{WOR, DEBIASED, WR, POISSON} do
    local rng = ladies.rng(7)
    local child = choose(p, 50, opts, rng:fork(3))
    local first, second = choose(p, 50, opts, rng), choose(p, 50, opts, rng)
    lu.assertFalse(first == second, "two calls on one rng differ")
    lu.assertTrue(choose(p, 50, opts, rng:fork(3)) == child, "fork is pure")
    lu.assertTrue(choose(p, 50, opts, ladies.rng(7)) == first, "the same seed")
    local shared = rng:at(5)
    lu.assertTrue(choose(p, 50, opts, shared) == choose(p, 50, opts, shared), "rng:at")
    lu.assertFalse(choose(p, 50, opts, shared) == choose(p, 50, opts, rng:at(6)))
  end
end

--- A call takes one sub-stream, even where nothing is random.
function tests.test_every_call_takes_one_substream()
  local a, b = ladies.rng(8), ladies.rng(8)
  choose(EVEN, 2, WOR, a)
  choose(EVEN, 5, WOR, b)
  lu.assertEquals(tostring(a), tostring(b))
  lu.assertTrue(choose(EVEN, 3, WOR, a) == choose(EVEN, 3, WOR, b))
end

-- --- alias, uniform, permutation ----------------------------------------------------------------

function tests.test_alias_frequencies()
  local p, counts, expected, total = ladies.zeros(40), {}, {}, 0
  for i = 1, 40 do
    p[i] = i % 4 == 0 and 0 or i == 1 and 1e-30 or i * i
    counts[i], total = 0, total + p[i]
  end
  local table_of_p = sampling.alias(p)
  lu.assertEquals(tostring(table_of_p), "Alias 40, 30 positive")
  lu.assertEquals(#table_of_p, 40)
  local draws, rng = 0, ladies.rng(9)
  for _ = 1, 500 do
    local pick, w = choose(table_of_p, 200, WR, rng)
    for i = 1, #pick do
      local times = w[i] * 200 * p[pick[i]] / total
      lu.assertAlmostEquals(times, math.floor(times + 0.5), 1e-4)
      counts[pick[i]] = counts[pick[i]] + math.floor(times + 0.5)
      draws = draws + math.floor(times + 0.5)
    end
  end
  lu.assertEquals(draws, 500 * 200)
  for i = 1, 40 do expected[i] = draws * p[i] / total end
  statistics.assert_frequencies(counts, expected)
  for i = 4, 40, 4 do lu.assertEquals(counts[i], 0) end
end

--- An alias table gives the same draws as its probabilities, but without replacement, and keeps
-- them when the tensor changes.
function tests.test_alias_stands_for_p()
  local p, rng = large_p(), ladies.rng(10):at(1)
  local table_of_p = sampling.alias(p)
  local expected = {}
  local variants = {WR, POISSON, {always = {5, 7}, draw = "poisson"}}
  for i, opts in ipairs(variants) do expected[i] = {choose(p, 100, opts, rng)} end
  p:fill_(1)
  for i, opts in ipairs(variants) do
    local pick, w = choose(table_of_p, 100, opts, rng)
    lu.assertTrue(pick == expected[i][1])
    lu.assertEquals(w:hash(), expected[i][2]:hash())
  end
end

function tests.test_uniform()
  local rng = ladies.rng(12)
  statistics.assert_frequencies(statistics.count(4000, function()
    local pick = sampling.uniform(5, 2, {rng = rng})
    return (pick[1] - 1) * 4 + (pick[2] > pick[1] and pick[2] - 1 or pick[2])
  end), tables.repeated(200, 20))
  lu.assertEquals(sampling.uniform(4, 20, {rng = rng}):sort():to_table(), {1, 2, 3, 4})
  local many = sampling.uniform(3, 50, {rng = rng, replace = true})
  lu.assertEquals(#many, 50)
  lu.assertEquals(sampling.unique(many):sort():to_table(), {1, 2, 3})
  lu.assertEquals(#sampling.uniform(0, 0, {rng = rng}), 0)
  lu.assertErrorMsgContains("nothing to draw 1 times from", sampling.uniform, 0, 1,
    {rng = rng, replace = true})
  -- A uniform choice is the beginning of a permutation, without the cost of one.
  local at = rng:at(1)
  local order = sampling.permutation(50, at)
  for _, k in ipairs{1, 30, 50} do
    lu.assertTrue(sampling.uniform(50, k, {rng = at}) == order:slice(1, k))
  end
end

function tests.test_index_algebra()
  local a, b = ladies.index{5, 2, 9, 2}, ladies.index{9, 7, 5, 7}
  lu.assertEquals(sampling.unique(a):to_table(), {5, 2, 9})
  lu.assertEquals(sampling.union(a, b):to_table(), {5, 2, 9, 7})
  lu.assertEquals(sampling.find(a, b):to_table(), {3, 1})
  lu.assertEquals(#sampling.union(ladies.index{}, ladies.index{}), 0)
end

-- --- limits and errors --------------------------------------------------------------------------

function tests.test_nothing_to_draw()
  local rng = ladies.rng(1)
  for _, opts in ipairs{WOR, DEBIASED, WR, POISSON} do
    local pick, w = choose({0, 0, 0}, 0, opts, rng)
    lu.assertEquals({#pick, #w}, {0, 0})
    lu.assertEquals(#choose(ladies.zeros(0), 0, opts, rng), 0)
  end
  for _, draw in ipairs{"wor", "wr", "poisson"} do
    local pick, w = choose({0, 0, 0}, 2, {draw = draw, always = {3, 1}}, rng)
    lu.assertEquals({pick:to_table(), w:to_table()}, {{3, 1}, {1, 1}})
  end
end

local function fails(message, ...)
  lu.assertErrorMsgContains(message, choose, ...)
end

function tests.test_bad_probabilities()
  local rng = ladies.rng(1)
  fails("choice: a probability must be finite and at least 0, got -2 at position 3",
    {1, 1, -2, 1}, 1, WOR, rng)
  fails("got nan at position 1", {0 / 0, 1}, 1, WR, rng)
  fails("got inf at position 2", {1, math.huge}, 1, POISSON, rng)
  fails("choice: all 12 probabilities are zero", ladies.zeros(12), 1, WOR, rng)
  fails("choice: all 0 probabilities are zero", ladies.zeros(0), 3, WR, rng)
  fails("choice: all 3 probabilities are zero", ladies.zeros(3), 3, {always = {}}, rng)
  fails("choice: the probabilities must be a vector, got 3 x 2", ladies.zeros(3, 2), 1, WOR, rng)
  fails("passes float32: its probability is 1e-38 of a total of 3e+38", {3e38, 1e-38, 1e-38}, 2,
    WOR, rng)
end

function tests.test_bad_arguments()
  local rng, p = ladies.rng(1), {1, 2, 3}
  fails("choice: k must be at least 0, got -1", p, -1, WOR, rng)
  fails("choice: always: position 4 at position 2 is out of range 1..3", p, 1,
    {always = {1, 4}}, rng)
  fails("choice: always: position 0 at position 1 is out of range 1..3", p, 1, {always = {0}}, rng)
  fails("choice: always: position 2 occurs twice, at positions 1 and 3", p, 1,
    {always = {2, 1, 2}}, rng)
  fails("choice: debias is for draw wor", p, 1, {draw = "wr", debias = true}, rng)
  fails("choice: debias is for draw wor", p, 1, {draw = "poisson", debias = true}, rng)
  fails("choice: debias is for draw wor", p, 1, {union = "post", debias = true}, rng)
  fails("choice: union post is for draw wor alone", p, 1, {union = "post", draw = "wr"}, rng)
  fails("choice: draw must be wor, wr, poisson, systematic, pivotal or sampford, got wrong", p, 1,
    {draw = "wrong"}, rng)
  fails("choice: union must be pre or post, got 3", p, 1, {union = 3}, rng)
  fails('choice: unknown option "drw"; did you mean "draw"?', p, 1, {drw = "wr"}, rng)
  fails("choice: the option rng is missing", p, 1, WOR, nil)
  lu.assertErrorMsgContains("Tensor or Alias expected, got table", choice, p, 1, {rng = rng})
  lu.assertErrorMsgContains("choice: rng must be of class Rng, got 7", choice,
    ladies.tensor(p), 1, {rng = 7})
  lu.assertErrorMsgContains("choice: always must be of class Index", choice, ladies.tensor(p), 1,
    {rng = rng, always = {1}})
  lu.assertErrorMsgContains("alias: all 3 probabilities are zero", sampling.alias, ladies.zeros(3))
  lu.assertErrorMsgContains("uniform: n must be", sampling.uniform, -1, 2, {rng = rng})
  lu.assertErrorMsgContains("uniform: nothing to draw 2 times from", sampling.uniform, 0, 2,
    {rng = rng, replace = true})
end

--- A Poisson draw of no positions is refused, because drawing again until there is one would never
-- end.
function tests.test_poisson_of_none()
  lu.assertErrorMsgContains("k must be a positive integer, got 0", sampling.poisson, ladies.ones(3),
    0, {rng = ladies.rng(1)})
end

return tests
