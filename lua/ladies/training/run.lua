--- A training run: everything that ladies.train carries from batch to batch, saves in a checkpoint
-- and takes up again. All of it follows from the options and the number of batches done, so a run
-- that was killed and resumed ends with the same bits as one that was not.

local core = require "ladies_core"
local batch_maker = require "ladies.training.batch_maker"
local batches = require "ladies.training.batches"
local checkpoint = require "ladies.training.checkpoint"
local early_stopping = require "ladies.training.early_stopping"
local inference = require "ladies.evaluation.inference"
local interrupt = require "ladies.base.interrupt"
local label_kinds = require "ladies.data.labels"
local log = require "ladies.training.log"
local losses = require "ladies.nn.loss"
local machine = require "ladies.base.machine"
local metrics = require "ladies.evaluation.metrics"
local module = require "ladies.nn.module"
local optim = require "ladies.optim"
local errors = require "ladies.base.errors"
local options = require "ladies.base.options"
local progress = require "ladies.base.progress"
local propagation = require "ladies.graph.propagation"
local run_identity = require "ladies.training.run_identity"
local timer = require "ladies.training.timer"

local Run = {__name = "TrainingRun"}
Run.__index = Run

-- Micro-F1 on the validation nodes by exact inference, and the predictions for all nodes that it
-- comes from; nil when there are no validation nodes.
local function exact_validation(data, P)
  return data.val and function(model)
    local logits = inference.exact(model, data, {P = P})
    label_kinds.check_outputs("ladies.train", logits, data)
    local finite, value = logits:is_finite()
    if not finite then return value end
    local predicted = label_kinds.kind_of(data.labels).predict(logits)
    logits:release()
    return metrics.micro_f1(predicted, data.labels, data.val), predicted
  end
end

local function is_finite(x)
  return x == x and x ~= math.huge and x ~= -math.huge
end

local function show(x)
  return x == x and tostring(x) or "nan"
end

local function clones(named)
  local copies = {}
  for i, parameter in ipairs(named) do
    copies[i] = {name = parameter.name, tensor = parameter.tensor:clone()}
  end
  return copies
end

local function copy(from, to)
  for i, parameter in ipairs(from) do module.fill(to[i].tensor, parameter.tensor) end
end

-- Fails when an optimizer lacks some of the model's parameters, which would not be trained and
-- whose gradients would pile up.
local function check_optimizer(optimizer, parameters)
  local lacking, trained = {}, 0
  for _, parameter in ipairs(parameters) do
    local tensor = parameter.tensor
    if tensor.requires_grad then
      trained = trained + 1
      if not optimizer:has(tensor) then lacking[#lacking + 1] = parameter.name end
    end
  end
  if #lacking == trained then
    options.fail "ladies.train: the optimizer has none of the model's parameters"
  elseif #lacking > 0 then
    options.fail(("ladies.train: the optimizer lacks the model's parameter %s; one that is not to "
      .. "be trained is frozen by :requires_grad_(false)"):format(lacking[1]))
  end
end

--- A run at its beginning, or where opts.resume finds its checkpoint; opts are the checked options
-- of ladies.train, folder is the run's, which this process has taken, or nil. A <close> variable:
-- closing it clears the gradients, stops the workers, closes the log and wipes the progress bar.
function Run.new(opts, folder)
  local run = setmetatable({
    opts = opts, folder = folder, model = opts.model, labels = opts.data.labels,
    loss = opts.loss or losses.of(opts.data.labels),
    parameters = module.named_parameters(opts.model),
    sampler = type(opts.sampler) == "table" and opts.sampler.state or {},   -- its tensors
    validate = opts.validate or exact_validation(opts.data, opts.P),
    stopper = early_stopping.new{
      patience = opts.patience, min_gain = opts.min_gain, best = opts.best,
    },
    timer = timer.new(),
    numerics = {machine.numerics()},
    number = 0, epoch = 1, index = 0,     -- batches in all; the last one's epoch and place in it
    rows = {input = 0, hidden = 0},       -- of all batches: of the features, and of all layers
    validation_seconds = 0, batch_bytes = 0, has_best = false,
  }, Run)
  local parameters = module.parameters(opts.model)
  if #parameters == 0 then
    options.fail(("ladies.train: the model has no parameters%s"):format(
      #run.parameters > 0 and " that require a gradient: all are frozen" or ""))
  end
  if opts.optimizer then check_optimizer(opts.optimizer, run.parameters) end
  run.optimizer = opts.optimizer or optim.adam(parameters,
    {lr = opts.lr, weight_decay = opts.weight_decay})
  run.lr = run.optimizer.lr
  run.best = clones(run.parameters)
  if folder then run:open_folder() end
  run:open_batches()
  if opts.P then propagation.set(opts.model, opts.P, opts.data.graph) end
  run.optimizer:clear()
  return run
end

-- The state of the folder's checkpoint when resuming, and the log as long as it was then. A run
-- that was killed before its first checkpoint begins anew.
function Run:open_folder()
  local kept
  self.identity = run_identity.of(self.opts)
  if self.opts.resume and self.folder:has "checkpoint.npz" then
    kept = self:load(self.folder:file "checkpoint.npz")
    if self.identity.batch then self:check_sampler(self.identity.batch) end
  end
  if self.opts.settings then self.folder:write_json("config.json", self.opts.settings) end
  self.log = log.open(self.folder:file "log.jsonl", kept)
  self:check_log(kept)
  self.saved = core.clock()
end

-- Says that lines are missing in a log that is shorter than it was at the checkpoint.
function Run:check_log(kept)
  local missing = (kept or 0) - self.log:sync()
  if missing > 0 then
    io.stderr:write(("ladies.train: %s has lost %d bytes since the checkpoint; the run goes on "
      .. "without those lines"):format(self.log.path, missing), "\n")
  end
end

--- What the bits of the run depend on besides: machine.numerics() of the machines that computed it,
-- in turn.
function Run:computed_by()
  return table.concat(self.numerics, ", then ")
end

-- Notes where the run goes on with other numerics than so far.
function Run:continue_numerics(before)
  local here = machine.numerics()
  self.numerics = before
  if before[#before] == here then return end
  io.stderr:write(("ladies.train: so far the run was computed by %s; it goes on by %s, and its "
    .. "bits may be others than there"):format(self:computed_by(), here), "\n")
  before[#before + 1] = here
end

-- The options of the iterator over the mini-batches from one on.
function Run:batch_options(epoch, index)
  local opts = self.opts
  return {
    size = opts.batch_size, sampler = opts.sampler, seed = opts.seed, epochs = opts.epochs,
    start = {epoch = epoch, batch = index}, nodes = opts.data.features.n_rows,
    workers = opts.workers, ahead = opts.ahead, quiet = opts.quiet,
  }
end

-- Fails when the sampler draws the checkpoint's last mini-batch, whose hash is `drawn`, otherwise.
function Run:check_sampler(drawn)
  local opts = self:batch_options(self.epoch, self.index)
  opts.epochs, opts.workers = math.max(opts.epochs, self.epoch), 0
  local batch = batches.new(self.opts.data.train, opts)()
  if run_identity.of_batch(opts.sampler, batch) ~= drawn then
    options.fail(("%s: this is not the run that began there: its sampler draws another mini-batch "
      .. "%d; one that depends on more than seeds and rng must say so (adaptive = true)"):format(
        self.folder, self.number))
  end
end

-- The iterator over the batches that are left, and their progress.
function Run:open_batches()
  local opts, batch_options = self.opts, self:batch_options(self.epoch, self.index + 1)
  self.next_batch = batches.new(opts.data.train, batch_options)
  if inference.possible(self.model) and not opts.P then
    self.guard = propagation.guard("ladies.train", self.model, opts.data.graph,
      batch_maker.name_of(opts.sampler), function(text) self.progress:line("ladies: " .. text) end)
  end
  local total = opts.epochs * batches.per_epoch(#opts.data.train, batch_options)
  self.progress = progress.new{
    total = math.min(total, opts.max_batches or total), done = self.number, quiet = opts.quiet,
    bound = self.validate ~= nil and opts.patience > 0,
  }
  if self.number > 0 then
    self.progress:line(("going on after batch %d of epoch %d"):format(self.index, self.epoch))
  end
end

function Run:__close()
  self.optimizer:clear()
  self.next_batch:close()
  self.progress:clear()
  if self.log then self.log:close() end
end

-- The numbers of a checkpoint.
function Run:counters()
  local counters = {
    epoch = self.epoch, index = self.index, number = self.number,
    validation_seconds = self.validation_seconds, batch_bytes = self.batch_bytes,
    log_bytes = self.log:sync(),
    input_rows = self.rows.input, hidden_rows = self.rows.hidden,
  }
  for name, seconds in pairs(self.timer.total) do counters["seconds_" .. name] = seconds end
  for name, value in pairs(self.stopper:state()) do counters["stopping_" .. name] = value end
  return counters
end

--- Writes the checkpoint into the run's folder.
function Run:save()
  local identity = self.identity
  identity.numerics = self.numerics
  if self.batch then identity.batch = run_identity.of_batch(self.opts.sampler, self.batch) end
  checkpoint.save(self.folder:file "checkpoint.npz", {
    parameters = self.parameters, best = self.has_best and self.best or nil,
    optimizer = self.optimizer, sampler = self.sampler, counters = self:counters(),
    run = self.identity,
  })
  self.saved = core.clock()
end

-- Takes over the state of a checkpoint; returns the length of the log at that time.
function Run:load(path)
  local counters, has_best = checkpoint.load(path, self, function(before)
    run_identity.check(tostring(self.folder), before, self.identity)
    self.identity.batch = before.batch
    self:continue_numerics(before.numerics)
  end)
  self.has_best = has_best
  self.epoch, self.index, self.number = counters.epoch, counters.index, counters.number
  self.validation_seconds, self.batch_bytes = counters.validation_seconds, counters.batch_bytes
  self.rows.input, self.rows.hidden = counters.input_rows, counters.hidden_rows
  local stopping = {}
  for name, value in pairs(counters) do
    local total, counter = name:match "^seconds_(.+)", name:match "^stopping_(.+)"
    if total then self.timer.total[total] = value end
    if counter then stopping[counter] = value end
  end
  self.stopper:load_state(stopping)
  return counters.log_bytes
end

-- The loss of a batch: of its loss_nodes alone, where these are given.
function Run:objective(logits, batch)
  local nodes, weight = batch.output, rawget(batch, "loss_weight")
  if not self.opts.loss then
    label_kinds.check_outputs("ladies.train", logits, self.opts.data)
  end
  if batch.loss_nodes then
    logits, nodes = logits:rows(batch.loss_nodes), nodes[batch.loss_nodes]
    weight = weight and weight[batch.loss_nodes]
  end
  return self.loss(logits, self.labels[nodes], weight)
end

-- Ends the run at a batch, for something is not finite any more; what was good before is kept.
function Run:give_up(number, text)
  self.trouble = self.trouble or ("batch %d: %s"):format(number, text)
end

-- Gives up when a parameter is not finite.
function Run:check_parameters()
  for _, parameter in ipairs(self.parameters) do
    local finite, value = parameter.tensor:is_finite()
    if not finite then
      return self:give_up(self.number, ("the parameter %s has %s"):format(parameter.name,
        show(value)))
    end
  end
end

-- Bounds the norm of the gradients; gives up when it is not finite.
function Run:clip()
  local ok, reason = errors.try(self.optimizer.clip_norm, self.optimizer, self.opts.clip)
  if ok then return end
  local norm = tostring(reason):match "the gradients' norm is (.*)"
  if not norm then error(reason, 0) end
  self:give_up(self.number + 1, "the norm of the gradients is " .. norm:gsub("-nan", "nan"))
end

local LOSS = "the loss function's result for batch %d"

-- The number in the loss of a batch.
local function value_of(loss, number)
  options.value("ladies.train", LOSS:format(number), loss, "Tensor")
  if loss.n_rows * loss.n_cols ~= 1 then
    options.fail(("ladies.train: " .. LOSS .. " must have one element, it is %d x %d"):format(
      number, loss.n_rows, loss.n_cols))
  end
  return loss:item()
end

-- The gradients of a loss.
local function backward(loss, number)
  local ok, reason = errors.try(loss.backward, loss)
  if ok then return end
  local text = errors.message(reason):match "^backward: the loss (.*)"
  if text then options.fail(("ladies.train: " .. LOSS .. " %s"):format(number, text)) end
  error(reason, 0)
end

-- Gives the optimizer the learning rate of a batch.
function Run:set_lr(number)
  local factor = self.opts.schedule(number)
  local ok = type(factor) == "number"
    and errors.try(self.optimizer.set_lr, self.optimizer, self.lr * factor)
  if not ok then
    options.fail(("ladies.train: schedule must give a factor of 0 or more, and finite in float32 "
      .. "times the learning rate, got %s for batch %d"):format(
        type(factor) == "number" and show(factor) or "a " .. type(factor), number))
  end
end

-- One step of the optimizer on a batch; returns the batch's loss, or nil when the run gives up.
function Run:step(batch)
  local opts, number = self.opts, self.number + 1
  propagation.trained(self.model, batch)
  if self.guard then self.guard(batch) end
  local _ <close> = core.step()
  local loss = self:objective(self.model:forward(opts.data.features, batch), batch)
  local value = value_of(loss, number)
  if not is_finite(value) then return self:give_up(number, "the loss is " .. show(value)) end
  backward(loss, number)
  self.bytes = core.memory().total
  if opts.clip then self:clip() end
  if self.trouble then return nil end
  if opts.schedule then self:set_lr(number) end
  self.optimizer:step()
  if batch.after_step then batch.after_step(batch, self.model) end
  return value
end

function Run:count_rows(batch)
  local rows = self.rows
  rows.input = rows.input + #batch.input
  for _, block in ipairs(batch.blocks) do rows.hidden = rows.hidden + #block.dst end
end

-- Samples the next batch and trains on it; returns false when the epochs are over or the run gives
-- up.
function Run:advance()
  local clock, before = self.timer, core.memory().total
  clock:start()
  self.batch = nil      -- one at a time is held
  local batch = self.next_batch()
  if not batch then return false end
  clock:sampled(batch.sampling)
  local loss = self:step(batch)
  if not loss then return false end
  local now = clock:stop(batch.gathering or 0)
  self.number, self.epoch, self.index = self.number + 1, batch.epoch, batch.index
  self.batch = batch
  self.batch_bytes = math.max(self.batch_bytes, self.bytes - before)
  self:count_rows(batch)
  if self.log then self.log:batch(batch, self.number, loss, clock, self.bytes) end
  self.progress:update(self.number, now, loss, self.val_f1)
  return true
end

-- Whether a validation follows the batch in hand.
function Run:validation_is_due()
  return self.validate and self.number % self.opts.eval_every == 0
end

--- Validates, and keeps a copy of the model when it is the best so far; or gives up.
function Run:evaluate()
  local began = core.clock()
  self:check_parameters()
  if self.trouble then return end
  local val_f1, predicted = self.validate(self.model, self.number)
  if type(val_f1) ~= "number" then
    options.fail("ladies.train: validate must return a number, got a " .. type(val_f1))
  elseif not is_finite(val_f1) then
    return self:give_up(self.number, "validation gives " .. show(val_f1))
  end
  if predicted ~= nil then
    label_kinds.check_predictions("ladies.train: validate", predicted, self.labels)
  end
  self.val_f1 = val_f1
  if self.stopper:update(self.val_f1, self.number) then
    copy(self.parameters, self.best)
    self.has_best = true
  end
  self.validation_seconds = self.validation_seconds + core.clock() - began
  local seconds = self.timer:seconds()
  if self.log then self.log:validation(self.number, self.epoch, self.val_f1, seconds) end
  if self.opts.on_validation then
    self.opts.on_validation{batch = self.number, epoch = self.epoch, seconds = seconds,
      val_f1 = self.val_f1, predicted = predicted, model = self.model}
  end
end

function Run:checkpoint_is_due()
  return self.folder and not self.trouble
    and core.clock() - self.saved >= self.opts.checkpoint_every
end

--- Trains until there is a reason to stop, which it returns: "patience", "max_batches",
-- "max_seconds", "epochs", "interrupted" or, with the text `trouble`, "not finite". A run with a
-- folder is saved now and then, at an interruption, and at the end; the checkpoint from before the
-- trouble stays.
function Run:loop()
  local opts, reason = self.opts, nil
  local _ <close> = self.folder and interrupt.defer()
  while not reason and not self.trouble do
    if self:validation_is_due() and self.stopper:exhausted(self.number) then
      reason = "patience"
    elseif self.number >= (opts.max_batches or math.huge) then
      reason = "max_batches"
    elseif self.timer:seconds() >= (opts.max_seconds or math.huge) then
      reason = "max_seconds"
    elseif self.folder and interrupt.arrived() then
      reason = "interrupted"
    elseif not self:advance() then
      reason = "epochs"
    else
      if self:validation_is_due() then self:evaluate() end
      if self:checkpoint_is_due() then self:save() end
    end
  end
  if self.trouble then return "not finite" end
  if self.folder then self:save() end
  return reason
end

--- Puts the best model's parameters into the model, after a last validation when the loop ended
-- between two. (The checkpoint is from before it, so that a longer run can go on from there.)
-- Returns whether there is a model to keep.
function Run:keep_best()
  if self.validate and not self.trouble and not self:validation_is_due() then self:evaluate() end
  if self.has_best then copy(self.best, self.parameters) else self:check_parameters() end
  return self.has_best or not self.trouble
end

return Run
