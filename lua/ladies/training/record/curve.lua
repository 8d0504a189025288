--- Makes the training curve of a run from its log: a table (curve.tsv) and a picture (curve.svg). A
-- row is a validation: batch, seconds of training so far, mean training loss since the row before,
-- the monitored value.

local core = require "ladies_core"
local Figure = require "ladies.report.figure"
local log = require "ladies.training.record.log"

local curve = {}

--- Reads the rows of the log at `path`, as {batch =, seconds =, loss =, value =}; `name` is that of
-- the value among the validation's numbers.
function curve.read(path, name)
  local rows, sum, n = {}, 0, 0
  for batch, loss, record in log.read(path) do
    if record then
      rows[#rows + 1] = {
        batch = batch, seconds = record.seconds, loss = n > 0 and sum / n or nil,
        value = record.validation[name],
      }
      sum, n = 0, 0
    elseif loss then
      sum, n = sum + loss, n + 1
    end
  end
  return rows
end

-- The loss before the value is that of training, so a loss that is monitored says what it is.
local function tsv(rows, name)
  if name == "loss" then name = "validation loss" end
  local lines = {"batch\tseconds\tloss\t" .. name:gsub("%c", " ")}
  for i, row in ipairs(rows) do
    lines[i + 1] = ("%d\t%.3f\t%s\t%s"):format(row.batch, row.seconds,
      row.loss and ("%.6f"):format(row.loss) or "", row.value and ("%.6f"):format(row.value) or "")
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

--- Makes the figure of the rows: the validated value, `name`, on the left axis, the loss on the
-- right.
function curve.figure(rows, title, name)
  local validated = "validation " .. name
  return Figure.new("the training curve", {title = title, x = "batch", y = validated,
    series = {series_of(rows, validated, "value", 1), series_of(rows, "training loss", "loss", 2)},
  })
end

--- Writes curve.tsv and curve.svg into a run's folder; `name` is that of the monitored value.
-- Returns the name of the file to look at, or nil when the run was never validated, and the rows.
function curve.write(folder, title, name)
  local rows = curve.read(folder:file "log.jsonl", name)
  if #rows == 0 then return nil, rows end
  core.file.write(folder:file "curve.tsv", tsv(rows, name))
  local drawn = #rows > 1 and curve.figure(rows, title, name):save(folder:file "curve.svg")
  return drawn and "curve.svg" or "curve.tsv", rows
end

return curve
