--- A run that was trained outside of a study, by `ladies train` or by a script, as a record of one:
-- its summary, and the curve of its log.

local changes = require "ladies.data.changes"
local checkpoint = require "ladies.training.checkpoint"
local hashes_of = require "ladies.data.hashes"
local json = require "ladies.base.json"
local errors = require "ladies.base.errors"
local own_folder = require "ladies.base.own_folder"

-- {batch, seconds of training, validation F1} for every validation.
local function curve_of(log)
  local curve = {}
  for line in io.lines(log) do
    local at = line:find '"val_f1":' and json.decode(line, log)
    if at then curve[#curve + 1] = {at.batch, at.seconds, at.val_f1} end
  end
  return curve
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
  local parts = changes(checkpoint.run(folder:file "checkpoint.npz").data, hashes_of(data))
  if parts then
    errors.fail(("%s: the run in %s was trained on another data set than %s, or another split of "
      .. "it (%s)"):format(where, path, data.name, parts))
  end
  local record = folder:read_json "summary.json"
  record.key, record.curve = path, curve_of(folder:file "log.jsonl")
  return record
end
