--- Measures what seeds from parts of the graph are worth: the entries that parts by METIS and by
-- linear deterministic greedy cut, the rows of features that ranks then need of each other, and the
-- F1 of models trained so, beside seeds from all training nodes.

local core = require "ladies_core"
local carry_out = require "ladies.study.carry_out"
local counted = require("ladies.base.units").counted
local declared = require "experiments.options"
local errors = require "ladies.base.errors"
local experiment = require "ladies.experiment"
local json = require "ladies.base.json"
local ladies = require "ladies"
local node_order = require "ladies.data.parts"
local rows_traffic = require "ladies.training.ranks.rows_traffic"
local settings_text = require("ladies.experiment.settings").text
local Table = require "ladies.report.table"
local tables = require "ladies.base.tables"
local test_f1 = require "ladies.study.test_f1"

local WHERE = "ladies bench parts"
local COMMUNITIES = "communities"

-- Returns a graph whose edges are mostly within 64 communities, its classes.
local function make_communities()
  return ladies.generate.power_law{nodes = 100000, entries = 2000000, classes = 64, inside = 0.95}
end

-- Returns the settings of a run on a data set, and of the mini-batches whose rows are counted.
local function settings_of(opts, dataset)
  return tables.merged({method = "ladies", samples = 512, patience = 0, eval_every = 100,
    accumulate = 8}, opts.settings, {dataset = dataset, max_batches = opts.batches})
end

local STEPS = 4       -- of which rows are counted

-- Returns the cells with the share of rows that come from other ranks, for each number of ranks.
-- The data set has a shard for each rank, in the order of its nodes.
local function shares(opts, settings, data, from)
  local config = experiment.configure(tables.merged(settings, {seeds_from = from}))
  local run = experiment.options(config, data)
  return tables.map(opts.ranks, function(size)
    local sum = rows_traffic.of(run, size, STEPS)
    return ("%.1f %%"):format(100 * sum.rows / sum.read)
  end)
end

-- Adds the rows of a data set to the table of parts.
local function add_parts(shown, opts, name, settings)
  local data, k = experiment.load(experiment.configure(settings)), settings.accumulate
  local function add(by, seconds, cut, ...)
    shown:add(tables.append({name, by, ("%.1f %%"):format(100 * cut / data.graph.n_edges),
      seconds and ("%.2f"):format(seconds) or ""}, shares(opts, settings, ...)))
  end
  local _, cut = data.graph:partition(k, {by = "random"})
  add("chance, seeds from all", nil, cut, data, "all")
  for _, by in ipairs{"ldg", "metis"} do
    local began = core.clock()
    _, cut = data.graph:partition(k, {by = by, balanced = data.train})
    local seconds = core.clock() - began
    add(by, seconds, cut, node_order.in_order(WHERE, data, {parts = k, by = by}), "parts")
  end
end

local function parts_table(opts, cases)
  local shown = Table.new(tables.append({"data set", "parts by", "entries cut", "seconds"},
    tables.map(opts.ranks, function(size) return ("rows of others, %d ranks"):format(size) end)))
  for _, case in ipairs(cases) do
    if case.settings.seeds_from == "all" then
      add_parts(shown, opts, case.dataset, tables.merged(case.settings, {samples = 512,
        layers = opts.count_layers}))
    end
  end
  return shown
end

-- Returns a table with a row for each data set: test F1 with seeds from all training nodes and from
-- parts.
local function f1_table(cases)
  local shown = Table.new{"data set", {"seeds from all", csv = {"all", "all_half_width"}},
    {"from parts", csv = {"parts", "parts_half_width"}},
    {"beside", csv = {"beside", "beside_half_width"}}}
  for i = 1, #cases, 2 do
    local all, parts = cases[i], cases[i + 1]
    shown:add{all.dataset, test_f1.cell(all), test_f1.cell(parts),
      test_f1.difference_cell(parts, all)}
  end
  return shown
end

local IN_PARTS = {
  where = WHERE, name = "parts", title = "Seeds from parts of the graph", whole = true,
  seeded = true, folder = "runs/parts", made = {[COMMUNITIES] = make_communities},
  identity = function(opts) return "parts " .. json.encode(settings_of(opts)) end,
  options = declared.types "bench parts",
}

function IN_PARTS.check(opts)
  local S = settings_of(opts).accumulate
  for _, size in ipairs(opts.ranks) do
    if size > S then errors.fail(("%s: %d ranks share a step of %d"):format(WHERE, size, S)) end
  end
end

function IN_PARTS.cases(opts, names, place)
  local list = {}
  for _, name in ipairs(names) do
    for _, from in ipairs{"all", "parts"} do
      list[#list + 1] = {dataset = name, key = ("%s, seeds from %s"):format(name, from),
        settings = tables.merged(settings_of(opts, place(name)), {seeds_from = from})}
    end
  end
  return list
end

function IN_PARTS.show(report, cases, opts)
  report:table(parts_table(opts, cases))
  report:results(f1_table(cases))
end

function IN_PARTS.notes(_, opts)
  local given = tables.merged(settings_of(opts))
  given.method, given.samples = nil, nil
  return {([[Above: the entries between %d parts, the seconds in which these are made, and which of
the rows of features that ranks read others have, in %d steps of LADIES (512) with %s, where
each rank has a shard. `communities` is a random graph of 100,000 nodes and 2,000,000 entries, of
which 95 %% are drawn within 64 classes.]]):format(given.accumulate, STEPS,
    counted(opts.count_layers, "layer")),
    ([[Below: micro-F1 in percent on the test nodes after %d mini-batches, of the model that is
kept, with parts by METIS; %s.
"beside" is the difference, seed by seed. LADIES (512),
%s, all else as it is by default.]]):format(opts.batches, opts.runs == 1 and "of one seed"
      or ("mean over %d seeds with its 95 %% interval by Student's t"):format(opts.runs),
      settings_text(given, "max_batches"))}
end

--- Trains with seeds from all nodes and from parts, and returns a report (see ladies.report) with
-- what parts cut, which rows ranks need of each other, and the F1s. The options are those of the
-- command, and those of a study.
local function in_parts(given) return carry_out(IN_PARTS, given) end

return in_parts
