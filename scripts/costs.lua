-- ladies costs: measures time and memory of a batch against the complexities of the paper
--
--   ladies costs [--methods ladies,fastgcn] [--batches N] [--quick]
--   ladies costs --ranks [--dataset PATH [--accumulate S] [--feature-cache 256M]]
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
  {"dataset", "NAME|PATH", "string", help = "with --ranks: what they send for its features, where "
      .. "these are in shards"},
  {"accumulate", "S", "positive integer", help = "with --dataset: mini-batches of a step "
      .. "(default 64)"},
  {"feature-cache", "SIZE", "string", help = "with --dataset: of each rank, as 256M"},
  {"quick", help = "3 batches, a quarter of the nodes: seconds"},
  {"quiet", help = "no progress"},
}, arg, function(opts)
  if opts.ranks then
    local costs_of_ranks = require "ladies_paper.costs.ranks"
    if not opts.dataset then return print((costs_of_ranks.table())) end
    return print((costs_of_ranks.features({dataset = opts.dataset, accumulate = opts.accumulate},
      opts.feature_cache)))
  elseif opts.dataset or opts.accumulate or opts.feature_cache then
    error("--dataset, --accumulate and --feature-cache go with --ranks", 0)
  end
  opts.ranks = nil
  study_options.show(paper.costs(opts))
end)
