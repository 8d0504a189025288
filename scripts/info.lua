-- ladies info: tells what a data set holds: edges, components, features, classes, split, degrees
--
--   ladies info NAME|PATH [options]
--
-- Edges stored both ways count once; components take every edge both ways. A degree is the number
-- of entries in a node's row: of those that it hears.

local host = require "ladies_host"
local ladies = require "ladies"
local cli = require "ladies.command.cli"
local data_options = require "ladies.command.data_options"
local description = require "ladies.data.description"

-- The data set is the one word that is no option.
local name = arg[1] and not arg[1]:find "^%-" and table.remove(arg, 1)

cli.main(cli.join({
  name = "ladies info",
  usage = "ladies info NAME|PATH [options]",
  about = "Tells what a data set holds, by its name or its path (see doc/data.md).",
}, data_options.list), arg, function(opts)
  if not name then
    error(("which data set? ladies info NAME|PATH; there are %s"):format(
      table.concat(ladies.data.names(), ", ")), 0)
  end
  print(description.full(ladies.data.load(name, data_options.load(opts)), host.width()))
end)
