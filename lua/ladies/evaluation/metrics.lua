--- How good predictions are. Predictions and labels are of one form: an Index with a class for each
-- node, 0 = unlabelled; or, where a node may have several classes, Tensors of 0 and 1, nodes x
-- classes, with rows of NaN = unlabelled (see ladies.data.labels). Nodes without a label do not
-- count. The definitions are scikit-learn's (accuracy_score, f1_score). Where every node has one
-- class, micro-F1 is the accuracy; the papers report it under that name.

local errors = require "ladies.base.errors"
local inference = require "ladies.evaluation.inference"
local label_kinds = require "ladies.data.labels"
local options = require "ladies.base.options"
local single = require "ladies.data.labels.single"

local metrics = {}

local function tally(where, predicted, labels, idx)
  options.value(where, "the labels", labels, "Index or Tensor")
  options.value(where, "idx", idx, "Index or nil")
  return label_kinds.kind_of(labels).tally(where, predicted, labels, idx)
end

--- metrics.accuracy(predicted: Index | Tensor | Matrix, labels: Index | Tensor | Matrix [, idx])
-- -> number: the share of the nodes (idx, by default all) that are predicted without any error.
-- Logits become predictions by logits:argmax(), or logits:above(0) where a node may have several
-- classes.
function metrics.accuracy(predicted, labels, idx)
  local counts = tally("ladies.metrics.accuracy", predicted, labels, idx)
  return counts.exact / counts.n
end

--- metrics.micro_f1(predicted: Index | Tensor | Matrix, labels: Index | Tensor | Matrix [, idx])
-- -> number: micro-averaged F1, 2 TP / (2 TP + FP + FN) with the counts summed over all classes.
-- With one class a node every error is one FP and one FN, so it equals the accuracy. 0 where no
-- class occurs.
function metrics.micro_f1(predicted, labels, idx)
  local counts = tally("ladies.metrics.micro_f1", predicted, labels, idx)
  local correct, marked = 0, 0
  for class, count in ipairs(counts.marked) do
    correct, marked = correct + counts.correct[class], marked + count
  end
  return marked > 0 and 2 * correct / marked or 0
end

--- metrics.macro_f1(predicted: Index | Tensor | Matrix, labels: Index | Tensor | Matrix [, idx])
-- -> number: macro-averaged F1, the mean over the classes of 2 TP / (2 TP + FP + FN). A class that
-- occurs neither among the labels nor among the predictions is left out where a node has one class,
-- and counts as 0 where it may have several.
function metrics.macro_f1(predicted, labels, idx)
  local counts = tally("ladies.metrics.macro_f1", predicted, labels, idx)
  local sum = 0
  for class, count in ipairs(counts.marked) do
    if count > 0 then sum = sum + 2 * counts.correct[class] / count end
  end
  return sum / #counts.marked
end

--- metrics.confusion(predicted: Index | Tensor | Matrix, labels, classes: integer [, idx])
-- -> table: the confusion matrix: counts[truth][predicted] as tables of integers, classes 1 ..
-- classes. Where every node has one class.
function metrics.confusion(predicted, labels, classes, idx)
  local where = "ladies.metrics.confusion"
  classes = options.value(where, "classes", classes, "integer in [1, 10000]")
  local got, want, n = single.pairs(where, predicted, labels, idx)
  local counts = {}
  for class = 1, classes do
    counts[class] = {}
    for other = 1, classes do counts[class][other] = 0 end
  end
  for i = 1, n do
    local row = counts[want[i]]
    if not row or not row[got[i]] then
      errors.fail(("%s: class %d, expected 1 to %d"):format(where, row and got[i] or want[i],
        classes))
    end
    row[got[i]] = row[got[i]] + 1
  end
  return counts
end

local function predict(where, model, data, given)
  local logits = inference.exact(model, data, given)
  label_kinds.check_outputs(where, logits, data)
  local finite, value = logits:is_finite()
  if not finite then errors.fail(("%s: the model's logits have %s"):format(where, value)) end
  local predicted = label_kinds.kind_of(data.labels).predict(logits)
  logits:release()
  return predicted
end

--- metrics.predictions(model, data [, {P =}]) -> Index: what a model predicts for every node of a
-- data set, or for `nodes`, by exact inference over the whole graph. The options are those of
-- ladies.inference.exact.
function metrics.predictions(model, data, given)
  return predict("ladies.metrics.predictions", model, data, given)
end

local F1 = {
  P = "Matrix or nil", features = "Tensor or Matrix or Rows or nil",
  memory = "string or positive number or nil", folder = "string or nil",
}

--- metrics.f1(model, data, idx [, {P =, features =, memory =, folder =}]) -> number: micro-F1 of a
-- model on the nodes idx of a data set, by exact inference over the whole graph for these, with
-- options of ladies.inference.exact.
function metrics.f1(model, data, idx, given)
  local where = "ladies.metrics.f1"
  local opts = options.check(where, given, F1)
  opts.nodes = options.value(where, "idx", idx, "Index or nil")
  local predicted = predict(where, model, data, opts)
  return metrics.micro_f1(predicted, idx and data.labels[idx] or data.labels)
end

return metrics
