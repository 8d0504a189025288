--- Learning-rate schedules: functions from the number of a batch (1, 2, ...) to a factor by which
-- the learning rate is multiplied. Any Lua function of that kind will do as well.

local options = require "ladies.base.options"

local schedule = {}

--- Factor 1 throughout.
function schedule.constant()
  return function() return 1 end
end

--- schedule.step{every = n, factor = 0.1}: multiplied by `factor` after every n batches.
function schedule.step(given)
  local opts = options.check("ladies.schedule.step", given, {
    every = "positive integer",
    factor = {"positive number", 0.1},
  })
  return function(batch) return opts.factor ^ ((batch - 1) // opts.every) end
end

--- schedule.cosine{batches = n, floor = 0}: half a cosine from 1 to `floor` over n batches, then
-- `floor` (Loshchilov and Hutter, SGDR, ICLR 2017, eq. 5, without restarts).
function schedule.cosine(given)
  local opts = options.check("ladies.schedule.cosine", given, {
    batches = "positive integer",
    floor = {"number in [0, 1]", 0},
  })
  return function(batch)
    local done = math.min(1, (batch - 1) / opts.batches)
    return opts.floor + (1 - opts.floor) * 0.5 * (1 + math.cos(math.pi * done))
  end
end

--- schedule.warmup{batches = n, after = schedule}: rises in equal steps, 1/n at the first batch to
-- 1 at the n-th, then goes on with the schedule `after` (constant by default), which counts from
-- there.
function schedule.warmup(given)
  local opts = options.check("ladies.schedule.warmup", given, {
    batches = "positive integer",
    after = {"callable", schedule.constant()},
  })
  return function(batch)
    if batch <= opts.batches then return batch / opts.batches end
    return opts.after(batch - opts.batches)
  end
end

return schedule
