--- Runs everything that doc/reproduction.md is made of, one experiment after the other.

local ablate = require "experiments.paper.ablate"
local collection = require "ladies.data.store.collection"
local costs = require "experiments.paper.costs"
local declared = require "experiments.options"
local errors = require "ladies.base.errors"
local figures = require "experiments.paper.figures"
local options = require "ladies.base.options"
local protocol = require "experiments.paper.protocol"
local report = require "experiments.paper.report"
local Study = require "ladies.study"
local sweep = require "ladies.study.sweep"
local table3 = require "experiments.paper.table3"
local tables = require "ladies.base.tables"
local variance = require "experiments.paper.variance"

local WHERE = "experiments.paper.reproduce"

-- The sweeps by which the preset `default` was chosen, by validation F1 and with seeds that no
-- other experiment has: FIRST on the citation graphs; then clip and debias, with the best settings
-- of FIRST; and, with one run of 1000 batches each, a sweep on the large graph that ships.
local FIRST = {{"features", "as_given", "row_normalized"}, {"weight_decay", 0, 5e-4},
  {"self_nodes", "none", "previous"}, {"dropout", 0, 0.3, 0.5}}
local SECOND = {{"clip", 0, 0.2}, {"debias", false, true}}
local LARGE = {{"weight_decay", 0, 5e-4}, {"self_nodes", "none", "previous"},
  {"dropout", 0, 0.3, 0.5}}
local SEED, SEEDS = 101, 3

-- The methods by which readings of the paper are compared: those that it has on all citation
-- graphs.
local READINGS = {"full", "graphsage:5", "fastgcn:64", "fastgcn:512", "ladies:64", "ladies:512"}

-- Returns the names of the citation graphs and of one of Reddit's size.
local function with_reddit()
  return {"cora", "citeseer", "pubmed", collection.find "reddit" and "reddit"
    or protocol.REDDIT_SCALE}
end

--- experiments.paper.reproduce{runs = 10} -> integer, string[]: the sweeps that chose the preset
-- `default`, table 3 by each preset, the ablation, the figures, variance and costs, each in a
-- folder of its own, and the document. What is finished is not done again. Returns what
-- experiments.paper.report does.
-- runs       of each training but the sweeps', which have their own: 10, and of the figures 3
-- quick      2 runs of all trainings, 1 of the sweeps', and the quick forms of table 3, variance
--            and costs
-- datasets   names or paths, instead of those of the experiments
-- settings   of ladies.experiment, for all trainings
-- folder     where the folders of the studies are (runs/reproduce, or runs/reproduce-quick)
-- out        doc/reproduction.md
-- jobs       runs side by side (as many as there are cores), each with `threads` threads (1)
-- quiet      no progress
local function reproduce(given)
  local opts = options.check(WHERE, given or {}, Study.options(declared.types "reproduce"))
  if not opts.out:find "%.md$" then                             -- sooner than all else
    errors.fail(("%s: out must end in .md, got %s"):format(WHERE, opts.out))
  end
  local folder = opts.folder or opts.quick and "runs/reproduce-quick" or "runs/reproduce"

  local function measure(command, name, own)
    if not opts.quiet then io.stderr:write(name, "\n") end
    return command(tables.merged(own, {quiet = opts.quiet, out = ("%s/%s"):format(folder, name)}))
  end

  local function train(command, name, own)
    return measure(command, name, tables.merged({runs = opts.runs or opts.quick and 2 or nil,
      datasets = opts.datasets, jobs = opts.jobs, threads = opts.threads}, own,
      {settings = tables.merged(own.settings, opts.settings)}))
  end

  local function choose(name, own)
    own.settings = tables.merged(protocol.settings "", {seed = SEED}, own.settings)
    return train(sweep, name, tables.merged(own, opts.quick and {runs = 1} or {}))
  end

  local first = choose("sweep-1",
    {runs = SEEDS, vary = FIRST, settings = {clip = 0, debias = false}}).best
  if not first then errors.fail(WHERE .. ": runs of all settings of the first sweep failed") end
  choose("sweep-2", {runs = SEEDS, vary = SECOND, settings = first})
  choose("sweep-3", {runs = 1, vary = LARGE, methods = {"ladies:512"},
    datasets = opts.datasets or {"wordnet"}, settings = {patience = 600, max_batches = 1000}})
  train(table3, "table3-default-1", {preset = "default", quick = opts.quick,
    datasets = opts.datasets or not opts.quick and with_reddit() or nil})
  for _, preset in ipairs{"paper", "code"} do
    train(table3, ("table3-%s-1"):format(preset), {preset = preset, quick = opts.quick,
      methods = not opts.quick and READINGS or nil})
  end
  train(ablate, "ablate-1", {presets = {"default", "paper", "code"}})
  -- Curves need fewer runs than a table: most of theirs go on without early stopping.
  train(figures, "figures-default-1",
    {preset = "default", runs = opts.runs or opts.quick and 2 or 3})
  measure(variance, "variance-1", {datasets = opts.datasets, quick = opts.quick})
  measure(costs, "costs-1", {quick = opts.quick})
  return report{runs = folder, out = opts.out}
end

return reproduce
