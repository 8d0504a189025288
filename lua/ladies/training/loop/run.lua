--- The class of training runs, with the loop of ladies.train and all state that it carries from
-- batch to batch. The state is determined by the options and the number of batches done, so a run
-- that was killed and resumed ends with the same result, to the bit, as one that was not.

local core = require "ladies_core"
local Average = require "ladies.optim.average"
local batches = require "ladies.training.batches"
local best_model = require "ladies.training.loop.best_model"
local Buffers = require "ladies.nn.buffers"
local callbacks = require "ladies.training.loop.callbacks"
local drawn_together = require "ladies.training.ranks.drawn_together"
local early_stopping = require "ladies.training.loop.early_stopping"
local errors = require "ladies.base.errors"
local fold = require "ladies.ranks.fold"
local inference = require "ladies.evaluation.inference"
local interrupt = require "ladies.base.interrupt"
local live_plot = require "ladies.training.record.live_plot"
local link = require "ladies.ranks.link"
local log = require "ladies.training.record.log"
local machine = require "ladies.base.machine"
local mapped_files = require "ladies.base.mapped_files"
local module = require "ladies.nn.module"
local not_finite = require("ladies.base.units").not_finite
local numbered_batches = require "ladies.training.batches.numbered"
local object_state = require "ladies.training.checkpoint.object_state"
local Profile = require "ladies.training.cost.profile"
local progress = require "ladies.base.progress"
local propagation = require "ladies.graph.propagation"
local ranks_cost = require "ladies.training.ranks.cost"
local row_cache = require "ladies.training.ranks.row_cache"
local rows_ahead = require "ladies.training.ranks.rows_ahead"
local run_checkpoint = require "ladies.training.checkpoint.of_run"
local run_identity = require "ladies.training.checkpoint.identity"
local step = require "ladies.training.loop.step"
local step_memory = require "ladies.training.cost.step_memory"
local tables = require "ladies.base.tables"
local timer = require "ladies.training.cost.timer"
local together = require "ladies.training.ranks.together"
local trained = require "ladies.training.loop.trained"
local units = require "ladies.base.units"
local validation = require "ladies.training.loop.validation"

local Run = {__name = "TrainingRun"}
Run.__index = Run

-- Returns how many bytes of other ranks' features each rank keeps (option feature_cache), or nil.
local function feature_cache_of(opts)
  if not opts.feature_cache then return nil end
  if not opts.data.graph then
    errors.fail "ladies.train: feature_cache is of the nodes of most edges, and there is no graph"
  end
  return units.bytes("ladies.train: feature_cache", opts.feature_cache)
end

-- Fails if a schedule takes larger values for better while the run takes smaller ones, or the
-- reverse.
local function check_mode(schedule, mode)
  local own = type(schedule) == "table" and rawget(schedule, "mode") or mode
  if own ~= mode then
    errors.fail(('ladies.train: the schedule is for mode = "%s", and the monitor is for "%s"')
      :format(own, mode))
  end
end

--- Makes a run at its beginning or, with opts.resume, at its checkpoint. opts are the checked
-- options of ladies.train; folder is the run's, which this process has locked, or nil. A <close>
-- variable: closing it clears the gradients, stops the workers, closes the log and wipes the
-- progress bar.
function Run.new(opts, folder)
  opts.task:equip(opts.model)
  local parameters, monitor = module.named_parameters(opts.model), validation.monitor(opts)
  local of_sampler, kept = trained.of_sampler(opts.sampler)
  local buffers = Buffers.new(opts.model, {opts.data, opts.sampler})
  local optimizer = trained.optimizer(opts, parameters, of_sampler)
  local profile = opts.profile and Profile.new(opts.model) or nil
  local is_seen = opts.plot and not opts.quiet and core.isatty(2)
  local live = is_seen and live_plot.new{name = monitor.name} or nil
  check_mode(opts.schedule, monitor.mode)
  local run = setmetatable({
    opts = opts, folder = folder, model = opts.model, parameters = parameters,
    buffers = buffers, of_sampler = of_sampler, sampler = kept,
    optimizer = optimizer, step = step.new(opts, optimizer, profile), profile = profile,
    live = live, monitor = monitor, validation = validation.new(opts),
    average = opts.average and Average.new(opts.model, opts.average) or nil,
    best = best_model.new(parameters, buffers), feature_cache = feature_cache_of(opts),
    stopper = early_stopping.new{
      patience = opts.patience, min_gain = opts.min_gain, best = opts.best, mode = monitor.mode,
      relative = monitor.relative,
    },
    timer = timer.new(), together = link.size > 1,       -- with other ranks
    numerics = {machine.numerics(opts.precision)},
    blind = opts.task.units.test and opts.task:blind_values(opts.task.units.test) or nil,
    number = 0, epoch = 1, index = 0,     -- batches in all; the last one's epoch and place in it
    rows = {input = 0, hidden = 0},       -- of all batches: of the features, and of all layers
    validation_seconds = 0, memory = step_memory.new(),
    history = {},                         -- of validations: see ladies.summary
    losses = {sum = 0, n = 0},            -- of batches since the last validation
  }, Run)
  run.step.memory = run.memory
  if run.together then together.begin(run) end
  run:open_checkpoint()
  if run.together and opts.shard_optimizer then together.divide(run) end
  run:open_batches()
  if opts.P then propagation.set(opts.model, opts.P, opts.data.graph) end
  optimizer:clear()
  return run
end

--- Returns machine.numerics() of each machine on which the run was computed, in order; the bits of
-- the results depend on these.
function Run:computed_by()
  return table.concat(self.numerics, ", then ")
end

-- Resumes from the checkpoint in the run's folder, which rank 0 has, if there is one.
function Run:open_checkpoint()
  local path = self.folder and run_checkpoint.take_over(self)
  local bytes = self.together and together.file(path)
  if bytes and link.rank > 0 then run_checkpoint.receive(self, bytes) end
  run_checkpoint.check(self)
  if self.folder then run_checkpoint.open(self, path) end
  if not self.together then return end
  self.began = {number = self.number, cost = ranks_cost.now(self.timer)}
end

--- Returns the options of the iterator over the mini-batches from the given one on.
function Run:batch_options(epoch, index)
  local opts = self.opts
  local first, last = fold.share(link.rank, link.size, opts.accumulate)
  return {
    batch_size = opts.batch_size, sampler = opts.sampler, seed = opts.seed, epochs = opts.epochs,
    start = {epoch = epoch, batch = index}, nodes = opts.data.features.n_rows,
    workers = opts.workers, ahead = opts.ahead, quiet = opts.quiet,
    step = self.together and first <= last and opts.accumulate or nil,
    features = opts.data.features, edges = opts.data.edges, task = opts.task, parts = opts.parts,
  }
end

-- Returns the number of the batch that ends the last whole step within the bounds of the run.
function Run:last_batch()
  local size = self.opts.accumulate
  local most = math.min(self.total, self.opts.max_batches or self.total)
  if most < size then
    errors.fail(("ladies.train: a step of %d mini-batches (accumulate) is more than the run "
      .. "has, %d"):format(size, most))
  end
  return most // size * size
end

-- Makes the iterator bring rows of features from other ranks before the batches need them.
function Run:open_rows()
  local opts, size, features = self.opts, self.opts.accumulate, self.opts.data.features
  local cache = self.feature_cache and row_cache.new(features, opts.data.graph.adjacency,
    self.feature_cache // rows_ahead.row_bytes(features))
  self.next_batch = rows_ahead.new(self.next_batch, {
    features = features, graph = drawn_together.graph_of(opts.data), model = self.model,
    step = size, steps = (self:last_batch() - self.number) // size, cache = cache,
    epoch = rows_ahead.steps_of(self.total // opts.epochs, size),
  })
  self.rows_ahead = self.next_batch
end

-- Makes the iterator over the remaining batches, and the progress bar.
function Run:open_batches()
  local opts, batch_options = self.opts, self:batch_options(self.epoch, self.index + 1)
  self.next_batch = batches.drawn(opts.task.units.train, batch_options)
  if opts.sampler and inference.possible(self.model) and not opts.P then
    self.guard = propagation.guard("ladies.train", self.model, opts.data.graph,
      numbered_batches.name_of(opts.sampler),
      function(text) self.progress:line("ladies: " .. text) end)
  end
  self.total = opts.epochs * batches.per_epoch(#opts.task.units.train, batch_options)
  if self.together and rows_ahead.is_for(opts.data.features) then self:open_rows() end
  self.progress = progress.new{
    total = self:last_batch(), done = self.number, quiet = opts.quiet,
    bound = self.validation ~= nil and opts.patience > 0, measure = self.monitor.name,
    limit = opts.max_seconds and opts.max_seconds - self.timer:seconds(),
  }
  if self.number > 0 then
    self.progress:line(("going on after batch %d of epoch %d"):format(self.index, self.epoch))
  end
end

function Run:__close(e)
  self.optimizer:clear()
  self.next_batch:close()
  self.progress:clear()
  if self.log then self.log:close() end
  if e and not errors.is_interrupt(e) then mapped_files.check() end      -- it may be why
end

--- Ends the run at a batch because a value is not finite; the best model and the last checkpoint
-- are kept.
function Run:give_up(number, text)
  self.trouble = self.trouble or ("batch %d: %s"):format(number, text)
end

-- Ends the run if a parameter is not finite.
function Run:check_parameters()
  for _, parameter in ipairs(tables.append(tables.append({}, self.parameters), self.of_sampler)) do
    local finite, value = parameter.tensor:is_finite()
    if not finite then
      return self:give_up(self.number, ("the parameter %s has %s"):format(parameter.name,
        not_finite(value)))
    end
  end
end

-- Calls the callback with this name, if there is one, with the fields of `at` and those that all
-- callbacks get; does what it asks for, and returns its numbers for the log.
function Run:call(name, at, taken)
  local callback = self.opts[name]
  if not callback then return nil end
  at.batch, at.epoch, at.seconds = self.number, self.epoch, self.timer:seconds()
  at.model, at.optimizer, at.lr = self.model, self.optimizer, self.step.lr
  local numbers, stop = callbacks.call(name, callback, at, taken)
  if stop then self.stopped_by = name end
  if numbers and numbers.lr then self.step:set_lr(numbers.lr, name) end
  return numbers
end

--- Returns the numbers of rows of a batch: of the features, and of all layers.
function Run.rows_of(_, batch)
  local hidden = 0
  for _, block in ipairs(batch.blocks) do hidden = hidden + #block.dst end
  return {input = #batch.input, hidden = hidden}
end

--- Calls f(...), a part of a batch, measures it if there is a profile, and returns its results.
function Run:measured(f, ...)
  if self.profile then return self.profile:measure(f, ...) end
  return f(...)
end

-- Takes the next mini-batch, `number`, from the iterator and measures its memory; those of
-- rows_ahead were already drawn, together with others.
function Run:take(number)
  if self.rows_ahead then return self.next_batch() end
  self.next_batch.in_loop = self.memory:is_measured(number)
  return self.memory:counted(number, self.next_batch)
end

--- Samples mini-batch `number`, the next one, on which the model is about to be trained.
function Run:draw(number)
  self.timer:start()
  self.batch = nil      -- one at a time is held
  if self.profile then self.profile:begin() end
  local batch = self:measured(self.take, self, number)
  self.timer:sampled(batch.sampling)
  propagation.trained(self.model, batch)
  if self.guard then self.guard(batch) end
  return batch
end

--- Calls `train`, a method of Step, for mini-batch `number`, measures its memory and time, and
-- returns its results. Results from an overwritten file leave this process neither in a checkpoint
-- nor to other ranks.
function Run:trained(train, batch, number, ...)
  local loss, wrong = self:measured(self.memory.counted, self.memory, number, train, self.step,
    batch, number, ...)
  mapped_files.check()
  if loss then
    self.timer:leave_out(self.step.paused)
    self.timer:stop(batch.gathering)
  end
  return loss, wrong
end

--- Counts a batch on which this rank or another has trained, and writes it to the log, the callback
-- and the progress bar. `of` has its epoch, index, loss, rows (see rows_of), and what the log says
-- (see log.measured); `batch` is the mini-batch, where it is here.
function Run:count(of, batch)
  local rows = self.rows
  self.number, self.epoch, self.index = self.number + 1, of.epoch, of.index
  rows.input, rows.hidden = rows.input + of.input, rows.hidden + of.hidden
  local numbers = self:call("on_batch", {index = of.index, loss = of.loss, mini_batch = batch},
    log.names.batch)
  if self.log then self.log:line(self.number, of.epoch, of.loss, of.measured, numbers) end
  self.losses.sum, self.losses.n = self.losses.sum + of.loss, self.losses.n + 1
  self.progress:update(self.number, core.clock(), of.loss, self.value)
end

-- Samples the next batch and trains on it, or ends the run if something is not finite.
function Run:advance()
  local number = self.number + 1
  local batch = self:draw(number)
  local loss, wrong = self:trained(self.step.train, batch, number)
  if not loss then return self:give_up(number, wrong) end
  self.batch = batch
  local of = self:rows_of(batch)
  of.epoch, of.index, of.loss = batch.epoch, batch.index, loss
  if self.log then of.measured = log.measured(batch, self.timer, self.step.bytes) end
  self:count(of, batch)
end

-- Frees the mini-batches since `first` if one of them was measured, and finishes the measurement of
-- their memory.
function Run:settle(first)
  if self.trouble or not self.memory:is_among(first, self.number) then return end
  if self.batch and self.identity then
    self.identity.batch = run_identity.of_batch(self.opts.sampler, self.batch)
  end
  self.batch = nil
  self.next_batch:check_calls()
  self.memory:settle()
  if self.together then self.memory.most = together.most(self.memory.most) end
end

-- Tells whether the current batch ends a step of the optimizer.
function Run:is_whole()
  return self.number % self.opts.accumulate == 0
end

-- Tells whether a validation follows the current batch, because that ends the step in which one is
-- due.
function Run:validation_is_due()
  local opts = self.opts
  return self.validation and self:is_whole()
    and self.number // opts.eval_every > (self.number - opts.accumulate) // opts.eval_every
end

-- Validates the model; returns the results of validation.measure.
function Run:validated()
  local check = self.validation
  if not self.together then return check:measure(self.model, self.number) end
  together.compare(self)
  return together.validate(check, self.model, self.number)
end

-- Draws the training curve so far, in a terminal.
function Run:plot()
  if not self.live then return end
  local text = self.live:draw(self.history)
  if text then self.progress:picture(text) end
end

-- Puts the average of the weights into the model, if there is one; returns a <close> variable that
-- puts the weights back.
function Run:averaged()
  local average = self.average
  if not average then return nil end
  average:swap()
  return setmetatable({}, {__close = function() average:swap() end})
end

-- Validates, and keeps a copy of the model if it is the best so far; ends the run if something is
-- not finite.
function Run:evaluate()
  local began = core.clock()
  self:check_parameters()
  if self.trouble then return end
  local _ <close> = self:averaged()
  local value, found, predicted = self:validated()
  mapped_files.check()
  if not value then return self:give_up(self.number, found) end
  self.value = value
  local is_best = self.stopper:update(value, self.number)
  if is_best then self.best:keep() end
  local schedule = self.opts.schedule
  if object_state.has_method(schedule, "update") then schedule:update(value, self.number) end
  self.validation_seconds = self.validation_seconds + core.clock() - began
  local losses = self.losses
  local loss = losses.n > 0 and losses.sum / losses.n or nil
  self.losses = {sum = 0, n = 0}
  table.insert(self.history, {batch = self.number, seconds = self.timer:seconds(), value = value,
    loss = loss})
  self:plot()
  local numbers = self:call("on_validation", {
    name = self.monitor.name, value = value, found = found, is_best = is_best,
    predicted = predicted,
  }, log.names.validation)
  if self.log then
    self.log:validation(self.number, self.epoch, found, self.timer:seconds(), numbers)
  end
end

--- Returns the cost of training with several ranks so far (see ranks_cost.since); nil for one rank.
function Run:cost_of_ranks()
  if not self.together then return nil end
  return ranks_cost.since(self.began.cost, self.timer, self.number - self.began.number,
    machine.numerics(self.opts.precision))
end

-- Returns why this process wants to stop, or nil; within a step it never does.
function Run:own_reason()
  local opts, next_whole = self.opts, self.number + self.opts.accumulate
  if not self:is_whole() then
    return nil
  elseif self:validation_is_due() and self.stopper:exhausted(self.number) then
    return "patience"
  elseif self.stopped_by then
    return self.stopped_by
  elseif next_whole > (opts.max_batches or math.huge) then
    return "max_batches"
  elseif self.timer:seconds() >= (opts.max_seconds or math.huge) then
    return "max_seconds"
  elseif interrupt.arrived() then
    return "interrupted"
  elseif next_whole > self.total then
    return "epochs"
  end
end

-- Returns why the run stops now, or nil; several ranks agree on the reason.
function Run:reason_to_stop()
  local reason = self.trouble and "not finite" or self:own_reason()
  if self.together then return together.agree(reason) end
  return reason
end

function Run:checkpoint_is_due()
  return self.folder ~= nil and not self.trouble and self:is_whole()
    and core.clock() - self.saved >= self.opts.checkpoint_every
end

--- Trains until there is a reason to stop, which it returns: "patience", "max_batches",
-- "max_seconds", "epochs", "interrupted", the name of a callback or, with the text `trouble`, "not
-- finite". A run with a folder is saved now and then, at an interruption, and at the end; the
-- checkpoint from before the trouble stays.
function Run:loop()
  local _ <close> = interrupt.defer()
  local reason = self:reason_to_stop()
  while not reason do
    local first = self.number + 1
    if self.together then together.step(self) else self:advance() end
    if self.average and not self.trouble and self:is_whole() then self.average:update() end
    self:settle(first)
    if not self.trouble and self:validation_is_due() then self:evaluate() end
    if self.divided then
      together.save(self, self:checkpoint_is_due())
    elseif self:checkpoint_is_due() then
      run_checkpoint.save(self)
    end
    reason = self:reason_to_stop()
  end
  if self.divided then self.divided:collect(true) end
  if self.folder and not self.trouble then run_checkpoint.save(self) end
  return reason
end

--- Puts the best model's parameters and buffers into the model, after a last validation when the
-- loop ended between two. (The checkpoint is from before it, so that a longer run can go on from
-- there.) Returns whether there is a model to keep.
function Run:keep_best()
  if self.validation and not self.trouble and not self:validation_is_due() then self:evaluate() end
  if self.best.exists then
    self.best:restore()
  else
    if self.average then self.average:swap() end
    self:check_parameters()
  end
  return self.best.exists or not self.trouble
end

return Run
