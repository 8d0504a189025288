--- A convolution of the graph isomorphism network. Xu, Hu, Leskovec and Jegelka, "How Powerful are
-- Graph Neural Networks?", ICLR 2019, eq. 4.1.
--
--     MLP((1 + eps) h_v + sum over neighbours of h_u)  =  MLP(P h + eps h_v)    P = A + I
--
-- A sum tells neighbourhoods apart that a mean or a maximum does not. The MLP has two layers, with
-- an activation between them, after layer normalisation; the paper has batch normalisation.

local core = require "ladies_core"
local activation = require "ladies.nn.activation"
local GcnConv = require "ladies.nn.gcn_conv"
local InputRows = require "ladies.nn.input_rows"
local LayerNorm = require "ladies.nn.layer_norm"
local Linear = require "ladies.nn.linear"
local module = require "ladies.nn.module"
local options = require "ladies.base.options"
local own_rows = require("ladies.nn.own_nodes").rows
local tables = require "ladies.base.tables"

local free_after = module.free_after

local GinConv = module.class("GinConv", "inputs outputs eps near norm activation second")

--- The options of a model about the sums of its layers, for stack.new.
GinConv.OF_SUMS = {eps = {"number", 0}, learn_eps = {"boolean", false}}

--- The options of the layer.
GinConv.OPTIONS = tables.merged(Linear.OPTIONS, GinConv.OF_SUMS, {
  activation = {activation.names, "relu"}, norm = {"boolean", true},
  hidden = "positive integer or nil",
})

--- nn.gin_conv{inputs =, outputs =, eps = 0, learn_eps = false, activation = "relu", norm = true,
-- bias = true, init = "glorot_uniform", hidden = outputs, rng = Rng} -> Module: makes the
-- convolution. eps stays a number, or with learn_eps is the first value of a parameter; the other
-- options are for the MLP, whose hidden layer has `hidden` columns.
function GinConv.new(given)
  local opts = options.check("ladies.nn.gin_conv", given, GinConv.OPTIONS)
  local hidden = opts.hidden or opts.outputs
  local function map(make, inputs, outputs, key)
    return make{inputs = inputs, outputs = outputs, bias = opts.bias, init = opts.init,
      rng = opts.rng:fork(key)}
  end
  return setmetatable({
    inputs = opts.inputs, outputs = opts.outputs,
    eps = opts.learn_eps and core.full(1, opts.eps):requires_grad_() or opts.eps,
    near = map(GcnConv.new, opts.inputs, hidden, 1),
    second = map(Linear.new, hidden, opts.outputs, 2),
    activation = activation.by_name(opts.activation),
    norm = opts.norm and LayerNorm.new{width = hidden} or nil,
  }, GinConv)
end

--- Returns the options by which stack.new makes the convolutions of a model. The hidden layer of
-- one has as many columns as outputs, unless these are one or two: layer normalisation leaves
-- nothing of one column, and of two only which is larger.
function GinConv.of_model(opts, outputs)
  return {
    eps = opts.eps, learn_eps = opts.learn_eps, edge_inputs = opts.edge_inputs,
    activation = opts.activation, hidden = outputs < 3 and math.max(outputs, opts.hidden) or nil,
  }
end

--- Applies the layers of the MLP that follow its first linear map.
function GinConv:rest(z)
  if self.norm then z = free_after(z, self.norm:forward(z)) end
  z = free_after(z, self.activation(z))
  return free_after(z, self.second:forward(z))
end

--- Computes the output of the layer, #block.dst x outputs, from its input h, #block.src x inputs (a
-- Tensor or a sparse Matrix). With eps = 0 it reads no rows of the nodes dst themselves, so h may
-- be propagated already.
function GinConv:forward(h, block)
  local z = self.near:forward(h, block)
  if self.eps ~= 0 then
    local own = own_rows(h, block):matmul(self.near.weight)
    z = free_after(z, free_after(own, own:mul_add(self.eps, z)))
  end
  return self:rest(z)
end

InputRows.taken_by[GinConv.forward] = true

function GinConv:__tostring()
  return ("GinConv %d -> %d"):format(self.inputs, self.outputs)
end

return GinConv
