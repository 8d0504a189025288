--- Turns the settings of ladies.experiment into command-line options, for the commands that train.
-- Options that are not given have the defaults of the method and the preset.

local cli = require "ladies.command.cli"
local declared = require "ladies.training.declared"
local kinds = require "ladies.experiment.kinds"
local methods = require "ladies.experiment.methods"
local own_code = require "ladies.experiment.own_code"
local tables = require "ladies.base.tables"

local experiment_options = {}

-- Returns the function that reads an option whose value is a name or a file with the user's own
-- code: it loads a file and returns the name under which its code is then known.
local function reader(what)
  return function(text) return own_code.name_of("--" .. what, what, text) end
end

--- Loads the files of methods among some texts, FILE.lua or FILE.lua:SAMPLES, so that their
-- settings become options; returns the names of all methods that the texts name, or nil.
function experiment_options.load_methods(texts)
  local names = {}
  for _, text in ipairs(texts) do
    text = text:match "^(.*%.lua):[^:]*$" or text
    local is_file = text:find "%.lua$"
    names[#names + 1] = is_file and own_code.load("method", text)
      or methods.by_name[text:match "^[^:]*"] and text:match "^[^:]*" or nil
  end
  return names[1] and names
end

--- Loads the files that the arguments name, as --method, --model and the like or among --methods,
-- so that their settings are among the options. Returns the names of what the arguments name, which
-- `list` takes: {method = array of names or nil, model = the same, ...}.
function experiment_options.load_own(args)
  local named = {method =
    experiment_options.load_methods(cli.words(cli.peek(args, "methods")) or {})}
  for _, kind in ipairs(kinds) do
    local text = cli.peek(args, kind.name)
    if text then named[kind.name] = {reader(kind.name)(text)} end
  end
  return named
end

-- The words that stand for values in the help text, each with a pattern for the type of a setting.
local VALUES = {{"^boolean", "BOOL"}, {"^[%l%- ]*integer", "N"}, {"^[%l%- ]*number%f[%A]", "X"},
  {"^string", "TEXT"}, {"", "WORD"}}

-- The headings of the groups of settings in the help text, by the place of a setting (see
-- ladies.experiment.settings).
local GROUPS = {experiment = "the experiment", data = "the data set", sampler = "the method",
  model = "the network", task = "the task", optimizer = "the optimizer", training = "training",
  validation = "validation"}

-- Makes the command-line option of a setting. named: a result of load_own.
local function option_of(one, named)
  local value = kinds.by_name[one.name] and "NAME|FILE.lua"
  for _, each in ipairs(VALUES) do value = value or one.type:find(each[1]) and each[2] end
  local type_text = one.type:gsub(" or nil$", ""):gsub(" or table$", "")
  local kind = kinds.of(one)
  local names = kind and named[kind.name]
  local is_of_others = names and #kinds.owners(one, named) == 0
  return {(one.name:gsub("_", "-")), value, type_text,
    read = kinds.by_name[one.name] and reader(one.name), brief = is_of_others or nil,
    group = is_of_others and "other methods, networks and tasks have"
      or GROUPS[one.place] .. (names and " " .. table.concat(names, ", ") or ""),
    help = kinds.describe(one, named)}
end

--- Returns the settings as options, as ladies.command.cli takes them: those whose names are in the
-- set `names`, or all but those in the set `without`; the settings of the user's own code that was
-- added from files are among them. named: a result of load_own; with it, the help texts are about
-- the entries that it names.
function experiment_options.list(without, names, named)
  local list = {}
  for _, one in ipairs(kinds.settings()) do
    if (not names or names[one.name]) and not (without and without[one.name]) then
      list[#list + 1] = option_of(one, named or {})
    end
  end
  return list
end

--- Returns the options of `ladies train` that change how a run is carried out but not its result.
function experiment_options.running()
  return tables.map(declared.groups.running, function(one)
    local is_flag = one[2] == "boolean"
    return {(one[1]:gsub("_", "-")), not is_flag and one.value or nil,
      not is_flag and one[2]:match "^(.-) or " or not is_flag and one[2] or nil,
      default = not is_flag and one.default or nil, help = one.help, group = "the run"}
  end)
end

--- Returns the settings that the user gave on the command line; the arguments are those of the
-- function that is given to cli.main.
function experiment_options.settings(opts, given)
  local found = {}
  for _, one in ipairs(kinds.settings()) do
    if given[one.name] then found[one.name] = opts[one.name] end
  end
  return own_code.with_hashes(found)
end

--- Moves these settings from opts into a table of their own, opts.settings, but for those in the
-- set `own`, for which the command has options of these names; returns opts.
function experiment_options.move(opts, given, own)
  local found = experiment_options.settings(opts, given)
  for name in pairs(found) do
    if own and own[name] then found[name] = nil else opts[name] = nil end
  end
  opts.settings = found
  return opts
end

--- Parses a text such as "dropout=0,0.3 self-nodes=none,batch" and returns {{"dropout", 0, 0.3},
-- {"self_nodes", "none", "batch"}}, with values of the options' types; errors begin with `where`.
function experiment_options.varied(where, text)
  local lists, spec = {}, cli.join({name = where}, experiment_options.list())
  for word in text:gmatch "%S+" do
    local name, values = word:match "^([^=]+)=(.+)$"
    if not name then
      error(("%s: %q is no setting with its values, such as dropout=0,0.3"):format(where, word), 0)
    end
    local key = name:gsub("-", "_")
    local list = {key}
    for value in values:gmatch "[^,]+" do
      list[#list + 1] = cli.parse(spec, {("--%s=%s"):format(name, value)})[key]
    end
    lists[#lists + 1] = list
  end
  if #lists == 0 then
    error(where .. " needs settings with their values, such as dropout=0,0.3", 0)
  end
  return lists
end

return experiment_options
