--- Computes the axes of charts: the place of each number on the page, and the ticks, the numbers
-- that are written along the axis.

-- Returns a width of steps, 1, 2 or 5 times a power of 10, of which about n make up `range`.
local function step_of(range, n)
  local power = 10 ^ math.floor(math.log(range / n, 10))
  for _, times in ipairs{1, 2, 5, 10} do
    if range / (times * power) <= n then return times * power end
  end
end

-- Returns the ticks of a linear axis from `low` to `high`, integers if the numbers shown are
-- integers and there are some.
local function linear_ticks(low, high, is_whole)
  local list, step = {}, step_of(high - low, 5)
  if is_whole and high - low >= 1 then step = math.max(1, step) end
  for i = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) do
    list[#list + 1] = i * step
  end
  return list
end

-- Returns the ticks of a logarithmic axis: powers of 10; if these are few, also their multiples by
-- 2 and 5; and linear ticks if there are still too few.
local function log_ticks(low, high)
  for _, multiples in ipairs{{1}, {1, 2, 5}} do
    local list = {}
    for power = math.floor(math.log(low, 10)), math.ceil(math.log(high, 10)) do
      for _, times in ipairs(multiples) do
        local x = times * 10.0 ^ power
        if x >= low * (1 - 1e-9) and x <= high * (1 + 1e-9) then list[#list + 1] = x end
      end
    end
    if #list >= 3 then return list end
  end
  return linear_ticks(low, high)
end

-- Returns the bounds of an axis that shows the numbers from `low` to `high`, with a margin.
local function bounds_of(low, high, opts)
  if opts.is_log then
    if low == high then low, high = low / 2, high * 2 end
    local margin = (high / low) ^ 0.04
    return low / margin, high * margin
  end
  local has_zero = opts.zero and low >= 0 and (low == high or low <= 0.75 * high)
  if low == high then low, high = low - 0.5, high + 0.5 end
  local margin = 0.04 * (high - low)
  return has_zero and 0 or low - margin, high + margin
end

--- Returns the axis for an array of numbers, which must not be empty, between two places on the
-- page: {place = function(x), ticks = array, low =, high =}. opts:
-- is_log   logarithmic, of positive numbers
-- zero     a linear one of numbers that are not negative begins at 0, unless three quarters
--          of it would be empty
-- range    {low, high}, either of them false or nil where the numbers decide; the other bound is
--          moved where they lie beyond the one that is given
-- ticks    the numbers that are written
return function(numbers, from, to, opts)
  local low, high, is_whole = math.huge, -math.huge, true
  for _, x in ipairs(numbers) do
    low, high, is_whole = math.min(low, x), math.max(high, x), is_whole and x % 1 == 0
  end
  low, high = bounds_of(low, high, opts)
  local range = opts.range or {}
  low, high = range[1] or low, range[2] or high
  if low >= high and range[1] then high = opts.is_log and 2 * low or low + 1 end
  if low >= high then low = opts.is_log and high / 2 or high - 1 end
  local function share(x)
    if opts.is_log then return math.log(x / low) / math.log(high / low) end
    return (x - low) / (high - low)
  end
  return {
    low = low, high = high, place = function(x) return from + (to - from) * share(x) end,
    ticks = opts.ticks or opts.is_log and log_ticks(low, high) or linear_ticks(low, high, is_whole),
  }
end
