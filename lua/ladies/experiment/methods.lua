--- Defines the methods of `ladies train --method`: how the sampler of each is made from settings.
-- Experiments look methods up in the table methods.by_name only, so an entry that a program adds to
-- it is a method like the others. An entry:
--
--   title            how tables call it
--   settings         what its sampler takes: names of settings whose place is "sampler" in
--                    ladies.experiment.settings, and settings of its own, written as there
--   defaults         settings in which the method differs from every preset
--   make(P, config, data, model, task)   the sampler; P is the graph's, as config.normalize says
--   resolve(config, data, units)   gives a value to what is left open, or "auto", in a
--                    configuration; units: how many the task has for training
--   nominal_rows(data, config) -> input, hidden     of methods whose layers have a number of nodes
--                    by definition: the rows of a batch with which the paper counts its memory;
--                    otherwise they are counted as they come
--   fan_out          whether its samples are neighbours of a node, not nodes of a layer or subgraph
--   own_seeds        whether its sampler draws nodes as seeds: for tasks of nodes alone
--   own_size         whether settings of its own say how large its mini-batches are, and batch_size
--                    does not
--   histories        whether it keeps histories of what hidden layers give: not for models with
--                    no_histories
--   no_graph         whether it is for models that read no graph alone; there is no sampler then
--   exact_only       why there is no sampled inference, where there is none
--   in_time          whether it goes by the times of edges: for tasks on edges alone, which are
--                    then in time (see ladies.task.link_prediction)
--   of_tasks         settings of tasks that have another default with the method
--
-- The entry that a user's file returns (see ladies.experiment.own_code) may not have fan_out,
-- own_seeds, own_size, in_time and of_tasks: ladies.experiment.kinds has the fields that it may.

local arguments = require "ladies.sampling.arguments"
local batches = require "ladies.training.batches"
local declared = require "ladies.sampling.declared"
local errors = require "ladies.base.errors"
local options = require "ladies.base.options"
local samplers = require "ladies.samplers"
local settings = require "ladies.experiment.settings"
local tables = require "ladies.base.tables"

local methods = {}

-- Decides how many clusters there are and how many make a batch: parts of about 250 nodes, at least
-- 50, and in a batch a fiftieth of the parts, at least 5. This makes about 50 batches an epoch on a
-- large graph. (The paper has 1500 parts, 20 a batch, for Reddit's 232,965 nodes.)
local function resolve_clusters(config, data)
  config.parts = config.parts or math.max(50, data.graph.n_nodes // 250)
  config.clusters = config.clusters or math.max(5, config.parts // 50)
end

-- Returns the field `settings` of an entry from texts with names, of common settings or of options
-- that ladies.samplers[sampler] declares, and from settings that are given in full.
local function taken(sampler, ...)
  local list = {}
  for _, one in ipairs{...} do
    if type(one) == "table" then list[#list + 1] = one end
    for name in (type(one) == "string" and one or ""):gmatch "%S+" do
      list[#list + 1] = settings.common[name] and name or declared.setting(sampler, name)
    end
  end
  return list
end

-- Settings of the methods that draw a layer's nodes together.
local LAYER_WISE = "samples draw debias union row_normalize self_nodes flat probability"

-- The setting `sketch`. It has no default, so that configurations of runs from before it existed
-- are still the same.
local SKETCH = {"sketch", "boolean", follows = "false",
  help = "nodes are drawn by the norms of what they pass on, too, as they were last computed"}

-- Decides whether the nodes above a layer are united into it. Where one batch holds all training
-- units, the noise of layers without united nodes keeps a model from learning them by heart. Where
-- there are many batches, a layer should not lose the nodes above it.
local function resolve_self_nodes(config, _, units)
  if config.self_nodes == "auto" then
    local one = batches.per_epoch(units, {batch_size = config.batch_size}) == 1
    config.self_nodes = one and "none" or "previous"
  end
end

-- Returns the number of samples of each layer.
local function samples_of(config)
  return arguments.samples("ladies.experiment", config)
end

-- Counts a batch's rows in the paper's way when LADIES draws: `samples` nodes in every layer,
-- without self_nodes, or the whole neighbourhood if it has fewer. A node is its own neighbour, so a
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

-- Counts a batch's rows in the paper's way when FastGCN draws, which takes them from all nodes.
local function graph_rows(data, config)
  local hidden, rows = math.min(config.batch_size, #data.train), 0
  for layer, samples in ipairs(samples_of(config)) do
    local drawn = math.min(samples, data.graph.n_nodes)
    if layer == 1 then rows = drawn else hidden = hidden + drawn end
  end
  return rows, hidden
end

-- Counts the rows of a full batch in the paper's way: all nodes in every layer.
local function all_rows(data, config)
  local n = data.graph.n_nodes
  return n, config.layers * n
end

-- Completes an entry by a function `make` that calls constructor(P, options, data), whose options
-- have the same names as settings: those that the entry names, `layers`, and the further ones named
-- here.
local function made_by(constructor, entry, ...)
  local names = tables.append({"layers", ...}, settings.names_of(entry))
  function entry.make(P, config, data)
    local opts = {}
    for _, name in ipairs(names) do opts[name] = config[name] end
    return constructor(P, opts, data)
  end
  return entry
end

-- The setting `form` of methods that sample neighbours: by default a layer computes a mean where
-- P's rows sum to one.
local FORM = {"form", "mean|unbiased", follows = "mean where P is row-normalised",
  help = "the mean over the sample, or the unbiased estimate of P"}

local function resolve_form(config)
  config.form = config.form or (config.normalize == "row" and "mean" or "unbiased")
end

-- Makes the sampler PLADIES: LADIES with independent draws of nodes.
local function poisson_ladies(P, opts)
  opts.draw = "poisson"
  return samplers.ladies(P, opts)
end

-- Makes the sampler Cluster-GCN, which is given the adjacency instead of P, since it normalises
-- each subgraph itself.
local function clusters_of(_, opts, data)
  opts.train = data.train
  return samplers.clustergcn(data.graph.adjacency, opts)
end

-- Decides how many batches random node sampling makes of an epoch: of about 5000 nodes, at least
-- 4 of them. A node loses all but a share of its neighbours, one over the number of batches.
local function resolve_parts(config, data)
  config.parts = config.parts or math.max(4, data.graph.n_nodes // 5000)
end

-- Makes the sampler of random nodes, which is given the adjacency instead of P, since it normalises
-- each subgraph itself.
local function random_nodes_of(_, opts, data)
  opts.train = data.train
  return samplers.rns(data.graph.adjacency, opts)
end

-- Makes the sampler ShaDow, which is given the adjacency instead of P, since it normalises the ego
-- graphs itself.
local function egos_of(_, opts, data) return samplers.shadow(data.graph.adjacency, opts) end

-- Makes the sampler GraphSAINT, whose weights depend on the data set's training nodes.
local function saint_of(P, opts, data)
  opts.train = data.train
  return samplers.graphsaint(P, opts)
end

local function resolve_saint(config)
  if config.inductive and config.normalize ~= "row" then
    errors.fail 'ladies.experiment: inductive is for normalize = "row"'
  end
end

local CVD = {"cvd", "boolean", follows = "true with dropout",
  help = "noise of dropout is kept out of the history"}

local function resolve_cvd(config)
  if config.cvd == nil then config.cvd = (config.dropout or 0) > 0 end
end

-- Makes the temporal sampler, which is given the edges instead of P.
local function before_times(_, opts, data)
  if not (data.edges and data.edges.times) then
    errors.fail(("the method temporal goes by the times of edges, and those of %s have none")
      :format(data.name))
  end
  return samplers.temporal(data.edges, opts)
end

local function resolve_times(config)
  if config.normalize == "sym" then
    errors.fail 'ladies.experiment: the method temporal has normalize = "row" (means) or "none"'
  end
end

-- The reason why methods whose samplers learn have no sampled inference.
local LEARNT = "what its sampler has learnt is in the run's checkpoint, not with the model"

local BY_HISTORY = "with the histories of the finished model its estimate is the exact one"

-- Makes the sampler MVS-GNN, which draws the seeds, with VR-GCN for the layers below them.
local function seeds_by_gradients(P, config, data, model, task)
  local inner = samplers.vrgcn(P, {layers = config.layers, hidden = config.hidden,
    samples = config.samples, cvd = config.cvd})
  return samplers.mvs(inner, {train = data.train, model = model, data = data, task = task,
    batch_size = config.batch_size, large = config.large, refresh = config.refresh,
    floor = config.floor})
end

-- Wraps the constructor of a sampler that reads the features, so that it is given those of the data
-- set.
local function by_features(constructor)
  return function(P, opts, data)
    opts.features = data.features
    return constructor(P, opts)
  end
end

--- The entries of all methods by name.
methods.by_name = {
  ladies = made_by(samplers.ladies, {
    title = "LADIES", settings = taken("ladies", SKETCH, LAYER_WISE), resolve = resolve_self_nodes,
    nominal_rows = neighbourhood_rows,
  }),
  pladies = made_by(poisson_ladies, {
    title = "PLADIES", resolve = resolve_self_nodes, nominal_rows = neighbourhood_rows,
    settings = taken("ladies", "samples row_normalize self_nodes flat probability", SKETCH),
  }),
  fastgcn = made_by(samplers.fastgcn, {
    title = "FastGCN", settings = taken("fastgcn", LAYER_WISE), resolve = resolve_self_nodes,
    defaults = {draw = "wr", self_nodes = "none", row_normalize = false, union = "pre"},
    nominal_rows = graph_rows,
  }),
  graphsage = made_by(samplers.graphsage, {
    title = "GraphSAGE", fan_out = true, settings = taken("graphsage", "samples", FORM),
    resolve = resolve_form,
    defaults = {samples = 5, normalize = "row"},
  }),
  labor = made_by(samplers.labor, {
    title = "LABOR", fan_out = true,
    settings = taken("labor", "samples", FORM, "iterations layer_dependency batch_dependency"),
    resolve = resolve_form, defaults = {samples = 5, normalize = "row"},
  }),
  pooled = made_by(samplers.pooled, {
    title = "pooled", fan_out = true, settings = taken("pooled", "samples form self_nodes"),
    defaults = {samples = 5, self_nodes = "none"}, resolve = resolve_self_nodes,
  }),
  pps = made_by(samplers.pps, {
    title = "PPS", settings = taken("pps", "samples draw self_nodes"),
    defaults = {draw = "systematic", self_nodes = "previous"}, resolve = resolve_self_nodes,
    nominal_rows = neighbourhood_rows,
  }),
  shadow = made_by(egos_of, {
    title = "ShaDow", fan_out = true,
    settings = taken("shadow", "samples depth"),
    defaults = {samples = 10},
  }, "normalize"),
  graphsaint = made_by(saint_of, {
    title = "GraphSAINT", own_seeds = true, own_size = true,
    settings = taken("graphsaint", "samples by length frontier coverage inductive"),
    defaults = {samples = 500, normalize = "row"}, resolve = resolve_saint,
    exact_only = "its weights are those of subgraphs that it draws itself",
  }),
  clustergcn = made_by(clusters_of, {
    title = "Cluster-GCN", own_seeds = true, own_size = true,
    settings = taken("clustergcn",
      {"parts", "positive integer", follows = "one for 250 nodes, at least 50",
        help = "how many parts the graph is cut into"},
      {"clusters", "positive integer", follows = "a fiftieth of the parts, at least 5",
        help = "parts in a batch"},
      "partition lambda"),
    defaults = {normalize = "row"},
    resolve = resolve_clusters,
  }, "normalize", "seed"),
  rns = made_by(random_nodes_of, {
    title = "random nodes", own_seeds = true, own_size = true,
    settings = taken("rns", {"parts", "positive integer",
      follows = "one for 5000 nodes, at least 4",
      help = "batches that an epoch's nodes are cut into"}),
    resolve = resolve_parts,
  }, "normalize"),
  vrgcn = made_by(samplers.vrgcn, {
    title = "VR-GCN", histories = true, fan_out = true, settings = taken("vrgcn", "samples", CVD),
    defaults = {samples = 2}, resolve = resolve_cvd, exact_only = BY_HISTORY,
  }, "hidden"),
  asgcn = made_by(by_features(samplers.asgcn), {
    title = "AS-GCN",
    settings = taken("asgcn", "samples row_normalize self_nodes penalty"),
    defaults = {row_normalize = false},
    resolve = resolve_self_nodes, nominal_rows = neighbourhood_rows, exact_only = LEARNT,
  }, "seed"),
  bandit = made_by(samplers.bandit, {
    title = "GNN-BS", fan_out = true,
    settings = taken("bandit", "samples row_normalize eta delta cap replace"),
    defaults = {samples = 5, row_normalize = false}, exact_only = LEARNT,
  }),
  bliss = made_by(samplers.bliss, {
    title = "BLISS",
    settings = taken("bliss", "samples draw debias row_normalize self_nodes eta cap steps"),
    defaults = {draw = "poisson"}, resolve = resolve_self_nodes,
    nominal_rows = neighbourhood_rows, exact_only = LEARNT,
  }),
  temporal = made_by(before_times, {
    title = "temporal", fan_out = true, in_time = true,
    settings = taken("temporal", "samples",
      declared.setting("temporal", "strategy", {default = "recent"})),
    defaults = {samples = 10, normalize = "row"}, of_tasks = {edge_split = "time"},
    resolve = resolve_times,
    exact_only = "its inference is exact: it takes all earlier edges, or the most recent ones",
  }, "normalize"),
  mvs = {
    title = "MVS-GNN", own_seeds = true, histories = true, fan_out = true,
    make = seeds_by_gradients,
    settings = taken("mvs", "samples", CVD, "large refresh floor"),
    defaults = {samples = 2}, resolve = resolve_cvd, exact_only = BY_HISTORY,
  },
  none = {
    title = "no graph", settings = {}, no_graph = true, exact_only = "the model reads no graph",
    make = function() return nil end,
  },
  grapes = made_by(by_features(samplers.grapes), {
    title = "GRAPES",
    settings = taken("grapes",
      "samples row_normalize self_nodes objective reward_scale policy"),
    defaults = {samples = 256, self_nodes = "previous"},
    nominal_rows = neighbourhood_rows, exact_only = LEARNT,
  }, "seed"),
  pass = made_by(by_features(samplers.pass), {
    title = "PASS", fan_out = true,
    settings = taken("pass", "samples attention"),
    defaults = {samples = 5, normalize = "row"}, exact_only = LEARNT,
  }, "seed"),
  -- A full batch is an epoch and takes longer than a validation; a patience of 200 batches is
  -- enough.
  full = made_by(samplers.full, {
    title = "full batch", settings = {}, defaults = {patience = 200},
    nominal_rows = all_rows, exact_only = "it does not sample",
    resolve = function(config) config.eval_every = config.eval_every or 10 end,
  }),
}

--- Returns the names of the methods, as a type of ladies.options.
function methods.names()
  return settings.one_of(methods.by_name)
end

--- Parses a text such as "graphsage:5" to {method = "graphsage", samples = 5}, or "full" to {method
-- = "full"}; errors begin with `where`.
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

--- Tells whether the sampler of a method takes a setting.
function methods.takes(name, setting)
  return settings.takes(methods.by_name[name], setting)
end

--- Returns those of the settings `common` that the method of this name has, including those that
-- all methods have.
function methods.pick(name, common)
  local found = {}
  for key, value in pairs(common) do
    local owners = settings.owners(methods.by_name, key)
    if #owners == 0 or methods.takes(name, key) then found[key] = value end
  end
  return found
end

--- Divides the settings `common` among the methods in the array `names`: an array of tables, each
-- with those that its method has. A setting that none of them has is an error, which begins with
-- `where`.
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

--- Returns the title of a configuration's method in tables, as "LADIES (64)".
function methods.title(config)
  local title, samples = methods.by_name[config.method].title, config.samples
  return samples and ("%s (%s)"):format(title, settings.show(samples)) or title
end

return methods
