--- The methods that `ladies train --method` knows: from settings to a sampler. Experiments know
-- methods only through this table; a sampler of one's own needs none of it. An entry of `by_name`:
--
--   title            how tables call it
--   samples          default of the setting `samples`, the nodes of a layer or the neighbours of a
--                    node; nil where the method draws neither
--   settings         settings in which the method differs from every preset
--   make(data, config, samples)     the sampler
--   nominal_rows     whether every layer has `samples` nodes by definition, so that the paper
--                    counts a batch's memory with them; otherwise rows are counted as they come

local samplers = require "ladies.samplers"

local methods = {}

local function repeated(value, n)
  local list = {}
  for i = 1, n do list[i] = value end
  return list
end

-- Parts of about 250 nodes, at least 50, and a batch for every fiftieth of them, at least 5: some
-- 50 batches an epoch on a large graph. (The paper has 1500 parts, 20 a batch, for Reddit's 232,965
-- nodes.)
local function clusters(n_nodes)
  local parts = math.max(50, n_nodes // 250)
  return parts, math.max(5, parts // 50)
end

--- The methods by name.
methods.by_name = {
  ladies = {
    title = "LADIES", samples = 512, nominal_rows = true,
    make = function(data, config, samples)
      return samplers.ladies(data.graph:normalize(config.normalize), {
        sizes = repeated(samples, config.layers), method = config.draw, debias = config.debias,
        union = config.union, row_normalize = config.row_normalize,
        self_nodes = config.self_nodes, flat = config.flat, probability = config.probability,
      })
    end,
  },
  fastgcn = {
    title = "FastGCN", samples = 512, nominal_rows = true,
    settings = {draw = "wr", self_nodes = "none", row_normalize = false, union = "pre"},
    make = function(data, config, samples)
      return samplers.fastgcn(data.graph:normalize(config.normalize), {
        sizes = repeated(samples, config.layers), method = config.draw, debias = config.debias,
        union = config.union, row_normalize = config.row_normalize,
        self_nodes = config.self_nodes, power = config.probability == "uniform" and 0 or 2,
      })
    end,
  },
  graphsage = {
    title = "GraphSAGE", samples = 5, settings = {normalize = "row"},
    make = function(data, config, samples)
      return samplers.graphsage(data.graph:normalize(config.normalize), {
        fanouts = repeated(samples, config.layers),
        form = config.normalize == "row" and "mean" or "unbiased",
      })
    end,
  },
  clustergcn = {
    title = "Cluster-GCN", settings = {normalize = "row"},
    make = function(data, config)
      local parts, together = clusters(data.graph.n_nodes)
      return samplers.clustergcn(data.graph.adjacency, {
        layers = config.layers, train = data.train, parts = parts, clusters = together,
        normalize = config.normalize, seed = config.seed,
      })
    end,
  },
  vrgcn = {
    title = "VR-GCN", samples = 2, settings = {validation = "exact"},
    make = function(data, config, samples)
      return samplers.vrgcn(data.graph:normalize(config.normalize), {
        layers = config.layers, hidden = config.hidden, neighbours = samples,
        cvd = config.dropout > 0,
      })
    end,
  },
  full = {
    title = "full batch",
    make = function(data, config)
      return samplers.full(data.graph:normalize(config.normalize), {layers = config.layers})
    end,
  },
}

local sorted = {}
for name in pairs(methods.by_name) do sorted[#sorted + 1] = name end
table.sort(sorted)

--- Their names as a type of ladies.options.
methods.names = table.concat(sorted, "|")

--- The method of a configuration and what tables call it: "LADIES (64)".
function methods.of(config)
  local method = methods.by_name[config.method]
  local samples = config.samples
  return method, samples and ("%s (%d)"):format(method.title, samples) or method.title
end

return methods
