--- Random node sampling, whose mini-batches are subgraphs of nodes drawn at random. Wang, Vialle,
-- Vaysse and Bonald, "Implicit Regularization of Mini-Batch Training in Graph Neural Networks",
-- arXiv 2605.22480, 2026.
--
-- Every epoch has all nodes of the graph in a new random order, cut into parts of the same size. A
-- part is a mini-batch: the subgraph that its nodes induce, normalised as a graph of its own, over
-- which every layer propagates. The loss is that of the training nodes in it. An edge is in the
-- batch of its first node with the probability of about one over the number of parts, so a network
-- hears fewer neighbours in training than it will later.
--
-- Where few nodes are for training, a part may have none of them, and no loss. So training nodes
-- and others have an order each, and every part has its share of both: it has training nodes, and
-- each node is in one batch of an epoch, with the same probability for each. There are never more
-- batches than training nodes.

local core = require "ladies_core"
local arguments = require "ladies.sampling.arguments"
local declared = require "ladies.sampling.declared"
local options = require "ladies.base.options"
local sampling = require "ladies.sampling"
local subgraph = require "ladies.sampling.subgraph"

local WHERE = "ladies.samplers.rns"

local SPEC = declared.spec("rns", {
  {"layers", "positive integer"},
  {"train", "Index"},
  {"parts", "positive integer", default = 4},
  {"normalize", "row|sym|none", default = "sym"},
  {"self_loops", "boolean", default = true},
})

-- Returns those of `nodes` that are in part i of n, by a random order that `rng` decides. With
-- `last` the parts are counted from the other end, so that two sets which n does not divide do not
-- both have their larger parts in the same places.
local function part_of(nodes, i, n, rng, last)
  if last then i = n + 1 - i end
  local first, past = (i - 1) * #nodes // n, i * #nodes // n
  return nodes[core.sampling.permutation(#nodes, rng):slice(first + 1, past)]
end

-- Returns the nodes that are not in `some`, of the graph's n, in order.
local function others_of(some, n)
  local is_there = core.zeros(n)
  is_there:add_at_(some, core.ones(#some))
  return is_there:equals(0):positions()
end

--- ladies.samplers.rns(A, {layers =, train =, ...}) -> Sampler: a sampler that draws its own seeds,
-- by random node sampling. A is the graph's adjacency, not normalised.
-- train        the training nodes; `loss_nodes` of a batch are the positions of those in it
-- parts        batches of an epoch (4), at most one for each training node
-- normalize    "sym": (D + I)^-1/2 (A + I) (D + I)^-1/2 of the subgraph, "row": (D + I)^-1 (A + I),
--              "none": A + I
-- self_loops   whether I is added, in place of the loops that are there
-- The sampler has batches_per_epoch and P, the whole graph's, by name. Without a place in an epoch
-- (the third argument that ladies.batches gives), sampler(seeds, rng) is a batch that the seeds are
-- in, with them as loss_nodes: other nodes, drawn at random, fill it up to the size of a part.
local function rns(A, given)
  arguments.check_square(WHERE, A)
  local opts = options.check(WHERE, given, SPEC)
  arguments.check_train(WHERE, opts.train)
  local n_nodes, n_batches = A.n_rows, math.min(opts.parts, #opts.train)
  local others = others_of(opts.train, n_nodes)

  -- Returns the nodes of a batch, and those that have the loss.
  local function placed(place)
    local i, rng = place.index, place.rng
    local train = part_of(opts.train, i, n_batches, rng:fork(1))
    return train .. part_of(others, i, n_batches, rng:fork(2), true), train
  end

  local function filled(seeds, rng)
    arguments.distinct_seeds(seeds, n_nodes)
    local rest = others_of(seeds, n_nodes)
    options.value(WHERE, "rng", rng, "Rng")
    local room = math.min(#rest, math.max(0, n_nodes // n_batches - #seeds))
    return seeds .. rest[core.sampling.uniform(#rest, room, {rng = rng})], seeds
  end

  local function draw(_, seeds, rng, place)
    local nodes, with_loss
    if place then nodes, with_loss = placed(place) else nodes, with_loss = filled(seeds, rng) end
    nodes = nodes:sort()
    local adj = A:induced(nodes):normalize(opts.normalize, {self_loops = opts.self_loops})
    return subgraph(adj, nodes, opts.layers, sampling.find(nodes, with_loss))
  end

  return setmetatable({
    name = WHERE, batches_per_epoch = n_batches,
    P = {normalize = opts.normalize, lambda = 0, self_loops = opts.self_loops},
  }, {__call = draw})
end

return rns
