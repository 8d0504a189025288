--- The progress bar of a study: the runs that have ended, and how long the others take still.

local core = require "ladies_core"
local forecast = require "ladies.study.forecast"
local progress = require "ladies.base.progress"
local tell = require "ladies.base.tell"

local Display = {}
Display.__index = Display

function Display.__close(self, reason)
  self.bar:clear()
  if reason and not self.bar.quiet then
    tell("%d of %d runs are kept in %s; the same command goes on there", self.kept, self.bar.total,
      self.folder)
  end
end

--- A bar for the runs of a study, n_waiting of which are not finished: a <close> variable.
local function new(study, runs, n_waiting, opts)
  local self = setmetatable({folder = study.folder, forecast = forecast.new(runs, opts.jobs),
    done = 0, kept = 0}, Display)
  self.bar = progress.new{total = #runs, done = #runs - n_waiting, unit = "run",
    quiet = opts.quiet}
  for _, run in ipairs(runs) do
    local record = study.records[run.key]
    if record then self:ended(run.key, record) end
  end
  return self
end

--- Called while runs go on.
function Display:tick()
  self.bar:update(self.done, core.clock())
end

--- Takes note of the run of this key, which has ended; record: nil when it failed.
function Display:ended(key, record)
  self.done, self.kept = self.done + 1, self.kept + (record and 1 or 0)
  self.forecast:ended(key, record and record.wall)
  local left = self.forecast:left()
  if left then self.bar:expect(core.clock() + left) end
end

return {new = new}
