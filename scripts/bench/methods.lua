-- ladies bench methods: the table of doc/samplers.md, every method beside LADIES at equal distinct
-- nodes. `ladies bench page --page doc/samplers.md` writes it there.

local methods = require "ladies_bench.methods"
local table_command = require "ladies_bench.table_command"

table_command({
  name = "ladies bench methods",
  about = "Measures every method beside LADIES: processor time, bias and variance.",
}, arg, methods)
