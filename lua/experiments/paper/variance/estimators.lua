--- Lists the estimators whose variance is measured: how a sampler of `layers` layers with s samples
-- each is made for a network, and which bound of the paper's Table 2 it has. The first four are
-- those of the theory; the others change one thing, or are what the methods are in practice.

local samplers = require "ladies.samplers"
local tables = require "ladies.base.tables"

local function layer_wise(name, own)
  return function(network, s, layers)
    return samplers[name](network.P, tables.merged({samples = s, layers = layers}, own))
  end
end

local function neighbours(own)
  return function(network, s, layers)
    return samplers.graphsage(network.P, tables.merged({samples = s, layers = layers,
      form = "unbiased"}, own))
  end
end

-- Makes VR-GCN, the estimator by control variates. Its first layer is exact by definition, so one
-- layer above an exact H is all there is.
local function control_variates(network, s)
  local sampler = samplers.vrgcn(network.P, {
    layers = 2, hidden = network.hidden.n_cols, samples = s,
  })
  sampler.history[1]:copy_(network.history)
  return sampler
end

--- The estimators in the order of tables: {name =, title =, make(network, s, layers), ...} with
-- bound           the row of Table 2 that is meant for it, if any: the name in measure.bounds
-- unbiased        whether its one-layer estimate has the mean P H W
-- two_layer_only  whether there is no estimate with a single layer sampled
-- least           the least s with which it is measured (1): of few Poisson draws all may fail, and
--                 a layer without nodes is refused
-- tail            "heavy": errors come from a few draws that meet the batch by chance, so that it
--                 takes many of them where s is small to see any; "light": the mean over the
--                 nodes of a batch varies little, and draws with large s take long
return {
  {name = "graphsage", title = "GraphSAGE", bound = "graphsage", unbiased = true, tail = "light",
    make = neighbours{replace = true, self_nodes = "none"}},
  {name = "vrgcn", title = "VR-GCN", bound = "vrgcn", unbiased = true, two_layer_only = true,
    make = control_variates},
  {name = "fastgcn", title = "FastGCN", bound = "fastgcn", unbiased = true, tail = "heavy",
    make = layer_wise("fastgcn", {})},
  {name = "ladies", title = "LADIES", bound = "ladies", unbiased = true, tail = "heavy",
    make = layer_wise("ladies", {draw = "wr", row_normalize = false})},
  {name = "graphsage-wor", title = "GraphSAGE, without replacement, own loop kept",
    unbiased = true, make = neighbours{}},
  {name = "ladies-row", title = "LADIES, rows normalised",
    make = layer_wise("ladies", {draw = "wr"})},
  {name = "ladies-flat", title = "LADIES, flat", unbiased = true,
    make = layer_wise("ladies", {draw = "wr", row_normalize = false, flat = true})},
  {name = "ladies-poisson", title = "LADIES, Poisson", unbiased = true, least = 16,
    make = layer_wise("ladies", {draw = "poisson", row_normalize = false})},
  {name = "ladies-wor", title = "LADIES, without replacement",
    make = layer_wise("ladies", {row_normalize = false})},
  {name = "ladies-debiased", title = "LADIES, without replacement, debiased", unbiased = true,
    make = layer_wise("ladies", {row_normalize = false, debias = true})},
  {name = "ladies-wor-row", title = "LADIES, without replacement, rows normalised",
    make = layer_wise("ladies", {})},
  {name = "ladies-previous", title = "LADIES, without replacement, normalised, own nodes kept",
    make = layer_wise("ladies", {self_nodes = "previous"})},
}
