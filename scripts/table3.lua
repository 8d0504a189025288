-- ladies table3: trains what table 3 of the paper has, and prints it beside the paper's numbers
--
--   ladies table3 [--preset default|paper|code] [--runs 10]
--   ladies table3 --quick
--
-- The folder runs/table3-PRESET-1 gets results.jsonl, a line for each run, table3.csv, table3.md
-- and a picture for each data set. The same command goes on where it was stopped, and more runs or
-- methods are added to those that are there. `ladies report` makes a document of it.

local paper = require "ladies_paper"
local cli = require "ladies.command.cli"
local study_options = require "ladies.command.study_options"

cli.main(cli.join({
  name = "ladies table3",
  about = [[Trains full batch, GraphSAGE, FastGCN, LADIES, VR-GCN and Cluster-GCN on the paper's
    data sets by its protocol, and prints F1, time, memory and batches beside the paper's.]],
  {"preset", "NAME", "default|paper|code", default = "default",
    help = "default, paper (the paper's text) or code (the authors' program)"},
  {"runs", "N", "positive integer", help = "of each method, with the seeds 1 to N (default 10)"},
  {"quick", help = "2 runs of full batch, FastGCN (64), LADIES (64) and LADIES (512)"},
  {"datasets", "LIST", "string", help = "data sets (default cora,citeseer,pubmed and, where it "
    .. "is, reddit); reddit-scale is a random graph of Reddit's size"},
  {"methods", "LIST", "string", help = "methods with their samples, such as ladies:64,full; "
    .. "fastgcn:large has the paper's 1024 or 8192"},
}, study_options.list "runs/table3-PRESET-1"), arg, function(opts)
  local given = {preset = opts.preset, runs = opts.runs, quick = opts.quick, jobs = opts.jobs,
    threads = opts.threads, out = opts.out, quiet = opts.quiet}
  for _, name in ipairs{"datasets", "methods"} do given[name] = cli.words(opts[name]) end
  study_options.show(paper.table3(given))
end)
