--- The kinds of parts of a run that a setting names, and of which a user may have some of his own:
-- methods, models, tasks and optimizers. All that is done for each of them, such as loading a
-- user's file, comparing its code when a run goes on, or listing settings, loops over this table. A
-- kind:
--
--   name          that of the setting
--   place         of the settings that its entries take (see ladies.experiment.settings); also the
--                 name of the function in ladies.experiment.own
--   entries       by their names: the library's, and those of the user (ladies.experiment.own_code)
--   undecided     the entry that stands for the one that settings leave open, where they may
--   fields        of an entry, besides title, settings, defaults and make, with their types
--   takes         the settings of an entry that is a function alone
--   settings_at   which argument of `make` the settings are
--   gives         the type of what `make` returns
--   finish(where, made)   what is made of that, where it is not used as it is

local methods = require "ladies.experiment.methods"
local models = require "ladies.experiment.models"
local optimizers = require "ladies.experiment.optimizers"
local options = require "ladies.base.options"
local presets = require "ladies.experiment.presets"
local settings = require "ladies.experiment.settings"
local tables = require "ladies.base.tables"
local Task = require "ladies.task.object"
local tasks = require "ladies.experiment.tasks"

local kinds = {
  {name = "method", place = "sampler", entries = methods.by_name,
    fields = {resolve = "callable or nil", nominal_rows = "callable or nil",
      histories = "boolean or nil", no_graph = "boolean or nil", exact_only = "string or nil"},
    takes = {"samples"}, settings_at = 2, gives = "callable"},
  {name = "model", place = "model", entries = models.by_name,
    fields = {no_histories = "boolean or nil", no_graph = "boolean or nil"},
    takes = {}, settings_at = 1, gives = "table"},
  {name = "task", place = "task", entries = tasks.by_name, undecided = tasks.undecided,
    fields = {resolve = "callable or nil"}, takes = {}, settings_at = 1, gives = "table",
    finish = function(where, made)
      return options.class_of(made) == "Task" and made or Task.new(made, where)
    end},
  {name = "optimizer", place = "optimizer", entries = optimizers.by_name,
    undecided = optimizers.undecided, fields = {}, takes = {"weight_decay"}, settings_at = 2,
    gives = "Optimizer"},
}

--- The kinds by their names.
kinds.by_name = {}
for _, kind in ipairs(kinds) do kinds.by_name[kind.name] = kind end

--- Returns all settings that there are, {name =, type =, default =, help =, place =}, in the order
-- of ladies.experiment.settings; those of the user's own code are among them.
function kinds.settings()
  local entries, types = {}, {}
  for _, kind in ipairs(kinds) do
    entries[kind.place] = settings.union(kind.entries)
    types[kind.name] = settings.one_of(kind.entries)
  end
  return tables.map(settings.of(entries), function(one)
    if not types[one.name] then return one end
    local open = one.type:match " or nil$" or ""
    return setmetatable({type = types[one.name] .. open}, {__index = one})
  end)
end

-- ---------------------------------------------------------------- in words

-- Returns those entries of a kind that have one of these names; without names all.
local function some_of(kind, names)
  if not names then return kind.entries end
  local some = {}
  for _, name in ipairs(names) do some[name] = kind.entries[name] end
  return some
end

-- Returns a text such as "preset paper 200, code 200" of the entries or presets that have defaults
-- of their own for a setting.
local function own_defaults(word, by_name, one)
  local list = {}
  for _, name in ipairs(tables.sorted_keys(by_name)) do
    local defaults = by_name[name].defaults or by_name[name]
    if defaults[one.name] ~= nil then
      list[#list + 1] = ("%s %s"):format(name, settings.show(defaults[one.name]))
    end
  end
  return #list > 0 and word .. " " .. table.concat(list, ", ") or nil
end

--- Returns the kind that a setting belongs to, nil for one of every experiment.
function kinds.of(one)
  for _, kind in ipairs(one.of_some and kinds or {}) do
    if kind.place == one.place then return kind end
  end
end

--- Returns the names of those entries that have a setting which belongs to a kind, among those with
-- the names in `named`, {method = array, ...}, where it has some of the kind.
function kinds.owners(one, named)
  local kind = kinds.of(one)
  return settings.owners(some_of(kind, named[kind.name]), one.name)
end

-- Names the owners of a setting, as text before its help, or "": the entries that take it where
-- none of the kind is named, and of models only where not all do; always where others have another
-- setting of that name.
local function owners_text(kind, owners, named, are_all)
  if are_all and named[kind.name] then return "" end
  local all = kind.name == "model" and #tables.sorted_keys(kind.entries)
  return #owners ~= all and table.concat(owners, ", ") .. ": " or ""
end

-- Returns a setting as an entry declares it, or as it is where the entry takes the common one.
local function as_declared(one, entry)
  for _, own in ipairs(entry.settings or {}) do
    if type(own) == "table" and own[1] == one.name then
      return {name = one.name, type = one.type, default = own.default, follows = own.follows,
        help = own.help}
    end
  end
  return one
end

-- Describes a setting by its help, its words and its defaults, without its owners.
local function describe_one(one, named)
  local parts = {}
  local words = one.type:gsub(" or nil$", ""):match "^[%w_ ]+|[%w_ |]+$"
  parts[1] = words and words:gsub("|", ", ")
  local default = one.default == nil and one.follows or one.default
  if default ~= nil then parts[#parts + 1] = "default " .. settings.show(default) end
  parts[#parts + 1] = own_defaults("preset", presets, one)
  for _, kind in ipairs(kinds) do
    parts[#parts + 1] = own_defaults(kind.name, some_of(kind, named[kind.name]), one)
  end
  return one.help .. (#parts > 0 and (" (%s)"):format(table.concat(parts, "; ")) or "")
end

--- Describes a setting in one line: who has it, its help, its words, its defaults. named: as of
-- kinds.owners; then it is about the entries that are named. Two entries may have a setting of one
-- name, each with its own words and default: then both are described.
function kinds.describe(one, named)
  named = named or {}
  local kind = kinds.of(one)
  local all = kind and kinds.owners(one, named) or {}
  if #all == 0 then return describe_one(one, named) end
  local texts, owners = {}, {}
  for _, owner in ipairs(all) do
    local text = describe_one(as_declared(one, kind.entries[owner]), named)
    if not owners[text] then texts[#texts + 1], owners[text] = text, {} end
    table.insert(owners[text], owner)
  end
  return table.concat(tables.map(texts, function(text)
    return owners_text(kind, owners[text], named, #texts == 1) .. text
  end), "; ")
end

return kinds
