--- The model PNA, principal neighbourhood aggregation: several aggregates of the neighbours, each
-- scaled by the number of neighbours. Corso, Cavalleri, Beaini, Lio and Velickovic, NeurIPS 2020,
-- eqs. 5 to 8.
--
--     m_vu  =  W_to h_v + W_from h_u + W_edge x_vu + b                 for the entries (v, u) of P
--     a_v   =  [mean, least, greatest, deviation] of m_vu over u
--     s_v   =  log(d_v + 1) / delta                                    delta: its mean in training
--     h_v  <-  W [h_v, a_v, s_v a_v, a_v / s_v] + b                    and a linear map
--
-- d_v is the sum of row v of P, with P = A + I the number of neighbours and of v; the mean is
-- weighted by P, so that both are estimates where a sampler weights what it draws. The least, the
-- greatest and the deviation are those of the entries that are there, whatever their weights.

local core = require "ladies_core"
local edges = require "ladies.nn.edges"
local Linear = require "ladies.nn.linear"
local module = require "ladies.nn.module"
local options = require "ladies.base.options"
local own_rows = require("ladies.nn.own_nodes").rows
local stack = require "ladies.nn.stack"
local tables = require "ladies.base.tables"

local free_after = module.free_after

-- The options that a model and its layers have besides those of all.
local OWN = {delta = "positive number", edge_inputs = {"non-negative integer", 0}}

local Conv = module.class("PnaConv", "inputs outputs messages delta to from edge own near last")

--- nn.pna_conv{inputs =, outputs =, delta =, messages =, edge_inputs = 0, bias = true,
-- init = "glorot_uniform", rng = Rng} -> Module: delta is the mean of log(d + 1), messages the
-- number of columns of a message (outputs); edge_inputs is that of nn.gatv2_conv.
function Conv.new(given)
  local opts = options.check("ladies.nn.pna_conv", given,
    tables.merged(Linear.OPTIONS, OWN, {messages = "positive integer or nil"}))
  local messages = opts.messages or opts.outputs
  local function map(inputs, outputs, bias, key)
    return Linear.new{inputs = inputs, outputs = outputs, bias = bias and opts.bias,
      init = opts.init, rng = opts.rng:fork(key)}
  end
  return setmetatable({
    inputs = opts.inputs, outputs = opts.outputs, messages = messages, delta = opts.delta,
    to = map(opts.inputs, messages, true, 1), from = map(opts.inputs, messages, false, 2),
    edge = opts.edge_inputs > 0 and map(opts.edge_inputs, messages, false, 3) or nil,
    own = map(opts.inputs, opts.outputs, true, 4),
    near = map(12 * messages, opts.outputs, false, 5),
    last = map(opts.outputs, opts.outputs, true, 6),
  }, Conv)
end

-- Returns the aggregates of messages, side by side, and the numbers of neighbours, a column.
local function aggregates(adj, messages)
  local segments = core.segments(adj:row_of(), adj.n_rows)
  local weights = adj:entry_values()
  local count = segments:matmul(weights:reshape(#weights, 1))
  local least = -segments:neighbour_max(-messages)
  local mean = edges.sum(adj, messages, weights) / (count + count:equals(0))
  return mean:concat(least):concat(segments:neighbour_max(messages))
    :concat(segments:neighbour_std(messages)), count
end

--- #block.dst x outputs, of h, #block.src x inputs (Tensor or sparse Matrix).
function Conv:forward(h, block)
  local adj, own = block.adj, own_rows(h, block)
  local messages = adj:add_edges(self.to:forward(own), self.from:forward(h))
  if self.edge then
    local x = edges.features("nn.pna_conv", block, self.edge.inputs)
    messages = free_after(messages, messages + self.edge:forward(x))
  end
  local all, count = aggregates(adj, messages)
  free_after(messages, all)
  local scale = (count + 1):log() / self.delta
  local near = self.near:forward(all:concat(all * scale)
    :concat(all / scale:clamp(math.log(2) / self.delta, math.huge)))
  local z = free_after(all, free_after(near, near + self.own:forward(own)))
  return free_after(z, self.last:forward(z))
end

function Conv:__tostring()
  return ("PnaConv %d -> %d%s"):format(self.inputs, self.outputs,
    self.edge and (", %d features of edges"):format(self.edge.inputs) or "")
end

local Pna = stack.class "Pna"

--- nn.pna{inputs =, outputs =, delta =, hidden = 256, layers = 5, edge_inputs = 0, ...} -> Model: a
-- model of `layers` layers of nn.pna_conv; all other options are those of nn.gcn, without order.
-- delta   the mean of log(d + 1) over the nodes, d the sum of a node's row of P
-- edge_inputs   that of nn.gatv2
-- Made for normalize = "none" and samplers that estimate sums (row_normalize = false), as nn.gin.
-- Its layers read the rows of their own nodes: layer-wise samplers need self_nodes = "previous".
function Pna.new(given)
  return stack.new(Pna, "ladies.nn.pna", given, OWN, Conv.new)
end

return {new = Pna.new, conv = Conv.new}
