--- Where measurements that are kept record by record are from, for the documents made of them.

local core = require "ladies_core"
local machine = require "ladies.machine"
local progress = require "ladies.progress"

local provenance = {}

--- Adds to a record when it is finished the seconds since `began` (of core.clock), the machine and
-- the number of threads; returns the record.
function provenance.sign(record, began)
  record.seconds, record.machine, record.threads = core.clock() - began, machine.text(),
    core.threads()
  return record
end

--- One sentence: how long the records took, and on which machines.
function provenance.text(records)
  local seconds, machines, seen = 0, {}, {}
  for _, record in ipairs(records) do
    local name = ("%s (%d thread%s)"):format(record.machine, record.threads,
      record.threads == 1 and "" or "s")
    if not seen[name] then machines[#machines + 1], seen[name] = name, true end
    seconds = seconds + record.seconds
  end
  return ("Measured in %s on %s."):format(progress.duration(seconds),
    table.concat(machines, " and on "))
end

return provenance
