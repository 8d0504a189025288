-- ladies bench: measurements of speed and memory, each in a file of lua/experiments/bench/command/
--
--   ladies bench [--quick] [--check] [--out DIR]        the machine's limits, and how near we are
--   ladies bench peers                                  the same work in other programs
--   ladies bench page [--page FILE]                     doc/benchmarks.md, of all of these
--   ladies bench accumulate                             the table of doc/clusters.md
--   ladies bench draw [--rounds N]
--   ladies bench gallery [--page FILE]                  the tables of doc/gallery.md
--   ladies bench methods                                the table of doc/samplers.md
--   ladies bench models                                 the table of doc/models.md
--   ladies bench papers [--nodes 1000000,10000000]     graphs larger than memory
--   ladies bench parts [--datasets NAMES]               seeds from parts of the graph, in
--                                                       doc/clusters.md
--   ladies bench ranks [--ranks 1,2,4]
--   ladies bench step [--batches N]
--   ladies bench sampling [--peers]
--   ladies bench since [--why TEXT]                     what has changed since the tables of doc/
--   ladies bench scale [--nodes N] [--entries N] [--features N]
--   ladies bench text [--edges N] [--python PROGRAM]
--   ladies bench threads [--work NAMES]                what more threads would buy

local experiments = require "ladies.command.experiments"

local name = "machine"
if arg[1] and not arg[1]:find "^%-" then name = table.remove(arg, 1) end
local is_there, names = pcall(experiments.load, "bench.names", "ladies bench")
if not is_there then
  io.stderr:write(names, "\n")
  os.exit(1)
end
local path = package.searchpath("experiments.bench.command." .. name, package.path)
if not name:find "^[%w_]+$" or not path then
  io.stderr:write("usage: ladies bench [NAME] [options], NAME: ", names(), "\n")
  os.exit(2)
end
dofile(path)
