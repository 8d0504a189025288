--- Ranks samplers for an equal time budget, by variance times cost: in a given time a sampler makes
-- time / cost mini-batches, whose mean has the variance variance * cost / time. More mini-batches
-- do not reduce the bias, which is reported beside it.

local measure = require "ladies.lab.error.measure"
local medians = require "ladies.statistics.medians"
local statistics = require "ladies.statistics"

local ranking = {}

-- The variances that are ranked.
local OF = {{"gradient", "gradient of the loss"}, {"embedding", "embedding"}}

-- Returns a sentence that says what the number means and how large the bias is that it does not
-- include.
local function sentence_of(bias, has_tails)
  if has_tails then
    return "Not to rank by: rare draws decide, of which these may have met too few."
  end
  local told = "What is left of the variance after a second of mini-batches, times 1,000"
  local x = bias and #bias > 1 and statistics.interval(bias)
  if not x or x.low <= measure.ROUNDING then return told .. "." end
  return ("%s; the bias² / signal of %.3g is left besides, whatever the time."):format(told, x.mean)
end

--- Returns the findings of variance times milliseconds of sampling and step, from a sample (see
-- ladies.lab.error.measure) and the columns of ladies.lab.cost. The intervals of both factors are
-- multiplied end by end, so that of the product is no narrower than it should be. has_tails:
-- whether the laboratory warns of heavy tails.
function ranking.of(sample, columns, has_tails)
  local list, seconds = {}, medians.interval(columns.seconds)
  for _, one in ipairs(OF) do
    local column = sample.columns[one[1] .. ".variance"]
    if column and #column > 1 then
      local x = statistics.interval(column)
      list[#list + 1] = {key = "ranking." .. one[1], section = "ranking", format = "%.4g",
        label = one[2] .. ": variance times ms a batch", scale = 1e3,
        mean = math.max(0, x.mean) * seconds.mean, low = math.max(0, x.low) * seconds.low,
        high = math.max(0, x.high) * seconds.high, n = #column,
        sentence = sentence_of(sample.columns[one[1] .. ".bias"], has_tails)}
    end
  end
  return list
end

return ranking
