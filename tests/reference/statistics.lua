--- The few statistics that tests of random things need.

local M = {}

-- The standard normal's quantile at 1 - 1e-6. A file of tests makes about a hundred comparisons at
-- this level, so that a right program fails one of them for one choice of seeds in 10,000.
local Z = 4.753

--- The chi-square statistic of counts against expected counts, and its bound at significance 1e-6
-- (Wilson and Hilferty's approximation). Cells that expect fewer than five are put together.
function M.chi_square(counts, expected)
  local statistic, cells, rest_count, rest_expected = 0, 0, 0, 0
  local function add(count, mean)
    statistic, cells = statistic + (count - mean) ^ 2 / mean, cells + 1
  end
  for i, mean in ipairs(expected) do
    if mean >= 5 then
      add(counts[i], mean)
    else
      rest_count, rest_expected = rest_count + counts[i], rest_expected + mean
    end
  end
  if rest_expected >= 5 then add(rest_count, rest_expected) end
  local free = cells - 1
  if free < 1 then return 0, 1 end
  return statistic, free * (1 - 2 / (9 * free) + Z * math.sqrt(2 / (9 * free))) ^ 3
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
