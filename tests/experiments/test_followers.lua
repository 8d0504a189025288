--- experiments.followers: its tables on toy data, against what the records of their runs say.
local lu = require "luaunit"
local batch_cost = require "experiments.followers.methods.batch_cost"
local core = require "ladies_core"
local followers = require "experiments.followers"
local ladies = require "ladies"
local label_kinds = require "ladies.data.labels"
local method_names = require "reference.method_names"
local statistics = require "ladies.statistics"
local Study = require "ladies.study"
local Table = require "ladies.report.table"
local tables = require "ladies.base.tables"
local temporary = require "reference.temporary"
local toy = require "reference.toy_data"
local toy_study = require "tools.toy_study"
local words = require "experiments.followers.words"

local tests = {}

local dataset = toy_study.dataset
local data = ladies.data.load(dataset)

-- The toy data set by the name of a published one.
local cora = temporary.path "cora.npz"
ladies.data.save(toy.new(true), cora)

local SETTINGS = {hidden = 4, batch_size = 20, max_batches = 3, eval_every = 1, lr = 0.02}

local function run(command, out, given)
  return followers[command](tables.merged({runs = 2, settings = SETTINGS, jobs = 1, quiet = true,
    out = out}, given))
end

local function f1s(variant)
  return statistics.column(variant.records, "test_f1", 100)
end

-- The row of a report's table that begins with these texts.
local function row_of(report, n, ...)
  for _, row in ipairs(report.tables[n]) do
    local same = true
    for i, text in ipairs{...} do same = same and row[i] == text end
    if same then return row end
  end
end

-- ---------------------------------------------------------------- every method

local function methods(out, given)
  return run("methods", out, tables.merged({datasets = {dataset}, equal = {"nodes"},
    laboratory = 0.05, settings = tables.merged({layers = 2}, SETTINGS)}, given))
end

--- All methods for nodes train; those that draw the nodes of a layer have as many as the first, a
-- full batch has more; and nothing is trained twice.
function tests.test_every_method_at_equal_nodes()
  local out = temporary.path "methods"
  local names = {"ladies:20"}
  for _, name in ipairs(method_names()) do
    if name ~= "ladies" then names[#names + 1] = name end
  end
  local report = methods(out, {methods = names, runs = 1})
  local by_method = tables.by_field(report.cases, "method")
  local function nodes(method)
    local record = by_method[method].records[1]
    return record.input_rows + record.hidden_rows
  end
  lu.assertEquals(#report.cases, #names)
  for _, method in ipairs{"fastgcn", "pladies", "bliss", "asgcn", "grapes"} do
    lu.assertAlmostEquals(nodes(method) / nodes "ladies", 1, 0.1, method)
  end
  lu.assertTrue(nodes "full" > 2 * nodes "ladies")
  for _, variant in ipairs(report.cases) do
    lu.assertStrContains(report.tables[1][1][2], "toy, equal nodes")
    lu.assertEquals(#variant.records, 1)
  end
  local lines = ladies.file.read(out .. "/results.jsonl")
  lu.assertEquals(methods(out, {methods = names, runs = 1}).tables, report.tables)
  lu.assertEquals(ladies.file.read(out .. "/results.jsonl"), lines)
end

--- The difference between full batches and a method is taken seed by seed; a method that is more
-- than 3 points behind is examined beside the first method.
function tests.test_far_behind()
  local report = methods(temporary.path "far", {methods = {"ladies:20", "full", "fastgcn:1"},
    runs = 3, settings = tables.merged({layers = 2}, SETTINGS, {max_batches = 30})})
  local by_method = tables.by_field(report.cases, "method")
  local full, expected = f1s(by_method.full), {}
  for _, variant in ipairs(report.cases) do
    local less = statistics.differences(full, f1s(variant))
    lu.assertEquals(variant.behind, less)
    lu.assertEquals(variant.far, statistics.mean(less) > 3, variant.title)
    if variant.far then expected[#expected + 1] = variant.title end
  end
  local title = by_method.fastgcn.title
  lu.assertTrue(by_method.fastgcn.far)
  local row = row_of(report, 3, title, "toy", "nodes")
  lu.assertEquals(row[4], "30")
  lu.assertNotNil(tonumber(row[10]))
  lu.assertNotNil(row_of(report, 3, "LADIES (20)", "toy", "nodes"))
  lu.assertStrContains(tostring(report), ("* %s on toy at equal nodes: %s below"):format(title,
    Table.interval(by_method.fastgcn.behind, "%.1f").text))
  local _, told = tostring(report):gsub("%* [^\n]* on toy, equal nodes: %S", "")
  lu.assertEquals(told, #expected)
  lu.assertStrContains(tostring(report), title .. " on toy, equal nodes: ")
  lu.assertStrContains(tostring(report), "the gradient of a mini-batch is off by ")
end

--- The laboratory's numbers are right where they are known. Whole neighbourhoods have no error and
-- a scale of 1; the embeddings of a subgraph that all layers share come out the larger, the deeper
-- the network is.
function tests.test_examination()
  local examine = require("experiments.followers.methods.examination").new(1000)
  local function examined(method, given)
    local config = ladies.experiment.configure(tables.merged({dataset = dataset, method = method,
      model = "gcn", layers = 4, hidden = 4, batch_size = 20}, given))
    return examine{method = method, config = config, settings = config, title = method}
  end
  local full = examined "full"
  lu.assertTrue(full.embedding < 1e-5 and full.gradient < 1e-5)
  lu.assertAlmostEquals(full.scale, 1, 1e-5)
  lu.assertAlmostEquals(full.layer_scale, 1, 1e-5)
  lu.assertEquals({full.empty, full.alone}, {0, 0})
  lu.assertNil(full.scales)
  local subgraphs = examined("graphsaint", {by = "node", samples = 16, coverage = 500})
  lu.assertEquals(#subgraphs.scales, 4)
  lu.assertTrue(subgraphs.scale > 10 * subgraphs.scales[1])
  lu.assertEquals(subgraphs.scales[4], subgraphs.scale)
end

--- At equal seconds all methods train for as long, with the samples that they have.
function tests.test_equal_seconds()
  local settings = tables.merged({layers = 2}, SETTINGS)
  settings.max_batches, settings.eval_every = nil, 1000
  local report = methods(temporary.path "seconds", {methods = {"ladies:20", "full", "labor:3"},
    runs = 1, equal = {"seconds"}, seconds = 0.1, settings = settings})
  for _, variant in ipairs(report.cases) do
    local record = variant.records[1]
    lu.assertEquals(record.batches, math.floor(0.1 / variant.cost), variant.title)
    lu.assertEquals(record.config.eval_every, math.max(1, record.batches // 20))
  end
  lu.assertEquals(report.cases[3].title, "LABOR (3)")
end

--- The first batches warm up: their time does not count, even where it is the shortest.
function tests.test_cost_of_a_batch()
  local clock, times, n = os.clock, {0, 2, 2, 7, 7, 10, 10}, 0
  rawset(os, "clock", function()
    n = n + 1
    return times[n]
  end)
  local ok, seconds = pcall(batch_cost.one, {dataset = dataset, method = "ladies", layers = 2,
    samples = {20, 20}, hidden = 4, batch_size = 20}, data)
  rawset(os, "clock", clock)
  lu.assertEquals({ok, seconds, n}, {true, 3, #times})
end

--- There is one thread meanwhile, and afterwards there are as many as before, whatever happens.
function tests.test_threads_of_a_cost()
  local before = core.threads()
  core.threads(2)
  local ok = pcall(batch_cost.of, {{dataset = temporary.path "none"}},
    Study.open(temporary.path "threads", "threads"), {quiet = true})
  local after = core.threads()
  core.threads(before)
  lu.assertEquals({ok, after}, {false, 2})
end

--- A form has the settings of its method with other options, and a name of its own in tables.
function tests.test_forms()
  local report = methods(temporary.path "forms", {runs = 1,
    methods = {"ladies:20", "ladies_flat", "labor_1:3"}})
  local flat, labor = report.cases[2], report.cases[3]
  lu.assertEquals({flat.method, flat.config.flat, flat.title}, {"ladies", true,
    "LADIES, flat (20)"})
  lu.assertEquals({labor.config.iterations, labor.label}, {1, "LABOR, 1 iteration"})
  lu.assertNotNil(row_of(report, 1, "LADIES, flat"))
end

function tests.test_methods_begin_with_samples()
  lu.assertErrorMsgContains("experiments.followers.methods: methods must begin with one that draws "
    .. "samples, got full", methods, temporary.path "refused", {methods = {"full"}})
end

-- ---------------------------------------------------------------- every architecture

--- The table has all models that read nothing of edges with all three methods, but for the MLP,
-- which has one column, and label propagation.
function tests.test_every_architecture()
  local report = run("models", temporary.path "models", {datasets = {dataset}, runs = 1,
    methods = {"full", "ladies:20", "graphsage:2"},
    settings = tables.merged(SETTINGS, {hidden = 8})})
  local models = {}
  for name, entry in pairs(require("ladies.experiment.models").by_name) do
    if not entry.of_data then models[#models + 1] = name end
  end
  lu.assertEquals(#report.cases, 3 * (#models - 1) + 1)
  for _, variant in ipairs(report.cases) do
    lu.assertEquals(#variant.records, 1, variant.key)
    local row = row_of(report, 1, variant.model)
    local place = ({full = 3, ["ladies:20"] = 4, ["graphsage:2"] = 5})[variant.column]
    lu.assertEquals(row[place], Table.interval(f1s(variant), "%.1f").text)
    lu.assertEquals(row[2], tostring(variant.records[1].config.layers or row[2]))
  end
  lu.assertEquals(table.move(row_of(report, 1, "mlp"), 4, 5, 1, {}), {"-", "-"})
  local logits = ladies.smoothing.label_propagation(data)
  local f1 = ladies.metrics.micro_f1(label_kinds.kind_of(data.labels).predict(logits), data.labels,
    data.test)
  lu.assertEquals(row_of(report, 1, "label propagation")[3], ("%.1f"):format(100 * f1))
end

--- Correct and Smooth starts from the very MLPs of the row above, seed by seed; it trains nothing
-- where the tables are of kept runs.
function tests.test_correct_and_smooth()
  local out = temporary.path "smoothed"
  local function report_of(given)
    return run("models", out, tables.merged({datasets = {dataset}, models = {"mlp"},
      methods = {"full"}, settings = tables.merged(SETTINGS, {hidden = 8})}, given))
  end
  lu.assertEquals(row_of(report_of{kept = true}, 1, "mlp, Correct and Smooth")[3], "-")
  local report, expected = report_of(), {}
  for seed = 1, 2 do
    local config = ladies.experiment.configure(tables.merged(report.cases[1].settings,
      {seed = seed}))
    local _, model = ladies.experiment.run(config, data, {quiet = true})
    local logits = ladies.inference.exact(model, data)
    local function f1_of(given)
      return 100 * ladies.metrics.micro_f1(label_kinds.kind_of(data.labels).predict(given),
        data.labels, data.test)
    end
    lu.assertEquals(f1_of(logits), f1s(report.cases[1])[seed])
    expected[seed] = f1_of(ladies.smoothing.correct_and_smooth(data, logits))
  end
  local cell = row_of(report, 1, "mlp, Correct and Smooth")[3]
  lu.assertEquals(cell, Table.interval(expected, "%.1f").text)
  lu.assertEquals(row_of(report_of{kept = true}, 1, "mlp, Correct and Smooth")[3], cell)
end

--- Settings go to the models that take them.
function tests.test_settings_of_some_models()
  local report = run("models", temporary.path "some", {datasets = {dataset}, runs = 1,
    models = {"gat", "sgc"}, methods = {"full"},
    settings = tables.merged(SETTINGS, {heads = 2, dropout = 0.25})})
  lu.assertEquals(report.cases[1].records[1].config.heads, 2)
  lu.assertNil(report.cases[2].records[1].config.dropout)
  lu.assertErrorMsgContains('a model must be one of', run, "models", temporary.path "some",
    {models = {"gatt"}})
end

-- ---------------------------------------------------------------- published tables

--- Tests the numbers of steps, and the verdicts on published numbers.
function tests.test_bliss()
  local report = run("bliss", temporary.path "bliss", {datasets = {cora, dataset}, steps = 30,
    settings = {hidden = 8, samples = 20}})
  lu.assertEquals(#report.cases, 2 * 2 * 2 * 3)
  local steps, n = {}, 0
  for _, variant in ipairs(report.cases) do
    local record = variant.records[1]
    steps[variant.steps .. record.batches] = true
    lu.assertEquals(record.config.batch_size, 32)
    if variant.dataset == "cora" and variant.model == "gat" and variant.steps == "all steps" then
      local published = ({pladies = 80.9, bliss = 81.3})[variant.method]
      local row = row_of(report, 1, "cora", "GAT",
        ({ladies = "LADIES", pladies = "PLADIES", bliss = "BLISS"})[variant.method])
      local off = published and statistics.mean(f1s(variant)) - published
      lu.assertEquals(row[4], published and ("%.1f"):format(published) or "-")
      lu.assertEquals(row[6], not off and "-"
        or math.abs(off) <= statistics.half_width(f1s(variant)) and "confirmed"
        or off > 0 and "above" or "below")
      n = n + 1
    end
  end
  lu.assertEquals(n, 3)
  lu.assertEquals(steps, {["all steps30"] = true, ["five epochs20"] = true})
  lu.assertEquals(row_of(report, 2, "cora", "GraphSAGE", "PLADIES")[4], "+2.3")
  lu.assertEquals(row_of(report, 2, "toy", "GraphSAGE", "PLADIES")[4], "-")
end

--- Every run has a split and a seed of its own, and the table their mean beside the paper's.
function tests.test_links()
  local report = run("links", temporary.path "links", {datasets = {cora, dataset},
    settings = {max_batches = 4, eval_every = 2, batch_size = 20}})
  lu.assertEquals(#report.cases, 2 * 3 * 2)
  local auc = {}
  for _, case in ipairs(report.cases) do
    local record = case.records[1]
    lu.assertEquals({#case.records, record.config.task}, {1, "link_prediction"})
    lu.assertEquals(record.config.seed, record.config.edge_split_seed)
    if case.key:find "^cora, VGAE" then
      lu.assertTrue(record.config.variational)
      auc[record.config.seed] = 100 * record.test.AUC
    end
  end
  local row = row_of(report, 1, "cora", "VGAE, full batch")
  lu.assertEquals(#auc, 2)
  lu.assertStrContains(row[3], ("%.1f ±"):format(statistics.mean(auc)))
  lu.assertEquals({row[4], row[7]}, {"91.4", "92.6"})
  lu.assertEquals(row[5], math.abs(statistics.mean(auc) - 91.4) <= statistics.half_width(auc)
    and "confirmed" or statistics.mean(auc) > 91.4 and "above" or "below")
  lu.assertEquals(row_of(report, 1, "toy", "GAE, full batch")[4], "-")
end

--- Every run of links has a split of its own; rows are means of their runs, with the seconds of an
-- epoch; models of types read them.
function tests.test_relations()
  local A, path = data.graph.adjacency, temporary.path "typed.npz"
  ladies.data.save(ladies.data.from_arrays{edges = {A:col_of(), A:row_of()}, directed = "keep",
    edge_types = A:row_of() % 2 + 1, features = data.features, labels = data.labels,
    train = data.train, val = data.val, test = data.test}, path)
  local report = run("relations", temporary.path "relations", {datasets = {path},
    settings = {hidden = 4, epochs = 2, eval_every = 20, batch_size = 40, max_batches = 1000}})
  lu.assertEquals(#report.cases, 2 * (6 + 6))
  local mrr, seconds, kinds = {}, {}, {}
  for _, case in ipairs(report.cases) do
    local record = case.records[1]
    local config = record.config
    kinds[config.model] = (kinds[config.model] or 0) + 1
    if config.task then lu.assertEquals(config.edge_split_seed, config.seed) end
    if case.key:find "^typed, links, DistMult of R%-GCN, LABOR" then
      mrr[config.seed], seconds[config.seed] = record.test.MRR, record.seconds / 2
      lu.assertEquals({config.method, config.relations, config.exclude or "seeds"},
        {"labor", true, "seeds"})
    end
  end
  lu.assertEquals(kinds, {embedding = 4, mlp = 2, rgcn = 12, sage = 6})
  local row = row_of(report, 1, "typed", "DistMult of R-GCN", "LABOR")
  lu.assertEquals(#mrr, 2)
  lu.assertStrContains(row[4], ("%.3f ±"):format(statistics.mean(mrr)))
  lu.assertStrContains(row[9], ("%.2f ±"):format(statistics.mean(seconds)))
  lu.assertNotNil(row_of(report, 2, "typed", "GraphSAGE, no types", "whole neighbourhoods"))
end

--- A published number is confirmed by an interval that has it, at its ends too.
function tests.test_beside()
  local beside = require("experiments.followers.words").beside
  local variant = {by_seed = {{test_f1 = 0.70}, false, {test_f1 = 0.72}}}
  local half = statistics.half_width{70, 72}
  for said, published in pairs{confirmed = 71 + half - 1e-6, below = 71 + half + 1e-6,
    above = 71 - half - 1e-6} do
    lu.assertEquals(beside(variant, published), said)
  end
  lu.assertEquals(beside(variant, nil), "-")
  lu.assertEquals(beside({by_seed = {{test_f1 = 0.7}}}, 70), "-")
end

--- Players begin with uniform probabilities, and are off by more the higher they are paid.
function tests.test_players()
  local bliss_players = require "experiments.followers.bliss_players"
  local function moved(given)
    return bliss_players(tables.merged({dataset = dataset, method = "bliss", model = "sage",
      hidden = 4, layers = 2, samples = 4, batch_size = 20, max_batches = 5, lr = 0.02}, given))
  end
  local little, much = moved{steps = 100000}, moved{steps = 1}
  lu.assertTrue(0 < little and little < 0.01 and 10 * little < much and much < 0.6, little)
end

--- The table of GCNII has a column for each depth, and the paper's numbers above ours.
function tests.test_gcnii()
  local report = run("gcnii", temporary.path "gcnii", {dataset = cora, depths = {2, 3, 16},
    methods = {"full", "ladies:20"}, settings = {max_batches = 2, hidden = 4}})
  lu.assertEquals(report.tables[1][2], {"paper, full batch", "82.2", "-", "84.6"})
  lu.assertEquals({report.tables[1][4][1], report.tables[1][4][3]}, {"beside the paper's", "-"})
  lu.assertEquals(#report.cases, 6)
  for i, variant in ipairs(report.cases) do
    lu.assertEquals(variant.records[1].config.layers, variant.layers)
    local cell = Table.interval(f1s(variant), "%.1f").text
    lu.assertEquals(report.tables[1][3 + 2 * ((i - 1) % 2)][2 + (i - 1) // 2], cell)
  end
end

--- Random node sampling has as many steps as full batches or as many CPU seconds, and its claim is
-- judged by the differences of the records.
function tests.test_rns()
  local report = run("rns", temporary.path "rns", {datasets = {dataset}, steps = 5, seconds = 0.02})
  lu.assertEquals(#report.cases, 4)
  for i, equal in ipairs{"steps", "seconds"} do
    local full, rns = report.cases[2 * i - 1], report.cases[2 * i]
    local row = row_of(report, 1, "toy", equal)
    lu.assertEquals({full.method, rns.method}, {"full", "rns"})
    for j, one in ipairs{full, rns} do
      local batches = one.records[1].config.max_batches
      lu.assertEquals({row[2 + j], one.records[1].batches}, {("%d"):format(batches), batches})
      lu.assertEquals(row[4 + j].text or row[4 + j], Table.interval(f1s(one), "%.1f").text)
    end
    if equal == "steps" then lu.assertEquals({row[3], row[4]}, {"5", "5"}) end
    local a, b, differences = f1s(rns), f1s(full), {}
    for seed = 1, 2 do differences[seed] = a[seed] - b[seed] end
    lu.assertEquals(row[8], words.as_good(differences, 1))
  end
end

--- A method is as good where the whole interval is above the margin; t(0.975, 3) is 3.182.
function tests.test_as_good()
  local function around(mean, half)         -- four numbers whose interval is mean +- half
    local d = half / 3.1824463 * math.sqrt(3)
    return {mean - d, mean + d, mean - d, mean + d}
  end
  for _, case in ipairs{{0, 0.9, "holds"}, {0, 1.1, "not separated"}, {-2, 0.9, "fails"},
      {-2, 1.1, "not separated"}, {5, 3, "holds"}} do
    lu.assertEquals(words.as_good(around(case[1], case[2]), 1), case[3])
  end
  lu.assertEquals(words.as_good({1}, 1), "-")
end

--- With `kept` the tables are of the runs that there are: nothing is trained, and a missing number
-- is a "-".
function tests.test_kept()
  local out = temporary.path "kept"
  local function kept(given)
    return run("gcnii", out, tables.merged({dataset = dataset, methods = {"full"},
      settings = {max_batches = 2, hidden = 4}}, given))
  end
  local report = kept{depths = {2}, runs = 2}
  lu.assertStrContains(ladies.file.read(out .. "/gcnii.md"), "over 2 runs, seeds")
  local lines = ladies.file.read(out .. "/results.jsonl")
  local partly = kept{depths = {2, 3}, runs = 3, kept = true}
  lu.assertEquals(ladies.file.read(out .. "/results.jsonl"), lines)
  lu.assertEquals(partly.tables[1][3], {"full batch", report.tables[1][3][2], "-"})
  lu.assertStrContains(ladies.file.read(out .. "/gcnii.md"), "over 0 to 2 runs, seeds")
  local other = kept{depths = {2}, kept = true, settings = {max_batches = 3, hidden = 4}}
  lu.assertEquals(other.tables[1][3], {"full batch", "-"})
end

--- With `kept` nothing is measured either.
function tests.test_kept_measurements()
  local folder = temporary.path "kept runs"
  core.folder.make(folder)
  lu.assertEquals({followers.measure{tables = {"labor"}, kept = true, quick = true, quiet = true,
    folder = folder}}, {0, 0})
  lu.assertFalse(core.exists(folder .. "/labor"))
end

-- ---------------------------------------------------------------- distinct nodes

local function labor(name, given)
  return followers.labor(tables.merged({nodes = 600, entries = 12000, batch_size = 60, batches = 4,
    draws = 4, layers = 2, fan_out = 3, quiet = true, out = temporary.path(name)}, given))
end

-- The number that a text begins with.
local function number(text) return tonumber(text:match "^[%d.]+") end

--- Each sampler draws fewer nodes than the one before, at equal variances of one layer.
function tests.test_distinct_nodes()
  local rows = labor("distinct", {draws = 40}).tables[1]
  lu.assertEquals(#rows, 5)
  for i = 3, 5 do
    lu.assertTrue(number(rows[i][4]) < number(rows[i - 1][4]), rows[i][1])
    lu.assertAlmostEquals(number(rows[i][6]), 1, 0.25, rows[i][1])
  end
  lu.assertAlmostEquals(number(rows[3][5]), number(rows[2][4]) / number(rows[3][4]), 0.02)
end

--- With as many neighbours as there are all samplers draw the same nodes, without an error.
function tests.test_whole_neighbourhoods()
  local rows = labor("whole", {fan_out = 600}).tables[1]
  for i = 2, 5 do
    lu.assertEquals(table.concat(rows[i], " ", 2), table.concat(rows[2], " ", 2))
    lu.assertEquals(rows[i][3], "1.00 ± 0.00")
    lu.assertEquals(rows[i][6], "-")
  end
end

-- ---------------------------------------------------------------- the document

--- The document has the tables that are there, in its order, with their pictures.
function tests.test_document()
  local folder, out = temporary.path "runs", temporary.path "followers.md"
  core.folder.make(folder)
  local function measure(names)
    return followers.measure{tables = names, datasets = {dataset}, runs = 1, folder = folder,
      settings = {max_batches = 2, hidden = 4}, quick = true, out = out, jobs = 1, quiet = true}
  end
  if not os.getenv "LADIES_DATA" then lu.skip "LADIES_DATA is not set" end
  lu.assertEquals({measure{"gcnii"}}, {1, 0})
  lu.assertEquals({measure{"models"}}, {2, 0})
  local text = ladies.file.read(out)
  local first, second = text:find("\n## Every architecture", 1, true),
    text:find("\n## GCNII by depth", 1, true)
  lu.assertTrue(text:find("# What followed the paper", 1, true) == 1 and first < second)
  local picture = text:match "%]%((followers/gcnii%-depth%.svg)%)"
  lu.assertEquals(core.exists(temporary.path(picture or "none")), "file")
end

return tests
