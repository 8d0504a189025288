--- The model SGC: one linear map and many propagations. Wu, Souza, Zhang, Fifty, Yu and Weinberger,
-- "Simplifying Graph Convolutional Networks", ICML 2019, eq. 8.
--
--     Z  =  P ... P X W + b
--
-- A GCN without activations, so that all its weights are one matrix: logistic regression on
-- features that are averaged over the neighbourhood. The authors propagate X once, before training;
-- here X W is propagated, which has a column a class, so that sampled mini-batches and sparse
-- features cost no more than for other models.

local core = require "ladies_core"
local Dropout = require "ladies.nn.dropout"
local Linear = require "ladies.nn.linear"
local module = require "ladies.nn.module"
local network = require "ladies.nn.network"
local tables = require "ladies.base.tables"

local free_after = module.free_after

local Sgc = network.class("Sgc", "linear bias input_dropout")

local SPEC = tables.merged(network.SPEC)
SPEC.hidden, SPEC.activation, SPEC.dropout, SPEC.norm = nil, nil, nil, nil

--- nn.sgc{inputs =, outputs =, layers = 5, ...} -> Model: a linear map with `layers` propagations.
-- input_dropout, bias, init, seed, normalize, lambda and P are those of nn.gcn.
function Sgc.new(given)
  local model, rng = network.new(Sgc, "ladies.nn.sgc", given, SPEC)
  local opts = model.config
  for i = 1, model.n_layers do model.layers[i] = {} end                    -- without weights
  model.linear = Linear.new{inputs = opts.inputs, outputs = opts.outputs, bias = false,
    init = opts.init, rng = rng}
  model.bias = opts.bias and core.zeros(opts.outputs):requires_grad_() or nil
  model.input_dropout = Dropout.new{p = opts.input_dropout or 0}
  return model
end

--- Computes layer i alone, as model:layer of nn.gcn does: one propagation. The first layer maps the
-- features before it, and the last one adds the bias.
function Sgc:layer(i, h, block, rng)
  network.layer_of(self, i, block)
  local mapped = i == 1 and self.linear:forward(self.input_dropout:forward(h, rng))
  local bias = i == self.n_layers and self.bias or nil
  return mapped and free_after(mapped, block.adj:matmul(mapped, bias)) or block.adj:matmul(h, bias)
end

Sgc.__tostring = network.describe

return Sgc
