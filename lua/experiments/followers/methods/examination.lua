--- The laboratory's measurements of the methods of a data set, all for one network.

local connection = require "ladies.lab.nodes.connection"
local context = require "ladies.lab.context"
local experiment = require "ladies.experiment"
local measure = require "ladies.lab.error.measure"
local methods = require "ladies.experiment.methods"
local statistics = require "ladies.statistics"
local subject = require "ladies.lab.subject"
local tables = require "ladies.base.tables"

local WHERE = "experiments.followers.methods"

-- Sets of seeds, draws of each, and the steps that the network has learned for.
local LEAST, MOST, DRAWS, STEPS = 4, 16, 6, 5

-- The embeddings of several depths are examined where one is so many times too large or too small.
local OFF = 2

local examination = {}

--- The width of the network that is examined, at most; a wider one changes little.
examination.HIDDEN = 64

-- Returns the settings of a variant that its sampler takes.
local function own_settings(variant)
  local own = {}
  for key, value in pairs(variant.settings) do
    if methods.takes(variant.method, key) then own[key] = value end
  end
  own.samples = variant.config.samples
  return own
end

-- Means of the laboratory's numbers by key, over LEAST to MOST sets of seeds, as many as so many
-- CPU seconds allow.
local function means_of(run, seconds)
  local columns, began = {}, os.clock()
  for group = 1, MOST do
    if group > LEAST and os.clock() - began > seconds then break end
    for key, value in pairs(measure.group(run, group)) do
      columns[key] = columns[key] or {}
      table.insert(columns[key], value)
    end
  end
  local means = {}
  for key, list in pairs(columns) do means[key] = statistics.mean(list) end
  return means
end

-- Returns the numbers of a variant's sampler for a network of so many layers.
local function numbers_of(shared, variant, layers, seconds, without_gradient)
  local one = subject.of(WHERE, variant.method, shared.data,
    tables.merged(shared.opts, {settings = own_settings(variant)}))
  local known = shared:exact(shared:propagation_of(one), layers)
  return means_of({context = shared, known = known, draws = DRAWS, name = variant.title,
    sampler = shared:sampler(one, {layers = layers}), statistics = connection.statistics(layers),
    without_gradient = without_gradient}, seconds)
end

-- Returns the mean over the layers of a number, whose key is this format with the layer.
local function over_layers(numbers, key, layers)
  local list = {}
  for l = 1, layers do list[#list + 1] = numbers[key:format(l)] end
  return statistics.mean(list)
end

-- Tells whether something is far too large or too small.
local function is_off(scale) return scale ~= nil and (scale > OFF or scale < 1 / OFF) end

local function examine(variant, shared, seconds)
  local layers = variant.config.layers
  local numbers = numbers_of(shared, variant, layers, seconds)
  local record = {
    empty = over_layers(numbers, "connection.empty.%d", layers),
    alone = over_layers(numbers, "connection.alone.%d", layers),
    embedding = math.sqrt(numbers["embedding.error"]),
    gradient = math.sqrt(numbers["gradient.error"]),
    layer_scale = over_layers(numbers, "layers.%d.scale", layers),
    scale = numbers["embedding.scale"],
  }
  if is_off(record.scale) then
    record.scales = {}
    for l = 1, layers - 1 do
      record.scales[l] = numbers_of(shared, variant, l, seconds / 3, true)["embedding.scale"]
        or false
    end
    record.scales[layers] = record.scale
  end
  return record
end

--- examination.new(seconds) -> function(variant): what is measured of a variant (see
-- experiments.followers.methods) in so many CPU seconds, more or less: {empty =, alone =,
-- embedding =, gradient =, layer_scale =, scale =, scales =}. empty: the share of a layer's rows
-- without any sampled neighbour; alone: with none but themselves; embedding, gradient: sizes of
-- the errors as shares of the exact values; layer_scale, scale: how many times as large as the
-- exact one the estimate is on average, that of a layer whose input is exact, and that of all
-- layers; scales: where that is off by more than twice, the same with 1, 2, ... layers.
function examination.new(seconds)
  local name, shared
  return function(variant)
    local config = variant.config
    if config.dataset ~= name then
      name = config.dataset
      shared = context.new(experiment.load(config), {layers = config.layers, steps = STEPS,
        hidden = math.min(examination.HIDDEN, config.hidden), batch_size = config.batch_size,
        seed = 1})
    end
    return examine(variant, shared, seconds)
  end
end

return examination
