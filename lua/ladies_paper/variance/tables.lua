--- The tables of ladies_paper.variance in Markdown.

local markdown = require "ladies.report.markdown"
local results = require "ladies_paper.variance.results"
local statistics = require "ladies.report.statistics"

local tables = {}

local function error_text(graph, point)
  local mean, half = results.relative(graph, point.record, "error")
  if mean < results.ROUNDING then return "0" end
  return ("%s%.3g ± %.2g"):format(results.too_few(point) and "? " or "", mean, half)
end

local FACTS = {
  {"nodes V", "nodes", "%d"}, {"entries of P", "entries", "%d"}, {"D", "degree", "%.2f"},
  {"‖P‖²_F / V", function(f) return f.norm / f.nodes end, "%.4f"}, {"V̄(b)", "touched", "%.0f"},
  {"φ", "phi", "%.4g"}, {"Δφ", "delta_phi", "%.3g"}, {"‖Z‖²_F / V", "signal", "%.4g"},
}

function tables.facts(graphs)
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
    local line = results.line(graph, estimator, layers)
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

-- The fitted power of s in the errors of a line, where they are more than rounding and of enough
-- draws.
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
  return ("%.2f"):format(power) .. (spread and (" ± %.2f"):format(spread) or "")
end

--- The errors of a graph's estimators with one layer and with two, and how much of them is bias.
function tables.errors(graph, opts)
  local parts = {}
  for layers = 1, 2 do
    parts[#parts + 1] = layers == 1 and "One layer sampled, above an exact H:" or "Two layers:"
    parts[#parts + 1] = table_of(graph, opts, layers, function(point)
      return error_text(graph, point)
    end, "power of s", power_text)
  end
  parts[#parts + 1] = "Share of bias² in the error of two layers, and the rows that they hold:"
  parts[#parts + 1] = table_of(graph, opts, 2, function(point)
    local all = results.relative(graph, point.record, "error")
    local bias = results.relative(graph, point.record, "bias")
    local share = all > results.ROUNDING and math.max(0, bias / all) or 0
    return ("%.0f %%, %.0f"):format(100 * share, statistics.mean(point.record.rows))
  end)
  return table.concat(parts, "\n\n")
end

-- Why a quantity is not certainly below 1, from its 95 % interval; nil where it is.
local function not_below_one(few, value, half)
  if few then return "too few draws connect" end
  if value + half <= 1 then return nil end
  return value - half > 1 and "above" or "not separated"
end

--- Errors over bounds, and a verdict about those of one layer, and of VR-GCN, whose other layer is
-- exact, as the theory has it: {n =, not_below =, greatest =}, how many there are, those that are
-- not certainly below their bounds, and the greatest ratio of enough draws (nil without any); nil
-- without any bound.
function tables.bounds(graphs, opts)
  local rows, verdict = {head("error / bound", opts)}, {n = 0, not_below = {}}
  for _, graph in ipairs(graphs) do
    for _, estimator in ipairs(opts.estimators) do
      for layers = 1, 2 do
        local line = estimator.bound and results.line(graph, estimator, layers) or {}
        if line[1] and results.bound(graph, line[1]) then
          local where = ("%s, %s, %d layer%s"):format(graph.name, estimator.title, layers,
            layers == 1 and "" or "s")
          local row, by_samples = {where}, {}
          for _, point in ipairs(line) do
            local few, ratio, half = results.too_few(point), results.over_bound(graph, point)
            by_samples[point.samples] = few and "?" or ("%.2g"):format(ratio)
            if layers == 1 or estimator.two_layer_only then
              local why = not_below_one(few, ratio, half)
              verdict.n = verdict.n + 1
              if why then
                table.insert(verdict.not_below, ("%s, s = %d (%s)"):format(where, point.samples,
                  why))
              end
              if not few then verdict.greatest = math.max(verdict.greatest or 0, ratio) end
            end
          end
          for _, s in ipairs(opts.samples) do row[#row + 1] = by_samples[s] or "-" end
          rows[#rows + 1] = row
        end
      end
    end
  end
  if #rows > 1 then return markdown.table(rows), verdict end
end

local function ratio_text(ratio, half)
  if not ratio then return "-" end
  return half > 0 and ("%.2f ± %.2f"):format(ratio, half) or ("%.2f"):format(ratio)
end

--- The table of the errors of FastGCN over those of LADIES, the points at which LADIES is not
-- certainly below, and how many points there are; nil where one of the two is not measured.
function tables.ratios(graphs, opts)
  local rows, not_below, n = {head("FastGCN / LADIES", opts)}, {}, 0
  for _, graph in ipairs(graphs) do
    for layers = 1, 2 do
      local where = ("%s, %d layer%s"):format(graph.name, layers, layers == 1 and "" or "s")
      local row = {where}
      for _, s in ipairs(opts.samples) do
        local fastgcn = results.find(graph, "fastgcn", s, layers)
        local own = results.find(graph, "ladies", s, layers)
        if not fastgcn or not own then return nil end
        local ratio, half = statistics.ratio(fastgcn.record.error, own.record.error)
        local few = results.too_few(fastgcn) or results.too_few(own)
        row[#row + 1] = few and "?" or ratio_text(ratio, half)
        n = n + 1
        if few or not ratio or ratio - half <= 1 then
          not_below[#not_below + 1] = ("%s, s = %d (%s)"):format(where, s,
            few and "too few draws connect" or not ratio and "no ratio, LADIES has no error"
              or ratio + half < 1 and "above" or "not separated")
        end
      end
      rows[#rows + 1] = row
    end
  end
  return markdown.table(rows), not_below, n
end

--- The same ratio, exact for one layer and any s, over the batch size; the sizes below that of
-- their graph for which it is not certainly above 1; and how many sizes below it there are.
function tables.sizes(graphs)
  local sizes, seen, rows, not_below, n = {}, {}, {{"FastGCN / LADIES, exact"}}, {}, 0
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
      local ratio, half = statistics.ratio(one.fastgcn, one.ladies)
      by_size[one.size] = ratio_text(ratio, half)
      if one.size < graph.facts.nodes then
        n = n + 1
        if not (ratio and ratio - half > 1) then
          not_below[#not_below + 1] = ("%s, b = %d"):format(graph.name, one.size)
        end
      end
    end
    for _, size in ipairs(sizes) do row[#row + 1] = by_size[size] or "-" end
    row[#row + 1] = by_size[graph.facts.nodes]
    rows[#rows + 1] = row
  end
  return markdown.table(rows), not_below, n
end

return tables
