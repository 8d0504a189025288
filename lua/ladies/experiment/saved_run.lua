--- Loads the model of a finished run from the run's folder, with its data set and its sampler, to
-- use it again. If the run is one of `ladies train`, its settings say how model, task and sampler
-- are made. If a script made it (ladies.train{out = ...}), the folder says how the model is built
-- if it is one of the library's. Where the data set comes from is the same for both
-- (ladies.experiment.run_data).

local core = require "ladies_core"
local copies = require "ladies.data.copies"
local errors = require "ladies.base.errors"
local experiment = require "ladies.experiment"
local fields = require "ladies.base.fields"
local inference = require "ladies.evaluation.inference"
local methods = require "ladies.experiment.methods"
local model_file = require "ladies.nn.model_file"
local models = require "ladies.experiment.models"
local not_finite = require("ladies.base.units").not_finite
local options = require "ladies.base.options"
local own_code = require "ladies.experiment.own_code"
local own_folder = require "ladies.base.own_folder"
local propagation = require "ladies.graph.propagation"
local run_data = require "ladies.experiment.run_data"
local run_identity = require "ladies.training.checkpoint.identity"
local run_labels = require "ladies.experiment.run_labels"
local run_page = require "ladies.experiment.run_page"
local smoothing = require "ladies.evaluation.smoothing"
local tables = require "ladies.base.tables"
local task_of = require("ladies.task").of
local tasks = require "ladies.experiment.tasks"

local SavedRun = {__name = "ladies.SavedRun"}
SavedRun.__index = SavedRun
fields.of_class(SavedRun, "path config data source:table task:Task model sampler:function|table "
  .. "batch_size:integer in_time:boolean",
  {nodes = "run:units(part) are the units of its task, such as nodes"})

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
    local trouble = folder:has "summary.json" and folder:read_json("summary.json").trouble
    if trouble then errors.fail(("the run in %s has no model: %s"):format(folder, trouble)) end
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
    errors.fail(("the model in %s is for %d features and has %d outputs, %s has %d and %d %s")
      :format(path, c.inputs, c.outputs, data.name, data.features.n_cols,
        task.outputs or c.outputs, task.outputs_are))
  end
  return model
end

-- Returns the task of the run: that of its settings, one that was given, or the one that the data
-- set is for.
local function task_of_run(path, config, whole, given, data)
  if options.class_of(given) == "Task" then return given end
  if config.task_code then own_code.check(path, config, "task") end
  if whole and not config.task and data.graph_of then      -- node classification is not recorded
    errors.fail(("%s: the run is of nodes, and %s has many graphs"):format(path, data.name))
  end
  return whole and tasks.of(config, data) or task_of(data)
end

-- Returns, as a set, which names of edges the run depends on: those of their types or features.
local function reads_of_edges(model, config, task)
  local c = model.config or {}
  return {edge_type_names = c.relations or config.relations or task.name == "edge classification",
    edge_feature_names = (c.edge_inputs or 0) > 0 or tonumber(config.target)}
end

--- ladies.saved_run(path [, {dataset =, data =, task =, model =, method =, sampler =}]) ->
-- SavedRun: loads the finished run in a folder, of `ladies train` or of ladies.train{out = path},
-- to use its model. It returns a table with `path`, `data`, `task`, `model` and, of `ladies train`,
-- `config`; see its methods units and scores.
-- dataset    the name or path of another data set than the run's, to which is done what was done
--            to the run's when it was read, and by functions of ladies.data afterwards (not what a
--            script did to its tensors itself). It must have as many features, of the same names
--            in the same order where both have names; and as many classes, or classes whose names
--            are among the run's, in any order, or neither labels nor targets. It has its own
--            split; or else the run's, if it holds what the run's held, or the default one. The
--            run's own must be as it was. It has to be named where a script had made it.
-- data       a data set of one's own instead, taken as it is but for the order of its classes
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
  local data = opts.data or own_task and own_task.data
    or run_data(folder, whole and config or nil, before, opts.dataset)
  if opts.data or opts.dataset then
    -- Classes with other names than the run's are for run_identity to refuse.
    data = copies.with_classes(run_labels(folder, data), before and before.class_names or {})
  end
  local task = task_of_run(path, config, whole, opts.task, data)
  if task.decoder and whole and not maker then
    maker = models.by_name[config.model or "gcn"].make
  end
  local model = model_of(path, maker, config, task)
  if opts.dataset or opts.data then
    run_identity.check_names(path, before or {}, data, reads_of_edges(model, config, task))
  end
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

-- The options of run:logits and of what goes through it; those of sampled inference have their
-- defaults there.
local OPTIONS = {
  how = {"exact|sampled", "exact"}, smooth = {"boolean", false}, tell = "callable or nil",
  memory = "string or positive number or nil", ranks_infer = "together|alone or nil",
  samples = "positive integer or nil", draws = "positive integer or nil", seed = "integer or nil",
}
local OF_EXACT, OF_SAMPLED = {"memory", "ranks_infer"}, {"samples", "draws", "seed"}

-- Checks these options, and those of the spec `more`; fails for one of the other way of inference.
local function checked_options(where, given, more)
  local opts = options.check(where, given or {}, tables.merged(OPTIONS, more))
  local is_sampled = opts.how == "sampled"
  for _, name in ipairs(is_sampled and OF_EXACT or OF_SAMPLED) do
    if opts[name] ~= nil then
      errors.fail(("%s: %s is of %s inference, and how is %q"):format(where, name,
        is_sampled and "exact" or "sampled", opts.how))
    end
  end
  return opts
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
  local opts = checked_options("run:logits", given)
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
  local task, opts = self.task, checked_options("run:scores", given)
  if task.unit ~= "node" and opts.how == "sampled" then
    errors.fail(("%s: sampled inference is of nodes, and the task %s is of %ss"):format(self.path,
      task.name, task.unit))
  end
  local out, wrong
  if task.infer then
    out, wrong = task:inferred(self.path, units, self.model, sampler_of(self))
  else
    local nodes = task.nodes and task.nodes(units) or core.range(1, self.data.graph.n_nodes)
    out, wrong = core.no_grad(task.scored, task, self:logits(nodes, opts), units, self.model)
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
  local task = self.task
  options.value("run:top", "k", k, "positive integer")
  local opts = checked_options("run:top", given, {each = "callable or nil"})
  local each = opts.each
  opts.each = nil
  if not task.top then
    errors.fail(("%s: the best pairs are asked for, and the task %s has none: link prediction "
      .. "without relations has"):format(self.path, task.name))
  end
  local found = core.no_grad(task.top, function(nodes, times)
    if not task.infer then return self:logits(nodes, opts) end
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
