-- ladies bench accumulate: how much F1 is lost where a step takes the gradient of several
-- mini-batches
--
--   ladies bench accumulate [--accumulate 1,4,16] [--batches 640] [--runs 3] [--model gcn ...]
--
-- For each number of mini-batches a step, --accumulate of ladies train, it trains LADIES (512) on
-- the WordNet graph for as many mini-batches, by each of three rules for the learning rate, and
-- prints the F1s. It goes on where it was stopped. F1s do not depend on how many processes train.

local accumulated = require "experiments.bench.accumulated"
local cli = require "ladies.command.cli"
local experiment_options = require "ladies.command.experiment_options"
local study_options = require "ladies.command.study_options"

-- Settings that the command has options of its own for.
local OWN = {method = true, max_batches = true, accumulate = true}

local function spec(args)
  experiment_options.load_own(args)
  return cli.join({
    name = "ladies bench accumulate",
    about = "Measures what F1 a step of several mini-batches costs, by three learning rates.",
    {"accumulate", "LIST", "array of integers",
      help = "mini-batches of a step (default 1,4,16)"},
    {"batches", "N", "positive integer", default = 640, help = "of a run"},
    {"runs", "N", "positive integer", default = 3, help = "of each, with following seeds"},
  }, study_options.list "runs/accumulate-1", experiment_options.list(OWN))
end

cli.main(spec, arg, function(opts, given)
  local own = experiment_options.settings(opts, given)
  own.accumulate = nil
  study_options.show(accumulated.report{
    accumulate = opts.accumulate or {1, 4, 16}, batches = opts.batches, runs = opts.runs,
    settings = own,
    jobs = opts.jobs, threads = opts.threads, out = opts.out, quiet = opts.quiet,
  })
end)
