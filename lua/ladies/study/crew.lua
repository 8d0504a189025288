--- Runs side by side, each in a process of its own: the program `ladies` once more, which trains
-- one run and leaves its record in a file that appears whole. So a run has its own memory and
-- clock, and takes nothing along when it dies. The processes end with this one, however it ends.
--
-- Beside each other in the folder `work`, for run n: n.run, what to do; n.record, what came out, or
-- why nothing did; n.log, what the process printed.

local core = require "ladies_core"
local json = require "ladies.base.json"
local trial = require "ladies.study.trial"

local crew = {}

local host = package.loaded.ladies_host or package.preload.ladies_host and require "ladies_host"

local TICK = 0.2       -- seconds between two looks at the processes
local ATTEMPTS = 2     -- of a run whose process was killed

--- Whether this program can start itself: not as a module of a stock lua5.4.
crew.possible = host ~= nil and host.program ~= ""

local function path_of(folder, n, what) return ("%s/%d.%s"):format(folder, n, what) end

--- In the process of run n: trains it and leaves the record.
function crew.serve(folder, n, opts)
  core.threads(opts.threads)
  local run = json.decode(core.file.read(path_of(folder, n, "run")))
  local ok, record = pcall(trial.run, run, {jobs = opts.jobs})
  if not ok then record = {key = run.key, failure = tostring(record)} end
  core.file.write(path_of(folder, n, "record"), json.encode(record))
end

-- The processes that are at work; closing it ends them.
local Members = {__close = function(members)
  for _, member in ipairs(members) do member.process:stop() end
end}

local function start(folder, n, opts)
  local statement = ("require 'ladies.study.crew'.serve(%q, %d, {threads = %d, jobs = %d})")
    :format(folder.path, n, opts.threads, opts.jobs)
  core.folder.remove(path_of(folder, n, "record"))
  local process = core.process.start({host.program, "-e", statement},
    {log = path_of(folder, n, "log")})
  return {n = n, process = process}
end

-- The record of run n, whose process has ended, or nil and why there is none.
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

--- Trains the `runs`, opts.jobs at a time. opts:
-- folder             of ladies.base.own_folder, for the files of the processes; removed in the end
-- jobs, threads      processes at the same time, and the threads of each
-- finished(record), failed(run, message)    called as runs end
-- tick               called several times a second
-- A run whose process was killed is tried once more.
function crew.run(runs, opts)
  local folder = opts.folder
  folder:remove "work"      -- what a study that was killed has left
  local _ <close> = setmetatable({}, {__close = function() core.folder.remove(folder.path) end})
  local _ <close> = folder:take "work"
  local members <close> = setmetatable({}, Members)
  local attempts, waiting = {}, {}
  for n, run in ipairs(runs) do
    core.file.write(path_of(folder, n, "run"),
      json.encode{key = run.key, config = run.config, trace = run.trace})
    waiting[n], attempts[n] = #runs + 1 - n, 0      -- the first is taken from the end
  end

  local function settle(n, status)
    local record, reason = outcome(folder, n, status)
    if record then
      opts.finished(record)
    elseif status > 128 and attempts[n] < ATTEMPTS then
      waiting[#waiting + 1] = n
    else
      opts.failed(runs[n], reason)
    end
  end

  while #members > 0 or #waiting > 0 do
    while #members < opts.jobs and #waiting > 0 do
      local n = table.remove(waiting)
      attempts[n] = attempts[n] + 1
      members[#members + 1] = start(folder, n, opts)
    end
    for i = #members, 1, -1 do
      local status = members[i].process:wait(TICK / opts.jobs)
      if status then settle(table.remove(members, i).n, status) end
    end
    opts.tick()
  end
end

return crew
