--- Runs experiments (ladies.experiment): makes data set, sampler and model from a plain table of
-- settings, and trains. `ladies train` is its command line.

local core = require "ladies_core"
local complete = require "ladies.data.complete"
local configuration = require "ladies.experiment.configuration"
local data_sets = require "ladies.data"
local declared = require "ladies.training.declared"
local errors = require "ladies.base.errors"
local methods = require "ladies.experiment.methods"
local notes = require "ladies.data.notes"
local options = require "ladies.base.options"
local optimizers = require "ladies.experiment.optimizers"
local own_code = require "ladies.experiment.own_code"
local paths = require "ladies.base.paths"
local readers = require "ladies.data.formats.readers"
local run_identity = require "ladies.training.checkpoint.identity"
local settings = require "ladies.experiment.settings"
local splits = require "ladies.data.splits"
local summary = require "ladies.training.record.summary"
local tables = require "ladies.base.tables"
local tasks = require "ladies.experiment.tasks"
local train = require "ladies.training.train"
local trained = require "ladies.training.loop.trained"
local validation = require "ladies.training.loop.validation"

local WHERE = "ladies.experiment"

local experiment = {configure = configuration.of, own = own_code.settings,
  same_model = configuration.same_model, stored = configuration.stored}

-- The number of the random stream for validation, different from those of mini-batches and of a
-- network's first weights. (A decoder's have this number, and are forked by nothing further.)
local VALIDATION = -2

-- Returns a function that computes the monitored metric on a batch of validation nodes, sampled
-- with 20 times the samples: the authors' way.
local function sampled_validation(task, sampler, config, name)
  local data, val = task.data, task.units.val
  local size = math.min(config.batch_size, #val)
  local rng = core.rng(config.seed):fork(VALIDATION)
  return function(model, number)
    local draw = rng:fork(number)
    local nodes = val[core.sampling.uniform(#val, size, {rng = draw})]
    local batch = sampler(nodes, draw:fork(1))
    local out = core.no_grad(model.forward, model, data.features, batch, false)
    local finite, value = out:is_finite()
    if not finite then return value end
    return task:values(task.predict(out, batch.output), out, batch.output, {name})[name]
  end
end

-- Loads the data set of a configuration. One without a split gets the default split, which is then
-- noted in the configuration; one without labels and targets has none. Nor is there one for a task
-- of edges, which splits these.
local function load(config)
  local data = data_sets.load(config.dataset, complete.options_of(config))
  local task = tasks.by_name[config.task]
  if task and settings.takes(task, "edge_split") then return data end
  local how, seed = splits.complete(WHERE, data, config.split_seed)
  if how then config.split, config.split_seed = how, seed end
  return data
end

-- Fails for a method that does not go with a task.
local function check_method(config, task)
  local method = methods.by_name[config.method]
  if method.own_seeds and not task.own_seeds then
    errors.fail(("%s: the method %s draws its own seeds, nodes, and the task %s is of %ss"):format(
      WHERE, config.method, task.name, task.unit))
  elseif config.validation == "sampled" and task.unit ~= "node" then
    errors.fail(("%s: validation = sampled is of nodes, and the task %s is of %ss"):format(WHERE,
      task.name, task.unit))
  end
end

--- ladies.experiment.task(config, data) -> Task: the task of a configuration for a data set: the
-- one that it names, or the one that the data set is for. Its `data` is what is trained on.
function experiment.task(config, data)
  options.value(WHERE, "the configuration", config, "table")
  options.value(WHERE, "the data set", data, "Dataset or table")
  if not config.task and not data.train and (data.labels or data.targets) then
    errors.fail(('%s: %s has no nodes for training; data:split "10/10/80" makes a split')
      :format(WHERE, data.name))
  end
  return tasks.of(config, data)
end

--- ladies.experiment.resolve(config, data): gives a value to what a configuration leaves open and
-- the data set decides: how often to validate, the task where it is not node classification, and
-- the method's own.
function experiment.resolve(config, data)
  local task = experiment.task(config, data)
  task:metric(config.monitor, WHERE)
  check_method(config, task)
  local resolve = methods.by_name[config.method].resolve
  if resolve then resolve(config, task.data, #task.units.train) end
  config.eval_every = config.eval_every or validation.interval(data)
end

--- ladies.experiment.with_features(config, data) -> Dataset: a copy of a data set with its features
-- changed as the setting `features` says.
function experiment.with_features(config, data)
  options.value(WHERE, "the configuration", config, "table")
  options.value(WHERE, "the data set", data, "Dataset")
  local how = options.value(WHERE, "features", config.features, "row_normalized|standardized")
  if options.class_of(data.features) == "Rows" and not data.features.whole then
    errors.fail(('%s: features = "%s" reads all features, and of those of %s each rank has its own '
      .. "shards; write shards of a data set that is %s"):format(WHERE, how, data.name,
      how == "standardized" and "standardized" or "row-normalised"))
  end
  return data_sets[how](data)
end

--- ladies.experiment.read(config) -> Dataset: reads the data set of a configuration. Where it has
-- no split, one is made, and the configuration gets `split` and `split_seed`, with which the same
-- split can be made again; and its paths, of the data set and of files that split it, become those
-- from the root, so that it means the same in every folder.
function experiment.read(config)
  local data = load(config)
  if readers.is_path(config.dataset) then config.dataset = paths.from_root(config.dataset) end
  config.split = splits.from_root(config.split)
  if config.shuffle ~= "none" then data = data_sets.shuffled(data, {what = config.shuffle}) end
  if config.features ~= "as_given" then data = experiment.with_features(config, data) end
  return data
end

--- ladies.experiment.load(config) -> Dataset: reads the data set of a configuration by
-- ladies.experiment.read, and resolves the configuration with it.
function experiment.load(config)
  local data = experiment.read(config)
  experiment.resolve(config, data)
  return data
end

-- Returns a function that counts the memory of a batch as the paper does (see
-- ladies.training.record.summary), or nil for models and tasks that the paper does not have.
local function memory_counter(data, config, task)
  if (config.model or "gcn") ~= "gcn" or task.unit ~= "node" then return nil end
  local nominal_rows = methods.by_name[config.method].nominal_rows
  return function(input, hidden)
    if nominal_rows then input, hidden = nominal_rows(data, config) end
    return summary.paper_memory{
      features = data.features.n_cols, width = config.hidden, layers = config.layers,
      input = input, hidden = hidden,
    }
  end
end

--- ladies.experiment.model(config, data) -> Model: makes the model of a configuration, with its
-- first weights.
function experiment.model(config, data)
  local task = experiment.task(config, data)
  return task:equip(configuration.entries(config).model.make(config, task.data, task))
end

--- ladies.experiment.batch_size(config, data) -> integer: the training nodes of a batch, or edges
-- or graphs where the task is of these; full batches have all of them.
function experiment.batch_size(config, data)
  local of_task = config.method == "full" and experiment.task(config, data)
  return of_task and #of_task.units.train or config.batch_size
end

--- ladies.experiment.sampler(config, data [, model, samples: integer | integer[]]) -> Sampler:
-- makes the sampler of a resolved configuration; `model` is for methods that need the model, and
-- `samples` replaces the configuration's own if given.
function experiment.sampler(config, data, model, samples)
  experiment.resolve(config, data)
  if samples then config = setmetatable({samples = samples}, {__index = config}) end
  local task = experiment.task(config, data)
  local P = task.data.graph:normalize(config.normalize)
  return methods.by_name[config.method].make(P, config, task.data, model, task)
end

-- Options of ladies.train that cannot be given for an experiment, since its settings determine
-- them: the parts of the run.
local SAID = {"data", "task", "model", "sampler", "P", "optimizer", "settings", "method",
  "count_memory"}

-- Fails for options of ladies.train that the settings of an experiment determine.
local function check_extra(extra)
  for _, name in ipairs(SAID) do
    if extra[name] ~= nil then
      errors.fail(("%s: %s follows from the settings; with one of your own, build the model and "
        .. "the sampler too"):format(WHERE, name))
    end
  end
  for name, value in pairs(extra) do
    if settings.common[name] and not declared.is_code(name, value) then
      errors.fail(("%s: %s is a setting: it belongs to the configuration"):format(WHERE, name))
    end
  end
end

-- Notes that there are no units for validation; the note is printed once, however many runs there
-- are.
local function tell_no_validation(data, task)
  local line = {}
  notes.add({where = data.name}, line, "there are no %ss for validation: training goes on to its "
    .. "last batch, and that model is kept", task.unit)
  notes.tell(line)
end

-- Makes the optimizer that a configuration names.
local function optimizer_of(config, model, sampler)
  local make = optimizers.by_name[config.optimizer].make
  return trained.made(function(parameters) return make(parameters, config, model) end, model,
    trained.of_sampler(sampler), config.groups)
end

--- ladies.experiment.options(config, data [, extra: table]) -> table: makes the sampler and the
-- model of an experiment and returns the options of ladies.train for it. config: all settings, as
-- experiment.configure gives them; data: the data set; the fields of `extra` (out, resume, quiet,
-- on_validation, loss, workers, ...) are those options of ladies.train that are no settings.
function experiment.options(config, data, extra)
  check_extra(extra or {})
  experiment.resolve(config, data)
  local task = experiment.task(config, data)
  local model = experiment.model(config, data)
  local sampler = experiment.sampler(config, data, model)
  local monitor, validate = task:metric(config.monitor, WHERE), nil
  if not task.units.val then tell_no_validation(data, task) end
  if config.validation == "sampled" and task.units.val then
    local own = config.samples
    local many = type(own) == "table" and tables.map(own, function(n) return 20 * n end) or 20 * own
    validate = sampled_validation(task, experiment.sampler(config, data, model, many), config,
      monitor.name)
  end
  local opts = settings.at(config, "optimizer", "training", "validation")
  if config.optimizer then
    for name in pairs(declared.of_default_optimizer) do opts[name] = nil end
    opts.optimizer = run_identity.follows(optimizer_of(config, model, sampler))
  end
  opts.validation = validate and run_identity.follows(validate) or "exact"
  opts.batch_size, opts.seed = experiment.batch_size(config, data), config.seed
  opts.data, opts.task = task.data, run_identity.follows(task)
  opts.model, opts.sampler = model, sampler
  opts.settings, opts.method = config, methods.title(config)
  opts.count_memory = memory_counter(data, config, task)
  opts.monitor = nil
  if not (extra and extra.validation) then
    opts.monitor = run_identity.follows{name = monitor.name, mode = monitor.mode,
      relative = not monitor.percent}
  end
  return tables.merged(opts, extra)
end

--- ladies.experiment.run(config, data [, extra: table]) -> table, Model: makes sampler and model,
-- trains with the options of experiment.options(config, data, extra), and returns the summary of
-- ladies.train, and the model.
function experiment.run(config, data, extra)
  local opts = experiment.options(config, data, extra)
  return train(opts), opts.model
end

return experiment
