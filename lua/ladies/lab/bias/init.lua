--- By what a layer is off: draws of its own for every layer, and what they tell of its rows,
-- columns and entries, of sets of seeds, and of time.
--
-- A bias that averages out, over the rows or over the columns of a layer, is none along the exact
-- product, and small beside the noise of a few draws. It is found where what is off is known: so a
-- bias is looked for in the cells of attributes (see attributes.lua), in each row, column and entry
-- by itself, and in each set of seeds, by tests that add up small differences (see section.lua).

local Layer = require "ladies.lab.bias.layer"
local core = require "ladies_core"
local kinds = require "ladies.lab.bias.kinds"
local numbered_batches = require "ladies.training.numbered_batches"
local statistics = require "ladies.report.statistics"

local bias = {}

-- Sets of seeds, a prime so that what comes back every few draws is no matter of the sets; the
-- fewest and the most draws; draws that are only looked at, and how often what was found is taken
-- up.
local GROUPS, LEAST, MOST, PILOT, ROUNDS = 7, 70, 2100, 14, 10

-- Where the draws come from: {run =, context =, first = group, groups =, own = whether the sampler
-- draws its own seeds}. Where all training nodes are one mini-batch, sets of half of them are
-- drawn, so that there are several.
local function source_of(run, first)
  local context, own = run.context, numbered_batches.own_batches(run.sampler) ~= nil
  local train = #context.data.train
  if not own and context.opts.batch_size >= train then
    local opts = setmetatable({batch_size = math.max(1, train // 2)}, {__index = context.opts})
    context = setmetatable({opts = opts}, {__index = context})
  end
  return {run = run, context = context, first = first, own = own, groups = own and 1 or GROUPS}
end

-- The mini-batch of draw k, and its set of seeds. The draws go round the sets of seeds, as the
-- mini-batches of an epoch do.
local function draw(source, k)
  local g = (k - 1) % source.groups + 1
  return source.context:draw(source.run.sampler, source.first + g, (k - 1) // source.groups + 1), g
end

-- The layers that can be set beside P, after the draws that are only looked at.
local function layers_of(source)
  local run = source.run
  local known = Layer.known(run.known.P, run.context.data)
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

-- How many draws there are time for.
local function affordable(seconds, each)
  return math.tointeger(math.max(LEAST, math.min(MOST, seconds // each)))
end

--- bias.examine(run, first, seconds): what is off, an array of results of ladies.lab.bias.kinds,
-- one for each layer whose blocks can be set beside P. run: as for measure.group; first: the first
-- group; seconds: of these draws, at most, as far as LEAST of them allow it.
function bias.examine(run, first, seconds)
  local source = source_of(run, first)
  return core.no_grad(function()
    local layers = layers_of(source)
    if #layers == 0 then return {} end
    local rng, times, all, k = core.rng(run.context.opts.seed):fork(first), {}, LEAST, 1
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
      if k == PILOT then all = affordable(seconds, statistics.median(times)) end
      k = k + 1
    end
    return kinds.of(layers)
  end)
end

return bias
