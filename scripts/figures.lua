-- ladies figures: draws F1 over batches, epochs and seconds, and against samples and depth
--
--   ladies figures [--preset default|paper|code] [--runs 5]
--   ladies figures --figures samples,depth --runs 3
--
-- The folder runs/figures-PRESET-1 gets results.jsonl, a line for each run, figures.csv, figures.md
-- and the pictures, which are printed as text as well. The same command goes on where it was
-- stopped, and more runs or figures are added to those that are there. `ladies report` makes a
-- document of it.

local cli = require "ladies.command.cli"
local experiments = require "ladies.command.experiments"

cli.main(experiments.spec "figures", arg, experiments.of_paper "figures")
