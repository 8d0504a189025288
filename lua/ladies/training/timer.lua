--- Where the time of a batch goes: waiting for its sampling, gathering the input features,
-- computing. Validation and the writing of files are outside all three. Sampling in step with the
-- loop is all waiting; workers sample meanwhile.

local clock = require "ladies_core".clock

local timer = {}

local Timer = {__name = "Timer"}
Timer.__index = Timer

--- ladies.timer(): a timer at zero, for a loop: timer:start() before a batch is asked for,
-- timer:sampled(batch.sampling) when it is there, timer:stop(batch.gathering or 0) when it is done;
-- state and load_state are for its checkpoints. `waiting`, `gathering` and `computing` hold seconds
-- of the batch in hand, `sampling` those that the sampler took for it, wherever it ran; `total` has
-- the sums over all.
function timer.new()
  return setmetatable({
    waiting = 0, sampling = 0, gathering = 0, computing = 0,
    total = {waiting = 0, sampling = 0, gathering = 0, computing = 0},
  }, Timer)
end

--- Begins a batch, with the wait for it.
function Timer:start()
  self.mark = clock()
end

--- Ends the wait for a batch, whose sampling took so many seconds; gathering and computing begin.
function Timer:sampled(sampling)
  local now = clock()
  self.waiting, self.sampling, self.mark = now - self.mark, sampling, now
end

--- Ends the batch and adds it to the totals; `gathering` is the part that the model took to gather
-- features. Returns the time now.
function Timer:stop(gathering)
  local now, total = clock(), self.total
  self.gathering = gathering
  self.computing = now - self.mark - self.gathering
  total.waiting = total.waiting + self.waiting
  total.sampling = total.sampling + self.sampling
  total.gathering = total.gathering + self.gathering
  total.computing = total.computing + self.computing
  return now
end

--- The totals, for a checkpoint.
function Timer:state()
  return self.total
end

--- Takes over totals that `state` gave.
function Timer:load_state(state)
  for name in pairs(self.total) do self.total[name] = assert(state[name], name) end
end

--- Seconds of all batches so far.
function Timer:seconds()
  return self.total.waiting + self.total.gathering + self.total.computing
end

return timer
