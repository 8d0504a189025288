--- The messages and bytes that several ranks send in training the paper's network, and the memory
-- of each, computed: `ladies costs --ranks`.

local Table = require "ladies.report.table"
local experiment = require "ladies.experiment"
local gradients = require "ladies.ranks.gradients"
local peak = require "experiments.paper.costs.peak"
local graph_traffic = require "ladies.training.ranks.graph_traffic"
local rows_traffic = require "ladies.training.ranks.rows_traffic"
local shards = require "ladies.data.formats.large.shards"
local tables = require "ladies.base.tables"
local units = require "ladies.base.units"

-- Columns of the features, classes and training nodes; and all nodes, where exact inference fits in
-- memory.
local DATA_SETS = {
  {name = "Reddit", features = 602, classes = 41, train = 153932, nodes = 232965},
  {name = "papers100M", features = 128, classes = 172, train = 1207179},
}

local costs_of_ranks = {}

local LAYERS, WIDTH, BATCH, SAMPLES, STEP = 5, 256, 512, 512, 64
local RANKS = {2, 4, 16, 64}
local PEAKS = {1, 2, 4, 16, 64}

local function lines_of(elements) return (elements + 15) // 16 * 16 end

-- Returns the number of elements of the slab of gradients of a GCN: weight and bias of every layer,
-- each filled up to whole lines of a cache.
local function slab(features, width, classes, layers)
  local n = 0
  for i = 1, layers do
    local inputs, outputs = i == 1 and features or width, i == layers and classes or width
    n = n + lines_of(inputs * outputs) + lines_of(outputs)
  end
  return n
end

-- Returns the MB that exact inference of all nodes by so many ranks sends: the rows that each layer
-- multiplies by P, which are mapped before since the map makes no layer wider, and the logits.
local function validation(data, size)
  if not data.nodes then return "-" end
  local columns = WIDTH * (LAYERS - 1) + 2 * data.classes
  return ("%.0f"):format((size - 1) * 4 * data.nodes * columns / units.MIB)
end

--- Returns the table, as Markdown.
function costs_of_ranks.table()
  local shown = Table.new{"data set", "ranks", "messages a step", "MB a step", "of a rank",
    "MB an epoch", "MB a validation"}
  for _, data in ipairs(DATA_SETS) do
    local n = slab(data.features, WIDTH, data.classes, LAYERS)
    for _, size in ipairs(RANKS) do
      local messages, bytes = gradients.cost(n, size, STEP)
      local mib = bytes / units.MIB
      shown:add{data.name, ("%d"):format(size), ("%d"):format(messages), ("%.2f"):format(mib),
        ("%.2f"):format(mib / size), ("%.0f"):format(mib * data.train / (BATCH * STEP)),
        validation(data, size)}
    end
  end
  return shown:markdown()
end

-- Returns the cells of a row that tell what a run with these options sends for a graph in shards.
-- `asked` has the rows that its mini-batches asked for (see graph_traffic); nil for a graph that is
-- not in shards, which adds no cells.
local function of_graph(opts, asked, size)
  if not asked then return {} end
  local sum = graph_traffic.of(opts, asked, size, 1)
  return {("%d"):format(sum.messages), ("%.2f"):format(sum.bytes / units.MIB)}
end

--- Makes the table, as Markdown, of what 2 to 64 ranks send in a step for features in shards, and
-- for the graph if it is in shards too. The mini-batches of the experiment with these settings are
-- drawn for that. cache: the bytes of the cache of features that each rank has, or nil.
function costs_of_ranks.features(settings, cache)
  local config = experiment.configure(settings)
  config.accumulate = config.accumulate or STEP
  local data, asked = experiment.load(config), nil
  local names = {"ranks", "messages a step", "MB a step", "of a rank", "rows of others",
    "MB of caches"}
  if shards.have_graph(data) then
    data, asked = graph_traffic.noted(data)
    tables.append(names, {"messages for the graph", "MB for the graph"})
  end
  local opts = experiment.options(config, data, {feature_cache = cache})
  local shown = Table.new(names)
  for _, size in ipairs(RANKS) do
    if size > 1 and size <= config.accumulate then
      local sum, caches = rows_traffic.of(opts, size, 1)
      local mib = sum.bytes / units.MIB
      shown:add(tables.append({("%d"):format(size), ("%d"):format(sum.messages),
        ("%.2f"):format(mib), ("%.2f"):format(mib / size),
        ("%.1f %%"):format(100 * sum.rows / sum.read),
        ("%.2f"):format(caches.bytes / units.MIB)}, of_graph(opts, asked, size)))
    end
  end
  return shown:markdown()
end

-- Tells whether each of so many ranks has rows of a data set in shards.
local function have_rows(data, size)
  local bounds = shards.bounds(data, size)
  for r = 1, size do
    if bounds[r + 1] == bounds[r] then return false end
  end
  return true
end

--- Makes the table, as Markdown, of the most memory that a rank has at a time in training the
-- paper's network with the data set of these settings, whose features are in shards; nil where they
-- are not.
function costs_of_ranks.peaks(settings)
  local data, one = experiment.load(experiment.configure(settings)), nil
  if not (data.path and shards.fits(data.path)) then return nil end
  local names = tables.map(peak.PARTS, function(part) return part[2] end)
  local shown = Table.new{"ranks", "peak", "of one", table.unpack(names)}
  for _, size in ipairs(PEAKS) do
    if have_rows(data, size) then
      local parts = peak.of(data, size, {layers = LAYERS, hidden = WIDTH, batch_size = BATCH,
        samples = SAMPLES})
      one = one or parts.total
      shown:add{("%d"):format(size), ("%.0f"):format(parts.total / units.MIB),
        ("%.2f"):format(parts.total / one), table.unpack(tables.map(peak.PARTS, function(part)
          return ("%.0f"):format(parts[part[1]] / units.MIB)
        end))}
    end
  end
  return shown:markdown()
end

return costs_of_ranks
