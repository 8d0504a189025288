--- Studies whose runs are processes: the same results as in one process, whatever is killed.
local here = os.getenv "LADIES_SOURCE" .. "/tests"

local lu = require "luaunit"
local core = require "ladies_core"
local ladies = require "ladies"
local display = require "ladies.study.display"
local progress = require "ladies.base.progress"
local shell = require "tools.shell"
local Study = require "ladies.study"
local tables = require "ladies.base.tables"
local temporary = require "reference.temporary"
local toy_study = require "tools.toy_study"

local tests = {}

--- A run takes as long as those with its settings; two go on side by side.
function tests.test_forecast()
  local runs = {}
  for seed = 1, 3 do
    for _, method in ipairs{"full", "ladies"} do
      runs[#runs + 1] = {key = method .. seed, config = {method = method, seed = seed}}
    end
  end
  local outlook = display.forecast(runs, 2)
  lu.assertNil(outlook:left())
  outlook:ended("full1", 10)
  lu.assertEquals(outlook:left(), 5 * 10 / 2)
  outlook:ended("ladies1", 2)
  lu.assertEquals(outlook:left(), (2 * 10 + 2 * 2) / 2)
  outlook:ended("full2", 20)
  lu.assertEquals(outlook:left(), (15 + 2 * 2) / 2)
  outlook:ended "ladies2"                               -- failed
  lu.assertEquals(outlook:left(), (15 + 2) / 2)
end

--- The time left is what was expected, minus what has passed since.
function tests.test_expected_end()
  local now, text = 0, nil
  local bar = progress.new{total = 4, unit = "run", terminal = true,
    clock = function() return now end, write = function(line) text = line end}
  bar:expect(100)
  now = 40
  bar:update(1, now)
  lu.assertStrContains(text, "run 1/4")
  lu.assertStrContains(text, "1:00 left")
end

local dataset = toy_study.dataset

local function run_of(seed, given)
  local config = tables.merged({dataset = dataset, method = "ladies", samples = 5, layers = 2,
    hidden = 8, batch_size = 20, lr = 0.02, max_batches = 20, eval_every = 10, seed = seed}, given)
  return {key = "run " .. seed, config = config}
end

local function run(study, runs, given)
  local opts = tables.merged({jobs = 2, quiet = true}, given)
  study:run(runs, opts)
end

-- The F1s of the runs by key.
local function f1s(study, runs)
  local list = {}
  for _, one in ipairs(runs) do list[one.key] = study:record(one.key).test_f1 end
  return list
end

function tests.test_parallel_is_serial()
  local runs = {run_of(1), run_of(2), run_of(3, {shuffle = "labels"}),
    run_of(4, {method = "full"})}
  runs[4].config.samples = nil
  local one, two = Study.open(temporary.path "serial", "x"), Study.open(temporary.path "two", "x")
  run(one, runs, {jobs = 1})
  run(two, runs)
  lu.assertEquals(f1s(two, runs), f1s(one, runs))
  for _, each in ipairs(runs) do
    local record, alone = two:record(each.key), one:record(each.key)
    lu.assertEquals({record.jobs, record.threads, alone.jobs}, {2, 1, 1})
    lu.assertEquals(#record.curve, 2)
    lu.assertNil(record.history)
    for i, at in ipairs(record.curve) do lu.assertEquals(at[3], alone.curve[i][3]) end
    lu.assertTrue(record.wall >= record.seconds)
  end
  lu.assertTrue(two:seconds() > 0)
  lu.assertFalse(core.exists(temporary.path "two/work"))
  lu.assertFalse(core.exists(temporary.path "two/.ladies.lock"))
end

--- A run that wants a trace is not finished by a record without one; the other way round it is.
function tests.test_traces()
  local study, plain, traced = Study.open(temporary.path "traces", "x"), run_of(1), run_of(1)
  traced.trace = true
  run(study, {plain})
  lu.assertNil(study:record("run 1").trace)
  run(study, {traced})
  local trace, text = study:record("run 1").trace, ladies.file.read(study.results)
  lu.assertEquals(#trace, 2)
  lu.assertEquals(trace[2].val, study:record("run 1").curve[2][3])
  run(study, {plain})
  lu.assertEquals(ladies.file.read(study.results), text)
end

--- A run that fails is reported by name; with `failed` the others go on.
function tests.test_failures()
  local runs = {run_of(1), run_of(2, {dataset = "/nowhere/x.npz"}), run_of(3)}
  for jobs = 1, 2 do
    local study = Study.open(temporary.path("failing" .. jobs), "x")
    local told = {}
    run(study, runs, {jobs = jobs, failed = function(one, message)
      told[#told + 1] = one.key .. ": " .. message
    end})
    lu.assertEquals(#told, 1)
    lu.assertStrMatches(told[1], "run 2: [^\n]*/nowhere/x.npz: cannot be opened[^\n]*")
    lu.assertNotNil(study:record "run 3")
    lu.assertErrorMsgContains("run 2: ", run, study, runs, {jobs = jobs})
  end
end

--- Runs on data that has become another one since are not put beside those of before, neither those
-- that are there nor new ones.
function tests.test_changed_data()
  local path = temporary.path "changing.npz"
  local study, first = Study.open(temporary.path "changed", "x"), run_of(1, {dataset = path})
  local data = ladies.data.load(dataset)
  ladies.data.save(data, path)
  run(study, {first}, {jobs = 1})
  local before = ladies.file.read(study.results)
  data.features = data.features:scale_rows(ladies.full(data.graph.n_nodes, 2))
  ladies.data.save(data, path)
  for jobs = 1, 2 do
    for _, runs in ipairs{{first}, {first, run_of(2, {dataset = path})}} do
      lu.assertErrorMsgContains("run 1 was trained on other data than " .. path
        .. " is now (features); choose another folder", run, study, runs, {jobs = jobs})
    end
  end
  lu.assertEquals(ladies.file.read(study.results), before)
end

--- Runs one after the other each have their own split.
function tests.test_splits_of_runs()
  local study = Study.open(temporary.path "splits", "x")
  run(study, {run_of(1, {split = "20/20/60"}), run_of(2, {split = "20/20/60", split_seed = 2})},
    {jobs = 1})
  lu.assertNotEquals(study:record("run 1").data.train, study:record("run 2").data.train)
end

-- Calls f while the program that runs are given to is a shell script.
local function with_program(text, f)
  local host, path = package.loaded.ladies_host, temporary.path "program"
  local own = host.program
  ladies.file.write(path, "#!/bin/sh\n" .. text)
  os.execute("chmod +x " .. shell.quote(path))
  host.program = path
  local _ <close> = setmetatable({}, {__close = function() host.program = own end})
  f()
end

--- A process that is killed gets a second chance, one that ends without a record does not.
function tests.test_processes_that_die()
  local attempts = temporary.path "attempts"
  local function messages_of(program)
    local told = {}
    os.remove(attempts)
    with_program(("echo x >>%s\n%s\n"):format(shell.quote(attempts), program), function()
      run(Study.open(temporary.path "dying", "x"), {run_of(1)}, {failed = function(_, message)
        told[#told + 1] = message
      end})
    end)
    lu.assertEquals(#told, 1)
    return told[1], #ladies.file.read(attempts) // 2
  end
  local message, n = messages_of "echo out of memory >&2; kill -KILL $$"
  lu.assertEquals({message, n}, {"its process was ended by signal 9: out of memory", 2})
  message, n = messages_of "exit 3"
  lu.assertEquals({message, n}, {"its process ended with status 3: without a word", 1})
end

--- One process works on a folder; the other is told so.
function tests.test_lock()
  local study = Study.open(temporary.path "locked", "x")
  local lock <close> = study.folder:take "study"
  lu.assertNotNil(lock)
  lu.assertErrorMsgContains("locked: another process is at work there", run, study, {run_of(1)})
end

-- Runs the toy study to its end and returns its F1s by key.
local function finish(folder, runs, batches)
  shell.silent(shell.run_ladies{here .. "/tools/study_toy.lua", folder, dataset,
    tostring(runs), tostring(batches)})
  local list, n = {}, 0
  local study = Study.open(folder, "toy")
  for key, record in pairs(study.records) do list[key], n = record.test_f1, n + 1 end
  lu.assertEquals(n, runs)
  return list, study
end

--- A study that is killed leaves no process behind, loses the runs in progress alone, and ends with
-- the same numbers.
function tests.test_killed_and_started_again()
  local folder, batches = temporary.path "sigkill", 700
  local script = ("%s/tools/kill_study.sh"):format(here)
  local out = shell.run{script, folder .. "/results.jsonl", shell.ladies,
    here .. "/tools/study_toy.lua", folder, dataset, "5", tostring(batches)}
  lu.assertEquals(out, "")
  local before = ladies.file.read(folder .. "/results.jsonl")
  local finished = select(2, before:gsub("\n", ""))
  lu.assertTrue(finished >= 1 and finished < 5, finished)
  local f1, study = finish(folder, 5, batches)
  lu.assertEquals(ladies.file.read(study.results):sub(1, #before), before)
  lu.assertEquals(f1, (finish(temporary.path "undisturbed", 5, batches)))
end

--- Ctrl-C ends the processes and keeps what is finished.
function tests.test_interrupted()
  local folder = temporary.path "sigint"
  local _, err, status = shell.run{here .. "/tools/interrupt.sh", folder .. "/results.jsonl",
    shell.ladies, here .. "/tools/study_toy.lua", folder, dataset, "5", "700"}
  lu.assertEquals(status, 130)
  lu.assertStrContains(err, "interrupted!")
  lu.assertFalse(core.exists(folder .. "/work"))
  finish(folder, 5, 700)
end

--- Runs of one key are one run, and must be.
function tests.test_equal_keys()
  local study = Study.open(temporary.path "equal", "equal keys")
  local notes = {}
  local records = study:complete({run_of(1), run_of(1)}, {quiet = true}, notes)
  lu.assertEquals({#records, notes}, {1, {}})
  local other = run_of(2)
  other.key = run_of(1).key
  lu.assertErrorMsgContains("two different runs are called", study.run, study, {run_of(1), other},
    {quiet = true})
end

return tests
