--- Runs of several ranks that end at random moments.
local ladies = require "ladies"
local rank_faults = require "tools.rank_faults"

local tests = {}

function tests.test_random_moments()
  local rng = ladies.rng(20)
  for round = 1, 2 do rank_faults.check("broken" .. round, rng, {options = ""}) end
end

return tests
