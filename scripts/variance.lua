-- ladies variance: measures variance and bias of sampled embeddings against the paper's bounds
--
--   ladies variance [--datasets cora,pubmed,power-law] [--samples 5,64,512] [--quick]
--
-- For GraphSAGE, VR-GCN, FastGCN, LADIES and its variants: the error of the embeddings of a batch,
-- with one layer and with two layers sampled, over sample numbers, beside the bounds of the paper's
-- Table 2 from the same graph. The folder gets results.jsonl, variance.csv, variance.md and
-- pictures; a measurement that was stopped goes on where it was. Files of methods of one's own are
-- measured beside these (doc/extending.md). The help of ladies_paper.variance defines every number.

local ladies = require "ladies"
local paper = require "ladies_paper"
local cli = require "ladies.command.cli"
local experiment_options = require "ladies.command.experiment_options"
local own_code = require "ladies.experiment.own_code"
local study_options = require "ladies.command.study_options"

local function spec(args)
  experiment_options.load_own(args)
  return cli.join({
    name = "ladies variance",
    about = [[Measures variance and bias of the two-layer embeddings that samplers estimate, over
      sample numbers, against the bounds of the paper's Table 2 from the same graph.]],
    {"datasets", "LIST", "array of strings",
      help = "names or paths; power-law is generated (default cora,citeseer,pubmed,wordnet,"
        .. "power-law as far as they need not be fetched)"},
    {"methods", "LIST", "array of strings",
      help = "of graphsage, vrgcn, fastgcn, ladies, ... (default all), and files of own ones "
        .. "(FILE.lua)"},
    {"samples", "LIST", "array of positive integers",
      help = "nodes of a layer, or neighbours of a node (default 5,16,64,256,512)"},
    {"batches", "N", "positive integer", help = "of random nodes, 2 at least (default 12)"},
    {"draws", "N", "positive integer",
      help = "of the sampler for each batch; more where errors are rare, fewer where they vary "
        .. "little (default 16)"},
    {"batch-size", "N", "positive integer", default = 512, help = "nodes of a batch"},
    {"hidden", "N", "positive integer", help = "hidden width (default 128)"},
    {"steps", "N", "non-negative integer", default = 20, help = "of training; 0: first weights"},
    {"lag", "N", "non-negative integer", default = 10, help = "steps that VR-GCN's history is old"},
    {"normalize", "P", "sym|row", default = "sym",
      help = "P: D^-1/2 (A+I) D^-1/2 or D^-1 (A+I)"},
    {"seed", "N", "integer", default = 1, help = "of everything random"},
    {"threads", "N", "positive integer",
      help = "of the parallel loops; results do not depend on it"},
    {"out", "DIR", "string", help = "where results are kept (default runs/variance-N)"},
    {"quick", help = "two graphs, fewer batches, draws and samples: seconds"},
    {"quiet", help = "no progress"},
  }, experiment_options.list(nil, own_code.own_settings()))
end

cli.main(spec, arg, function(opts)
  if opts.threads then ladies.threads(opts.threads) end
  opts.threads, opts.settings = nil, {}
  for name in pairs(own_code.own_settings()) do
    opts.settings[name], opts[name] = opts[name], nil
  end
  study_options.show(paper.variance(opts))
end)
