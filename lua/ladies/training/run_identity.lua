--- What makes a run the one that it is, as plain data for its checkpoints: hashes of its data set,
-- its settings, the last mini-batch. A run goes on as the same one only.

local core = require "ladies_core"
local checkpoint = require "ladies.training.checkpoint"
local code = require "ladies.base.code"
local declared = require "ladies.training.declared"
local errors = require "ladies.base.errors"
local hashes_of = require "ladies.data.hashes"
local json = require "ladies.base.json"
local options = require "ladies.base.options"
local sampling = require "ladies.sampling"
local tables = require "ladies.base.tables"
local validation = require "ladies.training.validation"

local run_identity = {}

local SCALAR = {string = true, number = true, boolean = true}

-- Values of options that follow from an experiment's settings, as keys.
local by_settings = setmetatable({}, {__mode = "k"})

-- Of an option that is no plain data and no code, what is compared: text, or nil.
local TEXT = {
  P = function(opts) return opts.P:hash() end,
  optimizer = function(opts) return tostring(opts.optimizer) end,
  monitor = function(opts)
    local monitor = validation.monitor(opts)
    return ("%s, %s"):format(monitor.name, monitor.mode)
  end,
}

-- The learning rate and weight decay of an optimizer that is given are its own.
local ADAMS = {lr = true, weight_decay = true}

-- What is compared of the option `one`, which is not free and not compared elsewhere. There is no
-- option whose value is left out without a word.
local function of_option(one, opts)
  local name, value = one[1], opts[one[1]]
  if value == nil or by_settings[value] or opts.optimizer and ADAMS[name] then return nil end
  if SCALAR[type(value)] then return value end
  if TEXT[name] then return TEXT[name](opts) end
  assert(one[2] == "callable", "training.declared: how is " .. name .. " compared?")
  return "code " .. code.hash(value)
end

-- What the table of a model says of how it is built.
local function add_architecture(settings, model)
  local architecture = rawget(model, "config")
  for key, value in pairs(type(architecture) == "table" and architecture or {}) do
    if SCALAR[type(value)] then settings["model." .. key] = value end
  end
end

-- What a run depends on, as plain data by name: what its settings say, and all options of
-- ladies.train. An experiment's settings say themselves what its method, model and batches are.
local function settings_of(opts)
  local settings, said = tables.merged(opts.settings), opts.settings or {}
  local is_experiment = said.preset ~= nil
  for _, one in ipairs(declared.all()) do
    local name = one[1]
    if name == "model" then
      if not is_experiment then add_architecture(settings, opts.model) end
    elseif not one.free and not one.elsewhere and not (is_experiment and said[name] ~= nil) then
      settings[name] = of_option(one, opts)
    end
  end
  return settings
end

--- Says of a function or a table, the value of an option of ladies.train, that it follows from the
-- settings of an experiment, which are compared in its place. Returns it.
function run_identity.follows(value)
  by_settings[value] = true
  return value
end

-- Where the data set is, for who takes the finished model up again; nil for one of a script's own.
local function source_of(data)
  local path = data.path
  return path and {path = core.real_path(path) or path, directed = data.directed and "keep" or nil}
end

--- The data set and the settings of a run with these options of ladies.train, before its first
-- step.
function run_identity.of(opts)
  return {data = hashes_of(opts.data), source = source_of(opts.data), settings = settings_of(opts)}
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

-- The value of a setting as a text; of an option that is not there, its default.
local function show(settings, key)
  local value = settings[key]
  if value == nil then value = declared.default(key) end
  return value == nil and "not set" or json.encode(value)
end

--- What sets two runs apart, as texts: the settings, by `form` of the name and both values, and the
-- parts of the data set. Settings of the set `free` may differ.
function run_identity.differences(before, now, form, free)
  local changed, parts = {}, {}
  local was, is = declared.renamed("ladies.train", before.settings), now.settings
  for _, key in ipairs(tables.sorted_keys(tables.merged(was, is))) do
    local old, new = show(was, key), show(is, key)
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

-- Whether both keys and values of a table are texts.
local function is_of_texts(t)
  for key, value in pairs(t) do
    if type(key) ~= "string" or type(value) ~= "string" then return false end
  end
  return true
end

-- What a checkpoint says of its run, which is given with the types that its fields have.
local function checked(where, before)
  local function field(name, type_text)
    return options.value(where, "run." .. name, before[name], type_text)
  end
  field("settings", "table")
  if not is_of_texts(field("data", "table")) then
    errors.fail(where .. ": run.data must be texts by names")
  end
  field("numerics", "array of strings or nil")
  for _, name in ipairs{"batch", "log"} do field(name, "string or nil") end
  local stop = field("stopped_by", "table or nil") or {by = "", code = ""}
  local source = field("source", "table or nil") or {path = ""}
  options.value(where, "run.stopped_by.by", stop.by, "string")
  options.value(where, "run.source.path", source.path, "string")
  options.value(where, "run.source.directed", source.directed, "keep|symmetrize or nil")
  return before
end

--- run_identity.read(path): what the checkpoint at `path` says of its run: a table of `data`,
-- `settings` and, where the data set came from a file, `source`, checked.
function run_identity.read(path)
  return checked(path, checkpoint.run(path))
end

--- An error, which begins with `where`, unless both are of one run: it names the settings that have
-- changed and the parts of the data set.
function run_identity.check(where, before, now)
  checked(where, before)
  local changed = run_identity.differences(before, now, "%s was %s and is %s",
    declared.free "resumed")
  if #changed > 0 then
    errors.fail(("%s: this is not the run that began there: %s"):format(where,
      table.concat(changed, "; ")))
  end
end

return run_identity
