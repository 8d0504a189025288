--- MPICH in place of Open MPI: the same calls, bits and lines. Skipped where Debian's mpich and
-- libmpich-dev are not there.
local lu = require "luaunit"
local ladies = require "ladies"
local rank_runs = require "tools.rank_runs"
local ranks = require "tools.ranks"
local shell = require "tools.shell"
local temporary = require "reference.temporary"

local tests = {}

local function opts(env)
  if not ranks.mpich then lu.skip "there is no MPICH beside the MPI of the program" end
  return {launcher = ranks.mpich, env = env}
end

local function train(n, folder, options)
  return (shell.succeeded(rank_runs.run(n, folder, options, opts())))
end

--- A run, also one that goes on, with the optimizer in parts and products made together, has the
-- bits of one process.
function tests.test_same_bits()
  local options = [[wide = "gcn", shard_optimizer = true, max_batches = %d]]
  train(3, "mpich", options:format(24))
  lu.assertEquals(train(2, "mpich", options:format(48)), train(0, "alone", options:format(48)))
  rank_runs.assert_same("mpich", "alone")
end

local runs = rank_runs.on_data [[max_batches = 16, eval_every = 8, batch_size = 20,
  model = ladies.nn.gcn{inputs = 12, hidden = 8, outputs = 3, layers = 2}]]

--- So has one whose features and graph are in shards, which ranks bring each other.
function tests.test_shards()
  local env, path = opts(), temporary.path "in shards"
  ladies.data.to_shards(rank_runs.data(), path, {shards = 3, shard_graph = true})
  local printed, other = runs.alone(path)
  lu.assertEquals(shell.succeeded(runs.run(3, path, "divided", "", env)), printed)
  rank_runs.assert_same("divided", other)
end

local SCRIPT = [[
local comm = require("ladies").comm
if comm.rank == 1 then %s end
comm.barrier()
comm.barrier()
]]

--- A rank that fails, is killed or does not come ends all, with a line.
function tests.test_ends()
  for command, said in pairs{
    ['error("the reason", 0)'] = "rank 1 of 2 on [^\n]*: ladies: the reason\n",
    ['os.execute "kill -9 $PPID"'] = "EXIT CODE: 9",
    ['os.execute "sleep 20"'] = "waited 4 s for rank 1, which did not come\n",
  } do
    local out, err, status = ranks.run_script(2, SCRIPT:format(command), {},
      opts{"LADIES_PATIENCE=4"})
    lu.assertNotEquals(status, 0)
    lu.assertStrMatches(out .. err, ".*" .. said .. ".*")
  end
end

return tests
