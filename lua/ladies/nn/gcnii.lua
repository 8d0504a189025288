--- The model GCNII: a GCN that can have tens of layers, by initial residuals and identity mappings.
-- Chen, Wei, Huang, Ding and Li, "Simple and Deep Graph Convolutional Networks", ICML 2020, eq. 5.
--
--     H0  =  act(X W0 + b0)
--     S   =  (1 - alpha) P H + alpha H0                   the first representation in every layer
--     H  <-  act((1 - beta_l) S + beta_l S W_l)           beta_l = log(theta / l + 1)
-- and a linear layer gives the classes. However deep, a node keeps a share of what it began with,
-- and the maps come ever nearer to the identity: where GCNs of many layers make all nodes alike
-- (over-smoothing), this one does not lose.
--
-- With maps and activations left out the output is a weighted sum of the hops P^k H0, k = 0 to L. A
-- share alpha that is the same in all layers gives the last hop (1 - alpha)^L, and the others alpha
-- (1 - alpha)^k: what a far hop is worth changes with L. Without an alpha each layer learns one,
--     (1 - alpha_l) / alpha_l  =  exp(20 t_l)                at first l, in the last layer 10 L
-- with which H_L begins as (H0 + 10 P H0 + ... + 10 P^L H0) / (10 L + 1): hops count alike, the
-- node itself a tenth, which grows where it is worth more. (Zhu and Koniusz, "Simple Spectral Graph
-- Convolution", ICLR 2021, have a network without maps whose hops count alike; Chien, Peng, Li and
-- Milenkovic, "Adaptive Universal Generalized PageRank Graph Neural Network", ICLR 2021, learn the
-- weights of hops.)
--
-- The authors' program (chennnM/GCNII) drops elements of the features and before every layer; here
-- input_dropout and dropout, after each layer, are two settings. The norm, before the activation of
-- each layer, is an addition.

local core = require "ladies_core"
local activation = require "ladies.nn.activation"
local Dropout = require "ladies.nn.dropout"
local finish = require "ladies.nn.finish"
local Linear = require "ladies.nn.linear"
local module = require "ladies.nn.module"
local network = require "ladies.nn.network"
local residual = require("ladies.nn.own_nodes").residual
local tables = require "ladies.base.tables"

local find, union, free_after = core.sampling.find, core.sampling.union, module.free_after

local Gcnii = network.class("Gcnii", "first head")

local SPEC = tables.merged(network.SPEC,
  {alpha = "number in [0, 1) or nil", theta = {"positive number", 0.5}})

-- The factor of t_l in the exponent, by which log((1 - alpha_l) / alpha_l) is learned this many
-- times faster than t_l: it has further to go than the weights of a map.
local RATE = 20

--- nn.gcnii{inputs =, outputs =, hidden = 256, layers = 5, ...} -> Model: a model of `layers`
-- propagations between two linear layers. activation, dropout, input_dropout, norm, bias, init,
-- seed, normalize, lambda and P are those of nn.gcn.
-- alpha   the share of the first representation in every layer; the paper has 0.1. By default each
--         layer learns its own, at first one with which all hops count alike
-- theta   how far the layers' maps are from the identity: layer l's share is log(theta / l + 1);
--         the paper has 0.5, or 1 to 1.5 on larger graphs
-- Its layers read H0 of their own nodes, which its forward computes for all nodes of a mini-batch.
function Gcnii.new(given)
  local model, rng = network.new(Gcnii, "ladies.nn.gcnii", given, SPEC)
  local opts = model.config
  local function linear(from, to, i, bias)
    return Linear.new{inputs = from, outputs = to, bias = bias, init = opts.init, rng = rng:fork(i)}
  end
  model.first = {
    dropout = Dropout.new{p = opts.input_dropout or 0},
    linear = linear(opts.inputs, opts.hidden, opts.layers + 1, opts.bias),
    activation = activation.by_name(opts.activation), after = Dropout.new{p = opts.dropout},
  }
  for i = 1, opts.layers do
    local hops = i < opts.layers and i or 10 * i                           -- (1 - alpha) / alpha
    model.layers[i] = finish.layer({
      weight = linear(opts.hidden, opts.hidden, i, false).weight,
      hops = not opts.alpha and core.full(1, math.log(hops) / RATE):requires_grad_() or nil,
      beta = math.log(opts.theta / i + 1),
    }, opts, opts.hidden)
  end
  model.head = linear(opts.hidden, opts.outputs, opts.layers + 2, opts.bias)
  return model
end

-- Maps a model to the identity matrix that its layers use, which is a constant and so not saved
-- with the model.
local identities = setmetatable({}, {__mode = "k"})

local function identity_of(model)
  if not identities[model] then
    local places = core.range(1, model.config.hidden)
    identities[model] = core.matrix{n_rows = #places, n_cols = #places, rows = places,
      cols = places}:to_dense()
  end
  return identities[model]
end

-- Returns the map of a layer, (1 - beta) I + beta W, times `scale`.
local function layer_map(layer, identity, scale)
  local stay = identity * (scale * (1 - layer.beta))
  return free_after(stay, layer.weight:mul_add(scale * layer.beta, stay))
end

-- Computes what layer 1 reads, from the features h.all of the nodes h.nodes: H for the nodes `src`,
-- and H0 for all of h.nodes, times alpha / (1 - alpha) where there is one alpha.
local function begin(model, h, src, rng)
  local part, alpha, nodes = model.first, model.config.alpha, h.nodes
  local mapped = part.linear:forward(part.dropout:forward(h.all, rng))
  local first = free_after(mapped, part.activation(mapped))
  local below = nodes == src and first or first:rows(find(nodes, src))
  return {last = part.after:forward(below, rng), nodes = nodes,
    first = alpha and first * (alpha / (1 - alpha)) or first}
end

--- Returns the nodes of a mini-batch whose features the model reads: its input, and all other nodes
-- for which its layers need H0.
function Gcnii.feature_nodes(_, batch)
  network.check_batch(batch, "blocks")
  local nodes = batch.input
  for _, block in ipairs(batch.blocks) do
    if #find(nodes, block.dst) < #block.dst then nodes = union(nodes, block.dst) end
  end
  return nodes
end

--- Computes the logits of a mini-batch, as nn.gcn's forward does. H0 is computed from the features
-- for every node of the mini-batch, so a sampler need not keep a layer's nodes in the layer below.
function Gcnii:forward(features, batch, rng)
  rng = network.begin(self, batch, rng)
  local nodes = self:feature_nodes(batch)
  local all = network.gather(features, batch, nodes)
  local last = nodes == batch.input and all or all:rows(find(nodes, batch.input))
  return network.through(self, {last = last, all = all, nodes = nodes}, batch, rng)
end

--- Computes layer i alone, as model:layer of nn.gcn does. What goes from layer to layer is {last =
-- H, first = H0 or a multiple of it, nodes = the nodes that have rows in H0}. The first layer is
-- given the features of its block.src, or {last = these, all = features of more nodes, nodes =
-- these nodes}. A factor of the whole S is multiplied into the small matrix of the map.
function Gcnii:layer(i, h, block, rng)
  local layer, scale = network.layer_of(self, i, block), 1 - (self.config.alpha or 0)
  if i == 1 then
    h = begin(self, type(h) == "table" and h or {all = h, nodes = block.src}, block.src, rng)
  end
  local places = {src = block.src and h.nodes, dst = block.dst}
  local near = block.adj:matmul(h.last)
  if i == 1 and not rawequal(h.last, h.first) then free_after(h.last, near) end
  local hops = layer.hops and (layer.hops * RATE):exp()
  if hops then scale = 1 / (hops + 1) end
  local s = residual(near, hops or 1, h.first, places)                     -- S / scale
  local map = layer_map(layer, identity_of(self), scale)
  local z = finish.apply(layer, free_after(map, free_after(s, s:matmul(map))), rng)
  if i < self.n_layers then return {last = z, first = h.first, nodes = h.nodes} end
  return free_after(z, self.head:forward(z))
end

Gcnii.__tostring = network.describe

return Gcnii
