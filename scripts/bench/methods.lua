-- ladies bench methods: the table of doc/samplers.md, every method beside LADIES at equal distinct
-- nodes. `ladies bench page --page doc/samplers.md` writes it there.

local core = require "ladies_core"
local ladies = require "ladies"
local cli = require "ladies.command.cli"
local methods = require "ladies_bench.methods"
local progress = require "ladies.base.progress"

local spec = {
  name = "ladies bench methods",
  about = "Measures every method beside LADIES: processor time, bias and variance.",
  {"dataset", "NAME", "string", default = "pubmed", help = "on which graph"},
  {"split", "WAY", "string", default = "10/10/80", help = "its nodes are divided so"},
  {"layers", "N", "positive integer", default = 2, help = "of the network"},
  {"hidden", "N", "positive integer", default = 64, help = "its width"},
  {"steps", "N", "non-negative integer", default = 20, help = "of training that it has"},
  {"batch-size", "N", "positive integer", default = 512, help = "seeds of a mini-batch"},
  {"groups", "N", "integer in [2, inf]", default = 16, help = "sets of seeds"},
  {"draws", "N", "integer in [2, inf]", default = 4, help = "of each"},
  {"batches", "N", "positive integer", default = 30, help = "that are timed"},
}

cli.main(spec, arg, function(opts)
  core.threads(1)
  local data = ladies.data.load(opts.dataset)
  data:split(opts.split)
  local bar, done = progress.new{total = #methods.ROWS, unit = "method", delay = 1}, 0
  opts.seed = 1
  function opts.tick()
    done = done + 1
    bar:update(done, core.clock())
  end
  local text = methods.table(data, opts)
  bar:clear()
  print(text)
end)
