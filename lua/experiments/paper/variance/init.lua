--- Variance and bias of the embeddings that samplers estimate, beside the bounds of the paper (Zou
-- et al. 2019, section 4 and Table 2), on real graphs.
--
-- The network is Z = P H W2 with H = ReLU(P X W1 + b1), its weights after a few steps of training
-- (variance/network.lua). Of a batch S of b nodes, drawn uniformly from all V, an estimate Z~ of
-- Z's rows has the error
--     E ||Z~ - Z||_F^2 / b  =  variance + bias^2
-- over the sampler's draws, here as its mean over draws and batches. There are two readings:
--     one layer    Z~ = P~ H W2 above an exact H. This is what Table 2 bounds: with independent
--                  draws from p the error is (sum_u ||P(S,u)||^2 ||(H W2)_u||^2 / p(u) -
--                  ||P(S,:) H W2||_F^2) / (s b), and ||(H W2)_u||^2 <= phi.
--     two layers   Z~ = P~ ReLU(P~' X W1 + b1) W2, both sampled: what a batch of training computes.
--                  ReLU makes it biased even where P~ is not.
-- The bounds, a node, with s samples (of a node's neighbours, or of a layer's nodes):
--     GraphSAGE  D phi ||P||_F^2 / (V s)            FastGCN  phi ||P||_F^2 / s
--     VR-GCN     D dphi ||P||_F^2 / (V s)           LADIES   phi ||P||_F^2 V(b) / (V s)
-- VR-GCN's history H' is the H of `lag` steps of training ago, for all nodes, and dphi the greatest
-- ||((H - H') W2)_u||^2. Its first layer is exact by definition. So the error that it has over two
-- layers is that of its second layer alone, and is compared with the errors of one layer of the
-- others. Its neighbours are drawn without replacement; the bound is for draws with replacement,
-- which vary more.
--
-- Two of the paper's steps are averages and no bounds: D stands for a mean over nodes v of d_v
-- ||P(v,:)||^2, and V(b) times the mean of ||P(S,:)||_F^2 for the mean of their product.

local carry_out = require "ladies.study.carry_out"
local data_sets = require "ladies.data"
local errors = require "ladies.base.errors"
local measure = require "experiments.paper.variance.measure"
local Network = require "experiments.paper.variance.network"
local plan = require "experiments.paper.variance.plan"
local show = require "experiments.paper.variance.report"
local splits = require "ladies.data.splits"
local tables = require "ladies.base.tables"

-- Returns the data set of a name. One that is read without a split gets the default one, since the
-- network is trained before anything is measured.
local function load(name, opts)
  local data = opts.data[name] or plan.GENERATED[name] and plan.GENERATED[name]()
  if not data then
    data = data_sets.load(name, opts.load)
    splits.complete(plan.WHERE, data)
  end
  local has_classes = data.labels and not data.graph_of
  if not (has_classes and data.train) then
    errors.fail(("%s: %s has no %s, and the network is trained on nodes with classes"):format(
      plan.WHERE, name, has_classes and "nodes for training" or "classes of nodes"))
  end
  return data
end

-- Returns a function that measures a graph, or one of its points. Of the networks and batches of
-- the graphs it keeps those of the latest.
local function measurer(opts)
  local graph, network, batches
  return function(item)
    if (item.graph or item) ~= graph then
      graph, network = item.graph or item, nil
      local data = load(graph.dataset, opts)
      network = Network.train(data, opts)
      batches = measure.batches(data.graph.n_nodes, opts.batch_size, opts.batches, opts.seed)
    end
    if item == graph then
      return tables.merged(measure.facts(network, batches),
        {sizes = measure.by_size(network, opts.batches, opts.seed)})
    end
    return measure.estimator(item.estimator.make, network, item.samples, item.layers, batches,
      item.draws, opts.seed)
  end
end

local VARIANCE = {
  where = plan.WHERE, name = "variance", folder = "runs/variance", unit = "measurement",
  identity = {"variance", "batches", "draws", "batch_size", "hidden", "steps", "lag", "normalize",
    "seed", "load"},
  title = "Table 2, measured: the error of sampled embeddings",
  options = plan.OPTIONS, check = plan.check, measure = measurer,
  data = function(opts) return opts.datasets, {} end,
}

-- Returns every graph and its points; and the graphs.
function VARIANCE.cases(opts)
  local items = {}
  local graphs = tables.map(opts.datasets, function(name) return plan.graph(name, opts) end)
  for _, graph in ipairs(graphs) do tables.append(tables.append(items, {graph}), graph.points) end
  return items, graphs
end

function VARIANCE.show(report, _, opts, graphs)
  for _, graph in ipairs(graphs) do graph.facts = graph.record end
  show(report, graphs, opts)
end

--- experiments.paper.variance{datasets = {"cora"}, samples = {5, 64, 512}, ...} -> table: measures
-- variance and bias of the embeddings of a batch, as the head of variance/init.lua defines them.
-- datasets    names or paths; "power-law" is a generated graph of 20,000 nodes (of cora, citeseer,
--             pubmed, wordnet and power-law those that need not be fetched); `data` may have data
--             sets of one's own by these names
-- load        how the data sets are read: options of ladies.data.load
-- methods     names of lua/experiments/paper/variance/estimators.lua (all), and files of methods of
--             one's own, "./mine.lua", as ladies.experiment.own takes them, with `settings`
-- samplers    samplers of one's own: {name = function(P, s, layers) return sampler end}
-- samples     sample numbers ({5, 16, 64, 256, 512})
-- batches     how many batches (12, 2 at least); draws: of the sampler, for each of them (16, 2 at
--             least; up to 32 times as many of LADIES and FastGCN with few samples, fewer of
--             GraphSAGE with many)
-- batch_size  nodes of a batch (512), or all where there are fewer
-- hidden, steps, lag   width of H (128), steps of training (20), and how many of them VR-GCN's
--             history is behind (10, or all where there are fewer)
-- normalize   P: "sym" or "row"; seed: of everything random
-- quick       cora and power-law, 4 batches, 6 draws, two sample numbers and hidden 64, where
--             others are not given
-- out         a folder (runs/variance-N): results.jsonl, variance.csv, variance.md, the pictures.
--             Measurements that are there are not made again, but for those with `samplers` or
--             `data` of one's own: whether these are still the same is not known.
-- quiet       no progress
-- Returns a report (see ladies.report).
local function variance(given) return carry_out(VARIANCE, given) end

return variance
