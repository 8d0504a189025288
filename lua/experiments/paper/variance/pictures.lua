--- Draws the pictures of experiments.paper.variance: errors over samples and over the rows of a
-- batch.

local results = require "experiments.paper.variance.results"
local run_folder = require "ladies.training.record.run_folder"
local statistics = require "ladies.statistics"

-- The estimators that pictures show: the four that the theory is about, and LADIES as it is used in
-- practice.
local IN_PICTURES = {
  graphsage = "GraphSAGE", vrgcn = "VR-GCN", fastgcn = "FastGCN", ladies = "LADIES",
  ["ladies-wor-row"] = "LADIES, in use",
}

-- Lines of a picture: the errors with their intervals, over s or over the rows of a batch, and the
-- bounds of one layer, without points that are only rounding, or of too few draws.
local function lines_of(graph, opts, layers, over_rows)
  local series, colour = {}, 0
  for _, estimator in ipairs(opts.estimators) do
    local name = IN_PICTURES[estimator.name] or opts.samplers[estimator.name] and estimator.title
    local line = results.line(graph, estimator, estimator.two_layer_only and 2 or layers)
    if name and #line > 0 then
      local points, bounds = {}, {}
      for _, point in ipairs(line) do
        local mean, half = results.relative(graph, point.record, "error")
        local x = over_rows and statistics.mean(point.record.rows) or point.samples
        if mean > results.ROUNDING and not results.too_few(point) then
          points[#points + 1] = {x, mean, mean - half, mean + half}
        end
        bounds[#bounds + 1] = {x, results.bound(graph, point)}
      end
      colour = colour + 1
      series[#series + 1] = {name = name, points = points, style = "both", colour = colour}
      if layers == 1 and estimator.bound and bounds[1][2] then
        series[#series + 1] = {name = "", points = bounds, style = "dashed", colour = colour}
      end
    end
  end
  return series
end

--- Adds the pictures of a graph to a report.
return function(report, graph, opts)
  local file = run_folder.plain(graph.name)
  report:picture("variance-" .. file, {log = "xy", x = "samples s", y = "relative error",
    title = graph.name .. ": one layer sampled; dashed, the bounds of Table 2",
    series = lines_of(graph, opts, 1, false)}, true)
  report:picture("variance-rows-" .. file, {log = "xy", x = "rows in a batch's sampled layers",
    y = "relative error", title = graph.name .. ": two layers, at equal memory",
    series = lines_of(graph, opts, 2, true)})
end
