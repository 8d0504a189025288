--- Tries the claim of random node sampling (Wang, Vialle, Vaysse and Bonald, arXiv 2605.22480,
-- 2026), that it is as good as the whole graph: on each data set with as many steps and with as
-- many CPU seconds of training as full batches.

local batch_cost = require "experiments.followers.methods.batch_cost"
local carry_out = require "ladies.study.carry_out"
local experiment = require "ladies.experiment"
local methods = require "ladies.experiment.methods"
local protocol = require "experiments.followers.protocol"
local run_folder = require "ladies.training.record.run_folder"
local words = require "experiments.followers.words"
local Table = require "ladies.report.table"
local tables = require "ladies.base.tables"
local test_f1 = require "ladies.study.test_f1"

local WHERE = "experiments.followers.rns"

-- The settings of the network: those of most who published results on these graphs (Kipf and
-- Welling, ICLR 2017), but for the width.
local SETTINGS = {model = "gcn", layers = 2, hidden = 64, dropout = 0.5, lr = 0.01,
  weight_decay = 5e-4}

-- Steps on a small graph and on a large one, and CPU seconds on a large one where a small one has
-- opts.seconds.
local STEPS, LARGE_STEPS, LARGE_TIMES = 200, 100, 20

-- The points of F1 by which a method may be lower and still count as "as good".
local AS_GOOD = 1

-- Returns the settings of a training of this length, one for each of the settings in `all`.
local function lengths(name, equal, all, study, opts)
  local is_large = protocol.looks(name) < protocol.LOOKS
  if equal == "steps" then
    local steps = opts.steps or is_large and LARGE_STEPS or STEPS
    return tables.map(all, function()
      return {max_batches = steps, patience = 0, epochs = steps,
        eval_every = math.max(1, steps // protocol.looks(name))}
    end)
  end
  local seconds = opts.seconds * (is_large and LARGE_TIMES or 1)
  return tables.map(batch_cost.of(all, study, opts), function(cost)
    return batch_cost.length(name, seconds, cost)
  end)
end

local RNS = {
  where = WHERE, name = "rns", title = "Random node sampling: its claim",
  folder = "runs/rns", identity = "the claim of random node sampling",
  options = {
    datasets = {"array of strings", {"cora", "citeseer", "pubmed", "amazon_photo", "coauthor_cs",
      "wordnet"}, quick = {"cora"}},
    steps = {"positive integer or nil", quick = 20}, seconds = {"positive number", 2, quick = 0.2},
    runs = {"positive integer", 10, quick = 2}, quick = {"boolean", false},
    kept = {"boolean", false},
  },
}

function RNS.cases(opts, names, _, opened)
  local list = {}
  for _, name in ipairs(names) do
    local all = tables.map({"full", "rns"}, function(method)
      return tables.merged(SETTINGS, methods.pick(method, opts.settings),
        {dataset = name, method = method})
    end)
    for _, equal in ipairs{"steps", "seconds"} do
      for i, length in ipairs(lengths(name, equal, all, opened(), opts)) do
        local settings = tables.merged(all[i], length)
        local dataset = run_folder.plain(name)
        list[#list + 1] = {dataset = dataset, equal = equal, method = settings.method,
          settings = settings, title = methods.title(experiment.configure(settings)),
          key = ("%s, equal %s, %s"):format(dataset, equal, settings.method)}
      end
    end
  end
  return list, names
end

-- Returns the variants of a data set at equal steps or seconds: {full =, rns =}.
local function pair_of(variants, dataset, equal)
  local pair = {}
  for _, one in ipairs(variants) do
    if one.dataset == dataset and one.equal == equal then pair[one.method] = one end
  end
  return pair
end

local function batches_of(variant)
  return ("%d"):format(variant.settings.max_batches)
end

function RNS.show(report, variants, _, names)
  local results = Table.new{"data set", "equal", "steps, full", "steps, rns", "full batch",
    "random nodes", "difference", "the claim"}
  for _, name in ipairs(names) do
    for _, equal in ipairs{"steps", "seconds"} do
      local pair = pair_of(variants, run_folder.plain(name), equal)
      results:add{run_folder.plain(name), equal, batches_of(pair.full), batches_of(pair.rns),
        test_f1.cell(pair.full), test_f1.cell(pair.rns),
        test_f1.difference_cell(pair.rns, pair.full),
        words.as_good(test_f1.differences(pair.rns, pair.full), AS_GOOD)}
    end
  end
  report:table(results)
end

local ABOUT = [[
Test micro-F1 in percent with 95 %% intervals by Student's t over %s, seeds 1, 2, ...; differences
are seed by seed. The claim is that random node sampling is as good as full batches: it "holds"
where the interval of the difference is above -%g, "fails" where it is below that, and is "not
separated" where the interval has it. A GCN of 2 layers, 64 hidden columns, dropout 0.5, learning
rate 0.01, weight decay 5e-4, the model of the highest validation F1, no early stopping; at equal
seconds of one core, %g of them (on wordnet %g), with as many steps as fit into them.]]

function RNS.notes(variants, opts)
  return {ABOUT:format(words.runs(variants), AS_GOOD, opts.seconds, opts.seconds * LARGE_TIMES)}
end

--- experiments.followers.rns{runs = 10} -> table: test F1 of random node sampling beside full
-- batches, and whether its paper's claim holds. Returns a report (see ladies.report) with `cases`.
-- datasets   names or paths (cora, citeseer, pubmed, amazon_photo, coauthor_cs and wordnet)
-- steps      of a training at equal steps (200, on WordNet 100; with quick 20)
-- seconds    of one core, of a training at equal seconds (2, on WordNet 20 times as many)
-- runs       10; with quick 2
-- quick      Cora alone, seconds
-- settings   of ladies.experiment, over those above, for both methods
-- jobs       runs side by side (as many as there are cores), each with `threads` threads (1)
-- out        the folder of the study (runs/rns-1), which goes on where it was stopped
-- kept       trains nothing: the tables are of the runs that there are
-- quiet      no progress
local function rns(given) return carry_out(RNS, given) end

return rns
