--- Reads runs that `ladies train` or a script has finished, so that they can stand beside others in
-- a comparison.

local curve = require "ladies.training.record.curve"
local errors = require "ladies.base.errors"
local metric_text = require "ladies.task.metric_text"
local own_folder = require "ladies.base.own_folder"
local run_identity = require "ladies.training.checkpoint.identity"
local settings = require "ladies.experiment.settings"
local summary = require "ladies.training.record.summary"
local tasks = require "ladies.experiment.tasks"

local finished_run = {}

-- {batch, seconds of training, value} for every validation that found the metric of this name.
local function curve_of(log, name)
  local points = {}
  for _, row in ipairs(curve.read(log, name)) do
    if row.value then points[#points + 1] = {row.batch, row.seconds, row.value} end
  end
  return points
end

-- Fails if a finished run with the settings `said` was tested otherwise than one of `config` is.
local function check_tested(where, path, said, config)
  local name, value, here = tasks.tested_otherwise(said, config)
  if name then
    errors.fail(("%s: the run in %s was tested otherwise: its %s is %s, and %s here"):format(where,
      path, name:gsub("_", " "), settings.show(value), settings.show(here)))
  end
end

--- finished_run.record(where, path, data, metric, config) -> table: the record of the finished run
-- in the folder `path`, of `ladies train` or of a script; fails, with an error that begins with
-- `where`, unless it is finished, has this metric, and was trained on `data` and tested as one of
-- `config` is.
function finished_run.record(where, path, data, metric, config)
  local folder = own_folder.at(path)
  for _, name in ipairs{"summary.json", "checkpoint.npz", "log.jsonl"} do
    if not folder:has(name) then
      errors.fail(("%s: there is no finished run in %s: it has no %s"):format(where, path, name))
    end
  end
  local before = run_identity.read(folder:file "checkpoint.npz")
  local content, split = run_identity.changed(before, data)
  if content or split then
    errors.fail(("%s: the run in %s was trained on another data set than %s, or another split of "
      .. "it (%s)"):format(where, path, data.name, content or split))
  end
  check_tested(where, path, before.settings or {}, config)
  local record = summary.stored(folder)
  if not metric_text.tests(record)[metric] and record.monitor ~= metric then
    errors.fail(("%s: the run in %s has no %s, it went by %s; --monitor names another metric")
      :format(where, path, metric, record.monitor or "nothing"))
  end
  record.key, record.curve = path, curve_of(folder:file "log.jsonl", metric)
  record.config = before.settings
  return record
end

return finished_run
