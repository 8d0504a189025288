--- The graph isomorphism network with features of edges. Hu, Liu, Gomes, Zitnik, Liang, Pande and
-- Leskovec, "Strategies for Pre-training Graph Neural Networks", ICLR 2020, section 5.1 (GIN with
-- edges).
--
--     h_v  <-  MLP((1 + eps) h_v + sum over neighbours u of P_vu relu(h_u + W_edge x_vu))
--
-- with P_vu = 1 where P = A + I; the entry of the loop is left out, since h_v has its own term. The
-- MLP is that of nn.gin_conv: two layers, with layer normalisation and an activation between them.

local core = require "ladies_core"
local activation = require "ladies.nn.activation"
local edges = require "ladies.nn.edges"
local GinConv = require "ladies.nn.gin_conv"
local LayerNorm = require "ladies.nn.layer_norm"
local Linear = require "ladies.nn.linear"
local module = require "ladies.nn.module"
local options = require "ladies.base.options"
local own_rows = require("ladies.nn.own_nodes").rows
local residual = require("ladies.nn.own_nodes").residual
local stack = require "ladies.nn.stack"
local tables = require "ladies.base.tables"

local free_after = module.free_after

local Conv = module.class("GineConv", "inputs outputs eps edge first norm activation second")

--- nn.gine_conv{inputs =, outputs =, edge_inputs =, eps = 0, learn_eps = false,
-- activation = "relu", norm = true, bias = true, init = "glorot_uniform", hidden = outputs,
-- rng = Rng} -> Module: the options are those of nn.gin_conv; edge_inputs is the number of
-- features of edges, which it reads from block.edge_features, a row for each entry of block.adj.
function Conv.new(given)
  local opts = options.check("ladies.nn.gine_conv", given,
    tables.merged(GinConv.OPTIONS, {edge_inputs = "positive integer"}))
  local hidden = opts.hidden or opts.outputs
  local function map(inputs, outputs, key)
    return Linear.new{inputs = inputs, outputs = outputs, bias = opts.bias, init = opts.init,
      rng = opts.rng:fork(key)}
  end
  return setmetatable({
    inputs = opts.inputs, outputs = opts.outputs,
    eps = opts.learn_eps and core.full(1, opts.eps):requires_grad_() or opts.eps,
    edge = map(opts.edge_inputs, opts.inputs, 1), first = map(opts.inputs, hidden, 2),
    norm = opts.norm and LayerNorm.new{width = hidden} or nil,
    activation = activation.by_name(opts.activation), second = map(hidden, opts.outputs, 3),
  }, Conv)
end

-- Applies the first linear map of the MLP to (1 + eps) times the nodes' own rows plus the sums over
-- neighbours, `near`. Own rows that are a sparse Matrix are multiplied on their own, and so stay
-- sparse.
function Conv:mapped(near, h, block)
  if options.class_of(h) == "Tensor" then
    local z
    if self.eps == 0 then z = residual(near, 1, h, block)
    else z = free_after(near, own_rows(h, block):mul_add(self.eps + 1, near)) end
    return free_after(z, self.first:forward(z))
  end
  local own = own_rows(h, block)
  local z = free_after(near, self.first:forward(near))
  return free_after(z, z + own:matmul(self.first.weight) * (self.eps + 1))
end

--- #block.dst x outputs, of h, #block.src x inputs (Tensor or sparse Matrix).
function Conv:forward(h, block)
  local adj, edge = block.adj, self.edge
  if h.requires_grad and options.class_of(h) == "Matrix" then h = h:to_dense() end
  local features = edges.features("nn.gine_conv", block, edge.inputs)
  local weights = adj:entry_values() * (1 - edges.are_loops(block))
  local near = adj:relu_sums(weights, h, features, edge.weight, edge.bias)
  return GinConv.rest(self, self:mapped(near, h, block))
end

function Conv:__tostring()
  return ("GineConv %d -> %d, %d features of edges"):format(self.inputs, self.outputs,
    self.edge.inputs)
end

local Gine = stack.class "Gine"

--- nn.gine{inputs =, outputs =, edge_inputs =, hidden = 256, layers = 5, eps = 0,
-- learn_eps = false, ...} -> Model: a model of `layers` layers of nn.gine_conv; all other options
-- are those of nn.gin.
-- edge_inputs   the number of features of edges, which its layers read from block.edge_features
-- Its layers read the rows of their own nodes: layer-wise samplers need self_nodes = "previous".
function Gine.new(given)
  return stack.new(Gine, "ladies.nn.gine", given,
    tables.merged(GinConv.OF_SUMS, {edge_inputs = "positive integer"}), Conv.new, GinConv.of_model)
end

return {new = Gine.new, conv = Conv.new}
