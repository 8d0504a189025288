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
local experiments = require "ladies.command.experiments"
local study_options = require "ladies.command.study_options"

-- Settings that the command has options of its own for.
local OWN = {method = true, max_batches = true, accumulate = true}

local function spec(args)
  experiment_options.load_own(args)
  return cli.join(experiments.spec "bench accumulate"(), experiment_options.list(OWN))
end

cli.main(spec, arg, function(opts, given)
  study_options.show(accumulated(experiment_options.move(opts, given, OWN)))
end)
