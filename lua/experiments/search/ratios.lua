--- Ratios of error x time between points of the search, with intervals that hold for all that are
-- compared at once.

local medians = require "ladies.statistics.medians"
local statistics = require "ladies.statistics"

local ratios = {}

--- The error of the gradient: bias² and variance together.
ratios.ERROR = "gradient.error"

--- ratios.level(tries): the level of each of `tries` intervals, all of which hold at once with 95 %
-- (Bonferroni).
function ratios.level(tries) return 1 - 0.05 / tries end

-- Returns the ratio of the means of two lists with its interval of a level.
local function of_means(above, below, level)
  local value, half = statistics.ratio(above, below)
  local n = math.min(#above, #below) - 1
  half = half * statistics.student(level, n) / statistics.student(0.95, n)
  return {mean = value, low = math.max(0, value - half), high = value + half}
end

-- Returns the median of the ratios of a point's seconds to those of LADIES, with its interval.
local function seconds_of(record, level)
  local low, high = medians.bounds(record.ratios, level)
  return {mean = medians.of(record.ratios), low = low, high = high}
end

--- ratios.of(record, other, level): error x time of a point's record over that of another's, on the
-- same graph and rung: {mean =, low =, high =}. Both met the same sets of seeds; the seconds of
-- both were measured beside LADIES. The interval is the product of those of the three factors, each
-- of which misses with a third of the probability.
function ratios.of(record, other, level)
  local each = 1 - (1 - level) / 3
  local error = of_means(record.columns[ratios.ERROR], other.columns[ratios.ERROR], each)
  local own, its = seconds_of(record, each), seconds_of(other, each)
  return {mean = error.mean * own.mean / its.mean, low = error.low * own.low / its.high,
    high = error.high * own.high / its.low}
end

--- ratios.beside_ladies(record, ladies, level): the same where the other one is LADIES, whose
-- seconds are the unit.
function ratios.beside_ladies(record, ladies, level)
  local each = 1 - (1 - level) / 2
  local error = of_means(record.columns[ratios.ERROR], ladies.columns[ratios.ERROR], each)
  local own = seconds_of(record, each)
  return {mean = error.mean * own.mean, low = error.low * own.low, high = error.high * own.high}
end

--- ratios.score(records): what points are ranked by: the mean over the graphs of the logarithm of
-- error x time; the least is the best. nil where it failed on one.
function ratios.score(records)
  local sum = 0
  for _, record in ipairs(records) do
    if record.failure then return nil end
    local error = statistics.mean(record.columns[ratios.ERROR])
    sum = sum + math.log(math.max(error, 1e-12) * medians.of(record.ratios))
  end
  return sum / #records
end

return ratios
