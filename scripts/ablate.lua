-- ladies ablate: what each choice of a preset is worth, and each probability with each union
--
--   ladies ablate [--presets default,paper,code] [--runs 10]
--   ladies ablate --parts cross --datasets cora --presets paper
--
-- The folder runs/ablate-1 gets results.jsonl, a line for each run, ablate.csv and ablate.md. The
-- same command goes on where it was stopped, and more runs or presets are added to those that are
-- there. `ladies report` makes a document of it.

local cli = require "ladies.command.cli"
local experiments = require "ladies.command.experiments"

cli.main(experiments.spec "ablate", arg, experiments.of_paper "ablate")
