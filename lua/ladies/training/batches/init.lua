--- Defines ladies.batches, the mini-batches of training: its options, and how many batches an
-- epoch, a step and a rank have. iterator.lua makes and checks them, in the loop itself or ahead of
-- it in worker threads; shuffling the seeds, dividing them into batches and calling the sampler are
-- in numbered.lua.

local Batches = require "ladies.training.batches.iterator"
local errors = require "ladies.base.errors"
local fold = require "ladies.ranks.fold"
local GraphInParts = require "ladies.ranks.graph_in_parts"
local link = require "ladies.ranks.link"
local numbered_batches = require "ladies.training.batches.numbered"
local options = require "ladies.base.options"
local rows_ahead = require "ladies.training.ranks.rows_ahead"

local name_of = numbered_batches.name_of
local batches = {}

-- The share of batch_size below which the last batch of an epoch is joined to the one before, since
-- its step would otherwise count as much as the others with a gradient of only a few nodes.
local LEAST = 1 / 4

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
  return Batches.new(idx, opts, number, last)
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
