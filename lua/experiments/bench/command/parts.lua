-- ladies bench parts: what it is worth that the mini-batches of a step have their seeds from parts
-- of the graph
--
--   ladies bench parts [--datasets wordnet,communities] [--ranks 2,4] [--runs 10] [--layers 2 ...]
--
-- For each data set it partitions the graph by LDG and by METIS, counts the rows of features that
-- ranks need of each other, and trains with seeds from all training nodes and from parts. It goes
-- on where it was stopped. F1s do not depend on how many processes train.

local cli = require "ladies.command.cli"
local experiment_options = require "ladies.command.experiment_options"
local experiments = require "ladies.command.experiments"
local in_parts = require "experiments.bench.in_parts"
local study_options = require "ladies.command.study_options"

-- Settings that the command has options of its own for.
local OWN = {method = true, dataset = true, max_batches = true, seeds_from = true}

local function spec(args)
  experiment_options.load_own(args)
  return cli.join(experiments.spec "bench parts"(), experiment_options.list(OWN))
end

cli.main(spec, arg, function(opts, given)
  study_options.show(in_parts(experiment_options.move(opts, given, OWN)))
end)
