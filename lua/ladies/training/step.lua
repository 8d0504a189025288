--- A step of training: from mini-batches to their losses, gradients and new parameters.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local label_kinds = require "ladies.data.labels"
local losses = require "ladies.nn.loss"
local not_finite = require "ladies.training.not_finite"
local options = require "ladies.base.options"

local step = {}

local Step = {__name = "Step"}
Step.__index = Step

--- step.new(opts, optimizer, profile): opts are those of ladies.train: data, model, loss, clip,
-- schedule, accumulate, precision; a profile, or nil, is told of steps and of backward.
-- `lr` is the learning rate that the schedule's factor multiplies; `updater` has the method `step`
-- of the optimizer, or is the optimizer.
function step.new(opts, optimizer, profile)
  return setmetatable({
    data = opts.data, model = opts.model, optimizer = optimizer, updater = optimizer,
    lr = optimizer.lr,
    loss = opts.loss or losses.of(opts.data.labels), is_own_loss = opts.loss ~= nil,
    clip = opts.clip ~= 0 and opts.clip or nil, schedule = opts.schedule, batches = opts.accumulate,
    profile = profile,
    in_bfloat16 = opts.precision == "bfloat16" and core.bfloat16_units() ~= nil,
  }, Step)
end

--- The loss of a batch's logits: of its loss_nodes alone, where these are given.
function Step:loss_of(logits, batch)
  local nodes, weight = batch.output, rawget(batch, "loss_weight")
  if not self.is_own_loss then label_kinds.check_outputs("ladies.train", logits, self.data) end
  if batch.loss_nodes then
    logits, nodes = logits:rows(batch.loss_nodes), nodes[batch.loss_nodes]
    weight = weight and weight[batch.loss_nodes]
  end
  return self.loss(logits, self.data.labels[nodes], weight, batch, self.model)
end

-- The loss of a batch, with the sampler's part in it, where it has one.
function Step:objective(batch)
  local loss = self:loss_of(self.model:forward(self.data.features, batch), batch)
  if not batch.penalty then return loss end
  return loss + options.value("mini-batch", "what penalty returns",
    batch:penalty(self.model, loss), "Tensor")
end

local LOSS = "the loss function's result for batch %d"

-- The number in the loss of a batch.
local function value_of(loss, number)
  options.value("ladies.train", LOSS:format(number), loss, "Tensor")
  if loss.n_rows * loss.n_cols ~= 1 then
    errors.fail(("ladies.train: " .. LOSS .. " must have one element, it is %d x %d"):format(
      number, loss.n_rows, loss.n_cols))
  end
  return loss:item()
end

-- The gradients of a loss.
local function backward(loss, number)
  local ok, reason = errors.try(loss.backward, loss)
  if ok then return end
  local text = errors.message(reason):match "^backward: the loss (.*)"
  if text then errors.fail(("ladies.train: " .. LOSS .. " %s"):format(number, text)) end
  error(reason, 0)
end

-- A step of the optimizer with the norm of the gradients bounded; returns what it is when it is not
-- finite.
function Step:step_clipped()
  local ok, reason = errors.try(self.updater.step, self.updater, {clip = self.clip})
  if ok then return nil end
  local norm = tostring(reason):match "the gradients' norm is (.*)"
  if not norm then error(reason, 0) end
  return "the norm of the gradients is " .. norm:gsub("-nan", "nan")
end

--- Sets the learning rate, 0 or more, that of the schedule's factor 1; an error says that `who`
-- gave another.
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

--- Updates the parameters by the gradients of the step that ends with mini-batch `number`; returns
-- what is not finite.
function Step:update(number)
  if self.schedule then self:follow_schedule(number) end
  if self.clip then return self:step_clipped() end
  self.updater:step()
end

-- Leaves the gradients of mini-batch `number`; returns its loss, or nil and what is not finite.
-- `bytes` is then what the program held when the gradients were there, and `paused` the seconds
-- that went by for measuring what of it is the step's (see step_memory).
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

-- The same in the run's precision.
function Step:differentiate(batch, number, scope)
  if self.profile then self.profile:opened(scope) end
  if not self.in_bfloat16 then return self:forward_and_backward(batch, number) end
  return core.in_bfloat16(self.forward_and_backward, self, batch, number)
end

--- Leaves the gradients of mini-batch `number`, the one at `place` in its step, in the optimizer,
-- for a step whose other mini-batches may be elsewhere. Returns as `train` does.
function Step:leaf(batch, number, place)
  local scope <close> = core.step()
  local value, wrong = self:differentiate(batch, number, scope)
  if value then self.optimizer:accumulate(self.batches, place) end
  return value, wrong
end

--- Trains on mini-batch `number`; returns its loss, or nil and what is not finite. The parameters
-- change at the last mini-batch of a step.
function Step:train(batch, number)
  local scope <close> = core.step()
  local value, wrong = self:differentiate(batch, number, scope)
  if not value then return nil, wrong end
  wrong = self.optimizer:accumulate(self.batches) and self:update(number)
  if wrong then return nil, wrong end
  if batch.after_step then batch.after_step(batch, self.model) end
  return value
end

return step
