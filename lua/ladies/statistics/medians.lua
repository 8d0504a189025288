--- Computes medians and quantiles of repeated measurements, with confidence intervals. Times are
-- summarized by medians, since a few runs that were slowed down by other work hardly change these.

local medians = {}

-- Returns a copy of a list, sorted in ascending order.
local function sorted(list)
  local copy = table.move(list, 1, #list, 1, {})
  table.sort(copy)
  return copy
end

-- Returns the q-quantile of an ascending list, interpolated between the two nearest elements.
local function quantile(ordered, q)
  local place = 1 + q * (#ordered - 1)
  local below = math.floor(place)
  local above = math.min(#ordered, below + 1)
  return ordered[below] + (place - below) * (ordered[above] - ordered[below])
end

--- Returns the median of a list of numbers; nil for an empty one.
function medians.of(list)
  local n = #list
  if n == 0 then return nil end
  local ordered = sorted(list)
  return (ordered[(n + 1) // 2] + ordered[n // 2 + 1]) / 2
end

--- Returns a confidence interval for the median of the distribution from which a list of
-- independent numbers was drawn, without assumptions on that distribution: the k-th smallest and
-- the k-th largest number, with the largest k for which they enclose the median with probability
-- `level` (0.95) at least, 1 - 2 P(X < k) for X binomial with n trials of probability 1/2. Where
-- none does, at 0.95 with five numbers or fewer, it is the smallest and the largest, which enclose
-- it less often: with 1 - 2^(1 - n).
function medians.bounds(list, level)
  local n, ordered = #list, sorted(list)
  local outside = (1 - (level or 0.95)) / 2
  -- The logarithm of P(X = k), which is itself 0 in a number for a thousand trials.
  local term, below, k = n * math.log(0.5), 0, 0
  while k < (n + 1) // 2 and below + math.exp(term) <= outside do
    below, k = below + math.exp(term), k + 1
    term = term + math.log((n - k + 1) / k)
  end
  k = math.max(1, k)
  return ordered[k], ordered[n + 1 - k]
end

--- Returns the median of a list with its 95 % interval, in the form in which statistics.interval
-- returns a mean: {mean = the median, low =, high =, n =}.
function medians.interval(list)
  local low, high = medians.bounds(list)
  return {mean = medians.of(list), low = low, high = high, n = #list}
end

--- Returns the median of a list and its spread as plain data: {median =, low =, high =} with the
-- quartiles, and {from =, to =}, the 95 % interval of the median.
function medians.spread(list)
  local ordered = sorted(list)
  local from, to = medians.bounds(list)
  return {median = quantile(ordered, 0.5), low = quantile(ordered, 0.25),
    high = quantile(ordered, 0.75), from = from, to = to}
end

--- Returns the median and spread (see medians.spread) of the ratios above[i] / below[i], each times
-- `scale` (1), of two lists that were measured in turns.
function medians.ratio(above, below, scale)
  local list = {}
  for i, x in ipairs(above) do list[i] = (scale or 1) * x / below[i] end
  return medians.spread(list)
end

--- Formats a result of medians.spread as "1.23 (1.10 to 1.40)", its median and its quartiles;
-- `format` is that of one number ("%.2f").
function medians.text(spread, format)
  format = format or "%.2f"
  return (format .. " (" .. format .. " to " .. format .. ")"):format(spread.median, spread.low,
    spread.high)
end

return medians
