--- Computes statistics of repeated measurements: means with their spread, confidence intervals and
-- tests by Student's t, ratios of means, and powers fitted to points. Medians are in
-- statistics/medians.lua.

local tables = require "ladies.base.tables"

local statistics = {}

--- Returns the mean of a list of numbers; nil for an empty one.
function statistics.mean(list)
  if #list == 0 then return nil end
  local sum = 0
  for _, x in ipairs(list) do sum = sum + x end
  return sum / #list
end

--- Returns the standard deviation of a sample, with n - 1 in the denominator; 0 for a single
-- number.
function statistics.deviation(list)
  local mean, sum = statistics.mean(list), 0
  for _, x in ipairs(list) do sum = sum + (x - mean) ^ 2 end
  return #list > 1 and math.sqrt(sum / (#list - 1)) or 0
end

--- Returns the probability that |T| <= t for Student's T with n degrees of freedom, a positive
-- integer, by the finite sums of Abramowitz and Stegun, 26.7.3 and 26.7.4.
function statistics.student_within(t, n)
  local angle = math.atan(t / math.sqrt(n))
  local sine, cosine = math.sin(angle), math.cos(angle)
  local odd = n % 2 == 1
  local term, sum = odd and cosine or 1, 0
  for k = odd and 3 or 2, n, 2 do
    sum = sum + term
    term = term * cosine ^ 2 * (k - 1) / k
  end
  return odd and 2 / math.pi * (angle + sine * sum) or sine * sum
end

--- Returns the quantile t of Student's T with n degrees of freedom for which |T| <= t has
-- probability `level`.
function statistics.student(level, n)
  local low, high = 0, 1
  while statistics.student_within(high, n) < level do low, high = high, 2 * high end
  for _ = 1, 60 do
    local middle = (low + high) / 2
    if statistics.student_within(middle, n) < level then low = middle else high = middle end
  end
  return (low + high) / 2
end

--- Returns half the width of the 95 % interval, by Student's t, of the mean of n numbers with this
-- standard deviation; 0 for a single number.
function statistics.half_width_of(deviation, n)
  return n > 1 and statistics.student(0.95, n - 1) * deviation / math.sqrt(n) or 0
end

--- Returns half the width of the 95 % interval of a list's mean by Student's t; 0 for a single
-- number.
function statistics.half_width(list)
  return statistics.half_width_of(statistics.deviation(list), #list)
end

--- Returns the mean of a list of independent numbers with its confidence interval by Student's t:
-- {mean =, low =, high =, n =}. Of a single number, and of equal ones, the interval is the number
-- itself.
function statistics.interval(list, level)
  local mean, deviation, n = statistics.mean(list), statistics.deviation(list), #list
  local half = deviation > 0
    and statistics.student(level or 0.95, n - 1) * deviation / math.sqrt(n) or 0
  return {mean = mean, low = mean - half, high = mean + half, n = n}
end

--- Returns the two-sided p-value, by Student's t, of the hypothesis that the list's numbers have
-- the mean `expected`; 1 where they all are `expected`, 0 where they all are another number. Fewer
-- than three numbers prove nothing: theirs is 1.
function statistics.p_value(list, expected)
  if #list < 3 then return 1 end
  local off, deviation, n = statistics.mean(list) - expected, statistics.deviation(list), #list
  if deviation == 0 then return off == 0 and 1 or 0 end
  return math.max(0, 1 - statistics.student_within(math.abs(off) * math.sqrt(n) / deviation, n - 1))
end

--- Adjusts p-values for multiple testing by Holm's method (Scandinavian Journal of Statistics,
-- 1979); returns them in the same order. If all hypotheses whose adjusted p-value is below a level
-- are rejected, the probability that any of them is true is below that level.
function statistics.holm(ps)
  local order, adjusted, most = {}, {}, 0
  for i = 1, #ps do order[i] = i end
  table.sort(order, function(a, b) return ps[a] < ps[b] or ps[a] == ps[b] and a < b end)
  for rank, i in ipairs(order) do
    most = math.max(most, math.min(1, ps[i] * (#ps - rank + 1)))
    adjusted[i] = most
  end
  return adjusted
end

--- Returns the list of the numbers that records have in a field, times `scale` (1). It has false
-- where a record is false or lacks the field.
function statistics.column(records, field, scale)
  return tables.map(records, function(record)
    return record and record[field] and (scale or 1) * record[field] or false
  end)
end

--- Returns the numbers of a list, leaving out elements that are false (missing).
function statistics.present(list)
  local found = {}
  for _, x in ipairs(list) do found[#found + 1] = x or nil end
  return found
end

--- Returns the differences a[i] - b[i] for all i at which both lists have a number and not false.
function statistics.differences(a, b)
  local list = {}
  for i, x in ipairs(a) do list[#list + 1] = x and b[i] and x - b[i] or nil end
  return list
end

--- Returns the ratio of two means, that of the numbers `above` over that of `below`, and half the
-- width of its 95 % interval by the delta method (0 for single numbers); nil where the mean below
-- is zero. Numbers at the same place of the lists are taken as a pair, of the same mini-batch for
-- example; the longer list's further numbers have no partner.
function statistics.ratio(above, below)
  local above_mean, below_mean = statistics.mean(above), statistics.mean(below)
  if below_mean == 0 then return nil end
  local ratio, n = above_mean / below_mean, math.min(#above, #below)
  if n < 2 then return ratio, 0 end
  local variance, offset = 0, above_mean * (1 / #above - 1 / #below)
  for i = 1, math.max(#above, #below) do
    -- The share of this place in the mean above less `ratio` times that below: 0, without rounding,
    -- where it is all the same ratio.
    local x, y = above[i] or above_mean, below[i] or below_mean
    local off = (x * #below - ratio * y * #above) / (#above * #below) - offset
    variance = variance + off ^ 2 * n / (n - 1)
  end
  return ratio, statistics.student(0.95, n - 1) * math.sqrt(variance) / math.abs(below_mean)
end

--- Fits y = a x^b to points by least squares between the logarithms; returns b and half of its 95 %
-- interval by Student's t (nil with two points). points: array of {x, y}, all positive, with two
-- different x at least.
function statistics.power(points)
  local n, xs, ys = #points, {}, {}
  for i, point in ipairs(points) do xs[i], ys[i] = math.log(point[1]), math.log(point[2]) end
  local x_mean, y_mean = statistics.mean(xs), statistics.mean(ys)
  local xx, xy, rest = 0, 0, 0
  for i = 1, n do
    xx, xy = xx + (xs[i] - x_mean) ^ 2, xy + (xs[i] - x_mean) * (ys[i] - y_mean)
  end
  local power = xy / xx
  for i = 1, n do rest = rest + (ys[i] - y_mean - power * (xs[i] - x_mean)) ^ 2 end
  if n < 3 then return power end
  return power, statistics.student(0.95, n - 2) * math.sqrt(rest / ((n - 2) * xx))
end

return statistics
