--- The few statistics that tests of random things need.
local lu = require "luaunit"

local M = {}

-- The standard normal's quantile at 1 - 1e-6. A file of tests makes about a hundred comparisons at
-- this level, so that a right program fails one of them for one choice of seeds in 10,000.
local Z = 4.753

-- The chi-square statistic of counts against expected counts, and its bound at significance 1e-6
-- (Wilson and Hilferty's approximation). Cells that expect fewer than five are put together.
local function chi_square(counts, expected)
  local statistic, cells, rest_count, rest_expected = 0, 0, 0, 0
  local function add(count, mean)
    statistic, cells = statistic + (count - mean) ^ 2 / mean, cells + 1
  end
  for outcome, mean in pairs(expected) do
    local count = counts[outcome] or 0
    if mean >= 5 then
      add(count, mean)
    else
      rest_count, rest_expected = rest_count + count, rest_expected + mean
    end
  end
  if rest_expected >= 5 then add(rest_count, rest_expected) end
  local free = cells - 1
  if free < 1 then return 0, 1 end
  return statistic, free * (1 - 2 / (9 * free) + Z * math.sqrt(2 / (9 * free))) ^ 3
end

--- Asserts that outcomes came about as often as expected. Both tables map outcomes to counts;
-- `counts` may lack an outcome that never came, and must have none that `expected` lacks. `what`
-- says what was counted.
function M.assert_frequencies(counts, expected, what)
  what = what and what .. ": " or ""
  for outcome in pairs(counts) do
    lu.assertNotNil(expected[outcome], ("%sno such outcome: %s"):format(what, outcome))
  end
  local statistic, bound = chi_square(counts, expected)
  lu.assertTrue(statistic < bound, ("%schi-square %g, bound %g"):format(what, statistic, bound))
end

--- Asserts that n outcomes came, and all about as often. `counts` maps outcomes to counts.
function M.assert_equally_likely(counts, n, what)
  local draws, seen, expected = 0, 0, {}
  for _, count in pairs(counts) do draws, seen = draws + count, seen + 1 end
  lu.assertEquals(seen, n, what)
  for outcome in pairs(counts) do expected[outcome] = draws / n end
  M.assert_frequencies(counts, expected, what)
end

--- Asserts that the outcomes in a list have the probabilities of `expected`, which sum to 1.
function M.assert_probabilities(list, expected, what)
  local means, total = {}, 0
  for outcome, probability in pairs(expected) do
    means[outcome], total = probability * #list, total + probability
  end
  lu.assertAlmostEquals(total, 1, 1e-9)
  M.assert_frequencies(M.count(#list, function(i) return list[i] end), means, what)
end

--- Calls draw(i) -> outcome, details for i = 1 .. draws. Returns how often each outcome came, and
-- the details that it came with first.
function M.count(draws, draw)
  local counts, details = {}, {}
  for i = 1, draws do
    local outcome, about = draw(i)
    counts[outcome] = (counts[outcome] or 0) + 1
    details[outcome] = details[outcome] or about
  end
  return counts, details
end

--- A running mean with its standard error (Welford): add(x); mean(), standard_error().
function M.running()
  local n, mean, squares = 0, 0, 0
  return {
    add = function(x)
      n = n + 1
      local d = x - mean
      mean = mean + d / n
      squares = squares + d * (x - mean)
    end,
    mean = function() return mean end,
    standard_error = function() return math.sqrt(squares / (n * (n - 1))) end,
  }
end

return M
