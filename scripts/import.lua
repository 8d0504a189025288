-- ladies import: takes a data set that you have, as a folder or an archive, into the cache
--
--   ladies import PATH [--name NAME] [--replace]
--
-- PATH is a folder or an archive (zip, as wheels are, .tar, .tar.gz), or a file in a form that
-- `ladies info` reads, plain or packed with gzip. Afterwards the data set is found by its name.
-- Under a name that `ladies fetch` lists, the files must be the published ones.

local ladies = require "ladies"
local cli = require "ladies.command.cli"
local data_options = require "ladies.command.data_options"
local import = require "ladies.data.store.import"

cli.main(cli.join({
  name = "ladies import",
  usage = "ladies import PATH [options]", words = {"path"},
  about = "Takes a data set that you have, as a folder or an archive, into the cache.",
  {"name", "NAME", "string", help = "under which it is found (default: that of its own file or "
      .. "folder)"},
  {"replace", help = "put it in the place of the one of this name in the cache"},
}, data_options.list()), arg, function(opts)
  if not opts.path then error("what? ladies import PATH [--name NAME]", 0) end
  local load = data_options.load(opts)
  load.name, load.replace = opts.name, opts.replace
  print(ladies.data.load(import(opts.path, load)):describe())
end)
