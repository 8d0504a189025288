--- A multilayer perceptron: linear layers with norm, activation and dropout between them. It reads
-- no graph, so its score is the baseline for models that do.

local Dropout = require "ladies.nn.dropout"
local finish = require "ladies.nn.finish"
local Linear = require "ladies.nn.linear"
local module = require "ladies.nn.module"
local network = require "ladies.nn.network"
local tables = require "ladies.base.tables"

local free_after = module.free_after

local Mlp = network.class("Mlp", "input_dropout")

local SPEC = tables.merged(network.SPEC, {layers = {"positive integer", 2}})
SPEC.normalize, SPEC.lambda, SPEC.P = nil, nil, nil

-- Adds the linear layers to a model, and norm, activation and dropout after the hidden ones, from
-- the options.
local function add_layers(model, opts, rng)
  for i = 1, opts.layers do
    local last = i == opts.layers
    local width = last and opts.outputs or opts.hidden
    model.layers[i] = finish.layer({linear = Linear.new{
      inputs = i == 1 and opts.inputs or opts.hidden, outputs = width, bias = opts.bias,
      init = opts.init, rng = rng:fork(i),
    }}, opts, width, last)
  end
  model.input_dropout = Dropout.new{p = opts.input_dropout or 0}
  return model
end

--- nn.mlp{inputs =, outputs =, hidden = 256, layers = 2, ...} -> Model: a model of `layers` linear
-- layers. activation, dropout, input_dropout, norm, bias, init and seed are those of nn.gcn.
-- model.n_layers is 0, which says that it reads no graph: it is trained without a sampler.
function Mlp.new(given)
  local model, rng = network.new(Mlp, "ladies.nn.mlp", given, SPEC)
  model.n_layers = 0
  return add_layers(model, model.config, rng)
end

--- Makes an MLP as a part of another model, with weights drawn from `rng`; it is no model of its
-- own, so it has no `config`. opts: the options of nn.mlp.
function Mlp.part(opts, rng)
  return add_layers(setmetatable({layers = {}}, Mlp), opts, rng)
end

--- Computes the outputs for the rows of x, a Tensor or a Matrix. With `rng` elements are dropped.
function Mlp:apply(x, rng)
  local h = self.input_dropout:forward(x, rng)
  for i, layer in ipairs(self.layers) do
    local z = layer.linear:forward(h)
    h = finish.apply(layer, i > 1 and free_after(h, z) or z, rng)
  end
  return h
end

--- Returns the nodes of a mini-batch whose features the model reads.
function Mlp.feature_nodes(_, batch)
  network.check_batch(batch, "output")
  return batch.output
end

--- Computes the logits of a mini-batch, #batch.output x outputs, from the rows batch.output of the
-- features, or of those that the batch brings. Dropout draws from `rng`, by default batch.rng;
-- false switches it off.
function Mlp:forward(features, batch, rng)
  local nodes = self:feature_nodes(batch)
  if rng == nil then rng = batch.rng end
  return self:apply(network.gather(features, batch, nodes), rng)
end

Mlp.__tostring = network.describe

return Mlp
