--- Gives a data set without labels and targets as many classes or targets as a finished run
-- predicts, all of them unknown; those that another one has must be of the form of the run's.

local core = require "ladies_core"
local copies = require "ladies.data.copies"
local errors = require "ladies.base.errors"
local model_file = require "ladies.nn.model_file"
local options = require "ladies.base.options"

local ONE, SEVERAL, TARGETS = "one class each", "several classes each", "targets"

-- Fails where a model of classes is given targets, one of several classes for each node one class,
-- and so on: its logits would be read as what they are not. file: the run's predictions; those of
-- edges say nothing of the nodes.
local function check_form(folder, file, data)
  if file:has "from" then return end
  local run = file:has "targets" and TARGETS
    or file:has "labels" and (file:shape("labels")[2] and SEVERAL or ONE) or nil
  local here = (run == TARGETS or not data.labels) and data.targets and TARGETS
    or options.class_of(data.labels) == "Tensor" and SEVERAL or ONE
  if run and run ~= here then
    errors.fail(("%s: the run is of %s, and %s has %s"):format(folder, run, data.name, here))
  end
end

-- Returns the fields of a data set of n units without labels and targets, by an open file of
-- predictions.
local function unknown(folder, file, n)
  local texts = function(name) return file:has(name) and file:strings(name) or nil end
  if file:has "targets" then
    return {targets = core.full(n, file:shape("targets")[2] or 1, 0 / 0),
      target_names = texts "target_names"}
  end
  local names, columns = texts "class_names", file:shape("predicted")[2]
  local made = model_file.options(folder:file "model.npz")
  local classes = columns or names and #names or made and made.outputs
  if not classes then
    errors.fail(("%s: the run does not say how many classes there are; the data set has to have "
      .. "labels, -1 for a unit without"):format(folder))
  end
  return {labels = columns and core.full(n, columns, 0 / 0) or core.range(1, n) * 0,
    classes = classes, class_names = names, multilabel = columns ~= nil}
end

--- run_labels(folder, data) -> Dataset: a copy of a data set with such labels, for the run in the
-- folder; `data` itself where it has some, or the run has left no predictions of any. A data set
-- without labels has nothing to train on unless its file says so.
return function(folder, data)
  local file <close> = folder:has "predictions.npz"
    and core.npz.open(folder:file "predictions.npz") or nil
  if file and (data.labels or data.targets) then
    check_form(folder, file, data)
  elseif file and (file:has "targets" or file:has "labels") then
    local fields = unknown(folder, file, data.n_graphs or data.graph.n_nodes)
    fields.train = data.train or core.index{}
    return copies.with(data, fields)
  end
  return data
end
