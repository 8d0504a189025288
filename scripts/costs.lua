-- ladies costs: measures time and memory of a batch against the complexities of the paper
--
--   ladies costs [--methods ladies,fastgcn] [--batches N] [--quick]
--   ladies costs --ranks [--dataset PATH [--accumulate S] [--seeds-from parts] [...]]
--
-- On generated graphs, over layers L, width K, batch b, samples s and nodes V, with exponents that
-- are fitted to the measurements and to the formulas of Table 2. The folder gets results.jsonl,
-- costs.csv, costs.md and pictures; a measurement that was stopped goes on where it was.

local cli = require "ladies.command.cli"
local data_options = require "ladies.command.data_options"
local experiments = require "ladies.command.experiments"
local study_options = require "ladies.command.study_options"
local tables = require "ladies.base.tables"

-- With --ranks alone.
local OF_RANKS = {
  {"ranks", help = "print instead what 1 to 64 ranks send in training, computed"},
  {"dataset", "NAME|PATH", "string", help = "with --ranks: what they send for its features, and "
      .. "the memory of each, where these are in shards"},
  {"accumulate", "S", "positive integer", help = "with --dataset: mini-batches of a step "
      .. "(default 64)"},
  {"seeds-from", "WORD", "all|parts", help = "with --dataset: of mini-batches, as for ladies "
      .. "train (default all)"},
  {"feature-cache", "SIZE", "string", help = "with --dataset: of each rank, as 256M"},
}

local function spec()
  return cli.join(experiments.spec "costs"(), OF_RANKS, data_options.list())
end

cli.main(spec, arg, function(opts, given)
  local load = data_options.take(opts)
  if opts.ranks then
    local costs_of_ranks = experiments.load "paper.costs.ranks"
    for _, name in ipairs{"methods", "batches", "scale", "seed", "quick", "out"} do
      if given[name] then
        error(("--%s is of what is measured, and --ranks measures nothing"):format(name), 0)
      end
    end
    if not opts.dataset then
      if opts.accumulate or opts.seeds_from or opts.feature_cache or next(load) then
        error("how a data set is read, --accumulate, --seeds-from and --feature-cache go with "
          .. "--dataset", 0)
      end
      return print((costs_of_ranks.table()))
    end
    local settings = tables.merged(load, {dataset = opts.dataset, accumulate = opts.accumulate,
      seeds_from = opts.seeds_from})
    print((costs_of_ranks.features(settings, opts.feature_cache)))
    local peaks = costs_of_ranks.peaks(settings)
    if peaks then print("\nMB of memory of a rank at its peak:\n\n" .. peaks) end
    return
  elseif opts.dataset or opts.accumulate or opts.seeds_from or opts.feature_cache
    or next(load) then
    error("--dataset, how it is read, --accumulate, --seeds-from and --feature-cache go with "
      .. "--ranks", 0)
  end
  opts.ranks = nil
  study_options.show(experiments.load "paper".costs(opts))
end)
