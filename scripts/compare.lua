-- ladies compare: trains several methods with the same model, split and seeds, and compares them
--
--   ladies compare --methods ladies:64,graphsage:5,full [--dataset cora] [--runs 3]
--   ladies compare --methods ladies:64,fastgcn --equal nodes
--   ladies compare --methods ladies:64,full --equal seconds --seconds 10
--
-- A number behind a method is its number of samples. The folder of a finished run, written with a
-- slash, stands beside the methods: --methods ladies:64,runs/mine. The comparison's own folder gets
-- results.jsonl, a line for each run, compare.csv, compare.md and the curves; one that was stopped
-- goes on where it was. Several ranks, which mpirun starts, train --jobs runs each at a time.

local ladies = require "ladies"
local cli = require "ladies.command.cli"
local experiment_options = require "ladies.command.experiment_options"
local study_options = require "ladies.command.study_options"

local function spec(args)
  local named = experiment_options.load_own(args)
  return cli.join({
    name = "ladies compare",
    usage = "ladies compare --methods NAME[:SAMPLES],... [options]", ranks = true,
    about = [[Trains each method several times, with the same model, split and seeds, and prints
      mean and standard deviation of test micro-F1, time and memory, the difference to the first
      method seed by seed with its 95 % interval, and what else is not the same for all, as P.]],
    {"methods", "LIST", "array of strings", default = {"ladies", "graphsage", "full"},
      help = "methods and files of own ones (FILE.lua), each with its samples behind a colon if "
        .. "not the default; and folders of finished runs"},
    {"runs", "N", "positive integer", default = 3, help = "of each method, with following seeds"},
    {"equal", "WHAT", "samples|nodes|seconds", default = "samples",
      help = "samples as given; nodes: samples with which batches have as many rows, over all "
        .. "layers, as those of the first method; seconds: all train for as long"},
    {"seconds", "S", "positive number", help = "of training, for --equal seconds"},
    {"same-p", help = "all have the P of the first method; otherwise each has its own where "
      .. "--normalize is not given"},
  }, experiment_options.list({method = true}, nil, named),
    study_options.list("runs/compare-DATASET-N", {alone = true, ranks = true}))
end

cli.main(spec, arg, function(opts, given)
  study_options.carry_out(ladies.compare, experiment_options.move(opts, given))
end)
