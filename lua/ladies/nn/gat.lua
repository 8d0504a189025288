--- The graph attention network: layers of nn.gat_conv (Velickovic et al., ICLR 2018).

local GatConv = require "ladies.nn.gat_conv"
local stack = require "ladies.nn.stack"

local Gat = stack.class "Gat"

local function convolution(opts, inputs, outputs, rng, is_last)
  return GatConv.new{
    inputs = inputs, outputs = outputs, heads = is_last and opts.output_heads or opts.heads,
    combine = is_last and "mean" or "concat", dropout = opts.attention_dropout, bias = opts.bias,
    init = opts.init, rng = rng,
  }
end

--- nn.gat{inputs =, outputs =, hidden = 256, layers = 5, heads = 8, ...} -> Model: a model of
-- `layers` layers; all other options are those of nn.gcn, without order. The paper has elu for
-- activation.
-- heads              of the hidden layers, side by side in `hidden` columns (8)
-- output_heads       of the layer that gives the classes, averaged (1)
-- attention_dropout  of the weights of neighbours (0)
-- With normalize = "row" attention is the paper's; see nn.gat_conv. Its layers read the rows of
-- their own nodes: layer-wise samplers need self_nodes = "previous".
function Gat.new(given)
  return stack.new(Gat, "ladies.nn.gat", given, {
    heads = {"positive integer", 8}, output_heads = {"positive integer", 1},
    attention_dropout = {"number in [0, 1)", 0},
  }, convolution)
end

return Gat
