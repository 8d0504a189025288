--- Loads the experiments in lua/experiments, which use the library and which an installation may
-- leave out, and makes the options of their commands.

local cli = require "ladies.command.cli"
local data_options = require "ladies.command.data_options"
local study_options = require "ladies.command.study_options"
local tables = require "ladies.base.tables"

local experiments = {}

--- experiments.load(name [, command]): returns the module experiments.NAME. If the experiments are
-- not installed, an error says so, which begins with `command` if that is given.
function experiments.load(name, command)
  local module = "experiments." .. name
  if not package.searchpath(module, package.path) then
    error(('%sthe experiments are not installed here: there is no module %s (the component '
      .. '"experiments" of the installation has it)'):format(command and command .. ": " or "",
      module), 0)
  end
  return require(module)
end

-- Returns the command-line options of an experiment, with those of a study if it keeps its training
-- runs in one. What is `standard` is only told: the experiment itself takes it, or what is `quick`.
local function options_of(declared)
  local list = tables.map(declared, function(option)
    return option.standard == nil and option or tables.merged(option,
      {help = cli.option_help(tables.merged(option, {default = option.standard}))})
  end)
  local folder, own = declared.folder, tables.by_field(list, 1)
  for _, option in ipairs(folder and study_options.list(tostring(folder)) or {}) do
    if not own[option[1]] then list[#list + 1] = option end
  end
  return list
end

--- experiments.of_paper(name): returns what the command of a study of the paper's experiments does
-- with its options: carries it out and shows it.
function experiments.of_paper(name)
  return function(opts)
    study_options.show(experiments.load "paper"[name](data_options.move(opts, "settings")))
  end
end

--- experiments.spec(name): returns the spec of the command with this name (see ladies.command.cli),
-- with the options for reading data if the experiment reads data sets.
function experiments.spec(name)
  return function()
    local command = "ladies " .. name
    local declared = experiments.load("options", command)[name]
    return cli.join({name = command, usage = declared.usage, about = declared.about},
      options_of(declared),
      declared.reads_data and data_options.list() or {})
  end
end

return experiments
