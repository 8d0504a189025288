--- Makes the iterator over the mini-batches of training, which are sampled either in the loop
-- itself or ahead of it in worker threads. Shuffling the seeds, dividing them into batches and
-- calling the sampler are in numbered.lua.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local fold = require "ladies.ranks.fold"
local garbage = require "ladies.base.garbage"
local GraphInParts = require "ladies.ranks.graph_in_parts"
local link = require "ladies.ranks.link"
local mapped_files = require "ladies.base.mapped_files"
local must_call = require "ladies.training.batches.must_call"
local numbered_batches = require "ladies.training.batches.numbered"
local options = require "ladies.base.options"
local propagation = require "ladies.graph.propagation"
local rows_ahead = require "ladies.training.ranks.rows_ahead"
local sampling = require "ladies.sampling"
local tell = require "ladies.base.tell"

local name_of, call_name = numbered_batches.name_of, numbered_batches.call_name
local batches = {}

-- The share of batch_size below which the last batch of an epoch is joined to the one before, since
-- its step would otherwise count as much as the others with a gradient of only a few nodes.
local LEAST = 1 / 4

-- The number of batches between two that are drawn twice as a check, from the 257th on.
local CHECK_EVERY = 256

local SPEC = {
  batch_size = {"positive integer", 512},
  sampler = "callable or nil",
  task = "Task or nil",
  nodes = "positive integer or nil",
  features = "Tensor or Matrix or Rows or nil",
  edges = "EdgeData or nil",
  model = "table or nil",
  seed = {"integer", 1},
  epochs = {"positive integer", 1},
  start = "table or nil",
  step = "positive integer or nil",
  parts = "array of Indexes or nil",
  shuffle = {"boolean", true},
  drop_last = {"boolean", false},
  workers = {"non-negative integer", 0},
  ahead = "positive integer or nil",
  quiet = {"boolean", false},
}

--- Returns the number of batches in an epoch over n seeds: opts.sampler.batches_per_epoch for a
-- sampler that draws its own seeds, else n / batch_size, at least one. What is left over is a batch
-- of its own when it is a quarter of batch_size or more, and not dropped; fewer nodes are one
-- batch. With opts.parts, which differ by one node at most, each part has as many batches as the
-- smallest.
function batches.per_epoch(n, opts)
  local own = numbered_batches.own_batches(opts.sampler)
  if own then return own end
  local size, parts = opts.batch_size, opts.parts and #opts.parts or 1
  local whole, rest = n // parts // size, n // parts % size
  if opts.drop_last or rest < LEAST * size then return parts * math.max(1, whole) end
  return parts * (whole + 1)
end

-- Returns the number of the batch with which opts.start, {epoch =, batch =}, begins; a batch past
-- the end of its epoch is the first of the next.
local function first_of(start, per_epoch)
  start = options.check("ladies.batches: start", start, {
    epoch = {"positive integer", 1},
    batch = {"positive integer", 1},
  })
  return (start.epoch - 1) * per_epoch + math.min(start.batch, per_epoch + 1)
end

-- The metatable of mini-batches with loss_nodes but without weights: it computes loss_weight when a
-- loop reads it, so that the weighted sum of the loss is the mean over loss_nodes.
local LossNodes = {}

function LossNodes.__index(batch, key)
  local nodes = rawget(batch, "loss_nodes")
  if key ~= "loss_weight" or not nodes then return nil end
  return core.full(#nodes, 1 / #nodes):scatter_add(nodes, #batch.output)
end

-- Fails for a sampler whose mini-batches cannot be divided among several ranks.
local function check_sampler(sampler)
  if link.size > 1 and type(sampler) == "table" and sampler.adaptive then
    errors.fail(("%s is adaptive: it learns from every mini-batch before the next one, and several "
      .. "ranks train on theirs at the same time"):format(name_of(sampler)))
  end
end

-- Fails for parts that are not those of the units `idx`, or that the mini-batches of these options
-- cannot be drawn from.
local function check_parts(idx, opts)
  local least, most, all = math.huge, 0, 0
  for _, part in ipairs(opts.parts) do
    least, most, all = math.min(least, #part), math.max(most, #part), all + #part
  end
  if all ~= #idx or least < 1 or most - least > 1 then
    errors.fail(("ladies.batches: %d parts of %s to %d nodes, %d in all; those of %d nodes, as "
      .. "ladies.data.seed_parts makes them, differ by one at most"):format(#opts.parts,
        least < math.huge and least or 0, most, all, #idx))
  elseif opts.step and opts.step ~= #opts.parts then
    errors.fail(("ladies.batches: %d parts for a step of %d mini-batches"):format(#opts.parts,
      opts.step))
  elseif numbered_batches.own_batches(opts.sampler) then
    errors.fail(("ladies.batches: %s draws its own seeds, and not from parts"):format(
      name_of(opts.sampler)))
  end
end

-- Returns this rank's share of steps of opts.step mini-batches, which are then numbered anew; and
-- the first number of the share from `number` on, and its last.
local function shared(opts, number)
  local last, step = opts.epochs * opts.per_epoch, opts.step
  if not step then return nil, number, last end
  if (number - 1) % step ~= 0 then
    errors.fail(("ladies.batches: start: mini-batch %d is in the midst of a step of %d"):format(
      number, step))
  end
  check_sampler(opts.sampler)
  if last < step then
    errors.fail(("ladies.batches: a step of %d mini-batches is more than there are, %d"):format(
      step, last))
  end
  local share = {of = step}
  share.first, share.last = fold.share(link.rank, link.size, step)
  local own = share.last - share.first + 1
  if own == 0 then
    errors.fail(("ladies.batches: a step of %d mini-batches has none for rank %d of %d"):format(
      step, link.rank, link.size))
  end
  return share, (number - 1) // step * own + 1, last // step * own
end

-- The class of the iterator, which has the batches number .. last left; `background` has the
-- workers while there are any. If `in_loop` is set, this thread makes the next batch all the same.
local Batches = {__name = "Batches"}
Batches.__index = Batches

-- Returns why the sampler must run in the loop itself and not ahead of it, or nil.
local function bound_to_step(sampler, batch)
  local name = must_call.of(batch)
  if name then return "its mini-batches have " .. name end
  if type(sampler) == "table" and sampler.adaptive then return "it is adaptive" end
end

--- Tells whether a batch is drawn a second time after so many batches, to detect a sampler that
-- depends on more than seeds and rng: at the 1st, 2nd, 3rd, 5th, ..., since its memory may change
-- slowly.
function batches.is_checked(done)
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
  if batches.is_checked(self.number - self.first) then
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
  if not batches.is_checked(number - self.first) then return end
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

--- Makes the iterator of ladies.batches, but without bringing rows that other ranks have.
function batches.drawn(idx, given)
  if idx == nil then
    errors.fail("ladies.batches: the nodes must be an Index, got nil; a data set without a split "
      .. 'has no train: data:split "10/10/80" makes one')
  end
  options.value("ladies.batches", "the nodes", idx, "Index")
  local opts = options.check("ladies.batches", given, SPEC)
  if #idx == 0 then errors.fail("ladies.batches: there are no nodes") end
  idx:check_unique("ladies.batches: node")
  if opts.parts then check_parts(idx, opts) end
  opts.per_epoch = batches.per_epoch(#idx, opts)
  opts.draw = opts.task and opts.task.draw
  if options.class_of(opts.features) ~= "Rows" then opts.features = nil end
  local number, last
  opts.share, number, last = shared(opts, first_of(opts.start, opts.per_epoch))
  local iterator = setmetatable({
    idx = idx, opts = opts, number = number, first = number, last = last,
    job = numbered_batches.new(idx, opts)(opts.sampler),
  }, Batches)
  -- Alone: before Lua 5.4.5 `if x then break end` does not close the closing value of a `for` whose
  -- body has a <close> variable, and breaks the function that it is in.
  return iterator
end

--- ladies.batches(idx, {batch_size = 512, sampler =, seed = 1, epochs = 1, ...}) -> Batches: an
-- iterator over the mini-batches of the nodes idx (an Index without repetitions).
-- task         whose units idx are: nodes, or the edges or graphs that it draws mini-batches of,
--            which then have these as batch.units
-- batch_size   seeds of a batch. The last batch of an epoch may be smaller; where it would have
--            fewer than a quarter of them, they join the batch before: with 512, 520 nodes are one
--            batch of 520, and 640 are two, of 512 and 128
-- sampler    sampler(seeds, rng) -> mini-batch; without one a batch is {input = seeds, output =
--            seeds, blocks = {}}, for models that read no graph. One with batches_per_epoch draws
--            its own seeds and is called as sampler(idx, rng, {epoch =, index =, rng =})
-- nodes      the number of nodes of the graph; ids past it are an error then
-- features   of the data set. Of Rows those of batch.input are in memory when the batch is; workers
--            wait for the disk. Those that other ranks have come with the mini-batches of their
--            steps, for which `step` is given, as batch.features, for up to 8 mini-batches at a
--            time; all ranks then go through the same steps
-- edges      data.edges: each block has `edge`, and the rows of edge_features, edge_types and
--            edge_times that it uses (see edges:attach)
-- model      whose feature_nodes(batch), where it has one, says what it reads beyond batch.input
-- epochs     ends after this epoch
-- start      {epoch =, batch =}: begins there, with the batches that a run from the start would
--            have
-- shuffle    false keeps the order of idx
-- step       mini-batches of a step: each rank (see ladies.comm) then has its own of every step, as
--            one process alone has all, with their place in it, from 1, as batch.place; what is no
--            whole step is left out
-- parts      the nodes idx divided among the mini-batches of a step, as by ladies.data.seed_parts:
--            mini-batch i of each step has its seeds from the i-th part. An epoch goes through all
--            parts once, with as many mini-batches of each
-- drop_last  leaves out of each epoch what is not a whole batch of batch_size; but fewer
--            nodes than that are a batch all the same, the only one
-- workers    threads that call the sampler ahead of the loop (0); the batches are the same
-- ahead      batches made before they are asked for, at most (2 * workers)
-- quiet      no note when a sampler cannot run in workers
-- Each batch is the sampler's table with `epoch`, `index` (its place in the epoch), `rng` for the
-- model, and `sampling`, the seconds that it took. All are checked by ladies.sampling.check, those
-- after the first quickly. `output` must be the seeds, in any order, unless the sampler draws its
-- own or names loss_nodes; nodes in the loss must be among idx. Where there are loss_nodes but no
-- loss_weight, batch.loss_weight is made when it is read: one over their number for them, 0 for the
-- others. So the loss of all outputs with batch.loss_weight is that of ladies.train. Where there is
-- a penalty, the loop must have called batch:penalty(model, loss), and added it to the loss, before
-- it asks for the next mini-batch; where there is an after_step, batch:after_step(model), after the
-- optimizer's step, before the step closes. A loop that does not train sets these fields to nil.
--
-- Each worker has a Lua state of its own, with a copy of the sampler: of its code and of what it
-- refers to. Plain tables are copied; modules are loaded anew by name; tensors, indices, matrices
-- and alias tables are shared and from then on frozen: changing one in place is an error. Files,
-- coroutines, parameters and other userdata cannot cross, which an error says with their name.
-- Globals do not cross. A sampler must depend on seeds and rng alone; one that does not (adaptive =
-- true, or mini-batches with after_step) runs in step, whatever `workers` says. To find samplers
-- that depend on more by mistake, at the 1st, 2nd, 3rd, 5th, 9th, ..., 257th and then every 256th
-- batch one is drawn once more and must be the same: the batch of the worker, drawn by the loop's
-- own sampler, or without workers the first batch.
-- Threads end with the last epoch. Those of a loop that is left before, by break or an error, wait
-- for the collector, which runs before the next threads are started. The iterator may also be a
-- <close> variable, and iterator:close() stops its threads at once.
function batches.new(idx, given)
  local drawn = batches.drawn(idx, given)
  local opts = drawn.opts
  local share, features = opts.share, opts.features
  if not share or not features or features.whole then return drawn end
  return rows_ahead.loop(drawn, {
    features = features, graph = GraphInParts.beside[features], model = opts.model,
    step = opts.step,
    steps = (drawn.last - drawn.number + 1) // (share.last - share.first + 1),
  })
end

return batches
