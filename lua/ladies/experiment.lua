--- Experiments: from a plain table of settings to a trained model. `ladies train` is this with a
-- command line in front.

local core = require "ladies_core"
local data_sets = require "ladies.data"
local metrics = require "ladies.metrics"
local nn = require "ladies.nn"
local options = require "ladies.options"
local presets = require "ladies.presets"
local samplers = require "ladies.samplers"
local summary = require "ladies.summary"
local train = require "ladies.train"

local experiment = {}

-- From this many nodes on exact inference costs as much as tens of batches.
local LARGE = 20000

-- The stream of validation's draws, apart from those of the batches and of the first weights.
local VALIDATION = -2

local function repeated(value, n)
  local list = {}
  for i = 1, n do list[i] = value end
  return list
end

-- The methods by name: P, the settings and the samples for a layer -> sampler.
local METHODS = {
  ladies = function(P, config, samples)
    return samplers.ladies(P, {
      sizes = repeated(samples, config.layers), method = config.draw, debias = config.debias,
      union = config.union, row_normalize = config.row_normalize, self_nodes = config.self_nodes,
      flat = config.flat,
    })
  end,
  full = function(P, config)
    return samplers.full(P, {layers = config.layers})
  end,
}

local SPEC = {
  dataset = {"string", "wordnet"},
  method = {"ladies|full", "ladies"},
  preset = {"default|paper|code", "default"},
  samples = "positive integer", layers = "positive integer", hidden = "positive integer",
  batch_size = "positive integer", epochs = "positive integer",
  max_batches = "positive integer or nil",
  seed = "integer", lr = "positive number", clip = "non-negative number",
  weight_decay = "non-negative number", normalize = "sym|row", draw = "wor|wr|poisson",
  debias = "boolean", union = "pre|post", row_normalize = "boolean", flat = "boolean",
  self_nodes = "none|previous|batch", activation = "string", order = "string", head = "string",
  dropout = "number in [0, 1)", head_dropout = "number in [0, 1)", validation = "exact|sampled",
  eval_every = "positive integer or nil", patience = "non-negative integer",
  min_gain = "non-negative number", best = "highest|gain",
}

--- The methods that `method` may name, as a type of ladies.options.
experiment.methods = SPEC.method[1]

--- All settings of an experiment: those of `given`, checked, and for the others those of the preset
-- that given.preset names. The keys are those of ladies.presets and dataset, method, preset,
-- max_batches.
function experiment.configure(given)
  local name = options.value("ladies.experiment", "preset", given.preset or "default",
    SPEC.preset[1])
  local spec = {}
  for key, type_text in pairs(SPEC) do spec[key] = type_text end
  for key, value in pairs(presets[name]) do spec[key] = {SPEC[key], value} end
  return options.check("ladies.experiment", given, spec)
end

-- Micro-F1 on a batch of validation nodes, sampled with 20 times the samples: the authors' way.
local function sampled_validation(data, sampler, config)
  local size = math.min(config.batch_size, #data.val)
  local rng = core.rng(config.seed):fork(VALIDATION)
  return function(model, number)
    local draw = rng:fork(number)
    local nodes = data.val[core.sampling.uniform(#data.val, size, {rng = draw})]
    local batch = sampler(nodes, draw:fork(1))
    local logits = core.no_grad(model.forward, model, data.features, batch, false)
    return metrics.micro_f1(logits:argmax(), data.labels[batch.output])
  end
end

--- Loads the data set of a configuration, and settles in the configuration what depends on it: how
-- often to validate, every 10 batches as in the paper, or every 100 on a large graph.
function experiment.load(config)
  local data = data_sets.load(config.dataset)
  config.eval_every = config.eval_every or (data.graph.n_nodes < LARGE and 10 or 100)
  return data
end

--- Makes sampler and model, trains, and returns what ladies.train does, and the model. config: all
-- settings, as experiment.configure gives them; data: the data set; the fields of `extra` (out,
-- resume, quiet, checkpoint_every, workers) are those of ladies.train.
function experiment.run(config, data, extra)
  local P = data.graph:normalize(config.normalize)
  local make = METHODS[config.method]
  local sampler = make(P, config, config.samples)
  local full = config.method == "full"
  local model = nn.gcn{
    inputs = data.features.n_cols, hidden = config.hidden, outputs = data.classes,
    layers = config.layers, activation = config.activation, dropout = config.dropout,
    head = config.head, head_dropout = config.head_dropout, order = config.order,
    normalize = config.normalize, seed = config.seed,
  }
  local validate
  if config.validation == "sampled" and not full then
    validate = sampled_validation(data, make(P, config, 20 * config.samples), config)
  end
  local batch = math.min(config.batch_size, #data.train)
  local nodes = data.graph.n_nodes
  return train{
    data = data, model = model, sampler = sampler, validate = validate,
    lr = config.lr, weight_decay = config.weight_decay,
    clip = config.clip > 0 and config.clip or nil,
    batch_size = full and #data.train or config.batch_size,
    epochs = config.epochs, max_batches = config.max_batches, seed = config.seed,
    eval_every = config.eval_every, patience = config.patience, min_gain = config.min_gain,
    best = config.best, out = extra.out, resume = extra.resume, quiet = extra.quiet,
    checkpoint_every = extra.checkpoint_every, workers = extra.workers,
    method = full and "full batch" or ("LADIES (%d)"):format(config.samples),
    memory_paper = summary.paper_memory{
      features = data.features.n_cols, hidden = config.hidden, layers = config.layers,
      samples = full and nodes or config.samples, batch = full and nodes or batch,
    },
  }, model
end

return experiment
