--- Makes the tables of experiments.paper.variance.

local counted = require("ladies.base.units").counted
local results = require "experiments.paper.variance.results"
local statistics = require "ladies.statistics"
local Table = require "ladies.report.table"
local tables = require "ladies.base.tables"

local variance_tables = {}

local function error_text(graph, point)
  local mean, half = results.relative(graph, point.record, "error")
  if mean < results.ROUNDING then return "0" end
  return (results.too_few(point) and "? " or "")
    .. Table.with_spread(mean, half, "%.3g", "%.2g")
end

-- Names an estimator with its layers: "FastGCN, 2 layers".
local function with_layers(name, layers)
  return ("%s, %s"):format(name, counted(layers, "layer"))
end

local FACTS = {
  {"nodes V", "nodes", "%d"}, {"entries of P", "entries", "%d"}, {"D", "degree", "%.2f"},
  {"‖P‖²_F / V", function(f) return f.norm / f.nodes end, "%.4f"}, {"V̄(b)", "touched", "%.0f"},
  {"φ", "phi", "%.4g"}, {"Δφ", "delta_phi", "%.3g"}, {"‖Z‖²_F / V", "signal", "%.4g"},
}

--- Makes the table of the facts of each graph from which its bounds are computed.
function variance_tables.facts(graphs)
  local all = Table.new(tables.append({"graph"},
    tables.map(FACTS, function(fact) return fact[1] end)))
  for _, graph in ipairs(graphs) do
    all:add(tables.append({graph.name}, tables.map(FACTS, function(fact)
      local get, f = fact[2], graph.facts
      return Table.number(type(get) == "string" and f[get] or get(f), fact[3])
    end)))
  end
  return all
end

-- Makes a table with a column for each number of samples s, and perhaps a last one.
local function over_samples(first, opts, last)
  local columns = tables.map(opts.samples, function(s) return ("s = %d"):format(s) end)
  return Table.new(tables.append({first}, tables.append(columns, {last})))
end

-- Makes a row of that table: text_of(point) for each point of a line, "-" where none was measured.
local function row_of(first, line, opts, text_of)
  local by_samples = tables.by_field(line, "samples")
  return tables.append({first}, tables.map(opts.samples, function(s)
    return by_samples[s] and text_of(by_samples[s]) or "-"
  end))
end

-- Makes a table with a row for each estimator: text_of(point) gives its cells, and last_of(graph,
-- line) the one in the last column.
local function table_of(graph, opts, layers, text_of, last, last_of)
  local all = over_samples("", opts, last)
  for _, estimator in ipairs(opts.estimators) do
    local line = results.line(graph, estimator, layers)
    if #line > 0 then
      all:add(tables.append(row_of(estimator.title, line, opts, text_of),
        {last_of and last_of(graph, line)}))
    end
  end
  return all
end

-- Returns the fitted power of s in the errors of a line as text, of those that are more than
-- rounding and of enough draws.
local function power_text(graph, line)
  local points = {}
  for _, point in ipairs(line) do
    local value = results.relative(graph, point.record, "error")
    if value > results.ROUNDING and not results.too_few(point) then
      points[#points + 1] = {point.samples, value}
    end
  end
  if #points < 2 then return "-" end
  local power, spread = statistics.power(points)
  return Table.with_spread(power, spread, "%.2f")
end

--- Returns the errors of a graph's estimators with one layer and with two, and how much of them is
-- bias: array of {text, table}.
function variance_tables.errors(graph, opts)
  local function error_of(point) return error_text(graph, point) end
  local function share_of(point)
    local all = results.relative(graph, point.record, "error")
    local bias = results.relative(graph, point.record, "bias")
    local share = all > results.ROUNDING and math.max(0, bias / all) or 0
    return ("%.0f %%, %.0f"):format(100 * share, statistics.mean(point.record.rows))
  end
  return {
    {"One layer sampled, above an exact H:",
      table_of(graph, opts, 1, error_of, "power of s", power_text)},
    {"Two layers:", table_of(graph, opts, 2, error_of, "power of s", power_text)},
    {"Share of bias² in the error of two layers, and the rows that they hold:",
      table_of(graph, opts, 2, share_of)},
  }
end

-- Says why a quantity is not certainly below 1, from its 95 % interval; nil where it is.
local function not_below_one(few, value, half)
  if few then return "too few draws connect" end
  if value + half <= 1 then return nil end
  return value - half > 1 and "above" or "not separated"
end

--- Errors over bounds, and a verdict about those of one layer, and of VR-GCN, whose other layer is
-- exact, as the theory has it: {n =, not_below =, greatest =}, how many there are, those that are
-- not certainly below their bounds, and the greatest ratio of enough draws (nil without any); nil
-- without any bound.
function variance_tables.bounds(graphs, opts)
  local all, verdict = over_samples("error / bound", opts), {n = 0, not_below = {}}
  -- Returns the error of a point over its bound as text; with `counts` the verdict takes it into
  -- account.
  local function ratio_of(graph, point, where, counts)
    local few, ratio, half = results.too_few(point), results.over_bound(graph, point)
    if counts then
      local why = not_below_one(few, ratio, half)
      verdict.n = verdict.n + 1
      if why then
        table.insert(verdict.not_below, ("%s, s = %d (%s)"):format(where, point.samples, why))
      end
      if not few then verdict.greatest = math.max(verdict.greatest or 0, ratio) end
    end
    return few and "?" or ("%.2g"):format(ratio)
  end
  for _, graph in ipairs(graphs) do
    for _, estimator in ipairs(opts.estimators) do
      for layers = 1, 2 do
        local line = estimator.bound and results.line(graph, estimator, layers) or {}
        if line[1] and results.bound(graph, line[1]) then
          local where = with_layers(("%s, %s"):format(graph.name, estimator.title), layers)
          all:add(row_of(where, line, opts, function(point)
            return ratio_of(graph, point, where, layers == 1 or estimator.two_layer_only)
          end))
        end
      end
    end
  end
  if #all.rows > 0 then return all, verdict end
end

local function ratio_text(ratio, half)
  return Table.with_spread(ratio, half and half > 0 and half, "%.2f")
end

-- Says why FastGCN's error over that of LADIES is not certainly above 1; nil where it is.
local function not_above_one(few, ratio, half)
  if few then return "too few draws connect" end
  if not ratio then return "no ratio, LADIES has no error" end
  if ratio - half > 1 then return nil end
  return ratio + half < 1 and "above" or "not separated"
end

--- Returns the table of the errors of FastGCN over those of LADIES, the points at which LADIES is
-- not certainly below, and how many points there are; nil where one of the two is not measured.
function variance_tables.ratios(graphs, opts)
  local all, not_below, n = over_samples("FastGCN / LADIES", opts), {}, 0
  for _, graph in ipairs(graphs) do
    for layers = 1, 2 do
      local where = with_layers(graph.name, layers)
      local row = {where}
      for _, s in ipairs(opts.samples) do
        local fastgcn = results.find(graph, "fastgcn", s, layers)
        local own = results.find(graph, "ladies", s, layers)
        if not fastgcn or not own then return nil end
        local ratio, half = statistics.ratio(fastgcn.record.error, own.record.error)
        local few = results.too_few(fastgcn) or results.too_few(own)
        local why = not_above_one(few, ratio, half)
        row[#row + 1], n = few and "?" or ratio_text(ratio, half), n + 1
        if why then not_below[#not_below + 1] = ("%s, s = %d (%s)"):format(where, s, why) end
      end
      all:add(row)
    end
  end
  return all, not_below, n
end

--- Returns the error of FastGCN over that of LADIES, exact for one layer and any s, over the batch
-- size; the sizes below that of their graph for which it is not certainly above 1; and how many
-- sizes below it there are.
function variance_tables.sizes(graphs)
  local seen, not_below, n = {}, {}, 0
  for _, graph in ipairs(graphs) do
    for _, one in ipairs(graph.facts.sizes) do
      if one.size ~= graph.facts.nodes then seen[one.size] = true end
    end
  end
  local sizes = {}
  for size in pairs(seen) do sizes[#sizes + 1] = size end
  table.sort(sizes)
  local all = Table.new(tables.append(tables.append({"FastGCN / LADIES, exact"},
    tables.map(sizes, function(size) return ("b = %d"):format(size) end)), {"b = V"}))
  for _, graph in ipairs(graphs) do
    local by_size = {}
    for _, one in ipairs(graph.facts.sizes) do
      local ratio, half = statistics.ratio(one.fastgcn, one.ladies)
      by_size[one.size] = ratio_text(ratio, half)
      if one.size < graph.facts.nodes then
        n = n + 1
        if not (ratio and ratio - half > 1) then
          not_below[#not_below + 1] = ("%s, b = %d"):format(graph.name, one.size)
        end
      end
    end
    local row = tables.map(sizes, function(size) return by_size[size] or "-" end)
    all:add(tables.append({graph.name}, tables.append(row, {by_size[graph.facts.nodes]})))
  end
  return all, not_below, n
end

return variance_tables
