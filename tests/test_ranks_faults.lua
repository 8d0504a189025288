--- Runs of several ranks that end at random moments: in a step, a validation, a checkpoint or while
-- they begin. Nobody waits for the others then, a line says why where somebody is left to say it,
-- and the run goes on, by two ranks or alone, to the bits of one that was left alone.
local lu = require "luaunit"
local core = require "ladies_core"
local files = require "tools.files"
local ladies = require "ladies"
local rank_runs = require "tools.rank_runs"
local shell = require "tools.shell"
local temporary = require "reference.temporary"

local tests = {}

-- A checkpoint after every step and a validation after every other one, with products that are
-- shared. At the mini-batch `count` of this process one rank does `command`.
local OPTIONS = [[
  threads = 1, wide = "gcn", grad_accumulate = 4, eval_every = 8, checkpoint_every = 0,
  max_batches = %d, settle = function(opts)
    local fault, count = %s, 0
    function opts.on_batch()
      count = count + 1
      if fault and rank == fault.rank and count == fault.count then
        if fault.command then os.execute(fault.command) else error("the reason", 0) end
      end
    end
  end]]

local ENDLESS = 1000000

local STOP_MPIRUN = "(sleep %%.3f; read -r _ _ _ parent _ </proc/$PPID/stat; kill -%s $parent) &"

-- What a rank does to itself, or to mpirun, which ends the ranks `grace` seconds after it has asked
-- them to; what then is said; the status.
local KINDS = {
  {command = "(sleep %.3f; kill -KILL $PPID) &", said = "exited on signal 9 %(Killed%)",
    status = 137},
  {command = STOP_MPIRUN:format "INT", grace = 1},
  {command = STOP_MPIRUN:format "TERM"},
  {said = "rank %d of %d on [^\n]*the reason", status = 1},
}
if core.process.exists "prlimit" then
  KINDS[#KINDS + 1] = {command = "prlimit --pid $PPID --fsize=5000", rank = 0,
    said = "rank 0 of %d on [^\n]*File too large", status = 1}
end

-- Begins the run in that folder, or goes on with it, until a fault of that kind ends it.
local function break_off(folder, kind, rng)
  local n = rng:below(3) + 1
  local command = kind.command and ("%q"):format(kind.command:format(rng:below(20) / 1000))
  local fault = ("{rank = %d, count = %d, command = %s}"):format(kind.rank or rng:below(n) - 1,
    rng:below(60), command)
  local out, err, status = rank_runs.run(n, folder, OPTIONS:format(ENDLESS, fault), {loud = true,
    env = {"OMPI_MCA_odls_base_sigkill_timeout=" .. (kind.grace or 0)}})
  lu.assertNotEquals(status, 0, fault)
  if kind.status then lu.assertEquals(status, kind.status, out .. err) end
  lu.assertStrContains(err, kind.said or "", true)
end

-- Goes on to that length with n ranks, or alone (0); the model.
local function finish(n, folder, length)
  rank_runs.train(n, folder, OPTIONS:format(length, "nil"))
  return rank_runs.read(folder, "model.npz")
end

function tests.test_random_moments()
  local rng = ladies.rng(20)
  for round = 1, 2 do
    local folder = "broken" .. round
    for i = 1, 10 do break_off(folder, KINDS[(i - 1) % #KINDS + 1], rng) end
    local length = #files.lines(temporary.path(folder) .. "/log.jsonl") // 4 * 4 + 40
    local copy = folder .. " alone"
    os.execute(("cp -r %s %s"):format(shell.quote(temporary.path(folder)),
      shell.quote(temporary.path(copy))))
    local whole = finish(0, folder .. " whole", length)
    lu.assertTrue(finish(2, folder, length) == whole)
    lu.assertTrue(finish(0, copy, length) == whole)
  end
end

return tests
