--- Writes the results of a search: a table and a picture for each graph, and whether a point is
-- better than the samplers with which all points are compared.

local markdown_ratio = require("experiments.bench.cells").ratio
local mean_text = require("experiments.bench.cells").mean
local machine = require "ladies.base.machine"
local medians = require "ladies.statistics.medians"
local ratios = require "experiments.search.ratios"
local run_folder = require "ladies.training.record.run_folder"
local statistics = require "ladies.statistics"
local Table = require "ladies.report.table"
local tables = require "ladies.base.tables"

local results = {}

-- The least bias² that a logarithmic axis shows.
local LEAST = 1e-4

local function titles_of(graphs) return table.concat(tables.map(graphs, run_folder.plain), ", ") end

-- Returns what a point is called.
local function title_of(point) return point.title or point.name end

-- Returns what a point is called in the table, where those that are found have numbers, and in the
-- picture, where they have these alone.
local function named(point) return point.title or ("%d: %s"):format(point.number, point.name) end
local function label_of(point) return point.title or tostring(point.number) end

-- Returns the samplers that others are set beside, and the others.
local function divided(points)
  local known, others = {}, {}
  for _, point in ipairs(points) do
    local list = point.title and known or others
    list[#list + 1] = point
  end
  return known, others
end

-- Returns error x time of a point over that of the known sampler beside which it does worst, with
-- its interval; and that sampler.
local function worst_of(point, known, name, place, level)
  local worst, beside
  for _, one in ipairs(known) do
    local x = ratios.of(point.records[place][name], one.records[place][name], level)
    if not worst or x.high > worst.high then worst, beside = x, one end
  end
  return worst, beside
end

local function list_of(record, key) return record.columns[key] end

-- Returns the variances of the groups: error less bias².
local function variances(record)
  return statistics.differences(list_of(record, "gradient.error"), list_of(record, "gradient.bias"))
end

local function interval(list) return mean_text(statistics.interval(list)) end

-- Returns the cell of the F1s of a point on a graph.
local function f1_of(point, name)
  local list = statistics.present((point.trained or {})[name] or {})
  return list[1] and Table.interval(tables.map(list, function(x) return 100 * x end), "%.2f",
    "%.2f").text or ""
end

-- Returns error x time of a point beside LADIES at equal seconds. Whole samples only come near
-- these (one neighbour more may take a sixth longer), so the time that was reached is a factor.
local function in_time(point, first, name, level)
  local own, base = point.in_time[name], first.in_time[name]
  if own.failure or base.failure then return "-" end
  return markdown_ratio(ratios.beside_ladies(own, base, level))
end

local HEAD = {"sampler", "samples", "distinct nodes", "embedding: error", "gradient: bias²",
  "variance", "time, of LADIES'", "error × time, of LADIES'", "of the best of the others",
  "error × time at equal seconds", "test F1, %"}

local function table_of(search, points, name, level)
  local place, known = #search.rungs, divided(points)
  local first = points[1]
  return Table.of(HEAD, points, function(point)
    local record = point.records[place][name]
    local worst = not point.title and worst_of(point, known, name, place, level) or nil
    return {named(point), tostring(record.samples), ("%.0f"):format(record.nodes),
      interval(list_of(record, "embedding.error")), interval(list_of(record, "gradient.bias")),
      interval(variances(record)), ("%.2f"):format(medians.of(record.ratios)),
      point == first and "1" or markdown_ratio(ratios.beside_ladies(record,
        first.records[place][name], level)), worst and markdown_ratio(worst) or "",
      point == first and "1" or in_time(point, first, name, level), f1_of(point, name)}
  end)
end

-- ---------------------------------------------------------------- the picture

-- Returns the coordinates of a point in the picture: bias² of its gradient, and its error x time
-- relative to LADIES.
local function place_of(record, first)
  local error = statistics.mean(list_of(record, "gradient.error"))
  local of_ladies = statistics.mean(list_of(first, "gradient.error"))
  return {math.max(LEAST, statistics.mean(list_of(record, "gradient.bias"))),
    error / of_ladies * medians.of(record.ratios)}
end

-- Returns a series of the points of a rung, with their labels where `labelled`.
local function series(name, points, graph, place, first, colour, labelled)
  local found = {name = name, style = "points", colour = colour, points = {},
    labels = labelled and {}}
  for _, point in ipairs(points) do
    local record = point.records and point.records[place] and point.records[place][graph]
    if record and not record.failure then
      table.insert(found.points, place_of(record, first.records[place][graph]))
      if labelled then table.insert(found.labels, label_of(point)) end
    end
  end
  return found
end

local function plot_of(search, points, name)
  local known, others = divided(points)
  local last, first = #search.rungs, points[1]
  return {title = "Error × time of the gradient against its bias², " .. run_folder.plain(name),
    x = "bias² of the gradient", y = "error × time, of LADIES'",
    log = "xy", series = {
      series(("all %d points, first draws"):format(#search.points), search.points, name, 1, first,
        8),
      series("the best, by number", others, name, last, first, 1, true),
      series("set beside", known, name, last, first, 2, true)}}
end

-- ---------------------------------------------------------------- the answer

-- Returns the graphs on which a point has less error x time than every known sampler, and those on
-- which it has more than one of them. To be above any one of several is what chance does sooner, so
-- its intervals hold for all of these at once.
local function won(search, point, known, level)
  local better, worse, for_all = {}, {}, 1 - (1 - level) / #known
  for _, name in ipairs(search.names) do
    local is_better, is_worse = true, false
    for _, one in ipairs(known) do
      local own, other = point.records[#search.rungs][name], one.records[#search.rungs][name]
      is_better = is_better and ratios.of(own, other, level).high < 1
      is_worse = is_worse or ratios.of(own, other, for_all).low > 1
    end
    if is_better then better[#better + 1] = name end
    if is_worse then worse[#worse + 1] = name end
  end
  return better, worse
end

-- Returns the sentence that answers whether there is a better point: each one with its graphs, and
-- those on which it is worse.
local function answer(search, points, level)
  local known, others = divided(points)
  local names, found = table.concat(tables.map(known, title_of), ", "), {}
  for _, point in ipairs(others) do
    local better, worse = won(search, point, known, level)
    if #better > 0 then
      found[#found + 1] = ("%s on %d of %d graphs (%s)%s"):format(point.name, #better,
        #search.names, titles_of(better), #worse > 0
        and (", and more than one of them on " .. titles_of(worse)) or "")
    end
  end
  if #found == 0 then
    return ("No point has less gradient error × time than each of %s on any of %s, as far as the "
      .. "intervals tell."):format(names, titles_of(search.names))
  end
  return ("Less gradient error × time than each of %s: %s."):format(names,
    table.concat(found, "; "))
end

-- Returns the note on what was done.
local function description(search, points, level)
  local counts = tables.map(search.rungs, function(rung, place)
    local n = 0
    for _, point in ipairs(search.points) do
      n = n + (point.records and point.records[place] and 1 or 0)
    end
    return ("%d with %d × %d draws"):format(n, rung.groups, rung.draws)
  end)
  return ([[Points: %s. Those that others are set beside go through all rungs, and every rung draws
anew. All have as many distinct nodes as pooled draws of 2 entries a row, as nearly as their samples
allow. Errors are shares of the squared size of what is estimated, bias² and variance together; time
is the processor's, of sampling, forward and backward, in turns with LADIES. "At equal seconds" has
the samples whose mini-batches take as long as those of LADIES, as nearly as may be; the time that
was reached is a factor. All is of one network for each graph, of this seed; that of another may
differ by more than the intervals. Intervals of ratios are
of %.2f %%, so that those of one ratio, to one sampler, hold at once with 95 %% for all %d points on
all graphs; "the best of the others" is the one of %s beside which a point does worst; that a
point has more than one of them is told at a level for all of these. The others are of 95 %%. F1: %d
seeds of %g s each.]]):format(table.concat(counts, ", "), 100 * level, #points,
    table.concat(tables.map(divided(points), title_of), ", "), search.opts.seeds,
    search.opts.seconds):gsub("\n", " ")
end

--- results.show(report, search, points): adds the tables, the pictures and the answer of a search
-- whose last points these are to its report.
function results.show(report, search, points)
  local level = ratios.level(#points * #search.names)
  for number, point in ipairs((select(2, divided(points)))) do point.number = number end
  for _, name in ipairs(search.names) do
    report:heading(run_folder.plain(name))
    report:table(table_of(search, points, name, level))
    report:picture("search-" .. name, plot_of(search, points, name))
  end
  report:note(answer(search, points, level))
  report:note((description(search, points, level)))
  report:note(("Measured on %s."):format(machine.measured()))
end

return results
