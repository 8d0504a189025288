--- Loss functions: tensors of one element, for loss:backward().

local core = require "ladies_core"
local label_kinds = require "ladies.data.labels"
local options = require "ladies.base.options"

local loss = {}

--- loss.cross_entropy(logits, labels [, weights: Tensor | table]) -> Tensor: softmax cross-entropy
-- of logits (n x classes) against labels (Index, 1 .. classes; 0, which means unlabelled, is an
-- error): the mean of -log softmax(logits)[label] without weights, the weighted sum with them
-- (weights that samplers give hold the division already). {weights =, class_weights =} has a Tensor
-- besides that weighs each row by its class, and makes the mean a weighted mean.
function loss.cross_entropy(logits, labels, weights)
  if type(weights) ~= "table" then return core.cross_entropy(logits, labels, weights) end
  local opts = options.check("ladies.loss.cross_entropy", weights, {
    weights = "Tensor or nil", class_weights = "Tensor or nil",
  })
  return core.cross_entropy(logits, labels, opts.weights, opts.class_weights)
end

--- loss.binary_cross_entropy(logits, targets: Tensor [, weights]) -> Tensor: sigmoid cross-entropy
-- of logits against targets in [0, 1] of the same shape: the mean over all elements without
-- weights; with weights, one for each row, the weighted sum of the rows' means.
function loss.binary_cross_entropy(logits, targets, weights)
  return core.binary_cross_entropy(logits, targets, weights)
end

--- loss.of(labels: Index | Tensor | Matrix) -> function: the function for labels of this kind:
-- cross_entropy, or binary_cross_entropy where a node may have several classes.
function loss.of(labels)
  return label_kinds.kind_of(labels).multilabel and loss.binary_cross_entropy or loss.cross_entropy
end

return loss
