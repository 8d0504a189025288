--- The class of the history of a run: an array of its validations, {batch =, seconds =, value =,
-- loss = (mean since the one before)}, which is printed as a table and a curve.

local core = require "ladies_core"
local html = require "ladies.report.html"
local picture = require "ladies.report.picture"
local show = require "ladies.show"
local sparkline = require "ladies.show.sparkline"
local wrap = require "ladies.base.wrap"

local MOST_ROWS = 12
local LOSS = "loss: the mean in training since the one before"

local History = {__name = "ladies.History"}
History.__index = History

--- Makes an array of such rows a history; returns it. `name` is that of the value.
function History.new(rows, name)
  local meta = {__index = History, __name = History.__name, __show = History.__show,
    __html = History.__html, __tostring = History.__tostring, name = core.printable(name)}
  return setmetatable(rows, meta)
end

--- history:curve(width): returns the curve of its values as one line of at most `width` columns,
-- with the first and the last number; nil where there are fewer than two.
function History:curve(width)
  local values = {}
  for i, row in ipairs(self) do values[i] = row.value end
  if #values < 2 then return nil end
  local first, last = ("%.4f "):format(values[1]), (" %.4f"):format(values[#values])
  return first .. sparkline(values, math.max(8, width - #first - #last)) .. last
end

local function head(self)
  local name = getmetatable(self).name
  return {"batch", "seconds", "loss", name == "loss" and "validation loss" or name}
end

-- Returns the first validation, the last, and some between them, as texts.
local function rows_of(self)
  local rows, n = {}, math.min(#self, MOST_ROWS)
  for i = 1, n do
    local row = self[n == 1 and 1 or 1 + (i - 1) * (#self - 1) // (n - 1)]
    rows[i] = {("%d"):format(row.batch), ("%.2f"):format(row.seconds),
      row.loss and ("%.4f"):format(row.loss) or "-", ("%.4f"):format(row.value)}
  end
  return rows
end

--- Returns a plot of the values over the batches, as options of ladies.plot.
function History:plot()
  local name, points = getmetatable(self).name, {}
  for i, row in ipairs(self) do points[i] = {row.batch, row.value} end
  return {series = {{name = name, points = points}}, title = "validation", x = "batch", y = name}
end

function History:__html()
  local curve = #self > 1 and picture(self:plot()) or ""
  return html.line(("%s; %s"):format(self, LOSS))
    .. html.table{head = head(self), rows = rows_of(self)} .. curve
end

function History:__show(width)
  width = width or show.width()
  local lines = wrap(("%s; %s"):format(self, LOSS), width)
  lines[#lines + 1] = ("  %8s  %9s  %9s  %s"):format(table.unpack(head(self)))
  for _, row in ipairs(rows_of(self)) do
    lines[#lines + 1] = ("  %8s  %9s  %9s  %s"):format(table.unpack(row))
  end
  local curve = self:curve(width - 2)
  if curve then lines[#lines + 1] = "  " .. curve end
  return table.concat(lines, "\n")
end

function History:__tostring()
  return ("History of %d validations"):format(#self)
end

return History
