-- ladies depth: what layers and the graph are worth: F1 by depth, beside that of the features alone
--
--   ladies depth [--datasets cora,wordnet,PATH] [--layers 2,5] [--runs 5] [--model gcn ...]
--   ladies depth --ablate ...
--
-- Each data set has a row: the features alone (--model mlp), the network with each number of
-- layers, a GCN with the fewest (--model gcn), and how far the deepest is above the first, the GCN
-- and the features. With --ablate each part of the default network has a row: validation
-- F1 with the most layers without it. The folder runs/depth-1 gets results.jsonl, a line for each
-- run, depth.csv and depth.md. The same command goes on where it was stopped; more runs and data
-- sets are added to those that are there.

local ladies = require "ladies"
local cli = require "ladies.command.cli"
local experiment_options = require "ladies.command.experiment_options"
local study_options = require "ladies.command.study_options"

-- Settings that the command has lists of.
local LISTED = {dataset = true, layers = true}

local function spec(args)
  local named = experiment_options.load_own(args)
  return cli.join({
    name = "ladies depth",
    about = [[Trains a network with few layers and with more, a GCN with few, and one that reads no
      graph, on each data set, and prints their test F1 and the differences.]],
    {"datasets", "LIST", "array of strings",
      default = {"cora", "citeseer", "pubmed", "wordnet", "low-homophily", "high-degree"},
      help = "names and paths; the last two are random graphs that are made"},
    {"layers", "LIST", "array of positive integers", default = {2, 5},
      help = "numbers of layers, ascending"},
    {"runs", "N", "positive integer", default = 5, help = "of each, with following seeds"},
    {"ablate", help = "what each part of the default network is worth, by validation F1"},
  }, study_options.list "runs/depth-1", experiment_options.list(LISTED, nil, named))
end

cli.main(spec, arg, function(opts, given)
  study_options.show(ladies.depth(experiment_options.move(opts, given, LISTED)))
end)
