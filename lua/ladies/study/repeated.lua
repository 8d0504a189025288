--- Trains variants of settings with several seeds each, for means and confidence intervals over the
-- seeds.

local experiment = require "ladies.experiment"
local tables = require "ladies.base.tables"

--- repeated(study, variants, opts, notes) -> records: trains each of `variants` with opts.runs
-- seeds, from opts.first (1) on: seed by seed, so that there is a table of some seeds as soon as
-- can be. A variant:
-- key, settings   what its runs are called, before ", seed N", and their settings but for the seed
-- runs            how often, where that is less
-- first           its first seed, where that is another one
-- trace           see ladies.study
-- Afterwards a variant has its `records`, in the order of the seeds, and `by_seed`, the same with
-- false for each run that failed, of which `notes` gets a line. With opts.kept nothing is trained,
-- and the runs are those that are finished. The other options are those of study:run.
return function(study, variants, opts, notes)
  local runs = {}
  local function seed_of(variant, i) return (variant.first or opts.first or 1) + i - 1 end
  local function key_of(variant, i)
    return ("%s, seed %d"):format(variant.key, seed_of(variant, i))
  end
  for i = 1, opts.runs do
    for _, variant in ipairs(variants) do
      if i <= (variant.runs or opts.runs) then
        runs[#runs + 1] = {key = key_of(variant, i), trace = variant.trace,
          config = experiment.configure(tables.merged(variant.settings,
            {seed = seed_of(variant, i)}))}
      end
    end
  end
  if opts.kept then runs = study:finished(runs) end
  local all, there = study:complete(runs, opts, notes), {}
  for _, run in ipairs(runs) do there[run.key] = true end
  for _, variant in ipairs(variants) do
    variant.records, variant.by_seed = {}, {}
    for i = 1, variant.runs or opts.runs do
      local key = key_of(variant, i)
      local record = there[key] and study:record(key)
      variant.by_seed[i] = record or false
      variant.records[#variant.records + 1] = record or nil
    end
  end
  return all
end
