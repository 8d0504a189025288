--- What ladies_paper.variance found, as files: Markdown, CSV and pictures.

local core = require "ladies_core"
local json = require "ladies.base.json"
local markdown = require "ladies.report.markdown"
local pictures = require "ladies_paper.variance.pictures"
local provenance = require "ladies.report.provenance"
local results = require "ladies_paper.variance.results"
local run_folder = require "ladies.training.run_folder"
local statistics = require "ladies.report.statistics"
local tables = require "ladies_paper.variance.tables"

local report = {}

local Report = {__name = "ladies_paper.variance.Report"}

--- The tables, and the plots as text.
function Report.__tostring(self)
  return self.tables .. "\n" .. table.concat(self.plots, "\n")
end

local INTRO = [[
## Table 2, measured: the error of sampled embeddings

What is measured: E‖Z̃ − Z‖²_F / b, the error of an estimated embedding (variance and bias²), of
batches of %s drawn from the whole graph, means over %d batches and %s draws of each (points.csv has
how many in all), with 95 %% intervals over the batches. The network is Z = P H W₂,
H = ReLU(P X W₁ + b₁), K = %d, after %d steps of training; P is "%s"; VR-GCN's history is %d steps
old. All numbers are relative to ‖Z‖²_F / V: 1 is as wrong as an estimate of zero. The bounds are
those of Table 2, from φ, Δφ, D, ‖P‖²_F and V̄(b) of the same graph. LADIES and FastGCN are those of
the theory: independent draws, rows not normalised. %s

A "?" in the tables: most draws have no entry in some layer and fewer than 100 in all have. Such a
mean says nothing, as the error comes from draws that were hardly ever seen; no power of s is fitted
to it, and nothing is concluded from it.]]

local RATIOS = [[
### LADIES against FastGCN

The error of FastGCN over that of LADIES. With one layer sampled both are a constant over s, so
their ratio depends on the batch alone. Computed without any draw, from means over batches of b
nodes, with 95 % intervals:]]

-- "512 nodes", and which graphs have fewer.
local function size_text(graphs, b)
  local whole = {}
  for _, graph in ipairs(graphs) do
    if graph.facts.nodes < b then
      whole[#whole + 1] = ("%s, which has %d"):format(graph.name, graph.facts.nodes)
    end
  end
  return ("b = %d nodes%s"):format(b, #whole == 0 and ""
    or (" (all of " .. table.concat(whole, ", and all of ") .. ")"))
end

-- "16", or "4 to 512": of a batch, over all points.
local function draws_text(graphs)
  local least, most = math.huge, 0
  for _, graph in ipairs(graphs) do
    for _, point in ipairs(graph.points) do
      least, most = math.min(least, point.draws), math.max(most, point.draws)
    end
  end
  return least == most and ("%d"):format(least) or ("%d to %d"):format(least, most)
end

-- A list of exceptions as a sentence, or nothing.
local function unless(list)
  return #list > 0 and " That is not shown at: " .. table.concat(list, "; ") .. "." or ""
end

local function records_of(graphs)
  local list = {}
  for _, graph in ipairs(graphs) do
    list[#list + 1] = graph.facts
    for _, point in ipairs(graph.points) do list[#list + 1] = point.record end
  end
  return list
end

local function csv(graphs)
  local lines = {"graph,method,layers,samples,rows,error,error_half,variance,variance_half,bias2,"
    .. "bias2_half,bound,signal,draws,connected"}
  for _, graph in ipairs(graphs) do
    local signal = graph.facts.signal
    for _, point in ipairs(graph.points) do
      local cells = {graph.name, point.estimator.name, point.layers, point.samples,
        json.number(statistics.mean(point.record.rows))}
      for _, field in ipairs{"error", "variance", "bias"} do
        local mean, half = results.relative(graph, point.record, field)
        cells[#cells + 1] = ("%.9g"):format(mean * signal)
        cells[#cells + 1] = ("%.9g"):format(half * signal)
      end
      local bound = results.bound(graph, point)
      cells[#cells + 1] = bound and ("%.9g"):format(bound * signal) or ""
      cells[#cells + 1] = ("%.9g"):format(signal)
      local drawn = point.draws * #point.record.connected
      cells[#cells + 1] = drawn
      cells[#cells + 1] = ("%.0f"):format(statistics.mean(point.record.connected)
        * #point.record.connected)
      lines[#lines + 1] = table.concat(cells, ",")
    end
  end
  return table.concat(lines, "\n") .. "\n"
end

local function write_markdown(graphs, opts)
  local parts = {}
  local function add(text, ...)
    parts[#parts + 1] = select("#", ...) > 0 and text:format(...) or text
  end
  add(INTRO, size_text(graphs, opts.batch_size), opts.batches, draws_text(graphs), opts.hidden,
    opts.steps, opts.normalize, opts.lag, provenance.measurements(records_of(graphs)))
  add(tables.facts(graphs))
  local ratios, not_below, n = tables.ratios(graphs, opts)
  if ratios then
    add(RATIOS)
    local sizes, exceptions, n_sizes = tables.sizes(graphs)
    add(sizes)
    add("So with one layer, and any s, the mean error of LADIES over such batches is below that of "
      .. "FastGCN, by 95 %% intervals, at %d of these %d b below V.%s A batch that is the whole "
      .. "graph makes the two the same.", n_sizes - #exceptions, n_sizes, unless(exceptions))
    add("Measured, b and draws as above:")
    add(ratios)
    add("The error of LADIES is below that of FastGCN, by 95 %% intervals, at %d of %d points.%s",
      n - #not_below, n, unless(not_below))
  end
  local bounds, verdict = tables.bounds(graphs, opts)
  if bounds then
    add "### Errors over the bounds"
    add(bounds)
    add("The bounds are about one sampled layer (for VR-GCN both): there the error is not above "
      .. "its bound, by 95 %% intervals, at %d of %d points%s.%s With two sampled layers errors "
      .. "may exceed them.", verdict.n - #verdict.not_below, verdict.n,
      verdict.greatest and (", and the greatest ratio is %.3g"):format(verdict.greatest) or "",
      unless(verdict.not_below))
  end
  for _, graph in ipairs(graphs) do
    add("### " .. markdown.text(graph.name))
    add(tables.errors(graph, opts))
    for _, picture in ipairs(graph.pictures) do
      add("![%s](%s)", picture[2], picture[1])
    end
  end
  return table.concat(parts, "\n\n") .. "\n"
end

--- Writes points.csv, variance.md and the pictures into the folder; returns the report. graphs:
-- array of {name =, facts =, points = {{estimator =, samples =, layers =, record =}, ...}}.
function report.write(folder, graphs, opts)
  for _, graph in ipairs(graphs) do graph.file = run_folder.plain(graph.name) end
  local files, texts = pictures.draw(folder, graphs, opts)
  local text = write_markdown(graphs, opts)
  core.file.write(folder:file "points.csv", csv(graphs))
  core.file.write(folder:file "variance.md", text)
  table.move(files, 1, #files, 3)
  files[1], files[2] = "variance.md", "points.csv"
  return setmetatable({
    folder = folder.path, files = files, tables = text, plots = texts,
  }, Report)
end

return report
