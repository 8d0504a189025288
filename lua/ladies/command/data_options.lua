--- Declares the command-line options that say how a data set is read, for every command that takes
-- the path of one. They are the options of ladies.data.load, declared for ladies.command.cli.

local complete = require "ladies.data.complete"
local experiment_options = require "ladies.command.experiment_options"

local data_options = {}

--- Returns the options as a list for ladies.command.cli.
function data_options.list()
  return experiment_options.list(nil, complete.SPEC)
end

--- Removes the options for ladies.data.load from a command's options, and returns them.
function data_options.take(opts)
  local load = complete.options_of(opts)
  for key in pairs(load) do opts[key] = nil end
  return load
end

--- Moves these options from opts into a table of their own, opts[key], if the user gave any;
-- returns opts.
function data_options.move(opts, key)
  local load = data_options.take(opts)
  opts[key] = next(load) and load or nil
  return opts
end

return data_options
