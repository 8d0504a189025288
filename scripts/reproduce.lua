-- ladies reproduce: runs every experiment of doc/reproduction.md and writes it
--
--   ladies reproduce [--runs 10]
--   ladies reproduce --quick
--
-- These are the sweeps that chose the preset `default`, table 3 by each preset, the ablation, the
-- figures, variance and costs, each in a folder below runs/reproduce. It takes hours; the same
-- command goes on where it was stopped.

local cli = require "ladies.command.cli"
local counted = require("ladies.base.units").counted
local experiments = require "ladies.command.experiments"

cli.main(experiments.spec "reproduce", arg, function(opts)
  local sections = experiments.load "paper".reproduce(opts)
  print(("%s in %s"):format(counted(sections, "section"), opts.out))
end)
