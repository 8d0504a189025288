--- Plots to look at, at the prompt and in a notebook.

local picture = require "ladies.report.picture"
local plot = require "ladies.report.plot"

local figure = {}

local MOST_COLUMNS = 96

local Figure = {__name = "Figure"}
Figure.__index = Figure

--- ladies.figure{series =, title =, x =, y =, ...} -> Figure: a plot that shows itself, at the
-- prompt as text (with gnuplot) and in a notebook as a picture. Its options are those of
-- ladies.plot.svg; the picture has the left axis alone.
function figure.new(given)
  return setmetatable({plot = plot.checked("ladies.figure", given)}, Figure)
end

function Figure:__svg() return picture(self.plot) end

function Figure:__show(width)
  local text = plot.text{series = self.plot.series, title = self.plot.title, x = self.plot.x,
    y = self.plot.y, log = self.plot.log, width = math.min(width or MOST_COLUMNS, MOST_COLUMNS)}
  return text and text:gsub("^%s*\n", ""):gsub("%s+$", "") or tostring(self)
end

function Figure:__tostring()
  local title = self.plot.title ~= "" and ": " .. self.plot.title or ""
  return ("Figure of %d series%s"):format(#self.plot.series, title)
end

return figure
