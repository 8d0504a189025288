--- How long the rest of a study takes: a run as long as those that differ from it in the seed
-- alone, and where there are none yet, as long as the mean of all that have ended.

local json = require "ladies.base.json"
local statistics = require "ladies.report.statistics"
local tables = require "ladies.base.tables"

local Forecast = {}
Forecast.__index = Forecast

-- The settings of a run without its seed, as text.
local function kind_of(config)
  local settings = tables.merged(config)
  settings.seed = nil
  return json.encode(settings)
end

--- A forecast for `runs`, {key =, config =}, of which so many go on side by side.
local function new(runs, jobs)
  local self = setmetatable({jobs = jobs, kinds = {}, waiting = {}, walls = {}, all = {}}, Forecast)
  for _, run in ipairs(runs) do
    local kind = kind_of(run.config)
    self.kinds[run.key], self.walls[kind] = kind, {}
    self.waiting[kind] = (self.waiting[kind] or 0) + 1
  end
  return self
end

--- Takes note of a run that has ended after `wall` seconds; nil where it failed.
function Forecast:ended(key, wall)
  local kind = self.kinds[key]
  self.waiting[kind] = self.waiting[kind] - 1
  if wall then
    table.insert(self.walls[kind], wall)
    table.insert(self.all, wall)
  end
end

--- Seconds until all have ended, or nil while nothing is known.
function Forecast:left()
  local mean, sum = statistics.mean(self.all), 0
  if not mean then return nil end
  for kind, n in pairs(self.waiting) do
    sum = sum + n * (statistics.mean(self.walls[kind]) or mean)
  end
  return sum / self.jobs
end

return {new = new}
