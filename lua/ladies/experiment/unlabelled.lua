--- Prepares a data set without labels and targets for a finished run that is to predict them: no
-- unit has any, and there are as many classes or targets as the run's predictions say.

local core = require "ladies_core"
local copy_with = require("ladies.data.copies").with
local errors = require "ladies.base.errors"
local model_file = require "ladies.nn.model_file"

-- Returns the fields of a data set of n units by an open file of predictions.
local function fields_of(folder, file, n)
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

--- unlabelled(folder, data) -> Dataset: a copy of a data set that has neither labels nor targets in
-- which it has those of the run in the folder, all unknown, and nothing to train on unless its file
-- says so; `data` itself where it has some, or where the run has no predictions of classes or of
-- targets.
return function(folder, data)
  if data.labels or data.targets or not folder:has "predictions.npz" then return data end
  local file <close> = core.npz.open(folder:file "predictions.npz")
  if not (file:has "targets" or file:has "labels") then return data end
  local fields = fields_of(folder, file, data.n_graphs or data.graph.n_nodes)
  fields.train = data.train or core.index{}
  return copy_with(data, fields)
end
