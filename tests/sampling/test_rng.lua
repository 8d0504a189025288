--- Random numbers: bit by bit against a plain Philox4x32-10, which itself is checked against the
-- published vectors, and by their distribution.
local lu = require "luaunit"
local ladies = require "ladies"
local compare = require "reference.compare"
local philox = require "reference.philox"

local tests = {}

local SEEDS = {0, 1, 42, -1, math.maxinteger, math.mininteger}

local function key_of(rng)
  return tonumber(tostring(rng):match "^Rng (%x+),", 16)
end

local function draws(n, draw)
  local values = {}
  for i = 1, n do values[i] = draw(i) end
  return values
end

local function mean_of(values, f)
  local sum = 0
  for _, x in ipairs(values) do sum = sum + (f and f(x) or x) end
  return sum / #values
end

--- Random123's kat_vectors: counter, key, result.
function tests.test_known_answers_of_the_reference()
  local F = 0xffffffff
  lu.assertEquals(philox.block({0, 0, 0, 0}, {0, 0}),
    {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8})
  lu.assertEquals(philox.block({F, F, F, F}, {F, F}),
    {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd})
  lu.assertEquals(
    philox.block({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
    {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1})
end

function tests.test_keys()
  for _, seed in ipairs(SEEDS) do
    local rng = ladies.rng(seed)
    lu.assertEquals(key_of(rng), philox.seed(seed))
    for _, k in ipairs(SEEDS) do
      lu.assertEquals(key_of(rng:fork(k)), philox.fork(philox.seed(seed), k))
    end
  end
end

function tests.test_draws_are_those_of_the_reference()
  for _, seed in ipairs(SEEDS) do
    local rng, key = ladies.rng(seed), philox.seed(seed)
    for call = 0, 60, 3 do
      local bits = philox.bits(key, call, 0)
      lu.assertEquals(rng:uniform(), philox.uniform(bits))
      lu.assertEquals(rng:below(1 << 32), (philox.bits(key, call + 1, 0) >> 32) + 1)
      local r = philox.random(key, call + 2, 0)
      local u, v = philox.uniform(r[2] << 32 | r[1]), philox.uniform(r[4] << 32 | r[3])
      lu.assertAlmostEquals(rng:normal(), math.sqrt(-2 * math.log(u)) * math.cos(2 * math.pi * v),
        1e-12)
    end
  end
end

--- A tensor's element i is draw i of one sub-stream.
function tests.test_positions_within_a_sub_stream()
  local rng, key = ladies.rng(5), philox.seed(5)
  rng:uniform()
  local t = ladies.zeros(70000):uniform_(0, 1, rng)
  for i = 1, #t, 997 do
    lu.assertAlmostEquals(t[i], philox.uniform(philox.bits(key, 1, i - 1)), 1e-7)
  end
  lu.assertEquals(rng:uniform(), philox.uniform(philox.bits(key, 2, 0)))
end

--- Elements that are drawn together get the numbers that each would be given alone.
function tests.test_elements_drawn_together()
  for _, n in ipairs{1, 63, 64, 65, 200, 65537} do
    local ids = ladies.range(1, n)
    lu.assertTrue(ladies.zeros(n):uniform_(0, 1, ladies.rng(n)) == ladies.rng(n):uniform_of(ids))
  end
  local rng, key = ladies.rng(9), philox.seed(9)
  local t = ladies.zeros(300):normal_(1, rng)
  for i = 1, #t do
    local r = philox.random(key, 0, i - 1)
    local u, v = philox.uniform(r[2] << 32 | r[1]), philox.uniform(r[4] << 32 | r[3])
    local x = math.sqrt(-2 * math.log(u)) * math.cos(2 * math.pi * v)
    lu.assertAlmostEquals(t[i], x, 1e-6)
  end
end

function tests.test_fork_is_pure()
  local rng = ladies.rng(7)
  local before = tostring(rng:fork(3))
  local first = rng:uniform()
  lu.assertEquals(tostring(rng:fork(3)), before)
  lu.assertEquals(rng:fork(3):uniform(), rng:fork(3):uniform())
  lu.assertEquals(first, ladies.rng(7):uniform())   -- forking took no call of rng
  lu.assertNotEquals(rng:fork(3):uniform(), rng:fork(4):uniform())
  lu.assertNotEquals(tostring(rng:fork(1):fork(2)), tostring(rng:fork(2):fork(1)))
end

function tests.test_at_is_fixed()
  local rng = ladies.rng(7)
  local shared = rng:at(2)
  local first = shared:uniform()
  lu.assertEquals(first, philox.uniform(philox.bits(philox.seed(7), philox.at(2), 0)))
  lu.assertEquals(shared:uniform(), first)
  lu.assertEquals(rng:at(2):uniform(), first)
  rng:uniform()
  lu.assertEquals(rng:at(2):uniform(), first)
  lu.assertNotEquals(rng:at(3):uniform(), first)
  lu.assertEquals(ladies.zeros(9):normal_(1, shared):hash(),
    ladies.zeros(9):normal_(1, shared):hash())
end

--- Calls, shared sub-streams, children and other seeds all give different numbers.
function tests.test_streams_differ()
  local seen = {}
  local function note(x)
    lu.assertNil(seen[x], "drawn twice")
    seen[x] = true
  end
  for seed = 0, 9 do
    local rng = ladies.rng(seed)
    for k = 0, 99 do
      note(rng:uniform())
      note(rng:at(k):uniform())
      note(rng:fork(k):uniform())
    end
  end
end

function tests.test_uniform()
  local n, bins = 200000, 100
  local t = ladies.zeros(n):uniform_(0, 1, ladies.rng(11)):to_table()
  lu.assertAlmostEquals(mean_of(t), 0.5, 4 * math.sqrt(1 / 12 / n))
  lu.assertAlmostEquals(mean_of(t, function(x) return (x - 0.5) ^ 2 end), 1 / 12,
    4 * math.sqrt(1 / 180 / n))
  local counts = draws(bins, function() return 0 end)
  for _, x in ipairs(t) do
    local bin = math.min(bins, math.floor(x * bins) + 1)
    counts[bin] = counts[bin] + 1
  end
  local expected = n / bins
  local chi2 = mean_of(counts, function(c) return (c - expected) ^ 2 / expected end) * bins
  -- 99 degrees of freedom: mean 99, deviation 14
  lu.assertTrue(chi2 > 50 and chi2 < 165, "chi squared is " .. chi2)
end

function tests.test_uniform_of_successive_calls()
  local rng, n = ladies.rng(12), 20000
  local values = draws(n, function() return rng:uniform() end)
  lu.assertAlmostEquals(mean_of(values), 0.5, 4 * math.sqrt(1 / 12 / n))
  local covariance = 0
  for i = 2, n do covariance = covariance + (values[i] - 0.5) * (values[i - 1] - 0.5) end
  lu.assertAlmostEquals(covariance / n, 0, 4 / 12 / math.sqrt(n))
  for _, x in ipairs(values) do lu.assertTrue(x > 0 and x < 1) end
end

function tests.test_normal()
  local n = 200000
  local t = ladies.zeros(n):normal_(1, ladies.rng(13)):to_table()
  local function moment(k) return mean_of(t, function(x) return x ^ k end) end
  lu.assertAlmostEquals(moment(1), 0, 4 / math.sqrt(n))
  lu.assertAlmostEquals(moment(2), 1, 4 * math.sqrt(2 / n))
  lu.assertAlmostEquals(moment(3), 0, 4 * math.sqrt(15 / n))
  lu.assertAlmostEquals(moment(4), 3, 4 * math.sqrt(96 / n))
  -- P(|X| > x), to four deviations of its count.
  for x, p in pairs{[1] = 0.3173105, [2] = 0.0455003, [3] = 0.0026998, [4] = 0.0000633} do
    local share = mean_of(t, function(value) return math.abs(value) > x and 1 or 0 end)
    lu.assertAlmostEquals(share, p, 4 * math.sqrt(p / n), "beyond " .. x)
  end
end

function tests.test_normal_and_uniform_of_a_tensor()
  local rng = ladies.rng(14)
  local wide, narrow = ladies.zeros(20, 30):normal_(3, rng:at(1)), ladies.zeros(600)
  compare.assert_close(wide:reshape(600), narrow:normal_(1, rng:at(1)) * 3, 1e-6, "deviation 3")
  local t = ladies.zeros(1000):uniform_(-2, 5, rng)
  lu.assertTrue(t:min() >= -2 and t:max() <= 5)
  lu.assertTrue(t:min() < -1.9 and t:max() > 4.9)
end

function tests.test_below_is_unbiased()
  local rng, draws_each = ladies.rng(15), 4000
  for n = 1, 7 do
    local counts = draws(n, function() return 0 end)
    for _ = 1, draws_each * n do
      local x = rng:below(n)
      counts[x] = counts[x] + 1
    end
    for x, count in ipairs(counts) do
      lu.assertAlmostEquals(count, draws_each, 4.5 * math.sqrt(draws_each), n .. ": " .. x)
    end
  end
  lu.assertEquals(rng:below(1), 1)
  lu.assertTrue(rng:below(math.maxinteger) > 0)
end

function tests.test_errors()
  local rng = ladies.rng(1)
  lu.assertErrorMsgContains("must be positive", rng.below, rng, 0)
  lu.assertErrorMsgContains("must be positive", rng.below, rng, -3)
  lu.assertErrorMsgContains("number expected, got no value", ladies.rng)
  lu.assertErrorMsgContains("no integer representation", ladies.rng, 1.5)
  lu.assertErrorMsgContains('Rng has no field or method "unifrom"; did you mean "uniform"?',
    function() return rng.unifrom end)
  lu.assertErrorMsgContains("ladies.Rng expected, got number", rng.uniform, 3)
  lu.assertStrMatches(tostring(ladies.rng(3)), "Rng %x+, call 0")
  rng:uniform()
  lu.assertStrMatches(tostring(rng), "Rng %x+, call 1")
end

--- The uniform number of an id depends on the call and the id alone, in whatever company.
function tests.test_uniform_of_ids()
  local rng, key = ladies.rng(7), philox.seed(7)
  local ids = ladies.index{5, 1, 70000, 5}
  local first, second = rng:uniform_of(ids), rng:uniform_of(ids)
  for i = 1, #ids do
    lu.assertAlmostEquals(first[i], philox.uniform(philox.bits(key, 0, ids[i] - 1)), 1e-7)
    lu.assertAlmostEquals(second[i], philox.uniform(philox.bits(key, 1, ids[i] - 1)), 1e-7)
  end
  local shared = rng:at(3)
  local all = shared:uniform_of(ladies.range(1, 20000))
  lu.assertEquals(shared:uniform_of(ladies.index{900, 5, 0, 20000}):slice(1, 2):to_table(),
                  {all[900], all[5]})
  lu.assertTrue(all:min() > 0 and all:max() < 1)
end

--- The uniform numbers of ids are those that Poisson sampling compares for a column.
function tests.test_uniform_of_columns()
  local n, c = 200, 0.4
  local A = ladies.sparse(ladies.ones(1, n))
  local _, kept = A:poisson_rows(ladies.index{1}, ladies.tensor{c},
                                 {rng = ladies.rng(3):at(1), shared = true})
  local u = ladies.rng(3):at(1):uniform_of(ladies.range(1, n))
  lu.assertTrue(kept == u:below(c):positions())
end

return tests
