--- The methods of the paper's Table 2 with its complexities, and the shapes at which their costs
-- are measured. A shape has layers L, width K (of the features and of every layer), batch b,
-- samples s, nodes V and degree D, the entries in a row of P.

local samplers = require "ladies.samplers"

-- The rows that node-wise methods compute for a batch, s^(L - 1) a node, stay below the number of
-- nodes at these shapes. With all nodes reached they would grow no more, and no power would fit.
local NODE_WISE = {
  base = {L = 3, K = 64, b = 64, s = 3, V = 80000},
  sweeps = {L = {2, 3, 4}, K = {32, 64, 128, 256}, b = {32, 64, 128, 256}, s = {2, 3, 4, 5},
    V = {20000, 40000, 80000, 160000}},
}
local LAYER_WISE = {
  base = {L = 3, K = 64, b = 128, s = 128, V = 80000},
  sweeps = {L = {2, 3, 4, 6}, K = {32, 64, 128, 256}, b = {32, 64, 128, 256, 512},
    s = {64, 128, 256, 512}, V = {20000, 40000, 80000, 160000}},
}
local WHOLE = {
  base = {L = 3, K = 64, b = 1, s = 1, V = 10000},
  sweeps = {L = {2, 3, 4, 6}, K = {32, 64, 128, 256}, V = {2500, 5000, 10000, 20000}},
}

local function layer_wise_time(p) return p.L * p.K * p.s ^ 2 + p.L * p.K ^ 2 * p.s end
local function layer_wise_memory(p) return p.L * p.K * p.s + p.L * p.K ^ 2 end
local function whole_memory(p) return p.L * p.V * p.K + p.L * p.K ^ 2 end

--- In the order of the table: {name =, title =, shapes = {base =, sweeps =}, make(P, shape) ->
-- sampler, time(shape), memory(shape)}: the terms of Table 2, all with the constant 1; whole,
-- whether a batch has all nodes; history(shape), floats that are kept between batches.
return {
  {name = "full", title = "full batch", shapes = WHOLE, whole = true,
    make = function(P, p) return samplers.full(P, {layers = p.L}) end,
    time = function(p) return p.L * p.V * p.D * p.K + p.L * p.V * p.K ^ 2 end,
    memory = whole_memory},
  {name = "graphsage", title = "GraphSAGE", shapes = NODE_WISE,
    make = function(P, p) return samplers.graphsage(P, {samples = p.s, layers = p.L}) end,
    time = function(p) return p.b * p.K * p.s ^ p.L + p.b * p.K ^ 2 * p.s ^ (p.L - 1) end,
    memory = function(p) return p.b * p.K * p.s ^ (p.L - 1) + p.L * p.K ^ 2 end},
  {name = "vrgcn", title = "VR-GCN", shapes = NODE_WISE,
    make = function(P, p)
      return samplers.vrgcn(P, {layers = p.L, hidden = p.K, samples = p.s})
    end,
    time = function(p)
      return p.b * p.D * p.K * p.s ^ (p.L - 1) + p.b * p.K ^ 2 * p.s ^ (p.L - 1)
    end,
    memory = whole_memory, history = function(p) return (p.L - 1) * p.V * p.K end},
  {name = "fastgcn", title = "FastGCN", shapes = LAYER_WISE,
    make = function(P, p) return samplers.fastgcn(P, {samples = p.s, layers = p.L}) end,
    time = layer_wise_time, memory = layer_wise_memory},
  {name = "ladies", title = "LADIES", shapes = LAYER_WISE,
    make = function(P, p) return samplers.ladies(P, {samples = p.s, layers = p.L}) end,
    time = layer_wise_time, memory = layer_wise_memory},
}
