--- The graph attention network: layers of nn.gat_conv (Velickovic et al., ICLR 2018).

local GatConv = require "ladies.nn.gat_conv"
local heads = require "ladies.nn.heads"
local stack = require "ladies.nn.stack"

local Gat = stack.class "Gat"

--- nn.gat{inputs =, outputs =, hidden = 256, layers = 5, heads = 8, ...} -> Model: a model of
-- `layers` layers; all other options are those of nn.gcn, without order. The paper has elu for
-- activation.
-- heads              of the hidden layers, side by side in `hidden` columns (8)
-- output_heads       of the layer that gives the classes, averaged (1)
-- attention_dropout  of the weights of neighbours (0)
-- With normalize = "row" attention is the paper's; see nn.gat_conv. Its layers read the rows of
-- their own nodes: layer-wise samplers need self_nodes = "previous".
function Gat.new(given)
  return stack.new(Gat, "ladies.nn.gat", given, heads.OPTIONS, GatConv.new, heads.of_model)
end

return Gat
