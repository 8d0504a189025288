--- CPU seconds of a mini-batch's training: what methods cost, on a machine that may be busy with
-- something else besides. Sampling, forward, backward and the step of the optimizer are in it;
-- validation is not, nor what a sampler makes before the first batch.

local experiment = require "ladies.experiment"
local tables = require "ladies.base.tables"

-- A first group of batches warms up; the least mean of the others is the cost. A group is as many
-- as there are between two measurements of MVS, but ends after LONG seconds.
local GROUPS, GROUP, LONG = 3, 20, 2

--- batch_cost(settings, data) -> seconds: of the process, which should have one thread; settings
-- are those of ladies.experiment.
return function(settings, data)
  local means, n, began = {}, 0, os.clock()
  local config = experiment.configure(tables.merged(settings, {epochs = GROUPS * GROUP,
    max_batches = GROUPS * GROUP, eval_every = GROUPS * GROUP + 1}))
  experiment.run(config, data, {quiet = true, on_batch = function()
    n = n + 1
    local seconds = os.clock() - began
    if n < GROUP and seconds < LONG then return end
    means[#means + 1] = seconds / n
    n, began = 0, os.clock()
    return #means == GROUPS and "stop" or nil
  end})
  return math.min(table.unpack(means, 2))
end
