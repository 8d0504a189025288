--- The settings of ladies.experiment as options of a command line, for the commands that train.
-- Options that are not given have the values of the method and the preset.

local cli = require "ladies.command.cli"
local declared = require "ladies.training.declared"
local methods = require "ladies.experiment.methods"
local models = require "ladies.experiment.models"
local own_code = require "ladies.experiment.own_code"
local settings = require "ladies.experiment.settings"
local tables = require "ladies.base.tables"

local experiment_options = {}

-- Settings that are names, and may be files of code of one's own.
local NAMES = {method = true, model = true}

-- How such an option is read: a file is loaded, and has a name then.
local function reader(what)
  return function(text)
    if own_code.is_file(text) then return own_code.load(what, text) end
    own_code.check_name("--" .. what, what, text)
    return text
  end
end

--- Loads the files of methods among some texts, FILE.lua or FILE.lua:SAMPLES, so that their
-- settings are among the options.
function experiment_options.load_methods(texts)
  for _, text in ipairs(texts) do
    text = text:match "^(.*%.lua):[^:]*$" or text
    if text:find "%.lua$" then own_code.load("method", text) end
  end
end

--- Loads the files that the arguments name as --method, --model or among --methods, so that their
-- settings are among the options.
function experiment_options.load_own(args)
  for what in pairs(NAMES) do
    local text = cli.peek(args, what)
    if text then reader(what)(text) end
  end
  experiment_options.load_methods(cli.words(cli.peek(args, "methods")) or {})
end

-- What stands for a value in the help text, by how the type of its setting begins.
local VALUES = {{"^boolean", "BOOL"}, {"^[%l%- ]*integer", "N"}, {"^[%l%- ]*number%f[%A]", "X"},
  {"^string", "TEXT"}, {"", "WORD"}}

-- A setting as ladies.command.cli takes an option.
local function option_of(one)
  local value
  if NAMES[one.name] then value = "NAME|FILE.lua" end
  for _, each in ipairs(VALUES) do value = value or one.type:find(each[1]) and each[2] end
  local type_text = one.type:gsub(" or nil$", ""):gsub(" or table$", "")
  return {(one.name:gsub("_", "-")), value, type_text, read = NAMES[one.name] and reader(one.name),
    help = settings.describe(one, methods.by_name, models.by_name)}
end

--- The settings as options, as ladies.command.cli takes them: those whose names are in the set
-- `names`, or all but those in the set `without`. Methods and models that were added before have
-- theirs among them.
function experiment_options.list(without, names)
  local list = {}
  for _, one in ipairs(settings.all(methods.by_name, models.by_name)) do
    if (not names or names[one.name]) and not (without and without[one.name]) then
      list[#list + 1] = option_of(one)
    end
  end
  return list
end

--- The options of `ladies train` that say how a run is made, not which one it is.
function experiment_options.running()
  return tables.map(declared.groups.running, function(one)
    local is_flag = one[2] == "boolean"
    return {(one[1]:gsub("_", "-")), not is_flag and one.value or nil,
      not is_flag and one[2]:match "^(.-) or " or not is_flag and one[2] or nil,
      default = not is_flag and one.default or nil, help = one.help}
  end)
end

--- The settings that the user gave on the command line, from what cli.main hands over.
function experiment_options.settings(opts, given)
  local found = {}
  for _, one in ipairs(settings.all(methods.by_name, models.by_name)) do
    if given[one.name] then found[one.name] = opts[one.name] end
  end
  found.method_code, found.model_code = own_code.hashes(found)
  return found
end

--- "dropout=0,0.3 self-nodes=none,batch" as {{"dropout", 0, 0.3}, {"self_nodes", "none", "batch"}},
-- with values of the options' types; errors begin with `where`.
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
