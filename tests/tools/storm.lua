--- ladies tests/tools/storm.lua [--storms N] [--seed S] [--only COMMAND] [--blows N]: runs of the
-- commands that keep something, struck by signals at random moments and taken up again with other
-- numbers of threads, workers and ranks, until one is left alone: it must come to what an
-- undisturbed one comes to. A storm is one of each command, and follows from its seed but for the
-- moments. A finding is printed, and the folder stays. On hosts of its own the network is cut and
-- the disk filled, too:
--
--   tests/tools/hosts.sh 2 - build/bin/ladies tests/tools/storm.lua --only ranks
package.path = arg[0]:match "^(.*)tools/" .. "?.lua;" .. package.path

local blows = require "tools.storm.blows"
local cases = require "tools.storm.cases"
local cli = require "ladies.command.cli"
local core = require "ladies_core"
local errors = require "ladies.base.errors"

-- Runs one storm in a folder; returns how many findings there were.
local function storm(number, seed, opts)
  local found, rng = 0, core.rng(seed):fork(number)
  local world <close> = cases.world()
  for i, name in ipairs(opts.only and {opts.only} or cases.NAMES) do
    local place = os.tmpname()
    os.remove(place)
    local own = rng:fork(i)
    local case = cases[name](world.data, own, world)
    local began = core.clock()
    local ok, result, which = errors.try(blows.check, case, place, own, opts.blows)
    if ok then
      print(("storm %d, %s: %d blows (%s), the same after %.1f s"):format(number, name, result,
        which, core.clock() - began))
      core.folder.remove(place)
    else
      found = found + 1
      print(("storm %d, %s: FOUND in %s: %s"):format(number, name, place, errors.message(result)))
    end
    io.stdout:flush()
  end
  return found
end

cli.main({
  name = "storm.lua", usage = "ladies tests/tools/storm.lua [options]",
  about = "Strikes commands at random moments, and compares what they come to.",
  {"storms", "N", "positive integer", default = 1, help = "each one of every command"},
  {"seed", "S", "integer", default = 1, help = "of all that is drawn"},
  {"first", "N", "positive integer", default = 1, help = "the number of the first storm"},
  {"only", "COMMAND", "string", help = "one of auto, compare, fetch, import, lab, predict, "
    .. "ranks, shards, sweep, table3, train"},
  {"blows", "N", "positive integer", default = 4, help = "at most, of each run"},
}, arg, function(opts)
  local found = 0
  for number = opts.first, opts.first + opts.storms - 1 do
    found = found + storm(number, opts.seed, opts)
  end
  print(("%d findings"):format(found))
  if found > 0 then os.exit(1, true) end
end)
