--- `ladies bench ranks`: a line for every number of ranks, where what was sent is as computed.
local lu = require "luaunit"
local ranks = require "tools.ranks"
local shell = require "tools.shell"

local tests = {}

function tests.test_lines()
  if not ranks.available() then lu.skip "there is no MPI" end
  local out, err, status = shell.run_ladies({"bench", "ranks", "--ranks", "1,2", "--step", "2",
    "--rounds", "1", "--steps", "1", "--exchanges", "3"}, {env = ranks.environment})
  lu.assertEquals(status, 0, err)
  local alone, two = out:match "\n( +1 [^\n]*)\n( +2 [^\n]*)\n$"
  lu.assertNotNil(two, out)
  local numbers = {}
  for text in two:gmatch "%S+" do numbers[#numbers + 1] = tonumber(text) end
  lu.assertEquals(#numbers, 9)
  lu.assertEquals(numbers[5], numbers[6])              -- MB sent, and computed
  lu.assertTrue(numbers[5] > 3 and numbers[2] > 0 and numbers[7] > 0)
  lu.assertStrMatches(alone, " +1 +[%d.]+ +[%d.]+ +[%d.]+")
end

function tests.test_mistakes()
  local _, err, status = ranks.run(2, {"bench", "ranks", "--step", "3"})
  lu.assertEquals(status, 1)
  lu.assertStrContains(err, "--step must be a multiple of the ranks, 2")
end

return tests
