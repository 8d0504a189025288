--- How good predictions are. Where every node has one class, micro-F1 (over all classes together:
-- precision = recall = share of correct nodes) is the accuracy; the papers report it under that
-- name. Where a node may have any number of classes, multilabel_f1 counts them.

local options = require "ladies.options"
local inference = require "ladies.inference"

local metrics = {}

-- The predictions and labels of the labelled nodes among idx (all for nil) as Lua tables.
local function labelled(where, predicted, labels, idx)
  options.value(where, "the predictions", predicted, "Index")
  options.value(where, "the labels", labels, "Index")
  if #predicted ~= #labels then
    options.fail(("%s: %d predictions for %d labels"):format(where, #predicted, #labels))
  end
  if idx then predicted, labels = predicted[idx], labels[idx] end
  local all, truth = predicted:to_table(), labels:to_table()
  local n = 0
  for i = 1, #truth do
    if truth[i] > 0 then
      n = n + 1
      all[n], truth[n] = all[i], truth[i]
    end
  end
  if n == 0 then options.fail(where .. ": none of the nodes has a label") end
  return all, truth, n
end

--- The share of correct predictions. predicted, labels: Index, a class for each node; idx: the
-- nodes to look at (all by default). Nodes without a label (0) do not count.
function metrics.accuracy(predicted, labels, idx)
  local got, want, n = labelled("ladies.metrics.accuracy", predicted, labels, idx)
  local correct = 0
  for i = 1, n do
    if got[i] == want[i] then correct = correct + 1 end
  end
  return correct / n
end

--- Micro-averaged F1, 2 TP / (2 TP + FP + FN) with the counts summed over all classes. With one
-- class a node every error is one FP and one FN, so it equals the accuracy.
metrics.micro_f1 = metrics.accuracy

--- The confusion matrix: counts[truth][predicted] as tables of integers, classes 1 .. classes.
function metrics.confusion(predicted, labels, classes, idx)
  local got, want, n = labelled("ladies.metrics.confusion", predicted, labels, idx)
  local counts = {}
  for class = 1, classes do
    counts[class] = {}
    for other = 1, classes do counts[class][other] = 0 end
  end
  for i = 1, n do
    local row = counts[want[i]]
    row[got[i]] = row[got[i]] + 1
  end
  return counts
end

--- Macro-averaged F1: the mean over the classes of 2 TP / (2 TP + FP + FN). Classes that occur
-- neither among the labels nor among the predictions are left out of the mean.
function metrics.macro_f1(predicted, labels, classes, idx)
  local counts = metrics.confusion(predicted, labels, classes, idx)
  local sum, present = 0, 0
  for class = 1, classes do
    local in_truth, in_predicted = 0, 0
    for other = 1, classes do
      in_truth = in_truth + counts[class][other]
      in_predicted = in_predicted + counts[other][class]
    end
    if in_truth + in_predicted > 0 then
      present = present + 1
      sum = sum + 2 * counts[class][class] / (in_truth + in_predicted)
    end
  end
  return sum / present
end

--- metrics.multilabel_f1(logits, targets [, idx]) -> micro, macro: F1 of nodes that may have any
-- number of classes. Both tensors have a row for each node and a column for each class; targets are
-- 0 or 1, and a class is predicted where its logit is above 0 (its sigmoid above 1/2). idx: nodes
-- to look at (default all). Classes that occur neither among the targets nor among the
-- predictions are left out of the macro average; both are 0 when no class occurs.
function metrics.multilabel_f1(logits, targets, idx)
  local where = "ladies.metrics.multilabel_f1"
  options.value(where, "the logits", logits, "Tensor")
  options.value(where, "the targets", targets, "Tensor")
  if logits.n_rows ~= targets.n_rows or logits.n_cols ~= targets.n_cols then
    options.fail(("%s: logits of %d x %d for targets of %d x %d"):format(where, logits.n_rows,
      logits.n_cols, targets.n_rows, targets.n_cols))
  end
  if idx then logits, targets = logits[idx], targets[idx] end
  local predicted = logits:above(0)
  local correct = (predicted * targets):col_sums():to_table()
  local marked = (predicted + targets):col_sums():to_table()  -- TP twice, FP and FN once
  local all_correct, all_marked, sum, present = 0, 0, 0, 0
  for class = 1, #marked do
    all_correct, all_marked = all_correct + correct[class], all_marked + marked[class]
    if marked[class] > 0 then
      present = present + 1
      sum = sum + 2 * correct[class] / marked[class]
    end
  end
  if present == 0 then return 0, 0 end
  return 2 * all_correct / all_marked, sum / present
end

--- metrics.f1(model, data, idx): micro-F1 of a model on the nodes idx of a data set, by exact
-- inference over the whole graph (see ladies.inference.exact).
function metrics.f1(model, data, idx)
  local logits = inference.exact(model, data)
  local f1 = metrics.micro_f1(logits:argmax(), data.labels, idx)
  logits:release()
  return f1
end

return metrics
