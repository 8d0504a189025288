--- Computes the peak memory of a rank that trains a GCN on a data set in shards, and what that
-- memory holds. The peak is in exact inference of all nodes, where these are many more than those
-- of a mini-batch; the optimizer's moments may be in parts, too (--shard-optimizer).

local shards = require "ladies.data.formats.large.shards"
local MIB = require("ladies.base.units").MIB

local peak = {}

-- The memory of a process besides its data: libraries, MPI's among them, and their buffers. This
-- number and the two below were fitted to the peaks of a few runs on Linux with Open MPI 4.1 and
-- one thread.
local PROGRAM = 33 * MIB

-- Tensors of a layer that a mini-batch holds in a training step: what the layer reads, three of its
-- steps, and their gradients. The allocator keeps them for the next one.
local OF_A_LAYER = 7

-- Values of 4 bytes that every rank has of every node: degree, factor of P, place in the split,
-- label and the like.
local OF_A_NODE = 10

-- The part of a rank's rows that is a piece of a product with P, of which a rank holds two (see
-- ladies.ranks.own_rows).
local PIECE = 1 / 8

--- The parts of a peak: name in peak.of, and heading.
peak.PARTS = {{"features", "features"}, {"graph", "graph, P"}, {"nodes", "of all nodes"},
  {"activations", "activations"}, {"pieces", "pieces of others"},
  {"batches", "mini-batch"}, {"model", "model, moments"}, {"process", "process"}}

-- Returns the number of rows of the rank that has the most of them.
local function most_rows(data, size)
  local bounds, most = shards.bounds(data, size), 0
  for r = 1, size do most = math.max(most, bounds[r + 1] - bounds[r]) end
  return most
end

-- Returns the bytes of a graph's rows and of P's: a rank has its own, of a graph that is divided,
-- or all of them.
local function of_graph(data, share)
  local adjacency, n = data.graph.adjacency, data.features.n_rows
  local both = 2 * (4 * adjacency.nnz + 8 * n) + 4 * (n - data.graph:n_self_loops())
  return both * (shards.have_graph(data) and share or 1)
end

-- Returns the columns of the widest layer: what it reads, and twice what it returns, once before
-- the product with P. One process alone reads the features of the first layer where they are.
local function widest(layers, size)
  local most = 0
  for i, layer in ipairs(layers) do
    most = math.max(most, ((i > 1 or size > 1) and layer[1] or 0) + 2 * layer[2])
  end
  return most
end

-- Returns the numbers of inputs and outputs of each layer.
local function layers_of(data, model)
  local layers = {}
  for i = 1, model.layers do
    layers[i] = {i == 1 and data.features.n_cols or model.hidden,
      i == model.layers and data.classes or model.hidden}
  end
  return layers
end

--- peak.of(data, size, {layers =, hidden =, batch_size =, samples =}): returns the bytes of the
-- rank with the most rows, of `size` ranks: a table with those of each of peak.PARTS, and `total`.
-- data: a data set in shards, all of which this process has; samples: of each layer, by LADIES.
function peak.of(data, size, model)
  local features = data.features
  local n, layers, weights, broadest = most_rows(data, size), layers_of(data, model), 0, 0
  for _, layer in ipairs(layers) do
    weights = weights + (layer[1] + 1) * layer[2]
    broadest = math.max(broadest, layer[2])
  end
  local element = features.dtype == "float32" and 4 or 2
  local parts = {
    features = n * features.n_cols * element,
    graph = of_graph(data, n / features.n_rows),
    -- Every rank has all logits in the end, and rank 0 those that it writes.
    nodes = 4 * features.n_rows * (OF_A_NODE + 2 * data.classes),
    activations = 4 * n * widest(layers, size),
    pieces = size > 1 and 2 * PIECE * 4 * n * broadest or 0,
    batches = 4 * OF_A_LAYER * model.layers * (model.batch_size + model.samples) * model.hidden,
    model = 4 * weights * (3 + 2 / size),
    process = PROGRAM,
  }
  parts.total = 0
  for _, part in ipairs(peak.PARTS) do parts.total = parts.total + parts[part[1]] end
  return parts
end

return peak
