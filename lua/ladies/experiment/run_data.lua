--- Loads the data set of a finished run again, and fails if it has changed since; or loads another
-- one, which the user names, and prepares it in the same way. The run has recorded how: the
-- preparation, hashes of the content, and the split, which is in the file of its predictions.

local core = require "ladies_core"
local complete = require "ladies.data.complete"
local data_sets = require "ladies.data"
local errors = require "ladies.base.errors"
local model_file = require "ladies.nn.model_file"
local notes = require "ladies.data.notes"
local options = require "ladies.base.options"
local preparation = require "ladies.data.preparation"
local run_identity = require "ladies.training.checkpoint.identity"
local splits = require "ladies.data.splits"
local tables = require "ladies.base.tables"
local tell = require "ladies.base.tell"

-- Completes what a run of an earlier version has recorded, the path of its data set, by its
-- settings if it is one of `ladies train`, and by whether its model's file has a scale.
local function of_earlier_version(source, config, scale)
  local steps = {}
  if config and config.shuffle ~= "none" then
    steps[1] = {call = "shuffled", what = config.shuffle}
  end
  if config and config.features == "row_normalized" then
    steps[#steps + 1] = {call = "row_normalized"}
  end
  if scale or config and config.features == "standardized" then
    steps[#steps + 1] = {call = "standardized"}
  end
  return tables.merged(source, config and complete.options_of(config),
    {path = config and config.dataset, steps = steps})
end

-- Returns how the data set of a run was prepared (see ladies.data.preparation), with the scale of
-- its features.
local function plan_of(folder, config, before)
  local scale = model_file.scale(folder:file "model.npz")
  local plan = before and before.source or {}
  if not plan.steps then plan = of_earlier_version(plan, config, scale) end
  for _, step in ipairs(plan.steps) do
    step.scale = step.call == "standardized" and scale or nil
    if step.call == "standardized" and not scale then
      errors.fail(("%s: the scale of its standardized features is not in model.npz"):format(folder))
    end
  end
  return plan
end

-- Reads the data set of a plan, or the one `named` in its place, which has its own split or none.
local function read(where, plan, named)
  local opts = complete.options_of(plan)
  if named then opts.split, opts.split_seed = nil, nil end
  return preparation.apply(where, data_sets.load(named or plan.path, opts), plan.steps)
end

-- Gives a data set the split that the run's predictions have, if they are of as many nodes or
-- graphs.
local function take_split(folder, data)
  if not folder:has "predictions.npz" then return end
  local file <close> = core.npz.open(folder:file "predictions.npz")
  local part_of = file:index "split":to_table()
  if #part_of ~= (data.n_graphs or data.graph.n_nodes) then return end
  local parts = splits.by_node(part_of)
  data.train, data.val, data.test = parts.train, parts.val, parts.test
end

-- Tells whether each node has a column of its own, as features that are made of the graph alone.
local function is_identity(features)
  return options.class_of(features) == "Matrix" and features.n_rows == features.n_cols
    and features.nnz == features.n_rows and features:loops() == features.n_rows
end

-- Completes a data set that is not the run's: it has its own split or, where the run's had one, the
-- default one.
local function complete_other(where, before, data, content)
  if not before or before.data.train then splits.complete(where, data) end
  if content and is_identity(data.features) then
    tell("%s: is another data set than the run's (%s): with identity features a node is what the "
      .. "run's node in its place was, whatever it is called", data.name, content)
  end
end

--- run_data(folder, config, before, named) -> Dataset: the data set of the run in the folder, or
-- the one `named`, a name or a path, in its place. config: the settings of a run of `ladies train`,
-- nil for another; before: what ladies.training.checkpoint.identity says of the run, or nil. The
-- run's own must be as it was. One that holds what this held, without a split or in place of a
-- script's own, has the run's split.
return function(folder, config, before, named)
  local where, plan = tostring(folder), plan_of(folder, config, before)
  if not (named or plan.path) then
    errors.fail(("%s: the run's data set was a script's own; name it with --dataset (in Lua "
      .. "dataset, or data)"):format(where))
  end
  -- The run has told what there is to tell about its own data set.
  local data = named and read(where, plan, named) or notes.silently(read, where, plan)
  local content, split
  if before then content, split = run_identity.changed(before, data) end
  if split and not content and not (named and plan.path and data.train) then
    take_split(folder, data)
    split = select(2, run_identity.changed(before, data))
  end
  if named then
    complete_other(where, before, data, content)
  elseif content or split then
    errors.fail(("%s: %s has changed since the run (%s); to use the model on it all the same, name "
      .. "it with --dataset (in Lua dataset)"):format(where, data.name, content or split))
  end
  return data
end
