--- Trains a run with several ranks together. Each has the same model, optimizer and data, and takes
-- its share of the mini-batches of every step; the gradients are added in the order in which one
-- process would add them, so all ranks get the same parameters as a single process, to the bit.
-- Whatever else happens at the end of a step happens at every rank with the same numbers; what
-- depends on a clock, a signal or the machine is decided by rank 0, which alone has the folder.

local core = require "ladies_core"
local declared = require "ladies.training.declared"
local drawn_together = require "ladies.training.ranks.drawn_together"
local errors = require "ladies.base.errors"
local fold = require "ladies.ranks.fold"
local gradients = require "ladies.ranks.gradients"
local link = require "ladies.ranks.link"
local log = require "ladies.training.record.log"
local machine = require "ladies.base.machine"
local run_checkpoint = require "ladies.training.checkpoint.of_run"
local run_identity = require "ladies.training.checkpoint.identity"
local Divided = require "ladies.ranks.divided"
local shares = require "ladies.ranks.shares"
local tables = require "ladies.base.tables"
local tell = require "ladies.base.tell"

local together = {}

-- Returns the options that may change when a run is resumed, and on which several ranks must agree.
local function bounds_of(opts)
  local bounds = {}
  for _, one in ipairs(declared.all()) do
    if one.free == "resumed" then bounds[one[1]] = opts[one[1]] end
  end
  return bounds
end

-- Fails for a run that several ranks cannot train together.
local function check_options(opts)
  if opts.accumulate == 1 then
    errors.fail(("ladies.train: %d ranks share the mini-batches of a step, which has one: add "
      .. "--accumulate %d, or a multiple of it (accumulate in a script)"):format(link.size,
        link.size))
  end
end

-- Returns a hash of the parameters and buffers.
local function state_of(run)
  local all = tables.append(tables.append({}, run.parameters), run.of_sampler)
  return table.concat(tables.map(tables.append(all, run.buffers:list()),
    function(one) return one.tensor:hash() end), " ")
end

-- Returns a text with the difference between this rank's run and that of rank 0, or nil.
local function difference(own, first)
  local found = run_identity.differences(first.run, own.run, "%s is %s at rank 0, and %s there",
    declared.free "resumed")
  for _, name in ipairs(tables.sorted_keys(tables.merged(own.bounds, first.bounds))) do
    if own.bounds[name] ~= first.bounds[name] then
      found[#found + 1] = ("%s is %s at rank 0, and %s there"):format(name, first.bounds[name],
        own.bounds[name])
    end
  end
  if own.version ~= first.version then
    found[#found + 1] = ("ladies is %s at rank 0, and %s there"):format(first.version, own.version)
  end
  if #found == 0 and own.state ~= first.state then
    found[1] = "its model has other parameters at the beginning"
  end
  return #found > 0 and table.concat(found, "; ") or nil
end

-- Fails at rank 0 if another rank has a different run, and prints a notice where their bits may
-- differ.
local function check_same(run)
  local all = shares.gather("agreement", {run = run_identity.of(run.opts),
    bounds = bounds_of(run.opts), version = core.version,
    numerics = machine.numerics(run.opts.precision), state = state_of(run), host = link.host})
  for i = 2, link.rank == 0 and #all or 0 do
    local text = difference(all[i], all[1])
    if text then
      errors.fail(("ladies.train: rank %d on %s has another run: %s"):format(i - 1, all[i].host,
        text))
    elseif all[i].numerics ~= all[1].numerics then
      tell("ladies.train: rank 0 computes by %s, rank %d by %s: the bits of the run "
        .. "depend on who has which mini-batch", all[1].numerics, i - 1, all[i].numerics)
    end
  end
end

-- Returns the hashes by name of the model's tensors that are not trained, frozen parameters and
-- buffers.
local function frozen_of(run)
  local hashes = {}
  for _, one in ipairs(tables.append(run.buffers:list(), run.parameters)) do
    if not one.tensor.requires_grad then hashes[one.name] = one.tensor:hash() end
  end
  return hashes
end

--- Begins a run that several ranks train; fails if it is not the same at all of them, or cannot be
-- trained together.
function together.begin(run)
  check_options(run.opts)
  check_same(run)
end

--- Divides the optimizer's moments among the ranks; sets run.divided.
function together.divide(run)
  run.divided = Divided.new(run.optimizer)
  run.step.updater = run.divided
end

--- Makes rank 0 save a checkpoint of a run whose optimizer is divided, if one is due there, after
-- sending it all parts.
function together.save(run, due)
  if not together.first(due) then return end
  run.divided:collect()
  if run.folder then run_checkpoint.save(run) end
  run.divided:divide()
end

--- Returns at all ranks the bytes of the file at `path` of rank 0; nil where it has no such file.
-- An error at rank 0 is an error at all.
function together.file(path)
  local bytes = shares.first("agreement", path and core.file.read(path) or false)
  return bytes or nil
end

--- Returns the value of rank 0, plain data, at all ranks.
function together.first(value)
  return shares.first("agreement", value)
end

--- Returns the greatest of the ranks' numbers at all ranks.
function together.most(number)
  return math.max(table.unpack(shares.gather("agreement", number)))
end

--- Agrees on one reason to stop at all ranks: that of rank 0, or that one of them was interrupted.
function together.agree(reason)
  local reasons = shares.gather("agreement", reason or false)
  for _, other in ipairs(reasons) do
    if other == "interrupted" and not reasons[1] then return other end
  end
  return reasons[1] or nil
end

--- Fails where the parameters are not the same at all ranks.
function together.compare(run)
  local states = link.gather("agreement", state_of(run))
  for i, state in ipairs(states) do
    if state ~= states[1] then
      errors.fail(("ladies.train: after batch %d rank %d has other parameters than rank 0; what "
        .. "callbacks and schedules do must be the same at every rank"):format(run.number, i - 1))
    end
  end
end

--- Validates the model after `number` mini-batches, by all ranks together: all get rank 0's value
-- and its numbers, or nil and what is wrong; and the predictions.
function together.validate(check, model, number)
  local value, found, predicted = link.shared("validation", check.measure, check, model, number)
  local first = shares.first("validation", {value = value, found = found})
  return first.value, first.found, predicted
end

-- Returns the entry in checkpoints for the last mini-batch of a step, which rank 0 cannot draw
-- again by itself.
local function drawn_last(run, batch, place)
  local is_last = place == run.opts.accumulate
  return is_last and drawn_together.graph_of(run.opts.data)
    and run_identity.of_batch(run.opts.sampler, batch) or nil
end

-- Trains on the mini-batch at `place` of a step; returns its record for all ranks, and the
-- mini-batch.
local function leaf(run, place)
  local number = run.number + place
  local batch = run:draw(number)
  local loss, wrong = run:trained(run.step.leaf, batch, number, place)
  if not loss then return {number = number, wrong = wrong} end
  return tables.merged(run:rows_of(batch), {number = number, epoch = batch.epoch,
    index = batch.index, loss = loss, drawn = drawn_last(run, batch, place),
    measured = log.measured(batch, run.timer, run.step.bytes)}), batch
end

-- Fails when the mini-batches have changed what is not trained.
local function check_frozen(run, before)
  local now = frozen_of(run)
  for _, name in ipairs(tables.sorted_keys(now)) do
    if now[name] ~= before[name] then
      errors.fail(("ladies.train: the forward pass changes %s, as batch normalisation does its "
        .. "averages; several ranks, which see different mini-batches, cannot share that"):format(
          name))
    end
  end
end

-- Trains on this rank's mini-batches of a step; returns the record of each, and if a callback needs
-- them, the mini-batches by number.
local function own_of(run)
  local records, batches, before = {}, {}, frozen_of(run)
  local first, last = fold.share(link.rank, link.size, run.opts.accumulate)
  for place = first, last do
    local record, batch = leaf(run, place)
    records[#records + 1] = record
    if record.wrong then break end
    if run.opts.on_batch then batches[record.number] = batch end
  end
  check_frozen(run, before)
  return records, batches
end

-- Exchanges the records of the ranks' mini-batches; returns all records, in order, and which
-- parameters have a gradient in any.
local function share_records(run, own)
  local _, has = run.optimizer:sums()
  local records, any = {}, {}
  for _, one in ipairs(shares.gather("records", {records = own, has = has})) do
    tables.append(records, one.records)
    for i, there in ipairs(one.has) do any[i] = any[i] or there end
  end
  return records, any
end

-- Returns the place of the first mini-batch whose loss is not finite, or nil.
local function first_wrong(records)
  for place, record in ipairs(records) do
    if record.wrong then return place end
  end
end

-- Gives the optimizers the mean of the gradients of a step.
local function share_gradients(run, has)
  local leaves = run.opts.accumulate
  if run.divided then return run.divided:share(leaves, has) end
  gradients.share(run.optimizer, leaves, has)
end

--- Makes a step: every rank trains on its mini-batches, then all update their parameters in the
-- same way. As alone, what comes after a mini-batch (counts, callbacks, the log) comes in order,
-- and before the change for all but the last.
function together.step(run)
  local own, batches = own_of(run)
  local began = core.clock()
  if run.rows_ahead then run.rows_ahead:finish_step() end
  local records, has = share_records(run, own)
  local wrong = first_wrong(records)
  if not wrong then share_gradients(run, has) end
  run.timer:waited(core.clock() - began)
  for place = 1, (wrong or #records) - 1 do
    run:count(records[place], batches[records[place].number])
  end
  local last = records[wrong or #records]
  local trouble = last.wrong or run.step:update(last.number)
  if trouble then return run:give_up(last.number, trouble) end
  run.last_drawn = last.drawn
  run:count(last, batches[last.number])
end

return together
