--- Makes mini-batch number n as a function of n alone, so that it is the same whether the loop
-- itself makes it or a worker in a Lua state of its own.
--
-- Batch i of epoch e is a function of (seed, e, i): the order of the seeds comes from rng:fork(e),
-- the sampler gets rng:fork(e):fork(i), and the model's dropout draws from
-- rng:fork(0):fork(e):fork(i), which the batch carries as batch.rng. Where the mini-batches of a
-- step take their seeds from parts of their own, the order of part p comes from
-- rng:fork(e):fork(-p). A task that turns its units into seeds draws from
-- rng:fork(TASKS):fork(e):fork(i). For samplers that draw their own seeds there is a third
-- argument, the place {epoch = e, index = i, rng = rng:fork(e):fork(0)}: that rng is the epoch's,
-- so that its batches can share an order of the nodes.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local options = require "ladies.base.options"

local numbered_batches = {}

-- The number of the random stream for tasks' draws, negative so that it differs from those of
-- epochs.
local TASKS = -3

-- A cache of the names of samplers by the source of their function (see below), since every batch
-- needs the name.
local names = {}

-- Returns the name of a sampler of the library from the source of its function, such as
-- "ladies.samplers.full"; false for other sources.
local function name_of_ours(source)
  local file = source:match "^@.*[/\\]ladies[/\\]samplers[/\\]([%w_]+)%.lua$"
  if file and names[source] == nil then
    local module = "ladies.samplers." .. file
    names[source] = source == "@" .. (package.searchpath(module, package.path) or "") and module
  end
  return names[source]
end

--- Returns the name of a sampler for errors: its field `name`, or the place in the source where it
-- was defined.
function numbered_batches.name_of(sampler)
  if type(sampler) == "table" then return sampler.name or tostring(sampler) end
  local info = debug.getinfo(sampler, "S")
  local ours = name_of_ours(info.source)
  if ours then return ours end
  return ("sampler of %s:%d"):format(info.short_src, info.linedefined)
end

--- Describes a call of the sampler for messages: its name, epoch and batch.
function numbered_batches.call_name(sampler, epoch, index)
  return ("%s, epoch %d, batch %d"):format(numbered_batches.name_of(sampler), epoch, index)
end

--- Returns the number of batches in an epoch of a sampler that draws its own seeds; nil for one
-- that is given seeds.
function numbered_batches.own_batches(sampler)
  if type(sampler) ~= "table" or sampler.batches_per_epoch == nil then return nil end
  return options.value(numbered_batches.name_of(sampler), "batches_per_epoch",
    sampler.batches_per_epoch, "positive integer")
end

--- Says what is wrong with the mini-batch of a sampler that was given its seeds, which must be its
-- output in any order; nil where it is right. An output that is no Index is left to sampling.check.
function numbered_batches.wrong_output(batch, seeds)
  local output = batch.output
  if batch.loss_nodes or options.class_of(output) ~= "Index" then return nil end
  if output == seeds or output:sort() == seeds:sort() then return nil end
  return ("output (%d nodes) differs from the seeds (%d nodes), expected the same ids; a sampler "
    .. "that draws its own has batches_per_epoch, one with more outputs says in loss_nodes which "
    .. "carry the loss"):format(#output, #seeds)
end

--- Returns the nodes of a mini-batch's output that are in the loss with a weight other than 0.
function numbered_batches.in_loss(batch)
  local weight = rawget(batch, "loss_weight")
  if weight then return batch.output[weight:square():above(0)] end
  return batch.loss_nodes and batch.output[batch.loss_nodes] or batch.output
end

--- Returns a vector with 1 for each of the nodes `idx` and 0 for others, up to the last of them.
function numbered_batches.own_nodes(idx)
  return core.full(#idx, 1):scatter_add(idx, idx:max())
end

--- Says which nodes are in the loss of a mini-batch, although they are none of those whose
-- mini-batches these are (see own_nodes), so that the labels of test nodes might be learned; nil
-- where there are none.
function numbered_batches.wrong_loss(batch, own)
  local nodes = numbered_batches.in_loss(batch)
  local foreign = nodes[nodes:above(#own)]
  if #foreign == 0 then foreign = nodes[own[nodes]:below(1)] end
  if #foreign == 0 then return nil end
  return ("its loss is over nodes that are not to be trained on, %d of %d, the first is node %d; "
    .. "loss_nodes are the positions in output of those that are"):format(#foreign, #nodes,
      foreign[1])
end

--- Fails for a sampler that does not go by the times of its seeds.
function numbered_batches.check_times(sampler)
  if type(sampler) == "table" and rawget(sampler, "takes_times") then return end
  errors.fail(("%s would look ahead: the task gives the seeds times, and it takes neighbours by "
    .. "later edges too; --method temporal (ladies.samplers.temporal) does not"):format(
      numbered_batches.name_of(sampler)))
end

--- numbered_batches.new(idx, opts): returns a function make(sampler), which returns a function
-- job(number) that makes a mini-batch. opts: batch_size, seed, shuffle, drop_last and per_epoch;
-- `parts`, an array of Index, where mini-batches take their seeds from these in turn; `draw` of a
-- task (see ladies.task.new), where idx are its units; `share`, {first =, last =, of =}, for a rank
-- that makes only some of the mini-batches: of each `of` that follow one another it makes the
-- first-th to the last-th, and its job(1), job(2), ... make those; and `features`, Rows of which
-- those of a batch's input are brought into memory. Errors of the sampler say whose they are.
function numbered_batches.new(idx, opts)
  -- These are upvalues, which are copied to a worker; the sampler is copied as an argument.
  local size, seed, shuffle, per_epoch = opts.batch_size, opts.seed, opts.shuffle, opts.per_epoch
  local drop_last, share, features = opts.drop_last, opts.share, opts.features
  local parts = opts.parts or {idx}
  local turns, in_parts = per_epoch // #parts, opts.parts ~= nil
  local call_name, own_batches = numbered_batches.call_name, numbered_batches.own_batches
  local wrong_output, check_times = numbered_batches.wrong_output, numbered_batches.check_times
  local draw, stream_of_tasks = opts.draw, TASKS

  local function sample(sampler, seeds, rng, place)
    local ok, batch = errors.caught(sampler, seeds, rng, place)
    local reason
    if ok and type(batch) ~= "table" then
      reason = "it must return a mini-batch, got a " .. type(batch)
    elseif ok and not own_batches(sampler) then
      reason = wrong_output(batch, seeds)
    end
    if ok and not reason then return batch end
    errors.pass_on(reason or batch, call_name(sampler, place.epoch, place.index))
  end

  return function(sampler)
    local root = core.rng(seed)
    local models, tasks = root:fork(0), root:fork(stream_of_tasks)
    local own_seeds = own_batches(sampler) ~= nil
    local orders, order_epoch = {}, nil

    local function made(seeds, epoch, index, times)
      if not sampler then return {input = seeds, output = seeds, blocks = {}} end
      if times then check_times(sampler) end
      local rng = root:fork(epoch)
      return sample(sampler, seeds, rng:fork(index),
        {epoch = epoch, index = index, rng = rng:fork(0), times = times})
    end

    -- Draws the mini-batch of some units, which the task turns into seeds.
    local function drawn(units, epoch, index)
      if not draw then return made(units, epoch, index) end
      local batch = draw(units, tasks:fork(epoch):fork(index), function(seeds, times)
        return made(seeds, epoch, index, times)
      end)
      if type(batch) ~= "table" then
        errors.fail(("the task's draw must return a mini-batch, got a %s"):format(type(batch)))
      end
      batch.units = units
      return batch
    end

    -- Returns a part of the units in the order that it has in an epoch.
    local function order_of(epoch, part)
      if order_epoch ~= epoch then orders, order_epoch = {}, epoch end
      if not orders[part] then
        local units, rng = parts[part], root:fork(epoch)
        if in_parts then rng = rng:fork(-part) end
        orders[part] = shuffle and units[core.sampling.permutation(#units, rng)] or units
      end
      return orders[part]
    end

    local function seeds_of(epoch, index)
      if own_seeds then return idx end
      local turn = (index - 1) // #parts + 1
      local order = order_of(epoch, (index - 1) % #parts + 1)
      if size >= #order then return order end
      local all = turn == turns and not drop_last
      return order:slice((turn - 1) * size + 1, all and #order or turn * size)
    end

    -- Returns the number among all mini-batches of the k-th one of the share.
    local function of_all(k)
      if not share then return k end
      local own = share.last - share.first + 1
      return (k - 1) // own * share.of + share.first + (k - 1) % own
    end

    return function(k)
      local number = of_all(k)
      local epoch, index = (number - 1) // per_epoch + 1, (number - 1) % per_epoch + 1
      local seeds, began = seeds_of(epoch, index), core.clock()
      local batch = drawn(seeds, epoch, index)
      if features and options.class_of(batch.input) == "Index" then
        features:prefetch(batch.input)
      end
      batch.sampling = core.clock() - began
      batch.place = share and (number - 1) % share.of + 1
      batch.epoch, batch.index, batch.rng = epoch, index, models:fork(epoch):fork(index)
      return batch
    end
  end
end

return numbered_batches
