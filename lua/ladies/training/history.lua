--- The validations of a run, an array of {batch =, seconds =, value =, loss = (mean since the one
-- before, where the run had a log)}, which shows itself as a table and a curve.

local core = require "ladies_core"
local show = require "ladies.show"
local sparkline = require "ladies.show.sparkline"

local MOST_ROWS = 12

local History = {__name = "ladies.History"}
History.__index = History

--- Makes an array of such rows a history; returns it. `name` is that of the value.
function History.new(rows, name)
  local meta = {__index = History, __name = History.__name, __show = History.__show,
    __tostring = History.__tostring, name = core.printable(name)}
  return setmetatable(rows, meta)
end

--- history:curve(width): the curve of its values in a line of at most `width` columns, with the
-- first and the last number; nil where there are fewer than two.
function History:curve(width)
  local values = {}
  for i, row in ipairs(self) do values[i] = row.value end
  if #values < 2 then return nil end
  local first, last = ("%.4f "):format(values[1]), (" %.4f"):format(values[#values])
  return first .. sparkline(values, math.max(8, width - #first - #last)) .. last
end

local function line_of(row)
  return ("  %8d  %9.2f  %9s  %.4f"):format(row.batch, row.seconds,
    row.loss and ("%.4f"):format(row.loss) or "-", row.value)
end

function History:__show(width)
  local lines = {tostring(self),
    ("  %8s  %9s  %9s  %s"):format("batch", "seconds", "loss", getmetatable(self).name)}
  local n = math.min(#self, MOST_ROWS)
  for i = 1, n do    -- the first, the last, and some between them
    local at = n == 1 and 1 or 1 + (i - 1) * (#self - 1) // (n - 1)
    lines[#lines + 1] = line_of(self[at])
  end
  local curve = self:curve((width or show.width()) - 2)
  if curve then lines[#lines + 1] = "  " .. curve end
  return table.concat(lines, "\n")
end

function History:__tostring()
  return ("History of %d validations"):format(#self)
end

return History
