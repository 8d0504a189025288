--- `ladies bench ranks`: its numbers hold together, and what was sent is as computed.
local lu = require "luaunit"
local ranks = require "tools.ranks"
local shell = require "tools.shell"

local tests = {}

function tests.test_numbers()
  if not ranks.available() then lu.skip "there is no MPI" end
  local out = shell.succeeded(shell.run_ladies({"bench", "ranks", "--ranks", "2", "--step", "2",
    "--rounds", "1", "--steps", "1", "--exchanges", "3"}, {env = ranks.environment}))
  lu.assertStrContains(out, "\n2 ranks\n")
  local found, n = {}, 0
  for line in out:match "\n2 ranks\n(.*)":gmatch "[^\n]+" do
    local name, value, low, high = line:match
      "^ +(%S.-)  +([%d.]+) ?%(?([%d.]*) ?t?o? ?([%d.]*)%)?$"
    found[name], n = tonumber(value), n + 1
    lu.assertTrue(low == "" or tonumber(low) <= found[name] and found[name] <= tonumber(high), line)
  end
  lu.assertEquals(n, 11)
  lu.assertEquals(found["MB of gradients a step: sent"], found.computed)
  lu.assertAlmostEquals(found["together / one rank"],
    found.together / found["mini-batches a second: one rank"], 0.01)
  lu.assertTrue(found["exchange / MPI_Allreduce"] > 0)
end

function tests.test_mistakes()
  local err = shell.refused(ranks.run(2, {"bench", "ranks", "--step", "3"}))
  lu.assertStrContains(err, "--step must be a multiple of the ranks, 2")
end

return tests
