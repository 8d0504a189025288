--- A command that prints a table of doc/, measured on one graph with one thread: the options of
-- `ladies bench methods` and `ladies bench models`.

local core = require "ladies_core"
local cli = require "ladies.command.cli"
local ladies = require "ladies"
local ticker = require "experiments.bench.ticker"

local OPTIONS = {
  {"dataset", "NAME", "string", default = "pubmed", help = "on which graph"},
  {"split", "WAY", "string", default = "10/10/80", help = "its nodes are divided so"},
  {"layers", "N", "positive integer", default = 2, help = "of the network"},
  {"hidden", "N", "positive integer", default = 64, help = "its width"},
  {"steps", "N", "positive integer", default = 20, help = "of training that it has"},
  {"batch-size", "N", "positive integer", default = 512, help = "seeds of a mini-batch"},
  {"groups", "N", "integer in [2, inf]", default = 16, help = "sets of seeds"},
  {"draws", "N", "integer in [2, inf]", default = 4, help = "of each"},
  {"batches", "N", "positive integer", default = 30, help = "that are timed"},
}

--- table_command(spec, args, made): runs the command that `spec` names and describes. `made` is the
-- module that makes the table: made.ROWS are its rows, made.table(data, opts) returns its text.
return function(spec, args, made)
  cli.main(cli.join(spec, OPTIONS), args, function(opts)
    core.threads(1)
    local data = ladies.data.load(opts.dataset)
    data:split(opts.split)
    opts.seed, opts.tick = 1, ticker(#made.ROWS, "row")
    print(made.table(data, opts))
  end)
end
