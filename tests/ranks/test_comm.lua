--- ladies.comm: what ranks give each other, and how they end.
local lu = require "luaunit"
local fold = require "ladies.ranks.fold"
local ladies = require "ladies"
local packed = require "ladies.ranks.packed"
local ranks = require "tools.ranks"
local shell = require "tools.shell"

local tests = {}

-- ---------------------------------------------------------------- alone

function tests.test_alone()
  local comm = ladies.comm
  lu.assertEquals({comm.rank, comm.size}, {0, 1})
  comm.barrier()
  lu.assertEquals(comm.gather{1, "a"}, {{1, "a"}})
  lu.assertEquals(comm.broadcast "x", "x")
  lu.assertEquals(comm.broadcast(ladies.tensor{1, 2}):to_table(), {1, 2})
  local t = ladies.tensor{{1, 2}, {3, 4}}
  local sum = comm.all_reduce(t)
  lu.assertEquals(sum:to_table(), {{1, 2}, {3, 4}})
  sum:fill_(0)
  lu.assertEquals(t:get(1, 1), 1)
  lu.assertEquals({comm.together(math.max, 1, 2)}, {2})
  lu.assertErrorMsgContains("comm.together: f must be", comm.together, 3)
  lu.assertErrorMsgContains("there is no rank 1, the last is 0", comm.broadcast, 1, 1)
  lu.assertErrorMsgContains("comm.all_reduce: what it is given must be a Tensor", comm.all_reduce,
    3)
end

--- Plain data arrives as it was, to the last bit.
function tests.test_packed()
  for _, value in ipairs{0, -1, math.maxinteger, 1 / 3, -0.0, math.huge, 5e-324, "", "a\0b\n{}",
      true, false, {}, {1, 2.5, {x = "y", [3] = {}}, [false] = 0}} do
    local got = packed.value(packed.text(value))
    lu.assertEquals(got, value)
    lu.assertEquals(math.type(got), math.type(value))
  end
  lu.assertNil(packed.value(packed.text(nil)))
  lu.assertEquals(("%a"):format(packed.value(packed.text(-0.0))), ("%a"):format(-0.0))
  local nan = packed.value(packed.text(0 / 0))
  lu.assertTrue(nan ~= nan)
  lu.assertErrorMsgContains("comm: a function cannot be sent; plain data can", packed.text,
    {print})
  lu.assertErrorMsgContains("comm: a userdata cannot be sent", packed.text, {ladies.ones(1)})
  local loop = {}
  loop[1] = loop
  lu.assertErrorMsgContains("comm: a table that holds itself cannot be sent", packed.text, loop)
  local twice = {}
  lu.assertEquals(packed.value(packed.text{twice, twice}), {{}, {}})
end

-- ---------------------------------------------------------------- several

local SCRIPT = [[
local ladies = require "ladies"
local comm = ladies.comm
io.write(("rank %d of %d\n"):format(comm.rank, comm.size))
io.stderr:write("a note\n")
local long = ("x"):rep(100000 * comm.rank)
for i, one in ipairs(comm.gather{rank = comm.rank, third = 1 / 3, long = long}) do
  assert(one.rank == i - 1 and one.third == 1 / 3 and #one.long == 100000 * (i - 1))
end
for root = 0, comm.size - 1 do assert(comm.broadcast({comm.rank}, root)[1] == root) end
for _, t in ipairs{ladies.full(5, comm.rank), ladies.full(2, 3, comm.rank)} do
  local got = comm.broadcast(comm.rank == 1 and t or nil, math.min(1, comm.size - 1))
  if comm.size > 1 then
    assert(got:hash() == (t.ndim == 1 and ladies.full(5, 1) or ladies.full(2, 3, 1)):hash())
  end
end
local rng = ladies.rng(comm.rank)
local t = ladies.zeros(1000, 7):normal_(10 ^ comm.rank, rng)
local hashes = comm.gather(comm.all_reduce(t):hash())
for _, hash in ipairs(hashes) do assert(hash == hashes[1]) end
if comm.size > 1 then                                  -- what workers share receives nothing
  local into, own = require("ladies_core").freeze(ladies.ones(2)), comm.rank
  local exchange = require("ladies.ranks.link").exchange
  assert(not pcall(exchange, "", {{own, ladies.ones(2)}}, {{own, into}}))
end
print(hashes[1], comm.all_reduce(ladies.full(3, comm.rank)):to_table()[3])
comm.barrier()
]]

--- Every rank gets what the others give, and sums are those of the tree, by bits. Rank 0 alone is
-- heard.
function tests.test_several()
  for _, n in ipairs{1, 3, 4} do
    local leaves = {}
    for rank = 0, n - 1 do
      local t = ladies.zeros(1000, 7):normal_(10 ^ rank, ladies.rng(rank))
      leaves[rank + 1] = {first = rank + 1, last = rank + 1, sum = t}
    end
    local out, err = shell.succeeded(ranks.run_script(n, SCRIPT))
    lu.assertEquals(err, "a note\n")
    lu.assertEquals(out, ("rank 0 of %d\n%s\t%.1f\n"):format(n, fold.add(leaves, n):hash(),
      n * (n - 1) / 2))
  end
end

local FAULTS = [[
local ladies = require "ladies"
local comm, what = ladies.comm, arg[1]
local mine = comm.rank == comm.size - 1
if what == "error" and mine then error("the reason", 0) end
if what == "all" then error("the reason", 0) end
if what == "killed" and mine then os.execute "kill -9 $PPID" end
if what == "status" and mine then os.exit(3) end
if what == "leaves" and mine then os.exit(0) end
if what == "late" and mine then os.execute "sleep 20" end
if what == "shapes" then comm.all_reduce(ladies.ones(2 + comm.rank)) end
if what == "finish" then
  comm.finish()
  os.exit(5)
end
if what == "caught" then
  if mine then os.execute "sleep 20" end               -- until it is ended
  assert(not pcall(comm.barrier))
  print(select(2, pcall(comm.barrier)))
  os.exit(1)
end
for _ = 1, 3 do comm.barrier() end
print "not reached"
]]

local function fail(n, what, env)
  local out, err, status = ranks.run_script(n, FAULTS, {what}, {env = env})
  lu.assertNotStrContains(out, "not reached")
  return status, out .. err
end

--- A tensor of more than one message arrives.
function tests.test_large()
  local out, err = ranks.run_script(2, [[
    local ladies, n = require "ladies", (1 << 26) + 5
    local comm = ladies.comm
    local t = comm.rank == 0 and ladies.ones(n) or nil
    if t then t[n] = 3 end
    local got = comm.broadcast(t)
    print(got:slice(n - 5, n):sum():item(), got:slice(1, n - 5):sum():item() == n - 5)]])
  lu.assertEquals(out, "8.0\ttrue\n", err)
end

--- All ranks end when one fails, with its message alone.
function tests.test_one_fails()
  local status, text = fail(3, "error")
  lu.assertEquals(status, 1)
  lu.assertStrMatches(text, "rank 2 of 3 on [^\n]*: ladies: the reason\n.*")
  lu.assertEquals(select(2, text:gsub("ladies: ", "")), 1, text)
end

--- An error that all ranks raise is printed once.
function tests.test_all_fail()
  local status, text = fail(3, "all")
  lu.assertEquals(status, 1)
  lu.assertEquals(select(2, text:gsub("the reason", "")), 1, text)
  lu.assertStrMatches(text, "rank 0 of 3 on .*")
end

--- All ranks end when one does, however it ends: killed, by itself, or without the calls that the
-- others make.
function tests.test_one_ends()
  lu.assertEquals((fail(2, "killed")), 137)
  lu.assertEquals((fail(2, "status")), 3)
  local status, text = fail(2, "leaves", {"LADIES_PATIENCE=2"})
  lu.assertEquals(status, 1)
  lu.assertStrContains(text, "rank 0 of 2 on ")
  lu.assertStrContains(text, "ranks: rank 1 has ended, and this one still waits for it 1 s later")
end

--- A script that catches the failure gets no further.
function tests.test_caught()
  local status, text = fail(2, "caught", {"LADIES_PATIENCE=2"})
  lu.assertNotEquals(status, 0)
  lu.assertStrContains(text, "ranks: they have lost each other, by an error before")
end

function tests.test_other_shapes()
  local status, text = fail(2, "shapes")
  lu.assertEquals(status, 1)
  lu.assertStrContains(text, "comm.all_reduce: rank 0 has a Tensor of 2 x 1, rank 1 of 3 x 1; "
    .. "all must have one shape\n")
end

--- A status is no failure of the ranks when all have finished.
function tests.test_finish()
  lu.assertEquals({fail(2, "finish")}, {5, ""})
end

function tests.test_patience()
  local code, late = fail(2, "late", {"LADIES_PATIENCE=2"})
  lu.assertEquals(code, 1)
  lu.assertStrContains(late, "ranks: waited 2 s for rank 1, which did not come")
  code, late = fail(3, "late", {"LADIES_PATIENCE=3"})
  lu.assertEquals(code, 1)
  lu.assertStrMatches(late, "rank 0 of 3 on [^\n]*ranks: waited 3 s for rank 2, which did not "
    .. "come\n.*")
  local status, text = fail(2, "none", {"LADIES_PATIENCE=x"})
  lu.assertEquals(status, 1)
  lu.assertStrMatches(text, "rank 0 of 2 on [^\n]*LADIES_PATIENCE must be a positive number of "
    .. 'seconds, got "x"\n.*')
  lu.assertEquals(select(2, text:gsub("LADIES_PATIENCE", "")), 1, text)
end

--- Patience ends at the end, too: a rank that has nothing more to do does not wait for ever for one
-- that never comes there, and says for which, whether the script has ended or asks for the end.
function tests.test_patience_at_the_end()
  for _, what in ipairs{"", "ladies.comm.finish()"} do
    local out, err, status = ranks.run_script(3, [[
      local ladies = require "ladies"
      if ladies.comm.rank == 1 then os.execute "sleep 20" end
      print "at the end"
      ]] .. what, {}, {env = {"LADIES_PATIENCE=3"}})
    lu.assertEquals({out, status}, {"at the end\n", 1})
    lu.assertNotNil(err:find("^rank 0 of 3 on [^\n]*ladies: [^\n]*waited [35] s for rank 1, which "
      .. "did not come[^\n]*\n"), err)
  end
end

--- The number of processes that a launcher names must be the one that MPI has.
function tests.test_launchers()
  if not ranks.available() then lu.skip "there is no MPI" end
  for _, env in ipairs{{"PMI_SIZE=3"}, {"PMIX_RANK=0", "SLURM_STEP_NUM_TASKS=3"}} do
    local err = shell.refused(shell.run_ladies({"-e", "print(ladies.comm.size)"}, {env = env}))
    lu.assertStrContains(err, "3 processes were started, and ")
  end
  local within = {"PMI_SIZE=3", "LADIES_WITHIN_RANK=1"}
  lu.assertEquals(shell.run_ladies({"-e", "print(ladies.comm.size)"}, {env = within}), "1\n")
end

--- The module of ranks writes only within the tensor that it was given, and sends only to ranks
-- that there are.
function tests.test_module_checks_bounds()
  local out = shell.silent(ranks.run_script(2, [[
    local ladies, link = require "ladies", require "ladies.ranks.link"
    link.gather("test", "")
    local path = package.loaded.ladies_host.program:gsub("bin/ladies$",
      "lib/ladies/ladies_ranks.so")
    local mpi = assert(package.loadlib(path, "luaopen_ladies_ranks"))()
    for _, bounds in ipairs{{0, 2, 400}, {-3, 2, 4}, {0, 9, 4}, {0, 4}, {0, 5, 4}} do
      print((select(2, pcall(mpi.gather_rows, ladies.zeros(4, 2), bounds))))
    end
    print((select(2, pcall(mpi.gather_rows, ladies.zeros(4, 2)))))
    print((select(2, pcall(mpi.exchange, {{2, ladies.zeros(1)}}, {}))))
    print((select(2, pcall(mpi.broadcast, "x", -1))))
    link.gather("test", "")]]))
  lu.assertStrMatches(out, [[
.*gather_rows: bounds must go from 0 to 4
.*gather_rows: bounds must go from 0 to 4
.*gather_rows: bounds must not descend
.*the rows of a product are in 1 parts, and there are 2 ranks
.*gather_rows: bounds must not descend
.*table expected, got no value.*
.*ranks: there is no rank 2 of 2
.*ranks: there is no rank %-1 of 2
]])
end

return tests
