-- ladies figures: draws F1 over batches, epochs and seconds, and against samples and depth
--
--   ladies figures [--preset default|paper|code] [--runs 5]
--   ladies figures --figures samples,depth --runs 3
--
-- The folder runs/figures-PRESET-1 gets results.jsonl, a line for each run, figures.csv, figures.md
-- and the pictures, which are printed as text as well. The same command goes on where it was
-- stopped, and more runs or figures are added to those that are there. `ladies report` makes a
-- document of it.

local paper = require "ladies_paper"
local cli = require "ladies.command.cli"
local study_options = require "ladies.command.study_options"

cli.main(cli.join({
  name = "ladies figures",
  about = [[Draws the paper's figures from repeated runs: F1 over batches by number of samples, per
    epoch, by method over batches and seconds, against samples and against depth.]],
  {"preset", "NAME", "default|paper|code", default = "default",
    help = "default, paper (the paper's text) or code (the authors' program)"},
  {"figures", "LIST", "string", default = "sample_curves,epochs,convergence,samples,depth",
    help = "which of them"},
  {"runs", "N", "positive integer", default = 5, help = "of each, with the seeds 1 to N"},
  {"datasets", "LIST", "string", help = "data sets of all figures (default pubmed for "
    .. "sample_curves and epochs, cora,citeseer,pubmed for the others)"},
}, study_options.list "runs/figures-PRESET-1"), arg, function(opts)
  local result = paper.figures{
    preset = opts.preset, figures = cli.words(opts.figures), runs = opts.runs,
    datasets = cli.words(opts.datasets), jobs = opts.jobs, threads = opts.threads,
    out = opts.out, quiet = opts.quiet,
  }
  study_options.show(result)
end)
