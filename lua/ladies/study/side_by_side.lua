--- Runs side by side, each in a process of its own: the program `ladies` once more, which trains
-- one run and leaves its record in a file that appears whole. So a run has its own memory and
-- clock, and takes nothing along when it dies. The processes end with this one, however it ends.
--
-- Beside each other in the folder `work`, for run n: n.run, what to do; n.record, what came out, or
-- why nothing did; n.log, what the process printed.

local core = require "ladies_core"
local json = require "ladies.base.json"
local one_run = require "ladies.study.one_run"
local own_code = require "ladies.experiment.own_code"
local tables = require "ladies.base.tables"

local side_by_side = {}

local host = package.loaded.ladies_host or package.preload.ladies_host and require "ladies_host"

local TICK = 0.2       -- seconds between two looks at the processes
local ATTEMPTS = 2     -- of a run whose process was killed

--- Whether this program can start itself: not as a module of a stock lua5.4.
side_by_side.possible = host ~= nil and host.program ~= ""

local function path_of(folder, n, what) return ("%s/%d.%s"):format(folder, n, what) end

--- In the process of run n: trains it and leaves the record. opts.own are the files of the user's
-- own code that the study's process has loaded.
function side_by_side.serve(folder, n, opts)
  core.threads(opts.threads)
  local run = json.decode(core.file.read(path_of(folder, n, "run")))
  local ok, record = pcall(function()
    for _, one in ipairs(opts.own) do own_code.load(one[1], one[2]) end
    return one_run.train(run, {jobs = opts.jobs})
  end)
  if not ok then record = {key = run.key, failure = tostring(record)} end
  core.file.write(path_of(folder, n, "record"), json.encode(record))
end

-- The processes that are at work; closing it ends them.
local AtWork = {__close = function(at_work)
  for _, one in ipairs(at_work) do one.process:stop() end
end}

local function start(folder, n, opts)
  local own = tables.map(own_code.files(), function(one)
    return ("{%q, %q}"):format(one[1], one[2])
  end)
  local statement = ("require 'ladies.study.side_by_side'.serve(%q, %d, "
    .. "{threads = %d, jobs = %d, own = {%s}})"):format(folder.path, n, opts.threads, opts.jobs,
    table.concat(own, ", "))
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
function side_by_side.run(runs, opts)
  local folder = opts.folder
  local _ <close> = folder:take "work"
  local _ <close> = setmetatable({}, {__close = function() folder:remove_taken() end})
  local at_work <close> = setmetatable({}, AtWork)
  local attempts, waiting = {}, {}
  for n, run in ipairs(runs) do
    core.file.write(path_of(folder, n, "run"),
      json.encode{key = run.key, config = run.config, trace = run.trace})
    waiting[n], attempts[n] = #runs + 1 - n, 0      -- the first is taken from the end
  end

  local function ended(n, status)
    local record, reason = outcome(folder, n, status)
    if record then
      opts.finished(record)
    elseif status > 128 and attempts[n] < ATTEMPTS then
      waiting[#waiting + 1] = n
    else
      opts.failed(runs[n], reason)
    end
  end

  while #at_work > 0 or #waiting > 0 do
    while #at_work < opts.jobs and #waiting > 0 do
      local n = table.remove(waiting)
      attempts[n] = attempts[n] + 1
      at_work[#at_work + 1] = start(folder, n, opts)
    end
    for i = #at_work, 1, -1 do
      local status = at_work[i].process:wait(TICK / opts.jobs)
      if status then ended(table.remove(at_work, i).n, status) end
    end
    opts.tick()
  end
end

return side_by_side
