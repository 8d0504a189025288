-- ladies followers: measures what followed the paper: methods, architectures, published tables
--
--   ladies followers [--tables methods,models,rns,bliss,gcnii,labor,links,relations] [--runs N]
--   ladies followers --quick
--
-- Every table has a folder below runs/followers: results.jsonl, a line for each run, and the table
-- as Markdown and CSV. The same command goes on where it was stopped, and more runs or data sets
-- are added to those that are there. doc/followers.md is made of all tables that there are.

local cli = require "ladies.command.cli"
local counted = require("ladies.base.units").counted
local experiments = require "ladies.command.experiments"

cli.main(experiments.spec "followers", arg, function(opts)
  local sections, failed = experiments.load "followers".measure(opts)
  print(counted(sections, "section") .. " in the document")
  if failed > 0 then error(("runs that failed: %d"):format(failed), 0) end
end)
