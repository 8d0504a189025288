--- The model GraphSAGE: layers of nn.sage_conv (Hamilton, Ying and Leskovec, NeurIPS 2017). It can
-- be trained with the mini-batches of any sampler; samplers.graphsage samples neighbours as its
-- authors do.

local SageConv = require "ladies.nn.sage_conv"
local stack = require "ladies.nn.stack"

local Sage = stack.class "Sage"

--- nn.sage{inputs =, outputs =, hidden = 256, layers = 5, aggregate = "mean", ...} -> Model: a
-- model of `layers` convolutions; all other options are those of nn.gcn, without order.
-- aggregate   "mean" (with normalize = "row" that of the paper) or "max"; see nn.sage_conv
-- Its layers read the rows of their own nodes: layer-wise samplers need self_nodes = "previous".
function Sage.new(given)
  return stack.new(Sage, "ladies.nn.sage", given, {aggregate = {SageConv.aggregates, "mean"}},
    SageConv.new)
end

return Sage
