-- ladies report: makes doc/reproduction.md from what the other commands have measured
--
--   ladies report [--runs runs] [--out doc/reproduction.md]

local cli = require "ladies.command.cli"
local counted = require("ladies.base.units").counted
local experiments = require "ladies.command.experiments"

cli.main(experiments.spec "report", arg, function(opts)
  local sections, missing = experiments.load "paper".report(opts)
  print(("%s in %s"):format(counted(sections, "section"), opts.out))
  for _, command in ipairs(missing) do
    print(("nothing of `ladies %s` in %s"):format(command, opts.runs))
  end
end)
