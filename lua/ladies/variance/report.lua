--- What ladies.variance found, as tables (Markdown, CSV) and pictures.

local core = require "ladies_core"
local json = require "ladies.json"
local markdown = require "ladies.markdown"
local measure = require "ladies.variance.measure"
local plot = require "ladies.plot"
local statistics = require "ladies.statistics"

local report = {}

local Report = {__name = "ladies.variance.Report"}

--- The tables, and the plots as text.
function Report.__tostring(self)
  return self.tables .. "\n" .. table.concat(self.plots, "\n")
end

-- ---------------------------------------------------------------- one point

-- The mean of a list of a record, over the graph's signal, and half its 95 % interval.
local function relative(graph, record, field)
  local list = record[field]
  return statistics.mean(list) / graph.facts.signal,
    statistics.half_width(list) / graph.facts.signal
end

-- What is less than this, beside the embeddings, is rounding in single precision.
local ROUNDING = 1e-9

local function error_text(graph, point)
  local mean, half = relative(graph, point.record, "error")
  return mean < ROUNDING and "0" or ("%.3g ± %.2g"):format(mean, half)
end

-- The bound of a point over the graph's signal, or nil.
local function bound_of(graph, point)
  local bound = measure.bounds[point.estimator.bound]
  local value = bound and bound(graph.facts, point.samples)
  return value and value / graph.facts.signal
end

local function find(graph, name, samples, layers)
  for _, point in ipairs(graph.points) do
    if point.estimator.name == name and point.samples == samples and point.layers == layers then
      return point
    end
  end
end

-- The points of one estimator with so many layers, by rising s.
local function line_of(graph, estimator, layers)
  local list = {}
  for _, point in ipairs(graph.points) do
    if point.estimator == estimator and point.layers == layers then list[#list + 1] = point end
  end
  table.sort(list, function(a, b) return a.samples < b.samples end)
  return list
end

-- ---------------------------------------------------------------- tables

local FACTS = {
  {"nodes V", "nodes", "%d"}, {"entries of P", "entries", "%d"}, {"D", "degree", "%.2f"},
  {"‖P‖²_F / V", function(f) return f.norm / f.nodes end, "%.4f"}, {"V̄(b)", "touched", "%.0f"},
  {"φ", "phi", "%.4g"}, {"Δφ", "delta_phi", "%.3g"}, {"‖Z‖²_F / V", "signal", "%.4g"},
}

local function facts_table(graphs)
  local rows = {{"graph"}}
  for j, fact in ipairs(FACTS) do rows[1][j + 1] = fact[1] end
  for i, graph in ipairs(graphs) do
    rows[i + 1] = {graph.name}
    for j, fact in ipairs(FACTS) do
      local get, f = fact[2], graph.facts
      rows[i + 1][j + 1] = fact[3]:format(type(get) == "string" and f[get] or get(f))
    end
  end
  return markdown.table(rows)
end

local function head(first, opts, last)
  local row = {first}
  for _, s in ipairs(opts.samples) do row[#row + 1] = ("s = %d"):format(s) end
  row[#row + 1] = last
  return row
end

-- A row for each estimator, a column for each s: text_of(point), "-" where it is not measured.
local function table_of(graph, opts, layers, text_of, last, last_of)
  local rows = {head("", opts, last)}
  for _, estimator in ipairs(opts.estimators) do
    local line = line_of(graph, estimator, layers)
    if #line > 0 then
      local row, by_samples = {estimator.title}, {}
      for _, point in ipairs(line) do by_samples[point.samples] = point end
      for _, s in ipairs(opts.samples) do
        row[#row + 1] = by_samples[s] and text_of(by_samples[s]) or "-"
      end
      if last_of then row[#row + 1] = last_of(graph, line) end
      rows[#rows + 1] = row
    end
  end
  return markdown.table(rows)
end

-- The fitted power of s in the errors of a line, where they are more than rounding.
local function power_text(graph, line)
  local points = {}
  for _, point in ipairs(line) do
    local value = relative(graph, point.record, "error")
    if value > ROUNDING then points[#points + 1] = {point.samples, value} end
  end
  if #points < 2 then return "-" end
  local power, spread = statistics.power(points)
  return ("%.2f"):format(power) .. (spread and (" ± %.2f"):format(spread) or "")
end

local function error_tables(graph, opts)
  local parts = {}
  for layers = 1, 2 do
    parts[#parts + 1] = layers == 1 and "One layer sampled, above an exact H:" or "Two layers:"
    parts[#parts + 1] = table_of(graph, opts, layers, function(point)
      return error_text(graph, point)
    end, "power of s", power_text)
  end
  parts[#parts + 1] = "Share of bias² in the error of two layers, and the rows that they hold:"
  parts[#parts + 1] = table_of(graph, opts, 2, function(point)
    local all, bias = relative(graph, point.record, "error"), relative(graph, point.record, "bias")
    local share = all > ROUNDING and math.max(0, bias / all) or 0
    return ("%.0f %%, %.0f"):format(100 * share, statistics.mean(point.record.rows))
  end)
  return table.concat(parts, "\n\n")
end

-- Errors over bounds, and the greatest of those that the theory is about: of one layer, and of
-- VR-GCN, whose other layer is exact.
local function bounds_table(graphs, opts)
  local rows, greatest = {head("error / bound", opts)}, 0
  for _, graph in ipairs(graphs) do
    for _, estimator in ipairs(opts.estimators) do
      for layers = 1, 2 do
        local line = estimator.bound and line_of(graph, estimator, layers) or {}
        if line[1] and bound_of(graph, line[1]) then
          local row = {("%s, %s, %d layer%s"):format(graph.name, estimator.title, layers,
            layers == 1 and "" or "s")}
          local by_samples = {}
          for _, point in ipairs(line) do
            local bound = bound_of(graph, point)
            local ratio = bound > 0 and relative(graph, point.record, "error") / bound or 0
            by_samples[point.samples] = ("%.2g"):format(ratio)
            if layers == 1 or estimator.two_layer_only then greatest = math.max(greatest, ratio) end
          end
          for _, s in ipairs(opts.samples) do row[#row + 1] = by_samples[s] or "-" end
          rows[#rows + 1] = row
        end
      end
    end
  end
  return markdown.table(rows), greatest
end

--- The mean of the numbers `above` over that of `below`, which belong to the same batches, and half
-- the 95 % interval of the ratio (by the delta method); nil where the mean below is zero.
function report.ratio(above, below)
  local mean, rest = statistics.mean(below), {}
  if mean == 0 then return nil end
  local ratio = statistics.mean(above) / mean
  for i, value in ipairs(above) do rest[i] = value - ratio * below[i] end
  return ratio, statistics.half_width(rest) / mean
end

local function ratio_text(ratio, half)
  return half > 0 and ("%.2f ± %.2f"):format(ratio, half) or ("%.2f"):format(ratio)
end

-- The table of the errors of FastGCN over those of LADIES, the points at which LADIES is not
-- certainly below, and how many points there are; nil where one of the two is not measured.
local function ratio_table(graphs, opts)
  local rows, not_below, n = {head("FastGCN / LADIES", opts)}, {}, 0
  for _, graph in ipairs(graphs) do
    for layers = 1, 2 do
      local where = ("%s, %d layer%s"):format(graph.name, layers, layers == 1 and "" or "s")
      local row = {where}
      for _, s in ipairs(opts.samples) do
        local fastgcn, own = find(graph, "fastgcn", s, layers), find(graph, "ladies", s, layers)
        if not fastgcn or not own then return nil end
        local ratio, half = report.ratio(fastgcn.record.error, own.record.error)
        row[#row + 1] = ratio and ratio_text(ratio, half) or "-"
        n = n + 1
        if ratio and ratio - half <= 1 then
          not_below[#not_below + 1] = ("%s, s = %d (%s)"):format(where, s,
            ratio + half < 1 and "above" or "not separated")
        end
      end
      rows[#rows + 1] = row
    end
  end
  return markdown.table(rows), not_below, n
end

-- The same ratio, exact for one layer and any s, over the batch size.
local function size_table(graphs)
  local sizes, seen, rows = {}, {}, {{"FastGCN / LADIES, exact"}}
  for _, graph in ipairs(graphs) do
    for _, one in ipairs(graph.facts.sizes) do
      local whole = one.size == graph.facts.nodes
      if not whole and not seen[one.size] then
        sizes[#sizes + 1], seen[one.size] = one.size, true
      end
    end
  end
  table.sort(sizes)
  for _, size in ipairs(sizes) do table.insert(rows[1], ("b = %d"):format(size)) end
  table.insert(rows[1], "b = V")
  for _, graph in ipairs(graphs) do
    local row, by_size = {graph.name}, {}
    for _, one in ipairs(graph.facts.sizes) do
      by_size[one.size] = ratio_text(report.ratio(one.fastgcn, one.ladies))
    end
    for _, size in ipairs(sizes) do row[#row + 1] = by_size[size] or "-" end
    row[#row + 1] = by_size[graph.facts.nodes]
    rows[#rows + 1] = row
  end
  return markdown.table(rows)
end

-- ---------------------------------------------------------------- pictures

-- The four of the theory, and what is used in practice.
local IN_PICTURES = {
  graphsage = "GraphSAGE", vrgcn = "VR-GCN", fastgcn = "FastGCN", ladies = "LADIES",
  ["ladies-wor-row"] = "LADIES, in use",
}

-- Lines of a picture: the errors with their intervals, over s or over the rows of a batch, and the
-- bounds of one layer. What is only rounding has no place on a logarithmic axis.
local function lines_of(graph, opts, layers, over_rows)
  local series, colour = {}, 0
  for _, estimator in ipairs(opts.estimators) do
    local name = IN_PICTURES[estimator.name] or opts.samplers[estimator.name] and estimator.title
    local line = line_of(graph, estimator, estimator.two_layer_only and 2 or layers)
    if name and #line > 0 then
      local points, bounds = {}, {}
      for _, point in ipairs(line) do
        local mean, half = relative(graph, point.record, "error")
        local x = over_rows and statistics.mean(point.record.rows) or point.samples
        if mean > ROUNDING then points[#points + 1] = {x, mean, mean - half, mean + half} end
        bounds[#bounds + 1] = {x, bound_of(graph, point)}
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

-- Draws all pictures; returns their files, and the first of every graph as text.
local function draw(folder, graphs, opts)
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

-- ---------------------------------------------------------------- files

local INTRO = [[
What is measured: E‖Z̃ − Z‖²_F / b, the error of an estimated embedding (variance and bias²), of
batches of b = %d nodes drawn from the whole graph, means over %d batches and %d draws of each, with
95 %% intervals over the batches. The network is Z = P H W₂, H = ReLU(P X W₁ + b₁), K = %d, after %d
steps of training; P is "%s"; VR-GCN's history is %d steps old. All numbers are relative to
‖Z‖²_F / V: 1 is as wrong as an estimate of zero. The bounds are those of Table 2, from φ, Δφ, D,
‖P‖²_F and V̄(b) of the same graph. LADIES and FastGCN are those of the theory: independent draws,
rows not normalised.]]

local RATIOS = [[
### LADIES against FastGCN

How many times the error of LADIES that of FastGCN is. With one layer sampled both errors are a
constant over s, so their ratio depends on the batch alone. Computed without any draw, from means
over batches of b nodes, with 95 % intervals:]]

local MEASURED_RATIOS = [[
A batch that is the whole graph makes the two the same. Measured, b and draws as above:]]

local function csv(graphs)
  local lines = {"graph,method,layers,samples,rows,error,error_half,variance,variance_half,bias2,"
    .. "bias2_half,bound,signal"}
  for _, graph in ipairs(graphs) do
    local signal = graph.facts.signal
    for _, point in ipairs(graph.points) do
      local cells = {graph.name, point.estimator.name, point.layers, point.samples,
        json.number(statistics.mean(point.record.rows))}
      for _, field in ipairs{"error", "variance", "bias"} do
        local mean, half = relative(graph, point.record, field)
        cells[#cells + 1] = ("%.9g"):format(mean * signal)
        cells[#cells + 1] = ("%.9g"):format(half * signal)
      end
      local bound = bound_of(graph, point)
      cells[#cells + 1] = bound and ("%.9g"):format(bound * signal) or ""
      cells[#cells + 1] = ("%.9g"):format(signal)
      lines[#lines + 1] = table.concat(cells, ",")
    end
  end
  return table.concat(lines, "\n") .. "\n"
end

-- The Markdown of everything, and the part of it that is printed.
local function write_markdown(graphs, opts)
  local parts = {}
  local function add(text, ...)
    parts[#parts + 1] = select("#", ...) > 0 and text:format(...) or text
  end
  add(INTRO, opts.batch_size, opts.batches, opts.draws, opts.hidden, opts.steps, opts.normalize,
    opts.lag)
  add(facts_table(graphs))
  local ratios, not_below, n = ratio_table(graphs, opts)
  if ratios then
    add(RATIOS)
    add(size_table(graphs))
    add(MEASURED_RATIOS)
    add(ratios)
    add("The error of LADIES is below that of FastGCN, by 95 %% intervals, at %d of %d points.%s",
      n - #not_below, n,
      #not_below > 0 and " It is not at: " .. table.concat(not_below, "; ") .. "." or "")
  end
  local bounds, greatest = bounds_table(graphs, opts)
  add "### Errors over the bounds"
  add(bounds)
  add("The bounds are about one sampled layer (for VR-GCN both): there the greatest ratio is %.3g, "
    .. "%s. With two sampled layers errors may exceed them.", greatest,
    greatest <= 1 and "so all of them hold" or "so they do not all hold")
  for _, graph in ipairs(graphs) do
    add("### " .. graph.name)
    add(error_tables(graph, opts))
    for _, picture in ipairs(graph.pictures) do
      add("![%s](%s)", picture[2], picture[1])
    end
  end
  return table.concat(parts, "\n\n") .. "\n"
end

--- Writes points.csv, variance.md and the pictures into the folder; returns the report. graphs:
-- array of {name =, facts =, points = {{estimator =, samples =, layers =, record =}, ...}}.
function report.write(folder, graphs, opts)
  for _, graph in ipairs(graphs) do graph.file = graph.name:match "[^/]*$":gsub("%.npz$", "") end
  local files, texts = draw(folder, graphs, opts)
  local tables = write_markdown(graphs, opts)
  core.file.write(folder:file "points.csv", csv(graphs))
  core.file.write(folder:file "variance.md", tables)
  table.move(files, 1, #files, 3)
  files[1], files[2] = "variance.md", "points.csv"
  return setmetatable({
    folder = folder.path, files = files, tables = tables, plots = texts,
  }, Report)
end

return report
