--- Shows the progress bar of a study: how many runs have ended, and how long the others will take.

local core = require "ladies_core"
local json = require "ladies.base.json"
local progress = require "ladies.base.progress"
local statistics = require "ladies.statistics"
local tables = require "ladies.base.tables"
local tell = require "ladies.base.tell"

-- ---------------------------------------------------------------- how long the rest takes

-- Forecasts how long runs take: as long as earlier runs that differ in the seed alone, and where
-- there are none yet, as long as the mean of all that have ended.
local Forecast = {}
Forecast.__index = Forecast

-- Returns the settings of a run without its seed, as text, by which runs are grouped.
local function kind_of(config)
  local settings = tables.merged(config)
  settings.seed = nil
  return json.encode(settings)
end

--- Forecast.new(runs, jobs): makes a forecast for `runs`, {key =, config =}, of which `jobs` go on
-- side by side.
function Forecast.new(runs, jobs)
  local self = setmetatable({jobs = jobs, kinds = {}, waiting = {}, walls = {}, all = {}}, Forecast)
  for _, run in ipairs(runs) do
    local kind = kind_of(run.config)
    self.kinds[run.key], self.walls[kind] = kind, {}
    self.waiting[kind] = (self.waiting[kind] or 0) + 1
  end
  return self
end

--- Records that a run has ended after `wall` seconds, nil if it failed.
function Forecast:ended(key, wall)
  local kind = self.kinds[key]
  self.waiting[kind] = self.waiting[kind] - 1
  if wall then
    table.insert(self.walls[kind], wall)
    table.insert(self.all, wall)
  end
end

--- Returns the seconds until all runs will have ended, or nil while nothing is known.
function Forecast:left()
  local mean, sum = statistics.mean(self.all), 0
  if not mean then return nil end
  for kind, n in pairs(self.waiting) do
    sum = sum + n * (statistics.mean(self.walls[kind]) or mean)
  end
  return sum / self.jobs
end

-- ---------------------------------------------------------------- the bar

local Display = {}
Display.__index = Display

function Display.__close(self, reason)
  self.bar:clear()
  if reason and not self.bar.quiet then
    tell("%d of %d runs are kept in %s; the same command goes on there", self.kept, self.bar.total,
      self.folder)
  end
end

--- Makes the bar for the runs of a study, n_waiting of which are not finished; it is to be kept in
-- a <close> variable.
local function new(study, runs, n_waiting, opts)
  local self = setmetatable({folder = study.folder, forecast = Forecast.new(runs, opts.jobs),
    done = 0, kept = 0}, Display)
  self.bar = progress.new{total = #runs, done = #runs - n_waiting, unit = "run",
    quiet = opts.quiet}
  for _, run in ipairs(runs) do
    local record = study.records[run.key]
    if record then self:ended(run.key, record) end
  end
  return self
end

--- Redraws the bar; it is called again and again while runs go on.
function Display:tick()
  self.bar:update(self.done, core.clock())
end

--- Records that the run of this key has ended; record: nil when it failed.
function Display:ended(key, record)
  self.done, self.kept = self.done + 1, self.kept + (record and 1 or 0)
  self.forecast:ended(key, record and record.wall)
  local left = self.forecast:left()
  if left then self.bar:expect(core.clock() + left) end
end

return {new = new, forecast = Forecast.new}
