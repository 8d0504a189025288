--- Manages studies, lists of training runs whose results are saved in a folder, each when its run
-- ends. A study that was killed can go on where it stopped, and only loses the runs in progress.
--
--   local study = Study.open("studies/cora", "cora, 10 runs")
--   study:run({{key = "ladies-1", config = {...}}, ...}, {jobs = 2})
--   study:record "ladies-1"                            -- {key =, config =, test_f1 =, ...}
--
-- The folder (see ladies.base.own_folder) holds study.json, what the study is and how long it took
-- so far, and results.jsonl, a record of ladies.study.one_run for each finished run, in the order
-- in which they ended.

local by_ranks = require "ladies.study.by_ranks"
local core = require "ladies_core"
local data_notes = require "ladies.data.notes"
local data_sets = require "ladies.data"
local display = require "ladies.study.display"
local errors = require "ladies.base.errors"
local json = require "ladies.base.json"
local machine = require "ladies.base.machine"
local options = require "ladies.base.options"
local own_code = require "ladies.experiment.own_code"
local own_folder = require "ladies.base.own_folder"
local Report = require "ladies.report"
local SameData = require "ladies.study.same_data"
local runners = require "ladies.study.runners"
local tables = require "ladies.base.tables"

local Study = {__name = "ladies.Study"}
Study.__index = Study

-- The options of all commands with a study: how their runs are carried out, and where results are
-- saved.
local OPTIONS = {
  settings = {"table", {}}, jobs = {"positive integer", machine.cores},
  threads = {"positive integer", 1}, out = "string or nil", quiet = {"boolean", false},
}

--- Returns the option types of a command with a study, for ladies.options: its own, and settings,
-- jobs, threads, out and quiet.
function Study.options(own)
  return tables.merged(OPTIONS, own)
end

--- Fails where settings have one that the study sets itself. sets: by such settings, the option
-- that does it.
function Study.check_settings(where, settings, sets)
  for _, name in ipairs(tables.sorted_keys(sets)) do
    if settings[name] ~= nil then
      errors.fail(("%s: settings.%s is not taken: see the option %s"):format(where, name,
        sets[name]))
    end
  end
end

-- Reads the finished runs from results.jsonl. Returns them by key, and the length of all complete
-- lines; a last line that was cut off is ignored.
local function read_results(path)
  local records, whole = {}, 0
  if core.exists(path) ~= "file" then return records, whole end
  for line in core.file.read(path):gmatch "([^\n]*\n)" do
    local ok, record = errors.try(json.decode, line)
    if not ok or type(record) ~= "table" then
      errors.fail(("ladies.study: %s: byte %d begins no JSON"):format(path, whole))
    end
    records[record.key], whole = record, whole + #line
  end
  return records, whole
end

-- Reads the header of the study in the folder; fails if it is of another study than this identity.
local function read_header(folder, identity)
  local header = folder:read_json "study.json"
  if header.study ~= identity then
    errors.fail(("ladies.study: %s holds another study (%s); choose another folder"):format(
      folder, header.study))
  end
  return header
end

--- Opens the study in the folder `path`, a new one or the one that is there. identity: text that
-- says what the study is; a folder that holds another study, or anything else, is refused.
function Study.open(path, identity)
  local folder = own_folder.at(path)
  folder:check "study"
  if not folder:has "study.json" then
    local _ <close> = folder:take "study"
    folder:write_json("study.json", {study = identity, seconds = 0})
  end
  local header = read_header(folder, identity)
  local results = folder:file "results.jsonl"
  return setmetatable({folder = folder, header = header, results = results, failed = 0,
    records = read_results(results)}, Study)
end

--- Opens the study of this identity in the first of the folders base-1, base-2, ... that holds it
-- or is free.
function Study.find(base, identity)
  local n = 1
  while true do
    local path = ("%s-%d"):format(base, n)
    local there = path .. "/study.json"
    if core.exists(there) ~= "file"
      or json.decode(core.file.read(there), there).study == identity then
      return Study.open(path, identity)
    end
    n = n + 1
  end
end

--- Opens the study in the folder `out`, or if that is nil, in the folder that Study.find chooses.
function Study.at(out, base, identity)
  if out then return Study.open(out, identity) end
  return Study.find(base, identity)
end

--- Returns the name or path by which runs load the data set of this name: the name itself or, for a
-- data set that made[name]() makes, the path of its file in the study's folder.
function Study:place(name, made)
  if not made[name] then return name end
  local path = self.folder:file(name .. ".npz")
  if core.exists(path) ~= "file" then data_sets.save(made[name](), path, {compress = false}) end
  return path
end

--- Returns the record of the finished run with this key, or nil.
function Study:record(key)
  return self.records[key]
end

--- Returns the seconds that the study took so far, in all processes that worked on it.
function Study:seconds()
  return self.header.seconds or 0
end

--- Locks the study for this process, until the <close> variable that holds the result goes out of
-- scope; it is an error when another process has it. Reads again what other processes have finished
-- meanwhile, and removes a last line that was cut off.
function Study:take()
  local lock = self.folder:take "study"
  local whole
  self.header = read_header(self.folder, self.header.study)
  self.records, whole = read_results(self.results)
  if core.exists(self.results) == "file" then core.truncate(self.results, whole) end
  self.taken = true
  return lock
end

--- Saves a finished record, plain data with a `key`: appends it to the file in one write. Only the
-- process that has locked the study may call it.
function Study:add(record)
  assert(self.taken, "ladies.study: nobody has taken the study")
  local file = assert(io.open(self.results, "a"))
  file:setvbuf("full", 1 << 20)
  local ok, reason = file:write(json.encode(record), "\n")
  if ok then ok, reason = file:close() end
  if not ok then errors.fail(("ladies.study: %s: %s"):format(self.results, reason)) end
  self.records[record.key] = record
end

-- Returns the runs without duplicates; fails where two different runs have the same key.
local function distinct(runs)
  local list, configs = {}, {}
  for _, run in ipairs(runs) do
    local config = json.encode(run.config)
    if not configs[run.key] then
      list[#list + 1], configs[run.key] = run, config
    elseif configs[run.key] ~= config then
      errors.fail(("ladies.study: two different runs are called %q"):format(run.key))
    end
  end
  return list
end

-- Returns a configuration as a text, for comparison. A missing model means gcn.
local function text_of(config)
  return json.encode(tables.merged({model = "gcn"}, config))
end

-- Returns the runs that still have to be trained: those without a record of these very settings, or
-- without the trace that they want. Records of other settings are dropped; a record of other data
-- is an error.
function Study:waiting(runs, same_data)
  local list = {}
  for _, run in ipairs(runs) do
    local record = self.records[run.key]
    if not record or text_of(record.config) ~= text_of(run.config)
      or run.trace and not record.trace then
      list[#list + 1], self.records[run.key] = run, nil
    else
      same_data:check(record)
    end
  end
  return list
end

-- Returns the name of a method or model of the runs that is a function of this process, which other
-- processes cannot load; nil if there is none.
local function of_this_process(runs)
  for _, run in ipairs(runs) do
    local name = own_code.function_in(run.config)
    if name then return name end
  end
end

--- Trains those of `runs`, {key =, config = [, trace = true]} with settings of ladies.experiment,
-- that are not finished yet with these very settings; see ladies.study.one_run for the trace. opts:
-- jobs      runs at the same time (1), each in a process of its own where there are several, and
--           within by_ranks.lead, where there are so many at each rank; in a stock lua5.4, or
--           where a method or a model is a function of this process (see ladies.experiment.own),
--           there is one. Results do not depend on it, times do.
-- threads   of each of those processes (1); of this one, where there is one at a time (as they are)
-- failed    failed(run, message), called for a run that ended in an error; the others go on. By
--           default the study stops at the first failure.
-- check     check(record), called for a run that is finished, before its record is kept: an error
--           ends the study
-- data      a data set for all of them (by default each run's config.dataset is loaded); then runs
--           are not side by side
-- quiet     show no progress
-- Runs of equal key and settings are one; of equal key and other settings, an error. So is a data
-- set that holds something else now than when other runs here were trained on it. A folder in which
-- another process is at work is refused.
function Study:run(runs, given)
  local opts = options.check("ladies.study", given, {
    jobs = {"positive integer", 1}, threads = "positive integer or nil", failed = "callable or nil",
    check = "callable or nil", data = "any or nil", quiet = {"boolean", false},
  })
  runs = distinct(runs)
  local _ <close> = self:take()
  local work_folder = own_folder.at(self.folder:file "work")
  work_folder:remove_left "work"      -- by a study that was killed
  local same_data = SameData.new(self.folder, opts.data)
  local waiting = self:waiting(runs, same_data)
  if #waiting == 0 then return end
  local others = by_ranks.others()
  if not runners.possible or opts.data or of_this_process(runs) then opts.jobs, others = 1, nil end
  local began, before = core.clock(), self:seconds()
  local shown <close> = display.new(self, runs, #waiting,
    {quiet = opts.quiet, jobs = opts.jobs * (others and others.ranks or 1)})
  local work = {
    jobs = opts.jobs, threads = opts.threads or opts.jobs > 1 and 1 or core.threads(),
    data = opts.data, folder = work_folder, others = others,
    tick = function() shown:tick() end,
    finished = function(record)
      same_data:agree(record)
      if opts.check then opts.check(record) end
      self:add(record)
      self.header.seconds = before + core.clock() - began
      self.folder:write_json("study.json", self.header)
      shown:ended(record.key, record)
      if record.notes then
        shown.bar:clear()
        data_notes.tell(record.notes)
      end
      shown:tick()
    end,
    failed = function(run, message)
      message = errors.told(message)
      if not opts.failed then errors.fail(("%s: %s"):format(run.key, message)) end
      shown:ended(run.key)
      opts.failed(run, message)
    end,
  }
  local in_processes = opts.jobs > 1 or others
  return (in_processes and runners.side_by_side or runners.in_turn)(waiting, work)
end

--- Returns the runs that are finished with these very settings.
function Study:finished(runs)
  local list = {}
  for _, run in ipairs(runs) do
    local record = self.records[run.key]
    if record and text_of(record.config) == text_of(run.config) then
      list[#list + 1] = run
    end
  end
  return list
end

--- Trains the runs as study:run does, but goes on when some fail: `notes` gets a line for each of
-- them, and study.failed is their number. Returns the records of the others, in order; it is an
-- error when there are none.
function Study:complete(runs, opts, notes)
  local failures = {}
  self:run(runs, {jobs = opts.jobs, threads = opts.threads, quiet = opts.quiet, data = opts.data,
    check = opts.check, failed = function(run, message)
      failures[#failures + 1] = ("%s failed: %s"):format(run.key, message)
    end})
  local alone = opts.jobs and opts.jobs > 1 and of_this_process(runs)
  if alone then
    notes[#notes + 1] = alone .. " is a function, which does not cross into other processes: the "
      .. "runs went one after the other"
  end
  local records = {}
  for _, run in ipairs(distinct(runs)) do records[#records + 1] = self:record(run.key) end
  if #records == 0 and failures[1] then errors.fail(failures[1]) end
  self.failed = #failures
  tables.append(notes, failures)
  return records
end

--- Makes an empty report (see ladies.report) in the folder of the study.
function Study:report(name, title)
  local report = Report.new(name, self.folder.path, title)
  report.failed = self.failed
  return report
end

return Study
