--- The sampler GraphSAINT, whose mini-batch is one subgraph, in which the whole network is trained.
-- Zeng, Zhou, Srivastava, Kannan and Prasanna, "GraphSAINT: Graph Sampling Based Inductive Learning
-- Method", ICLR 2020.
--
-- The subgraph is that which some nodes induce, drawn (section 3.4) by
--     node    n draws with replacement, p_v in proportion to ||P(:,v)||^2
--     edge    the ends of m edges drawn with replacement, p_vu in proportion to 1/d_v + 1/d_u
--     rw      r uniform roots and h steps of a random walk from each
--     mrw     a frontier of m uniform roots, of which one moves at a time (algorithm 2), until n
--             nodes were taken
-- Nodes and edges come up unevenly. Two normalisations make up for it, by how often v and the edge
-- (v, u) were in N subgraphs that are drawn beforehand, C_v and C_vu:
--     aggregator    P_vu / alpha_vu,  alpha_vu = C_vu / C_v
--     loss          sum over the subgraph's v of L_v / lambda_v,  lambda_v = C_v / N
-- The first makes a row of the subgraph an unbiased estimate of P's row, given that v is in it;
-- with the second and 1 / (number of training nodes) the loss is one of the mean over all training
-- nodes.
--
-- The paper's graph is that of the training nodes alone: inductive = true. Otherwise it is the
-- whole one; the loss is that of the subgraph's training nodes, where walks then begin, and a
-- subgraph without any is drawn again. Counts of zero count as one. (The authors' program takes 0.1
-- for them, draws nodes in proportion to degrees, has for "mrw" the nodes that walkers come to in
-- place of those that they leave, and its first batches are the subgraphs of the counts.)

local core = require "ladies_core"
local arguments = require "ladies.sampling.arguments"
local declared = require "ladies.sampling.declared"
local errors = require "ladies.base.errors"
local options = require "ladies.base.options"
local sampling = require "ladies.sampling"
local subgraph = require "ladies.sampling.subgraph"

local WHERE = "ladies.samplers.graphsaint"

local SPEC = declared.spec("graphsaint", {
  {"layers", "positive integer"},
  {"train", "Index"},
  {"by", "node|edge|rw|mrw", default = "rw",
    help = "a subgraph is drawn by its nodes, its edges, random walks, or one of many walkers"},
  {"samples", "positive integer", default = 500},
  {"length", "positive integer", default = 2, help = "steps of a random walk"},
  {"frontier", "positive integer or nil", follows = "a quarter of the samples",
    help = "walkers of mrw"},
  {"coverage", "positive number", default = 50,
    help = "how often a node is drawn, on average, for the two normalisations"},
  {"inductive", "boolean", default = false, help = "drawn from the training nodes alone"},
})

-- The number of subgraphs without a training node that may be drawn in a row before it is an error.
local MOST_TRIES = 1000

-- The last estimate of the two normalisations, kept for other samplers of the same graph and
-- settings.
local last = {}

-- Copies A, so that it has a structure of its own and the edges of its slices are numbered in it.
local function rebuilt(A)
  return core.csr{n_rows = A.n_rows, n_cols = A.n_cols, offsets = A:offsets(),
    columns = A:col_of(), values = A:entry_values()}
end

-- Returns the neighbours of every node as a matrix without weights and self-loops.
local function neighbours_of(P)
  local W = P:without_loops()
  return core.csr{n_rows = W.n_rows, n_cols = W.n_cols, offsets = W:offsets(),
    columns = W:col_of()}
end

-- How nodes are drawn: ways[by](P, roots, opts) gives a function draw(rng) -> nodes, which may
-- repeat.
local ways = {}

function ways.node(P, _, opts)
  local p = sampling.alias(P:col_sums(2))
  return function(rng)
    return (sampling.choice(p, opts.samples, {draw = "wr", rng = rng}))
  end
end

function ways.edge(P, _, opts)
  local W = neighbours_of(P)
  if W.nnz == 0 then errors.fail(WHERE .. ": the graph has no edges to draw") end
  local p = sampling.alias(W:add_edges(1 / W:degrees(), 1 / W:col_sums()))
  local row, col = W:row_of(), W:col_of()
  return function(rng)
    local edges = sampling.choice(p, opts.samples, {draw = "wr", rng = rng})
    return row[edges] .. col[edges]
  end
end

local function uniform(roots, n, rng)
  return roots[sampling.uniform(#roots, n, {replace = true, rng = rng})]
end

function ways.rw(P, roots, opts)
  local W = neighbours_of(P)
  return function(rng)
    return W:random_walk(uniform(roots, opts.samples, rng), opts.length, {rng = rng})
  end
end

function ways.mrw(P, roots, opts)
  local W, m = neighbours_of(P), opts.frontier or math.max(1, opts.samples // 4)
  if m > opts.samples then
    errors.fail(("%s: frontier must be at most samples, got %d and %d"):format(WHERE, m,
      opts.samples))
  end
  return function(rng)
    local frontier = uniform(roots, m, rng)
    return frontier .. W:frontier_walk(frontier, opts.samples - m, {rng = rng})
  end
end

-- Draws a subgraph: returns its nodes, ascending, and which of them are training nodes.
local function draw_nodes(draw, train, rng)
  for _ = 1, MOST_TRIES do
    local nodes = sampling.unique(draw(rng)):sort()
    local places = sampling.find(nodes, train)
    if #places > 0 then return nodes, places end
  end
  errors.fail(("%s: %d subgraphs in a row without a training node"):format(WHERE, MOST_TRIES))
end

-- Estimates the two normalisations from subgraphs whose numbers of nodes add up to `coverage` times
-- that of the graph. Returns 1 / alpha of every entry, N / C_v of every node, the weights of the
-- loss, and the mean number of training nodes in a subgraph.
local function estimate(P, draw, train, coverage)
  local of_node, of_entry = core.zeros(P.n_rows), core.zeros(P.nnz)
  local n, nodes_seen, train_seen = 0, 0, 0
  local rng = core.rng(1)
  while nodes_seen < coverage * P.n_rows do
    local nodes, places = draw_nodes(draw, train, rng:fork(n))
    of_node:add_at_(nodes, 1)
    of_entry:add_at_(P:induced(nodes).edge, 1)
    n, nodes_seen, train_seen = n + 1, nodes_seen + #nodes, train_seen + #places
  end
  of_node, of_entry = of_node:clamp(1, math.huge), of_entry:clamp(1, math.huge)
  local loss = n / of_node
  return {
    aggregator = of_node[P:row_of()] / of_entry, loss = loss, train = train_seen / n,
    weights = (loss[train] / #train):scatter_add(train, P.n_rows),
  }
end

-- Returns the normalisations for this graph and these settings; the last ones are kept. It records
-- no gradients.
local function estimated(P, draw, train, opts)
  local key = table.concat({P:hash(), train:hash(), opts.by, opts.samples, opts.length,
    tostring(opts.frontier), opts.coverage}, " ")
  if last.key ~= key then
    last.norms = core.no_grad(estimate, P, draw, train, opts.coverage)
    last.key = key
  end
  return last.norms
end

--- ladies.samplers.graphsaint(P, {layers =, train =, ...}) -> Sampler: a sampler that draws its own
-- seeds.
-- train      the training nodes; `loss_nodes` of a batch are the positions of those in it, and
--            loss_weight has their weights
-- by         "node", "edge", "rw" or "mrw"
-- samples    draws: nodes, edges, roots of walks, or, for "mrw", nodes with those of the frontier
-- length     h, steps of a walk of "rw" (2)
-- frontier   walkers of "mrw" (a quarter of samples)
-- coverage   subgraphs are drawn for the counts until their nodes are so many times the graph's
--            (50). Counts do not depend on a run's seed, and the last ones are kept for the next
--            sampler of the same P and settings
-- inductive  whether all is drawn from the subgraph of the training nodes, whose rows are divided
--            by their sums anew: its own P where P is row-normalised
-- The sampler has batches_per_epoch, the number of training nodes over the mean number in a batch;
-- aggregator, 1 / alpha of every entry of P (of the training nodes' where inductive), and loss,
-- N / C_v of every node. Without a place in an epoch (the third argument that ladies.batches
-- gives), sampler(seeds, rng) is the batch of a subgraph with the seeds added, which are its
-- loss_nodes.
local function graphsaint(P, given)
  arguments.check_square(WHERE, P)
  local opts = options.check(WHERE, given, SPEC)
  arguments.check_train(WHERE, opts.train)
  local train, inside = opts.train:sort(), nil            -- inside: the training nodes, inductive
  local own = P
  if opts.inductive then
    own = rebuilt(P:induced(train)):row_normalize()
    train, inside = core.range(1, #train), train
  elseif P.root then
    own = rebuilt(P)
  end
  local draw = ways[opts.by](own, train, opts)
  local norms = estimated(own, draw, train, opts)

  local function with_seeds(seeds, rng)
    arguments.distinct_seeds(seeds, P.n_rows)
    local known = inside and sampling.find(inside, seeds) or seeds
    if #known < #seeds then errors.fail(WHERE .. ": the seeds must be training nodes") end
    local nodes = sampling.union(known, draw(rng)):sort()
    return nodes, sampling.find(nodes, known)
  end

  local function sample(_, seeds, rng, place)
    local nodes, places
    if place then nodes, places = draw_nodes(draw, train, rng)
    else nodes, places = with_seeds(seeds, rng) end
    local adj = own:induced(nodes)
    adj = adj:scale_entries(norms.aggregator[adj.edge])                   -- P_vu / alpha_vu
    local batch = subgraph(adj, inside and inside[nodes] or nodes, opts.layers, places)
    batch.loss_weight = place and norms.weights[nodes] or nil
    return batch
  end

  return setmetatable({
    name = WHERE, batches_per_epoch = math.max(1, math.floor(#train / norms.train + 0.5)),
    aggregator = norms.aggregator, loss = norms.loss, P = P,
  }, {__call = sample})
end

return graphsaint
