--- Computes the identity of a run, plain data in its checkpoints: hashes of its data set and of the
-- last mini-batch, and its settings. A run can only be resumed with the same identity.

local core = require "ladies_core"
local captured = require "ladies.training.checkpoint.captured"
local checkpoint = require "ladies.training.checkpoint"
local checks = require "ladies.data.checks"
local code = require "ladies.base.code"
local declared = require "ladies.training.declared"
local errors = require "ladies.base.errors"
local hashes = require "ladies.data.hashes"
local json = require "ladies.base.json"
local object_state = require "ladies.training.checkpoint.object_state"
local options = require "ladies.base.options"
local places = require "ladies.training.batches.places"
local preparation = require "ladies.data.preparation"
local sampling = require "ladies.sampling"
local tables = require "ladies.base.tables"
local validation = require "ladies.training.loop.validation"

local run_identity = {}

-- The fields of a data set that say what its numbers are of, in their order.
local NAMES = {"feature_names", "class_names", "target_names", "edge_feature_names",
  "edge_type_names"}

-- Maps those of these names that belong to edges to the fields of EdgeData with the texts.
local OF_EDGES = {edge_feature_names = "feature_names", edge_type_names = "type_names"}

-- The name of the hash of the parts from which mini-batches take their seeds, beside those of parts
-- of the data set.
local SEEDS = "parts of seeds"

local SCALAR = {string = true, number = true, boolean = true}

-- Returns one of the NAMES of a data set; of edges they are known to tasks that hide these, too.
local function names_of(data, kind)
  if not OF_EDGES[kind] then return data[kind] end
  local edges = data.edges or data.known_hashes and data.known_hashes.edge_parts
  return edges and edges[OF_EDGES[kind]]
end

-- The set of those values of options that are determined by an experiment's settings, so that they
-- are not compared themselves.
local by_settings = setmetatable({}, {__mode = "k"})

-- For options that are neither plain data nor a function: functions that return the text by which
-- the option is compared.
local TEXT = {
  P = function(opts) return opts.P:hash() end,
  optimizer = function(opts)
    local optimizer = opts.optimizer
    local groups = optimizer:groups()
    if type(optimizer) == "table" then           -- one of the user's own
      return ("%s %s %s %s"):format(optimizer, json.encode(groups), optimizer:code(code.hash),
        core.hash(captured.by(optimizer:functions(), {opts.model, opts.data, optimizer})))
    end
    return tostring(optimizer) .. (#groups > 1 and " " .. json.encode(groups) or "")
  end,
  monitor = function(opts)
    local monitor = validation.monitor(opts)
    return ("%s, %s"):format(monitor.name, monitor.mode)
  end,
  task = function(opts)
    local parts = {}
    for _, name in ipairs(tables.sorted_keys(opts.task)) do
      local value = opts.task[name]
      if type(value) == "function" then parts[#parts + 1] = code.hash(value) end
    end
    for _, metric in ipairs(opts.task.metrics) do parts[#parts + 1] = code.hash(metric.of) end
    return ("%s, %s"):format(opts.task.name, core.hash(table.concat(parts)))
  end,
}

-- Returns the value by which the option `one` is compared, nil for one that need not be or that is
-- compared elsewhere. An option of an unknown type is an error, so that none is forgotten.
local function of_option(one, opts)
  local name, value = one[1], opts[one[1]]
  if value == nil or by_settings[value]
    or opts.optimizer and declared.of_default_optimizer[name] then return nil end
  if TEXT[name] then return TEXT[name](opts) end
  if SCALAR[type(value)] then return value end
  assert(one[2] == "callable" or one.also, "training.declared: how is " .. name .. " compared?")
  return "code " .. code.hash(value)
end

-- Adds the fields of model.config, which say how the model is built, to the settings that are
-- compared.
local function add_architecture(settings, model)
  local architecture = rawget(model, "config")
  for key, value in pairs(type(architecture) == "table" and architecture or {}) do
    if SCALAR[type(value)] then settings["model." .. key] = value end
  end
end

-- Tells whether an experiment's settings, `said`, determine the value of an option.
local function is_said(said, name, value)
  if said.preset == nil or said[name] == nil then return false end
  return by_settings[value] or not declared.is_code(name, value)
end

-- Returns all settings and options on which the results of a run depend, as plain data by name. The
-- settings of an experiment stand for its method, model and batches.
local function settings_of(opts)
  local settings, said = tables.merged(opts.settings), opts.settings or {}
  for _, one in ipairs(declared.all()) do
    local name = one[1]
    if name == "model" then
      if said.preset == nil then add_architecture(settings, opts.model) end
    elseif not one.free and not one.elsewhere and not is_said(said, name, opts[name]) then
      settings[name] = of_option(one, opts)
    end
  end
  local sampler = opts.sampler
  if said.preset == nil and type(sampler) == "table" and rawget(sampler, "takes_times") then
    settings.in_time = true                -- so that exact inference later does not look ahead
  end
  return settings
end

--- Marks a value of an option of ladies.train, a function or a table, as determined by the settings
-- of an experiment, which are compared in its place; returns the value.
function run_identity.follows(value)
  by_settings[value] = true
  return value
end

--- Returns the identity of a run with these options of ladies.train, before its first step: hashes
-- and names of its data set, how this was prepared (`source`), so that it or another one can be
-- prepared alike for the finished model, and the run's settings.
function run_identity.of(opts)
  local data = hashes.of(opts.data)
  data[SEEDS] = opts.parts and places.hash(opts.parts)
  local identity = {data = data, source = preparation.plain(opts.data),
    settings = settings_of(opts)}
  for _, kind in ipairs(NAMES) do identity[kind] = names_of(opts.data, kind) end
  return identity
end

--- Returns a hash of a mini-batch, without Rows of features, which were added to it after it was
-- drawn; nil for an adaptive sampler, which would draw another one now.
function run_identity.of_batch(sampler, batch)
  local adaptive = batch.after_step or type(sampler) == "table" and sampler.adaptive
  if adaptive then return nil end
  if options.class_of(batch.features) == "Rows" then
    batch = tables.merged(batch)
    batch.features = nil
  end
  return sampling.hash(batch)
end

-- Returns the value of a setting as a text; for an option that is not set, its default.
local function show(settings, key)
  local value = settings[key]
  if value == nil then value = declared.default(key) end
  return value == nil and "not set" or json.encode(value)
end

-- Tells whether a setting is the path of a file with code of the user's own, whose hash is compared
-- instead: NAME_file beside NAME_code.
local function is_path_of_code(settings, key)
  local name = key:match "^(.*)_file$"
  return name ~= nil and settings[name .. "_code"] ~= nil
end

--- Returns the differences between two runs as texts: settings, in the format `form` with the name
-- and both values, and parts of the data set. Settings in the set `free` may differ.
function run_identity.differences(before, now, form, free)
  local changed, parts = {}, {}
  local was, is = declared.renamed(before.settings), now.settings
  local all = tables.merged(was, is)
  for _, key in ipairs(tables.sorted_keys(all)) do
    local old, new = show(was, key), show(is, key)
    if not free[key] and not is_path_of_code(all, key) and old ~= new then
      changed[#changed + 1] = form:format(key, old, new)
    end
  end
  for _, part in ipairs(tables.sorted_keys(tables.merged(before.data, now.data))) do
    if before.data[part] ~= now.data[part] then parts[#parts + 1] = part end
  end
  if #parts > 0 then
    changed[#changed + 1] = ("its data set has other %s"):format(table.concat(parts, ", "))
  end
  return changed
end

-- Tells whether both keys and values of a table are texts.
local function is_of_texts(t)
  for key, value in pairs(t) do
    if type(key) ~= "string" or type(value) ~= "string" then return false end
  end
  return true
end

-- Checks the identity in a checkpoint by the types of its fields, and returns it.
local function checked(where, before)
  local function field(name, type_text)
    return options.value(where, "run." .. name, before[name], type_text)
  end
  field("settings", "table")
  if not is_of_texts(field("data", "table")) then
    errors.fail(where .. ": run.data must be texts by names")
  end
  field("numerics", "array of strings or nil")
  for _, kind in ipairs(NAMES) do field(kind, "array of strings or nil") end
  for _, name in ipairs{"batch", "log"} do field(name, "string or nil") end
  local stop = field("stopped_by", "table or nil") or {by = "", code = ""}
  options.value(where, "run.stopped_by.by", stop.by, "string")
  preparation.check(where .. ": run.source", field("source", "table or nil") or {})
  return before
end

--- run_identity.read(path): reads and checks the identity in the checkpoint at `path`, a table of
-- `data`, `settings` and, where the data set has them, `source` and names.
function run_identity.read(path)
  return checked(path, checkpoint.run(path))
end

--- Returns the names of those parts in which a data set differs from that of the run with the
-- identity `before`, as texts or nil: of what it holds, and of its split.
function run_identity.changed(before, data)
  local was, is, old, new = tables.merged(before.data), hashes.of(data), {}, {}
  was[SEEDS] = nil
  for _, part in ipairs(checks.SPLIT) do
    old[part], new[part], was[part], is[part] = was[part], is[part], nil, nil
  end
  return hashes.differing(was, is), hashes.differing(old, new)
end

--- Fails where another data set than that of the run with the identity `before` has other names of
-- features, classes or targets, or in another order: a model takes them by their places. (Labels
-- are brought into the order of the run's classes before.) So it is with names of edges that the
-- set `reads` has.
function run_identity.check_names(where, before, data, reads)
  for _, kind in ipairs(NAMES) do
    local own = (not OF_EDGES[kind] or reads[kind]) and before[kind]
    for i, name in ipairs(own and names_of(data, kind) or {}) do
      if name ~= own[i] then
        errors.fail(('%s: the %s of %s must be those of the run, in %s order: "%s" stands where '
          .. "the run has %s"):format(where, kind, data.name, kind == "class_names" and "any"
          or "the same", name, own[i] and ('"%s"'):format(own[i]) or "none"))
      end
    end
  end
end

-- Tells whether a setting is code of the user's own.
local function is_code(value) return type(value) == "string" and value:find "^code %x+$" ~= nil end

-- Returns what to do about a run that was given code and now is not, as `ladies train --resume`
-- is not.
local function hint(was, is)
  for key, value in pairs(was) do
    if is_code(value) and not is_code(is[key]) then return object_state.BY_ITS_SCRIPT end
  end
  return ""
end

--- Fails unless two identities are of the same run. The error begins with `where` and names the
-- settings and the parts of the data set that have changed.
function run_identity.check(where, before, now)
  checked(where, before)
  local changed = run_identity.differences(before, now, "%s was %s and is %s",
    declared.free "resumed")
  if #changed > 0 then
    errors.fail(("%s: this is not the run that began there: %s%s"):format(where,
      table.concat(changed, "; "), hint(before.settings, now.settings)))
  end
end

return run_identity
