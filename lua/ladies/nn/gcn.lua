--- The deep graph convolutional network of the LADIES paper: any number of propagations, with or
-- without a linear layer after the last. Options cover the three ways to read the paper (see
-- ladies.presets).

local GcnConv = require "ladies.nn.gcn_conv"
local options = require "ladies.base.options"
local stack = require "ladies.nn.stack"

local Gcn = stack.class "Gcn"

--- model:takes_rows(P: Matrix) -> boolean: whether, over this P, the first layer multiplies
-- features that are Rows, which may lie in a file, some at a time; exact inference gives it a
-- Tensor otherwise.
function Gcn:takes_rows(P)
  if options.class_of(P) ~= "MatrixInParts" then
    options.value("model:takes_rows", "P", P, "Matrix")
  end
  return self.layers[1].conv:transforms_first(P)
end

--- nn.gcn{inputs =, outputs =, hidden = 256, layers = 5, ...} -> Gcn: a model of `layers`
-- propagations.
-- activation    after every layer but the one that gives the classes: relu (default), elu, ...
-- dropout       after each activation
-- input_dropout of the features (none)
-- norm          layer normalisation before each activation
-- residual      whether a layer of `hidden` columns whose input has as many adds that input
-- head          "none": the last propagation gives the classes; "linear": it has `hidden` columns
--               like the others, and a linear layer after it gives the classes; "concat" or "max":
--               that layer reads the outputs of all propagations, side by side or the largest of
--               each column (jumping knowledge, Xu et al., ICML 2018)
-- head_dropout  before the linear layer, after the dropout of the last propagation
-- bias          whether each linear map adds one (true)
-- order         of the linear map and the propagation; see nn.gcn_conv
-- init          glorot_uniform (default), kaiming_normal, ...; `seed` decides the draws
-- normalize     which P of the graph the model is for, "sym" (default) or "row": exact inference
--               uses it, and mini-batches of another one are refused
-- lambda        its diagonal enhancement, P + lambda diag(P); see samplers.clustergcn
-- P             any Matrix, in place of these two; files remember its hash
-- model.config holds the options, P by its hash; a model made from it again has the same first
-- weights. model.P, or model.normalize and model.lambda, say which P the model is for from then on:
-- another one that they are set to is used and saved.
function Gcn.new(given)
  return stack.new(Gcn, "ladies.nn.gcn", given, {order = {GcnConv.orders, "auto"}}, GcnConv.new)
end

return Gcn
