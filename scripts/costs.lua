-- ladies costs: measures time and memory of a batch against the complexities of the paper
--
--   ladies costs [--methods ladies,fastgcn] [--batches N] [--quick]
--   ladies costs --ranks
--
-- On generated graphs, over layers L, width K, batch b, samples s and nodes V, with exponents that
-- are fitted to the measurements and to the formulas of Table 2. The folder gets results.jsonl,
-- costs.csv, costs.md and pictures; a measurement that was stopped goes on where it was.

local paper = require "ladies_paper"
local cli = require "ladies.command.cli"
local study_options = require "ladies.command.study_options"

cli.main({
  name = "ladies costs",
  about = [[Measures time and memory of a batch over layers, width, batch, samples and nodes, and
    compares the fitted exponents with the complexities of the paper's Table 2.]],
  {"methods", "LIST", "array of strings",
    help = "of full, graphsage, vrgcn, fastgcn, ladies (default all)"},
  {"batches", "N", "positive integer", help = "measured at every shape (default 7)"},
  {"scale", "X", "positive number", help = "times the number of nodes (default 1)"},
  {"seed", "N", "integer", default = 1, help = "of everything random"},
  {"out", "DIR", "string", help = "where results are kept (default runs/costs-N)"},
  {"ranks", help = "print instead what 1 to 64 ranks send in training, computed"},
  {"quick", help = "3 batches, a quarter of the nodes: seconds"},
  {"quiet", help = "no progress"},
}, arg, function(opts)
  if opts.ranks then
    print((require "ladies_paper.costs.ranks"()))
    return
  end
  opts.ranks = nil
  study_options.show(paper.costs(opts))
end)
