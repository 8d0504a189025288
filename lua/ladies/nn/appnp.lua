--- The model APPNP: an MLP predicts, and personalised PageRank propagates the predictions.
-- Klicpera, Bojchevski and Guennemann, ICLR 2019, eq. 4.
--
--     Z0  =  MLP(X)
--     Z  <-  (1 - alpha) P Z + alpha Z0          in each of the `layers` propagations
--
-- The propagations have no weights, so there may be many, with no more parameters than the MLP and
-- without over-smoothing: the share alpha of a node's own prediction stays. The authors drop
-- entries of P too, in every propagation; here sampled mini-batches do.

local Mlp = require "ladies.nn.mlp"
local network = require "ladies.nn.network"
local residual = require("ladies.nn.own_nodes").residual
local tables = require "ladies.base.tables"

local Appnp = network.class("Appnp", "mlp")

local SPEC = tables.merged(network.SPEC, {
  layers = {"positive integer", 10},
  mlp_layers = {"positive integer", 2},
  alpha = {"number in [0, 1)", 0.1},
})

--- nn.appnp{inputs =, outputs =, hidden = 256, layers = 10, ...} -> Model: `layers` propagations
-- after an MLP. activation, dropout, input_dropout, norm, bias, init, seed, normalize, lambda and P
-- are those of nn.gcn.
-- mlp_layers   linear layers of the MLP (2), whose hidden ones have `hidden` columns
-- alpha        the share of a node's own prediction in every propagation (0.1)
-- Its layers read the rows of their own nodes: layer-wise samplers need self_nodes = "previous".
function Appnp.new(given)
  local model, rng = network.new(Appnp, "ladies.nn.appnp", given, SPEC)
  for i = 1, model.n_layers do model.layers[i] = {} end                    -- without weights
  model.mlp = Mlp.part(tables.merged(model.config, {layers = model.config.mlp_layers}), rng)
  return model
end

--- Computes layer i alone, as model:layer of nn.gcn does. What goes from layer to layer is {last =
-- Z, first = alpha Z0, nodes = the nodes that have rows in Z0}.
function Appnp:layer(i, h, block, rng)
  network.layer_of(self, i, block)
  local alpha = self.config.alpha
  if i == 1 then
    local first = self.mlp:apply(h, rng)
    h = {last = first, first = first * alpha, nodes = block.src}
  end
  local places = {src = block.src and h.nodes, dst = block.dst}
  local last = residual(block.adj:matmul(h.last), 1 - alpha, h.first, places)
  return i == self.n_layers and last or {last = last, first = h.first, nodes = h.nodes}
end

Appnp.__tostring = network.describe

return Appnp
