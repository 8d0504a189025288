--- Reads the numbers that experiments.paper.variance has measured at a graph's points, relative to
-- the graph's signal. A graph is {name =, facts =, points = {{estimator =, samples =, layers =,
-- record =}, ...}}.

local measure = require "experiments.paper.variance.measure"
local statistics = require "ladies.statistics"

local results = {}

--- Returns the mean of a list of a record, over the graph's signal, and half its 95 % interval.
function results.relative(graph, record, field)
  local list = record[field]
  return statistics.mean(list) / graph.facts.signal,
    statistics.half_width(list) / graph.facts.signal
end

--- An error below this, beside the embeddings, is rounding in single precision.
results.ROUNDING = 1e-9

--- Returns the bound of a point over the graph's signal, or nil.
function results.bound(graph, point)
  local bound = measure.bounds[point.estimator.bound]
  local value = bound and bound(graph.facts, point.samples)
  return value and value / graph.facts.signal
end

--- Returns the point of an estimator's name, samples and layers, or nil.
function results.find(graph, name, samples, layers)
  for _, point in ipairs(graph.points) do
    if point.estimator.name == name and point.samples == samples and point.layers == layers then
      return point
    end
  end
end

--- Returns the error of a point over its bound, and half the 95 % interval of that; zero where the
-- error is rounding.
function results.over_bound(graph, point)
  local mean, half = results.relative(graph, point.record, "error")
  if mean < results.ROUNDING then return 0, 0 end
  local bound = results.bound(graph, point)
  return mean / bound, half / bound
end

--- Returns the points of one estimator with so many layers, by rising s.
function results.line(graph, estimator, layers)
  local list = {}
  for _, point in ipairs(graph.points) do
    if point.estimator == estimator and point.layers == layers then list[#list + 1] = point end
  end
  table.sort(list, function(a, b) return a.samples < b.samples end)
  return list
end

-- A mean needs so many connected draws where most draws are not connected.
local FEW = 100

--- Tells whether the draws of a point rarely had an entry in every layer, and too rarely in all for
-- its mean: the error comes from draws that were hardly ever seen, and is larger than it looks.
function results.too_few(point)
  local connected = 0
  for _, n in ipairs(point.record.connected) do connected = connected + n end
  return connected < math.min(FEW, #point.record.connected * point.draws / 2)
end

return results
