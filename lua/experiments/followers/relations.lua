--- Links and classes of WordNet by the types of its pointers: DistMult and ComplEx without an
-- encoder beside R-GCN's encoder (Schlichtkrull et al., ESWC 2018) trained on mini-batches of
-- LADIES, of LABOR and of whole neighbourhoods; and R-GCN's node classification beside GraphSAGE's,
-- which does not know of types.
--
-- The protocol is that of WN18RR (Dettmers et al., AAAI 2018): each triple is ranked among all
-- nodes at either of its ends, those of other triples left out, and inverse relations are known. It
-- is another extraction of WordNet, and in one respect a harder one: a triple of a symmetric
-- relation and its reverse are one example, while WN18RR has many such pairs with one in training
-- and the other in test, which a model that knows the relation to be symmetric need not predict.

local carry_out = require "ladies.study.carry_out"
local run_folder = require "ladies.training.record.run_folder"
local Table = require "ladies.report.table"
local tables = require "ladies.base.tables"

local WHERE = "experiments.followers.relations"

-- Edges of WN18RR: 86,835, 3,034 and 3,134 for training, validation and test.
local LINKS = {task = "link_prediction", parallel = "keep", relations = true, candidates = "all",
  edge_split = "97/1.5/1.5", embedding = 100, batch_size = 4096, patience = 0}

local FREE = tables.merged(LINKS, {method = "none", model = "embedding", per_positive = 8,
  lr = 0.003, weight_decay = 3e-6, epochs = 40, eval_every = 450})

local ENCODED = tables.merged(LINKS, {decoder = "distmult", hidden = 100, layers = 2, lr = 0.01})

local WORDS = tables.merged(ENCODED, {method = "none", model = "mlp", per_positive = 4, epochs = 20,
  eval_every = 225})

local RGCN = tables.merged(ENCODED, {model = "rgcn", bases = 8, epochs = 10, eval_every = 90})

local CLASSES = {parallel = "keep", hidden = 64, layers = 2, lr = 0.003, batch_size = 512,
  epochs = 20, eval_every = 46, patience = 0}

-- More neighbours than any node has: all of them.
local ALL = 100000

-- The three ways to sample for R-GCN and GraphSAGE: title, and settings for links and for classes.
local WAYS = {
  {"LADIES", {method = "ladies", samples = 4096}, {method = "ladies", samples = 512}},
  {"LABOR", {method = "labor", samples = 5}, {method = "labor", samples = 5}},
  {"whole neighbourhoods", {method = "graphsage", samples = ALL},
    {method = "graphsage", samples = ALL}},
}

-- The trainings in the order of the tables; `of` says what their mini-batches are.
local VARIANTS = {
  {table = "links", title = "DistMult, no encoder", of = "-",
    settings = tables.merged(FREE, {decoder = "distmult"})},
  {table = "links", title = "ComplEx, no encoder", of = "-",
    settings = tables.merged(FREE, {decoder = "complex"})},
  {table = "links", title = "DistMult of a perceptron of the words", of = "-", settings = WORDS},
}
for _, way in ipairs(WAYS) do
  VARIANTS[#VARIANTS + 1] = {table = "links", title = "DistMult of R-GCN", of = way[1],
    settings = tables.merged(RGCN, way[2])}
end
for _, model in ipairs{"rgcn", "sage"} do
  for _, way in ipairs(WAYS) do
    VARIANTS[#VARIANTS + 1] = {table = "classes", of = way[1],
      title = model == "rgcn" and "R-GCN" or "GraphSAGE, no types",
      settings = tables.merged(CLASSES, way[3], {model = model,
        bases = model == "rgcn" and 8 or nil})}
  end
end

-- The metrics of each table: name, factor and format, of the spread too.
local METRICS = {
  links = {{"MRR", 1, "%.3f"}, {"Hits@1", 100, "%.1f"}, {"Hits@3", 100, "%.1f"},
    {"Hits@10", 100, "%.1f"}},
  classes = {{"micro-F1", 100, "%.1f"}, {"macro-F1", 100, "%.1f"}},
}

-- Returns the records of a row's runs, of those that there are.
local function records_of(row)
  local list = {}
  for _, training in ipairs(row.runs) do tables.append(list, training.records) end
  return list
end

local function values_of(row, metric)
  return tables.map(records_of(row), function(record)
    return metric[2] * record.test[metric[1]]
  end)
end

-- Returns the cell of the seconds of training that an epoch took, without exact inference and
-- ranks; runs that were ended within an epoch have none.
local function cost_of(row)
  local seconds = {}
  for _, record in ipairs(records_of(row)) do
    if record.stopped == "epochs" then
      seconds[#seconds + 1] = record.seconds / record.config.epochs
    end
  end
  return #seconds > 0 and Table.interval(seconds, "%.2f", "%.2f") or "-"
end

local function table_of(rows, name)
  local metrics = METRICS[name]
  local head = {"data set", "model", "mini-batches"}
  tables.append(head, tables.map(metrics, function(metric) return metric[1] end))
  local results = Table.new(tables.append(head, {"epochs", "s per epoch"}))
  for _, row in ipairs(rows) do
    if row.table == name then
      local cells = {row.dataset, row.title, row.of}
      for _, metric in ipairs(metrics) do
        cells[#cells + 1] = Table.interval(values_of(row, metric), metric[3], metric[3])
      end
      results:add(tables.append(cells, {row.epochs, cost_of(row)}))
    end
  end
  return results
end

local function numbers_of(rows)
  local list = {}
  for _, row in ipairs(rows) do
    for _, metric in ipairs(METRICS[row.table]) do
      list[#list + 1] = {row = row, metric = metric}
    end
  end
  return Table.of({"dataset", "task", "model", "mini-batches", "metric", "runs",
    {csv = {"value", "half_width"}}}, list, function(one)
      local row, values = one.row, values_of(one.row, one.metric)
      return {row.dataset, row.table, row.title, row.of, one.metric[1], #values,
        Table.interval(values, one.metric[3], one.metric[3])}
    end)
end

local ABOUT = [[
Means over %d runs with 95 %% intervals by Student's t: run i has seed i, of first weights and
draws, and for links split i (97/1.5/1.5, the shares of WN18RR). Published values for WN18RR, an MRR
of 0.43 for DistMult, 0.44 for ComplEx (Dettmers et al. 2018) and less for R-GCN, are of another
extraction and are not comparable: many of its test triples are reverses of training triples of
symmetric relations, and here the two are one example.
Links: MRR, and Hits@k in percent, filtered, among all nodes at either end; the model of the best
validation MRR. Rows and relations have 100 columns, mini-batches 4096 triples. Without an encoder:
8 negatives each, learning rate 0.003, L2 penalty 3e-6. With one: learning rate 0.01; the perceptron
has 2 layers and 4 negatives each; R-GCN has 2 layers, 8 bases and 1 negative each, and reads the
words of the nodes' glosses, where its paper has a free row for each node; the triples of a
mini-batch are left out of its propagation. LADIES draws 4096 nodes a layer, LABOR 5 neighbours.
Learning rates and the penalty were chosen, among two settings for R-GCN and ten without an encoder,
by the validation MRR of split and seed 1 among 500 candidates.
Classes: the 45 lexicographer files, by 2 layers of 64 columns, learning rate 0.003, mini-batches of
512 nodes; R-GCN has 8 bases. LADIES draws 512 nodes a layer, LABOR 5 neighbours.
Seconds are of training with one thread, beside another run, without validation and test.]]

local RELATIONS = {
  where = WHERE, name = "relations", title = "Relations of WordNet",
  folder = "runs/relations", identity = "relations",
  options = {
    datasets = {"array of strings", {"wordnet"}}, runs = {"positive integer", 3, quick = 2},
    quick = {"boolean", false}, kept = {"boolean", false},
  },
}

function RELATIONS.check(opts)
  if opts.quick then opts.settings = tables.merged({epochs = 1}, opts.settings) end
  opts.splits, opts.runs = opts.runs, 1
end

-- Returns a training of each variant for each run, with a split of its own; `more` are the rows of
-- the tables.
function RELATIONS.cases(opts, names)
  local trainings, rows = {}, {}
  for _, name in ipairs(names) do
    local dataset = run_folder.plain(name)
    for _, one in ipairs(VARIANTS) do
      local settings = tables.merged(one.settings, opts.settings, {dataset = name})
      local row = {dataset = dataset, title = one.title, of = one.of, table = one.table,
        epochs = settings.epochs, runs = {}}
      for i = 1, opts.splits do
        local split = one.table == "links" and {edge_split_seed = i} or nil
        local training = {dataset = dataset, first = i,
          key = ("%s, %s, %s, %s, run %d"):format(dataset, one.table, one.title, one.of, i),
          settings = tables.merged(settings, split)}
        row.runs[i], trainings[#trainings + 1] = training, training
      end
      rows[#rows + 1] = row
    end
  end
  return trainings, rows
end

function RELATIONS.show(report, _, _, rows)
  report:text "Links:"
  report:table(table_of(rows, "links"))
  report:text "Classes of nodes:"
  report:table(table_of(rows, "classes"))
  report:csv(numbers_of(rows))
end

function RELATIONS.notes(_, opts) return {ABOUT:format(opts.splits)} end

--- experiments.followers.relations{runs = 3} -> table: MRR and Hits@k of relational link prediction
-- on WordNet, by DistMult and ComplEx without an encoder and by R-GCN's encoder trained on three
-- kinds of mini-batches; and R-GCN's node classification beside GraphSAGE's. Returns a report (see
-- ladies.report) with `cases`.
-- datasets   names or paths of data sets whose edges have types (wordnet)
-- runs       3, each with a split of its own; with quick 2
-- quick      one epoch each
-- settings   of ladies.experiment, over those of the tables
-- jobs       runs side by side (as many as there are cores), each with `threads` threads (1)
-- out        the folder of the study (runs/relations-1), which goes on where it was stopped
-- kept       trains nothing: the tables are of the runs that there are
-- quiet      no progress
local function relations(given) return carry_out(RELATIONS, given) end

return relations
