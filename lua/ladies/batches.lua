--- Mini-batches: an iterator that shuffles the seeds, cuts them into batches and calls the sampler.
--
-- Batch i of epoch e is a function of (seed, e, i) alone: the order of the seeds comes from
-- rng:fork(e), the sampler gets rng:fork(e):fork(i), and the model's dropout draws from
-- rng:fork(0):fork(e):fork(i), which the batch carries as batch.rng. For samplers that draw their
-- own seeds there is a third argument, the place {epoch = e, index = i, rng = rng:fork(e):fork(0)}:
-- that rng is the epoch's, so that its batches can share an order of the nodes.

local core = require "ladies_core"
local options = require "ladies.options"
local sampling = require "ladies.sampling"

local batches = {}

local SPEC = {
  size = {"positive integer", 512},
  sampler = "callable or nil",
  nodes = "positive integer or nil",
  seed = {"integer", 1},
  epochs = {"positive integer", 1},
  start = "table or nil",
  shuffle = {"boolean", true},
  drop_last = {"boolean", false},
}

-- How errors call the sampler: by its own name, or by the place where it was written.
local function name_of(sampler)
  if type(sampler) == "table" then return sampler.name or tostring(sampler) end
  local info = debug.getinfo(sampler, "S")
  return ("sampler of %s:%d"):format(info.short_src, info.linedefined)
end

-- Which call of the sampler it was, for messages.
local function call_name(sampler, place)
  return ("%s, epoch %d, batch %d"):format(name_of(sampler), place.epoch, place.index)
end

-- sampler(seeds, rng, place), with errors that say whose they are.
local function sample(sampler, seeds, rng, place)
  local ok, batch = pcall(sampler, seeds, rng, place)
  if ok and type(batch) == "table" then return batch end
  local reason = ok and ("it must return a mini-batch, got a " .. type(batch)) or batch
  if not ok and type(reason) ~= "string" then error(reason, 0) end
  error(("%s: %s"):format(call_name(sampler, place), reason), 0)
end

-- The batches in an epoch of a sampler that draws its own seeds; nil for one that is given them.
local function own_batches(sampler)
  return type(sampler) == "table" and sampler.batches_per_epoch or nil
end

--- The number of batches in an epoch over n seeds: opts.sampler.batches_per_epoch for a sampler
-- that draws its own seeds, else n / size, rounded up (down with drop_last; at least one batch).
function batches.per_epoch(n, opts)
  local own = own_batches(opts.sampler)
  if own then return own end
  if opts.drop_last then return math.max(1, n // opts.size) end
  return (n + opts.size - 1) // opts.size
end

-- The first epoch and batch of opts.start, {epoch =, batch =}; a batch past the end of its epoch is
-- the first of the next.
local function first_of(start, per_epoch)
  start = options.check("ladies.batches: start", start, {
    epoch = {"positive integer", 1},
    batch = {"positive integer", 1},
  })
  if start.batch > per_epoch then return start.epoch + 1, 1 end
  return start.epoch, start.batch
end

--- ladies.batches(idx, {size = 512, sampler =, seed = 1, epochs = 1, ...}): an iterator over the
-- mini-batches of the nodes idx (an Index without repetitions).
-- size       seeds of a batch; the last batch of an epoch may be smaller
-- sampler    sampler(seeds, rng) -> mini-batch; without one a batch is {output = seeds}. One with
--            batches_per_epoch draws its own seeds: it is given all of idx, and third its place
-- nodes      the number of nodes of the graph; ids past it are an error then
-- epochs     ends after this epoch
-- start      {epoch =, batch =}: begins there, with the batches that a run from the start would
--            have
-- shuffle    false keeps the order of idx
-- drop_last  leaves out a last batch that is smaller than `size`
-- Each batch is the sampler's table with `epoch`, `index` (its place in the epoch), and `rng` for
-- the model. All are checked by ladies.sampling.check, those after the first quickly.
function batches.new(idx, given)
  options.value("ladies.batches", "the nodes", idx, "Index")
  local opts = options.check("ladies.batches", given, SPEC)
  if #idx == 0 then options.fail("ladies.batches: there are no nodes") end
  idx:check_unique("ladies.batches: node")
  local sampler, size = opts.sampler, math.min(opts.size, #idx)
  local own_seeds = own_batches(sampler) ~= nil
  local per_epoch = batches.per_epoch(#idx, opts)
  local root = core.rng(opts.seed)
  local models = root:fork(0)
  local epoch, index = first_of(opts.start, per_epoch)
  local checked = false
  local order, epoch_rng, model_rng      -- of the epoch in hand

  local function begin_epoch()
    epoch_rng, model_rng = root:fork(epoch), models:fork(epoch)
    order = idx
    if opts.shuffle and not own_seeds then
      order = idx[core.sampling.permutation(#idx, epoch_rng)]
    end
  end

  return function()
    if index > per_epoch then epoch, index, order = epoch + 1, 1, nil end
    if epoch > opts.epochs then return nil end
    if not order then begin_epoch() end
    local seeds = order
    if not own_seeds and size < #idx then
      seeds = order:slice((index - 1) * size + 1, math.min(index * size, #idx))
    end
    local batch
    if sampler then
      local place = {epoch = epoch, index = index, rng = epoch_rng:fork(0)}
      batch = sample(sampler, seeds, epoch_rng:fork(index), place)
      sampling.check(batch, call_name(sampler, place), {nodes = opts.nodes, quick = checked})
      checked = true
    else
      batch = {output = seeds}
    end
    batch.epoch, batch.index, batch.rng = epoch, index, model_rng:fork(index)
    index = index + 1
    return batch
  end
end

return batches
