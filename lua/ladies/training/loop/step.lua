--- Carries out training steps: computes the losses and gradients of mini-batches, and updates the
-- parameters.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local not_finite = require("ladies.base.units").not_finite
local options = require "ladies.base.options"

local step = {}

local Step = {__name = "Step"}
Step.__index = Step

--- step.new(opts, optimizer, profile): makes the object that trains. opts are those of
-- ladies.train: data, task, model, loss, clip, schedule, accumulate, precision; a profile, or nil,
-- is notified of steps and of backward. `lr` is the learning rate that the schedule's factor
-- multiplies; `updater` has the method `step` of the optimizer, or is the optimizer.
function step.new(opts, optimizer, profile)
  return setmetatable({
    data = opts.data, task = opts.task, model = opts.model, optimizer = optimizer,
    updater = optimizer, lr = optimizer.lr, loss = opts.loss,
    clip = opts.clip or 0, schedule = opts.schedule, batches = opts.accumulate,
    profile = profile,
    in_bfloat16 = opts.precision == "bfloat16" and core.bfloat16_units() ~= nil,
  }, Step)
end

--- Computes the loss of a batch from the model's output h.
function Step:loss_of(h, batch)
  if not self.loss then self.task:check_outputs("ladies.train", h) end
  return self.task:loss_of(h, batch, self.model, self.loss)
end

-- Computes the loss of a batch, with the sampler's penalty where it has one.
function Step:objective(batch)
  local loss = self:loss_of(self.model:forward(self.data.features, batch), batch)
  if not batch.penalty then return loss end
  return loss + options.value("mini-batch", "what penalty returns",
    batch:penalty(self.model, loss), "Tensor")
end

local LOSS = "the loss function's result for batch %d"

-- Returns the loss as a number; it is an error unless the loss function gave a Tensor of one
-- element.
local function value_of(loss, number)
  options.value("ladies.train", LOSS:format(number), loss, "Tensor")
  if loss.n_rows * loss.n_cols ~= 1 then
    errors.fail(("ladies.train: " .. LOSS .. " must have one element, it is %d x %d"):format(
      number, loss.n_rows, loss.n_cols))
  end
  return loss:item()
end

-- Computes the gradients of a loss; an error names the batch.
local function backward(loss, number)
  local ok, reason = errors.try(loss.backward, loss)
  if ok then return end
  local text = errors.message(reason):match "^backward: the loss (.*)"
  if text then errors.fail(("ladies.train: " .. LOSS .. " %s"):format(number, text)) end
  error(reason, 0)
end

-- Takes a step of the optimizer with the norm of the gradients bounded by `clip`. Returns nil, or a
-- text on the norm where that is not finite.
function Step:step_clipped()
  local ok, reason = errors.try(self.updater.step, self.updater, {clip = self.clip})
  if ok then return nil end
  local norm = tostring(reason):match "the gradients' norm is (.*)"
  if not norm then error(reason, 0) end
  return "the norm of the gradients is " .. norm:gsub("-nan", "nan")
end

--- Sets the learning rate that the schedule's factors multiply. It must be 0 or more; an error says
-- that `who` gave another.
function Step:set_lr(lr, who)
  if not errors.try(self.optimizer.set_lr, self.optimizer, lr) then
    errors.fail(("ladies.train: %s: lr must be 0 or more, and finite in float32, got %s"):format(
      who, not_finite(lr) or lr))
  end
  self.lr = lr
end

-- Gives the optimizer the learning rate of a batch.
function Step:follow_schedule(number)
  local factor = self.schedule(number)
  local ok = type(factor) == "number"
    and errors.try(self.optimizer.set_lr, self.optimizer, self.lr * factor)
  if not ok then
    errors.fail(("ladies.train: schedule must give a factor of 0 or more, and finite in float32 "
      .. "times the learning rate, got %s for batch %d"):format(
        type(factor) == "number" and (not_finite(factor) or factor) or "a " .. type(factor),
        number))
  end
end

--- Updates the parameters by the gradients of the step that ends with mini-batch `number`. Returns
-- nil, or a text on the norm of the gradients where that is not finite.
function Step:update(number)
  if self.schedule then self:follow_schedule(number) end
  if self.clip ~= 0 then return self:step_clipped() end
  self.updater:step()
end

-- Computes the gradients of mini-batch `number`. Returns its loss, or nil and a text where the loss
-- is not finite. `bytes` is then what the program held when the gradients were there, and `paused`
-- the seconds that went by for measuring what of it is the step's (see step_memory).
function Step:forward_and_backward(batch, number)
  local loss = errors.within("ladies.train: batch %d", number, self.objective, self, batch)
  local value = value_of(loss, number)
  local wrong = not_finite(value)
  if wrong then return nil, "the loss is " .. wrong end
  backward(loss, number)
  if self.profile then self.profile:went_back() end
  self.bytes = core.memory().total
  self.paused = self.memory and self.memory:at_gradients() or 0
  return value
end

-- The class of the step (gradient tape) of a mini-batch, a <close> variable. It is opened again if
-- an optimizer needs the gradients several times, since backward runs once on a tape.
local Scope = {}
Scope.__index = Scope

function Scope:open()
  self:__close()
  self.step = core.step()
  return self.step
end

function Scope:__close()
  if self.step then self.step:close() end
  self.step = nil
end

-- Computes the gradients of a mini-batch in the run's precision.
function Step:compute(batch, number, scope)
  local opened = scope:open()
  if self.profile then self.profile:opened(opened) end
  if not self.in_bfloat16 then return self:forward_and_backward(batch, number) end
  return core.in_bfloat16(self.forward_and_backward, self, batch, number)
end

-- Computes the gradients of a mini-batch as often as the optimizer wants: once, unless it is a
-- user's own that needs more.
function Step:differentiate(batch, number, scope)
  if type(self.optimizer) ~= "table" then      -- none of the user's own
    return self:compute(batch, number, scope)
  end
  local value, wrong
  local ok, reason = errors.try(self.optimizer.differentiate, self.optimizer, function()
    local now
    now, wrong = self:compute(batch, number, scope)
    if not now then error(wrong, 0) end
    value = value or now
  end)
  if wrong then return nil, wrong end
  if not ok then error(reason, 0) end
  return value
end

--- Adds the gradients of mini-batch `number`, the one at `place` in its step, to the optimizer's
-- sums, for a step whose other mini-batches may be of other processes. Returns as `train` does.
function Step:leaf(batch, number, place)
  local scope <close> = setmetatable({}, Scope)
  local value, wrong = self:differentiate(batch, number, scope)
  if value then self.optimizer:accumulate(self.batches, place) end
  return value, wrong
end

--- Trains on mini-batch `number`. Returns its loss, or nil and a text on what is not finite. The
-- parameters change at the last mini-batch of a step.
function Step:train(batch, number)
  local scope <close> = setmetatable({}, Scope)
  local value, wrong = self:differentiate(batch, number, scope)
  if not value then return nil, wrong end
  wrong = self.optimizer:accumulate(self.batches) and self:update(number)
  if wrong then return nil, wrong end
  if batch.after_step then batch.after_step(batch, self.model) end
  return value
end

return step
