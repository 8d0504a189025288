--- `ladies bench ranks`: its numbers hold together, and what was sent is as computed.
local lu = require "luaunit"
local ladies = require "ladies"
local ranks = require "tools.ranks"
local shell = require "tools.shell"
local temporary = require "reference.temporary"

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

--- `ladies costs --ranks` lists the peaks of as many ranks as have rows, as shares of one's.
function tests.test_peaks()
  local path = temporary.path "shards"
  ladies.data.to_shards(ladies.generate.power_law{nodes = 192 * 3, entries = 4000, features = 64,
    classes = 4, train = 0.3, val = 0.2, seed = 1}, path, {shards = 3, shard_graph = true})
  local out = shell.succeeded(shell.run_ladies{"costs", "--ranks", "--dataset", path})
  local shown, shares = out:match "\nMB of memory of a rank at its peak:\n\n(.*)", {}
  for n, total, share in shown:gmatch "\n| (%d+) +| +(%d+) | +([%d.]+) |" do
    shares[#shares + 1] = {tonumber(n), tonumber(total), tonumber(share)}
  end
  lu.assertEquals({#shares, shares[1][1], shares[1][3], shares[2][1]}, {2, 1, 1, 2})
  lu.assertAlmostEquals(shares[2][3], shares[2][2] / shares[1][2], 0.02)
end

function tests.test_mistakes()
  local err = shell.refused(ranks.run(2, {"bench", "ranks", "--step", "3"}))
  lu.assertStrContains(err, "--step must be a multiple of the ranks, 2")
end

return tests
