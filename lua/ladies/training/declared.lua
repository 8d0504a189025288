--- Every option of ladies.train, once: its type, its default, what it is, and what it means for a
-- run that goes on. The settings of an experiment (ladies.experiment.settings), the options of
-- `ladies train`, and what a checkpoint is compared by (ladies.training.run_identity) are made of
-- it.
--
-- An option is {name, type, default =, help =}, with the types of ladies.options. One without a
-- default may stay open; `follows` says what it becomes then. It is in one of these groups:
--
--   seed, optimizer, training, validation   settings of an experiment too
--   running     how a run is made, not which one: options of `ladies train` too, where `value`
--               stands for what follows them
--   script      what only a program can give
--
-- A run goes on as the same one: every option must then be what it was, unless it says otherwise.
--
--   free = "resumed"   it may change when a run goes on; several ranks must agree on it
--   free = "always"    the bits of a run do not depend on it, or its code tells for itself
--   elsewhere = text   what it is, is compared by other means, which the text names

local errors = require "ladies.base.errors"
local tables = require "ladies.base.tables"

local declared = {}

declared.groups = {
  seed = {
    {"seed", "integer", default = 1, help = "of everything random"},
  },
  optimizer = {
    {"lr", "positive number", default = 1e-3, help = "Adam's learning rate"},
    {"weight_decay", "non-negative number", default = 0,
      help = "added to the gradient, times the weight"},
    {"clip", "non-negative number", default = 0,
      help = "bound on the norm of all gradients; 0: none"},
  },
  training = {
    {"batch_size", "positive integer", default = 512, help = "training nodes of a batch; at the "
      .. "end of an epoch, fewer than a quarter of them join the batch before"},
    {"accumulate", "integer in [1, 65536]", follows = "1", also = "grad_accumulate",
      help = "mini-batches of a step: the mean of their gradients is one"},
    {"precision", "float32|bfloat16", follows = "float32", help = "of dense products in training; "
      .. "bfloat16 where the processor has AMX or AVX512-BF16"},
    {"epochs", "positive integer", default = 1000, free = "resumed", help = "end after so many"},
    {"max_batches", "positive integer", free = "resumed", help = "end after so many"},
    {"max_seconds", "positive number", free = "resumed",
      help = "end after so long, without validation"},
  },
  validation = {
    {"eval_every", "positive integer", follows = "10, on a large graph 100",
      help = "batches between two validations"},
    {"patience", "non-negative integer", default = 600, free = "resumed",
      help = "end when validation F1 has not risen by min_gain for so many batches; 0: never"},
    {"min_gain", "non-negative number", default = 0.01,
      help = "what counts as a rise of validation F1"},
    {"best", "highest|gain", default = "highest",
      help = "the model that is kept: that of the highest F1, or of the last rise"},
  },
  running = {
    {"workers", "integer in [0, 256]", default = 0, free = "always", value = "K",
      help = "threads that sample ahead; results do not depend on it"},
    {"memory", "string or positive number", free = "always", value = "SIZE", help = "of what "
      .. "validation and test compute, how much may be in memory, as 4G (default: half of the "
      .. "machine's); the rest lies in temporary files"},
    {"feature_cache", "string or positive number", free = "always", value = "SIZE",
      help = "of features in shards, how much of other ranks' every one holds, as 256M: the rows "
        .. "of the nodes of most edges (default: none)"},
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
    {"data", "table", required = true, elsewhere = "the hashes of its parts"},
    {"model", "table", required = true, help = "with what its `config` says of it"},
    {"sampler", "callable", elsewhere = "the last mini-batch, drawn once more"},
    {"P", "Matrix"},
    {"optimizer", "Optimizer"},
    {"schedule", "callable"},
    {"loss", "callable"},
    {"validate", "callable"},
    {"monitor", "table"},
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

-- Settings of an experiment that say where something lies, whose contents are compared.
local PLACES = {"dataset", "method_file", "model_file"}

--- All options, in order.
function declared.all()
  local list = {}
  for _, name in ipairs(ORDER) do tables.append(list, declared.groups[name]) end
  return list
end

--- The option of this name, or nil.
function declared.find(name)
  for _, one in ipairs(declared.all()) do
    if one[1] == name then return one end
  end
end

--- The type and the default of an option, for options.check.
function declared.typed(name)
  local one = declared.find(name)
  if one.default ~= nil then return {one[2], one.default} end
  return one.required and one[2] or one[2] .. " or nil"
end

--- The same of all, by name.
function declared.spec()
  local spec = {}
  for _, one in ipairs(declared.all()) do spec[one[1]] = declared.typed(one[1]) end
  return spec
end

--- The options of ladies.train under the names that they have here; one may also go by an older
-- name. Errors begin with `where`.
function declared.renamed(where, given)
  for _, one in ipairs(declared.all()) do
    local value = one.also and given[one.also]
    if value ~= nil then
      if given[one[1]] ~= nil then
        errors.fail(("%s: %s and %s are the same; give one"):format(where, one[1], one.also))
      end
      given = tables.merged(given, {[one[1]] = value})
      given[one.also] = nil
    end
  end
  return given
end

--- The names of options and settings, as a set, that may differ: "resumed", between a run and the
-- same one later; "always", between two ranks too.
function declared.free(when)
  local names = {}
  for _, name in ipairs(PLACES) do names[name] = true end
  for _, one in ipairs(declared.all()) do
    if one.free == "always" or one.free == when then names[one[1]] = true end
  end
  return names
end

--- What an option is that is not given, and not left open.
function declared.default(name)
  local one = declared.find(name)
  if not one then return nil end
  if one.default == nil then return tonumber(one.follows) or one.follows end
  return one.default
end

return declared
