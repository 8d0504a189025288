--- The sampler ShaDow, which trains a network of any depth on a small graph around each seed. Zeng,
-- Zhang, Xia, Srivastava, Malevich, Kannan, Prasanna, Jin and Chen, "Decoupling the Depth and Scope
-- of Graph Neural Networks", NeurIPS 2021.
--
-- Every seed has an ego graph of its own: `depth` times, each node that came last is followed by
-- k of its neighbours, drawn uniformly without replacement; then all edges between the nodes found.
-- That is the paper's variant with k neighbours: ego graphs of the nodes of highest personalised
-- PageRank, and pooling over an ego graph, are not here. A batch is the disjoint union of its
-- seeds' ego graphs, in which a node occurs as often as it was found, and normalised as a graph of
-- its own: a layer propagates within each, however many there are, and the last one computes the
-- seeds alone. So layers cost no further nodes: there are at most 1 + k + ... + k^depth a seed.
--
-- Exact inference, by which validation goes unless it is sampled, takes the whole graph for every
-- node's, which is another network where layers reach beyond the ego graphs.

local core = require "ladies_core"
local arguments = require "ladies.sampling.arguments"
local declared = require "ladies.sampling.declared"
local options = require "ladies.base.options"

local WHERE = "ladies.samplers.shadow"

local SPEC = declared.spec("shadow", {
  {"layers", "positive integer"},
  {"samples", "positive integer", default = 10},
  {"depth", "positive integer", default = 2,
    help = "how far the ego graph of a node goes, whatever the number of layers"},
  {"normalize", "row|sym|none", default = "sym"},
  {"self_loops", "boolean", default = true},
})

--- ladies.samplers.shadow(A, {layers =, ...}) -> Sampler: a sampler(seeds, rng) -> mini-batch. A is
-- the graph's adjacency, not normalised. This is the paper's variant with k neighbours; the one by
-- personalised PageRank is not there.
-- samples      k, the neighbours that follow a node (10)
-- depth        how far an ego graph goes from its seed (2), whatever the number of layers
-- normalize    "sym", "row" or "none", of each ego graph; self_loops: see graph:normalize
-- The layers but the last are over all nodes of the ego graphs, whose ids may repeat; `readout` has
-- the positions of the seeds among them, from which the last computes `output`. The sampler has P,
-- the whole graph's, by name.
local function shadow(A, given)
  arguments.check_square(WHERE, A)
  local opts = options.check(WHERE, given, SPEC)
  local function sample(_, seeds, rng)
    arguments.distinct_seeds(seeds, A.n_rows)
    options.value(WHERE, "rng", rng, "Rng")
    local adj, nodes = A:ego_graphs(seeds, opts.samples, opts.depth, {rng = rng})
    adj = adj:normalize(opts.normalize, {self_loops = opts.self_loops})
    local readout = core.range(1, #seeds)
    local inner = {adj = adj, dst = nodes, src = nodes}
    local last = {adj = adj:rows(readout), dst = seeds, src = nodes}
    local blocks = {}
    for l = 1, opts.layers do blocks[l] = l < opts.layers and inner or last end
    return {
      blocks = blocks, input = nodes, output = seeds, readout = readout,
      stats = {isolated = (opts.layers - 1) * adj:empty_rows() + last.adj:empty_rows()},
    }
  end
  return setmetatable({
    name = WHERE, P = {normalize = opts.normalize, self_loops = opts.self_loops},
  }, {__call = sample})
end

return shadow
