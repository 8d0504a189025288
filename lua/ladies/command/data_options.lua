--- How a data set is read, as options of a command line (see ladies.command.cli): those of
-- ladies.data.load.

local complete = require "ladies.data.complete"
local experiment_options = require "ladies.command.experiment_options"

local data_options = {}

--- The options, as ladies.command.cli takes them.
function data_options.list()
  return experiment_options.list(nil, complete.SPEC)
end

--- The options for ladies.data.load, of those that cli.main hands over.
function data_options.load(opts)
  local load = {}
  for key in pairs(complete.SPEC) do load[key] = opts[key] end
  return load
end

return data_options
