--- Draws the training curve in the terminal while a run trains: the validated values and, between
-- two of them, the mean loss.

local core = require "ladies_core"
local curve = require "ladies.training.record.curve"
local options = require "ladies.base.options"
local show = require "ladies.show"

local live_plot = {}

local WAIT = 1                    -- seconds between two drawings, at least
local COLUMNS, LINES = 96, 16     -- at most

local LivePlot = {__name = "LivePlot"}
LivePlot.__index = LivePlot

--- live_plot.new{name =, clock =}: makes the plot of the value with this name; clock, for tests,
-- returns the time in seconds.
function live_plot.new(given)
  local plot = options.check("live_plot.new", given, {name = "string",
    clock = {"callable", core.clock}})
  plot.due = -math.huge
  return setmetatable(plot, LivePlot)
end

--- Draws the rows of a history (see ladies.training.record.history), whose value has this name, as
-- text; nil where there are fewer than two rows.
function live_plot.text(rows, name)
  if #rows < 2 then return nil end
  return curve.figure(rows, "", name):text(math.min(show.width() - 1, COLUMNS), LINES)
end

--- Returns the plot of the history so far as text, if it is time to draw again and there is
-- something to draw; or nil.
function LivePlot:draw(rows)
  local now = self.clock()
  if now < self.due then return nil end
  local text = live_plot.text(rows, self.name)
  if text then self.due = now + WAIT end
  return text
end

return live_plot
