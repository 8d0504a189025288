--- Finds bias in single layers of a sampler, from draws that are made for this: in the rows,
-- columns and entries of each layer, between sets of seeds, and over time.
--
-- A bias that averages out over the rows or over the columns of a layer cannot be seen in the
-- product of the layer with H, and is small compared with the noise of a few draws, but it can be
-- seen in the affected part of the layer. So it is looked for in the cells of attributes (see
-- attributes.lua), in each single row, column and entry, and in each set of seeds, by tests that
-- add up small differences (see section.lua).

local Layer = require "ladies.lab.bias.layer"
local core = require "ladies_core"
local kinds = require "ladies.lab.bias.kinds"
local numbered_batches = require "ladies.training.batches.numbered"
local medians = require "ladies.statistics.medians"

local bias = {}

-- The number of sets of seeds, a prime, so that an effect that repeats every few draws is not
-- mistaken for an effect of a set; the fewest and the most draws; the draws of the pilot; and how
-- often the factors of the tests are updated from earlier draws.
local GROUPS, LEAST, MOST, PILOT, ROUNDS = 7, 70, 2100, 14, 10

-- Makes the source of the draws: {run =, context =, first = group, groups =, own = whether the
-- sampler draws its own seeds}. There is one set of seeds where the sampler draws its own, and
-- where a mini-batch has all training nodes; a task may still draw more for each set, as negatives.
local function source_of(run, first)
  local context, own = run.context, numbered_batches.own_batches(run.sampler) ~= nil
  local alike = not context.task.draw and context.opts.batch_size >= #context.problem.units
  return {run = run, context = context, first = first, own = own,
    groups = (own or alike) and 1 or GROUPS}
end

-- Makes draw k: returns its mini-batch and the number of its set of seeds. Consecutive draws use
-- the sets of seeds in turn.
local function draw(source, k)
  local g = (k - 1) % source.groups + 1
  return source.context:draw(source.run.sampler, source.first + g, (k - 1) // source.groups + 1), g
end

-- Returns the layers that can be compared with P, after a pilot of some draws.
local function layers_of(source)
  local run = source.run
  local known = Layer.known(run.known.P, run.context.nodes)
  known.row_sums = run.known.row_sums
  local layers, n = {}, run.known.n_layers
  for k = 1, PILOT do
    local batch = draw(source, k)
    for l = 1, n do
      if layers[l] ~= false and Layer.takes(batch, l) then
        layers[l] = layers[l] or Layer.new(known, l, source)
        layers[l]:look(batch.blocks[l])
      else
        layers[l] = false
      end
    end
  end
  local list = {}
  for l = 1, n do
    if layers[l] then
      layers[l]:settle()
      list[#list + 1] = layers[l]
    end
  end
  return list
end

-- Returns the number of draws for which there is time.
local function affordable(seconds, each)
  return math.tointeger(math.max(LEAST, math.min(MOST, seconds // each)))
end

--- bias.examine(run, first, budget): measures the bias of each layer whose blocks can be compared
-- with P; returns an array of results of ladies.lab.bias.kinds. run: as for measure.group; first:
-- the first group; budget: {seconds = the most that the draws may take, though there are LEAST of
-- them at least}, or {draws = how many there are}, which finds the same on every machine.
function bias.examine(run, first, budget)
  local source = source_of(run, first)
  return core.no_grad(function()
    local layers = layers_of(source)
    if #layers == 0 then return {} end
    local rng, times, k = core.rng(run.context.opts.seed):fork(first), {}, 1
    local all = budget.draws or LEAST
    while k <= all do
      local began = core.clock()
      local batch, g = draw(source, PILOT + k)
      local half = rng:fork(k):below(2) == 1
      for _, layer in ipairs(layers) do layer:add(batch.blocks[layer.l], g, half) end
      if k % math.max(1, all // ROUNDS) == 0 then
        for _, layer in ipairs(layers) do layer:refresh() end
      end
      if k == all // 4 then
        for _, layer in ipairs(layers) do layer:sharpen() end
      end
      times[k] = core.clock() - began
      if k == PILOT and budget.seconds then all = affordable(budget.seconds, medians.of(times)) end
      k = k + 1
    end
    return kinds.of(layers)
  end)
end

return bias
