--- Cluster-GCN: mini-batches of clusters. Chiang, Liu, Si, Li, Bengio and Hsieh, KDD 2019.
--
-- The graph is cut into parts once, by METIS. A batch unites q of them, drawn without replacement
-- ("stochastic multiple partitions", section 3.2), and takes the subgraph that they induce, edges
-- between the chosen parts included. It is normalised as a graph of its own, after the union:
--     A~  =  (D + I)^-1 (A + I)               section 3.3, eq. 10
--     A~  +  lambda diag(A~)                  diagonal enhancement, eq. 11
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
local options = require "ladies.options"
local partition = require "ladies.partition"
local sampling = require "ladies.sampling"
local square = require "ladies.samplers.square"

local WHERE = "ladies.samplers.clustergcn"

local SPEC = {
  layers = "positive integer",
  train = "Index",
  parts = {"positive integer or array of Indexes", 50},
  clusters = {"positive integer", 5},
  method = {"metis|random", "metis"},
  seed = {"integer", 1},
  normalize = {"row|sym", "row"},
  self_loops = {"boolean", true},
  lambda = {"number", 0},
}

-- The clusters as {nodes =, train =}: those with training nodes, and the others that are not empty.
local function split(parts, train, n)
  train:check_unique(WHERE .. ": training node")
  local part_of = partition.part_of(WHERE, parts, n)[train]
  if #train > 0 and part_of:min() < 1 then
    options.fail(WHERE .. ": parts must hold every training node; one of train is in none")
  end
  local order, ends = part_of:group(#parts)
  local training, others = {}, {}
  for i, nodes in ipairs(parts) do
    local own = train[order:slice(ends[i], ends[i + 1] - 1)]
    local list = #own > 0 and training or others
    if #nodes > 0 then list[#list + 1] = {nodes = nodes, train = own} end
  end
  return training, others
end

-- The clusters of the given one of n batches, at most `most`, in an order that `rng` decides.
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

local function united(hand)
  local nodes, train = hand[1].nodes, hand[1].train
  for i = 2, #hand do
    nodes, train = nodes .. hand[i].nodes, train .. hand[i].train
  end
  nodes = nodes:sort()
  return nodes, sampling.find(nodes, train)
end

--- ladies.samplers.clustergcn(A, {layers =, train =, ...}): a sampler that draws its own seeds. A
-- is the graph's adjacency, not normalised.
-- train        the training nodes; `loss_nodes` of a batch are the positions of those in it
-- parts        how many parts the graph is cut into (50), or the parts: an array of Index without
--              common nodes, which hold every training node; empty ones are ignored
-- clusters     q, the most parts in a batch (5)
-- method, seed of the partition: "metis", or "random" parts; see ladies.partition
-- normalize    A~ as above ("row"), or "sym": (D + I)^-1/2 (A + I) (D + I)^-1/2
-- self_loops   whether I is added, in place of the loops that are there
-- lambda       of the diagonal enhancement (0: none; the paper has 1 for deep networks)
-- The sampler has batches_per_epoch; cut, the number of A's entries between parts (nil where parts
-- are given); and n_clusters, the parts that are not empty. Called without a place in an epoch,
-- sampler(seeds, rng) draws q clusters by rng; the seeds do not matter.
local function clustergcn(A, given)
  square(WHERE, A)
  local opts = options.check(WHERE, given, SPEC)
  if #opts.train == 0 then options.fail(WHERE .. ": train must not be empty") end
  local parts, cut = opts.parts, nil
  if type(parts) ~= "table" then
    parts, cut = partition.of(A, parts, {method = opts.method, seed = opts.seed})
  end
  local training, others = split(parts, opts.train, A.n_rows)
  local n_clusters = #training + #others
  local n_batches = math.min(#training, (n_clusters + opts.clusters - 1) // opts.clusters)

  local function draw(_, _, rng, place)
    local nodes, loss_nodes = united(deal(training, others, place and place.rng or rng,
      place and place.index or 1, n_batches, opts.clusters))
    local adj = A:induced(nodes):normalize(opts.normalize, {self_loops = opts.self_loops})
    if opts.lambda ~= 0 then adj = adj:add_diag(adj:diagonal_values() * opts.lambda) end
    local block, blocks = {adj = adj, dst = nodes, src = nodes}, {}
    for l = 1, opts.layers do blocks[l] = block end
    return {
      blocks = blocks, input = nodes, output = nodes, loss_nodes = loss_nodes,
      stats = {isolated = opts.layers * adj:empty_rows()},
    }
  end

  return setmetatable({
    name = WHERE, batches_per_epoch = n_batches, n_clusters = n_clusters, cut = cut,
  }, {__call = draw})
end

return clustergcn
