--- Writes the report of experiments.paper.variance: its tables, pictures and notes.

local add_pictures = require "experiments.paper.variance.pictures"
local json = require "ladies.base.json"
local provenance = require "ladies.report.provenance"
local results = require "experiments.paper.variance.results"
local statistics = require "ladies.statistics"
local Table = require "ladies.report.table"
local tables = require "ladies.base.tables"
local variance_tables = require "experiments.paper.variance.tables"

local INTRO = [[
What is measured: E‖Z̃ − Z‖²_F / b, the error of an estimated embedding (variance and bias²), of
batches of %s drawn from the whole graph, means over %d batches and %s draws of each (how many in
all is in variance.csv), with 95 %% intervals over the batches. The network is Z = P H W₂,
H = ReLU(P X W₁ + b₁), K = %d, after %d steps of training; P is "%s"; VR-GCN's history is %d steps
old. All numbers are relative to ‖Z‖²_F / V: 1 is as wrong as an estimate of zero. The bounds are
those of Table 2, from φ, Δφ, D, ‖P‖²_F and V̄(b) of the same graph. LADIES and FastGCN are those of
the theory: independent draws, rows not normalised. %s

A "?" in the tables: most draws have no entry in some layer and fewer than 100 in all have. Such a
mean says nothing, as the error comes from draws that were hardly ever seen; no power of s is fitted
to it, and nothing is concluded from it.]]

local RATIOS = [[
The error of FastGCN over that of LADIES. With one layer sampled both are a constant over s, so
their ratio depends on the batch alone. Computed without any draw, from means over batches of b
nodes, with 95 % intervals:]]

-- Says how large batches are, "b = 512 nodes", and which graphs have fewer nodes than that.
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

-- Says how many draws a batch has, "16", or "4 to 512" where that differs between points.
local function draws_text(graphs)
  local least, most = math.huge, 0
  for _, graph in ipairs(graphs) do
    for _, point in ipairs(graph.points) do
      least, most = math.min(least, point.draws), math.max(most, point.draws)
    end
  end
  return least == most and ("%d"):format(least) or ("%d to %d"):format(least, most)
end

-- Makes a sentence of the points that a statement leaves out, or nothing where there are none.
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

-- Returns a table with a line for each point.
local function numbers_of(graphs)
  local all = Table.new{"graph", "method", "layers", "samples", "rows", "error", "error_half",
    "variance", "variance_half", "bias2", "bias2_half", "bound", "signal", "draws", "connected"}
  local function short(x) return x and ("%.9g"):format(x) or "" end
  for _, graph in ipairs(graphs) do
    local signal = graph.facts.signal
    for _, point in ipairs(graph.points) do
      local record, n, connected = point.record, #point.record.connected, 0
      for _, met in ipairs(record.connected) do connected = connected + met end
      local row = {graph.name, point.estimator.name, point.layers, point.samples,
        json.number(statistics.mean(record.rows))}
      for _, field in ipairs{"error", "variance", "bias"} do
        local mean, half = results.relative(graph, record, field)
        row[#row + 1], row[#row + 2] = short(mean * signal), short(half * signal)
      end
      local bound = results.bound(graph, point)
      all:add(tables.append(row, {short(bound and bound * signal), short(signal), point.draws * n,
        ("%.0f"):format(connected)}))
    end
  end
  return all
end

local function add_ratios(report, graphs, opts)
  local ratios, not_below, n = variance_tables.ratios(graphs, opts)
  if not ratios then return end
  local sizes, exceptions, n_sizes = variance_tables.sizes(graphs)
  report:heading "LADIES against FastGCN"
  report:text(RATIOS)
  report:table(sizes)
  report:text(("So with one layer, and any s, the mean error of LADIES over such batches is below "
    .. "that of FastGCN, by 95 %% intervals, at %d of these %d b below V.%s A batch that is the "
    .. "whole graph makes the two the same."):format(n_sizes - #exceptions, n_sizes,
    unless(exceptions)))
  report:text "Measured, b and draws as above:"
  report:table(ratios)
  report:text(("The error of LADIES is below that of FastGCN, by 95 %% intervals, at %d of %d "
    .. "points.%s"):format(n - #not_below, n, unless(not_below)))
end

local function add_bounds(report, graphs, opts)
  local bounds, verdict = variance_tables.bounds(graphs, opts)
  if not bounds then return end
  report:heading "Errors over the bounds"
  report:table(bounds)
  report:text(("The bounds are about one sampled layer (for VR-GCN both): there the error is not "
    .. "above its bound, by 95 %% intervals, at %d of %d points%s.%s With two sampled layers "
    .. "errors may exceed them."):format(verdict.n - #verdict.not_below, verdict.n,
    verdict.greatest and (", and the greatest ratio is %.3g"):format(verdict.greatest) or "",
    unless(verdict.not_below)))
end

--- Fills a report. graphs: array of {name =, facts =, points =
-- {{estimator =, samples =, layers =, record =}, ...}}.
return function(report, graphs, opts)
  report:text(INTRO:format(size_text(graphs, opts.batch_size), opts.batches, draws_text(graphs),
    opts.hidden, opts.steps, opts.normalize, opts.lag,
    provenance.measurements(records_of(graphs))))
  report:table(variance_tables.facts(graphs))
  add_ratios(report, graphs, opts)
  add_bounds(report, graphs, opts)
  for _, graph in ipairs(graphs) do
    report:heading(graph.name)
    for _, pair in ipairs(variance_tables.errors(graph, opts)) do
      report:text(pair[1])
      report:table(pair[2])
    end
    add_pictures(report, graph, opts)
  end
  report:csv(numbers_of(graphs))
end
