-- ladies followers: measures what followed the paper: methods, architectures, published tables
--
--   ladies followers [--tables methods,models,bliss,gcnii,labor] [--runs N]
--   ladies followers --quick
--
-- Every table has a folder below runs/followers: results.jsonl, a line for each run, and the table
-- as Markdown and CSV. The same command goes on where it was stopped, and more runs or data sets
-- are added to those that are there. doc/followers.md is made of all tables that there are.

local cli = require "ladies.command.cli"
local followers = require "ladies_followers"
local machine = require "ladies.base.machine"

cli.main({
  name = "ladies followers",
  about = [[Compares every method at equal nodes and at equal seconds, and every architecture; tries
    the published tables of BLISS and GCNII again; measures how many fewer nodes LABOR draws.]],
  {"tables", "LIST", "string", default = "methods,models,bliss,gcnii,labor",
    help = "which of them"},
  {"runs", "N", "positive integer", help = "of each training (default 5, of bliss 10)"},
  {"datasets", "LIST", "string", help = "of methods, models and bliss, instead of their own"},
  {"equal", "LIST", "string", help = "of methods: nodes, seconds or both (default both)"},
  {"kept", help = "train nothing: the tables are of the runs that there are"},
  {"quick", help = "few runs on few data sets: minutes"},
  {"jobs", "N", "positive integer", default = machine.cores, help = "runs side by side"},
  {"threads", "N", "positive integer", default = 1, help = "of each run"},
  {"folder", "DIR", "string",
    help = "where the folders of the tables are (default runs/followers)"},
  {"out", "FILE", "string", help = "the document (default doc/followers.md)"},
  {"quiet", help = "no progress"},
}, arg, function(opts)
  local sections, failed = followers.measure{
    tables = cli.words(opts.tables), runs = opts.runs, datasets = cli.words(opts.datasets),
    equal = cli.words(opts.equal), kept = opts.kept, quick = opts.quick, jobs = opts.jobs,
    threads = opts.threads, folder = opts.folder, out = opts.out, quiet = opts.quiet,
  }
  print(("%d sections in the document"):format(sections))
  if failed > 0 then error(("runs that failed: %d"):format(failed), 0) end
end)
