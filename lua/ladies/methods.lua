--- The methods that `ladies train --method` knows: from settings to a sampler. Experiments know
-- methods only through this table; a sampler of one's own needs none of it. An entry of `by_name`:
--
--   title            how tables call it
--   samples          default of the setting `samples`, the nodes of a layer or the neighbours of a
--                    node; nil where the method draws neither
--   settings         settings in which the method differs from every preset
--   make(graph, config, samples)     the sampler
--   nominal_rows     whether every layer has `samples` nodes by definition, so that the paper
--                    counts a batch's memory with them; otherwise rows are counted as they come

local samplers = require "ladies.samplers"

local methods = {}

local function repeated(value, n)
  local list = {}
  for i = 1, n do list[i] = value end
  return list
end

--- The methods by name.
methods.by_name = {
  ladies = {
    title = "LADIES", samples = 512, nominal_rows = true,
    make = function(graph, config, samples)
      return samplers.ladies(graph:normalize(config.normalize), {
        sizes = repeated(samples, config.layers), method = config.draw, debias = config.debias,
        union = config.union, row_normalize = config.row_normalize,
        self_nodes = config.self_nodes, flat = config.flat,
      })
    end,
  },
  full = {
    title = "full batch",
    make = function(graph, config)
      return samplers.full(graph:normalize(config.normalize), {layers = config.layers})
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
