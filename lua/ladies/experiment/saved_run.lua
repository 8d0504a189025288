--- Loads the model of a finished run from the run's folder, with its data set and its sampler, to
-- use it again. If the run is one of `ladies train`, its settings say how all parts are made. If a
-- script made it (ladies.train{out = ...}), the folder says how the model is built if it is one of
-- the library's, from which file the data set came, if it came from one, and how its nodes were
-- split.

local core = require "ladies_core"
local data_sets = require "ladies.data"
local errors = require "ladies.base.errors"
local experiment = require "ladies.experiment"
local fields = require "ladies.base.fields"
local hashes = require "ladies.data.hashes"
local inference = require "ladies.evaluation.inference"
local methods = require "ladies.experiment.methods"
local model_file = require "ladies.nn.model_file"
local models = require "ladies.experiment.models"
local notes = require "ladies.data.notes"
local not_finite = require("ladies.base.units").not_finite
local options = require "ladies.base.options"
local own_code = require "ladies.experiment.own_code"
local own_folder = require "ladies.base.own_folder"
local propagation = require "ladies.graph.propagation"
local run_identity = require "ladies.training.checkpoint.identity"
local run_page = require "ladies.experiment.run_page"
local smoothing = require "ladies.evaluation.smoothing"
local splits = require "ladies.data.splits"
local standardized = require "ladies.data.standardized"
local tables = require "ladies.base.tables"
local tell = require "ladies.base.tell"
local task_of = require("ladies.task").of
local tasks = require "ladies.experiment.tasks"
local unlabelled = require "ladies.experiment.unlabelled"

local SavedRun = {__name = "ladies.SavedRun"}
SavedRun.__index = SavedRun
fields.of_class(SavedRun, "path config data source:table task:Task model sampler:function|table "
  .. "batch_size:integer in_time:boolean",
  {nodes = "run:units(part) are the units of its task, such as nodes"})

local CONTENT, SPLIT = {"edges", "features", "labels"}, {"train", "val", "test"}

-- ---------------------------------------------------------------- its data set

-- Raises the error for a data set of which these parts have changed since the run began.
local function refuse(path, data, parts)
  errors.fail(("%s: %s has changed since the run (%s); to use the model on it all the same, name "
    .. "it with --dataset (in Lua dataset)"):format(path, data.name, parts))
end

-- Tells whether each node has a column of its own, as features that are made of the graph alone.
local function is_identity(features)
  return options.class_of(features) == "Matrix" and features.n_rows == features.n_cols
    and features.nnz == features.n_rows and features:loops() == features.n_rows
end

-- Loads the data set of a run of `ladies train`, or the one `named` in its place, which has its own
-- split or the default one; features are standardized by the scale that the run has kept.
local function data_of_experiment(path, config, before, named, scale)
  if named then config.dataset, config.split = named, nil end
  if named and config.features == "standardized" and not scale then
    errors.fail(("%s: the run is of a version that did not keep the scale of its features; give "
      .. "data = ladies.data.standardized(other, own) in Lua"):format(path))
  end
  -- The run has told what there is to tell about its own data set.
  local data = named and experiment.read(config, scale)
    or notes.silently(experiment.read, config, scale)
  local parts = before and hashes.differing(before.data, hashes.of(data))
  if parts and not named then refuse(path, data, parts) end
  if parts and is_identity(data.features) then
    tell("%s: is another data set than the run's (%s): with identity features a node is what the "
      .. "run's node in its place was, whatever it is called", data.name, parts)
  end
  return data
end

-- Gives a data set the split of a run, which is read from the run's predictions.
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

-- Tells which of some parts of the data set have changed, as text, or nil.
local function changed(before, data, parts)
  local now, old, new = hashes.of(data), {}, {}
  for _, part in ipairs(parts) do old[part], new[part] = before.data[part], now[part] end
  return hashes.differing(old, new)
end

-- Loads the data set of a script's run, from the file from which it came then, as `before` says, or
-- the one `named`. If its content is that of the run's data set it gets the run's split, which the
-- script may have made; otherwise it has its own or the default one. Features are standardized as
-- the script's were.
local function data_of_script(folder, before, named, scale)
  local source = before and before.source
  if not named and not source then
    errors.fail(("%s: the run's data set was a script's own; name it with --dataset (in Lua "
      .. "dataset, or data)"):format(folder))
  end
  local data = data_sets.load(named or source.path, {directed = source and source.directed})
  if scale then data = standardized.by_scale(data, scale, "the run's data set") end
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

-- Reads the settings of the run in the folder, empty where it has none. Returns them, whether they
-- are those of `ladies train`, which say how all parts are made, and what the checkpoint says about
-- the run, or nil.
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

-- Returns the model to fill, or a function(settings, data) that makes it, as the user gave it or
-- from the user's own code with which the run was trained; nil where the model is one of the
-- library's.
local function maker_of(path, given, settings)
  local name = type(given) == "string" and own_code.load("model", given)
  if settings.model_code and (name or not given) then
    own_code.check(path, settings, "model")
    name = settings.model
  end
  return name and models.by_name[name].make or given
end

-- Loads the model in the folder; given: a model to fill, or the function that makes it, or nil.
local function model_of(path, given, settings, task)
  local data = task.data
  if type(given) == "function" then
    given = options.value(path, "what the function makes", given(settings, data, task), "table")
  end
  if given and options.class_of(given) ~= "Matrix" then task:equip(given) end
  local model = model_file.load(path, given)
  local c = model.config
  if c and c.inputs and (c.inputs ~= data.features.n_cols
    or task.outputs and c.outputs ~= task.outputs) then
    errors.fail(("the model in %s is for %d features and %d %s, %s has %d and %d"):format(
      path, c.inputs, c.outputs, task.outputs_are, data.name, data.features.n_cols,
      task.outputs or c.outputs))
  end
  return model
end

-- The task of the run: that of its settings, one that was given, or the one that the data set is
-- for.
local function task_of_run(path, config, whole, given, data)
  if options.class_of(given) == "Task" then return given end
  if config.task_code then own_code.check(path, config, "task") end
  return whole and tasks.of(config, data) or task_of(data)
end

--- ladies.saved_run(path [, {dataset =, data =, task =, model =, method =, sampler =}]) ->
-- SavedRun: loads the finished run in a folder, of `ladies train` or of ladies.train{out = path},
-- to use its model. It returns a table with `path`, `data`, `task`, `model` and, of `ladies train`,
-- `config`; see its methods units and scores.
-- dataset    the name or path of another data set than the run's, with as many features and
--            classes, of the same names in the same order where both have names, or without any
--            labels and targets; it has its own split or the default one.
--            The run's own must be as it was. It has to be named where a script had made it.
-- data       a data set of one's own instead, taken as it is
-- model      where the run's file does not say how its model is built: a model to fill with its
--            parameters, function(settings, data) -> model, or the file of a model of one's own
-- method     for sampled inference, the file of a method of one's own that the run was trained with
-- sampler    for sampled inference, where a script had its own
-- task       the file of a task of one's own that the run was trained for; of a script's run, the
--            task itself, on the data set
function SavedRun.new(path, given)
  local opts = options.check("ladies.saved_run", given, {
    dataset = "string or nil", data = "Dataset or nil", sampler = "callable or nil",
    model = "string or function or table or nil", method = "string or nil",
    task = "string or Task or nil",
  })
  local folder = own_folder.at(options.value("ladies.saved_run", "the path", path, "string"))
  local settings, whole, before = read(folder)
  for what, words in pairs{method = "with a method", task = "for a task"} do
    local file = type(opts[what]) == "string" and opts[what]
    if file and not settings[what .. "_code"] then
      errors.fail(("%s: the run was not trained %s of one's own; leave --%s out (in Lua %s)")
        :format(path, words, what, what))
    elseif file then
      own_code.load(what, file)
    end
  end
  local maker = maker_of(path, opts.model, settings)
  local config = whole and own_code.is_here(settings)
    and experiment.stored(settings, folder:file "config.json") or settings
  local own_task = options.class_of(opts.task) == "Task" and opts.task or nil
  local scale = model_file.scale(folder:file "model.npz")
  local data = opts.data or own_task and own_task.data
    or whole and data_of_experiment(path, config, before, opts.dataset, scale)
    or data_of_script(folder, before, opts.dataset, scale)
  if opts.dataset then data = unlabelled(folder, data) end
  local task = task_of_run(path, config, whole, opts.task, data)
  if task.decoder and whole and not maker then
    maker = models.by_name[config.model or "gcn"].make
  end
  local model = model_of(path, maker, config, task)
  if opts.dataset or opts.data then run_identity.check_names(path, before or {}, data) end
  return setmetatable({path = path, config = whole and config or nil, data = task.data, task = task,
    source = data, model = model, sampler = opts.sampler,
    batch_size = settings.batch_size, in_time = settings.in_time}, SavedRun)
end

--- run:units(part: string) -> Index: the units of the task of a part of the split, nodes where the
-- task is of nodes: "train", "val", "test", "labelled" (every one with a target) or "all".
function SavedRun:units(part) return self.task:units_of(part) end

-- Makes the sampler of the run, with another number of samples if that is given.
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
  if reason and not run.task.infer then
    errors.fail(("%s has no sampled inference: %s"):format(config.method, reason))
  elseif samples and not config.samples then
    errors.fail(("%s takes no number of samples"):format(config.method))
  end
  return experiment.sampler(config, run.source, run.model, samples)
end

-- Fails if logits are not finite, since then they predict nothing; otherwise returns them.
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

--- run:logits(nodes [, {how = "exact", memory = integer | string, ranks_infer = string, tell =
-- function, samples = integer, draws = 1, seed = 1, smooth = false}]) -> Tensor: the logits of the
-- Index `nodes`, #nodes x classes. how = "exact", over the whole graph; or "sampled", by the run's
-- own sampler, with `samples` (the run's) nodes a layer or neighbours a node, averaged over
-- `draws`, from `seed`
-- memory, ranks_infer, of exact inference: see inference.way; tell(text) is called with how it went
-- about it
-- smooth = true: those of smoothing.correct_and_smooth, by the labels of the training nodes
-- Logits that are not finite are an error.
function SavedRun:logits(nodes, given)
  local opts = given or {}
  if self.task.infer or self.in_time and opts.how ~= "sampled" then
    errors.fail(("%s: %s"):format(self.path, propagation.LOOKS_AHEAD))
  end
  if opts.smooth then
    if self.task.unit ~= "node" or self.task.outputs_are ~= "classes" then
      errors.fail(("%s: Correct and Smooth is of classes of nodes, and the run's task is %s")
        :format(self.path, self.task.name))
    end
    local all = core.range(1, self.data.graph.n_nodes)
    local logits = self:logits(all, tables.merged(opts, {smooth = false}))
    return checked(self, smoothing.correct_and_smooth(self.data, logits)[nodes], nodes)
  end
  if opts.how ~= "sampled" then
    local way = inference.way{nodes = nodes, memory = opts.memory, ranks_infer = opts.ranks_infer}
    local logits = inference.exact(self.model, self.data, {way = way})
    if opts.tell then opts.tell(tostring(way)) end
    return checked(self, logits, nodes)
  end
  return checked(self, inference.sampled(self.model, self.data, nodes, {
    sampler = sampler_of(self, opts.samples), batch_size = self.batch_size, draws = opts.draws,
    seed = opts.seed,
  }), nodes)
end

--- run:scores(units: Index [, {how = "exact", memory = integer | string, ranks_infer = string, tell
-- = function, samples = integer, draws = 1, seed = 1, smooth = false}]) -> any: what the model
-- gives for some units of its task, by the logits of the nodes that they need: of nodes, these
-- logits. The options are those of `logits`.
function SavedRun:scores(units, given)
  local task = self.task
  if task.unit ~= "node" and given and given.how == "sampled" then
    errors.fail(("%s: sampled inference is of nodes, and the task %s is of %ss"):format(self.path,
      task.name, task.unit))
  end
  local out, wrong
  if task.infer then
    out, wrong = task:inferred(self.path, units, self.model, sampler_of(self))
  else
    local nodes = task.nodes and task.nodes(units) or core.range(1, self.data.graph.n_nodes)
    out, wrong = core.no_grad(task.scored, task, self:logits(nodes, given), units, self.model)
  end
  if out then return out end
  errors.fail(("%s: what the model gives is not finite: it has %s"):format(self.path,
    not_finite(wrong)))
end

--- run:top(k: integer [, given: table]) -> table | nil: of a run of link prediction without
-- relations, for each node the k pairs without an edge that have the highest scores: {from = Index,
-- to = Index, rank = Index, scores = Tensor}, see links.top. The other end is `to`, or `from` where
-- the run has corrupt = "from". In time, after the last edge. The options are those of `logits`,
-- and each: a function that is called with such a table for some nodes at a time, in place of a
-- result.
function SavedRun:top(k, given)
  local task, each = self.task, given and given.each
  options.value("run:top", "k", k, "positive integer")
  options.value("run:top", "each", each, "callable or nil")
  if not task.top then
    errors.fail(("%s: the best pairs are asked for, and the task %s has none: link prediction "
      .. "without relations has"):format(self.path, task.name))
  end
  local found = core.no_grad(task.top, function(nodes, times)
    if not task.infer then return self:logits(nodes, given) end
    return checked(self, inference.in_time(self.model, self.data, nodes, times,
      {sampler = sampler_of(self)}), nodes)
  end, self.model, k, each)
  if not (each and found) then return found end
  each(found)                          -- of a task that gives all at once
end

--- run:page([part: string]) -> string: the run as one page of HTML that needs nothing else: what it
-- came to, its curves, what the task shows of a part (test, or else val; see units), such as which
-- classes are taken for which, and the configuration. `ladies view` writes it.
function SavedRun:page(part) return run_page(self, part) end

return SavedRun
