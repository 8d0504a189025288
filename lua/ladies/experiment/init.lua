--- Experiments: from a plain table of settings to a trained model. `ladies train` is this with a
-- command line in front.

local core = require "ladies_core"
local complete = require "ladies.data.complete"
local data_sets = require "ladies.data"
local label_kinds = require "ladies.data.labels"
local methods = require "ladies.experiment.methods"
local metrics = require "ladies.evaluation.metrics"
local nn = require "ladies.nn"
local notes = require "ladies.data.notes"
local options = require "ladies.base.options"
local presets = require "ladies.experiment.presets"
local splits = require "ladies.data.splits"
local summary = require "ladies.training.summary"
local train = require "ladies.training.train"

local WHERE = "ladies.experiment"

local experiment = {}

-- From this many nodes on exact inference costs as much as tens of batches.
local LARGE = 20000

-- The stream of validation's draws, apart from those of the batches and of the first weights.
local VALIDATION = -2

local SPEC = {
  dataset = {"string", "wordnet"}, split = complete.SPEC.split,
  split_seed = complete.SPEC.split_seed, directed = complete.SPEC.directed,
  make_features = complete.SPEC.make_features, max_ids = complete.SPEC.max_ids,
  shuffle = {"none|labels|edges|both", "none"},
  features = "as_given|row_normalized",
  method = {methods.names, "ladies"},
  preset = {"default|paper|code", "default"},
  layers = "positive integer", hidden = "positive integer",
  batch_size = "positive integer", epochs = "positive integer",
  max_batches = "positive integer or nil", max_seconds = "positive number or nil",
  seed = "integer", lr = "positive number", clip = "non-negative number",
  weight_decay = "non-negative number", normalize = "sym|row",
  activation = "string", order = "string", head = "string",
  dropout = "number in [0, 1)", head_dropout = "number in [0, 1)", validation = "exact|sampled",
  eval_every = "positive integer or nil", patience = "non-negative integer",
  min_gain = "non-negative number", best = "highest|gain",
}

--- All settings of an experiment: those of `given`, checked, and for the others those of its method
-- and of the preset that given.preset names. The keys are those of ladies.presets, of the method's
-- sampler (see ladies.experiment.methods), and dataset, the options of ladies.data.load, shuffle
-- (see ladies.data.shuffled), method, preset, max_batches, max_seconds.
function experiment.configure(given)
  options.value(WHERE, "the settings", given, "table")
  local preset = options.value(WHERE, "preset", given.preset or "default", SPEC.preset[1])
  local name = options.value(WHERE, "method", given.method or SPEC.method[2], SPEC.method[1])
  local method, spec = methods.by_name[name], methods.types(WHERE, name, given)
  for key, type_text in pairs(SPEC) do spec[key] = type_text end
  local defaults = {}
  for _, settings in ipairs{presets[preset], method.settings} do
    for key, value in pairs(settings) do defaults[key] = value end
  end
  for key, value in pairs(defaults) do
    if spec[key] then spec[key] = {spec[key], value} end
  end
  local config = options.check(WHERE, given, spec)
  if config.validation == "sampled" and method.settings.validation == "exact" then
    options.fail(("%s: the method %s has no sampled validation"):format(WHERE, name))
  end
  return config
end

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
  if not data.train and (data.val or data.test) then
    options.fail(("%s: %s has nodes for validation or test but none for training; --split (in Lua "
      .. "split) splits all of them"):format(WHERE, data.name))
  elseif not data.train then
    config.split, config.split_seed = splits.apply({where = data.name}, data, nil,
      config.split_seed)
    notes.tell(data.notes)
  end
  return data
end

--- Settles in a configuration what depends on the data set: how often to validate, every 10 batches
-- as in the paper, or every 100 on a large graph; and the method's own.
function experiment.settle(config, data)
  if not data.train then
    options.fail(("%s: %s has no nodes for training; data:split() makes a split"):format(WHERE,
      data.name))
  end
  local settle = methods.by_name[config.method].settle
  if settle then settle(config, data) end
  config.eval_every = config.eval_every or (data.graph.n_nodes < LARGE and 10 or 100)
end

--- The data set of a configuration, which is settled for it. Where the data set has no split, the
-- configuration gets `split` and `split_seed`, with which the same one is made again.
function experiment.load(config)
  local data = load(config)
  if config.shuffle ~= "none" then data = data_sets.shuffled(data, {what = config.shuffle}) end
  if config.features == "row_normalized" then data = data_sets.row_normalized(data) end
  experiment.settle(config, data)
  return data
end

-- What the paper counts as the memory of a batch; see ladies.summary.paper_memory.
local function memory_counter(data, config, method)
  return function(input, hidden)
    if method.nominal_rows then input, hidden = method.nominal_rows(data, config) end
    return summary.paper_memory{
      features = data.features.n_cols, width = config.hidden, layers = config.layers,
      input = input, hidden = hidden,
    }
  end
end

--- The model of a configuration, with its first weights.
function experiment.model(config, data)
  return nn.gcn{
    inputs = data.features.n_cols, hidden = config.hidden, outputs = data.classes,
    layers = config.layers, activation = config.activation, dropout = config.dropout,
    head = config.head, head_dropout = config.head_dropout, order = config.order,
    normalize = config.normalize, lambda = config.lambda, seed = config.seed,
  }
end

--- The training nodes of a batch; full batches have all of them.
function experiment.batch_size(config, data)
  return config.method == "full" and #data.train or config.batch_size
end

--- The sampler of a configuration, which is settled, with `samples` in place of its own where they
-- are given.
function experiment.sampler(config, data, samples)
  experiment.settle(config, data)
  return methods.by_name[config.method].make(data, config, samples or config.samples)
end

-- Told once, however many runs there are.
local function tell_no_validation(data)
  local line = {}
  notes.add({where = data.name}, line, "there are no nodes for validation: training goes on to its "
    .. "last batch, and that model is kept")
  notes.tell(line)
end

--- Makes sampler and model, trains, and returns what ladies.train does, and the model. config: all
-- settings, as experiment.configure gives them; data: the data set; the fields of `extra` (out,
-- resume, quiet, checkpoint_every, on_validation, workers) are those of ladies.train.
function experiment.run(config, data, extra)
  experiment.settle(config, data)
  local sampler = experiment.sampler(config, data)
  local model = experiment.model(config, data)
  local method, title = methods.of(config)
  local validate
  if not data.val then tell_no_validation(data) end
  if config.validation == "sampled" and data.val then
    validate = sampled_validation(data, experiment.sampler(config, data, 20 * config.samples),
      config)
  end
  return train{
    data = data, model = model, sampler = sampler, validate = validate,
    lr = config.lr, weight_decay = config.weight_decay,
    clip = config.clip > 0 and config.clip or nil,
    batch_size = experiment.batch_size(config, data),
    epochs = config.epochs, max_batches = config.max_batches, max_seconds = config.max_seconds,
    seed = config.seed,
    monitor = {name = "micro-F1"},
    eval_every = config.eval_every, patience = config.patience, min_gain = config.min_gain,
    best = config.best, settings = config, out = extra.out, resume = extra.resume,
    quiet = extra.quiet, checkpoint_every = extra.checkpoint_every,
    on_validation = extra.on_validation,
    workers = extra.workers, method = title,
    count_memory = memory_counter(data, config, method),
  }, model
end

return experiment
