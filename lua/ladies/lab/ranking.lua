--- Variance times cost, the one number by which samplers rank at an equal budget: in a given time a
-- sampler makes 1 / cost as many mini-batches, and the variance of their mean is variance * cost /
-- time. Bias is not in it, for no number of mini-batches takes that away: it is told beside it.

local cost = require "ladies.lab.cost"
local measure = require "ladies.lab.measure"
local student = require "ladies.lab.student"

local ranking = {}

-- Variances that are ranked by.
local OF = {{"gradient", "gradient of the loss"}, {"embedding", "embedding"}}

-- What the number says, and how much bias it leaves out.
local function sentence_of(bias)
  local told = "What is left of the variance after a second of mini-batches, times 1,000"
  local x = bias and #bias > 1 and student.interval(bias)
  if not x or x.low <= measure.ROUNDING then return told .. "." end
  return ("%s; the bias² / signal of %.3g is left besides, whatever the time."):format(told, x.mean)
end

--- The findings of a sample (see ladies.lab.measure) and the columns of ladies.lab.cost: variance
-- times milliseconds of sampling and step. The intervals of both factors are multiplied end by end,
-- so that of the product is no narrower than it should be.
function ranking.of(sample, columns)
  local list, seconds = {}, cost.median(columns.seconds)
  for _, one in ipairs(OF) do
    local column = sample.columns[one[1] .. ".variance"]
    if column and #column > 1 then
      local x = student.interval(column)
      list[#list + 1] = {key = "ranking." .. one[1], section = "ranking", format = "%.4g",
        label = one[2] .. ": variance times ms a batch", scale = 1e3,
        mean = x.mean * seconds.mean, low = math.max(0, x.low) * seconds.low,
        high = x.high * seconds.high, n = #column,
        sentence = sentence_of(sample.columns[one[1] .. ".bias"])}
    end
  end
  return list
end

return ranking
