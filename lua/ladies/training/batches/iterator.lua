--- The iterator over the mini-batches of training. It makes them in the loop itself or takes them
-- from workers, checks them, and finds samplers that depend on more than seeds and rng.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local garbage = require "ladies.base.garbage"
local link = require "ladies.ranks.link"
local mapped_files = require "ladies.base.mapped_files"
local must_call = require "ladies.training.batches.must_call"
local numbered_batches = require "ladies.training.batches.numbered"
local options = require "ladies.base.options"
local propagation = require "ladies.graph.propagation"
local sampling = require "ladies.sampling"
local tell = require "ladies.base.tell"

local name_of, call_name = numbered_batches.name_of, numbered_batches.call_name

-- The number of batches between two that are drawn twice as a check, from the 257th on.
local CHECK_EVERY = 256

-- The metatable of mini-batches with loss_nodes but without weights: it computes loss_weight when a
-- loop reads it, so that the weighted sum of the loss is the mean over loss_nodes.
local LossNodes = {}

function LossNodes.__index(batch, key)
  local nodes = rawget(batch, "loss_nodes")
  if key ~= "loss_weight" or not nodes then return nil end
  return core.full(#nodes, 1 / #nodes):scatter_add(nodes, #batch.output)
end

-- The iterator has the batches number .. last left, of the units `idx`; `first` is the number that
-- it began with, and `job` makes a batch of its number in this thread. `background` has the workers
-- while there are any. If `in_loop` is set, this thread makes the next batch all the same.
local Batches = {__name = "Batches"}
Batches.__index = Batches

--- Batches.new(idx, opts, number, last): the iterator over the batches number .. last. opts: the
-- checked options of ladies.batches, with `per_epoch`, this rank's `share`, and the task's `draw`.
function Batches.new(idx, opts, number, last)
  -- It is returned alone, without a closing value: before Lua 5.4.5 `if x then break end` does not
  -- close that of a `for` whose body has a <close> variable, and breaks the function that it is in.
  return setmetatable({
    idx = idx, opts = opts, number = number, first = number, last = last,
    job = numbered_batches.new(idx, opts)(opts.sampler),
  }, Batches)
end

-- Returns why the sampler must run in the loop itself and not ahead of it, or nil.
local function bound_to_step(sampler, batch)
  local name = must_call.of(batch)
  if name then return "its mini-batches have " .. name end
  if type(sampler) == "table" and sampler.adaptive then return "it is adaptive" end
end

--- Tells whether a batch is drawn a second time after so many batches, to detect a sampler that
-- depends on more than seeds and rng: at the 1st, 2nd, 3rd, 5th, ..., since its memory may change
-- slowly.
function Batches.is_checked(done)
  return done % CHECK_EVERY == 0 or done & (done - 1) == 0
end

--- Makes the loop itself draw all further mini-batches, for the given reason.
function Batches:stay_in_step(reason)
  local opts = self.opts
  self.in_step = true
  if opts.sampler and opts.workers > 0 and not opts.quiet then
    tell("ladies: %s runs in step with the loop, for %s; workers = %d has no effect",
      name_of(opts.sampler), reason, opts.workers)
  end
end

-- Returns `make` for a worker: errors of its job say where they were raised, objects too.
local function in_worker(make)
  return function(sampler)
    local job = make(sampler)
    return function(number)
      local ok, batch = errors.caught(job, number)
      if not ok then error(errors.packed(batch), 0) end
      return batch
    end
  end
end

-- Starts the workers. They begin with the current batch, which this thread has made too, so that
-- both can be compared.
function Batches:start(batch)
  local opts = self.opts
  local reason = bound_to_step(opts.sampler, batch)
  if reason then return self:stay_in_step(reason) end
  local make = in_worker(numbered_batches.new(self.idx, opts))
  local ok, background = errors.try(core.workers, make, opts.sampler, {
    threads = opts.workers, ahead = opts.ahead or 2 * opts.workers,
    first = self.number, last = self.last,
  })
  if not ok then
    errors.pass_on(background, "ladies.batches: " .. name_of(opts.sampler))
  end
  self.background, self.redrawn = background, sampling.hash(batch)
end

-- Returns the next result of the workers. After an error there are no workers, and the next call
-- starts new ones.
function Batches:take()
  local ok, batch = pcall(self.background.next, self.background)
  if ok then return batch end
  self:close()
  batch = errors.unpacked(batch)
  if type(batch) == "string" and batch:find("(global '", 1, true) then
    batch = batch .. " (a worker has globals of its own: what a sampler uses must be local)"
  end
  errors.pass_on(batch)
end

-- Raises the error for a mistake that the sampler made in a worker.
function Batches:blame(batch, text)
  self:close()
  errors.fail(("%s: %s"):format(call_name(self.opts.sampler, batch.epoch, batch.index), text))
end

-- Fails if a batch does not have the hash of an earlier one that was drawn from the same seeds and
-- rng.
function Batches:compare(batch, hash, found)
  if sampling.hash(batch) == hash then return end
  self:blame(batch, found .. "; a sampler must depend on seeds and rng alone, or be a table with "
    .. "adaptive = true, which says that it has a memory")
end

function Batches:from_workers()
  local found = "a worker drew another mini-batch than the loop itself"
  if self.redrawn then
    self:compare(self:take(), self.redrawn, found)
    self.redrawn = nil
  end
  local batch = self:take()
  local name = must_call.of(batch)
  if name then self:blame(batch, name .. " cannot leave a worker; set adaptive = true") end
  local ok, reason = pcall(self.check, self, batch)
  if not ok then
    self:close()
    error(reason, 0)
  end
  if Batches.is_checked(self.number - self.first) then
    self:compare(batch, sampling.hash(self.job(self.number)), found)
  end
  return self.in_loop and self.job(self.number) or batch
end

-- Checks a mini-batch: the first one in every respect, the others where that is cheap.
function Batches:check(batch)
  local opts = self.opts
  local meta = getmetatable(batch)
  if meta and meta ~= LossNodes then self:blame(batch, "a mini-batch must have no metatable") end
  sampling.check(batch, call_name(opts.sampler, batch.epoch, batch.index),
    {nodes = opts.nodes, quick = self.checked})
  if batch.after_step and opts.share and link.size > 1 then
    self:blame(batch, "its mini-batches have after_step: they change what the next one is made of, "
      .. "and several ranks train on theirs at the same time")
  end
  if not opts.draw and (batch.loss_nodes or numbered_batches.own_batches(opts.sampler)) then
    self.own_nodes = self.own_nodes or numbered_batches.own_nodes(self.idx)
    local wrong = numbered_batches.wrong_loss(batch, self.own_nodes)
    if wrong then self:blame(batch, wrong) end
  end
  propagation.state(batch, opts.sampler)
  self.checked = true
end

-- Makes a batch in this thread; after the first one the workers start.
function Batches:from_here(number)
  local opts = self.opts
  local batch = self.job(number)
  if not opts.sampler then return batch end
  self:check(batch)
  if opts.workers > 0 and not self.in_step and number < self.last then
    self:start(batch)
  elseif not bound_to_step(opts.sampler, batch) then
    self:draw_again(batch, number)
  end
  return batch
end

-- Draws the first batch again now and then, to see whether the sampler has changed meanwhile.
function Batches:draw_again(batch, number)
  if not Batches.is_checked(number - self.first) then return end
  if number == self.first then self.first_hash = sampling.hash(batch) end
  if self.first_hash then
    self:compare(self.job(self.first), self.first_hash, ("drawn again after %d %s, it was another "
      .. "mini-batch"):format(number - self.first + 1,
        number == self.first and "batch" or "batches"))
  end
end

--- Fails if the loop has not made a call that the previous mini-batch requires.
function Batches:check_calls()
  local left_out, batch = self.left_out, self.handed_over
  self.left_out, self.handed_over = nil, nil
  local text = left_out and left_out()
  if text then self:blame(batch, text) end
end

--- Completes a mini-batch for the loop, after all checks.
function Batches:hand_over(batch)
  options.value("Batches:hand_over", "the mini-batch", batch, "table")
  self.left_out, self.handed_over = must_call.watch(batch), batch
  if self.opts.edges then self.opts.edges:attach_all(batch) end
  if batch.loss_nodes and not rawget(batch, "loss_weight") then setmetatable(batch, LossNodes) end
  return batch
end

--- Draws the next mini-batch, nil after the last, for a caller that hands it to the loop later.
function Batches:draw()
  mapped_files.check()
  if self.number > self.last then
    self:close()
    return nil
  end
  garbage.collect()
  local batch = self.background and self:from_workers() or self:from_here(self.number)
  self.number = self.number + 1
  return batch
end

function Batches:__call()
  self:check_calls()
  local batch = self:draw()
  return batch and self:hand_over(batch)
end

--- Returns a coroutine that draws the next mini-batch, as draw does. Several may be waiting at the
-- same time, if the iterator has no workers.
function Batches:thread()
  local number = self.number
  self.number = number + 1
  return coroutine.create(function() return self:from_here(number) end)
end

--- Stops the workers, if there are any; the end of the last epoch does so too.
function Batches:close()
  if self.background then self.background:close() end
  self.background, self.redrawn = nil, nil
end

Batches.__close = Batches.close

return Batches
