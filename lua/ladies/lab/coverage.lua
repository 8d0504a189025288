--- How often each node is drawn, in epochs as training has them.
--
-- The nodes of a mini-batch are those of all its layers, each once; those that can be reached are
-- the training nodes and all that are within as many steps of P from them as there are layers.

local core = require "ladies_core"
local batches = require "ladies.training.batches"
local by_degree = require "ladies.lab.by_degree"
local counts = require "ladies.lab.counts"
local numbered_batches = require "ladies.training.numbered_batches"
local options = require "ladies.base.options"
local sampling = require "ladies.sampling"
local student = require "ladies.lab.student"
local tables = require "ladies.base.tables"

local coverage = {}

-- The fewest and the most epochs.
local LEAST, MOST = 4, 20

-- Losses that nodes have on average, from which on one without any is no chance.
local EXPECTED = 12

-- The nodes that so many layers over P reach from some nodes, with these.
local function reachable(P, nodes, layers)
  for _ = 1, layers do
    local _, near = P:slice(nodes)
    nodes = sampling.union(nodes, near)
  end
  return nodes
end

-- Those of a mini-batch's output that carry the loss, with a weight that is not 0.
local function of_loss(batch)
  local weight = rawget(batch, "loss_weight")
  if weight then return batch.output[weight:square():above(0)] end
  return batch.loss_nodes and batch.output[batch.loss_nodes] or batch.output
end

-- What happened in some epochs, an array of {drawn = how many mini-batches had each node, seen =
-- how many had it in their loss}, as many as `seconds` allow; and the numbers of an epoch's
-- mini-batches and of layers.
local function epochs_of(sampler, context, seconds)
  local data, size = context.data, context.opts.batch_size
  local per_epoch = batches.per_epoch(#data.train, {size = size, sampler = sampler})
  local job = numbered_batches.new(data.train, {size = size, seed = context.opts.seed,
    shuffle = true, per_epoch = per_epoch})(sampler)
  local n, epochs, began, layers = data.graph.n_nodes, {}, core.clock(), nil
  for number = 1, MOST * per_epoch do
    local batch = job(number)
    local epoch = epochs[batch.epoch] or {drawn = core.zeros(n), seen = core.zeros(n)}
    epochs[batch.epoch], layers = epoch, #batch.blocks
    epoch.drawn:add_at_(counts.distinct(batch), 1)
    epoch.seen:add_at_(of_loss(batch), 1)
    local is_last = batch.index == per_epoch
    if is_last and #epochs >= LEAST and core.clock() - began > seconds then break end
  end
  return epochs, per_epoch, layers
end

-- The share of some nodes for which a vector has 0.
local function share_of_zeros(vector, nodes)
  return 1 - vector[nodes]:above(0):sum():item() / #nodes
end

local function total(t) return t:sum():item() end

-- The number of equally frequent nodes whose draws are as unequal: (sum c)^2 / sum c^2.
local function effective(drawn)
  local squares = total(drawn:square())
  return squares > 0 and total(drawn) ^ 2 / squares or 0
end

local function finding(key, label, list, format, scale, sentence)
  local interval = student.interval(list)
  return tables.merged({key = "coverage." .. key, section = "coverage", label = label,
    format = format, scale = scale, sentence = sentence and sentence(interval)}, interval)
end

local function findings_of(epochs, per_epoch, reached, train)
  local function over(f) return tables.map(epochs, f) end
  return {
    finding("batches", "mini-batches of an epoch", {per_epoch}, "%.0f"),
    finding("never", "nodes in reach that no mini-batch of an epoch draws", over(function(epoch)
      return share_of_zeros(epoch.drawn, reached)
    end), "%.1f %%", 100, function(x)
      return x.mean == 0 and "An epoch reads all that training can see."
        or ("Training can see %d nodes; an epoch reads %.0f of them."):format(#reached,
          (1 - x.mean) * #reached)
    end),
    finding("unseen", "training nodes that no loss of an epoch has", over(function(epoch)
      return share_of_zeros(epoch.seen, train)
    end), "%.1f %%", 100, function(x)
      return x.mean == 0 and "Every training node is in the loss of every epoch."
        or "An epoch learns nothing of these labels."
    end),
    finding("outside", "draws of nodes out of reach", over(function(epoch)
      local all = total(epoch.drawn)
      return all > 0 and 1 - total(epoch.drawn[reached]) / all or 0
    end), "%.1f %%", 100, function(x)
      return x.mean == 0 and "All that is drawn can tell the training nodes something."
        or "These are computed in vain: no loss hears of them."
    end),
    finding("effective", "effective number of nodes in an epoch", over(function(epoch)
      return effective(epoch.drawn[reached])
    end), "%.0f", nil, function(x)
      return ("Draws are as unequal as if %.0f of the %d nodes in reach were drawn equally often, "
        .. "and the others never."):format(x.mean, #reached)
    end),
  }
end

-- The class that all of some nodes have, and no other training node: a text, or nil.
local function class_of(data, nodes)
  if options.class_of(data.labels) ~= "Index" then return nil end
  local labels = data.labels[nodes]
  local class = labels:min()
  local of_class = data.labels[data.train]:equals(class):sum():item()
  return class == labels:max() and of_class == #nodes and ("all that have class %d"):format(class)
    or nil
end

-- Training nodes that are in no loss of any epoch, though others are in many: an array of faults. A
-- sampler that draws its own seeds may leave some out for long.
local function faults_of(epochs, data, own)
  local train, seen = data.train, core.zeros(data.graph.n_nodes)
  for _, epoch in ipairs(epochs) do seen = seen + epoch.seen end
  seen = seen[train]
  local never = 1 - seen:above(0)
  local missing = total(never)
  if missing == 0 or missing == #train then return {} end
  local others = (seen + never * seen:max()):min()
  local mean = total(seen) / (#train - missing)
  if own and mean < EXPECTED or others < #epochs and mean < EXPECTED then return {} end
  local class = class_of(data, train[never])
  return {{key = "coverage.unseen", kind = own and "warning" or "fault",
    text = ("%d of the %d training nodes%s are in no loss: their labels are never learned")
      :format(missing, #train, class and ", " .. class .. "," or ""),
    proof = ("in none of %d epochs, in which the others are %.3g times on average"):format(#epochs,
      mean), remedy = "look at output, loss_nodes and loss_weight: a weight of 0 leaves a node "
        .. "out"}}
end

--- coverage.examine(subject, context, seconds) -> findings, series, faults: of epochs as
-- ladies.batches makes them from the training nodes, each an independent repetition:
-- coverage.batches     mini-batches of an epoch
-- coverage.never       share of the nodes in reach that are in no layer of any of them
-- coverage.unseen      share of the training nodes that are in no output (loss_nodes, where there
--                      are such), or have the loss_weight 0 there
-- coverage.outside     share of the draws, a node in a mini-batch, that are of nodes out of reach
-- coverage.effective   (sum c)^2 / sum c^2 over the nodes in reach, c being a node's mini-batches
-- and a line of the mini-batches of an epoch that a node in reach is in, by its degree.
function coverage.examine(subject, context, seconds)
  local P, train = context:propagation_of(subject), context.data.train
  local sampler = context:sampler(subject)
  local epochs, per_epoch, layers = epochs_of(sampler, context, seconds)
  local reached = reachable(P, train, layers)
  local degrees, all = P:degrees(reached):to_table(), by_degree.new()
  for _, epoch in ipairs(epochs) do all:add(degrees, epoch.drawn[reached]:to_table()) end
  return findings_of(epochs, per_epoch, reached, train), {{
    key = "coverage", title = "Mini-batches of an epoch that have a node, by its degree",
    x_label = "degree", y_label = "mini-batches", log_x = true, log_y = false,
    lines = {{name = subject.title, points = all:points()}},
  }}, faults_of(epochs, context.data, numbered_batches.own_batches(sampler) ~= nil)
end

return coverage
