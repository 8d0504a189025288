--- Code of the user's own, such as a method or a model, beside the library's of the same kind (see
-- ladies.experiment.kinds): from a file of Lua, which returns a function or an entry as the library
-- has them, or from a function.
--
-- A file is loaded because the user names it, never because data does. Settings that were made with
-- such code hold its hash (as method_code; see ladies.base.code), and where there is a file, its
-- path (as method_file): by these a run that goes on, or the process of a study, knows the code
-- again, or says what is missing.

local core = require "ladies_core"
local code = require "ladies.base.code"
local errors = require "ladies.base.errors"
local kinds = require "ladies.experiment.kinds"
local methods = require "ladies.experiment.methods"
local options = require "ladies.base.options"
local settings = require "ladies.experiment.settings"
local tables = require "ladies.base.tables"

local own_code = {}

-- ---------------------------------------------------------------- code as an entry

-- Returns a copy of a run's settings for the user's code, in which reading a misspelt name is an
-- error instead of nil.
local function refusing(config)
  local copy, names = tables.merged(config), {}
  for i, one in ipairs(kinds.settings()) do
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
local function add(kind, name, entry)
  local there, what = kind.entries[name], options.with_article(kind.name)
  if not name:find "^[%w_]+$" then
    errors.fail(("%s: the name of %s must be of letters, digits and _"):format(
      entry.file or name, what))
  elseif there and (not there.code or there.file ~= entry.file) then
    errors.fail(("%s: there is %s %s already%s; choose another name"):format(
      entry.file or name, what, name, there.file and ", of " .. there.file or ""))
  end
  kind.entries[name] = entry
  return name
end

--- Tells whether a text names a file and no entry: it has a slash, or ends in .lua.
function own_code.is_file(text)
  return text:find "/" ~= nil or text:find "%.lua$" ~= nil
end

-- Runs the chunk of a file, and returns what it returns. The list of places where a module is not
-- is replaced by where there may be one: commands do not look in the current folder.
local function run(chunk)
  local ok, result = errors.caught(errors.owned(chunk))
  if ok then return result end
  error(type(result) == "string" and result:gsub("(module '[^'\n]*' not found):\n.*", "%1; it may "
    .. 'lie where LUA_PATH or, if it is in C, LUA_CPATH says, as LUA_PATH="$PWD/?.lua;;" does')
    or result, 0)
end

--- Loads the Lua file at `path`; what: the name of the kind, such as "method". Returns the name,
-- that of the file, under which there is one from now on.
function own_code.load(what, path)
  errors.own_file(path)
  local chunk, reason = load(core.file.read(path), "@" .. path, "t")
  if not chunk then error(reason, 0) end
  local name, kind = path:match "([^/]*)$":gsub("%.lua$", ""), kinds.by_name[what]
  local entry = entry_of(kind, name, path, run(chunk))
  entry.code, entry.file, entry.path = code.hash(chunk), core.real_path(path), path
  return add(kind, name, entry)
end

-- Adds a function, as own_code.load does with a file. It is called as the entry's `make` is, but
-- without the settings.
local function add_function(kind, name, f)
  local entry = entry_of(kind, name, name, {make = function(...)
    local arguments = table.pack(...)
    table.move(arguments, kind.settings_at + 1, arguments.n, kind.settings_at)
    return f(table.unpack(arguments, 1, arguments.n - 1))
  end})
  entry.code = code.hash(f)
  return add(kind, name, entry)
end

-- ---------------------------------------------------------------- naming it

-- Fails, with `where` before it, for a name that no entry of a kind has where there is a file of
-- that name in this folder, which is named with its ending.
local function check_name(where, kind, name)
  if not kind.entries[name] and core.exists(name .. ".lua") == "file" then
    errors.fail(('%s: no %s is called "%s"; for the file in this folder write %s.lua'):format(where,
      kind.name, name, name))
  end
end

--- Returns the name of an entry of the kind `what` that is given as a name, a file, or {name =,
-- [place of the kind] = function}, after adding its code. Errors begin with `where`.
function own_code.name_of(where, what, given)
  local kind = kinds.by_name[what]
  options.value(where, "the " .. what, given, "string or table")
  if type(given) == "string" then
    if own_code.is_file(given) then return own_code.load(what, given) end
    check_name(where, kind, given:match "^[^:]*")
    return given
  end
  local one = options.check(("%s: the %s"):format(where, what), given,
    {name = "string", [kind.place] = "function"})
  return add_function(kind, one.name, one[kind.place])
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
  local name = own_code.name_of(where, "method", given)
  return own_code.with_hashes(methods.parse(where, samples and name .. ":" .. samples or name))
end

--- ladies.experiment.own{method =, model =, task =, optimizer =} -> table: settings for code of
-- one's own. Each may be a file, as `ladies train --method` and the like take it; or {name =,
-- sampler = function(P, data, model) -> sampler}, {name =, model = function(data, task) -> model},
-- {name =, task = function(data) -> task} and {name =, optimizer = function(parameters, model) ->
-- optimizer}.
function own_code.settings(given)
  local where, types = "ladies.experiment.own", {}
  for _, kind in ipairs(kinds) do types[kind.name] = "string or table or nil" end
  local opts = options.check(where, given, types)
  local found = {}
  for _, kind in ipairs(kinds) do
    local one = opts[kind.name]
    if one and kind.name == "method" then              -- it may have a number of samples, too
      found = tables.merged(found, own_code.method(where, one))
    elseif one then
      found[kind.name] = options.value(where, kind.name,
        own_code.name_of(where, kind.name, one), settings.one_of(kind.entries))
    end
  end
  return own_code.with_hashes(found)
end

--- Returns the names of the methods in a list, in which methods may also be given by their names.
function own_code.names(list)
  return tables.map(list, function(one) return type(one) == "table" and one.name or one end)
end

-- ---------------------------------------------------------------- knowing it again

--- The types of the settings that identify a user's code, for options.check.
own_code.SPEC = {}
for _, kind in ipairs(kinds) do
  own_code.SPEC[kind.name .. "_code"] = "string or nil"
  own_code.SPEC[kind.name .. "_file"] = "string or nil"
end

-- Returns the entry of a kind that settings name, or an empty table.
local function entry_in(given, kind) return kind.entries[given[kind.name]] or {} end

-- Returns why the user's code that these settings name cannot be used again, because it is not
-- loaded or has changed; nil if it can.
local function trouble(kind, given)
  local what, entry = kind.name, entry_in(given, kind)
  local hash, file = given[what .. "_code"], given[what .. "_file"] or entry.file
  local of = file and (", of %s,"):format(file) or ""
  if hash and not entry.code then
    return ("the %s %s%s is code of one's own, which is to be named again: --%s FILE.lua (in Lua "
      .. "ladies.experiment.own)"):format(what, given[what], of, what)
  elseif hash and entry.code ~= hash then
    return ("the code of the %s %s%s has changed"):format(what, given[what], of)
  end
end

--- Fails, with `where` before it, when settings that are taken up again were made with code, of the
-- kind `what`, that is not there now, or is other code.
function own_code.check(where, given, what)
  local text = trouble(kinds.by_name[what], given)
  if text then errors.fail(("%s: %s"):format(where, text)) end
end

--- Tells whether all of the user's code that the settings name is loaded and unchanged.
function own_code.is_here(given)
  for _, kind in ipairs(kinds) do
    if trouble(kind, given) then return false end
  end
  return true
end

--- Sets the hashes of the user's code in settings that name it, and returns them.
function own_code.with_hashes(given)
  for _, kind in ipairs(kinds) do given[kind.name .. "_code"] = entry_in(given, kind).code end
  return given
end

--- Adds the paths of the files with the user's code to a configuration, and returns it.
function own_code.with_files(config)
  for _, kind in ipairs(kinds) do config[kind.name .. "_file"] = entry_in(config, kind).file end
  return config
end

--- Takes what settings say of the user's code out of them, for the kinds that `named` has, since it
-- is about others than are named there.
function own_code.forget(given, named)
  for _, kind in ipairs(kinds) do
    if named[kind.name] then
      given[kind.name .. "_code"], given[kind.name .. "_file"] = nil, nil
    end
  end
end

--- Returns the options, with a space before each, that name the files of a configuration again.
function own_code.arguments(config)
  local words = {""}
  for _, kind in ipairs(kinds) do
    local file = config[kind.name .. "_file"]
    if file then tables.append(words, {"--" .. kind.name, file}) end
  end
  return table.concat(words, " ")
end

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

-- Returns the entries that come from files, sorted by path, as an array of {kind =, name =, entry
-- =}.
local function loaded()
  local list = {}
  for _, kind in ipairs(kinds) do
    for name, entry in pairs(kind.entries) do
      if entry.path then list[#list + 1] = {kind = kind, name = name, entry = entry} end
    end
  end
  table.sort(list, function(a, b) return a.entry.path < b.entry.path end)
  return list
end

--- Returns the user's files that are loaded, as an array of {what, path}.
function own_code.files()
  return tables.map(loaded(), function(one) return {one.kind.name, one.entry.path} end)
end

-- Returns those entries that were loaded from the file at `path`; fails if there are none.
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
    local ok, reason = errors.try(own_code.load, one.kind.name, one.entry.path)
    if not ok then
      failure = failure or reason
    elseif one.kind.entries[one.name].code ~= one.entry.code then
      changed[#changed + 1] = one.name
    end
  end
  if failure then error(failure, 0) end
  return changed
end

--- Returns the name of an entry in these settings that is a function and has no file, or nil.
function own_code.function_in(given)
  for _, kind in ipairs(kinds) do
    local entry = entry_in(given, kind)
    if entry.code and not entry.file then return given[kind.name] end
  end
end

return own_code
