--- Tests series of numbers, one for each random draw in the order of the draws, for a mean above 0
-- and for periods.

local statistics = require "ladies.statistics"

local series = {}

-- The largest value of t to which Johnson's correction is applied. It is meant for values that
-- chance may give; larger ones get the correction of this one.
local MOST = 6

--- series.p_above(list) -> p, largest: returns the p-value of the hypothesis that the mean is at
-- most 0, by Student's t with Johnson's correction for skewed numbers (JASA 1978): where few
-- numbers are far below the others, a sample that has met too few of these has too large a mean.
-- largest: the largest share of the sum of squares that one number has.
function series.p_above(list)
  local n = #list
  if n < 3 then return 1, 1 end
  local mean, s = statistics.mean(list), statistics.deviation(list)
  if s == 0 then return mean > 0 and 0 or 1, 1 / n end
  local third, squares, most = 0, 0, 0
  for _, x in ipairs(list) do
    third = third + ((x - mean) / s) ^ 3 / n
    squares, most = squares + x ^ 2, math.max(most, x ^ 2)
  end
  local t = math.sqrt(n) * mean / s
  t = t + math.min(0, third) * (1 + 2 * math.min(t, MOST) ^ 2) / (6 * math.sqrt(n))
  if t <= 0 then return 1, most / squares end
  return math.max(0, (1 - statistics.student_within(t, n - 1)) / 2), most / squares
end

-- Returns the power of a list at frequency j of n, by Goertzel's recurrence; half of it at the
-- highest frequency, whose square has one degree of freedom less.
local function power_of(list, mean, j, n)
  local w = 2 * math.cos(2 * math.pi * j / n)
  local before, last = 0, 0
  for k = 1, n do before, last = last, list[k] - mean + w * last - before end
  local power = last ^ 2 + before ^ 2 - w * last * before
  return 2 * j == n and power / 2 or power
end

--- Fisher's test for a period (Proceedings of the Royal Society A, 1929), by the largest share of a
-- series' squares that belongs to one frequency. It finds effects that come back every few numbers,
-- and drifts over all of them. Returns the p-value, an upper bound of it; the period in numbers;
-- and the mean square of the wave. The share of one frequency of white noise is above g with
-- probability (1 - g)^((n - 3) / 2): the highest one of an even n is half of a frequency.
function series.period(list)
  local n = #list
  local m = n // 2
  if m < 8 then return 1, n, 0 end
  local mean, sum, most, at = statistics.mean(list), 0, 0, 1
  for j = 1, m do
    local power = power_of(list, mean, j, n)
    sum = sum + power
    if power > most then most, at = power, j end
  end
  if sum <= 0 then return 1, n, 0 end
  return math.min(1, m * (1 - most / sum) ^ ((n - 3) / 2)), n / at, 2 * most / n ^ 2
end

--- Returns the effective share of a list's numbers, (sum x)^2 over n times the sum of squares,
-- which tells how many of them the sum rests on: it is 1 for equal numbers, and 1 / n where one
-- number is the whole sum.
function series.effective(list)
  local sum, squares = 0, 0
  for _, x in ipairs(list) do sum, squares = sum + x, squares + x ^ 2 end
  return squares > 0 and sum ^ 2 / squares / #list or 1
end

return series
