--- Scores predictions of classes. Predictions and labels are of one form: an Index with a class for
-- each node, 0 = unlabelled; or, where a node may have several classes, Tensors of 0 and 1, nodes x
-- classes, with rows of NaN = unlabelled (see ladies.data.labels). Nodes without a label do not
-- count. The definitions are scikit-learn's (accuracy_score, f1_score, precision_score and
-- recall_score). Where every node has one class, micro-F1 is the accuracy; the papers report it
-- under that name.

local errors = require "ladies.base.errors"
local label_kinds = require "ladies.data.labels"
local options = require "ladies.base.options"
local single = require "ladies.data.labels.single"

local metrics = {}

local function tally(where, predicted, labels, idx)
  options.value(where, "the labels", labels, "Index or Tensor")
  options.value(where, "idx", idx, "Index or nil")
  return label_kinds.kind_of(labels).tally(where, predicted, labels, idx)
end

--- metrics.accuracy(predicted: Index | Tensor, labels: Index | Tensor [, idx]) -> number: the
-- share of the nodes (idx, by default all) that are predicted without any error. Logits become
-- predictions by logits:argmax(), or logits:above(0) where a node may have several classes.
function metrics.accuracy(predicted, labels, idx)
  local counts = tally("ladies.metrics.accuracy", predicted, labels, idx)
  return counts.exact / counts.n
end

--- metrics.micro_f1(predicted: Index | Tensor, labels: Index | Tensor [, idx]) -> number:
-- micro-averaged F1, 2 TP / (2 TP + FP + FN) with the counts summed over all classes. With one
-- class a node every error is one FP and one FN, so it equals the accuracy. 0 where no class
-- occurs.
function metrics.micro_f1(predicted, labels, idx)
  local counts = tally("ladies.metrics.micro_f1", predicted, labels, idx)
  local correct, marked = 0, 0
  for class, hits in ipairs(counts.correct) do
    correct, marked = correct + hits, marked + counts.given[class] + counts.truth[class]
  end
  return marked > 0 and 2 * correct / marked or 0
end

--- metrics.macro_f1(predicted: Index | Tensor, labels: Index | Tensor [, idx]) -> number:
-- macro-averaged F1, the mean over the classes of 2 TP / (2 TP + FP + FN). A class that occurs
-- neither among the labels nor among the predictions is left out where a node has one class, and
-- counts as 0 where it may have several.
function metrics.macro_f1(predicted, labels, idx)
  local counts = tally("ladies.metrics.macro_f1", predicted, labels, idx)
  local sum, classes, one_each = 0, 0, options.class_of(labels) == "Index"
  for class, hits in ipairs(counts.correct) do
    local marked = counts.given[class] + counts.truth[class]
    if marked > 0 then sum = sum + 2 * hits / marked end
    if marked > 0 or not one_each then classes = classes + 1 end
  end
  return sum / classes
end

local AVERAGED = {
  average = {"macro|micro", "macro"}, class = "positive integer or nil", idx = "Index or nil",
}

-- Computes precision (of = "given") or recall (of = "truth"), averaged over classes as the options
-- say.
local function share(where, of, predicted, labels, given)
  local opts = options.check(where, given, AVERAGED)
  local counts = tally(where, predicted, labels, opts.idx)
  if opts.class then
    local all = counts[of][opts.class] or 0
    return all > 0 and counts.correct[opts.class] / all or 0
  end
  local correct, all, sum, classes = 0, 0, 0, 0
  local one_each = options.class_of(labels) == "Index"
  for class, hits in ipairs(counts.correct) do
    local size = counts[of][class]
    correct, all = correct + hits, all + size
    if size > 0 then sum = sum + hits / size end
    if counts.given[class] + counts.truth[class] > 0 or not one_each then classes = classes + 1 end
  end
  if opts.average == "micro" then return all > 0 and correct / all or 0 end
  return sum / classes
end

--- metrics.precision(predicted: Index | Tensor, labels: Index | Tensor [, {average = "macro" |
-- "micro", class = integer, idx = Index}]) -> number: TP / (TP + FP), 0 where a class is given to
-- no node. "macro", which is the default, is the mean over the classes that metrics.macro_f1
-- counts; "micro" has the counts summed over all classes; `class` asks for that of one alone, as
-- where class 2 of two is the one to be found.
function metrics.precision(predicted, labels, given)
  return share("ladies.metrics.precision", "given", predicted, labels, given)
end

--- metrics.recall(predicted: Index | Tensor, labels: Index | Tensor [, {average = "macro" |
-- "micro", class = integer, idx = Index}]) -> number: TP / (TP + FN), 0 where no node is of a
-- class. The options are those of metrics.precision.
function metrics.recall(predicted, labels, given)
  return share("ladies.metrics.recall", "truth", predicted, labels, given)
end

--- metrics.by_class(predicted: Index | Tensor, labels: Index | Tensor [, classes: integer [,
-- idx]]) -> table: for each class {nodes = (of the class by the labels), predicted = (nodes that
-- were given it), correct = (both), precision = correct / predicted, recall = correct / nodes, f1
-- =}, with NaN for 0 / 0. `classes` is how many there are, where it is more than those that occur.
function metrics.by_class(predicted, labels, classes, idx)
  local where = "ladies.metrics.by_class"
  local counts = tally(where, predicted, labels, idx)
  classes = options.value(where, "classes", classes, "integer in [1, 100000] or nil") or 0
  local list = {}
  for class = 1, math.max(classes, #counts.correct) do
    local correct = counts.correct[class] or 0
    local given, truth = counts.given[class] or 0, counts.truth[class] or 0
    list[class] = {nodes = truth, predicted = given, correct = correct,
      precision = correct / given, recall = correct / truth, f1 = 2 * correct / (given + truth)}
  end
  return list
end

--- metrics.calibration(logits: Tensor, labels: Index [, {idx =, bins = 15}]) -> table: whether a
-- model is right as often as it is sure. A node's confidence is the largest probability that the
-- softmax of its logits has; nodes are put into bins of equal width by it. The result has `bins`,
-- an array of {from =, to =, nodes =, confidence = (their mean), accuracy =}, and `error`, the
-- expected calibration error: the mean over the nodes of |accuracy - confidence| of their bin (Guo,
-- Pleiss, Sun and Weinberger, ICML 2017). Both means of an empty bin are NaN. Where every node has
-- one class.
function metrics.calibration(logits, labels, given)
  local where = "ladies.metrics.calibration"
  options.value(where, "the logits", logits, "Tensor")
  options.value(where, "the labels", labels, "Index")
  local opts = options.check(where, given,
    {idx = "Index or nil", bins = {"integer in [1, 10000]", 15}})
  logits = logits:detach()
  if opts.idx then logits, labels = logits[opts.idx], labels[opts.idx] end
  local got, want, n = single.pairs(where, logits:argmax(), labels)
  local known = labels:to_tensor():above(0):positions()
  local p, bins, sum = logits[known]:softmax(), {}, 0
  for b = 1, opts.bins do
    bins[b] = {from = (b - 1) / opts.bins, to = b / opts.bins, nodes = 0, confidence = 0,
      accuracy = 0}
  end
  for i = 1, n do
    local confidence = p:get(i, got[i])
    local bin = bins[math.max(1, math.min(opts.bins, math.ceil(confidence * opts.bins)))]
    bin.nodes, bin.confidence = bin.nodes + 1, bin.confidence + confidence
    if got[i] == want[i] then bin.accuracy = bin.accuracy + 1 end
  end
  for _, bin in ipairs(bins) do
    sum = sum + math.abs(bin.accuracy - bin.confidence)
    bin.accuracy, bin.confidence = bin.accuracy / bin.nodes, bin.confidence / bin.nodes
  end
  return {error = sum / n, bins = bins}
end

--- metrics.confusion(predicted: Index, labels: Index, classes: integer [, idx]) -> table: the
-- confusion matrix: counts[truth][predicted] as tables of integers, classes 1 .. classes. Where
-- every node has one class.
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

return metrics
