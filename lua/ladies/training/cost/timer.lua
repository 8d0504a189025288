--- Measures the time of the parts of a batch: waiting for the mini-batch, gathering input features,
-- and computing. Validation and writing files are not included. Sampling in the loop's own thread
-- is all waiting, and so are checks of mini-batches; workers sample while the loop computes.

local clock = require "ladies_core".clock
local errors = require "ladies.base.errors"
local of_class = require("ladies.base.fields").of_class
local options = require "ladies.base.options"

local timer = {}

local SECONDS, MAYBE_SECONDS = "non-negative number", "non-negative number or nil"

local Timer = {__name = "Timer"}
Timer.__index = Timer
of_class(Timer, "waiting sampling gathering computing total mark")

--- ladies.timer() -> table: a timer at zero, for a loop: `for batch in
-- timer:each(ladies.batches(...)) do`, timer:stop(batch.gathering) when the batch is done; state
-- and load_state are for its checkpoints. `waiting`, `gathering` and `computing` hold seconds of
-- the batch in hand, `sampling` those that the sampler took for it, wherever it ran; `total` has
-- the sums over all.
function timer.new()
  return setmetatable({
    waiting = 0, sampling = 0, gathering = 0, computing = 0,
    total = {waiting = 0, sampling = 0, gathering = 0, computing = 0},
  }, Timer)
end

--- Returns an iterator over the mini-batches of another one, which times the wait for each.
function Timer:each(batches)
  return function()
    self:start()
    local batch = batches()
    if batch then self:sampled(batch.sampling) end
    return batch
  end
end

-- Returns the time when the current batch began, or when its sampling ended.
local function mark_of(self)
  if not self.mark then errors.fail "timer: no batch has begun; timer:start() begins one" end
  return self.mark
end

-- Returns the seconds since that moment, and the time now.
local function since_mark(self)
  local mark, now = mark_of(self), clock()
  return now - mark, now
end

--- Begins a batch, with the wait for it.
function Timer:start()
  self.mark = clock()
end

--- Ends the wait for a batch, whose sampling took so many seconds; gathering and computing begin.
function Timer:sampled(sampling)
  self.sampling = options.value("timer:sampled", "the seconds of sampling", sampling, SECONDS)
  self.waiting, self.mark = since_mark(self)
end

--- Subtracts so many seconds, which did not belong to it, from the current batch.
function Timer:leave_out(seconds)
  self.mark = mark_of(self) + options.value("timer:leave_out", "the seconds", seconds, SECONDS)
end

--- Ends the batch and adds it to the totals; `gathering` is the part that the model took to gather
-- features, where it is known. Returns the time now.
function Timer:stop(gathering)
  gathering = options.value("timer:stop", "the seconds of gathering", gathering, MAYBE_SECONDS)
  local total, elapsed, now = self.total, since_mark(self)
  self.gathering = gathering or 0
  self.computing = elapsed - self.gathering
  total.waiting = total.waiting + self.waiting
  total.sampling = total.sampling + self.sampling
  total.gathering = total.gathering + self.gathering
  total.computing = total.computing + self.computing
  return now
end

--- Adds seconds of waiting that belong to no batch.
function Timer:waited(seconds)
  options.value("timer:waited", "the seconds", seconds, SECONDS)
  self.total.waiting = self.total.waiting + seconds
end

--- Returns the totals, for a checkpoint.
function Timer:state()
  return self.total
end

--- Restores totals that `state` returned.
function Timer:load_state(state)
  local spec = {}
  for name in pairs(self.total) do spec[name] = "number" end
  self.total = options.check("timer:load_state", state, spec)
end

--- Returns the times for a summary of so many batches: `seconds` in all, and in milliseconds per
-- batch batch_ms, its parts waiting_ms, gathering_ms and computing_ms, and sampling_ms.
function Timer:means(batches)
  options.value("timer:means", "the number of batches", batches, "non-negative number")
  local ms, total = 1e3 / math.max(1, batches), self.total
  return {
    seconds = self:seconds(), batch_ms = ms * self:seconds(), waiting_ms = ms * total.waiting,
    sampling_ms = ms * total.sampling, gathering_ms = ms * total.gathering,
    computing_ms = ms * total.computing,
  }
end

--- Returns the seconds of all batches so far.
function Timer:seconds()
  return self.total.waiting + self.total.gathering + self.total.computing
end

return timer
