--- Runs of several ranks that end at random moments: while they begin, in a step, a validation or a
-- checkpoint. Nobody waits for the others then, a line says why where somebody is left to say it,
-- and the run goes on, by two ranks or alone, to the bits of one that was left alone.
local lu = require "luaunit"
local core = require "ladies_core"
local files = require "tools.files"
local rank_runs = require "tools.rank_runs"
local shell = require "tools.shell"
local temporary = require "reference.temporary"

local rank_faults = {}

-- A checkpoint after every step and a validation after every other one, with products that are
-- shared. At the mini-batch `count` of this process, or before the first, one rank does `command`.
local OPTIONS = [[
  threads = 1, wide = "gcn", accumulate = 4, eval_every = 8, checkpoint_every = 0,
  max_batches = %d, settle = function(opts)
    local fault, count = %s, 0
    local function strike()
      if not fault or rank ~= fault.rank or count ~= fault.count then return end
      if fault.command then os.execute(fault.command) else error("the reason", 0) end
    end
    strike()
    function opts.on_batch()
      count = count + 1
      strike()
    end
  end, %s]]

local ENDLESS = 1000000

local STOP_MPIRUN = "(sleep %%.3f; read -r _ _ _ parent _ </proc/$PPID/stat; kill -%s $parent) &"

-- The faults: what a rank does to itself, or to mpirun, which ends the ranks `grace` seconds after
-- it has asked them to; what is said then; the status.
local KINDS = {
  {command = "(sleep %.3f; kill -KILL $PPID) &", said = "exited on signal 9 %(Killed%)",
    status = 137},
  {command = STOP_MPIRUN:format "INT", grace = 1},
  {command = STOP_MPIRUN:format "TERM"},
  {said = "rank %d of %d on [^\n]*the reason", status = 1},
}
if core.process.exists "prlimit" then
  KINDS[#KINDS + 1] = {command = "prlimit --pid $PPID --fsize=5000", writes = true,
    said = "rank %d of %d on [^\n]*File too large", status = 1}
end

-- Begins the run in that folder, or goes on with it, until a fault of that kind ends it. Who writes
-- no files is not stopped by a disk that is full.
local function break_off(folder, kind, rng, given)
  local n = rng:below(3) + 1
  local rank = rng:below(n) - 1
  if kind.writes and not given.all_write then rank = 0 end
  local command = kind.command and ("%q"):format(kind.command:format(rng:below(20) / 1000))
  local fault = ("{rank = %d, count = %d, command = %s}"):format(rank, rng:below(60) - 1, command)
  local out, err, status = rank_runs.run(n, folder, OPTIONS:format(ENDLESS, fault, given.options),
    {loud = true, env = {"OMPI_MCA_odls_base_sigkill_timeout=" .. (kind.grace or 0)}})
  lu.assertNotEquals(status, 0, fault)
  if kind.status then lu.assertEquals(status, kind.status, out .. err) end
  lu.assertStrContains(err, kind.said or "", true)
  if kind.status == 1 then lu.assertEquals(select(2, err:gsub("rank %d of ", "")), 1, err) end
end

-- Goes on to that length with n ranks, or alone (0); the model.
local function finish(n, folder, length, options)
  rank_runs.train(n, folder, OPTIONS:format(length, "nil", options))
  return rank_runs.read(folder, "model.npz")
end

--- rank_faults.check(folder, rng, {options =, all_write =}): breaks a run off 10 times, and
-- compares where it goes on then. options: further ones of the run, the text inside of a table;
-- all_write: whether every rank writes files.
function rank_faults.check(folder, rng, given)
  for i = 1, 10 do break_off(folder, KINDS[(i - 1) % #KINDS + 1], rng, given) end
  local length = #files.lines(temporary.path(folder) .. "/log.jsonl") // 4 * 4 + 40
  local copy, options = folder .. " alone", given.options
  os.execute(("cp -r %s %s"):format(shell.quote(temporary.path(folder)),
    shell.quote(temporary.path(copy))))
  local whole = finish(0, folder .. " whole", length, options)
  lu.assertTrue(finish(2, folder, length, options) == whole)
  lu.assertTrue(finish(0, copy, length, options) == whole)
end

return rank_faults
