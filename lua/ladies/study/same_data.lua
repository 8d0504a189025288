--- Makes sure, by hashes, that all runs of a study are trained on the same data. A name or path may
-- stand for changed data when a study goes on later, and results from both must not be mixed in one
-- table.

local errors = require "ladies.base.errors"
local hashes = require "ladies.data.hashes"
local one_run = require "ladies.study.one_run"

local SameData = {__name = "ladies.SameData"}
SameData.__index = SameData

--- Makes the check for the study in `folder`; data: the one data set of all its runs, or nil.
function SameData.new(folder, data)
  local common = data and hashes.of(data)
  return setmetatable({folder = folder, common = common, by_source = {}}, SameData)
end

-- Returns the hashes of the data set of these settings as it is now, or nil where it cannot be
-- read; then the runs that need it fail later.
function SameData:now(config)
  if self.common then return self.common end
  local ok, data = errors.try(one_run.load, config)
  return ok and hashes.of(data) or nil
end

--- Fails when the data of a run that has just ended, by its record, are not those of earlier runs.
function SameData:agree(record)
  local source = one_run.source(record.config)
  local known = self.common or self.by_source[source]
  if not known then
    self.by_source[source] = record.data
    return
  end
  local parts = hashes.differing(record.data or {}, known)
  if parts then
    errors.fail(("ladies.study: %s: %s was trained on other data than %s is now (%s); choose "
      .. "another folder"):format(self.folder, record.key, record.config.dataset or "its data set",
      parts))
  end
end

--- Fails when the data of an earlier record are not the data set as it is now.
function SameData:check(record)
  local source = one_run.source(record.config)
  if not self.by_source[source] then self.by_source[source] = self:now(record.config) end
  if self.common or self.by_source[source] then self:agree(record) end
end

return SameData
