--- The training curve of a run in its terminal, while it trains: validations and, between two of
-- them, the mean loss.

local core = require "ladies_core"
local curve = require "ladies.training.curve"
local options = require "ladies.base.options"
local show = require "ladies.show"

local live_plot = {}

local WAIT = 1                    -- seconds between two drawings, at least
local COLUMNS, LINES = 96, 16     -- at most

local LivePlot = {__name = "LivePlot"}
LivePlot.__index = LivePlot

--- live_plot.new{name =, title =, clock =}: the plot of a value of this name; clock, for tests,
-- gives the time in seconds.
function live_plot.new(given)
  local plot = options.check("live_plot.new", given, {name = "string", title = {"string", ""},
    clock = {"callable", core.clock}})
  plot.rows, plot.sum, plot.n, plot.due = {}, 0, 0, -math.huge
  return setmetatable(plot, LivePlot)
end

--- Takes the loss of a batch.
function LivePlot:loss(loss) self.sum, self.n = self.sum + loss, self.n + 1 end

--- Takes a validation after so many batches; returns the plot as text when it is time to draw it,
-- and there is something to draw.
function LivePlot:validation(batch, value)
  table.insert(self.rows, {batch = batch, value = value, loss = self.n > 0 and self.sum / self.n})
  self.sum, self.n = 0, 0
  local now = self.clock()
  if #self.rows < 2 or now < self.due then return nil end
  self.due = now + WAIT
  local text = curve.figure(self.rows, self.title, self.name):text(
    math.min(show.width() - 1, COLUMNS), LINES)
  return text
end

return live_plot
