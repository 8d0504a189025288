-- ladies ablate: what each choice of a preset is worth, and each probability with each union
--
--   ladies ablate [--presets default,paper,code] [--runs 10]
--   ladies ablate --parts cross --datasets cora --presets paper
--
-- The folder runs/ablate-1 gets results.jsonl, a line for each run, ablate.csv and ablate.md. The
-- same command goes on where it was stopped, and more runs or presets are added to those that are
-- there. `ladies report` makes a document of it.

local paper = require "ladies_paper"
local cli = require "ladies.command.cli"
local study_options = require "ladies.command.study_options"

cli.main(cli.join({
  name = "ladies ablate",
  about = [[Trains LADIES with one choice of a preset changed at a time, and with every combination
    of probabilities and united nodes, and prints test F1 with 95 % intervals.]],
  {"presets", "LIST", "string", default = "default,paper,code", help = "where to start from"},
  {"parts", "LIST", "string", default = "changes,cross",
    help = "changes: one choice at a time; cross: probabilities and unions"},
  {"runs", "N", "positive integer", default = 10, help = "of each, with the seeds 1 to N"},
  {"samples", "N", "positive integer", default = 64, help = "nodes drawn for a layer"},
  {"datasets", "LIST", "string", default = "cora,citeseer,pubmed", help = "data sets"},
}, study_options.list "runs/ablate-1"), arg, function(opts)
  local result = paper.ablate{
    presets = cli.words(opts.presets), parts = cli.words(opts.parts), runs = opts.runs,
    samples = opts.samples, datasets = cli.words(opts.datasets), jobs = opts.jobs,
    threads = opts.threads, out = opts.out, quiet = opts.quiet,
  }
  study_options.show(result)
end)
