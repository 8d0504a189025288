-- ladies bench methods: the table of doc/samplers.md, which compares every method with LADIES
-- where both draw equally many distinct nodes. `ladies bench page --page doc/samplers.md` writes it
-- there.

local methods = require "experiments.bench.methods"
local table_command = require "experiments.bench.table_command"

table_command({
  name = "ladies bench methods",
  about = "Measures every method beside LADIES: processor time, bias and variance.",
}, arg, methods)
