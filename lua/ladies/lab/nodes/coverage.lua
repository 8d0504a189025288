--- Measures how often each node is drawn in whole epochs, as in training.
--
-- The nodes of a mini-batch are those of all its layers, each once; those that can be reached are
-- the training nodes and all that are within as many steps of P from them as there are layers.
-- Where a task makes seeds of edges or graphs, the seeds of these epochs take the place of the
-- training nodes. Each of them is in a loss, because ladies.sampling.check refuses a mini-batch
-- that lacks one of its seeds.

local core = require "ladies_core"
local batches = require "ladies.training.batches"
local by_degree = require "ladies.lab.nodes.by_degree"
local counts = require "ladies.lab.nodes.counts"
local numbered_batches = require "ladies.training.batches.numbered"
local options = require "ladies.base.options"
local sampling = require "ladies.sampling"
local statistics = require "ladies.statistics"
local tables = require "ladies.base.tables"

local coverage = {}

-- The fewest and the most epochs.
local LEAST, MOST = 4, 20

-- The mean number of losses that a node is in from which on a node that is in none is reported as a
-- fault, since it cannot be chance.
local EXPECTED = 12

-- Returns the given nodes, and all that so many layers over P reach from them.
local function reachable(P, nodes, layers)
  for _ = 1, layers do
    local _, near = P:slice(nodes)
    nodes = sampling.union(nodes, near)
  end
  return nodes
end

-- Makes as many epochs as `seconds` allow: an array of {drawn = how many mini-batches had each
-- node, seen = how many had it in their loss}; then the numbers of an epoch's mini-batches and of
-- layers.
local function epochs_of(sampler, context, seconds)
  local data, units, size = context.data, context.problem.units, context.opts.batch_size
  local per_epoch = batches.per_epoch(#units, {batch_size = size, sampler = sampler})
  local job = numbered_batches.new(units, {batch_size = size, seed = context.opts.seed,
    shuffle = true, per_epoch = per_epoch, draw = context.task.draw})(sampler)
  local n, epochs, began, layers = data.graph.n_nodes, {}, core.clock(), nil
  for number = 1, MOST * per_epoch do
    local batch = job(number)
    local epoch = epochs[batch.epoch] or {drawn = core.zeros(n), seen = core.zeros(n)}
    epochs[batch.epoch], layers = epoch, #batch.blocks
    epoch.drawn:add_at_(counts.distinct(batch), 1)
    epoch.seen:add_at_(numbered_batches.in_loss(batch), 1)
    local is_last = batch.index == per_epoch
    if is_last and #epochs >= LEAST and core.clock() - began > seconds then break end
  end
  return epochs, per_epoch, layers
end

-- Returns the share of some nodes for which a vector has 0.
local function share_of_zeros(vector, nodes)
  return 1 - vector[nodes]:above(0):sum():item() / #nodes
end

local function total(t) return t:sum():item() end

-- Returns the effective number of nodes that are drawn, (sum c)^2 / sum c^2 for nodes that are
-- drawn c times.
local function effective(drawn)
  local squares = total(drawn:square())
  return squares > 0 and total(drawn) ^ 2 / squares or 0
end

local function finding(key, label, list, format, scale, sentence)
  local interval = statistics.interval(list)
  return tables.merged({key = "coverage." .. key, section = "coverage", label = label,
    format = format, scale = scale, sentence = sentence and sentence(interval)}, interval)
end

-- Returns the findings. train: the training nodes, or nil where units are no nodes; those of the
-- loss are called `whose`.
local function findings_of(epochs, per_epoch, reached, train, whose)
  local function over(f) return tables.map(epochs, f) end
  local list = {
    finding("batches", "mini-batches of an epoch", {per_epoch}, "%.0f"),
    finding("never", "nodes in reach that no mini-batch of an epoch draws", over(function(epoch)
      return share_of_zeros(epoch.drawn, reached)
    end), "%.1f %%", 100, function(x)
      return x.mean == 0 and "An epoch reads all that training can see."
        or ("Training can see %d nodes; an epoch reads %.0f of them."):format(#reached,
          (1 - x.mean) * #reached)
    end),
    finding("outside", "draws of nodes out of reach", over(function(epoch)
      local all = total(epoch.drawn)
      return all > 0 and 1 - total(epoch.drawn[reached]) / all or 0
    end), "%.1f %%", 100, function(x)
      return x.mean == 0 and ("All that is drawn can tell %s something."):format(whose)
        or "These are computed in vain: no loss hears of them."
    end),
    finding("effective", "effective number of nodes in an epoch", over(function(epoch)
      return effective(epoch.drawn[reached])
    end), "%.0f", nil, function(x)
      return ("Draws are as unequal as if %.0f of the %d nodes in reach were drawn equally often, "
        .. "and the others never."):format(x.mean, #reached)
    end),
  }
  if train then
    table.insert(list, 3, finding("unseen", "training nodes that no loss of an epoch has",
      over(function(epoch) return share_of_zeros(epoch.seen, train) end), "%.1f %%", 100,
      function(x)
        return x.mean == 0 and "Every training node is in the loss of every epoch."
          or "An epoch learns nothing of these labels."
      end))
  end
  return list
end

-- Returns a text that names the class which all of some nodes have and no other training node has;
-- or nil.
local function class_of(data, nodes)
  if options.class_of(data.labels) ~= "Index" then return nil end
  local labels = data.labels[nodes]
  local class = labels:min()
  local of_class = data.labels[data.train]:equals(class):sum():item()
  return class == labels:max() and of_class == #nodes and ("all that have class %d"):format(class)
    or nil
end

-- Returns in how many losses each node was.
local function all_seen(epochs)
  local seen = epochs[1].seen
  for i = 2, #epochs do seen = seen + epochs[i].seen end
  return seen
end

-- Returns the faults about training nodes that are in no loss of any epoch although others are in
-- many. A sampler that draws its own seeds may leave some nodes out for long.
local function faults_of(epochs, nodes, own)
  local train = nodes.train
  if not train then return {} end
  local seen = all_seen(epochs)[train]
  local never = 1 - seen:above(0)
  local missing = total(never)
  if missing == 0 or missing == #train then return {} end
  local others = (seen + never * seen:max()):min()
  local mean = total(seen) / (#train - missing)
  if own and mean < EXPECTED or others < #epochs and mean < EXPECTED then return {} end
  local class = class_of(nodes, train[never])
  return {{key = "coverage.unseen", kind = own and "warning" or "fault",
    text = ("%d of the %d training nodes%s are in no loss: their labels are never learned")
      :format(missing, #train, class and ", " .. class .. "," or ""),
    proof = ("in none of %d epochs, in which the others are %.3g times on average"):format(#epochs,
      mean), remedy = "look at output, loss_nodes and loss_weight: a weight of 0 leaves a node "
        .. "out"}}
end

--- coverage.examine(subject, context, seconds) -> findings, series, faults: makes epochs as
-- ladies.batches does from the training nodes, each an independent repetition, and measures
-- coverage.batches     mini-batches of an epoch
-- coverage.never       share of the nodes in reach that are in no layer of any of them
-- coverage.unseen      share of the training nodes that are in no output (loss_nodes, where there
--                      are such), or have the loss_weight 0 there; where units are nodes
-- coverage.outside     share of the draws, a node in a mini-batch, that are of nodes out of reach
-- coverage.effective   (sum c)^2 / sum c^2 over the nodes in reach, c being a node's mini-batches
-- and a line of the mini-batches of an epoch that a node in reach is in, by its degree.
function coverage.examine(subject, context, seconds)
  local P, nodes = context:propagation_of(subject), context.nodes
  local sampler = context:sampler(subject)
  local epochs, per_epoch, layers = epochs_of(sampler, context, seconds)
  local seeds = nodes.train or all_seen(epochs):above(0):positions()
  local reached = reachable(P, seeds, layers)
  local degrees, all = P:degrees(reached):to_table(), by_degree.new()
  for _, epoch in ipairs(epochs) do all:add(degrees, epoch.drawn[reached]:to_table()) end
  return findings_of(epochs, per_epoch, reached, nodes.train,
    nodes.train and "the training nodes" or ("the nodes of %ss"):format(context.task.unit)), {{
    key = "coverage", title = "Mini-batches of an epoch that have a node, by its degree",
    x_label = "degree", y_label = "mini-batches", log_x = true, log_y = false,
    lines = {{name = subject.title, points = all:points()}},
  }}, faults_of(epochs, nodes, numbered_batches.own_batches(sampler) ~= nil)
end

return coverage
