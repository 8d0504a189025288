--- Defines the loss functions, which return tensors of one element for loss:backward().

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local label_kinds = require "ladies.data.labels"
local options = require "ladies.base.options"

local loss = {}

--- loss.cross_entropy(logits, labels [, weights: Tensor | table]) -> Tensor: softmax cross-entropy
-- of logits (n x classes) against labels (Index, 1 .. classes; 0, which means unlabelled, is an
-- error): the mean of -log softmax(logits)[label] without weights, the weighted sum with them
-- (weights that samplers give hold the division already). A table has a number for each class:
-- {class_weights = Tensor} weighs the rows by their classes and divides by the sum of these
-- weights, a weighted mean, as PyTorch's `weight` does; {class_factors = Tensor [, weights =
-- Tensor]} multiplies each row's loss by that of its class and divides by nothing more, so that
-- mini-batches stay unbiased estimates of all nodes.
function loss.cross_entropy(logits, labels, weights)
  if type(weights) ~= "table" then return core.cross_entropy(logits, labels, weights) end
  local opts = options.check("ladies.loss.cross_entropy", weights, {
    weights = "Tensor or nil", class_weights = "Tensor or nil", class_factors = "Tensor or nil",
  })
  if opts.class_weights and (opts.weights or opts.class_factors) then
    errors.fail("ladies.loss.cross_entropy: class_weights make a weighted mean of all rows and are "
      .. "for themselves; with weights of rows class_factors multiply the losses of classes")
  end
  local factors = opts.class_factors
  local of_rows = opts.weights or factors and core.full(#labels, 1 / #labels)
  return core.cross_entropy(logits, labels, of_rows, factors or opts.class_weights)
end

--- loss.binary_cross_entropy(logits, targets: Tensor [, weights]) -> Tensor: sigmoid cross-entropy
-- of logits against targets in [0, 1] of the same shape: the mean over all elements without
-- weights; with weights, one for each row, the weighted sum of the rows' means.
function loss.binary_cross_entropy(logits, targets, weights)
  return core.binary_cross_entropy(logits, targets, weights)
end

--- loss.of(labels: Index | Tensor) -> function: the function for labels of this kind:
-- cross_entropy, or binary_cross_entropy where a node may have several classes.
function loss.of(labels)
  options.value("ladies.loss.of", "the labels", labels, "Index or Tensor")
  return label_kinds.kind_of(labels).multilabel and loss.binary_cross_entropy or loss.cross_entropy
end

return loss
