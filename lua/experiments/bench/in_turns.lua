--- Measures the processor seconds of several kinds of work in turns, round by round, so that a
-- machine that becomes slower slows all of them. Wall-clock time would include what else the
-- machine does.

local medians = require "ladies.statistics.medians"
local tables = require "ladies.base.tables"

local function interval_of(ratios)
  return tables.merged(medians.interval(ratios), {ratios = ratios})
end

--- in_turns(measures, rounds): measures[i](round) gives a list of seconds, such as those of the
-- sampling and of the step of a mini-batch. Returns, for each measure and each number of its list,
-- the median over the rounds of the ratio to that of the first measure, {mean =, low =, high =,
-- n =, ratios = the list} with a 95 % interval: found[i][k]. The order of a round is the reverse
-- of that before; one round goes ahead to warm up.
return function(measures, rounds)
  local ratios = tables.map(measures, function() return {} end)
  for round = 0, rounds do
    local seconds = {}
    for place = 1, #measures do
      local i = round % 2 == 0 and place or #measures + 1 - place
      seconds[i] = measures[i](round)
    end
    for i, list in ipairs(round > 0 and seconds or {}) do
      for k, x in ipairs(list) do
        ratios[i][k] = ratios[i][k] or {}
        table.insert(ratios[i][k], x / seconds[1][k])
      end
    end
  end
  return tables.map(ratios, function(columns) return tables.map(columns, interval_of) end)
end
