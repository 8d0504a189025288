-- ladies reproduce: runs every experiment of doc/reproduction.md and writes it
--
--   ladies reproduce [--runs 10]
--   ladies reproduce --quick
--
-- That is: the sweeps that chose the preset `default`, table 3 by each preset, the ablation, the
-- figures, variance and costs, each in a folder below runs/reproduce. It takes hours; the same
-- command goes on where it was stopped.

local paper = require "ladies_paper"
local cli = require "ladies.command.cli"
local machine = require "ladies.base.machine"

cli.main({
  name = "ladies reproduce",
  about = [[Runs all experiments of the reproduction that are not finished yet, and writes the
    document of them.]],
  {"runs", "N", "positive integer", help = "of each training but the sweeps' (default 10, and of "
    .. "the figures 3)"},
  {"quick", help = "2 runs of each, 1 of the sweeps', and the quick forms of table 3, variance "
    .. "and costs"},
  {"datasets", "LIST", "string", help = "data sets, instead of those of the experiments"},
  {"jobs", "N", "positive integer", default = machine.cores, help = "runs side by side"},
  {"threads", "N", "positive integer", default = 1, help = "of each run"},
  {"folder", "DIR", "string",
    help = "where the folders of the studies are (default runs/reproduce)"},
  {"out", "FILE", "string", default = "doc/reproduction.md", help = "the document"},
  {"quiet", help = "no progress"},
}, arg, function(opts)
  local sections = paper.reproduce{runs = opts.runs, quick = opts.quick,
    datasets = cli.words(opts.datasets), jobs = opts.jobs, threads = opts.threads,
    folder = opts.folder, out = opts.out, quiet = opts.quiet}
  print(("%d sections in %s"):format(sections, opts.out))
end)
