--- From settings that are given to all settings of an experiment: what there is, what has a
-- default, and what is refused.

local errors = require "ladies.base.errors"
local methods = require "ladies.experiment.methods"
local models = require "ladies.experiment.models"
local options = require "ladies.base.options"
local own_code = require "ladies.experiment.own_code"
local presets = require "ladies.experiment.presets"
local settings = require "ladies.experiment.settings"
local tables = require "ladies.base.tables"

local configuration = {}

--- What an experiment with some settings is made of: {sampler = the method's entry, model = the
-- model's}.
function configuration.entries(given)
  local model = models.by_name[given.model or "gcn"]
  local method = given.method or model.no_graph and "none" or settings.common.method.default
  return {sampler = methods.by_name[method], model = model}, method
end

-- Whether a method, with some settings, is for layers P H W alone, of which H is known or sketched.
local function needs_plain_layers(method, given)
  return methods.by_name[method].histories or given.sketch
end

-- The name of the model of settings that name none: the preset's, or nil, gcn.
local function default_model(given, preset)
  local method = given.method or settings.common.method.default
  return not needs_plain_layers(method, given) and presets[preset].model or nil
end

--- ladies.experiment.same_model(names: string[], given) -> string | nil: the model that all methods
-- of a list can train with the settings `given`, for those of them that are to be compared: nil,
-- where each has the same one by itself or `given` names one; else gcn.
function configuration.same_model(names, given)
  local preset = presets[given.preset or settings.common.preset.default]
  for _, name in ipairs(not given.model and preset.model and names or {}) do
    if needs_plain_layers(name, given) then return "gcn" end
  end
end

-- What keeps a method and a model, by their entries, from going together, or nil.
local function mismatch(entries)
  if entries.sampler.histories and entries.model.no_histories then
    return "it keeps histories, which are for layers that read P H alone"
  elseif entries.model.no_graph and not entries.sampler.no_graph then
    return 'the model reads no graph; its method is "none"'
  elseif entries.sampler.no_graph and not entries.model.no_graph then
    return "the model reads a graph and needs a sampler"
  end
end

-- Fails for the setting `name` where others than the method, or the model, called `taker` have it.
local function refuse_of(where, what, by_name, taker, name)
  local owners = settings.owners(by_name, name)
  if #owners == 0 then return end
  local own = settings.names_of(by_name[taker])
  errors.fail(("%s: the %s %s has no %s, a setting of %s; its %s settings are: %s"):format(where,
    what, taker, name, table.concat(owners, ", "), what == "method" and "sampler's" or "own",
    #own > 0 and table.concat(own, ", ") or "none"))
end

-- Fails for the setting `name`, which experiments of this method and model do not have. The error
-- says whose it is, or which one was probably meant.
local function refuse(where, name, method, model)
  refuse_of(where, "method", methods.by_name, method, name)
  refuse_of(where, "model", models.by_name, model, name)
  local names = {}
  for i, one in ipairs(settings.all(methods.by_name, models.by_name)) do names[i] = one.name end
  local near = options.nearest(name, names)
  local owners = near and settings.owners(methods.by_name, near) or {}
  errors.fail(('%s: there is no setting "%s"%s%s'):format(where, name,
    near and ('; did you mean "%s"?'):format(near) or "",
    #owners > 0 and (" (of %s)"):format(table.concat(owners, ", ")) or ""))
end

-- Whether a method can be inferred from samples.
local function is_sampled(method)
  return settings.takes(method, "samples") and not method.exact_only
end

-- The types and defaults of the settings of these entries, for options.check.
local function spec_of(entries, preset)
  local spec = {}
  for _, one in ipairs(settings.of(entries)) do
    local default = one.default
    for _, own in ipairs{presets[preset], entries.sampler.defaults or {},
      entries.model.defaults or {}} do
      if own[one.name] ~= nil then default = own[one.name] end
    end
    spec[one.name] = default == nil and one.type or {one.type, default}
  end
  if not is_sampled(entries.sampler) then spec.validation[2] = "exact" end
  return spec
end

--- ladies.experiment.configure(given [, where]) -> table: all settings of an experiment: those of
-- `given`, checked, and for the others those of its method and of the preset that given.preset
-- names. doc/reference/settings.md has a table of them, `ladies train --help` lists them. Methods
-- and models of one's own are named by what ladies.experiment.own gives. Errors begin with `where`.
function configuration.of(given, where)
  where = where or "ladies.experiment"
  options.value(where, "the settings", given, "table")
  local preset = settings.common.preset
  preset = options.value(where, "preset", given.preset or preset.default, preset.type)
  for _, what in ipairs{"method", "model"} do own_code.check(where, given, what) end
  options.value(where, "method", given.method or "none", methods.names())
  local model = given.model or default_model(given, preset)
  options.value(where, "model", model or "gcn", models.names())
  local entries, method = configuration.entries{method = given.method, model = model}
  local wrong = mismatch(entries)
  if wrong then
    errors.fail(("%s: the model %s does not go with the method %s: %s"):format(where,
      model or "gcn", method, wrong))
  end
  local spec = tables.merged(spec_of(entries, preset), own_code.SPEC)
  spec.method[2] = method
  spec.model = {settings.common.model.type, model}
  for key in pairs(given) do
    if not spec[key] then refuse(where, tostring(key), method, model or "gcn") end
  end
  local config = options.check(where, given, spec)
  config.method_code, config.model_code = own_code.hashes(config)
  if config.validation == "sampled" and not is_sampled(entries.sampler) then
    errors.fail(("%s: the method %s has no sampled validation"):format(where, method))
  end
  return config
end

--- ladies.experiment.stored(given, where) -> table: the settings that a run has left, whole again:
-- as configuration.of, but a model that they do not name is gcn. (So it was in every preset before
-- `default` had one of its own.)
function configuration.stored(given, where)
  local config = configuration.of(tables.merged({model = "gcn"}, given), where)
  config.model = given.model
  return config
end

return configuration
