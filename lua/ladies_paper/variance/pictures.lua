--- The pictures of ladies_paper.variance: errors over samples and over the rows of a batch.

local plot = require "ladies.report.plot"
local results = require "ladies_paper.variance.results"
local statistics = require "ladies.report.statistics"

local pictures = {}

-- The four of the theory, and what is used in practice.
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

local function pictures_of(graph, opts)
  return {
    {name = "variance-" .. graph.file, log = "xy", x = "samples s", y = "relative error",
      title = graph.name .. ": one layer sampled; dashed, the bounds of Table 2",
      series = lines_of(graph, opts, 1, false)},
    {name = "variance-rows-" .. graph.file, log = "xy", x = "rows in a batch's sampled layers",
      y = "relative error", title = graph.name .. ": two layers, at equal memory",
      series = lines_of(graph, opts, 2, true)},
  }
end

--- Draws the pictures of all graphs into a folder; returns their files, and the first of every
-- graph as text. graph.file is what its files are called by; graph.pictures becomes their files and
-- titles.
function pictures.draw(folder, graphs, opts)
  local files, texts = {}, {}
  for _, graph in ipairs(graphs) do
    graph.pictures = {}
    for i, picture in ipairs(pictures_of(graph, opts)) do
      local name = picture.name
      picture.name = nil
      for _, file in ipairs(plot.files(folder:file(name), picture)) do
        files[#files + 1] = file
        if file:find "%.svg$" then table.insert(graph.pictures, {file, picture.title}) end
      end
      picture.width, picture.height = 96, 28
      if i == 1 then texts[#texts + 1] = plot.text(picture) end
    end
  end
  return files, texts
end

return pictures
