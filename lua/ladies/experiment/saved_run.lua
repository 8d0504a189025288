--- A finished run's model, taken up again from the run's folder: on its data set, with its sampler.

local changes = require "ladies.data.changes"
local checkpoint = require "ladies.training.checkpoint"
local core = require "ladies_core"
local experiment = require "ladies.experiment"
local hashes_of = require "ladies.data.hashes"
local inference = require "ladies.evaluation.inference"
local label_kinds = require "ladies.data.labels"
local methods = require "ladies.experiment.methods"
local model_file = require "ladies.nn.model_file"
local options = require "ladies.base.options"
local own_folder = require "ladies.base.own_folder"

local SavedRun = {__name = "ladies.SavedRun"}
SavedRun.__index = SavedRun

-- Fails when the data set of the run's name is another one than when the run began.
local function check_data(folder, data)
  if not folder:has "checkpoint.npz" then return end
  local parts = changes(checkpoint.run(folder:file "checkpoint.npz").data, hashes_of(data))
  if parts then
    options.fail(("%s: %s has changed since the run (%s); to use the model on it all the same, "
      .. "name it with --dataset"):format(folder, data.name, parts))
  end
end

--- The run in the folder `path`, as `ladies train` left it: `config`, `data`, `model`. dataset: the
-- name or path of another data set to use the model on; it must have as many features and classes,
-- and has its own split or the default one. The run's own must be as it was then.
function SavedRun.open(path, dataset)
  local folder = own_folder.at(path)
  if not folder:has "config.json" then
    options.fail(("there is no run in %s"):format(path))
  elseif not folder:has "model.npz" then
    options.fail(("the run in %s is not finished; go on with: ladies train --resume %s"):format(
      path, path))
  end
  local settings = folder:read_json "config.json"
  if dataset then settings.dataset, settings.split = dataset, nil end
  local config = experiment.configure(settings)
  local data, model = experiment.load(config), model_file.load(path)
  if not dataset then check_data(folder, data) end
  local c = model.config
  if c.inputs ~= data.features.n_cols or c.outputs ~= data.classes then
    options.fail(("the model in %s is for %d features and %d classes, %s has %d and %d"):format(
      path, c.inputs, c.outputs, data.name, data.features.n_cols, data.classes))
  end
  return setmetatable({path = path, config = config, data = data, model = model}, SavedRun)
end

--- The nodes of a part of the split: "train", "val", "test", "labelled" (every node with a label)
-- or "all".
function SavedRun:nodes(part)
  local data = self.data
  if part == "all" then return core.range(1, data.graph.n_nodes) end
  if part == "labelled" then return label_kinds.labelled(data.labels) end
  if not data[part] or #data[part] == 0 then
    options.fail(("%s has no %s nodes"):format(data.name, part))
  end
  return data[part]
end

--- The logits of the Index `nodes`, #nodes x classes.
-- how = "exact" (default), over the whole graph; or "sampled", by the run's own sampler, with
-- `samples` (the run's) nodes a layer or neighbours a node, averaged over `draws` (1), from `seed`
-- (1)
function SavedRun:logits(nodes, opts)
  if opts.how == "sampled" then
    local reason = methods.by_name[self.config.method].exact_only
    if reason then
      options.fail(("%s has no sampled inference: %s"):format(self.config.method, reason))
    elseif opts.samples and not self.config.samples then
      options.fail(("%s takes no number of samples"):format(self.config.method))
    end
    return inference.sampled(self.model, self.data, nodes, {
      sampler = experiment.sampler(self.config, self.data, opts.samples),
      batch_size = self.config.batch_size, draws = opts.draws, seed = opts.seed,
    })
  end
  return inference.exact(self.model, self.data)[nodes]
end

return SavedRun
