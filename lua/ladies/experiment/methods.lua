--- The methods that `ladies train --method` knows: from settings to a sampler. Experiments know
-- methods only through this table; a sampler of one's own needs none of it. An entry of `by_name`:
--
--   title            how tables call it
--   takes            the settings of methods.settings that it has; the others are refused
--   settings         settings in which the method differs from every preset
--   settle(config, data)   fills in those that follow from others or from the data set
--   make(data, config, samples)     the sampler
--   nominal_rows(data, config) -> input, hidden     of methods whose layers have a number of nodes
--                    by definition: the rows of a batch with which the paper counts its memory;
--                    otherwise they are counted as they come
--   exact_only       why there is no sampled inference, where there is none

local batches = require "ladies.training.batches"
local options = require "ladies.base.options"
local samplers = require "ladies.samplers"
local tables = require "ladies.base.tables"

local repeated = tables.repeated

local methods = {}

--- The settings of samplers, with their types; a method takes some of them.
--
--   samples                            nodes drawn for a layer, or neighbours for a node
--   draw, debias, union, row_normalize, self_nodes, flat, probability
--                                      as samplers.ladies has them; self_nodes may be "auto" too
--   form                               samplers.graphsage
--   cvd                                samplers.vrgcn
--   parts, clusters, partition, lambda samplers.clustergcn (partition is its `method`)
methods.settings = {
  samples = "positive integer", draw = "wor|wr|poisson", debias = "boolean", union = "pre|post",
  row_normalize = "boolean", self_nodes = "none|previous|batch|auto", flat = "boolean",
  probability = "norms|uniform",
  form = "mean|unbiased or nil", cvd = "boolean or nil",
  parts = "positive integer or nil", clusters = "positive integer or nil",
  partition = "metis|random", lambda = "number",
}

-- Parts of about 250 nodes, at least 50, and a batch for every fiftieth of them, at least 5: some
-- 50 batches an epoch on a large graph. (The paper has 1500 parts, 20 a batch, for Reddit's 232,965
-- nodes.)
local function settle_clusters(config, data)
  config.parts = config.parts or math.max(50, data.graph.n_nodes // 250)
  config.clusters = config.clusters or math.max(5, config.parts // 50)
end

-- What the methods that draw a layer's nodes together take.
local LAYER_WISE = {"samples", "draw", "debias", "union", "row_normalize", "self_nodes", "flat",
  "probability"}

-- Where one batch holds all training nodes, the noise of layers without united nodes keeps a model
-- from learning them by heart. Where there are many, a layer should not lose those above it.
local function settle_self_nodes(config, data)
  if config.self_nodes == "auto" then
    local one = batches.per_epoch(#data.train, {size = config.batch_size}) == 1
    config.self_nodes = one and "none" or "previous"
  end
end

-- A batch's rows in the paper's count when LADIES draws: `samples` nodes in every layer, without
-- united ones; or all of the neighbourhood while it has fewer. A node is its own neighbour, so a
-- layer below one with `samples` nodes has as many.
local function neighbourhood_rows(data, config)
  local P, rows = data.graph:normalize(config.normalize), {}
  local whole = data.train:slice(1, math.min(config.batch_size, #data.train))
  local hidden = #whole
  for layer = 1, config.layers do
    if whole then
      local _, neighbourhood = P:slice(whole)
      whole = #neighbourhood < config.samples and neighbourhood or nil
    end
    rows[layer] = whole and #whole or config.samples
    if layer < config.layers then hidden = hidden + rows[layer] end
  end
  return rows[config.layers], hidden
end

-- The same when FastGCN does: it draws from all nodes.
local function graph_rows(data, config)
  local s = math.min(config.samples, data.graph.n_nodes)
  return s, (config.layers - 1) * s + math.min(config.batch_size, #data.train)
end

-- The same of full batches: all nodes in every layer.
local function all_rows(data, config)
  local n = data.graph.n_nodes
  return n, config.layers * n
end

--- The methods by name.
methods.by_name = {
  ladies = {
    title = "LADIES", nominal_rows = neighbourhood_rows, settings = {samples = 512},
    takes = LAYER_WISE, settle = settle_self_nodes,
    make = function(data, config, samples)
      return samplers.ladies(data.graph:normalize(config.normalize), {
        sizes = repeated(samples, config.layers), method = config.draw, debias = config.debias,
        union = config.union, row_normalize = config.row_normalize,
        self_nodes = config.self_nodes, flat = config.flat, probability = config.probability,
      })
    end,
  },
  fastgcn = {
    title = "FastGCN", nominal_rows = graph_rows, takes = LAYER_WISE,
    settings = {samples = 512, draw = "wr", self_nodes = "none", row_normalize = false,
      union = "pre"},
    settle = settle_self_nodes,
    make = function(data, config, samples)
      return samplers.fastgcn(data.graph:normalize(config.normalize), {
        sizes = repeated(samples, config.layers), method = config.draw, debias = config.debias,
        union = config.union, row_normalize = config.row_normalize,
        self_nodes = config.self_nodes,
        power = config.probability == "uniform" and 0 or config.flat and 1 or 2,
      })
    end,
  },
  graphsage = {
    title = "GraphSAGE", takes = {"samples", "form"}, settings = {samples = 5, normalize = "row"},
    settle = function(config)
      config.form = config.form or (config.normalize == "row" and "mean" or "unbiased")
    end,
    make = function(data, config, samples)
      return samplers.graphsage(data.graph:normalize(config.normalize), {
        fanouts = repeated(samples, config.layers), form = config.form,
      })
    end,
  },
  clustergcn = {
    title = "Cluster-GCN", takes = {"parts", "clusters", "partition", "lambda"},
    settings = {normalize = "row", partition = "metis", lambda = 0, validation = "exact"},
    settle = settle_clusters,
    make = function(data, config)
      return samplers.clustergcn(data.graph.adjacency, {
        layers = config.layers, train = data.train, parts = config.parts,
        clusters = config.clusters, method = config.partition, lambda = config.lambda,
        normalize = config.normalize, seed = config.seed,
      })
    end,
  },
  vrgcn = {
    title = "VR-GCN", takes = {"samples", "cvd"}, settings = {samples = 2, validation = "exact"},
    exact_only = "with the histories of the finished model its estimate is the exact one",
    settle = function(config)
      if config.cvd == nil then config.cvd = config.dropout > 0 end
    end,
    make = function(data, config, samples)
      return samplers.vrgcn(data.graph:normalize(config.normalize), {
        layers = config.layers, hidden = config.hidden, neighbours = samples, cvd = config.cvd,
      })
    end,
  },
  full = {
    -- A batch is an epoch: it costs more than a validation, and 200 of them are patience enough.
    title = "full batch", nominal_rows = all_rows, takes = {},
    settings = {validation = "exact", patience = 200},
    exact_only = "it does not sample",
    settle = function(config) config.eval_every = config.eval_every or 10 end,
    make = function(data, config)
      return samplers.full(data.graph:normalize(config.normalize), {layers = config.layers})
    end,
  },
}

--- Their names as a type of ladies.options.
methods.names = table.concat(tables.sorted_keys(methods.by_name), "|")

--- "graphsage:5" as {method = "graphsage", samples = 5}, "full" as {method = "full"}; errors begin
-- with `where`.
function methods.parse(where, text)
  local name, samples = text:match "^([%w_]+):(%w+)$"
  name = options.value(where, "a method", name or text, methods.names)
  if samples then
    samples = options.value(where, "the samples of " .. name, tonumber(samples) or samples,
      "positive integer")
    if not methods.takes(name, "samples") then
      options.fail(("%s: %s takes no number of samples"):format(where, name))
    end
  end
  return {method = name, samples = samples}
end

--- Whether a method has the setting: all have those that are not of methods.settings.
function methods.takes(name, setting)
  if not methods.settings[setting] then return true end
  for _, taken in ipairs(methods.by_name[name].takes) do
    if taken == setting then return true end
  end
  return false
end

--- Of the settings `common` those that each of the methods in the array `names` has, as an array of
-- tables; an error, which begins with `where`, when none has one of them.
function methods.share(where, names, common)
  local list, unused = {}, {}
  for key in pairs(common) do unused[key] = true end
  for i, name in ipairs(names) do
    list[i] = {}
    for key, value in pairs(common) do
      if methods.takes(name, key) then list[i][key], unused[key] = value, nil end
    end
  end
  local key = next(unused)
  if key then options.fail(("%s: no method has %s"):format(where, key)) end
  return list
end

--- The types of the sampler's settings of a method, by name; an error, which begins with `where`,
-- when `given` has one that it does not take.
function methods.types(where, name, given)
  local takes, types = methods.by_name[name].takes, {}
  for setting in pairs(given) do
    if not methods.takes(name, setting) then
      options.fail(("%s: the method %s has no %s; its sampler's settings are: %s"):format(where,
        name, setting, #takes > 0 and table.concat(takes, ", ") or "none"))
    end
  end
  for _, setting in ipairs(takes) do types[setting] = methods.settings[setting] end
  return types
end

--- The method of a configuration and what tables call it: "LADIES (64)".
function methods.of(config)
  local method = methods.by_name[config.method]
  local samples = config.samples
  return method, samples and ("%s (%d)"):format(method.title, samples) or method.title
end

return methods
