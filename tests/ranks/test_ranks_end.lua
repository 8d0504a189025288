--- Ends runs of several ranks before their time, by Ctrl-C, a rank that does not come, and mistakes
-- of a command; test_ranks_faults.lua does it at random moments.
local here = os.getenv "LADIES_SOURCE" .. "/tests"

local lu = require "luaunit"
local core = require "ladies_core"
local files = require "tools.files"
local rank_runs = require "tools.rank_runs"
local ranks = require "tools.ranks"
local shell = require "tools.shell"
local temporary = require "reference.temporary"
local toy_study = require "tools.toy_study"

local tests = {}
--- Ctrl-C at mpirun leaves a checkpoint of all steps so far.
function tests.test_interrupted()
  local folder = "interrupted"
  local log = temporary.path(folder) .. "/log.jsonl"
  local _, err, status = rank_runs.run(2, folder, "max_batches = 1000000", {
    before = {"bash", here .. "/tools/interrupt.sh", log},
    env = {"OMPI_MCA_odls_base_sigkill_timeout=3"}})
  lu.assertNotEquals(status, 0, err)
  lu.assertEquals(core.exists(temporary.path(folder) .. "/checkpoint.npz"), "file")
  local options = ("max_batches = %d"):format(#files.lines(log) + 40)
  lu.assertEquals(rank_runs.train(0, folder, options), rank_runs.train(0, "long", options))
  rank_runs.assert_same(folder, "long")
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
