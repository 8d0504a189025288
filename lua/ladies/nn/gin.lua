--- The graph isomorphism network: layers of nn.gin_conv (Xu, Hu, Leskovec and Jegelka, ICLR 2019),
-- which sum over neighbours. With head = "concat" it reads all layers, as the paper's read-out.

local GinConv = require "ladies.nn.gin_conv"
local stack = require "ladies.nn.stack"

local Gin = stack.class "Gin"

--- nn.gin{inputs =, outputs =, hidden = 256, layers = 5, eps = 0, learn_eps = false, ...} -> Model:
-- a model of `layers` convolutions; all other options are those of nn.gcn, without order.
-- eps         of a node's own row, beside the one of its self-loop in P
-- learn_eps   whether each layer learns its eps, from that value on
-- Made for normalize = "none", P = A + I, and for samplers that estimate sums (row_normalize =
-- false); with another P it sums what that weighs. With an eps its layers read the rows of their
-- own nodes: layer-wise samplers need self_nodes = "previous".
function Gin.new(given)
  return stack.new(Gin, "ladies.nn.gin", given, GinConv.OF_SUMS, GinConv.new, GinConv.of_model)
end

return Gin
