-- ladies sweep: trains with every combination of some settings and ranks them by validation F1
--
--   ladies sweep --vary "dropout=0,0.3,0.5 self-nodes=none,previous" [--runs 5]
--   ladies sweep --vary lr=0.01,0.003,0.001 --methods graphsage:5 --datasets cora
--
-- Test F1 is not shown: settings that were chosen by it would flatter it. The folder runs/sweep-1
-- gets results.jsonl, a line for each run, sweep.csv and sweep.md. The same command goes on where
-- it was stopped. Several ranks, which mpirun starts, train --jobs runs each at a time.

local ladies = require "ladies"
local cli = require "ladies.command.cli"
local experiment_options = require "ladies.command.experiment_options"
local study_options = require "ladies.command.study_options"

-- Settings that a sweep has lists of.
local LISTED = {dataset = true, method = true, preset = true}

local function spec(args)
  local named = experiment_options.load_own(args)
  return cli.join({
    name = "ladies sweep",
    usage = 'ladies sweep --vary "SETTING=VALUE,... SETTING=VALUE,..." [options]', ranks = true,
    about = [[Trains each method on each data set with every combination of the values, and prints
      them by their mean validation F1. The settings are the options of ladies train.]],
    {"vary", "TEXT", "string", help = "settings and their values, with spaces between settings"},
    {"methods", "LIST", "array of strings", default = {"ladies:64", "ladies:512"},
      help = "methods and files of own ones (FILE.lua), each with its samples behind a colon if "
        .. "not the default"},
    {"datasets", "LIST", "array of strings", default = {"cora", "citeseer", "pubmed"},
      help = "data sets"},
    {"preset", "NAME", "default|paper|code", default = "default", help = "all that is not varied"},
    {"runs", "N", "positive integer", default = 5, help = "of each, with following seeds"},
  }, study_options.list("runs/sweep-1", {ranks = true}),
    experiment_options.list(LISTED, nil, named))
end

cli.main(spec, arg, function(opts, given)
  study_options.carry_out(ladies.sweep, {
    vary = experiment_options.varied("ladies sweep: --vary", opts.vary or ""),
    methods = opts.methods, datasets = opts.datasets, preset = opts.preset,
    runs = opts.runs, settings = experiment_options.settings(opts, given), jobs = opts.jobs,
    threads = opts.threads, out = opts.out, quiet = opts.quiet,
  })
end)
