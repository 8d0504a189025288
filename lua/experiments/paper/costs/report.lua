--- The report of experiments.paper.costs: its tables (Markdown, CSV) and pictures.

local provenance = require "ladies.report.provenance"
local statistics = require "ladies.statistics"
local Table = require "ladies.report.table"
local tables = require "ladies.base.tables"
local units = require "ladies.base.units"

local MIB = units.MIB

-- Returns the exponent of value(point) over the points of a sweep, and half of its 95 % interval.
local function power(sweep, value)
  return statistics.power(tables.map(sweep.record.points, function(point)
    return {point.x, value(point)}
  end))
end

local function measured(sweep, field)
  return power(sweep, function(point) return point[field] end)
end

local function predicted(sweep, what)
  return (power(sweep, function(point) return sweep.method[what](point.shape) end))
end

local function measured_text(sweep, field)
  local exponent, spread = measured(sweep, field)
  return Table.with_spread(exponent, spread, "%.2f")
end

local function exponents(sweeps)
  local results = Table.new{"exponent of", "over", "computing", "Table 2", "sampling",
    "memory held", "counted", "Table 2"}
  for _, sweep in ipairs(sweeps) do
    local points = sweep.record.points
    results:add{
      ("%s, %s"):format(sweep.method.title, sweep.variable),
      ("%d to %d"):format(points[1].x, points[#points].x),
      measured_text(sweep, "computing"), Table.number(predicted(sweep, "time"), "%.2f"),
      sweep.method.whole and "-" or measured_text(sweep, "sampling"),
      measured_text(sweep, "held"), measured_text(sweep, "counted"),
      Table.number(predicted(sweep, "memory"), "%.2f"),
    }
  end
  return results
end

-- Returns a table with a row for each method: the costs of a batch at its base.
local function bases(sweeps)
  local results, seen = Table.new{"at the base", "L", "K", "b", "s", "V", "sampling ms",
    "computing ms", "held MB", "counted MB"}, {}
  for _, sweep in ipairs(sweeps) do
    local method = sweep.method
    for _, point in ipairs(sweep.record.points) do
      local p = point.shape
      if not seen[method] and p[sweep.variable] == method.shapes.base[sweep.variable] then
        seen[method] = true
        results:add{method.title, p.L, p.K, method.whole and "V" or p.b,
          method.whole and "-" or p.s, p.V, Table.number(1e3 * point.sampling, "%.2f"),
          Table.number(1e3 * point.computing, "%.2f"), Table.number(point.held / MIB, "%.2f"),
          Table.number(point.counted / MIB, "%.2f")}
      end
    end
  end
  return results
end

-- Returns a table with a line for each point.
local function numbers_of(sweeps)
  local results = Table.new{"method", "variable", "L", "K", "b", "s", "V", "D", "sampling_s",
    "computing_s", "held_bytes", "counted_bytes", "table2_time", "table2_memory"}
  local function short(x) return ("%.6g"):format(x) end
  for _, sweep in ipairs(sweeps) do
    for _, point in ipairs(sweep.record.points) do
      local p = point.shape
      results:add{sweep.method.name, sweep.variable, p.L, p.K, p.b, p.s, p.V, ("%.4f"):format(p.D),
        short(point.sampling), short(point.computing), ("%.0f"):format(point.held),
        ("%.0f"):format(point.counted), short(sweep.method.time(p)),
        short(sweep.method.memory(p))}
    end
  end
  return results
end

local NAMES = {L = "layers L", K = "width K", b = "nodes of a batch b", s = "samples s",
  V = "nodes of the graph V"}

local PICTURES = {
  {name = "time", title = "time of a batch", y = "milliseconds",
    value = function(point) return 1e3 * (point.sampling + point.computing) end},
  {name = "memory", title = "memory of a batch", y = "MiB held",
    value = function(point) return point.held / MIB end},
}

-- Adds two pictures for each variable.
local function add_pictures(report, sweeps)
  for _, variable in ipairs{"L", "K", "b", "s", "V"} do
    for _, picture in ipairs(PICTURES) do
      local series = {}
      for _, sweep in ipairs(sweeps) do
        if sweep.variable == variable then
          series[#series + 1] = {name = sweep.method.title, style = "both",
            points = tables.map(sweep.record.points, function(point)
              return {point.x, picture.value(point)}
            end)}
        end
      end
      report:picture(("costs-%s-%s"):format(picture.name, variable), {log = "xy",
        x = NAMES[variable], y = picture.y, series = series, width = 480, height = 360,
        title = ("%s over %s"):format(picture.title, NAMES[variable])})
    end
  end
end

local INTRO = [[
What a batch costs on generated graphs (degrees by a power law, %.0f entries in a row of P), medians
of %d batches, in one thread: sampling, and computing (gathering, forward, backward, the step of
the optimizer), in time of the processor; memory as the program counts it after the backward pass,
with weights and histories, and as the paper counts it. One quantity varies at a time. Exponents are
slopes between logarithms, with 95 %% intervals by Student's t; those of Table 2 are fitted to its
formulas at the same shapes; it counts no sampling. %s]]

-- The known reasons why an exponent of computing may differ from that of Table 2: below or above
-- it, over which variables, of which methods (all).
local REASONS = {
  {side = "below", over = {s = true}, of = {fastgcn = true, ladies = true},
    text = "Table 2 has the term L K s² for s² pairs of nodes in a layer; a sparse P has entries "
      .. "for few of them."},
  {side = "above", over = {b = true}, of = {fastgcn = true, ladies = true},
    text = "Table 2 counts no rows for the batch's own nodes there."},
  {side = "below", over = {L = true, b = true, s = true}, of = {graphsage = true, vrgcn = true},
    text = "Rows that several nodes of a batch have in common are computed once."},
  {side = "below", over = {K = true},
    text = "Products of matrices run faster the larger they are."},
}

-- A difference of exponents that the table does not show.
local UNSEEN = 0.005

-- Returns the side of Table 2's exponent on which the interval of that of computing is; nil where
-- it is on neither, or there is no interval.
local function side_of(sweep)
  local exponent, spread = measured(sweep, "computing")
  local off = exponent - predicted(sweep, "time")
  if not spread or math.abs(off) <= math.max(spread, UNSEEN) then return nil end
  return off < 0 and "below" or "above"
end

-- Stands for the reason where none of these explains a difference.
local NONE = {text = "No reason is known here."}

-- Returns the reason that may explain that the exponent of a sweep is on this side of Table 2's.
local function reason_of(sweep, side)
  for _, reason in ipairs(REASONS) do
    if reason.side == side and reason.over[sweep.variable]
      and (not reason.of or reason.of[sweep.method.name]) then
      return reason
    end
  end
  return NONE
end

-- Lists the exponents of computing that differ from those of Table 2, below the reasons that may
-- explain them.
local function differences(sweeps)
  local lines = {"Exponents of computing whose interval has that of Table 2 not in it, and what "
    .. "may explain it:\n"}
  for _, side in ipairs{"below", "above"} do
    for _, reason in ipairs(tables.append({NONE}, REASONS)) do
      local found = {}
      for _, sweep in ipairs(sweeps) do
        if side_of(sweep) == side and reason_of(sweep, side) == reason then
          found[#found + 1] = ("%s, %s"):format(sweep.method.title, sweep.variable)
        end
      end
      if #found > 0 then
        lines[#lines + 1] = ("* %s: %s. %s"):format(side, table.concat(found, "; "), reason.text)
      end
    end
  end
  return #lines > 1 and table.concat(lines, "\n") or nil
end

--- Fills a report. sweeps: array of {method =, variable =, record =
-- {points = {{x =, shape =, sampling =, ...}, ...}}}.
return function(report, sweeps, opts)
  report:text(INTRO:format(sweeps[1].record.points[1].shape.D, opts.batches,
    provenance.measurements(tables.map(sweeps, function(sweep) return sweep.record end))))
  report:table(bases(sweeps))
  report:table(exponents(sweeps))
  local reasons = differences(sweeps)
  if reasons then report:text(reasons) end
  report:csv(numbers_of(sweeps))
  add_pictures(report, sweeps)
end
