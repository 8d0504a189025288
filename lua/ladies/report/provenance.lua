--- Describes for a document how the numbers of a study were made: on which machine, by which
-- version of the program, and how long it took.

local core = require "ladies_core"
local machine = require "ladies.base.machine"
local progress = require "ladies.base.progress"
local units = require "ladies.base.units"

local provenance = {}

-- Returns the different texts that f(record) gives for the records, in the order in which they
-- first occur.
local function distinct(records, f)
  local list, seen = {}, {}
  for _, record in ipairs(records) do
    local text = f(record)
    if not seen[text] then list[#list + 1], seen[text] = text, true end
  end
  return list
end

--- Returns a sentence which warns that records were made with different machine.numerics(), so that
-- their bits may differ; nil where all have the same.
function provenance.numerics(records)
  local different = distinct(records, function(record) return record.numerics or "unknown" end)
  if #different < 2 then return nil end
  return ("Computed by %s: the same settings and seed may give other bits by each."):format(
    table.concat(different, " and by "))
end

local function note_of(records)
  local note = provenance.numerics(records)
  return note and " " .. note or ""
end

local function threads(record) return units.counted(record.threads, "thread") end

-- Says how one of n runs shared the machine; no more than n went side by side.
local function side_by_side(record, n)
  local jobs = math.min(record.jobs, n)
  return ("%s, %s each"):format(jobs == 1 and "one run at a time"
    or ("%d runs side by side"):format(jobs), threads(record))
end

--- Tells where training runs, records of ladies.study.one_run, come from: how many there are, how
-- long the study took, and what they shared the machine with, since the times of runs side by side
-- are those of a busy one.
function provenance.runs(study, records)
  local machines = distinct(records, function(record) return record.machine end)
  local sharing = distinct(records, function(record) return side_by_side(record, #records) end)
  local mixed = #sharing > 1
    and " Times of runs that shared the machine differently do not compare." or ""
  return ("%s on %s; %s. The study has taken %s so far.%s%s"):format(units.counted(#records, "run"),
    table.concat(machines, " and "), table.concat(sharing, "; "),
    progress.duration(study:seconds()), mixed, note_of(records))
end

--- Adds to the record of a measurement that is finished the seconds since `began` (of core.clock),
-- the machine, its numerics and the number of threads, unless it says its own; returns the record.
function provenance.sign(record, began)
  record.seconds, record.threads = core.clock() - began, record.threads or core.threads()
  record.machine, record.numerics = machine.text(), machine.numerics()
  return record
end

--- Tells how long signed measurements took, and on which machines.
function provenance.measurements(records)
  local seconds = 0
  for _, record in ipairs(records) do seconds = seconds + record.seconds end
  local machines = distinct(records, function(record)
    return ("%s (%s)"):format(record.machine, threads(record))
  end)
  return ("Measured in %s on %s.%s"):format(progress.duration(seconds),
    table.concat(machines, " and on "), note_of(records))
end

return provenance
