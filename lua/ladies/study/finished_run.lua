--- A run that was trained outside of a study, by `ladies train` or by a script, as a record of one:
-- its summary, and the curve of its log.

local changes = require "ladies.data.changes"
local curve = require "ladies.training.curve"
local errors = require "ladies.base.errors"
local hashes_of = require "ladies.data.hashes"
local own_folder = require "ladies.base.own_folder"
local run_identity = require "ladies.training.run_identity"
local summary = require "ladies.training.summary"

-- {batch, seconds of training, validation micro-F1} for every validation that found it.
local function curve_of(log)
  local points = {}
  for _, row in ipairs(curve.read(log, "micro-F1")) do
    if row.value then points[#points + 1] = {row.batch, row.seconds, row.value} end
  end
  return points
end

--- finished_run(where, path, data): the record of the run in the folder `path`; an error, which
-- begins with `where`, unless it is finished and was trained on `data`.
return function(where, path, data)
  local folder = own_folder.at(path)
  for _, name in ipairs{"summary.json", "checkpoint.npz", "log.jsonl"} do
    if not folder:has(name) then
      errors.fail(("%s: there is no finished run in %s: it has no %s"):format(where, path, name))
    end
  end
  local before = run_identity.read(folder:file "checkpoint.npz")
  local parts = changes(before.data, hashes_of(data))
  if parts then
    errors.fail(("%s: the run in %s was trained on another data set than %s, or another split of "
      .. "it (%s)"):format(where, path, data.name, parts))
  end
  local record = summary.stored(folder)
  record.key, record.curve = path, curve_of(folder:file "log.jsonl")
  record.config = before.settings
  return record
end
