--- Finds the numbers of samples with which the batches of different methods have equally many
-- nodes.

local batches = require "ladies.training.batches"
local errors = require "ladies.base.errors"
local experiment = require "ladies.experiment"
local methods = require "ladies.experiment.methods"

local PROBES = 8   -- batches from which the nodes of a batch are estimated

local equal_nodes = {}

--- Returns the number of samples above which more samples change nothing: the number of nodes for
-- layer-wise samplers, the largest degree for samplers of neighbours.
function equal_nodes.most(config, data)
  local graph = data.graph
  return methods.by_name[config.method].fan_out
    and math.max(1, math.tointeger(graph:degrees():max()) + 1) or graph.n_nodes
end

--- Finds the number in 1 .. most whose size(samples) is nearest to `wanted`: by doubling, then by
-- halving the interval, on the assumption that sizes ascend. size is called once for each number. A
-- number for which it fails counts as too small: independent draws may take no node at all.
function equal_nodes.nearest(wanted, most, size)
  local known = {}
  local function size_of(samples)
    if not known[samples] then
      local ok, found = errors.try(size, samples)
      known[samples] = ok and found or 0
    end
    return known[samples]
  end
  local low, high = 1, 1
  while high < most and size_of(high) < wanted do
    low, high = high, 2 * high
  end
  high = math.min(high, most)
  while high - low > 1 do
    local middle = (low + high) // 2
    if size_of(middle) < wanted then low = middle else high = middle end
  end
  return math.abs(size_of(low) - wanted) <= math.abs(size_of(high) - wanted) and low or high
end

-- Returns the mean number of rows of a batch, of the input and all layers together.
local function rows_of(config, data, samples)
  -- The numbers of nodes depend neither on the width of the network nor on GraphSAINT's estimates
  -- of how often nodes are drawn. So both are made as cheap as possible: width 1 saves memory for
  -- the histories of VR-GCN, and one subgraph is enough for the estimates.
  local narrow = setmetatable({hidden = 1, coverage = config.coverage and 1e-6},
    {__index = config})
  local sampler = experiment.sampler(narrow, data, experiment.model(narrow, data), samples)
  local n, count = 0, 0
  local task = experiment.task(config, data)
  for batch in batches.new(task.units.train, {task = task,
    batch_size = experiment.batch_size(config, data), sampler = sampler,
    seed = config.seed, epochs = PROBES}) do
    batch.penalty, batch.after_step = nil, nil              -- there is no step
    n, count = n + #batch.input, count + 1
    for _, block in ipairs(batch.blocks) do n = n + #block.dst end
    if count == PROBES then break end
  end
  return n / count
end

--- equal_nodes.give(list, data): gives every method of the list, {settings =, config =}, that
-- samples the number of samples with which its batches are as large as those of the first, which
-- may be a finished run, {run =, records =}. Others of the list stay as they are.
function equal_nodes.give(list, data)
  local first = list[1]
  local record = first.run and first.records[1]
  local rows = record and record.input_rows + record.hidden_rows
    or rows_of(first.config, data, first.config.samples)
  for i = 2, #list do
    local one = list[i]
    if one.config and one.config.samples then
      one.settings.samples = equal_nodes.nearest(rows, equal_nodes.most(one.config, data),
        function(samples) return rows_of(one.config, data, samples) end)
      one.config = experiment.configure(one.settings)
    end
  end
end

return equal_nodes
