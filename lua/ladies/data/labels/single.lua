--- Labels with one class a node: an Index of 1 .. classes, 0 = unlabelled. ladies.data.labels
-- documents the functions.

local core = require "ladies_core"
local checks = require "ladies.data.checks"
local errors = require "ladies.base.errors"
local options = require "ladies.base.options"

local single = {multilabel = false}

function single.check(context, labels, n, class_names)
  if options.class_of(labels) ~= "Index" then
    checks.fail(context, "%s must be a class for each node or a matrix of 0 and 1, got a %s",
      context.keys.labels, options.class_of(labels) or type(labels))
  end
  checks.length(context, "labels", #labels, n, "one for each " .. (context.unit or "node"))
  if labels:max() < 1 then return nil end
  local classes = class_names and #class_names or labels:max()
  checks.ids(context, "labels", labels, classes, "a node without a label")
  return classes
end

function single.labelled(labels)
  local ids = {}
  for i, label in ipairs(labels:to_table()) do
    if label > 0 then ids[#ids + 1] = i end
  end
  return core.index(ids)
end

function single.first_unlabelled(labels, ids)
  local own = labels[ids]
  if #own == 0 or own:min() > 0 then return nil end
  for i = 1, #own do
    if own[i] == 0 then return i end
  end
end

function single.count(labels, classes)
  local sizes, unlabelled = labels:counts(classes), #labels
  for _, size in ipairs(sizes) do unlabelled = unlabelled - size end
  return {sizes = sizes, unlabelled = unlabelled}
end

function single.targets(labels, classes)
  return core.matrix{n_rows = #labels, n_cols = classes, rows = core.range(1, #labels),
    cols = labels}:to_dense()
end

function single.probabilities(logits) return logits:softmax() end

function single.logits(probabilities) return probabilities:clamp(1e-9, math.huge):log() end

function single.predict(logits) return logits:argmax() end

function single.predictions(logits) return {predicted = single.predict(logits)} end

--- Returns the predictions and the labels of the labelled nodes among idx (nil for all), as two Lua
-- tables, and how many there are.
function single.pairs(where, predicted, labels, idx)
  options.value(where, "the predictions", predicted, "Index")
  options.value(where, "the labels", labels, "Index")
  options.value(where, "idx", idx, "Index or nil")
  if #predicted ~= #labels then
    errors.fail(("%s: %d predictions for %d labels"):format(where, #predicted, #labels))
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
  if n == 0 then errors.fail(where .. ": none of the nodes has a label") end
  return all, truth, n
end

function single.tally(where, predicted, labels, idx)
  local got, want, n = single.pairs(where, predicted, labels, idx)
  local correct, given, truth, exact = {}, {}, {}, 0           -- 0 is no prediction
  for class = 0, math.max(predicted:max(), labels:max()) do
    correct[class], given[class], truth[class] = 0, 0, 0
  end
  for i = 1, n do
    local g, w = got[i], want[i]
    given[g], truth[w] = given[g] + 1, truth[w] + 1
    if g == w then correct[g], exact = correct[g] + 1, exact + 1 end
  end
  correct[0], given[0], truth[0] = nil, nil, nil
  return {correct = correct, given = given, truth = truth, exact = exact, n = n}
end

function single.renumbered(labels, places)
  local list = labels:to_table()
  for unit, class in ipairs(list) do list[unit] = places[class] or 0 end
  return core.index(list)
end

function single.array(labels) return labels end

function single.write(path, labels)
  local lines = {}
  for node, label in ipairs(labels:to_table()) do lines[node] = label - 1 end
  core.file.write(path, table.concat(lines, "\n") .. "\n")
end

return single
