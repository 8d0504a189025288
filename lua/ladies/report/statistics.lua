--- Means and spreads of repeated runs, intervals, and powers fitted to points.

local tables = require "ladies.base.tables"

local statistics = {}

--- The mean of a list of numbers; nil for an empty one.
function statistics.mean(list)
  if #list == 0 then return nil end
  local sum = 0
  for _, x in ipairs(list) do sum = sum + x end
  return sum / #list
end

--- The standard deviation of a sample, with n - 1 below; 0 for a single number.
function statistics.deviation(list)
  local mean, sum = statistics.mean(list), 0
  for _, x in ipairs(list) do sum = sum + (x - mean) ^ 2 end
  return #list > 1 and math.sqrt(sum / (#list - 1)) or 0
end

-- An ascending copy of a list.
local function sorted(list)
  local copy = table.move(list, 1, #list, 1, {})
  table.sort(copy)
  return copy
end

--- The median of a list of numbers; nil for an empty one.
function statistics.median(list)
  local n = #list
  if n == 0 then return nil end
  local ordered = sorted(list)
  return (ordered[(n + 1) // 2] + ordered[n // 2 + 1]) / 2
end

--- An interval for the median of what a list of independent numbers was drawn from, whatever its
-- distribution: the k-th smallest and the k-th largest number, with the largest k for which they
-- enclose it with probability `level` (0.95) at least, 1 - 2 P(X < k) for X binomial with n halves.
-- With five numbers and less the smallest and the largest are all that there is.
function statistics.median_interval(list, level)
  local n, ordered = #list, sorted(list)
  local outside = (1 - (level or 0.95)) / 2
  local term, below, k = 0.5 ^ n, 0, 0
  while k < (n + 1) // 2 and below + term <= outside do
    below, k = below + term, k + 1
    term = term * (n - k + 1) / k
  end
  k = math.max(1, k)
  return ordered[k], ordered[n + 1 - k]
end

--- "76.5 ± 1.4": a number and its spread, each in its format (that of the number); the number alone
-- without a spread, "-" without a number.
function statistics.with_spread(value, spread, format, spread_format)
  if not value then return "-" end
  if not spread then return format:format(value) end
  return (format .. " ± " .. (spread_format or format)):format(value, spread)
end

--- The probability that Student's T with n degrees of freedom, a positive integer, has |T| <= t:
-- the finite sums of Abramowitz and Stegun, 26.7.3 and 26.7.4.
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

--- The t that |T| stays within with probability `level`.
function statistics.student(level, n)
  local low, high = 0, 1
  while statistics.student_within(high, n) < level do low, high = high, 2 * high end
  for _ = 1, 60 do
    local middle = (low + high) / 2
    if statistics.student_within(middle, n) < level then low = middle else high = middle end
  end
  return (low + high) / 2
end

--- Half the width of the 95 % interval by Student's t of the mean of n numbers with this deviation;
-- 0 for a single number.
function statistics.half_width_of(deviation, n)
  return n > 1 and statistics.student(0.95, n - 1) * deviation / math.sqrt(n) or 0
end

--- Half the width of the 95 % interval of a list's mean by Student's t; 0 for a single number.
function statistics.half_width(list)
  return statistics.half_width_of(statistics.deviation(list), #list)
end

--- The numbers that the records of a list have in a field, times `scale` (1); false where there is
-- none, or no record, which is false.
function statistics.column(records, field, scale)
  return tables.map(records, function(record)
    return record and record[field] and (scale or 1) * record[field] or false
  end)
end

--- The numbers of a list without its holes, which are false.
function statistics.present(list)
  local found = {}
  for _, x in ipairs(list) do found[#found + 1] = x or nil end
  return found
end

--- a[i] - b[i] for all i at which both lists have a number; false is none.
function statistics.differences(a, b)
  local list = {}
  for i, x in ipairs(a) do list[#list + 1] = x and b[i] and x - b[i] or nil end
  return list
end

--- The mean of the numbers `above` over that of `below`, and half the 95 % interval of the ratio by
-- the delta method (0 for single numbers); nil where the mean below is zero. Numbers at the same
-- place belong to the same batch; what one list has beyond the end of the other has none.
function statistics.ratio(above, below)
  local above_mean, below_mean = statistics.mean(above), statistics.mean(below)
  if below_mean == 0 then return nil end
  local ratio, n = above_mean / below_mean, math.min(#above, #below)
  if n < 2 then return ratio, 0 end
  local variance, offset = 0, above_mean * (1 / #above - 1 / #below)
  for i = 1, math.max(#above, #below) do
    -- What this place adds to the mean above less `ratio` times that below: 0, without rounding,
    -- where it is all the same ratio.
    local x, y = above[i] or above_mean, below[i] or below_mean
    local off = (x * #below - ratio * y * #above) / (#above * #below) - offset
    variance = variance + off ^ 2 * n / (n - 1)
  end
  return ratio, statistics.student(0.95, n - 1) * math.sqrt(variance) / math.abs(below_mean)
end

--- The power b of y = a x^b by least squares between the logarithms, and its standard error (nil
-- with two points). points: array of {x, y}, all positive, with two different x at least.
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
  return power, n > 2 and math.sqrt(rest / ((n - 2) * xx)) or nil
end

return statistics
