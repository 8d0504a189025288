--- The sampler Cluster-GCN, whose mini-batches are subgraphs of a few clusters. Chiang, Liu, Si,
-- Li, Bengio and Hsieh, KDD 2019.
--
-- The graph is cut into parts once, by METIS. A batch unites q of them, drawn without replacement
-- ("stochastic multiple partitions", section 3.2), and takes the subgraph that they induce, edges
-- between the chosen parts included. It is normalised as a graph of its own, after the union:
--     A~  =  (D + I)^-1 (A + I)               section 3.3
--     A~  +  lambda diag(A~)                  diagonal enhancement, the same
-- Every layer propagates over this one matrix, and the loss is that of the batch's training nodes.
--
-- The authors' program (google-research/cluster_gcn, utils.py) differs from their paper: without
-- diagonal enhancement it has D^-1 A, no self-loops (self_loops = false), and its layers get the
-- node itself by concatenation; and it cuts the subgraph of the training nodes alone (give that as
-- A). There every cluster has training nodes; here some may have none, and a batch of such clusters
-- would have no loss. So the clusters with training nodes, in a random order, are dealt to the
-- batches like cards, and the others after them, to at most q a batch: every batch has training
-- nodes, every training node is in one batch of an epoch, and where all clusters have training
-- nodes the batches are a random division of all clusters.

local core = require "ladies_core"
local arguments = require "ladies.sampling.arguments"
local declared = require "ladies.sampling.declared"
local errors = require "ladies.base.errors"
local options = require "ladies.base.options"
local partition = require "ladies.graph.partition"
local sampling = require "ladies.sampling"
local subgraph = require "ladies.sampling.subgraph"
local tables = require "ladies.base.tables"

local WHERE = "ladies.samplers.clustergcn"

local SPEC = declared.spec("clustergcn", {
  {"layers", "positive integer"},
  {"train", "Index"},
  {"parts", "positive integer or array of Indexes", default = 50},
  {"clusters", "positive integer", default = 5},
  {"partition", "metis|ldg|random", default = "metis", help = "how the parts are made"},
  {"normalize", "row|sym|none", default = "row"},
  {"self_loops", "boolean", default = true},
  {"lambda", "number", default = 0, help = "diagonal enhancement"},
  "seed",
})

-- Returns the part of each of `nodes`; fails where one is in no part.
local function parts_of(part_of, nodes, what)
  local ids = part_of[nodes]
  if #ids > 0 and ids:min() < 1 then
    errors.fail(("%s: the parts must hold every %s; one is in none"):format(WHERE, what))
  end
  return ids
end

-- Returns two lists of clusters {nodes =, train =}: those with training nodes, and the others that
-- are not empty.
local function split(parts, part_of, train)
  local order, ends = parts_of(part_of, train, "training node"):group(#parts)
  local training, others = {}, {}
  for i, nodes in ipairs(parts) do
    local own = train[order:slice(ends[i], ends[i + 1] - 1)]
    local list = #own > 0 and training or others
    if #nodes > 0 then list[#list + 1] = {nodes = nodes, train = own} end
  end
  return training, others
end

-- Returns the clusters, at most `most`, of the batch with this index among the n of an epoch, whose
-- random order `rng` decides.
local function deal(training, others, rng, index, n, most)
  local first = core.sampling.permutation(#training, rng:fork(1))
  local then_ = core.sampling.permutation(#others, rng:fork(2))
  local hand, at = {}, index
  while at <= #training + #others and #hand < most do
    hand[#hand + 1] = at <= #training and training[first[at]] or others[then_[at - #training]]
    at = at + n
  end
  return hand
end

-- Returns the clusters that hold the seeds.
local function holding(parts, part_of, seeds)
  return tables.map(sampling.unique(parts_of(part_of, seeds, "seed")):to_table(), function(id)
    return {nodes = parts[id]}
  end)
end

local function united(hand, field)
  local all = core.index{}
  for _, cluster in ipairs(hand) do all = all .. cluster[field] end
  return all
end

--- ladies.samplers.clustergcn(A, {layers =, train =, ...}) -> Sampler: a sampler that draws its own
-- seeds. A is the graph's adjacency, not normalised.
-- train        the training nodes; `loss_nodes` of a batch are the positions of those in it
-- parts        how many parts the graph is cut into (50), or the parts: an array of Index without
--              common nodes, which hold every training node; empty ones are ignored
-- clusters     q, the most parts in a batch (5)
-- partition    "metis", "ldg" or "random" parts, from `seed`; see ladies.partition
-- normalize    "row": (D + I)^-1 (A + I), "sym": (D + I)^-1/2 (A + I) (D + I)^-1/2, "none": A + I
-- self_loops   whether I is added, in place of the loops that are there
-- lambda       of the diagonal enhancement (0: none; the paper has 1 for deep networks)
-- The sampler has batches_per_epoch; cut, the number of A's entries between parts (nil where parts
-- are given); n_clusters, the parts that are not empty; and P, the whole graph's, by name. Without
-- a place in an epoch (the third argument that ladies.batches gives), sampler(seeds) is the batch
-- of the clusters that hold the seeds, however many, with the seeds as loss_nodes.
local function clustergcn(A, given)
  arguments.check_square(WHERE, A)
  local opts = options.check(WHERE, given, SPEC)
  arguments.check_train(WHERE, opts.train)
  local parts, cut = opts.parts, nil
  if type(parts) ~= "table" then
    parts, cut = partition.of(A, parts, {by = opts.partition, seed = opts.seed})
  end
  local part_of = partition.part_of(WHERE, parts, A.n_rows)
  local training, others = split(parts, part_of, opts.train)
  local n_clusters = #training + #others
  local n_batches = math.min(#training, (n_clusters + opts.clusters - 1) // opts.clusters)

  local function draw(_, seeds, _, place)
    local hand = place
      and deal(training, others, place.rng, place.index, n_batches, opts.clusters)
      or holding(parts, part_of, arguments.distinct_seeds(seeds, A.n_rows))
    local nodes = united(hand, "nodes"):sort()
    local adj = A:induced(nodes):normalize(opts.normalize, {self_loops = opts.self_loops})
    if opts.lambda ~= 0 then adj = adj:add_diag(adj:diagonal_values() * opts.lambda) end
    return subgraph(adj, nodes, opts.layers,
      sampling.find(nodes, place and united(hand, "train") or seeds))
  end

  return setmetatable({
    name = WHERE, batches_per_epoch = n_batches, n_clusters = n_clusters, cut = cut,
    P = {normalize = opts.normalize, lambda = opts.lambda, self_loops = opts.self_loops},
  }, {__call = draw})
end

return clustergcn
