--- Makes the labels of another data set comparable with the predictions of a finished run, where
-- they are of the same form. Classes that have names get the numbers that the run's classes of
-- these names have. A data set without labels and targets gets as many classes or targets as the
-- run has, all of them unknown.

local core = require "ladies_core"
local copy_with = require("ladies.data.copies").with
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

-- Returns for each of the names of classes its place among the run's; nil where each is in its
-- place already, and where one is not among the run's or is given twice.
local function places_of(names, of_run)
  local place, places, moved = {}, {}, #names ~= #of_run
  for i, name in ipairs(of_run) do place[name] = i end
  for i, name in ipairs(names) do
    places[i], place[name] = place[name], nil
    if not places[i] then return nil end
    moved = moved or places[i] ~= i
  end
  return moved and places or nil
end

-- Returns labels with class i as class places[i] of n.
local function in_places(labels, places, n)
  if options.class_of(labels) == "Index" then
    local list = labels:to_table()
    for unit, class in ipairs(list) do list[unit] = places[class] or 0 end
    return core.index(list)
  end
  return labels:matmul(core.matrix{n_rows = #places, n_cols = n, rows = core.range(1, #places),
    cols = core.index(places)}:to_dense())
end

--- run_labels(folder, before, data) -> Dataset: a copy of a data set with such labels, for the run
-- in the folder; `data` itself where nothing is to be done. That of classes with other names than
-- the run's is for ladies.training.checkpoint.identity to refuse. before: what that module says of
-- the run, or nil. A data set without labels has nothing to train on unless its file says so.
return function(folder, before, data)
  local file <close> = folder:has "predictions.npz"
    and core.npz.open(folder:file "predictions.npz") or nil
  if data.labels or data.targets then
    if file then check_form(folder, file, data) end
    local of_run = before and data.labels and before.class_names
    local places = of_run and data.class_names and places_of(data.class_names, of_run)
    return places and copy_with(data, {labels = in_places(data.labels, places, #of_run),
      classes = #of_run, class_names = of_run}) or data
  end
  if not (file and (file:has "targets" or file:has "labels")) then return data end
  local fields = unknown(folder, file, data.n_graphs or data.graph.n_nodes)
  fields.train = data.train or core.index{}
  return copy_with(data, fields)
end
