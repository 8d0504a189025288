-- ladies table3: trains what table 3 of the paper has, and prints it beside the paper's numbers
--
--   ladies table3 [--preset default|paper|code] [--runs 10]
--   ladies table3 --quick
--
-- The folder runs/table3-PRESET-1 gets results.jsonl, a line for each run, table3.csv, table3.md
-- and a picture for each data set. The same command goes on where it was stopped, and more runs or
-- methods are added to those that are there. `ladies report` makes a document of it.

local cli = require "ladies.command.cli"
local experiments = require "ladies.command.experiments"

cli.main(experiments.spec "table3", arg, experiments.of_paper "table3")
