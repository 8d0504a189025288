--- Completes the settings that a user gives to the full configuration of an experiment: adds
-- defaults, and refuses settings that the method and the model do not have.

local errors = require "ladies.base.errors"
local kinds = require "ladies.experiment.kinds"
local made_features = require "ladies.data.made_features"
local methods = require "ladies.experiment.methods"
local models = require "ladies.experiment.models"
local options = require "ladies.base.options"
local own_code = require "ladies.experiment.own_code"
local presets = require "ladies.experiment.presets"
local settings = require "ladies.experiment.settings"
local tables = require "ladies.base.tables"

local configuration = {}

--- Returns the entries that the settings of an experiment name, by their places: {sampler = the
-- method's, model =, task =}, where none is named that which stands for all that are possible; and
-- their names, {method =, model =, ...}.
function configuration.entries(given)
  local names, entries = {model = given.model or "gcn"}, {}
  local no_graph = models.by_name[names.model].no_graph
  names.method = no_graph and "none" or settings.common.method.default
  for _, kind in ipairs(kinds) do
    names[kind.name] = given[kind.name] or names[kind.name]
    entries[kind.place] = kind.entries[names[kind.name]] or kind.undecided
  end
  return entries, names
end

-- Tells whether a method with these settings is for layers P H W alone, because it keeps or
-- sketches H.
local function needs_plain_layers(method, given)
  return methods.by_name[method].histories or given.sketch
end

-- Returns the name of the model for settings that name none: the preset's, or nil, which stands for
-- gcn.
local function default_model(given, preset)
  local method = given.method or settings.common.method.default
  return not needs_plain_layers(method, given) and presets[preset].model or nil
end

--- ladies.experiment.same_model(names: string[], given) -> string | nil: returns a model that all
-- methods of a list can train with the settings `given`, so that they can be compared: nil where
-- all have the same model by default or `given` names one, otherwise gcn.
function configuration.same_model(names, given)
  local preset = presets[given.preset or settings.common.preset.default]
  for _, name in ipairs(not given.model and preset.model and names or {}) do
    if needs_plain_layers(name, given) then return "gcn" end
  end
end

-- Returns why a method and a model, given by their entries, cannot go together, or nil.
local function mismatch(entries)
  if entries.sampler.histories and entries.model.no_histories then
    return "it keeps histories, which are for layers that read P H alone"
  elseif entries.model.no_graph and not entries.sampler.no_graph then
    return 'the model reads no graph; its method is "none"'
  elseif entries.sampler.no_graph and not entries.model.no_graph then
    return "the model reads a graph and needs a sampler"
  end
end

-- Fails for the setting `name`, which others of a kind have but not the entry that is called
-- `taker`, or none is named; the error names those.
local function refuse_of(where, kind, taker, name)
  local what, owners = kind.name, table.concat(settings.owners(kind.entries, name), ", ")
  if not taker then
    errors.fail(("%s: %s is a setting of the %s %s; name the %s, too (--%s, in Lua %s)"):format(
      where, name, what, owners, what, what, what))
  end
  local own = settings.names_of(kind.entries[taker])
  errors.fail(("%s: the %s %s has no %s, a setting of %s; its %s settings are: %s"):format(where,
    what, taker, name, owners, what == "method" and "sampler's" or "own",
    #own > 0 and table.concat(own, ", ") or "none"))
end

-- Fails for the setting `name`, which experiments with these entries, by kind, do not have. The
-- error says whose it is, or which one was probably meant.
local function refuse(where, name, takers)
  for _, kind in ipairs(kinds) do
    if #settings.owners(kind.entries, name) > 0 then
      refuse_of(where, kind, takers[kind.name], name)
    end
  end
  local near = options.nearest(name, tables.map(kinds.settings(), function(one)
    return one.name
  end))
  local owners = near and settings.owners(methods.by_name, near) or {}
  errors.fail(('%s: there is no setting "%s"%s%s'):format(where, name,
    near and ('; did you mean "%s"?'):format(near) or "",
    #owners > 0 and (" (of %s)"):format(table.concat(owners, ", ")) or ""))
end

-- Tells whether inference can draw samples by this method.
local function is_sampled(method)
  return settings.takes(method, "samples") and not method.exact_only
end

-- Returns the types and defaults of the settings of these entries, as a spec for options.check.
local function spec_of(entries, preset)
  local spec = {}
  for _, one in ipairs(settings.of(entries)) do
    local default = one.default
    local defaults = {presets[preset]}
    for _, kind in ipairs(kinds) do
      defaults[#defaults + 1] = entries[kind.place].defaults
    end
    for _, own in ipairs(tables.append(defaults, {entries.sampler.of_tasks})) do
      if own[one.name] ~= nil then default = own[one.name] end
    end
    spec[one.name] = default == nil and one.type or {one.type, default}
  end
  if not is_sampled(entries.sampler) then spec.validation[2] = "exact" end
  return spec
end

-- Returns a hint that names the models which go with a method, or "".
local function models_for(sampler)
  local names = {}
  for _, name in ipairs(tables.sorted_keys(models.by_name)) do
    if not mismatch{sampler = sampler, model = models.by_name[name]} then
      names[#names + 1] = name
    end
  end
  return #names > 0 and "; models that do: " .. table.concat(names, ", ") or ""
end

-- Returns the settings that are given, with a whole number where a text is expected as that text,
-- as on a command line: candidates = 100 is candidates = "100".
local function with_texts(given, spec)
  local all = tables.merged(given)
  for name, value in pairs(given) do
    local type_text = type(spec[name]) == "table" and spec[name][1] or spec[name]
    local takes_text = type_text == "string" or type_text == "string or nil"
    if takes_text and math.type(value) == "integer" then
      all[name] = tostring(value)
    end
  end
  return all
end

--- ladies.experiment.configure(given [, where]) -> table: returns all settings of an experiment:
-- those of `given`, checked, and for the others the defaults of its method and of the preset that
-- given.preset names. doc/reference/settings.md has a table of them, `ladies train --help` lists
-- them. Methods and models of one's own are named by what ladies.experiment.own gives. Errors begin
-- with `where`.
function configuration.of(given, where)
  where = where or "ladies.experiment"
  options.value(where, "the settings", given, "table")
  local preset = settings.common.preset
  preset = options.value(where, "preset", given.preset or preset.default, preset.type)
  for _, kind in ipairs(kinds) do
    own_code.check(where, given, kind.name)
    local names = settings.one_of(kind.entries) .. " or nil"
    options.value(where, kind.name, given[kind.name], names)
  end
  local model = given.model or default_model(given, preset)
  local entries, names = configuration.entries(tables.merged(given, {model = model}))
  local wrong = mismatch(entries)
  if wrong then
    errors.fail(("%s: the model %s does not go with the method %s: %s%s"):format(where,
      names.model, names.method, wrong, models_for(entries.sampler)))
  end
  local spec = tables.merged(spec_of(entries, preset), own_code.SPEC)
  spec.method[2] = names.method
  spec.model = {settings.common.model.type, model}
  for _, key in ipairs(tables.sorted_keys(given)) do       -- of several, always the same one
    if not spec[key] then refuse(where, tostring(key), names) end
  end
  local config = own_code.with_hashes(options.check(where, with_texts(given, spec), spec))
  config.make_features = made_features.plain(config.make_features)
  if config.validation == "sampled" and not is_sampled(entries.sampler) then
    errors.fail(("%s: the method %s has no sampled validation"):format(where, names.method))
  end
  return config
end

--- ladies.experiment.stored(given, where) -> table: completes the settings that a run has stored,
-- as configuration.of does, except that a missing model means gcn. (It was the model of every
-- preset before `default` had another one.)
function configuration.stored(given, where)
  local config = configuration.of(tables.merged({model = "gcn"}, given), where)
  config.model = given.model
  return config
end

return configuration
