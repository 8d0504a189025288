--- What makes a run the one that it is, as plain data for its checkpoints: hashes of its data set,
-- its settings, the last mini-batch. A run goes on as the same one only.

local core = require "ladies_core"
local code = require "ladies.base.code"
local errors = require "ladies.base.errors"
local hashes_of = require "ladies.data.hashes"
local json = require "ladies.base.json"
local options = require "ladies.base.options"
local sampling = require "ladies.sampling"
local tables = require "ladies.base.tables"
local validation = require "ladies.training.validation"

local run_identity = {}

-- What may change when a run goes on: how far it goes. The data set and code of the user's own may
-- lie elsewhere, as their contents are compared.
local FREE = {epochs = true, max_batches = true, max_seconds = true, patience = true,
  dataset = true, method_file = true, model_file = true}

-- Of the options of ladies.train: those on which a run's course depends and that are plain data.
local PLAIN = {"batch_size", "seed", "eval_every", "min_gain", "best", "clip",
  "method", "grad_accumulate", "precision"}

-- Those that are code.
local CODE = {"loss", "schedule", "validate"}

local SCALAR = {string = true, number = true, boolean = true}

-- The settings of a run that has no table of them: what is known of options, model and optimizer.
local function settings_of(opts)
  local settings = {}
  for _, name in ipairs(PLAIN) do settings[name] = opts[name] end
  for _, name in ipairs(CODE) do
    settings[name] = opts[name] and "code " .. code.hash(opts[name]) or nil
  end
  settings.P = opts.P and opts.P:hash()
  local monitor = opts.monitor and validation.monitor(opts)
  settings.monitor = monitor and ("%s, %s"):format(monitor.name, monitor.mode)
  if opts.optimizer then
    settings.optimizer = tostring(opts.optimizer)
  else
    settings.lr, settings.weight_decay = opts.lr, opts.weight_decay
  end
  local architecture = rawget(opts.model, "config")
  for key, value in pairs(type(architecture) == "table" and architecture or {}) do
    if SCALAR[type(value)] then settings["model." .. key] = value end
  end
  return settings
end

-- Where the data set is, for who takes the finished model up again; nil for one of a script's own.
local function source_of(data)
  local path = data.path
  return path and {path = core.real_path(path) or path, directed = data.directed and "keep" or nil}
end

--- The data set and the settings of a run with these options of ladies.train, before its first
-- step.
function run_identity.of(opts)
  return {data = hashes_of(opts.data), source = source_of(opts.data),
    settings = opts.settings or settings_of(opts)}
end

--- A text that depends on every bit of a mini-batch, but for Rows of features, which it has been
-- given since; nil where another draw may give another one.
function run_identity.of_batch(sampler, batch)
  local adaptive = batch.after_step or type(sampler) == "table" and sampler.adaptive
  if adaptive then return nil end
  if options.class_of(batch.features) == "Rows" then
    batch = tables.merged(batch)
    batch.features = nil
  end
  return sampling.hash(batch)
end

-- What a setting that is not there is.
local UNSAID = {precision = "float32"}

local function show(settings, key)
  local value = settings[key]
  if value == nil then value = UNSAID[key] end
  return value == nil and "not set" or json.encode(value)
end

--- What sets two runs apart, as texts: the settings, by `form` of the name and both values, and the
-- parts of the data set. Settings of the set `free` may differ.
function run_identity.differences(before, now, form, free)
  local changed, parts = {}, {}
  for _, key in ipairs(tables.sorted_keys(tables.merged(before.settings, now.settings))) do
    local old, new = show(before.settings, key), show(now.settings, key)
    if not free[key] and old ~= new then changed[#changed + 1] = form:format(key, old, new) end
  end
  for _, part in ipairs(tables.sorted_keys(tables.merged(before.data, now.data))) do
    if before.data[part] ~= now.data[part] then parts[#parts + 1] = part end
  end
  if #parts > 0 then
    changed[#changed + 1] = ("its data set has other %s"):format(table.concat(parts, ", "))
  end
  return changed
end

--- An error, which begins with `where`, unless both are of one run: it names the settings that have
-- changed and the parts of the data set.
function run_identity.check(where, before, now)
  local changed = run_identity.differences(before, now, "%s was %s and is %s", FREE)
  if #changed > 0 then
    errors.fail(("%s: this is not the run that began there: %s"):format(where,
      table.concat(changed, "; ")))
  end
end

return run_identity
