--- Gathers the metrics that score models and their predictions (ladies.metrics). A metric is a
-- function of two values, the predictions and the truth, that returns a number; a user's own is
-- such a function as well. Metrics of classes are in metrics/classes, those that compare scores in
-- metrics/ranking, those of real numbers in metrics/regression.

local classes = require "ladies.evaluation.metrics.classes"
local errors = require "ladies.base.errors"
local inference = require "ladies.evaluation.inference"
local label_kinds = require "ladies.data.labels"
local not_finite = require("ladies.base.units").not_finite
local options = require "ladies.base.options"
local ranking = require "ladies.evaluation.metrics.ranking"
local regression = require "ladies.evaluation.metrics.regression"
local tables = require "ladies.base.tables"

local metrics = tables.merged(classes, ranking, regression)

local function predict(where, model, data, given)
  local logits = inference.exact(model, data, given)
  label_kinds.check_outputs(where, logits, data)
  local finite, value = logits:is_finite()
  if not finite then
    errors.fail(("%s: the model's logits have %s"):format(where, not_finite(value)))
  end
  local predicted = label_kinds.kind_of(data.labels).predict(logits)
  logits:release()
  return predicted
end

--- metrics.predictions(model, data [, {P =}]) -> Index: returns the class that a model predicts for
-- every node of a data set, or for `nodes`, by exact inference over the whole graph. The options
-- are those of ladies.inference.exact.
function metrics.predictions(model, data, given)
  local where = "ladies.metrics.predictions"
  if options.value(where, "the data set", data, "Dataset").targets then
    label_kinds.check_there(where, data)
  end
  return predict(where, model, data, given)
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
  label_kinds.check_there(where, options.value(where, "the data set", data, "Dataset"))
  local predicted = predict(where, model, data, opts)
  return metrics.micro_f1(predicted, idx and data.labels[idx] or data.labels)
end

return metrics
