--- Turns the records of repeated runs into the points of ladies.plot: F1s in percent, {x, mean,
-- low, high, values = those of the runs}.

local statistics = require "ladies.statistics"
local tables = require "ladies.base.tables"

local points = {}

local function point(x, values, half_width)
  local mean = statistics.mean(values)
  return {x, mean, mean - half_width, mean + half_width, values = values}
end

--- Makes points of the traces of `records`, one at every validation as far as all runs went: F1 on
-- a part of the split ("train", "val" or "test") against "batch" or "seconds", the mean of the
-- runs' times; none where the data set has no such part. The spread is one standard deviation each
-- way.
function points.of_traces(records, part, axis)
  local list, length = {}, #records > 0 and math.huge or 0
  for _, record in ipairs(records) do
    local there = record.trace[1] and record.trace[1][part]
    length = there and math.min(length, #record.trace) or 0
  end
  for i = 1, length do
    local xs, f1s = {}, {}
    for j, record in ipairs(records) do
      xs[j], f1s[j] = record.trace[i][axis], 100 * record.trace[i][part]
    end
    list[i] = point(statistics.mean(xs), f1s, statistics.deviation(f1s))
  end
  return list
end

--- Returns a series for each case: points.of_traces of its records.
function points.curves(cases, part, axis)
  return tables.map(cases, function(case)
    return {name = case.title, points = points.of_traces(case.records, part, axis)}
  end)
end

--- {least, greatest} x of the points of all series; nil where there are none.
function points.x_range(series)
  local low, high = math.huge, -math.huge
  for _, one in ipairs(series) do
    for _, at in ipairs(one.points) do low, high = math.min(low, at[1]), math.max(high, at[1]) end
  end
  return low <= high and {low, high} or nil
end

--- One point at x: the test F1 of the models that runs have kept, with the 95 % interval of its
-- mean; nil without any.
function points.of_kept(records, x)
  local f1s = statistics.present(statistics.column(records, "test_f1", 100))
  if #f1s == 0 then return nil end
  return point(x, f1s, statistics.half_width(f1s))
end

--- Returns a series for each method of the cases, over the case's `field`: points.of_kept of each
-- of them. name(case) is what the series is called.
function points.by_method(cases, field, name)
  local series, of = {}, {}
  for _, case in ipairs(cases) do
    local at, title = points.of_kept(case.records, case[field]), name(case)
    if at then
      if not of[title] then
        of[title] = {name = title, points = {}, style = "both", spread = "bars"}
        series[#series + 1] = of[title]
      end
      table.insert(of[title].points, at)
    end
  end
  return series
end

return points
