--- Makes learning-rate schedules: functions from the number of a batch (1, 2, ...) to a factor by
-- which the learning rate is multiplied. Any Lua function of that kind will do as well. A schedule
-- that depends on validation is an object that can be called: update(value, batch) tells it of each
-- validation, and state and load_state are for checkpoints.

local of_class = require("ladies.base.fields").of_class
local options = require "ladies.base.options"

local schedule = {}

--- ladies.schedule.constant() -> function: factor 1 throughout.
function schedule.constant()
  return function() return 1 end
end

--- schedule.step{every = n, factor = 0.1} -> function: multiplied by `factor` after every n
-- batches.
function schedule.step(given)
  local opts = options.check("ladies.schedule.step", given, {
    every = "positive integer",
    factor = {"positive number", 0.1},
  })
  return function(batch) return opts.factor ^ ((batch - 1) // opts.every) end
end

--- schedule.cosine{batches = n, floor = 0} -> function: half a cosine from 1 to `floor` over n
-- batches, then `floor` (Loshchilov and Hutter, SGDR, ICLR 2017, eq. 5, without restarts).
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

local VALUE = "number in [-inf, inf]"

local Plateau = {__name = "Plateau"}
Plateau.__index = Plateau
of_class(Plateau, "factor patience min_gain mode floor now since best")

--- schedule.plateau{factor = 0.1, patience = 100, min_gain = 0, mode = "max", floor = 0} -> table:
-- multiplied by `factor` whenever the validation value has not become better for `patience`
-- batches, but never below `floor`. A value is better when it is above the best one by more than
-- `min_gain`, or below it with mode = "min". ladies.train tells it of validations; a loop of one's
-- own calls schedule:update(value, batch).
function schedule.plateau(given)
  local plateau = options.check("ladies.schedule.plateau", given, {
    factor = {"number in (0, 1)", 0.1},
    patience = {"positive integer", 100},
    min_gain = {"non-negative number", 0},
    mode = {"max|min", "max"},
    floor = {"number in [0, 1]", 0},
  })
  plateau.now, plateau.since = 1, 0      -- the factor, and the batch of the last gain or cut
  return setmetatable(plateau, Plateau)
end

--- Returns the factor by which the learning rate is multiplied now.
function Plateau:__call()
  return self.now
end

--- Takes the value of a validation after `batch` batches.
function Plateau:update(value, batch)
  options.value("schedule:update", "the value", value, VALUE)
  options.value("schedule:update", "the batch", batch, "number")
  local gain = self.best and (self.mode == "max" and value - self.best or self.best - value)
  if not gain or gain > self.min_gain then
    self.best, self.since = value, batch
  elseif batch - self.since >= self.patience then
    self.now, self.since = math.max(self.floor, self.now * self.factor), batch
  end
end

--- Returns the numbers from which the schedule goes on, for a checkpoint.
function Plateau:state()
  return {now = self.now, best = self.best, since = self.since}
end

--- Takes over what `state` gave.
function Plateau:load_state(state)
  state = options.check("schedule:load_state", state,
    {now = "number", best = VALUE .. " or nil", since = "number"})
  self.now, self.best, self.since = state.now, state.best, state.since
end

--- schedule.warmup{batches = n, after = schedule} -> function | table: rises in equal steps, 1/n
-- at the first batch to 1 at the n-th, then goes on with the schedule `after` (constant by
-- default), which counts from there; a table where `after` is one.
function schedule.warmup(given)
  local opts = options.check("ladies.schedule.warmup", given, {
    batches = "positive integer",
    after = {"callable", schedule.constant()},
  })
  local after = opts.after
  local function factor(batch)
    if batch <= opts.batches then return batch / opts.batches end
    return after(batch - opts.batches)
  end
  if type(after) ~= "table" then return factor end
  return setmetatable({
    mode = after.mode,
    update = after.update and function(_, value, batch)
      after:update(value, batch - opts.batches)
    end,
    state = after.state and function() return after:state() end,
    load_state = after.load_state and function(_, state) after:load_state(state) end,
  }, {__call = function(_, batch) return factor(batch) end})
end

return schedule
