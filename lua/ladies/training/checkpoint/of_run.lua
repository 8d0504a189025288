--- Writes the checkpoint in a run's folder, and resumes a run from it, but only with the same data,
-- model and settings.

local core = require "ladies_core"
local batches = require "ladies.training.batches"
local callbacks = require "ladies.training.loop.callbacks"
local captured = require "ladies.training.checkpoint.captured"
local checkpoint = require "ladies.training.checkpoint"
local drawn_together = require "ladies.training.ranks.drawn_together"
local errors = require "ladies.base.errors"
local link = require "ladies.ranks.link"
local log = require "ladies.training.record.log"
local machine = require "ladies.base.machine"
local object_state = require "ladies.training.checkpoint.object_state"
local options = require "ladies.base.options"
local run_identity = require "ladies.training.checkpoint.identity"
local tables = require "ladies.base.tables"
local tell = require "ladies.base.tell"

local run_checkpoint = {}

-- Adds the objects in opts.state, an array or a table by names, to `objects`.
local function add_given(objects, given)
  for _, name in ipairs(tables.sorted_keys(given or {})) do
    if not object_state.is_kept(given[name]) then
      errors.fail(("ladies.train: state[%s] must have the methods state and load_state"):format(
        type(name) == "string" and ("%q"):format(name) or tostring(name)))
    end
    objects["given." .. tostring(name)] = given[name]
  end
end

-- Returns all objects of the run whose states a checkpoint holds, by name.
local function objects_of(run)
  local objects, schedule = {timer = run.timer, stopping = run.stopper}, run.opts.schedule
  objects.average = run.average
  add_given(objects, run.opts.state)
  if object_state.is_kept(schedule) then
    objects.schedule = schedule
  elseif object_state.has_method(schedule, "update") then
    errors.fail("ladies.train: the schedule has update and so a state, but not the methods state "
      .. "and load_state, without which a run with a folder would lose it")
  end
  return objects
end

-- Draws the last mini-batch again. If the graph is divided among ranks, all of them take part, and
-- only rank 0 gets the mini-batch.
local function last_batch(run)
  local opts = run:batch_options(run.epoch, run.index)
  opts.epochs, opts.workers, opts.step = math.max(opts.epochs, run.epoch), 0, nil
  local iterator = batches.new(run.opts.task.units.train, opts)
  local graph = drawn_together.graph_of(run.opts.data)
  if not graph then return iterator() end
  return drawn_together.new(iterator, graph):group(link.rank == 0 and 1 or 0)[1]
end

-- Fails if the sampler now draws another last mini-batch than the one in the checkpoint, whose hash
-- is `drawn`.
local function check_sampler(run, drawn)
  if run_identity.of_batch(run.opts.sampler, last_batch(run)) ~= drawn then
    errors.fail(("%s: this is not the run that began there: its sampler draws another mini-batch "
      .. "%d; one that depends on more than seeds and rng must say so (adaptive = true)"):format(
        run.folder, run.number))
  end
end

-- Records that the run continues with other numerics (see machine.numerics), and prints a notice.
local function continue_numerics(run, before)
  local here = machine.numerics(run.opts.precision)
  run.numerics = before
  if before[#before] == here then return end
  tell("ladies.train: so far the run was computed by %s; it goes on by %s, and its bits may be "
    .. "others than there", run:computed_by(), here)
  before[#before + 1] = here
end

local FORGETS = "ladies.train: the schedule has changed what it remembers, which checkpoints do "
  .. "not hold: a run that is resumed is another one; it needs the methods state and load_state, "
  .. "or an object in state = {...}"

local LEARNS = "the sampler has changed what checkpoints do not hold: a run that is resumed is "
  .. "another one; tensors that it changes belong in its state, other things in objects with the "
  .. "methods state and load_state, in state = {...}"

local COUNTS = "the model has changed numbers of its own, which neither checkpoints nor its file "
  .. "hold: a run that is resumed is another one; a tensor of one number is kept (see "
  .. "ladies.nn.buffers), and what is in objects with the methods state and load_state, in state "
  .. "= {...}"

local STEPS = "the optimizer has changed what checkpoints do not hold: a run that is resumed is "
  .. "another one; what update remembers belongs in its state, at.step counts, and other things in "
  .. "objects with the methods state and load_state, in state = {...}"

-- Returns the state that a checkpoint does not hold, as text (see
-- ladies.training.checkpoint.captured): the numbers of the model, those and the tensors of the
-- functions of an optimizer in Lua, and the state of the sampler.
local function unsaved(run)
  local opts, sampler = run.opts, run.opts.sampler
  local known = {opts.data, opts.optimizer}
  for _, object in pairs(opts.state or {}) do known[#known + 1] = object end
  local model = captured.by(opts.model, tables.append({sampler}, known))
  known[#known + 1] = opts.model
  for _, list in ipairs{run.sampler, run.parameters, run.buffers:list()} do
    for _, one in ipairs(list) do known[#known + 1] = one.tensor end
  end
  local own = type(opts.optimizer) == "table" and opts.optimizer:functions() or nil
  return {model = model, sampler = sampler and captured.by_sampler(sampler, known) or nil,
    optimizer = own and captured.by_sampler(own, known)}
end

-- Prints a notice at the first checkpoint for what it does not hold and has changed.
local function check_unsaved(run)
  local before = run.unsaved
  if not before or run.number == 0 then return end
  run.unsaved = nil
  local now = unsaved(run)
  if now.model ~= before.model then tell(COUNTS) end
  -- A sampler whose last mini-batch can be drawn again, so that the checkpoint has its hash, does
  -- not learn, whatever it counts.
  if now.sampler ~= before.sampler and not run.identity.batch then tell(LEARNS) end
  if now.optimizer ~= before.optimizer then tell(STEPS) end
end

-- Returns the numbers for a checkpoint: the position in the run, and its sums so far.
local function counters_of(run)
  return {
    epoch = run.epoch, index = run.index, number = run.number, lr = run.step.lr,
    optimizer_lr = run.optimizer.lr,
    validation_seconds = run.validation_seconds, batch_bytes = run.memory.most,
    log_bytes = run.log:sync(), input_rows = run.rows.input, hidden_rows = run.rows.hidden,
  }
end

local WHOLE, SECONDS = "non-negative integer", "non-negative number"

local COUNTERS = {
  epoch = "positive integer", index = WHOLE, number = WHOLE, lr = SECONDS, optimizer_lr = SECONDS,
  validation_seconds = SECONDS, batch_bytes = WHOLE, log_bytes = WHOLE, input_rows = WHOLE,
  hidden_rows = WHOLE,
}

-- Restores the state in the checkpoint at `path`; returns the length that the log had then.
local function load(run, path)
  local counters, has_best = checkpoint.load(path, {
    parameters = run.parameters, best = run.best.copies, buffers = run.buffers,
    best_buffers = run.best.buffer_copies, optimizer = run.optimizer,
    sampler = run.sampler, objects = run.objects,
  }, function(before)
    run_identity.check(tostring(run.folder), before, run.identity)
    run.identity.batch, run.identity.forgets = before.batch, before.forgets
    run.log_hash = before.log
    continue_numerics(run, before.numerics or {})
    run.stopped_by = callbacks.still_stopped(before.stopped_by, run.opts)
  end)
  counters = options.check(path .. ": counter", counters, COUNTERS)
  run.best.exists = has_best
  run.epoch, run.index, run.number = counters.epoch, counters.index, counters.number
  run.validation_seconds, run.memory.most = counters.validation_seconds, counters.batch_bytes
  run.rows.input, run.rows.hidden = counters.input_rows, counters.hidden_rows
  run.step:set_lr(counters.lr, path)
  run.optimizer:set_lr(counters.optimizer_lr)
  return counters.log_bytes
end

--- Restores the checkpoint in the run's folder when a run is resumed; returns its path, or nil
-- without a checkpoint: a run that was killed before its first one begins anew.
function run_checkpoint.take_over(run)
  run.identity, run.objects = run_identity.of(run.opts), objects_of(run)
  if not run.opts.resume or not run.folder:has "checkpoint.npz" then return nil end
  local path = run.folder:file "checkpoint.npz"
  run.log_kept = load(run, path)
  return path
end

--- Fails if the sampler draws another mini-batch than that of the restored checkpoint. All ranks
-- call it.
function run_checkpoint.check(run)
  local drawn = run.identity and run.identity.batch
  if not drawn then
    return
  elseif link.rank == 0 then
    check_sampler(run, drawn)
  elseif drawn_together.graph_of(run.opts.data) then
    last_batch(run)
  end
end

--- Opens the run's folder: its log, cut to the length that it had when the checkpoint at `path`, or
-- nil, was written.
function run_checkpoint.open(run, path)
  local kept = run.log_kept
  if run.identity.forgets then tell(FORGETS) end
  if run.opts.max_batches and run.number > run.opts.max_batches then
    tell("ladies.train: %s has %d batches already, and max_batches is %d: nothing more is trained",
      path, run.number, run.opts.max_batches)
  end
  run.log = log.open(run.folder:file "log.jsonl", kept, run.log_hash)
  if run.opts.settings then run.folder:write_json("config.json", run.opts.settings) end
  local missing = (kept or 0) - run.log:sync()
  if missing > 0 then
    tell("ladies.train: %s has lost %d bytes since the checkpoint; the run goes on without those "
      .. "lines", run.log.path, missing)
  end
  run.remembered = run.opts.schedule and captured.by(run.opts.schedule, run.opts.state)
  run.unsaved = unsaved(run)
  run.saved = core.clock()
end

--- Restores the checkpoint of a run from its bytes, at ranks that do not have the run's folder.
function run_checkpoint.receive(run, bytes)
  local path = os.tmpname()
  local _ <close> = setmetatable({}, {__close = function() os.remove(path) end})
  run.identity, run.objects = run_identity.of(run.opts), objects_of(run)
  core.file.write(path, bytes)
  load(run, path)
end

-- Prints a notice, once, if a schedule has state that the checkpoint does not hold.
local function check_memory(run)
  local schedule, identity = run.opts.schedule, run.identity
  if not schedule or identity.forgets or object_state.is_kept(schedule) then return end
  identity.forgets = captured.by(schedule, run.opts.state) ~= run.remembered or nil
  if identity.forgets then tell(FORGETS) end
end

-- Returns the last mini-batch's part of the run's identity.
local function drawn_last(run)
  if drawn_together.graph_of(run.opts.data) and run.together then
    return run.last_drawn or run.identity.batch
  end
  local batch = run.batch or run.together and run.number > 0 and last_batch(run)
  if not batch then return run.identity.batch end
  return run_identity.of_batch(run.opts.sampler, batch)
end

--- Writes the checkpoint into the run's folder.
function run_checkpoint.save(run)
  local identity = run.identity
  identity.numerics = run.numerics
  identity.stopped_by = callbacks.stop_of(run.stopped_by, run.opts)
  identity.batch = drawn_last(run)
  check_memory(run)
  check_unsaved(run)
  local counters = counters_of(run)
  identity.log = run.log.hash
  checkpoint.save(run.folder:file "checkpoint.npz", {
    parameters = run.parameters, best = run.best.exists and run.best.copies or nil,
    buffers = run.buffers, best_buffers = run.best.exists and run.best.buffer_copies or nil,
    optimizer = run.optimizer, sampler = run.sampler, objects = run.objects,
    counters = counters, run = identity,
  })
  run.saved = core.clock()
end

return run_checkpoint
