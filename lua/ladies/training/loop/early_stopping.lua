--- Decides when to stop, and which model to keep (LADIES, section 5): training ends when the
-- monitored value has not become better by `min_gain` for `patience` batches.

local declared = require "ladies.training.declared"
local of_class = require("ladies.base.fields").of_class
local options = require "ladies.base.options"

local early_stopping = {}

local Stopper = {__name = "EarlyStopping"}
Stopper.__index = Stopper
of_class(Stopper, "patience min_gain best mode relative gain gain_batch highest highest_batch")

--- ladies.early_stopping{patience = 600, min_gain = 0.01, best = "highest", mode = "max", relative
-- = false} -> table: a stopper for a loop: stopper:update(value, batch) after each validation,
-- stopper:exhausted(batch), and state and load_state for its checkpoints.
-- patience  batches without a gain before the end; 0 means never
-- min_gain  a gain is a value at least this much better than the last gain's
-- best      which model is kept: that of the best value ("highest"), or that of the last "gain" (as
--           the authors' program does)
-- mode      whether a better value is a greater ("max") or a smaller one ("min")
-- relative  whether min_gain is a share of the last gain's value, as it must be of numbers in units
--           of their own, such as errors
function early_stopping.new(given)
  local opts = options.check("ladies.early_stopping", given, {
    patience = declared.typed "patience", min_gain = declared.typed "min_gain",
    best = declared.typed "best", mode = {"max|min", "max"}, relative = {"boolean", false},
  })
  local worst = opts.mode == "max" and -math.huge or math.huge
  opts.gain, opts.gain_batch = worst, 0     -- the last gain and when it was
  opts.highest, opts.highest_batch = worst, 0
  return setmetatable(opts, Stopper)
end

local VALUE = "number in [-inf, inf]"

-- Tells whether a value is better than another one, by `least` or more.
local function is_better(self, value, than, least)
  if self.mode == "min" then value, than = -value, -than end
  if self.relative then least = least * math.min(math.abs(than), math.abs(value)) end
  return value > than and value >= than + least
end

--- Records the value of a validation after `batch` batches. Returns whether this model is the one
-- to keep.
function Stopper:update(value, batch)
  options.value("stopper:update", "the value", value, VALUE)
  options.value("stopper:update", "the batch", batch, "number")
  local gained = is_better(self, value, self.gain, self.min_gain)
  local highest = is_better(self, value, self.highest, 0)
  if gained then self.gain, self.gain_batch = value, batch end
  if highest then self.highest, self.highest_batch = value, batch end
  if self.best == "gain" then return gained end
  return highest
end

--- Tells whether `patience` batches have passed without a gain.
function Stopper:exhausted(batch)
  options.value("stopper:exhausted", "the batch", batch, "number")
  return self.patience > 0 and batch - self.gain_batch >= self.patience
end

--- Returns the value of the model that is kept and the number of batches after which it was
-- reached.
function Stopper:kept()
  if self.best == "gain" then return self.gain, self.gain_batch end
  return self.highest, self.highest_batch
end

local COUNTERS = {"gain", "gain_batch", "highest", "highest_batch"}

--- Returns the counters as a table of numbers, for a checkpoint.
function Stopper:state()
  local state = {}
  for _, name in ipairs(COUNTERS) do state[name] = self[name] end
  return state
end

--- Restores counters that `state` returned.
function Stopper:load_state(state)
  local spec = {}
  for _, name in ipairs(COUNTERS) do spec[name] = VALUE end
  state = options.check("stopper:load_state", state, spec)
  for _, name in ipairs(COUNTERS) do self[name] = state[name] end
end

return early_stopping
