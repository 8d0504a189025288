--- Defines the two kinds of labels that a data set may have, which decide how classes are trained
-- and scored. (Real targets, which it may have besides or instead, are in labels/targets.)
--
--   labels/single   an Index: one class a node, 0 = unlabelled; softmax and cross-entropy
--   labels/multi    a Tensor of 0 and 1, nodes x classes: any number of classes a node, even none;
--                   a row of NaN = unlabelled; sigmoid and binary cross-entropy
--
-- A kind is a table of
--
--   check(context, labels, n, class_names) -> classes     an error unless n nodes have such labels;
--                                                         nil where all are unlabelled
--   labelled(labels) -> Index                             the nodes that have a label
--   first_unlabelled(labels, ids) -> position or nil      in the Index ids
--   count(labels, classes) -> {sizes =, unlabelled =}     nodes; in multi also mean, the classes of
--                                                         a labelled node, and without any: without
--   targets(labels, classes) -> Tensor                    a row of 0 and 1 each; all have a label
--   probabilities(logits) -> Tensor                       and the reverse:
--   logits(probabilities) -> Tensor                       of numbers about as large, clamped
--   predict(logits) -> Index or Tensor                    of the form of the labels
--   predictions(logits) -> {name = array}                 for files: predicted, and more in multi
--   tally(where, predicted, labels, idx) -> {correct =, given =, truth =, exact =, n =}
--       of each class the true positives, the nodes that were given it and those that have it; the
--       nodes with nothing wrong, and all that have a label
--   renumbered(labels, places, n)                         class i as class places[i] of n
--   array(labels)                                         what npz.write takes, and read gives back
--   write(path, labels)                                   a line of text for each node, in multi
--                                                         below a header

local checks = require "ladies.data.checks"
local errors = require "ladies.base.errors"
local multi = require "ladies.data.labels.multi"
local options = require "ladies.base.options"
local single = require "ladies.data.labels.single"
local targets = require "ladies.data.labels.targets"

local labels = {}

-- The most cells up to which a sparse matrix of labels is made dense, 8 GiB; more are taken for a
-- mistake or an attack.
local MOST_CELLS = 1 << 31

--- Returns the kind of labels: single for an Index, multi for a Tensor.
function labels.kind_of(x)
  return options.class_of(x) == "Tensor" and multi or single
end

--- Returns labels in the form in which a data set holds them: a sparse Matrix of 0 and 1 becomes a
-- Tensor.
function labels.dense(context, x)
  if options.class_of(x) ~= "Matrix" then return x end
  if x.n_rows * x.n_cols > MOST_CELLS then
    checks.fail(context, "%s is %d x %d, too large for a matrix of 0 and 1", context.keys.labels,
      x.n_rows, x.n_cols)
  end
  return x:to_dense()
end

--- Returns the Index of the nodes that have a label.
function labels.labelled(x)
  return labels.kind_of(x).labelled(x)
end

--- Returns the Index of the nodes with a label, or with a known target where the data set has no
-- labels; these are the nodes that a split divides.
function labels.known(data)
  if not data.labels and not data.targets then
    errors.fail(("%s has no labels and no targets, which a split of nodes divides"):format(data.name
      or "the data set"))
  end
  return data.labels and labels.labelled(data.labels) or targets.known(data.targets)
end

--- Returns the position in the Index `ids` of the first node without a label (or known target), or
-- nil.
function labels.first_unknown(data, ids)
  if not data.labels and not data.targets then return nil end
  if not data.labels then return targets.first_unknown(data.targets, ids) end
  return labels.kind_of(data.labels).first_unlabelled(data.labels, ids)
end

--- Fails unless the data set has labels; the message begins with `where`.
function labels.check_there(where, data)
  if not data.labels then
    errors.fail(("%s: %s has no labels, and this is of their classes"):format(where,
      data.name or "the data set"))
  end
end

--- Fails unless logits have a column for each class of `data`; the message begins with `where`.
function labels.check_outputs(where, logits, data)
  local classes = data.classes
  if classes and logits.n_cols ~= classes then
    errors.fail(("%s: the model has %d outputs, the data set %d classes"):format(where,
      logits.n_cols, classes))
  end
end

--- Fails unless predictions for all nodes are of the form of the labels; the message begins with
-- `where`.
function labels.check_predictions(where, predicted, x)
  local class = options.class_of(x)
  options.value(where, "the predictions", predicted, class)
  local got, wanted
  if class == "Index" then
    got, wanted = #predicted, #x
  else
    got = ("%d x %d"):format(predicted.n_rows, predicted.n_cols)
    wanted = ("%d x %d"):format(x.n_rows, x.n_cols)
  end
  if got ~= wanted then
    errors.fail(("%s: predictions of %s for labels of %s"):format(where, got, wanted))
  end
end

return labels
