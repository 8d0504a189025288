--- The command `ladies lab search`; scripts/lab.lua calls it.

local cli = require "ladies.command.cli"
local search = require "experiments.search"
local study_options = require "ladies.command.study_options"

local SPEC = {
  name = "ladies lab search",
  usage = "ladies lab search [--quick] [options]",
  about = [[Looks through the space of layer-wise samplers, pooled draws among them, for points
    whose gradient has less error x time than LADIES, GraphSAGE, LABOR and pooled draws at as many
    distinct nodes: by successive halving, with draws of its own for every rung and intervals that
    hold for all that are compared. The best are measured at equal seconds too, and trained. The
    same command goes on where it was stopped; its folder has every point as a file that all
    commands take.]],
  {"quick", help = "a sixth of the space on two graphs, Cora and PubMed where LADIES_DATA is set, "
    .. "else made ones, in a quarter of an hour"},
  {"datasets", "LIST", "string", help = "graphs: data sets, and power-law and communities, which "
    .. "are made (default: all eight)"},
  {"seeds", "N", "integer in [2, inf]", help = "of the trainings (default 20; quick 5)"},
  {"seconds", "S", "positive number", help = "of each training (default 20; quick 2)"},
  {"trained", "N", "non-negative integer", help = "points that are trained besides those that "
    .. "others are set beside (default 10; quick 3)"},
  {"seed", "N", "integer", default = 1, help = "of everything random"},
  {"out", "DIR", "string", help = "where results are kept (default runs/search-1)"},
  {"quiet", help = "no progress"},
}

--- command(args): carries out `ladies lab search` with these words behind it.
return function(args)
  cli.main(SPEC, args, function(opts)
    study_options.show(search{quick = opts.quick, datasets = opts.datasets
      and cli.words(opts.datasets), seeds = opts.seeds, seconds = opts.seconds,
      trained = opts.trained, seed = opts.seed, out = opts.out, quiet = opts.quiet})
  end)
end
