--- Where the time of a batch goes: sampling, gathering the input features, computing. Validation
-- and the writing of files are outside all three.

local clock = require "ladies_core".clock

local timer = {}

local Timer = {__name = "Timer"}
Timer.__index = Timer

--- A timer at zero: `sampling`, `gathering` and `computing` hold seconds of the batch in hand,
-- `total` the sums over all batches.
function timer.new()
  return setmetatable({
    sampling = 0, gathering = 0, computing = 0,
    total = {sampling = 0, gathering = 0, computing = 0},
  }, Timer)
end

--- Begins a batch, with its sampling.
function Timer:start()
  self.mark = clock()
end

--- Ends the sampling; gathering and computing begin.
function Timer:sampled()
  local now = clock()
  self.sampling, self.mark = now - self.mark, now
end

--- Ends the batch and adds it to the totals; `gathering` is the part that the model took to gather
-- features. Returns the time now.
function Timer:stop(gathering)
  local now, total = clock(), self.total
  self.gathering = gathering
  self.computing = now - self.mark - self.gathering
  total.sampling = total.sampling + self.sampling
  total.gathering = total.gathering + self.gathering
  total.computing = total.computing + self.computing
  return now
end

--- Seconds of all batches so far.
function Timer:seconds()
  return self.total.sampling + self.total.gathering + self.total.computing
end

return timer
