--- Ends runs of several ranks before their time: killed, interrupted, out of room. Nobody waits for
-- the others then, a line says why, and the run goes on to the bits of one that was left alone.
local here = os.getenv "LADIES_SOURCE" .. "/tests"

local lu = require "luaunit"
local core = require "ladies_core"
local files = require "tools.files"
local ranks = require "tools.ranks"
local shell = require "tools.shell"
local temporary = require "reference.temporary"
local toy_study = require "tools.toy_study"

local tests = {}
local SCRIPT = here .. "/tools/train_ranks.lua"

local function arguments(folder, options)
  return {SCRIPT, ("{out = %q, resume = true, %s}"):format(temporary.path(folder), options)}
end

local function model(folder) return files.read(temporary.path(folder) .. "/model.npz") end

-- Trains alone from where the run in the folder is, and compares with a run that was left alone.
local function assert_goes_on(folder, options, whole)
  shell.succeeded(shell.run_ladies(arguments(folder, options)))
  if not core.exists(temporary.path(whole)) then
    shell.succeeded(shell.run_ladies(arguments(whole, options)))
  end
  lu.assertTrue(model(folder) == model(whole), folder)
end

-- Returns options by which a rank runs a command against itself in the midst of the run, at a
-- batch.
local function at_batch(rank, batch, command)
  return ([[checkpoint_every = 0, on_batch = function(at)
    if rank == %d and at.batch == %d then os.execute %q end
  end]]):format(rank, batch, command)
end

--- A rank that is killed, the first or another, ends the run, which goes on from its checkpoint.
function tests.test_killed()
  for rank, batch in pairs{[0] = 29, [1] = 42} do
    local folder = "killed" .. rank
    local _, _, status = ranks.run(2, arguments(folder, at_batch(rank, batch, "kill -9 $PPID")))
    lu.assertEquals(status, 137)
    lu.assertFalse(core.exists(temporary.path(folder) .. "/model.npz"))
    assert_goes_on(folder, "", "whole")
  end
end

--- A checkpoint without room ends the run with one line; the one before is whole.
function tests.test_no_room()
  if not core.process.exists "prlimit" then lu.skip "there is no prlimit" end
  local options = at_batch(0, 33, "prlimit --pid $PPID --fsize=5000")
  local err = shell.refused(ranks.run(2, arguments("room", options)))
  lu.assertStrMatches(err, "rank 0 of 2 on .*File too large.*")
  assert_goes_on("room", "", "whole")
end

--- Ctrl-C at mpirun leaves a checkpoint of all steps so far.
function tests.test_interrupted()
  local folder = "interrupted"
  local log = temporary.path(folder) .. "/log.jsonl"
  local _, err, status = ranks.run(2, arguments(folder, "max_batches = 1000000"), {
    before = {"bash", here .. "/tools/interrupt.sh", log},
    env = {"OMPI_MCA_odls_base_sigkill_timeout=3"}})
  lu.assertNotEquals(status, 0, err)
  local done = #files.lines(log)
  lu.assertEquals(core.exists(temporary.path(folder) .. "/checkpoint.npz"), "file")
  assert_goes_on(folder, ("max_batches = %d"):format(done + 40), "long")
end

--- A rank that does not even begin MPI is waited for as long as for anything else.
function tests.test_not_begun()
  local folder <close> = shell.folder()
  local _, err, status = ranks.run_shell([[
    export LADIES_PATIENCE=2
    mpirun --quiet -n 3 sh -c '
      if [ $OMPI_COMM_WORLD_RANK = 2 ]; then sleep 60; fi
      exec ladies -e "print(ladies.comm.rank)"']], {folder = folder.path})
  lu.assertEquals(status, 1, err)
  lu.assertStrMatches(err,
    "rank 0 on [^\n]*: ladies: ranks: waited 2 s for other ranks to begin MPI\n")
end

-- ---------------------------------------------------------------- the command

local SETTINGS = {"--dataset", toy_study.dataset, "--model", "gcn", "--layers", "2", "--hidden",
  "16", "--samples", "20", "--batch-size", "10", "--accumulate", "6", "--eval-every", "12"}

local function command(...)
  return table.move({...}, 1, select("#", ...), #SETTINGS + 2,
    table.move(SETTINGS, 1, #SETTINGS, 2, {"train"}))
end

-- The last line that was printed.
local function last_line(text) return text:match "([^\n]*)\n$" end

--- `ladies train` under mpirun prints once what it prints alone, chooses one folder, and goes on.
function tests.test_command()
  local folder <close> = shell.folder()
  local out = shell.succeeded(ranks.run(2, command("--max-batches", "30", "--quiet"),
    {folder = folder.path}))
  lu.assertEquals(select(2, out:gsub("configuration  ", "")), 1)
  lu.assertEquals(shell.run({"ls", "runs"}, {folder = folder.path}), "toy-ladies-1\n")
  out = shell.succeeded(ranks.run(3, {"train", "--resume", "runs/toy-ladies-1", "--max-batches",
    "60", "--profile"}, {folder = folder.path}))
  lu.assertStrContains(out, "3 ranks, 30 batches: a rank trained for ")
  lu.assertStrMatches(out, ".*\n| gradients *| +60 |.*")
  local alone = shell.run_ladies(command("--max-batches", "60"), {folder = folder.path})
  lu.assertEquals(last_line(out), last_line(alone))
  lu.assertTrue(files.read(folder.path .. "/runs/toy-ladies-1/model.npz")
    == files.read(folder.path .. "/runs/toy-ladies-2/model.npz"))
end

--- Mistakes are reported once; other commands, and a search, run in one process.
function tests.test_mistakes()
  for _, case in ipairs{
    {{"depth", toy_study.dataset}, "ladies depth runs in one process, and 2 were started"},
    {command("--auto"), "ladies train: --auto runs in one process"},
  } do
    local _, err, status = ranks.run(2, case[1])
    lu.assertNotEquals(status, 0)
    lu.assertStrContains(err, case[2])
    lu.assertEquals(select(2, err:gsub("rank %d of ", "")), 1, err)
  end
end

return tests
