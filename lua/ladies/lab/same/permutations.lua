--- Tests by permutations whether the paired numbers of two samples have the same distribution. It
-- tests many numbers at once, and is exact for any distribution of the numbers and any dependence
-- between them.
--
-- Units i of two samplers x and y, in groups that share their seeds, have K numbers each. If x and
-- y are the same in distribution, x_i and y_i may change places, which changes the sign of d_i =
-- x_i - y_i. There are two statistics for each number k, over all units and by group:
--     |sum over i of s_i d_ik| / sqrt(sum of d_ik^2)      s_i = 1 as found, +-1 at random
--     sum over groups of (sum over the group's i of s_i d_ik)^2, brought to unit variance
-- The second sees differences whose sign the seeds decide. The p-value of k is the share of all s
-- in which the largest of all statistics reaches that of k (Westfall and Young, "Resampling-Based
-- Multiple Testing", 1993, single-step max-T): the chance that any number of two equal samplers is
-- below a level is at most that level.

local core = require "ladies_core"

local permutations = {}

-- The size of differences, relative to the numbers, below which they are taken for rounding.
local ROUNDING = 1e-5

-- Returns the differences x - y as a matrix with a row for each unit. Every column is divided by
-- its norm, so that all count alike; a column of nothing but rounding stays near 0.
local function differences(x, y)
  local n, columns = #x, #x[1]
  local rows = {}
  for i = 1, n do rows[i] = {} end
  for k = 1, columns do
    local squares, size = 0, 0
    for i = 1, n do
      local d = x[i][k] - y[i][k]
      rows[i][k], squares = d, squares + d * d
      size = size + x[i][k] ^ 2 + y[i][k] ^ 2
    end
    local length = math.sqrt(squares + ROUNDING ^ 2 * size)
    for i = 1, n do rows[i][k] = length > 0 and rows[i][k] / length or 0 end
  end
  return core.tensor(rows)
end

-- Standardises every column: subtracts its mean and divides by its standard deviation; a constant
-- column becomes 0.
local function standardised(t)
  local n = t.n_rows
  local mean = t:col_sums() / n
  local centred = t - mean
  local deviation = (centred:col_sums(2) / n):sqrt()
  return centred / (deviation + 1e-6)
end

-- Computes the two statistics for each row of `signs` and each column of d.
local function statistics_of(signs, d, n_groups)
  local size = d.n_rows // n_groups
  local total, squares
  for g = 1, n_groups do
    local first, last = (g - 1) * size + 1, g * size
    local part = signs:slice_cols(first, last):matmul(d:slice(first, last))
    local square = part:square()
    total, squares = total and total + part or part, squares and squares + square or square
  end
  -- The cube root of a sum of squares is close to normal (Wilson and Hilferty 1931).
  return total:abs(), standardised((squares + 1e-12) ^ (1 / 3))
end

--- permutations.test(x, y, n_groups, level, rng): x and y are arrays of units, arrays of K numbers
-- each, unit i of x beside that of y, group after group of equal size. Returns arrays with an
-- element for each number: its p-value, multiple comparisons accounted for; its statistic; and
-- whether that is the one by group.
function permutations.test(x, y, n_groups, level, rng)
  local trials = math.ceil(2 / level)
  local signs = core.zeros(trials, #x):normal_(1, rng):above(0) * 2 - 1
  signs:copy_rows_(core.index{1}, core.ones(1, #x))
  local over_all, by_group = statistics_of(signs, differences(x, y), n_groups)
  local found, apart = over_all:slice(1, 1):to_table()[1], by_group:slice(1, 1):to_table()[1]
  local largest = core.where(over_all:above(by_group), over_all, by_group):max(2)
  local ps, strengths, by_groups = {}, {}, {}
  for k = 1, #found do
    by_groups[k] = apart[k] > found[k]
    strengths[k] = math.max(found[k], apart[k])
    ps[k] = largest:above(strengths[k] - 1e-5):sum():item() / trials
  end
  return ps, strengths, by_groups
end

return permutations
