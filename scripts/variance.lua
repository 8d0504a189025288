-- ladies variance: measures variance and bias of sampled embeddings against the paper's bounds
--
--   ladies variance [--datasets cora,pubmed,power-law] [--samples 5,64,512] [--quick]
--
-- For GraphSAGE, VR-GCN, FastGCN, LADIES and its variants: the error of the embeddings of a batch,
-- with one layer and with two layers sampled, over sample numbers, beside the bounds of the paper's
-- Table 2 from the same graph. The folder gets results.jsonl, variance.csv, variance.md and
-- pictures; a measurement that was stopped goes on where it was. Files of methods of one's own are
-- measured beside these (doc/extending.md). The help of experiments.paper.variance defines every
-- number.

local ladies = require "ladies"
local cli = require "ladies.command.cli"
local data_options = require "ladies.command.data_options"
local experiment_options = require "ladies.command.experiment_options"
local experiments = require "ladies.command.experiments"
local own_code = require "ladies.experiment.own_code"
local study_options = require "ladies.command.study_options"

local THREADS = {"threads", "N", "positive integer",
  help = "of the parallel loops; results do not depend on it"}

local function spec(args)
  experiment_options.load_own(args)
  return cli.join(experiments.spec "variance"(), {THREADS},
    experiment_options.list(nil, own_code.own_settings()))
end

cli.main(spec, arg, function(opts)
  if opts.threads then ladies.threads(opts.threads) end
  data_options.move(opts, "load")
  opts.threads, opts.settings = nil, {}
  for name in pairs(own_code.own_settings()) do
    opts.settings[name], opts[name] = opts[name], nil
  end
  study_options.show(experiments.load "paper".variance(opts))
end)
