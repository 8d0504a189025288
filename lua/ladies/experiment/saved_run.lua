--- A finished run's model, taken up again from the run's folder: on its data set, with its sampler.
-- The run is one of `ladies train`, whose settings say how all of it is made, or one that a script
-- left (ladies.train{out = ...}): then the folder says how the model is built where it is one of
-- ours, where the data set is where it came from a file, and how its nodes were split.

local core = require "ladies_core"
local changes = require "ladies.data.changes"
local data_sets = require "ladies.data"
local errors = require "ladies.base.errors"
local experiment = require "ladies.experiment"
local fields = require "ladies.base.fields"
local hashes_of = require "ladies.data.hashes"
local inference = require "ladies.evaluation.inference"
local label_kinds = require "ladies.data.labels"
local methods = require "ladies.experiment.methods"
local model_file = require "ladies.nn.model_file"
local models = require "ladies.experiment.models"
local notes = require "ladies.data.notes"
local not_finite = require "ladies.training.not_finite"
local options = require "ladies.base.options"
local own_code = require "ladies.experiment.own_code"
local own_folder = require "ladies.base.own_folder"
local run_identity = require "ladies.training.run_identity"
local run_page = require "ladies.experiment.run_page"
local smoothing = require "ladies.evaluation.smoothing"
local splits = require "ladies.data.splits"
local tables = require "ladies.base.tables"

local SavedRun = {__name = "ladies.SavedRun"}
SavedRun.__index = SavedRun
fields.of_class(SavedRun, "path config data model sampler:function|table batch_size:integer")

local CONTENT, SPLIT = {"edges", "features", "labels"}, {"train", "val", "test"}

-- ---------------------------------------------------------------- its data set

-- Fails for a data set of which these parts are not what they were when the run began.
local function refuse(path, data, parts)
  errors.fail(("%s: %s has changed since the run (%s); to use the model on it all the same, name "
    .. "it with --dataset (in Lua dataset)"):format(path, data.name, parts))
end

-- The data set of a run of `ladies train`. One that is named has its own split, or the default one.
local function data_of_experiment(path, config, before, named)
  if named then config.dataset, config.split = named, nil end
  local data = experiment.read(config)
  local parts = before and not named and changes(before.data, hashes_of(data))
  if parts then refuse(path, data, parts) end
  return data
end

-- Gives a data set the split of a run, which its predictions tell.
local function take_split(data, predictions)
  local file <close> = core.npz.open(predictions)
  local nodes, split = {{}, {}, {}, [0] = {}}, file:index "split"
  if #split ~= data.graph.n_nodes then
    errors.fail(("%s: split has %d elements, must have %d, one for each node"):format(predictions,
      #split, data.graph.n_nodes))
  end
  for v, part in ipairs(split:to_table()) do
    if not nodes[part] then
      errors.fail(("%s: split[%d] must be in -1 .. 2, got %d"):format(predictions, v, part - 1))
    end
    table.insert(nodes[part], v)
  end
  for i, part in ipairs(SPLIT) do data[part] = nodes[i][1] and core.index(nodes[i]) or nil end
end

-- Which of some parts of the data set are others than before, as text, or nil.
local function changed(before, data, parts)
  local now, old, new = hashes_of(data), {}, {}
  for _, part in ipairs(parts) do old[part], new[part] = before.data[part], now[part] end
  return changes(old, new)
end

-- The data set of a script's run, where `before` says that there was one: in the file that it came
-- from, or that is named. With the content of the run's it also has the run's split, which the
-- script may have made; with another content its own, or the default one.
local function data_of_script(folder, before, named)
  local source = before and before.source
  if not named and not source then
    errors.fail(("%s: the run's data set was a script's own; name it with --dataset (in Lua "
      .. "dataset, or data)"):format(folder))
  end
  local data = data_sets.load(named or source.path, {directed = source and source.directed})
  local content = before and changed(before, data, CONTENT)
  local split = before and changed(before, data, SPLIT)
  if split and not content and folder:has "predictions.npz" then
    take_split(data, folder:file "predictions.npz")
  elseif not named and (content or split) then
    refuse(folder, data, content or split)
  elseif not data.train then
    splits.apply({where = data.name}, data)
    notes.tell(data.notes)
  end
  return data
end

-- ---------------------------------------------------------------- the run

-- The settings of the run in the folder, empty where it has none; whether they are those of
-- `ladies train`, which say how all of it is made; and what its checkpoint says of it, or nil.
local function read(folder)
  local settings = folder:has "config.json" and folder:read_json "config.json" or nil
  local before
  if folder:has "checkpoint.npz" then before = run_identity.read(folder:file "checkpoint.npz") end
  local whole = settings ~= nil and settings.preset ~= nil
  local kind = folder:kind()
  if kind and kind ~= "run" then errors.fail(("%s holds a %s, not a run"):format(folder, kind)) end
  if not folder:has "model.npz" then
    errors.fail((whole and "the run in %s is not finished; go on with: ladies train --resume %s"
      or before and "the run in %s is not finished; the script that began it goes on with it"
      or "there is no run in %s"):format(folder, folder))
  end
  return settings or before and before.settings or {}, whole, before
end

-- What makes or is the model of the run: a function(settings, data), a table, or nil for ours; from
-- what was given, or from code of the user's own that the run was trained with.
local function maker_of(path, given, settings)
  local name = type(given) == "string" and own_code.load("model", given)
  if settings.model_code and (name or not given) then
    own_code.check(path, settings, "model")
    name = settings.model
  end
  return name and models.by_name[name].make or given
end

-- The model in the folder; given: a model to fill, or the function that makes it, or nil.
local function model_of(path, given, settings, data)
  if type(given) == "function" then
    given = options.value(path, "what the function makes", given(settings, data), "table")
  end
  local model = model_file.load(path, given)
  local c = model.config
  if c and c.inputs and (c.inputs ~= data.features.n_cols or c.outputs ~= data.classes) then
    errors.fail(("the model in %s is for %d features and %d classes, %s has %d and %d"):format(
      path, c.inputs, c.outputs, data.name, data.features.n_cols, data.classes))
  end
  return model
end

--- ladies.saved_run(path [, {dataset =, data =, model =, method =, sampler =}]) -> SavedRun: the
-- finished run in a folder, of `ladies train` or of ladies.train{out = path}, to use its model: a
-- table with `path`, `data`, `model` and, of `ladies train`, `config`; see its methods nodes and
-- logits.
-- dataset    the name or path of another data set than the run's, with as many features and
--            classes; it has its own split or the default one. The run's own must be as it was. It
--            has to be named where a script had made it.
-- data       a data set of one's own instead, taken as it is
-- model      where the run's file does not say how its model is built: a model to fill with its
--            parameters, function(settings, data) -> model, or the file of a model of one's own
-- method     for sampled inference, the file of a method of one's own that the run was trained with
-- sampler    for sampled inference, where a script had its own
function SavedRun.new(path, given)
  local opts = options.check("ladies.saved_run", given, {
    dataset = "string or nil", data = "Dataset or nil", sampler = "callable or nil",
    model = "string or function or table or nil", method = "string or nil",
  })
  local folder = own_folder.at(options.value("ladies.saved_run", "the path", path, "string"))
  local settings, whole, before = read(folder)
  if opts.method and not settings.method_code then
    errors.fail(("%s: the run was not trained with a method of one's own; leave --method out (in "
      .. "Lua method)"):format(path))
  elseif opts.method then
    own_code.load("method", opts.method)
  end
  local maker = maker_of(path, opts.model, settings)
  local config = whole and own_code.is_here(settings)
    and experiment.stored(settings, folder:file "config.json") or settings
  local data = opts.data or whole and data_of_experiment(path, config, before, opts.dataset)
    or data_of_script(folder, before, opts.dataset)
  return setmetatable({path = path, config = whole and config or nil, data = data,
    model = model_of(path, maker, config, data), sampler = opts.sampler,
    batch_size = settings.batch_size}, SavedRun)
end

--- run:nodes(part: string) -> Index: the nodes of a part of the split, an Index: "train", "val",
-- "test", "labelled" (every node with a label) or "all".
function SavedRun:nodes(part)
  local data = self.data
  if part == "all" then return core.range(1, data.graph.n_nodes) end
  if part == "labelled" then return label_kinds.labelled(data.labels) end
  if not data[part] or #data[part] == 0 then
    errors.fail(("%s has no %s nodes"):format(data.name, part))
  end
  return data[part]
end

-- The sampler of the run, with another number of samples where it is given.
local function sampler_of(run, samples)
  local config = run.config
  if run.sampler and not samples then return run.sampler end
  if not config then
    errors.fail(("%s was trained by a script's own sampler, %s"):format(run.path, run.sampler
      and "which has its own number of samples"
      or "which is no data: only exact inference is possible without it (in Lua sampler)"))
  end
  own_code.check(run.path, config, "method")
  local reason = methods.by_name[config.method].exact_only
  if reason then
    errors.fail(("%s has no sampled inference: %s"):format(config.method, reason))
  elseif samples and not config.samples then
    errors.fail(("%s takes no number of samples"):format(config.method))
  end
  return experiment.sampler(config, run.data, run.model, samples)
end

-- Fails for logits of nodes that are no numbers: every class would be as good as any other.
local function checked(run, logits, nodes)
  if logits:is_finite() then return logits end
  for i = 1, #nodes do
    local finite, value = logits[i]:is_finite()
    if not finite then
      errors.fail(("%s: the model's logits are not finite: those of node %d (from 0) have %s")
        :format(run.path, nodes[i] - 1, not_finite(value)))
    end
  end
end

--- run:logits(nodes [, {how = "exact", memory = integer | string, tell = function, samples =
-- integer, draws = 1, seed = 1, smooth = false}]) -> Tensor: the logits of the Index `nodes`,
-- #nodes x classes. how = "exact", over the whole graph; or "sampled", by the run's own sampler,
-- with `samples` (the run's) nodes a layer or neighbours a node, averaged over `draws`, from `seed`
-- memory, of exact inference: see inference.way; tell(text) is called with how it went about it
-- smooth = true: those of smoothing.correct_and_smooth, by the labels of the training nodes
-- Logits that are not finite are an error.
function SavedRun:logits(nodes, given)
  local opts = given or {}
  if opts.smooth then
    local logits = self:logits(self:nodes "all", tables.merged(opts, {smooth = false}))
    return checked(self, smoothing.correct_and_smooth(self.data, logits)[nodes], nodes)
  end
  if opts.how ~= "sampled" then
    local way = inference.way{nodes = nodes, memory = opts.memory}
    local logits = inference.exact(self.model, self.data, {way = way})
    if opts.tell then opts.tell(tostring(way)) end
    return checked(self, logits, nodes)
  end
  return checked(self, inference.sampled(self.model, self.data, nodes, {
    sampler = sampler_of(self, opts.samples), batch_size = self.batch_size, draws = opts.draws,
    seed = opts.seed,
  }), nodes)
end

--- run:page([part: string]) -> string: the run as one page of HTML that needs nothing else: what it
-- came to, its curves, which classes are taken for which, the nodes of `part` (test, or else val;
-- see nodes) that the model is most wrong about, and the configuration. `ladies view` writes it.
function SavedRun:page(part) return run_page(self, part) end

return SavedRun
