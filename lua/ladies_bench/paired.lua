--- Two pieces of work timed in turn, now the one first and now the other, so that both meet the
-- same machine: their ratio holds where a single time would not.

local core = require "ladies_core"
local statistics = require "ladies.report.statistics"

local paired = {}

local LEAST_SECONDS = 1e-3           -- of a measurement, for clock and caches
local MOST_REPEATS, LEAST_ROUNDS, MOST_ROUNDS = 64, 3, 400

--- The time in seconds by which work is timed: with one thread that of the processor for this
-- program, in which nothing of others is.
function paired.clock()
  return core.threads() == 1 and os.clock() or core.clock()
end

-- The seconds of f(), repeated: what it returns where that is a number, what passes otherwise.
local function seconds_of(f, times)
  local sum = 0
  for _ = 1, times do
    local began = paired.clock()
    local own = f()
    sum = sum + (own or paired.clock() - began)
  end
  return sum / times
end

-- Calls f to warm up, and returns how often it is to be repeated for one measurement.
local function repeats(f)
  local seconds = seconds_of(f, 1)
  if seconds < 0.1 then seconds = seconds_of(f, 2) end
  return math.max(1, math.min(MOST_REPEATS, math.ceil(LEAST_SECONDS / math.max(1e-9, seconds))))
end

--- paired.measure(f, g, seconds): lists of the seconds of f() and of g(), an entry each for every
-- round: as many rounds as there is time for, three at least. A function that returns a number has
-- measured itself: that is its seconds.
function paired.measure(f, g, seconds)
  local began = core.clock()
  local of_f, of_g, times_f, times_g = {}, {}, repeats(f), repeats(g)
  for i = 1, MOST_ROUNDS do
    if i > LEAST_ROUNDS and core.clock() - began > seconds then break end
    if i % 2 == 0 then of_g[i] = seconds_of(g, times_g) end
    of_f[i] = seconds_of(f, times_f)
    of_g[i] = of_g[i] or seconds_of(g, times_g)
  end
  return of_f, of_g
end

-- The value below which the share q of an ascending list lies.
local function quantile(ordered, q)
  local place = 1 + q * (#ordered - 1)
  local below = math.floor(place)
  local above = math.min(#ordered, below + 1)
  return ordered[below] + (place - below) * (ordered[above] - ordered[below])
end

--- The middle of a list and how far it spreads, plain data: {median =, low =, high =} with the
-- quartiles, and {from =, to =}, a 95 % interval of the median.
function paired.spread(list)
  local ordered = table.move(list, 1, #list, 1, {})
  table.sort(ordered)
  local from, to = statistics.median_interval(list)
  return {median = quantile(ordered, 0.5), low = quantile(ordered, 0.25),
    high = quantile(ordered, 0.75), from = from, to = to}
end

--- The spread of the ratios above[i] / below[i], each times `scale` (1).
function paired.ratio(above, below, scale)
  local list = {}
  for i, x in ipairs(above) do list[i] = (scale or 1) * x / below[i] end
  return paired.spread(list)
end

--- The ratio of the smallest of `above` to the smallest of `below`, times `scale` (1): what is left
-- of others on a busy machine when both had a quiet moment.
function paired.best(above, below, scale)
  return (scale or 1) * math.min(table.unpack(above)) / math.min(table.unpack(below))
end

return paired
