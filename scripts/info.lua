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
local description = require "ladies.data.about.description"

cli.main(cli.join({
  name = "ladies info",
  usage = "ladies info NAME|PATH [options]", words = {"dataset"},
  about = "Tells what a data set holds, by its name or its path (see doc/data.md).",
}, data_options.list()), arg, function(opts)
  if not opts.dataset then
    error(("which data set? ladies info NAME|PATH; there are %s"):format(
      table.concat(ladies.data.names(), ", ")), 0)
  end
  print(description.full(ladies.data.load(opts.dataset, data_options.take(opts)), host.width()))
end)
