--- Experiments: from a plain table of settings to a trained model. `ladies train` is this with a
-- command line in front.

local core = require "ladies_core"
local complete = require "ladies.data.complete"
local configuration = require "ladies.experiment.configuration"
local data_sets = require "ladies.data"
local errors = require "ladies.base.errors"
local label_kinds = require "ladies.data.labels"
local methods = require "ladies.experiment.methods"
local metrics = require "ladies.evaluation.metrics"
local notes = require "ladies.data.notes"
local options = require "ladies.base.options"
local own_code = require "ladies.experiment.own_code"
local paths = require "ladies.base.paths"
local readers = require "ladies.data.formats.readers"
local run_identity = require "ladies.training.run_identity"
local settings = require "ladies.experiment.settings"
local splits = require "ladies.data.splits"
local summary = require "ladies.training.summary"
local tables = require "ladies.base.tables"
local train = require "ladies.training.train"
local validation = require "ladies.training.validation"

local WHERE = "ladies.experiment"

local experiment = {configure = configuration.of, own = own_code.settings,
  same_model = configuration.same_model, stored = configuration.stored}

-- The stream of validation's draws, apart from those of the batches and of the first weights.
local VALIDATION = -2

-- Micro-F1 on a batch of validation nodes, sampled with 20 times the samples: the authors' way.
local function sampled_validation(data, sampler, config)
  local size = math.min(config.batch_size, #data.val)
  local rng = core.rng(config.seed):fork(VALIDATION)
  local predict = label_kinds.kind_of(data.labels).predict
  return function(model, number)
    local draw = rng:fork(number)
    local nodes = data.val[core.sampling.uniform(#data.val, size, {rng = draw})]
    local batch = sampler(nodes, draw:fork(1))
    local logits = core.no_grad(model.forward, model, data.features, batch, false)
    local finite, value = logits:is_finite()
    if not finite then return value end
    return metrics.micro_f1(predict(logits), data.labels[batch.output])
  end
end

-- The data set as the configuration has it read. One without a split gets the default one, which is
-- then part of the configuration.
local function load(config)
  local opts = {}
  for key in pairs(complete.SPEC) do opts[key] = config[key] end
  local data = data_sets.load(config.dataset, opts)
  local how, seed = splits.complete(WHERE, data, config.split_seed)
  if how then config.split, config.split_seed = how, seed end
  return data
end

--- ladies.experiment.resolve(config, data): gives a value to what a configuration leaves open and
-- the data set decides: how often to validate, and the method's own.
function experiment.resolve(config, data)
  if not data.train then
    errors.fail(('%s: %s has no nodes for training; data:split "10/10/80" makes a split')
      :format(WHERE, data.name))
  end
  local resolve = methods.by_name[config.method].resolve
  if resolve then resolve(config, data) end
  config.eval_every = config.eval_every or validation.interval(data)
end

-- A copy of a data set with rows of features of one size.
local function row_normalized(data)
  if options.class_of(data.features) == "Rows" and not data.features.whole then
    errors.fail(('%s: features = "row_normalized" reads all features, and of those of %s each rank '
      .. "has its own shards; write shards of a data set that is row-normalised"):format(WHERE,
      data.name))
  end
  return data_sets.row_normalized(data)
end

--- ladies.experiment.read(config) -> Dataset: the data set of a configuration. Where it has no
-- split, the configuration gets `split` and `split_seed`, with which the same one is made again;
-- and its paths, of the data set and of files that split it, become those from the root, so that it
-- means the same in every folder.
function experiment.read(config)
  local data = load(config)
  if readers.is_path(config.dataset) then config.dataset = paths.from_root(config.dataset) end
  config.split = splits.from_root(config.split)
  if config.shuffle ~= "none" then data = data_sets.shuffled(data, {what = config.shuffle}) end
  if config.features == "row_normalized" then data = row_normalized(data) end
  return data
end

--- ladies.experiment.load(config) -> Dataset: the data set of a configuration, as
-- ladies.experiment.read gives it, with which the configuration is resolved.
function experiment.load(config)
  local data = experiment.read(config)
  experiment.resolve(config, data)
  return data
end

-- What the paper counts as the memory of a batch; see ladies.summary.paper_memory.
local function memory_counter(data, config)
  if (config.model or "gcn") ~= "gcn" then return nil end
  local nominal_rows = methods.by_name[config.method].nominal_rows
  return function(input, hidden)
    if nominal_rows then input, hidden = nominal_rows(data, config) end
    return summary.paper_memory{
      features = data.features.n_cols, width = config.hidden, layers = config.layers,
      input = input, hidden = hidden,
    }
  end
end

--- ladies.experiment.model(config, data) -> Model: the model of a configuration, with its first
-- weights.
function experiment.model(config, data)
  return configuration.entries(config).model.make(config, data)
end

--- ladies.experiment.batch_size(config, data) -> integer: the training nodes of a batch; full
-- batches have all of them.
function experiment.batch_size(config, data)
  return config.method == "full" and #data.train or config.batch_size
end

--- ladies.experiment.sampler(config, data [, model, samples: integer | integer[]]) -> Sampler: the
-- sampler of a configuration, which is resolved, for a model where the method needs one; with
-- `samples` in place of its own where they are given.
function experiment.sampler(config, data, model, samples)
  experiment.resolve(config, data)
  if samples then config = setmetatable({samples = samples}, {__index = config}) end
  local P = data.graph:normalize(config.normalize)
  return methods.by_name[config.method].make(P, config, data, model)
end

-- What the settings of an experiment say themselves: its parts, and what is counted of them.
local SAID = {"data", "model", "sampler", "P", "optimizer", "settings", "method", "count_memory"}

-- Fails for options of ladies.train that an experiment has by its settings.
local function check_extra(extra)
  for _, name in ipairs(SAID) do
    if extra[name] ~= nil then
      errors.fail(("%s: %s follows from the settings; with one of your own, build the model and "
        .. "the sampler too"):format(WHERE, name))
    end
  end
  for name in pairs(extra) do
    if settings.common[name] then
      errors.fail(("%s: %s is a setting: it belongs to the configuration"):format(WHERE, name))
    end
  end
end

-- Told once, however many runs there are.
local function tell_no_validation(data)
  local line = {}
  notes.add({where = data.name}, line, "there are no nodes for validation: training goes on to its "
    .. "last batch, and that model is kept")
  notes.tell(line)
end

--- ladies.experiment.options(config, data [, extra: table]) -> table: the options of ladies.train
-- for an experiment, with its sampler and its model. config: all settings, as experiment.configure
-- gives them; data: the data set; the fields of `extra` (out, resume, quiet, on_validation, loss,
-- workers, ...) are those options of ladies.train that are no settings.
function experiment.options(config, data, extra)
  check_extra(extra or {})
  experiment.resolve(config, data)
  local model = experiment.model(config, data)
  local sampler = experiment.sampler(config, data, model)
  local validate
  if not data.val then tell_no_validation(data) end
  if config.validation == "sampled" and data.val then
    local own = config.samples
    local many = type(own) == "table" and tables.map(own, function(n) return 20 * n end) or 20 * own
    validate = sampled_validation(data, experiment.sampler(config, data, model, many), config)
  end
  local opts = settings.at(config, "optimizer", "training", "validation")
  opts.validation, opts.validate = nil, validate and run_identity.follows(validate)
  opts.batch_size, opts.seed = experiment.batch_size(config, data), config.seed
  opts.data, opts.model, opts.sampler = data, model, sampler
  opts.settings, opts.method = config, methods.title(config)
  opts.count_memory = memory_counter(data, config)
  if not (extra and extra.validate) then
    opts.monitor = run_identity.follows{name = "micro-F1"}
  end
  return tables.merged(opts, extra)
end

--- ladies.experiment.run(config, data [, extra: table]) -> table, Model: makes sampler and model,
-- trains, and returns what ladies.train does, and the model: of experiment.options(config, data,
-- extra).
function experiment.run(config, data, extra)
  local opts = experiment.options(config, data, extra)
  return train(opts), opts.model
end

return experiment
