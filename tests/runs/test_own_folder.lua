--- Folders of runs, studies and the cache: one process at a time works in one, and what is not the
-- program's own is neither written over nor removed.
local here = os.getenv "LADIES_SOURCE" .. "/tests"

local lu = require "luaunit"
local core = require "ladies_core"
local ladies = require "ladies"
local own_folder = require "ladies.base.own_folder"
local run_folder = require "ladies.training.record.run_folder"
local shell = require "tools.shell"
local stderr_of = require "tools.stderr_of"
local temporary = require "reference.temporary"
local toy_study = require "tools.toy_study"
local toy_training = require "reference.toy_training"

local tests = {}

local SMALL = {"--layers=2", "--hidden=8", "--batch-size=20", "--max-batches=8", "--eval-every=4",
  "--quiet"}
local ON_TOY = {"--dataset", toy_study.dataset, table.unpack(SMALL)}

-- A data set for calls of ladies.train that are refused before anything is computed.
local UNUSED = {graph = {}, features = ladies.zeros(1, 1), labels = ladies.index{1},
  train = ladies.index{1}, classes = 1}

-- Runs `ladies` with these words and `more`, those of a small experiment; returns what it printed,
-- its errors and its status.
local function run_with(more, words)
  return shell.run_ladies(table.move(more, 1, #more, #words + 1, words))
end

local function small(...) return run_with(ON_TOY, {...}) end

-- Every file below a folder with its content, and every link.
local function content(folder)
  return (shell.run{"sh", "-c", ("cd %s && find . ! -type d | sort | while read f; do "
    .. "echo $f; cat $f; done"):format(shell.quote(folder))})
end

-- Starts a long run in the folder and waits until it has validated; returns its process, which the
-- test must stop.
local function start_run(folder, ...)
  local process = core.process.start({shell.ladies, here .. "/tools/train_toy.lua", folder,
    "1000000000", "0", ...}, {log = folder .. ".out"})
  for _ = 1, 1000 do
    if core.folder.bytes(folder .. "/log.jsonl") > 0 then return process end
    assert(not process:wait(0.02), ladies.file.read(folder .. ".out"))
  end
  error "the run does not begin"
end

-- ---------------------------------------------------------------- one process at a time

--- Whatever way a second process comes, it is told who is there, and writes nothing; the lock ends
-- with its process, however that ends.
function tests.test_two_at_once()
  local folder = temporary.path "live"
  local process <close> = start_run(folder)
  local holder = ladies.file.read(folder .. "/.ladies.lock")
  local number = math.tointeger(holder:match "^process (%d+) on")
  local there = ("%s: another process is at work there (process %d on "):format(folder, number)
  lu.assertErrorMsgContains(there, run_folder.take, folder, true)      -- ladies.train's way
  ladies.file.write(folder .. "/config.json", "{}")
  shell.refuses(there, "", select(2, shell.run_ladies{"train", "--resume", folder}))
  shell.refuses("", small("train", "--out", folder))
  shell.refuses("", small("compare", "--methods=full", "--out", folder))
  os.execute("kill -KILL " .. number)
  lu.assertEquals(process:wait(10), 128 + 9)
  local lines = 0
  for line in io.lines(folder .. "/log.jsonl") do
    lines = lines + 1
    lu.assertEquals(line:sub(1, 9), '{"batch":')
  end
  lu.assertTrue(lines > 0)
  os.remove(folder .. "/config.json")
  local again <close> = start_run(folder, "resume")
  lu.assertNotNil(again)
end

--- Two that begin in one folder at the same moment: one of them trains, the other is told so.
function tests.test_two_begin_at_once()
  local folder = temporary.path "together"
  local command = ("'%s' '%s/tools/train_toy.lua' '%s' 300 0"):format(shell.ladies, here, folder)
  local out = shell.run{"sh", "-c", ("%s 2>&1 & a=$!; %s 2>&1; x=$?; wait $a; echo $x $?")
    :format(command, command)}
  local err, x, y = out:match "^(.-)(%d) (%d)\n$"
  lu.assertEquals(x + y, 1, out)
  lu.assertTrue((err:find "another process is at work there" or err:find "holds a run") ~= nil, err)
  lu.assertEquals(select(2, ladies.file.read(folder .. "/log.jsonl"):gsub('"loss"', "")), 300)
end

--- Two runs without a folder each find one of their own.
function tests.test_next_folder()
  local place <close> = shell.folder()
  local words = {shell.quote(shell.ladies), "train"}
  for _, word in ipairs(ON_TOY) do words[#words + 1] = shell.quote(word) end
  local command = table.concat(words, " ")
  local both = ("%s & %s; x=$?; wait $!; echo $x $?"):format(command, command)
  local out = shell.run({"sh", "-c", both}, {folder = place.path})
  lu.assertStrContains(out, "\n0 0\n")
  lu.assertEquals(core.files(place.path .. "/runs"), {"toy-ladies-1", "toy-ladies-2"})
end

-- ---------------------------------------------------------------- what is not ours

--- Files of the user by the very names that runs and studies use stay as they were, and each
-- command says why it does nothing.
function tests.test_folders_of_the_user()
  local folder = temporary.path "thesis"
  core.folder.make(folder .. "/work/chapters")
  for _, name in ipairs{"lock", "model.npz", "log.jsonl", "study.json", "results.jsonl", "table.md",
    "config.json", "checkpoint.npz", "work/1.run", "work/chapters/one"} do
    ladies.file.write(folder .. "/" .. name, "mine")
  end
  local before = content(folder)
  for _, words in ipairs{
    {"train"}, {"compare", "--methods=full"}, {"sweep", "--vary=lr=0.1,0.2", "--datasets=wordnet"},
    {"ablate", "--datasets=wordnet"}, {"table3", "--datasets=wordnet"},
    {"figures", "--datasets=wordnet"}, {"variance"}, {"costs"},
  } do
    words[#words + 1], words[#words + 2] = "--out", folder
    shell.refuses({folder, "no ladies.json"}, shell.run_ladies(words))
  end
  shell.refuses({folder, "no ladies.json"}, shell.run_ladies{"train", "--resume", folder})
  local data = ladies.data.load(toy_study.dataset)
  lu.assertErrorMsgContains("no ladies.json", ladies.data.export, data, folder,
    {format = "edge list"})
  lu.assertEquals(content(folder), before)
end

--- The pictures of a report go into a folder of its name; links to folders and empty folders of the
-- user stay, whatever becomes of the run.
function tests.test_what_stays()
  local place = temporary.path "place"
  core.folder.make(place .. "/runs/costs-1")
  core.folder.make(place .. "/paper")
  ladies.file.write(place .. "/runs/costs-1/costs.md", "![x](x.svg)")
  ladies.file.write(place .. "/runs/costs-1/x.svg", "")
  ladies.file.write(place .. "/paper/costs-1-x.svg", "mine")
  shell.refuses("paper holds files and no ladies.json",
    shell.run_ladies({"report", "--out", "paper.md"}, {folder = place}))
  lu.assertEquals(ladies.file.read(place .. "/paper/costs-1-x.svg"), "mine")
  core.folder.make(place .. "/empty")
  os.execute(("ln -s empty %s/link"):format(shell.quote(place)))
  for _, name in ipairs{"empty", "link"} do
    local out = ("%s/%s"):format(place, name)
    shell.refuses("", small("train", "--out", out, "--debias=true", "--draw=wr"))
    lu.assertEquals(core.exists(out), "folder")
  end
  shell.succeeded(small("train", "--out", place .. "/link"))
  lu.assertEquals(core.exists(place .. "/link/model.npz"), "file")
  shell.refuses("", shell.run_ladies({"train", "--dataset", toy_study.dataset, "--debias=true",
    "--draw=wr"}, {folder = place}))
  lu.assertEquals(core.files(place .. "/runs"), {"costs-1"})
end

--- A run's folder is not a study's, and a study's not a run's; a finished run stays.
function tests.test_folders_of_another_kind()
  local run, study = temporary.path "run", temporary.path "study"
  shell.succeeded(small("train", "--out", run))
  shell.succeeded(small("compare", "--methods=full", "--runs=1", "--out", study))
  local of_run, of_study = content(run), content(study)
  shell.refuses(run .. " holds a run, not a study",
    small("compare", "--methods=full", "--out", run))
  shell.refuses(study .. " holds a study, not a run", small("train", "--out", study))
  shell.refuses(run .. " holds a run: go on with it", small("train", "--out", run))
  lu.assertEquals({content(run), content(study)}, {of_run, of_study})
end

--- A folder `work` that the study has not made stays; what a killed study has left goes, and links
-- in it are not followed.
function tests.test_folder_of_processes()
  local study, user = temporary.path "parallel", temporary.path "elsewhere"
  local function sweep()
    return run_with(SMALL, {"sweep", "--methods=ladies:5", "--datasets", toy_study.dataset,
      "--vary", "lr=0.1,0.2", "--runs=1", "--jobs=2", "--out", study})
  end
  core.folder.make(user)
  ladies.file.write(user .. "/keep", "mine")
  own_folder.at(study):make "study"
  core.folder.make(study .. "/work")
  ladies.file.write(study .. "/work/keep", "mine")
  shell.refuses(study .. "/work holds files and no ladies.json", sweep())
  lu.assertEquals(ladies.file.read(study .. "/work/keep"), "mine")
  core.folder.remove(study .. "/work")
  own_folder.at(study .. "/work"):make "work"
  os.execute(("ln -s %s %s/work/link"):format(shell.quote(user), shell.quote(study)))
  shell.silent(sweep())
  lu.assertFalse(core.exists(study .. "/work"))
  lu.assertEquals(ladies.file.read(user .. "/keep"), "mine")
end

--- Files that a killed study of several processes has left go when one process goes on with it, or
-- when nothing is left to do; a folder of the user's by that name stays.
function tests.test_what_processes_have_left_goes_with_one()
  local study = temporary.path "alone"
  local function sweep()
    return run_with(SMALL, {"sweep", "--methods=ladies:5", "--datasets", toy_study.dataset,
      "--vary", "lr=0.1", "--runs=1", "--jobs=1", "--out", study})
  end
  for _ = 1, 2 do
    own_folder.at(study):make "study"
    own_folder.at(study .. "/work"):make "work"
    ladies.file.write(study .. "/work/1.run", "{}")
    shell.silent(sweep())
    lu.assertFalse(core.exists(study .. "/work"))
  end
  core.folder.make(study .. "/work")
  ladies.file.write(study .. "/work/keep", "mine")
  shell.silent(sweep())
  lu.assertEquals(core.files(study .. "/work"), {"keep"})
end

--- A folder of the user's that LADIES_CACHE names is refused as a cache, and stays as it was.
function tests.test_cache()
  local cache = temporary.path "documents"
  core.folder.make(cache)
  ladies.file.write(cache .. "/toy.npz", "mine")
  ladies.file.write(cache .. "/toy.json", "mine")
  local before = content(cache)
  shell.refuses({cache, "no ladies.json"}, shell.run_ladies({"import", toy_study.dataset},
    {env = {"LADIES_CACHE=" .. cache, "LADIES_OFFLINE=1"}}))
  lu.assertEquals(content(cache), before)
end

-- ---------------------------------------------------------------- what is

function tests.test_empty_folder_and_marker()
  local folder = temporary.path "empty"
  core.folder.make(folder)
  shell.succeeded(small("train", "--out", folder))
  lu.assertEquals(ladies.file.read(folder .. "/ladies.json"),
    ('{\n  "kind": "run",\n  "version": "%s"\n}\n'):format(core.version))
  lu.assertFalse(core.exists(folder .. "/.ladies.lock"))
  ladies.file.write(temporary.path "file", "")
  lu.assertErrorMsgContains("is a file", ladies.train, {
    data = UNUSED, model = {forward = print}, sampler = print, out = temporary.path "file"})
end

--- An empty path is not the root of the file system.
function tests.test_empty_path()
  lu.assertErrorMsgContains("the path of a folder is empty", own_folder.at, "")
  lu.assertErrorMsgContains("the path of a folder is empty", ladies.train, {
    data = UNUSED, model = {forward = print}, sampler = print, out = ""})
  lu.assertErrorMsgContains("ladies.data.load: the name is empty", ladies.data.load, "")
  for _, words in ipairs{{"train", "--out", ""}, {"train", "--resume", ""}, {"train", ""},
    {"train", "--dataset="}, {"import", ""}, {"compare", "--out", ""}} do
    local _, err, status = shell.run_ladies(words)
    lu.assertStrMatches(err, "ladies [^\n]* is empty\n")
    lu.assertTrue(status > 0)
  end
end

--- Wrong options leave no folder.
function tests.test_ranges()
  local out = temporary.path "none"
  local _, err, status = shell.run_ladies{"train", "--workers", "1000", "--out", out}
  lu.assertEquals({err, status}, {
    "ladies train: --workers must be an integer in [0, 256], got 1000\n", 2})
  _, err, status = shell.run_ladies{"train", "./a.npz", "--dataset", "./b.npz", "--out", out}
  lu.assertEquals({err, status},
    {"ladies train: both ./a.npz and --dataset ./b.npz are given\n", 2})
  lu.assertFalse(core.exists(out))
end

--- A run that fails before its first batch leaves nothing behind of what it has made, and nothing
-- else is removed; one that fails later leaves what it has.
function tests.test_nothing_left_of_a_run_without_batches()
  local place = temporary.path "beginning"
  local function begin(out, own)
    local opts = toy_training.options(own)
    opts.out, opts.seed = place .. out, 7
    lu.assertError(ladies.train, opts)
  end
  local function fail() error "not today" end
  begin("/a//b/c/", {sampler = fail})
  begin("/d", {monitor = {name = "none"}})
  lu.assertFalse(core.exists(place))
  core.folder.make(place .. "/own")
  core.folder.make(place .. "/used")
  ladies.file.write(place .. "/used/note", "mine")
  begin("/own", {sampler = fail})
  begin("/own/x/y", {sampler = function()
    ladies.file.write(place .. "/own/x/note", "mine")
    fail()
  end})
  begin("/used", {sampler = fail})
  lu.assertEquals({core.files(place .. "/own"), core.files(place .. "/own/x")}, {{"x"}, {"note"}})
  lu.assertEquals(core.files(place .. "/used"), {"note"})
  begin("/later", {on_batch = function(at) if at.batch == 2 then fail() end end})
  lu.assertEquals(core.files(place .. "/later"), {"ladies.json", "log.jsonl"})
  local log = ladies.file.read(place .. "/later/log.jsonl")
  stderr_of(function() begin("/later", {resume = true, sampler = fail}) end)
  lu.assertEquals(ladies.file.read(place .. "/later/log-1.jsonl"), log)
end

--- A command whose run cannot begin says what is wrong and nothing else, and leaves no folder.
function tests.test_nothing_told_of_a_run_that_cannot_begin()
  local place <close> = shell.folder()
  for _, words in ipairs{{"--samples=5,5,5"}, {"--samples=5,5,5", "--out=runs/x"}} do
    local argv = {"train", table.unpack(words)}
    table.move(ON_TOY, 1, #ON_TOY, #argv + 1, argv)
    local out, err, status = shell.run_ladies(argv, {folder = place.path})
    lu.assertEquals({out, err, status}, {"",
      "ladies train: ladies.samplers.ladies: samples has 3 numbers for 2 layers\n", 1})
    lu.assertEquals(core.files(place.path), {})
  end
end

--- The log of a run that has lost its checkpoint is kept; with a model the run is finished, and
-- stays as it is.
function tests.test_log_without_checkpoint()
  local run = temporary.path "lost"
  shell.succeeded(small("train", "--out", run))
  os.remove(run .. "/checkpoint.npz")
  local before = content(run)
  shell.refuses("and model.npz, and no checkpoint.npz to go on from", "",
    select(2, shell.run_ladies{"train", "--resume", run}))
  lu.assertEquals(content(run), before)
  os.remove(run .. "/model.npz")
  local log = ladies.file.read(run .. "/log.jsonl")
  local _, err = shell.succeeded(shell.run_ladies{"train", "--resume", run, "--quiet"})
  lu.assertStrContains(err, "the run begins anew, and that log is kept as log-1.jsonl\n")
  lu.assertEquals(ladies.file.read(run .. "/log-1.jsonl"), log)
end

--- Temporary files of processes that are gone are removed, and no others.
function tests.test_temporary_files()
  local folder = own_folder.at(temporary.path "swept")
  folder:make "run"
  local gone = core.process.start({"sh", "-c", "echo $$"}, {log = temporary.path "gone"})
  gone:wait(10)
  local number = ladies.file.read(temporary.path "gone"):match "%d+"
  local names = {"checkpoint.npz.tmp%s-0", "model.npz.tmp%s-3", "notes.tmp", "x.tmp%s"}
  for _, name in ipairs(names) do ladies.file.write(folder:file(name:format(number)), "") end
  local cache = temporary.path "swept_cache"
  own_folder.at(cache):make "cache"
  ladies.file.write(("%s/toy.npz.tmp%s-0"):format(cache, number), "")
  shell.run_ladies({"import", toy_study.dataset}, {env = {"LADIES_CACHE=" .. cache}})
  lu.assertEquals(core.files(cache), {"ladies.json", "toy.json", "toy.npz"})
  ladies.file.write(folder:file "model.npz.tmp1-0", "")        -- process 1 is there
  do local _ <close> = folder:take "run" end
  lu.assertEquals(core.files(folder.path), {"ladies.json", "model.npz.tmp1-0", "notes.tmp",
    "x.tmp" .. number})
end

return tests
