--- Carries out the measurements of a study and saves their records as those of runs are.

local core = require "ladies_core"
local progress = require "ladies.base.progress"
local provenance = require "ladies.report.provenance"
local tables = require "ladies.base.tables"

--- measured(study, items, unit, quiet, measure) -> records: measures those of `items`, {key =,
-- ...}, that are not measured yet or have the field `again`: measure(item) gives a record, which is
-- kept with its time and machine. Returns the records of all. unit: what an item is, for the
-- progress bar.
return function(study, items, unit, quiet, measure)
  if #items == 0 then return {} end
  local _ <close> = study:take()
  local waiting = {}
  for _, item in ipairs(items) do
    if item.again or not study:record(item.key) then waiting[#waiting + 1] = item end
  end
  local done = #items - #waiting
  local bar = progress.new{total = #items, done = done, unit = unit, quiet = quiet}
  for i, item in ipairs(waiting) do
    local began = core.clock()
    local record = measure(item)
    record.key = item.key
    study:add(provenance.sign(record, began))
    bar:update(done + i, core.clock())
  end
  bar:clear()
  return tables.map(items, function(item) return study:record(item.key) end)
end
