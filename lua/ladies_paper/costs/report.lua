--- What ladies_paper.costs found, as tables (Markdown, CSV) and pictures.

local core = require "ladies_core"
local markdown = require "ladies.report.markdown"
local plot = require "ladies.report.plot"
local provenance = require "ladies.report.provenance"
local statistics = require "ladies.report.statistics"

local report = {}

local Report = {__name = "ladies_paper.costs.Report"}

function Report.__tostring(self)
  return self.tables
end

-- The exponent of value(point) over the points of a sweep.
local function power(sweep, value)
  local points = {}
  for i, point in ipairs(sweep.record.points) do points[i] = {point.x, value(point)} end
  return statistics.power(points)
end

local function measured(sweep, field)
  return power(sweep, function(point) return point[field] end)
end

local function measured_text(sweep, field)
  local exponent, spread = measured(sweep, field)
  return ("%.2f"):format(exponent) .. (spread and (" ± %.2f"):format(spread) or "")
end

local function predicted(sweep, what)
  return (power(sweep, function(point) return sweep.method[what](point.shape) end))
end

local function predicted_text(sweep, what)
  return ("%.2f"):format(predicted(sweep, what))
end

local function exponents(sweeps)
  local rows = {{"exponent of", "over", "computing", "Table 2", "sampling", "memory held",
    "counted", "Table 2"}}
  for i, sweep in ipairs(sweeps) do
    local first, last = sweep.record.points[1].x, sweep.record.points[#sweep.record.points].x
    rows[i + 1] = {
      ("%s, %s"):format(sweep.method.title, sweep.variable), ("%d to %d"):format(first, last),
      measured_text(sweep, "computing"), predicted_text(sweep, "time"),
      sweep.method.whole and "-" or measured_text(sweep, "sampling"),
      measured_text(sweep, "held"), measured_text(sweep, "counted"),
      predicted_text(sweep, "memory"),
    }
  end
  return markdown.table(rows)
end

local MIB = 1 << 20

-- What a batch costs at the base of each method.
local function bases(sweeps)
  local rows, seen = {{"at the base", "L", "K", "b", "s", "V", "sampling ms", "computing ms",
    "held MB", "counted MB"}}, {}
  for _, sweep in ipairs(sweeps) do
    local method = sweep.method
    for _, point in ipairs(sweep.record.points) do
      local p = point.shape
      if not seen[method] and p[sweep.variable] == method.shapes.base[sweep.variable] then
        seen[method] = true
        rows[#rows + 1] = {method.title, p.L .. "", p.K .. "", method.whole and "V" or p.b .. "",
          method.whole and "-" or p.s .. "", p.V .. "", ("%.2f"):format(1e3 * point.sampling),
          ("%.2f"):format(1e3 * point.computing), ("%.2f"):format(point.held / MIB),
          ("%.2f"):format(point.counted / MIB)}
      end
    end
  end
  return markdown.table(rows)
end

local function csv(sweeps)
  local lines = {"method,variable,L,K,b,s,V,D,sampling_s,computing_s,held_bytes,counted_bytes,"
    .. "table2_time,table2_memory"}
  for _, sweep in ipairs(sweeps) do
    for _, point in ipairs(sweep.record.points) do
      local p = point.shape
      lines[#lines + 1] = ("%s,%s,%d,%d,%d,%d,%d,%.4f,%.6g,%.6g,%.0f,%.0f,%.6g,%.6g"):format(
        sweep.method.name, sweep.variable, p.L, p.K, p.b, p.s, p.V, p.D, point.sampling,
        point.computing, point.held, point.counted, sweep.method.time(p), sweep.method.memory(p))
    end
  end
  return table.concat(lines, "\n") .. "\n"
end

local NAMES = {L = "layers L", K = "width K", b = "nodes of a batch b", s = "samples s",
  V = "nodes of the graph V"}

local PICTURES = {
  {name = "time", title = "time of a batch", y = "milliseconds",
    value = function(point) return 1e3 * (point.sampling + point.computing) end},
  {name = "memory", title = "memory of a batch", y = "MiB held",
    value = function(point) return point.held / MIB end},
}

-- Two pictures for each variable; returns their files.
local function draw(folder, sweeps)
  local files = {}
  for _, variable in ipairs{"L", "K", "b", "s", "V"} do
    for _, picture in ipairs(PICTURES) do
      local series = {}
      for _, sweep in ipairs(sweeps) do
        if sweep.variable == variable then
          local points = {}
          for i, point in ipairs(sweep.record.points) do
            points[i] = {point.x, picture.value(point)}
          end
          series[#series + 1] = {name = sweep.method.title, points = points, style = "both"}
        end
      end
      local base = ("costs-%s-%s"):format(picture.name, variable)
      for _, file in ipairs(plot.files(folder:file(base), {log = "xy", x = NAMES[variable],
        y = picture.y, title = ("%s over %s"):format(picture.title, NAMES[variable]),
        width = 480, height = 360, series = series})) do
        files[#files + 1] = file
      end
    end
  end
  return files
end

local INTRO = [[
## Table 2, measured: time and memory of a batch

What a batch costs on generated graphs (degrees by a power law, %.0f entries in a row of P), medians
of %d batches, in one thread: sampling, and computing (gathering, forward, backward, the step of
the optimizer), in time of the processor; memory as the program counts it after the backward pass,
with weights and histories, and as the paper counts it. One quantity varies at a time. Exponents are
slopes between logarithms with their standard errors; those of Table 2 are fitted to its formulas at
the same shapes; it counts no sampling. %s]]

-- Where the exponent of computing may differ from that of Table 2, and what the program does that
-- the formula does not say: below or above it, over which variables, of which methods (all).
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

-- The side of Table 2's exponent on which that of computing is, by more than two standard errors;
-- nil where it is on neither, or has no standard error.
local function side_of(sweep)
  local exponent, spread = measured(sweep, "computing")
  local off = exponent - predicted(sweep, "time")
  if spread and off < -2 * spread then return "below" end
  if spread and off > 2 * spread then return "above" end
end

-- The reasons for which there are exponents, with these.
local function differences(sweeps)
  local lines = {"Exponents of computing that differ from those of Table 2 by more than two "
    .. "standard errors, and what may explain it:\n"}
  for _, reason in ipairs(REASONS) do
    local found = {}
    for _, sweep in ipairs(sweeps) do
      if reason.over[sweep.variable] and (not reason.of or reason.of[sweep.method.name])
        and side_of(sweep) == reason.side then
        found[#found + 1] = ("%s, %s"):format(sweep.method.title, sweep.variable)
      end
    end
    if #found > 0 then
      lines[#lines + 1] = ("* %s: %s. %s"):format(reason.side, table.concat(found, "; "),
        reason.text)
    end
  end
  return #lines > 1 and table.concat(lines, "\n") or nil
end

--- Writes costs.csv, costs.md and the pictures into the folder; returns the report. sweeps: array
-- of {method =, variable =, record = {points = {{x =, shape =, sampling =, ...}, ...}}}.
function report.write(folder, sweeps, opts)
  local files = draw(folder, sweeps)
  local records = {}
  for i, sweep in ipairs(sweeps) do records[i] = sweep.record end
  local parts = {INTRO:format(sweeps[1].record.points[1].shape.D, opts.batches,
    provenance.measurements(records)),
    bases(sweeps), exponents(sweeps), differences(sweeps)}
  for _, file in ipairs(files) do
    if file:find "%.svg$" then parts[#parts + 1] = ("![%s](%s)"):format(file, file) end
  end
  local tables = table.concat(parts, "\n\n") .. "\n"
  core.file.write(folder:file "costs.csv", csv(sweeps))
  core.file.write(folder:file "costs.md", tables)
  table.move(files, 1, #files, 3)
  files[1], files[2] = "costs.md", "costs.csv"
  return setmetatable({folder = folder.path, files = files, tables = tables}, Report)
end

return report
