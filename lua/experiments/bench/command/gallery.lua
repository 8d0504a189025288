-- ladies bench gallery: how the samplers of doc/gallery.md, and others that were tried for it, do
-- beside LADIES at equal distinct nodes. `ladies bench page --page doc/gallery.md` writes it there.

local core = require "ladies_core"
local cli = require "ladies.command.cli"
local gallery = require "experiments.gallery"
local machine = require "ladies.base.machine"
local ticker = require "experiments.bench.ticker"

local spec = {
  name = "ladies bench gallery",
  about = "Measures the samplers of doc/gallery.md and other tries beside LADIES.",
  {"tries-on", "LIST", "array of strings", default = {"cora", "pubmed"},
    help = "data sets of the table of tries"},
  {"datasets", "LIST", "array of strings", help = "those of the second table",
    default = {"cora", "citeseer", "pubmed", "wordnet", "coauthor_cs", "amazon_photo"}},
  {"groups", "N", "integer in [2, inf]", default = 24, help = "sets of seeds"},
  {"draws", "N", "integer in [2, inf]", default = 4, help = "of each"},
  {"batches", "N", "positive integer", default = 60, help = "that are timed"},
  {"only", "WHICH", "tries|graphs", help = "one of the two tables"},
}

cli.main(spec, arg, function(opts)
  core.threads(1)
  opts.ticker = function(total) return ticker(total, "sampler") end
  for _, one in ipairs{{"tries", opts.tries_on}, {"graphs", opts.datasets}} do
    local name, datasets = table.unpack(one)
    if not opts.only or opts.only == name then
      print(("%s\n\nMeasured on %s.\n"):format(gallery[name](datasets, opts):markdown(),
        machine.measured()))
    end
  end
end)
