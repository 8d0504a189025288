-- ladies bench models: the table of doc/models.md, every model beside the GCN. `ladies bench page
-- --page doc/models.md` writes it there.

local core = require "ladies_core"
local ladies = require "ladies"
local cli = require "ladies.command.cli"
local models = require "ladies_bench.models"

local spec = {
  name = "ladies bench models",
  about = "Measures every model beside the GCN: processor time, and bias and variance of logits.",
  {"dataset", "NAME", "string", default = "pubmed", help = "on which graph"},
  {"split", "WAY", "string", default = "10/10/80", help = "its nodes are divided so"},
  {"layers", "N", "positive integer", default = 2, help = "of the models"},
  {"hidden", "N", "positive integer", default = 64, help = "their width"},
  {"steps", "N", "positive integer", default = 20, help = "of training that they have"},
  {"batch-size", "N", "positive integer", default = 512, help = "seeds of a mini-batch"},
  {"groups", "N", "integer in [2, inf]", default = 16, help = "sets of seeds"},
  {"draws", "N", "integer in [2, inf]", default = 4, help = "of each"},
  {"batches", "N", "positive integer", default = 30, help = "that are timed"},
}

cli.main(spec, arg, function(opts)
  core.threads(1)
  local data = ladies.data.load(opts.dataset)
  data:split(opts.split)
  opts.seed = 1
  print(models.table(data, opts))
end)
