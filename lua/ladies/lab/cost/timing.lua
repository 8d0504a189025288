--- Measures the times and the memory of mini-batches, from which ladies.lab.cost and other modules
-- make findings.
--
-- Times are of the wall clock, one number for each mini-batch. Sampling is timed from the moment
-- when its arguments are there. A step is forward, backward and after_step, without the optimizer's
-- part, which is the same for all samplers. Garbage collection is part of all times, as it is in
-- training.

local core = require "ladies_core"
local counts = require "ladies.lab.nodes.counts"
local errors = require "ladies.base.errors"
local primitive_calls = require "ladies.base.primitive_calls"
local tables = require "ladies.base.tables"

local timing = {}

local clock = core.clock

-- Carries out the training step of a mini-batch. Its after_step may draw random numbers, as in
-- training.
local function step(run, batch, rng)
  batch.rng = rng
  run.known:with_loss(batch, function()
    if batch.after_step then batch.after_step(batch, run.known.model) end
  end)
end

--- Makes one mini-batch and its step; returns the seconds of sampling and of the step, and the
-- mini-batch. run: {context =, sampler =, known = exact values}; group, i: which draw.
function timing.batch(run, group, i)
  local seeds, rng, place = run.context:arguments(run.sampler, group, i)
  local began = clock()
  local batch = run.context:complete(run.sampler(seeds, rng, place), group)
  local sampled = clock()
  step(run, batch, rng)
  return sampled - began, clock() - sampled, batch
end

--- Measures mini-batches of independent groups from `first` on, as long as goes_on(k) says that
-- there is a k-th one. Returns for each of the runs {seconds =, nodes =, entries =}, lists of the
-- seconds of sampling and step, the distinct nodes, and the entries of all blocks. The runs take
-- turns, so that a machine that is busy with something else is so for all.
function timing.sizes(runs, first, goes_on)
  local all = tables.map(runs, function(run)
    timing.batch(run, first, 1)                                     -- warms up
    return {seconds = {}, nodes = {}, entries = {}}
  end)
  local k = 1
  while goes_on(k) do
    for i, one in ipairs(all) do
      local sampling, stepping, batch = timing.batch(runs[i], first + k - 1, 1)
      one.seconds[k], one.nodes[k] = sampling + stepping, counts.nodes(batch)
      one.entries[k] = counts.entries(batch)
    end
    k = k + 1
  end
  return all
end

-- Repeats a mini-batch and times its primitives: {name = {seconds =, calls =}, ...} for the
-- sampling, and for the step.
local function split(run, group, i)
  local seeds, rng, place = run.context:arguments(run.sampler, group, i)
  local of_sampling, batch = primitive_calls.timed(run.sampler, seeds, rng, place)
  run.context:complete(batch, group)
  return of_sampling, (primitive_calls.timed(step, run, batch, rng))
end

-- Adds the seconds of primitives to lists by name, and their sum to `sums`; place: in the lists.
local function add(split_lists, sums, place, of)
  sums[place] = 0
  for name, one in pairs(of) do
    split_lists[name] = split_lists[name] or {}
    split_lists[name][place] = one.seconds
    sums[place] = sums[place] + one.seconds
  end
end

-- Completes the lists with 0 for mini-batches that did not call a primitive; returns them and the
-- list of the remaining seconds, which are Lua's own.
local function finished(whole, split_lists, sums)
  local own = {}
  for place, seconds in ipairs(whole) do
    own[place] = seconds - sums[place]
    for _, list in pairs(split_lists) do list[place] = list[place] or 0 end
  end
  return {whole = whole, primitives = split_lists, lua = own}
end

-- Makes a recorder of a run's mini-batches, with the functions warm_up(); turn(place), which makes
-- the mini-batches `place` and the next one, each with and without timing its primitives; and
-- result().
local function record(run, first)
  local whole = {sampling = {}, step = {}}
  local parts, sums = {sampling = {}, step = {}}, {sampling = {}, step = {}}
  local self = {}
  local function plain(place)
    whole.sampling[place], whole.step[place] = timing.batch(run, first + place - 1, 1)
  end
  local function traced(place)
    local of_sampling, of_step = split(run, first + place - 1, 1)
    add(parts.sampling, sums.sampling, place, of_sampling)
    add(parts.step, sums.step, place, of_step)
  end
  function self.warm_up()
    timing.batch(run, first, 1)
    split(run, first, 1)
  end
  function self.turn(place)
    local one, other = plain, traced
    if place % 4 == 1 then one, other = other, one end
    for _, what in ipairs{one, other} do
      what(place)
      what(place + 1)
    end
  end
  function self.result()
    if self.failed then return {failed = self.failed} end
    return {sampling = finished(whole.sampling, parts.sampling, sums.sampling),
      step = finished(whole.step, parts.step, sums.step)}
  end
  return self
end

-- Calls a function of each recorder that has not failed, and records a failure.
local function for_each(records, what, ...)
  for _, one in ipairs(records) do
    local ok, message = true, nil
    if not one.failed then ok, message = errors.try(one[what], ...) end
    if not ok then one.failed = errors.message(message) end
  end
end

--- Measures the times of the mini-batches of some runs: returns an array of {sampling =, step =},
-- each {whole = list, primitives = {name = list}, lua = list}, a number for each mini-batch; `lua`
-- is what primitives leave of the whole. The runs take turns, so that a machine that is busy with
-- something else is so for all. Each mini-batch is made twice, without and with a look at its
-- primitives, some time apart and in either order, so that neither profits more often from what the
-- other left in caches. There are at most `most`, and eight at least, in `seconds` a run. first:
-- the first group. Of a run that fails there is {failed = the message}, and the others go on.
function timing.split(runs, first, most, seconds)
  local records = tables.map(runs, function(run) return record(run, first) end)
  for_each(records, "warm_up")
  local began = clock()
  for place = 1, most, 2 do
    for_each(records, "turn", place)
    if place > 6 and clock() - began > seconds * #runs then break end
  end
  return tables.map(records, function(one) return one.result() end)
end

-- Returns the bytes in use, without scratch memory, which is kept from batch to batch.
local function in_use()
  local memory = core.memory()
  return memory.total - memory.scratch
end

--- Measures the bytes of one mini-batch, as ladies.memory counts them: {blocks = what the sampler
-- made, features = the rows that its input gathers, step = activations and gradients when backward
-- is done}. Begins with ladies.memory_trim, without which kept blocks of other sizes count in full.
function timing.bytes(run, group, i)
  local seeds, rng, place = run.context:arguments(run.sampler, group, i)
  core.memory_trim()
  local before = in_use()
  local batch = run.sampler(seeds, rng, place)
  collectgarbage()
  local blocks = in_use() - before
  local gathered = not batch.features and run.context.data.features:rows(batch.input)
  collectgarbage()
  local features = gathered and in_use() - before - blocks or 0
  gathered = nil                                                    -- luacheck: ignore
  collectgarbage()
  local held
  run.context:complete(batch, group)
  run.known:with_loss(batch, function()
    collectgarbage()
    held = in_use() - before
  end)
  return {blocks = blocks, features = features, step = held - blocks - features}
end

return timing
