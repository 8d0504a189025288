--- Declares every option of ladies.train once: its type, default and help, and whether it may
-- change when a run is resumed. The settings of an experiment (ladies.experiment.settings), the
-- options of `ladies train`, and the comparison of checkpoints
-- (ladies.training.checkpoint.identity) are made from these declarations.
--
-- An option is {name, type, default =, help =}, with the types of ladies.options. One without a
-- default may stay open; `follows` says what it becomes then. A default of a setting stands in
-- the configuration of every run. So one that is added with a default makes finished studies train
-- all of their runs again; one with `follows` does not, and --resume goes on with either. An option
-- is in one of these groups:
--
--   seed, optimizer, training, validation   settings of an experiment too
--   running     how a run is made, not which one: options of `ladies train` too, whose help
--               calls what follows them by the name `value`
--   script      what only a program can give
--
-- A run goes on as the same one: every option must then be what it was, unless it says otherwise.
--
--   free = "resumed"   it may change when a run goes on; several ranks must agree on it
--   free = "always"    the bits of a run do not depend on it, or its code is compared apart
--   elsewhere = text   what it is, is compared by other means, which the text names
--
-- A setting of optimizers with `of_some` is of those alone that name it, as
-- ladies.experiment.optimizers says.
-- In a program an option with `also` may be of that type, too; `was` is its name in older runs.

local errors = require "ladies.base.errors"
local tables = require "ladies.base.tables"

local declared = {}

declared.groups = {
  seed = {
    {"seed", "integer", default = 1, help = "of everything random"},
  },
  optimizer = {
    {"lr", "positive number", default = 1e-3, help = "the learning rate"},
    {"weight_decay", "non-negative number", default = 0, of_some = true,
      help = "an L2 penalty, added to the gradient, times the weight"},
    {"decoupled_decay", "non-negative number", follows = "0", of_some = true,
      help = "in place of it, taken off the weight, times the learning rate"},
    {"groups", "string", follows = "none", help = "of parameters with a learning rate, a decay or "
      .. "a bound of their own, as 'layers.1.*:weight_decay=5e-4,lr=0.01; head.*:clip=1'"},
    {"average", "string", follows = "none", help = "of the weights over steps, which is validated "
      .. "and kept: ema:0.999, an exponential moving one, or swa:100, the mean from step 100 on"},
    {"clip", "non-negative number", default = 0,
      help = "bound on the norm of all gradients; 0: none"},
  },
  training = {
    {"batch_size", "positive integer", default = 512, help = "training nodes of a batch; at the "
      .. "end of an epoch, fewer than a quarter of them join the batch before"},
    {"accumulate", "integer in [1, 65536]", follows = "1", was = "grad_accumulate",
      help = "mini-batches of a step: the mean of their gradients is one"},
    {"seeds_from", "all|parts", follows = "all", help = "all training nodes, or for each "
      .. "mini-batch of a step a part of the graph of its own, for ranks with features in shards"},
    {"precision", "float32|bfloat16", follows = "float32", help = "of dense products in training; "
      .. "bfloat16 where the processor has AMX or AVX512-BF16"},
    {"epochs", "positive integer", default = 1000, free = "resumed", help = "end after so many"},
    {"max_batches", "positive integer", free = "resumed", help = "end after so many"},
    {"max_seconds", "positive number", free = "resumed",
      help = "end after so long, without validation"},
  },
  validation = {
    {"validation", "exact|sampled", default = "exact", also = "callable", was = "validate",
      help = "over the whole graph, or of a batch with 20 times the samples"},
    {"eval_every", "positive integer", follows = "10, on a large graph 100",
      help = "batches between two validations"},
    {"patience", "non-negative integer", default = 600, free = "resumed",
      help = "end when validation has not become better by min_gain for so many batches; 0: never"},
    {"min_gain", "non-negative number", default = 0.01,
      help = "what counts as a gain in validation: of what is in per cent, as F1, so much of it, "
        .. "of all else, as errors and MRR, that share"},
    {"best", "highest|gain", default = "highest",
      help = "the model that is kept: that of the best validation, or of the last gain"},
    {"monitor", "string", also = "table", follows = "the task's first metric",
      help = "the metric of the task by which validation goes; loss: the loss, for nodes"},
  },
  running = {
    {"workers", "integer in [0, 256]", default = 0, free = "always", value = "K",
      help = "threads that sample ahead; results do not depend on it"},
    {"memory", "string or positive number", free = "always", value = "SIZE", help = "of what "
      .. "validation and test compute, how much may be in memory, as 4G (default: half of the "
      .. "machine's); the rest lies in temporary files"},
    {"feature_cache", "string or positive number", free = "always", value = "SIZE",
      help = "of features in shards, how much of other ranks' every one holds, as 256M: the rows "
        .. "that it asks for most often (default: none)"},
    {"ranks_infer", "together|alone", free = "resumed", value = "HOW", help = "of exact inference "
      .. "by several ranks (mpirun), that they share it, or that each computes all of it (default: "
      .. "what is faster, as measured)"},
    {"out", "string", free = "always", value = "DIR",
      help = "the run's folder (default runs/DATASET-METHOD-N)"},
    {"checkpoint_every", "non-negative number", default = 30, free = "always", value = "SECONDS",
      help = "between two checkpoints"},
    {"shard_optimizer", "boolean", default = false, free = "resumed", help = "of several ranks "
      .. "(mpirun) each has a part of the optimizer's moments alone"},
    {"quiet", "boolean", default = false, free = "always", help = "no progress"},
    {"plot", "boolean", default = false, free = "always",
      help = "draw validations and loss, in a terminal while it trains and in any case when it "
        .. "ends"},
    {"profile", "boolean", default = false, free = "always", help = "print where the time of "
      .. "batches goes, by layer and by primitive; of several ranks, what they sent and for what "
      .. "they waited"},
  },
  script = {
    {"data", "table", elsewhere = "the hashes of its parts"},
    {"task", "Task"},
    {"model", "table", required = true, help = "with what its `config` says of it"},
    {"sampler", "callable", elsewhere = "the last mini-batch, drawn once more"},
    {"P", "Matrix"},
    {"optimizer", "Optimizer"},
    {"schedule", "callable"},
    {"loss", "callable"},
    {"ahead", "positive integer", free = "always"},
    {"on_batch", "callable", free = "always"},
    {"on_validation", "callable", free = "always"},
    {"state", "table", elsewhere = "the checkpoint, which must have the same objects"},
    {"resume", "boolean", default = false, free = "always"},
    {"settings", "table", elsewhere = "each of them, by its name"},
    {"method", "string", default = "custom"},
    {"count_memory", "callable", free = "always"},
  },
}

local ORDER = {"seed", "optimizer", "training", "validation", "running", "script"}

--- The options of the default optimizer, which do not go with an Optimizer that is given.
declared.of_default_optimizer = {lr = true, weight_decay = true, decoupled_decay = true,
  groups = true}

--- Returns all options, in order.
function declared.all()
  local list = {}
  for _, name in ipairs(ORDER) do tables.append(list, declared.groups[name]) end
  return list
end

--- Returns the option with this name, or nil.
function declared.find(name)
  for _, one in ipairs(declared.all()) do
    if one[1] == name then return one end
  end
end

--- Returns the type of an option of the list for values that a program gives.
function declared.type_of(one)
  return one.also and one[2] .. " or " .. one.also or one[2]
end

--- Tells whether a value of the option with this name can only be given by a program (such as a
-- function), and not as a setting.
function declared.is_code(name, value)
  local one = declared.find(name)
  return one ~= nil and one.also ~= nil and type(value) ~= "string"
end

--- Returns the type and the default of an option, for options.check.
function declared.typed(name)
  local one = declared.find(name)
  local type_text = declared.type_of(one)
  if one.default ~= nil then return {type_text, one.default} end
  return one.required and type_text or type_text .. " or nil"
end

--- Returns the types of all options by name, for options.check.
function declared.spec()
  local spec = {}
  for _, one in ipairs(declared.all()) do spec[one[1]] = declared.typed(one[1]) end
  return spec
end

--- Fails, with a message that begins with `where`, for an option that is given by its former name.
function declared.check_names(where, given)
  for _, one in ipairs(declared.all()) do
    if one.was and given[one.was] ~= nil then
      errors.fail(("%s: %s is called %s"):format(where, one.was, one[1]))
    end
  end
end

--- Returns the settings in a checkpoint with former names of options replaced by the present ones.
function declared.renamed(settings)
  settings = tables.merged(settings)
  for _, one in ipairs(declared.all()) do
    local value = one.was and settings[one.was]
    if value ~= nil then settings[one[1]], settings[one.was] = value, nil end
  end
  return settings
end

--- Returns the set of the names of options and settings that may differ: "resumed", when a run is
-- resumed; "always", also between two ranks.
function declared.free(when)
  local names = {dataset = true}                -- a path: what it holds is compared instead
  for _, one in ipairs(declared.all()) do
    if one.free == "always" or one.free == when then names[one[1]] = true end
  end
  return names
end

--- Returns the default of an option.
function declared.default(name)
  local one = declared.find(name)
  if not one then return nil end
  if one.default == nil then return tonumber(one.follows) or one.follows end
  return one.default
end

return declared
