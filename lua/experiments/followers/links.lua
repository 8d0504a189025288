--- Link prediction by graph autoencoders (Kipf and Welling, "Variational Graph Auto-Encoders",
-- 2016, table 1, with features) on the citation graphs, tried again, with GraphSAGE in mini-batches
-- beside them.
--
-- As there: 85 % of the edges for training, 5 % for validation, 10 % for test, and as many pairs
-- that are no edges; two layers of a GCN of 32 and 16 columns, 200 steps of Adam at 0.01 on full
-- batches, features as given. But their loss is of all pairs of nodes, in which edges weigh as much
-- as all others, and a node and itself is an edge; here it is of the edges and as many pairs drawn
-- anew in every step, with the same weights. They test the model of the last step, here that of the
-- best validation AUC. They have ten initialisations on one split, here every run has a split of
-- its own.

local carry_out = require "ladies.study.carry_out"
local run_folder = require "ladies.training.record.run_folder"
local Table = require "ladies.report.table"
local tables = require "ladies.base.tables"
local words = require "experiments.followers.words"

local WHERE = "experiments.followers.links"

local COMMON = {task = "link_prediction", layers = 2, hidden = 32, embedding = 16, dropout = 0,
  negatives = "pairs", eval_every = 10}

local FULL = tables.merged(COMMON, {method = "full", model = "gcn", exclude = "none", lr = 0.01,
  max_batches = 200})

-- The trainings in the order of the table, with the paper's AUC and AP in percent by data set.
local VARIANTS = {
  {title = "GAE, full batch", settings = FULL, published = {cora = {AUC = 91.0, AP = 92.0},
    citeseer = {AUC = 89.5, AP = 89.9}, pubmed = {AUC = 96.4, AP = 96.5}}},
  {title = "VGAE, full batch", settings = tables.merged(FULL, {variational = true}),
    published = {cora = {AUC = 91.4, AP = 92.6}, citeseer = {AUC = 90.8, AP = 92.0},
      pubmed = {AUC = 94.4, AP = 94.7}}},
  {title = "GraphSAGE, mini-batches", published = {}, settings = tables.merged(COMMON, {
    method = "graphsage", model = "sage", samples = 10, exclude = "seeds", lr = 0.003,
    batch_size = 512, max_batches = 1000})},
}

local METRICS = {"AUC", "AP"}

-- Returns the values of a metric in percent, of all splits.
local function values_of(case, metric)
  local list = {}
  for _, split in ipairs(case.splits) do
    for _, record in ipairs(split.records) do list[#list + 1] = 100 * record.test[metric] end
  end
  return list
end

local function table_of(cases)
  local names = {}
  for _, metric in ipairs(METRICS) do
    names = tables.append(names, {metric, metric .. ", paper", "beside it"})
  end
  local results = Table.new(tables.append({"data set", "model"}, names))
  for _, case in ipairs(cases) do
    local cells = {case.dataset, case.title}
    for _, metric in ipairs(METRICS) do
      local values, published = values_of(case, metric), (case.published or {})[metric]
      tables.append(cells, {Table.interval(values, "%.1f"), Table.number(published, "%.1f"),
        words.beside_values(values, published)})
    end
    results:add(cells)
  end
  return results
end

local function numbers_of(cases)
  local list = {}
  for _, case in ipairs(cases) do
    for _, metric in ipairs(METRICS) do list[#list + 1] = {case = case, metric = metric} end
  end
  return Table.of({"dataset", "model", "metric", "runs", {csv = {"value", "half_width"}},
    {csv = {"published"}}}, list, function(one)
      local case, values = one.case, values_of(one.case, one.metric)
      return {case.dataset, case.title, one.metric, #values, Table.interval(values, "%.1f"),
        (case.published or {})[one.metric] or ""}
    end)
end

local ABOUT = [[
Test AUC and AP in percent with 95 %% intervals by Student's t over %s, each with its own split
(85/5/10), first weights and draws: run i has split i and seed i. "confirmed": the interval has the
paper's number, which is a mean over ten initialisations on one split; "above", "below": our mean
is, and the interval has it not.
GAE and VGAE: %s
GraphSAGE: %s]]

local OF_FULL = [[GCN layers of 32 and 16 columns, full batches, learning rate 0.01, 200 steps,
features as given, the model of the best validation AUC. The loss is of all edges for training and
as many pairs that are none, drawn anew in every step (the paper's is of all pairs, weighted, and of
self-loops).]]

local OF_SAGE = [[2 layers of 32 and 16 columns, 10 sampled neighbours, mini-batches of 512 edges
and as many pairs, the edges of the mini-batch left out of propagation, learning rate 0.003, 1000
steps. The learning rate was chosen on validation among 0.003 and 0.01, on Cora and Citeseer.]]

local LINKS = {
  where = WHERE, name = "links", title = "Link prediction of graph autoencoders",
  folder = "runs/links", identity = "links",
  options = {
    datasets = {"array of strings", {"cora", "citeseer", "pubmed"}},
    runs = {"positive integer", 10, quick = 2}, quick = {"boolean", false},
    kept = {"boolean", false},
  },
}

function LINKS.check(opts)
  if opts.quick then opts.settings = tables.merged({max_batches = 20}, opts.settings) end
  opts.splits, opts.runs = opts.runs, 1
end

-- Returns a training for each split; `more` are the rows of the table.
function LINKS.cases(opts, names)
  local trainings, rows = {}, {}
  for _, name in ipairs(names) do
    local dataset = run_folder.plain(name)
    for _, one in ipairs(VARIANTS) do
      local row = {dataset = dataset, title = one.title, published = one.published[dataset],
        splits = {}}
      for i = 1, opts.splits do
        local training = {dataset = dataset, first = i,
          key = ("%s, %s, split %d"):format(dataset, one.title, i),
          settings = tables.merged(one.settings, opts.settings,
            {dataset = name, edge_split_seed = i})}
        row.splits[i], trainings[#trainings + 1] = training, training
      end
      rows[#rows + 1] = row
    end
  end
  return trainings, rows
end

function LINKS.show(report, _, _, rows)
  report:table(table_of(rows))
  report:csv(numbers_of(rows))
end

function LINKS.notes(_, _, rows)
  local counts = words.runs(tables.map(rows, function(row)
    return {dataset = row.dataset, records = values_of(row, METRICS[1])}
  end))
  return {ABOUT:format(counts, OF_FULL, OF_SAGE)}
end

--- experiments.followers.links{runs = 10} -> table: test AUC and AP of GAE and VGAE on the citation
-- graphs beside the paper's, and of GraphSAGE. Returns a report (see ladies.report) with `cases`.
-- datasets   names or paths (cora, citeseer and pubmed)
-- runs       10, each with a split of its own; with quick 2
-- quick      20 steps each
-- settings   of ladies.experiment, over those of the table
-- jobs       runs side by side (as many as there are cores), each with `threads` threads (1)
-- out        the folder of the study (runs/links-1), which goes on where it was stopped
-- kept       trains nothing: the tables are of the runs that there are
-- quiet      no progress
local function links(given) return carry_out(LINKS, given) end

return links
