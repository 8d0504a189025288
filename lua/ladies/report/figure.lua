--- Makes the figures of ladies.plot, objects that the prompt shows as a picture (in a terminal that
-- can draw one) or as text, and a notebook as SVG.

local core = require "ladies_core"
local convert = require "ladies.report.convert"
local errors = require "ladies.base.errors"
local fields = require "ladies.base.fields"
local graphics = require "ladies.report.graphics"
local options = require "ladies.base.options"
local picture = require "ladies.report.picture"
local plot_options = require "ladies.report.plot_options"
local text_chart = require "ladies.report.text_chart"
local text_curves = require "ladies.report.text_curves"

local NOTHING = "there is nothing to draw"
local COLUMNS, LINES = 96, 28                   -- of text

local Figure = {__name = "Figure"}
Figure.__index = Figure
fields.of_class(Figure, "plot:table")

--- Makes a figure from options of ladies.plot; errors name the function `where`.
function Figure.new(where, given)
  return setmetatable({plot = plot_options.check(where, given)}, Figure)
end

-- Returns the plot options of a figure. Cells are checked again, since the user's code may have
-- changed them.
local function plot_of(self, where)
  if self.plot.cells then plot_options.cells(where, self.plot.cells) end
  return self.plot
end

--- figure:svg() -> string | nil: the figure as an SVG picture, nil where there is nothing to draw.
function Figure:svg() return picture(plot_of(self, "figure:svg")) end

-- Converts the figure's SVG picture by the function `made` and returns the result, or nil and the
-- reason why there is none.
local function converted(figure, made)
  local svg = figure:svg()
  if not svg then return nil, NOTHING end
  return made(svg)
end

--- figure:png() -> string | nil [, string]: the figure as a PNG picture, by librsvg's rsvg-convert,
-- of twice as many pixels each way, so that it is sharp on paper; or nil and the reason why not.
function Figure:png() return converted(self, convert.png) end

--- figure:pdf() -> string | nil [, string]: the figure as a page of PDF, by librsvg's rsvg-convert,
-- for a paper; or nil and the reason why not.
function Figure:pdf() return converted(self, convert.pdf) end

--- figure:text([width: integer, height: integer]) -> string | nil [, string]: the figure as text of
-- so many columns and, where it has lines or points, so many lines (96 and 28); or nil and the
-- reason why not.
function Figure:text(width, height)
  local plot = plot_of(self, "figure:text")
  width = options.value("figure:text", "the width", width, "positive integer or nil") or COLUMNS
  height = options.value("figure:text", "the height", height, "positive integer or nil") or LINES
  if plot.cells and (not plot.cells[1] or #plot.cells[1] == 0) then return nil, NOTHING end
  if plot.cells then return text_chart.cells(plot, width) end
  if plot.x_names then return text_chart.bars(plot, width) end
  local text = text_curves(plot, width, height)
  if not text then return nil, NOTHING end
  return text
end

--- figure:save(path) -> boolean | nil [, string]: writes the figure into a file, which ends in
-- .svg, .png or .pdf and appears whole or not at all. Returns true, or nil and why there is no
-- picture.
function Figure:save(path)
  options.value("figure:save", "the path", path, "string")
  local kind = path:match "%.(%a+)$"
  if kind ~= "svg" and kind ~= "png" and kind ~= "pdf" then
    errors.fail(("figure:save: %s must end in .svg, .png or .pdf"):format(path))
  end
  local drawn, complaint = self[kind](self)
  if not drawn then return nil, complaint or NOTHING end
  core.file.write(path, drawn)
  return true
end

function Figure:__svg() return self:svg() end

function Figure:__show(width)
  local kind = graphics.kind()
  local drawn = kind and converted(self, function(svg) return graphics.draw(kind, svg) end)
  if drawn then return drawn end
  local text, complaint = self:text(math.min(width or COLUMNS, COLUMNS))
  return text or ("%s (%s)"):format(tostring(self), complaint)
end

function Figure:__tostring()
  local plot = self.plot
  local title = plot.title ~= "" and ": " .. plot.title or ""
  if plot.cells then
    return ("Figure of %d x %d cells%s"):format(#plot.cells, #(plot.cells[1] or {}), title)
  end
  return ("Figure of %d series%s"):format(#plot.series, title)
end

return Figure
