--- The training curve of a run, from its log: a table (curve.tsv) and, with gnuplot, a picture
-- (curve.svg). A row is a validation: batch, seconds of training so far, mean training loss since
-- the row before, validation micro-F1.

local core = require "ladies_core"
local plot = require "ladies.report.plot"

local curve = {}

--- The rows of the log at `path`, as {batch =, seconds =, loss =, val_f1 =}.
function curve.read(path)
  local rows, sum, n = {}, 0, 0
  for line in io.lines(path) do
    local batch = tonumber(line:match '^{"batch":(%d+)')
    local loss, f1 = line:match '"loss":([^,}]+)', line:match '"val_f1":([^,}]+)'
    if loss then
      sum, n = sum + tonumber(loss), n + 1
    elseif f1 and batch then
      rows[#rows + 1] = {
        batch = batch, seconds = tonumber(line:match '"seconds":([^,}]+)'),
        loss = n > 0 and sum / n or nil, val_f1 = tonumber(f1),
      }
      sum, n = 0, 0
    end
  end
  return rows
end

local function tsv(rows)
  local lines = {"batch\tseconds\tloss\tval_f1"}
  for i, row in ipairs(rows) do
    lines[i + 1] = ("%d\t%.3f\t%s\t%.6f"):format(row.batch, row.seconds,
      row.loss and ("%.6f"):format(row.loss) or "", row.val_f1)
  end
  return table.concat(lines, "\n") .. "\n"
end

local function series_of(rows, name, field, axis)
  local points = {}
  for _, row in ipairs(rows) do
    if row[field] then points[#points + 1] = {row.batch, row[field]} end
  end
  return {name = name, points = points, axis = axis}
end

--- Writes curve.tsv and, where gnuplot is, curve.svg into a run's folder. Returns the name of the
-- file to look at, or nil when the run was never validated.
function curve.write(folder, title)
  local rows = curve.read(folder:file "log.jsonl")
  if #rows == 0 then return nil end
  core.file.write(folder:file "curve.tsv", tsv(rows))
  local drawn = #rows > 1 and plot.svg(folder:file "curve.svg", {
    title = title, x = "batch", y = "validation micro-F1",
    series = {
      series_of(rows, "validation micro-F1", "val_f1", 1),
      series_of(rows, "training loss", "loss", 2),
    },
  })
  return drawn and "curve.svg" or "curve.tsv"
end

return curve
