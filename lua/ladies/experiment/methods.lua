--- The methods that `ladies train --method` knows: from settings to a sampler. Experiments know
-- methods only through the table methods.by_name, in which they look whenever one is asked for: an
-- entry that a program adds is a method like the others. An entry:
--
--   title            how tables call it
--   settings         what its sampler takes: names of settings whose place is "sampler" in
--                    ladies.experiment.settings, and settings of its own, written as there
--   defaults         settings in which the method differs from every preset
--   make(P, config, data, model)    the sampler; P is the graph's, as config.normalize says
--   resolve(config, data)   gives a value to what is left open, or "auto", in a configuration
--   nominal_rows(data, config) -> input, hidden     of methods whose layers have a number of nodes
--                    by definition: the rows of a batch with which the paper counts its memory;
--                    otherwise they are counted as they come
--   fan_out          whether its samples are neighbours of a node, not nodes of a layer or subgraph
--   histories        whether it keeps histories of what hidden layers give: not for models with
--                    no_histories
--   no_graph         whether it is for models that read no graph alone; there is no sampler then
--   exact_only       why there is no sampled inference, where there is none

local batches = require "ladies.training.batches"
local errors = require "ladies.base.errors"
local inputs = require "ladies.sampling.inputs"
local options = require "ladies.base.options"
local samplers = require "ladies.samplers"
local settings = require "ladies.experiment.settings"
local tables = require "ladies.base.tables"

local methods = {}

-- Parts of about 250 nodes, at least 50, and a batch for every fiftieth of them, at least 5: some
-- 50 batches an epoch on a large graph. (The paper has 1500 parts, 20 a batch, for Reddit's 232,965
-- nodes.)
local function resolve_clusters(config, data)
  config.parts = config.parts or math.max(50, data.graph.n_nodes // 250)
  config.clusters = config.clusters or math.max(5, config.parts // 50)
end

-- What the methods that draw a layer's nodes together take.
local LAYER_WISE = {"samples", "draw", "debias", "union", "row_normalize", "self_nodes", "flat",
  "probability"}

-- Left open, so that configurations of finished runs read as they did.
local SKETCH = {"sketch", "boolean", follows = "false",
  help = "nodes are drawn by the norms of what they pass on, too, as they were last computed"}

-- Where one batch holds all training nodes, the noise of layers without united nodes keeps a model
-- from learning them by heart. Where there are many, a layer should not lose those above it.
local function resolve_self_nodes(config, data)
  if config.self_nodes == "auto" then
    local one = batches.per_epoch(#data.train, {size = config.batch_size}) == 1
    config.self_nodes = one and "none" or "previous"
  end
end

-- The samples of each layer.
local function samples_of(config)
  return inputs.samples("ladies.experiment", config)
end

-- A batch's rows in the paper's count when LADIES draws: `samples` nodes in every layer, without
-- united ones; or all of the neighbourhood while it has fewer. A node is its own neighbour, so a
-- layer below one with `samples` nodes has as many.
local function neighbourhood_rows(data, config)
  local P, samples, rows = data.graph:normalize(config.normalize), samples_of(config), nil
  local whole = data.train:slice(1, math.min(config.batch_size, #data.train))
  local hidden = #whole
  for layer = config.layers, 1, -1 do
    if whole then
      local _, neighbourhood = P:slice(whole)
      whole = #neighbourhood < samples[layer] and neighbourhood or nil
    end
    rows = whole and #whole or samples[layer]
    if layer > 1 then hidden = hidden + rows end
  end
  return rows, hidden
end

-- The same when FastGCN does: it draws from all nodes.
local function graph_rows(data, config)
  local hidden, rows = math.min(config.batch_size, #data.train), 0
  for layer, samples in ipairs(samples_of(config)) do
    local drawn = math.min(samples, data.graph.n_nodes)
    if layer == 1 then rows = drawn else hidden = hidden + drawn end
  end
  return rows, hidden
end

-- The same of full batches: all nodes in every layer.
local function all_rows(data, config)
  local n = data.graph.n_nodes
  return n, config.layers * n
end

-- The entry with the `make` of a constructor(P, options, data) whose options are called as the
-- settings: those that the entry names, `layers`, and the others named here.
local function made_by(constructor, entry, ...)
  local names = tables.append({"layers", ...}, settings.names_of(entry))
  function entry.make(P, config, data)
    local opts = {}
    for _, name in ipairs(names) do opts[name] = config[name] end
    return constructor(P, opts, data)
  end
  return entry
end

-- What a layer of sampled neighbours computes: a mean where P's rows sum to one.
local FORM = {"form", "mean|unbiased", follows = "mean where P is row-normalised",
  help = "the mean over the sample, or the unbiased estimate of P"}

local function resolve_form(config)
  config.form = config.form or (config.normalize == "row" and "mean" or "unbiased")
end

-- LADIES whose nodes are drawn each on its own.
local function poisson_ladies(P, opts)
  opts.draw = "poisson"
  return samplers.ladies(P, opts)
end

-- Cluster-GCN normalises the subgraphs of the adjacency itself.
local function clusters_of(_, opts, data)
  opts.train = data.train
  return samplers.clustergcn(data.graph.adjacency, opts)
end

-- ShaDow normalises the ego graphs of the adjacency itself.
local function egos_of(_, opts, data) return samplers.shadow(data.graph.adjacency, opts) end

-- GraphSAINT's weights are those of the data set's training nodes.
local function saint_of(P, opts, data)
  opts.train = data.train
  return samplers.graphsaint(P, opts)
end

local function resolve_saint(config)
  if config.inductive and config.normalize ~= "row" then
    errors.fail 'ladies.experiment: inductive is for normalize = "row"'
  end
end

-- What the players of bandits take.
local ETA = {"eta", "number in [0, 1]", default = 0.4,
  help = "the share of the uniform distribution in what players draw by"}
local DELTA = {"delta", "positive number", default = 0.001, help = "how fast players learn"}
local CAP = {"cap", "positive number", default = 1, help = "the most that a draw is paid"}

local CVD = {"cvd", "boolean", follows = "true with dropout",
  help = "noise of dropout is kept out of the history"}

local function resolve_cvd(config)
  if config.cvd == nil then config.cvd = (config.dropout or 0) > 0 end
end

-- Why those that learn have no sampled inference.
local LEARNT = "what its sampler has learnt is in the run's checkpoint, not with the model"

local BY_HISTORY = "with the histories of the finished model its estimate is the exact one"

-- MVS draws the seeds, VR-GCN what is below them.
local function seeds_by_gradients(P, config, data, model)
  local inner = samplers.vrgcn(P, {layers = config.layers, hidden = config.hidden,
    samples = config.samples, cvd = config.cvd})
  return samplers.mvs(inner, {train = data.train, model = model, data = data,
    batch_size = config.batch_size, large = config.large, refresh = config.refresh,
    floor = config.floor})
end

-- The constructor of a sampler whose probabilities read the features.
local function by_features(constructor)
  return function(P, opts, data)
    opts.features = data.features
    return constructor(P, opts)
  end
end

--- The methods by name.
methods.by_name = {
  ladies = made_by(samplers.ladies, {
    title = "LADIES", settings = tables.append({SKETCH}, LAYER_WISE), resolve = resolve_self_nodes,
    nominal_rows = neighbourhood_rows,
  }),
  pladies = made_by(poisson_ladies, {
    title = "PLADIES", resolve = resolve_self_nodes, nominal_rows = neighbourhood_rows,
    settings = {"samples", "row_normalize", "self_nodes", "flat", "probability", SKETCH},
  }),
  fastgcn = made_by(samplers.fastgcn, {
    title = "FastGCN", settings = LAYER_WISE, resolve = resolve_self_nodes,
    defaults = {draw = "wr", self_nodes = "none", row_normalize = false, union = "pre"},
    nominal_rows = graph_rows,
  }),
  graphsage = made_by(samplers.graphsage, {
    title = "GraphSAGE", fan_out = true, settings = {"samples", FORM}, resolve = resolve_form,
    defaults = {samples = 5, normalize = "row"},
  }),
  labor = made_by(samplers.labor, {
    title = "LABOR", fan_out = true,
    settings = {"samples", FORM,
      {"iterations", "non-negative integer or converge|", default = 0,
        help = "that lower the number of distinct nodes, or until it falls no more"},
      {"layer_dependency", "boolean", default = false,
        help = "the same random numbers in all layers"},
      {"batch_dependency", "positive integer", default = 1,
        help = "batches over which random numbers of nodes move to others; 1: new ones each"}},
    resolve = resolve_form, defaults = {samples = 5, normalize = "row"},
  }),
  shadow = made_by(egos_of, {
    title = "ShaDow", fan_out = true,
    settings = {"samples", {"depth", "positive integer", default = 2,
      help = "how far the ego graph of a node goes, whatever the number of layers"}},
    defaults = {samples = 10},
  }, "normalize"),
  graphsaint = made_by(saint_of, {
    title = "GraphSAINT",
    settings = {"samples",
      {"by", "node|edge|rw|mrw", default = "rw",
        help = "a subgraph is drawn by its nodes, its edges, random walks, or one of many walkers"},
      {"length", "positive integer", default = 2, help = "steps of a random walk"},
      {"frontier", "positive integer", follows = "a quarter of the samples",
        help = "walkers of mrw"},
      {"coverage", "positive number", default = 50,
        help = "how often a node is drawn, on average, for the two normalisations"},
      {"inductive", "boolean", default = false, help = "drawn from the training nodes alone"},
    },
    defaults = {samples = 500, normalize = "row"}, resolve = resolve_saint,
    exact_only = "its weights are those of subgraphs that it draws itself",
  }),
  clustergcn = made_by(clusters_of, {
    title = "Cluster-GCN",
    settings = {
      {"parts", "positive integer", follows = "one for 250 nodes, at least 50",
        help = "how many parts the graph is cut into"},
      {"clusters", "positive integer", follows = "a fiftieth of the parts, at least 5",
        help = "parts in a batch"},
      {"partition", "metis|random", default = "metis", help = "how the parts are made"},
      {"lambda", "number", default = 0, help = "diagonal enhancement"},
    },
    defaults = {normalize = "row"},
    resolve = resolve_clusters,
  }, "normalize", "seed"),
  vrgcn = made_by(samplers.vrgcn, {
    title = "VR-GCN", histories = true, fan_out = true, settings = {"samples", CVD},
    defaults = {samples = 2}, resolve = resolve_cvd, exact_only = BY_HISTORY,
  }, "hidden"),
  asgcn = made_by(by_features(samplers.asgcn), {
    title = "AS-GCN",
    settings = {"samples", "row_normalize", "self_nodes",
      {"penalty", "non-negative number", default = 0.5,
        help = "of the variance of sampled layers, in the loss"}},
    defaults = {row_normalize = false},
    resolve = resolve_self_nodes, nominal_rows = neighbourhood_rows, exact_only = LEARNT,
  }, "seed"),
  bandit = made_by(samplers.bandit, {
    title = "GNN-BS", fan_out = true,
    settings = {"samples", "row_normalize", ETA, DELTA, CAP,
      {"replace", "boolean", default = false, help = "neighbours are drawn with replacement"}},
    defaults = {samples = 5, row_normalize = false}, exact_only = LEARNT,
  }),
  bliss = made_by(samplers.bliss, {
    title = "BLISS",
    settings = {"samples", "draw", "debias", "row_normalize", "self_nodes", ETA, CAP,
      {"steps", "positive integer", default = 1000, help = "that players expect"}},
    defaults = {draw = "poisson"}, resolve = resolve_self_nodes,
    nominal_rows = neighbourhood_rows, exact_only = LEARNT,
  }),
  mvs = {
    title = "MVS-GNN", histories = true, fan_out = true, make = seeds_by_gradients,
    settings = {"samples", CVD,
      {"large", "positive integer", follows = "10 batches, at most all",
        help = "training nodes whose gradients are measured, and drawn from"},
      {"refresh", "positive integer", default = 20, help = "batches between two measurements"},
      {"floor", "positive number", default = 0.1,
        help = "the least norm of a gradient, as a share of the mean"},
    },
    defaults = {samples = 2}, resolve = resolve_cvd, exact_only = BY_HISTORY,
  },
  none = {
    title = "no graph", settings = {}, no_graph = true, exact_only = "the model reads no graph",
    make = function() return nil end,
  },
  grapes = made_by(by_features(samplers.grapes), {
    title = "GRAPES",
    settings = {"samples", "row_normalize", "self_nodes",
      {"objective", "balance|reinforce", default = "balance",
        help = "of the policy: trajectory balance of a GFlowNet, or the score function"},
      {"reward_scale", "positive number", default = 1e4,
        help = "of the loss, in trajectory balance"},
      {"policy", "positive integer", default = 64, help = "hidden columns of the policy"}},
    defaults = {samples = 256, self_nodes = "previous"},
    nominal_rows = neighbourhood_rows, exact_only = LEARNT,
  }, "seed"),
  pass = made_by(by_features(samplers.pass), {
    title = "PASS", fan_out = true,
    settings = {"samples", {"attention", "positive integer", default = 64,
      help = "columns of the attention's weights"}},
    defaults = {samples = 5, normalize = "row"}, exact_only = LEARNT,
  }, "seed"),
  -- A batch is an epoch: it costs more than a validation, and 200 of them are patience enough.
  full = made_by(samplers.full, {
    title = "full batch", settings = {}, defaults = {patience = 200},
    nominal_rows = all_rows, exact_only = "it does not sample",
    resolve = function(config) config.eval_every = config.eval_every or 10 end,
  }),
}

--- Their names, as a type of ladies.options.
function methods.names()
  return settings.one_of(methods.by_name)
end

--- "graphsage:5" as {method = "graphsage", samples = 5}, "full" as {method = "full"}; errors begin
-- with `where`.
function methods.parse(where, text)
  local name, samples = text:match "^([%w_]+):(%w+)$"
  name = options.value(where, "a method", name or text, methods.names())
  if samples then
    samples = options.value(where, "the samples of " .. name, tonumber(samples) or samples,
      "positive integer")
    if not methods.takes(name, "samples") then
      errors.fail(("%s: %s takes no number of samples"):format(where, name))
    end
  end
  return {method = name, samples = samples}
end

--- Whether the sampler of a method takes a setting.
function methods.takes(name, setting)
  return settings.takes(methods.by_name[name], setting)
end

--- Of the settings `common` those that a method has, also those that all have.
function methods.pick(name, common)
  local found = {}
  for key, value in pairs(common) do
    local owners = settings.owners(methods.by_name, key)
    if #owners == 0 or methods.takes(name, key) then found[key] = value end
  end
  return found
end

--- Of the settings `common` those that each of the methods in the array `names` has, as an array of
-- tables; an error, which begins with `where`, when none has one of them.
function methods.share(where, names, common)
  local list, unused = {}, tables.merged(common)
  for i, name in ipairs(names) do
    list[i] = methods.pick(name, common)
    for key in pairs(list[i]) do unused[key] = nil end
  end
  local key = next(unused)
  if key then errors.fail(("%s: no method has %s"):format(where, key)) end
  return list
end

--- What tables call the method of a configuration: "LADIES (64)".
function methods.title(config)
  local title, samples = methods.by_name[config.method].title, config.samples
  return samples and ("%s (%s)"):format(title, settings.show(samples)) or title
end

return methods
