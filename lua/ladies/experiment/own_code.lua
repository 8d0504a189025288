--- Methods, models and tasks of the user's own, beside those of ladies.experiment.methods, models
-- and tasks: from a file of Lua, which returns a function or an entry as it is written there, or
-- from a function.
--
-- A file is loaded because the user names it, never because data does. Settings that were made with
-- such code hold its hash (method_code, model_code, task_code; see ladies.base.code), and where
-- there is a file, its path (method_file, model_file, task_file): by these a run that goes on, or
-- the process of a study, knows the code again, or says what is missing.

local core = require "ladies_core"
local code = require "ladies.base.code"
local errors = require "ladies.base.errors"
local methods = require "ladies.experiment.methods"
local models = require "ladies.experiment.models"
local options = require "ladies.base.options"
local settings = require "ladies.experiment.settings"
local tables = require "ladies.base.tables"
local Task = require "ladies.task.object"
local tasks = require "ladies.experiment.tasks"

local own_code = {}

-- How methods, models and tasks differ: the table of entries, the place of their settings, the
-- settings that a function alone takes, the type that `make` gives, which of its arguments the
-- settings are, the other fields of an entry, and what is made of that which `make` gives.
local KINDS = {
  method = {entries = methods.by_name, place = "sampler", takes = {"samples"}, gives = "callable",
    settings_at = 2,
    fields = {resolve = "callable or nil", nominal_rows = "callable or nil",
      histories = "boolean or nil", no_graph = "boolean or nil", exact_only = "string or nil"}},
  model = {entries = models.by_name, place = "model", takes = {}, gives = "table", settings_at = 1,
    fields = {no_histories = "boolean or nil", no_graph = "boolean or nil"}},
  task = {entries = tasks.by_name, place = "task", takes = {}, gives = "table", settings_at = 1,
    fields = {resolve = "callable or nil"}, finish = function(where, made)
      return options.class_of(made) == "Task" and made or Task.new(made, where)
    end},
}
local ORDER = {"method", "model", "task"}

-- ---------------------------------------------------------------- code as an entry

-- Returns a copy of a run's settings for the user's code, in which reading a misspelt name is an
-- error instead of nil.
local function refusing(config)
  local copy, names = tables.merged(config), {}
  for i, one in ipairs(settings.all(methods.by_name, models.by_name, tasks.by_name)) do
    names[i], copy[one.name] = one.name, config[one.name]
  end
  tables.append(names, tables.sorted_keys(own_code.SPEC))
  local known = {}
  for _, name in ipairs(names) do known[name] = true end
  return setmetatable(copy, {__index = function(_, key)
    if known[key] or type(key) ~= "string" then return nil end
    local near = options.nearest(key, names)
    errors.fail(('settings: there is no setting "%s"%s'):format(key,
      near and ('; did you mean "%s"?'):format(near) or ""))
  end})
end

-- Calls make(...) and returns its result. If its error names no line of the user's code (as after a
-- tail call), the name of the code is put before the message.
local function make_by(where, make, ...)
  local ok, made = errors.try(make, ...)
  if ok then return made end
  if errors.is_in_own_file(made) then error(made, 0) end
  errors.pass_on(made, where)
end

-- Checks what a file returned and makes an entry of it; where: the path of the file.
local function entry_of(kind, name, where, value)
  if type(value) ~= "table" then
    options.value(where, "what the file returns", value, "function or table")
    value = {settings = kind.takes, make = value}
  end
  local spec = {title = {"string", name}, settings = {"table", {}}, defaults = {"table", {}},
    make = "callable"}
  for field, type_text in pairs(kind.fields) do spec[field] = type_text end
  local entry = options.check(where, value, spec)
  local make = entry.make
  function entry.make(...)
    local arguments = table.pack(...)
    arguments[kind.settings_at] = refusing(arguments[kind.settings_at])
    local made = options.value(where, "what it makes",
      make_by(where, make, table.unpack(arguments, 1, arguments.n)), kind.gives)
    return kind.finish and kind.finish(where, made) or made
  end
  return settings.check_entry(where, entry, kind.place)
end

-- Adds the entry under a name; fails if the name belongs to other code, except an earlier state of
-- the same file.
local function add(what, name, entry)
  local entries = KINDS[what].entries
  local there = entries[name]
  if not name:find "^[%w_]+$" then
    errors.fail(("%s: the name of a %s must be of letters, digits and _"):format(
      entry.file or name, what))
  elseif there and (not there.code or there.file ~= entry.file) then
    errors.fail(("%s: there is a %s %s already%s; choose another name"):format(
      entry.file or name, what, name, there.file and ", of " .. there.file or ""))
  end
  entries[name] = entry
  return name
end

--- Tells whether a text names a file and not a method, a model or a task: it has a slash, or ends
-- in .lua.
function own_code.is_file(text)
  return text:find "/" ~= nil or text:find "%.lua$" ~= nil
end

--- Loads the Lua file at `path`; what: "method", "model" or "task". Returns the name, that of the
-- file, under which there is one from now on.
function own_code.load(what, path)
  errors.own_file(path)
  local chunk, reason = load(core.file.read(path), "@" .. path, "t")
  if not chunk then error(reason, 0) end
  local name = path:match "([^/]*)$":gsub("%.lua$", "")
  local entry = entry_of(KINDS[what], name, path, errors.owned(chunk)())
  entry.code, entry.file, entry.path = code.hash(chunk), core.real_path(path), path
  return add(what, name, entry)
end

-- Adds a function as a method or a model, as own_code.load does with a file. `make` becomes the
-- field of that name in the entry.
local function add_function(what, name, f, make)
  local entry = entry_of(KINDS[what], name, name, {make = make})
  entry.code = code.hash(f)
  return add(what, name, entry)
end

-- ---------------------------------------------------------------- naming it

--- Fails, with `where` before it, for a name that is no method, model or task where there is a file
-- of that name in this folder, which is named with its ending.
function own_code.check_name(where, what, name)
  if not KINDS[what].entries[name] and core.exists(name .. ".lua") == "file" then
    errors.fail(('%s: no %s is called "%s"; for the file in this folder write %s.lua'):format(where,
      what, name, name))
  end
end

-- Returns the name of a method or model that is given as a name, a file, or {name =, [field] =
-- function}, after adding its code.
local function name_of(where, what, given, field, arguments)
  options.value(where, "the " .. what, given, "string or table")
  if type(given) == "string" then
    if own_code.is_file(given) then return own_code.load(what, given) end
    own_code.check_name(where, what, given:match "^[^:]*")
    return given
  end
  local one = options.check(("%s: the %s"):format(where, what), given,
    {name = "string", [field] = "function"})
  return add_function(what, one.name, one[field], function(...)
    return one[field](arguments(...))
  end)
end

--- Converts one of the methods of a study to settings: "ladies", "ladies:64", "./mine.lua",
-- "./mine.lua:64" or {name =, sampler = function(P, data, model) -> sampler}. Errors begin with
-- `where`.
function own_code.method(where, given)
  local samples
  if type(given) == "string" then
    local file, number = given:match "^(.*%.lua):(.*)$"
    given, samples = file or given, number
  end
  local name = name_of(where, "method", given, "sampler", function(P, _, data, model)
    return P, data, model
  end)
  local found = methods.parse(where, samples and name .. ":" .. samples or name)
  found.method_code = methods.by_name[found.method].code
  return found
end

--- ladies.experiment.own{method =, model =, task =} -> table: settings for code of one's own. Each
-- may be a file, as `ladies train --method`, `--model` and `--task` take it; or {name =, sampler =
-- function(P, data, model) -> sampler}, {name =, model = function(data, task) -> model} and {name
-- =, task = function(data) -> task}.
function own_code.settings(given)
  local where = "ladies.experiment.own"
  local opts = options.check(where, given, {method = "string or table or nil",
    model = "string or table or nil", task = "string or table or nil"})
  local found = opts.method and own_code.method(where, opts.method) or {}
  if opts.task then
    found.task = name_of(where, "task", opts.task, "task", function(_, data) return data end)
    options.value(where, "task", found.task, tasks.names())
    found.task_code = tasks.by_name[found.task].code
  end
  if opts.model then
    found.model = name_of(where, "model", opts.model, "model", function(_, data, task)
      return data, task
    end)
    options.value(where, "model", found.model, models.names())
    found.model_code = models.by_name[found.model].code
  end
  return found
end

--- Returns the names of the methods in a list, in which methods may also be given by their names.
function own_code.names(list)
  return tables.map(list, function(one) return type(one) == "table" and one.name or one end)
end

-- ---------------------------------------------------------------- knowing it again

--- The types of the settings that identify a user's code, for options.check.
own_code.SPEC = {
  method_code = "string or nil", method_file = "string or nil",
  model_code = "string or nil", model_file = "string or nil",
  task_code = "string or nil", task_file = "string or nil",
}

-- Returns why the user's code that these settings name cannot be used again, because it is not
-- loaded or has changed; nil if it can.
local function trouble(what, given)
  local entry, hash = KINDS[what].entries[given[what]], given[what .. "_code"]
  local file = given[what .. "_file"] or entry and entry.file
  local of = file and (", of %s,"):format(file) or ""
  if hash and not (entry and entry.code) then
    return ("the %s %s%s is code of one's own, which is to be named again: --%s FILE.lua (in Lua "
      .. "ladies.experiment.own)"):format(what, given[what], of, what)
  elseif entry and entry.code and hash and entry.code ~= hash then
    return ("the code of the %s %s%s has changed"):format(what, given[what], of)
  end
end

--- Fails, with `where` before it, when settings that are taken up again were made with a method or
-- model or a task (what: "method", "model" or "task") whose code is not there now, or is other
-- code.
function own_code.check(where, given, what)
  local text = trouble(what, given)
  if text then errors.fail(("%s: %s"):format(where, text)) end
end

--- Tells whether all of the user's code that the settings name is loaded and unchanged.
function own_code.is_here(given)
  return not (trouble("method", given) or trouble("model", given) or trouble("task", given))
end

-- The fields of the entries of a method, a model and a task that settings name.
local function fields_of(given, field)
  local found = {}
  for i, what in ipairs(ORDER) do
    local entry = KINDS[what].entries[given[what]]
    found[i] = entry and entry[field]
  end
  return found[1], found[2], found[3]
end

--- The hashes of the code of the method, the model and the task that settings name, nil for the
-- library's.
function own_code.hashes(given) return fields_of(given, "code") end

--- Returns the paths of the files of the method and of the model that settings name, nil where
-- there is none.
function own_code.paths(given) return fields_of(given, "file") end

--- Returns the set of the names of all settings that the user's own methods declare.
function own_code.own_settings()
  local names = {}
  for _, entry in pairs(methods.by_name) do
    for _, one in ipairs(entry.code and entry.settings or {}) do
      if type(one) == "table" then names[one[1]] = true end
    end
  end
  return names
end

--- Adds the paths of the files with the user's code to a configuration, and returns it.
function own_code.with_files(config)
  config.method_file, config.model_file, config.task_file = own_code.paths(config)
  return config
end

-- Returns the entries that come from files, sorted by path, as an array of {what =, name =, entry
-- =}.
local function loaded()
  local list = {}
  for what, kind in pairs(KINDS) do
    for name, entry in pairs(kind.entries) do
      if entry.path then list[#list + 1] = {what = what, name = name, entry = entry} end
    end
  end
  table.sort(list, function(a, b) return a.entry.path < b.entry.path end)
  return list
end

--- Returns the user's files that are loaded, as an array of {what, path}.
function own_code.files()
  return tables.map(loaded(), function(one) return {one.what, one.entry.path} end)
end

-- Returns the methods and models that were loaded from the file at `path`; fails if there are none.
local function loaded_from(path)
  local all, list = loaded(), {}
  if not core.exists(path) then errors.fail("ladies.reload: there is no file " .. path) end
  for _, one in ipairs(all) do
    if one.entry.file == core.real_path(path) then list[#list + 1] = one end
  end
  if list[1] then return list end
  local others = table.concat(tables.map(all, function(one) return one.entry.path end), ", ")
  errors.fail(("ladies.reload: nothing is loaded from %s%s"):format(path,
    all[1] and ", but from " .. others or ""))
end

--- ladies.reload([path]) -> string[]: loads a file of one's own once more, after it was changed:
-- samplers and models that are made from now on are the new ones. Without a path it loads all files
-- that are loaded. Returns an array of the names of those whose code has changed. Where a file has
-- an error, what it gave before stays.
function own_code.reload(path)
  options.value("ladies.reload", "the path", path, "string or nil")
  local changed, failure = {}, nil
  for _, one in ipairs(path and loaded_from(path) or loaded()) do
    local ok, reason = errors.try(own_code.load, one.what, one.entry.path)
    if not ok then
      failure = failure or reason
    elseif KINDS[one.what].entries[one.name].code ~= one.entry.code then
      changed[#changed + 1] = one.name
    end
  end
  if failure then error(failure, 0) end
  return changed
end

--- The name of a method, model or task of these settings that is a function and has no file, or
-- nil.
function own_code.function_in(given)
  for what, kind in pairs(KINDS) do
    local entry = kind.entries[given[what]]
    if entry and entry.code and not entry.file then return given[what] end
  end
end

return own_code
