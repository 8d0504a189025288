--- Trains the runs of a study, either one after the other in this process, or several at a time,
-- each in a process of its own. Such a process is another instance of the program `ladies`, which
-- trains one run and writes its record to a file: so a run has its own memory and clock, and a
-- crash affects no other run. The processes end with this one, however it ends. Other ranks, which
-- mpirun has started, have such processes too (see ladies.study.by_ranks).
--
-- In the folder `work` a process has, for run n, the files n.run, what to do; n.record, the result,
-- or why there is none; n.log, what the process printed.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local json = require "ladies.base.json"
local one_run = require "ladies.study.one_run"
local own_code = require "ladies.experiment.own_code"
local tables = require "ladies.base.tables"
local with_threads = require "ladies.base.with_threads"

local runners = {}

local host = package.loaded.ladies_host or package.preload.ladies_host and require "ladies_host"

local TICK = 0.2       -- seconds between two looks at the processes
local ATTEMPTS = 2     -- of a run whose process was killed

--- True if processes can be started: under the program `ladies` they can, in a stock lua5.4 they
-- cannot.
runners.possible = host ~= nil and host.program ~= ""

local function path_of(folder, n, what) return ("%s/%d.%s"):format(folder, n, what) end

--- Trains run n and writes its record; it is called in the run's own process. opts.own are the
-- files of the user's own code that the study's process has loaded.
function runners.serve(folder, n, opts)
  core.threads(opts.threads)
  local run = json.decode(core.file.read(path_of(folder, n, "run")))
  local ok, record = pcall(function()
    for _, one in ipairs(opts.own) do own_code.load(one[1], one[2]) end
    return one_run.train(run, {jobs = opts.jobs})
  end)
  if not ok then record = {key = run.key, failure = tostring(record)} end
  core.file.write(path_of(folder, n, "record"), json.encode(record))
end

-- Starts the process of run n.
local function start(folder, n, opts)
  local own = tables.map(opts.own, function(one)
    return ("{%q, %q}"):format(one[1], one[2])
  end)
  local statement = ("require 'ladies.study.runners'.serve(%q, %d, "
    .. "{threads = %d, jobs = %d, own = {%s}})"):format(folder.path, n, opts.threads, opts.at_once,
    table.concat(own, ", "))
  core.folder.remove(path_of(folder, n, "record"))
  local process = core.process.start({host.program, "-e", statement},
    {log = path_of(folder, n, "log")})
  return {n = n, process = process}
end

-- Returns the record of run n, whose process has ended, or nil and the reason why there is none.
local function outcome(folder, n, status)
  local path = path_of(folder, n, "record")
  if core.exists(path) == "file" then
    local record = json.decode(core.file.read(path), path)
    return not record.failure and record, record.failure
  end
  local log = core.file.read(path_of(folder, n, "log"))
  local how = status > 128 and ("was ended by signal %d"):format(status - 128)
    or ("ended with status %d"):format(status)
  return nil, ("its process %s: %s"):format(how, log:match "([^\n]+)\n*$" or "without a word")
end

local Crew = {}
Crew.__index = Crew

--- runners.crew(folder, opts) -> Crew: makes a set of processes, whose files are in a folder (see
-- ladies.base.own_folder), until the <close> variable that holds it goes out of scope. opts: jobs,
-- the most at a time; at_once, how many there are at all ranks; threads of each; own, the files of
-- the user's own code that they load (see own_code.files).
function runners.crew(folder, opts)
  return setmetatable({folder = folder, lock = folder:take "work", opts = opts, at_work = {}}, Crew)
end

--- Returns how many more processes there may be.
function Crew:free() return self.opts.jobs - #self.at_work end

--- Begins to train run n.
function Crew:begin(n, run)
  core.file.write(path_of(self.folder, n, "run"),
    json.encode{key = run.key, config = run.config, trace = run.trace})
  table.insert(self.at_work, start(self.folder, n, self.opts))
end

--- Waits a little for processes to end, at most a fraction of a second. Returns the runs that have
-- ended: {n =, record =, reason = why there is no record, status = of the process}.
function Crew:ended()
  local list = {}
  for i = #self.at_work, 1, -1 do
    local status = self.at_work[i].process:wait(TICK / self.opts.jobs)
    if status then
      local n = table.remove(self.at_work, i).n
      local record, reason = outcome(self.folder, n, status)
      list[#list + 1] = {n = n, record = record, reason = reason, status = status}
    end
  end
  return list
end

function Crew:__close()
  for _, one in ipairs(self.at_work) do one.process:stop() end
  self.folder:remove_taken()
  local _ <close> = self.lock
end

--- Trains the `runs`, opts.jobs at a time, and as many at each of the other ranks that there are
-- in `others`. opts:
-- folder             of ladies.base.own_folder, for the files of the processes; removed in the end
-- jobs, threads      processes at the same time, and the threads of each
-- others             of ladies.study.by_ranks, nil where there are none
-- finished(record), failed(run, message)    called as runs end
-- tick               called several times a second
-- A run whose process was killed is tried once more.
function runners.side_by_side(runs, opts)
  local others = opts.others
  local settings = {jobs = opts.jobs, at_once = opts.jobs * (others and others.ranks or 1),
    threads = opts.threads, own = own_code.files()}
  local crew <close> = runners.crew(opts.folder, settings)
  local attempts, waiting, left = {}, {}, #runs
  for n in ipairs(runs) do
    waiting[n], attempts[n] = #runs + 1 - n, 0      -- the first is taken from the end
  end

  local function next_run()
    local n = table.remove(waiting)
    attempts[n] = attempts[n] + 1
    return n, runs[n]
  end

  local function ended(one)
    if not one.record and one.status > 128 and attempts[one.n] < ATTEMPTS then
      waiting[#waiting + 1] = one.n
      return
    end
    left = left - 1
    if one.record then
      opts.finished(one.record)
    else
      opts.failed(runs[one.n], one.reason)
    end
  end

  while left > 0 do
    while crew:free() > 0 and #waiting > 0 do crew:begin(next_run()) end
    for _, one in ipairs(crew:ended()) do ended(one) end
    for _, one in ipairs(others and others:go_on(settings, waiting, next_run) or {}) do
      ended(one)
    end
    opts.tick()
  end
end

--- Trains the `runs`, one after the other; the options are those of side_by_side, and `data`, a
-- data set for all of them instead of each run's own.
function runners.in_turn(runs, opts)
  local _ <close> = with_threads(opts.threads)
  local data, source = opts.data, nil
  for _, run in ipairs(runs) do
    local ok, record = errors.try(function()
      local wanted = one_run.source(run.config)
      if not opts.data and wanted ~= source then
        data, source = nil, nil
        data, source = one_run.load(run.config), wanted
      end
      return one_run.train(run, {data = data, tick = opts.tick})
    end)
    if ok then
      opts.finished(record)
    else
      opts.failed(run, tostring(record))
    end
  end
end

return runners
