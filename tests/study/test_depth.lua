--- ladies.depth and its command: what is trained, the numbers of the table, and what is refused.
local lu = require "luaunit"
local core = require "ladies_core"
local ladies = require "ladies"
local paper = require "experiments.paper"
local shell = require "tools.shell"
local statistics = require "ladies.statistics"
local tables = require "ladies.base.tables"
local temporary = require "reference.temporary"
local toy_study = require "tools.toy_study"

local tests = {}

local dataset, records_of = toy_study.dataset, toy_study.records_of

local SETTINGS = {hidden = 8, batch_size = 20, max_batches = 10, eval_every = 5, lr = 0.02,
  samples = 8, seed = 3}

local function depth(out, given)
  return ladies.depth(tables.merged({datasets = {dataset}, layers = {1, 2, 4}, runs = 2, jobs = 1,
    settings = SETTINGS, out = out, quiet = true}, given))
end

--- A row has the F1s of the features alone, by depth and of a shallow GCN, and differences seed by
-- seed.
function tests.test_table()
  local out = temporary.path "table"
  local report = depth(out)
  local records, n = records_of(out)
  lu.assertEquals(n, 5 * 2)
  local function f1(kind, model, layers)
    local list = {}
    for seed = 3, 4 do
      local record = records[("toy, %s, seed %d"):format(kind, seed)]
      list[#list + 1] = 100 * record.test_f1
      lu.assertEquals({record.config.model, record.config.layers}, {model, layers})
    end
    return list
  end
  local alone, gcn = f1("features alone", "mlp", 2), f1("1 layer, model gcn", "gcn", 1)
  local first, last = f1("1 layer", "gcnii", 1), f1("4 layers", "gcnii", 4)
  local row = report.tables[1][2]
  lu.assertEquals(report.tables[1][1], {"data set", "features alone", "1 layer", "2 layers",
    "4 layers", "GCN, 1 layer", "4 over 1", "4 over GCN", "4 over features"})
  local function with_spread(list, format)
    return ("%s ± %.1f"):format(format:format(statistics.mean(list)), statistics.half_width(list))
  end
  for column, list in pairs{[2] = alone, [3] = first, [5] = last, [6] = gcn} do
    lu.assertEquals(row[column], with_spread(list, "%.1f"))
  end
  for column, other in pairs{[7] = first, [8] = gcn, [9] = alone} do
    lu.assertEquals(row[column], with_spread({last[1] - other[1], last[2] - other[2]}, "%+.1f"))
  end
  lu.assertStrContains(report.notes[1], 'reads no graph, "GCN" --model gcn.')
  depth(out, {runs = 3})
  lu.assertEquals(select(2, records_of(out)), 5 * 3)      -- those that were there stay
end

--- The parts of the default network, with the most layers: what is trained, and its validation F1.
function tests.test_parts()
  local out = temporary.path "parts"
  depth(out, {layers = {1, 2}})
  local report = depth(out, {layers = {1, 2}, ablate = true})
  local records, n = records_of(out)
  lu.assertEquals(n, 4 * 2 + 4 * 2)                       -- the default's are there
  lu.assertEquals(#report.tables[1], 1 + 5)
  lu.assertEquals(report.tables[1][1], {"network", "toy"})
  for i, case in ipairs{{"", "gcnii"}, {", alpha 0.1", "gcnii", 0.1}, {", norm true", "gcnii"},
    {", alpha 0", "gcnii", 0}, {", model gcn", "gcn"}} do
    local f1 = {}
    for seed = 3, 4 do
      local record = records[("toy, 2 layers%s, seed %d"):format(case[1], seed)]
      lu.assertEquals({record.config.model, record.config.alpha, record.config.layers},
        {case[2], case[3], 2})
      lu.assertEquals(record.config.norm == true, case[1]:find "norm" ~= nil)
      f1[#f1 + 1] = 100 * record.val_f1
    end
    lu.assertEquals(report.tables[1][i + 1][2],
      ("%.1f ± %.1f"):format(statistics.mean(f1), statistics.half_width(f1)))
  end
  lu.assertStrContains(report.notes[1], "Validation micro-F1 in percent with 2 layers, mean over 2")
end

--- The two generated graphs have the low homophily and the high degree of their names.
function tests.test_graphs_that_are_made()
  local out = temporary.path "made"
  depth(out, {datasets = {"low-homophily", "high-degree"}, runs = 1, layers = {1, 2},
    settings = {hidden = 2, max_batches = 1, samples = 4, eval_every = 100}})
  local function facts(name)
    local data = ladies.data.load(("%s/%s.npz"):format(out, name))
    local A, labels = data.graph.adjacency, data.labels
    local rows, columns = labels[A:row_of()]:to_table(), labels[A:col_of()]:to_table()
    local same, counts = 0, labels:counts(data.classes)
    for i, class in ipairs(rows) do same = same + (class == columns[i] and 1 or 0) end
    local chance = 0
    for _, count in ipairs(counts) do chance = chance + (count / #labels) ^ 2 end
    return A.nnz / A.n_rows, same / #rows - chance
  end
  local degree, above = facts "low-homophily"
  lu.assertEquals(degree, 10)
  lu.assertTrue(above > 0 and above < 0.15, above)
  lu.assertEquals((facts "high-degree"), 200)
end

function tests.test_errors()
  local out = temporary.path "errors"
  local function fails(text, given) lu.assertErrorMsgContains(text, depth, out, given) end
  fails("ladies.depth: layers must be two numbers or more, ascending", {layers = {2}})
  fails("ladies.depth: layers must be two numbers or more, ascending", {layers = {5, 2}})
  fails("ladies.depth: ablate is of the default network, without a model in settings",
    {ablate = true, settings = {model = "gcn"}})
  fails("ladies.depth: name at least one data set", {datasets = {}})
  fails("/nowhere/x.npz does not exist", {datasets = {"low-homophily", "/nowhere/x.npz"}})
  fails('there is no setting "lrr"', {settings = {lrr = 1}})
  fails("ladies.depth: settings.layers is not taken: see the option layers",
    {settings = {layers = 3}})
end

--- A study that shows F1s of classes ends after its first run on a data set for another task, and
-- says so.
function tests.test_another_task()
  local numbers, settings = toy_study.regression(), {hidden = 8, max_batches = 2}
  local function fails(name, study, given)
    local out = temporary.path(name .. " of numbers")
    lu.assertErrorMsgContains(("%s: it shows F1s of classes, and %s is for another task, by MAE; "
      .. "ladies compare and ladies sweep serve any task"):format(name, numbers), study,
      tables.merged({datasets = {numbers}, settings = settings, runs = 2, jobs = 1, quiet = true,
        out = out}, given))
    lu.assertFalse(core.exists(out .. "/results.jsonl"))
  end
  fails("ladies.depth", ladies.depth, {layers = {1, 2}})
  fails("ablate", paper.ablate, {presets = {"default"}})
  fails("table3", paper.table3, {methods = {"full"}})
  fails("figures", paper.figures, {figures = {"samples"}})
end

function tests.test_command()
  local out, err, status = shell.run_ladies{"depth", "--datasets", dataset, "--layers", "1,2",
    "--runs", "1", "--max-batches", "5", "--hidden", "4", "--model", "gcn", "--out",
    temporary.path "command", "--quiet"}
  lu.assertEquals({err, status}, {"", 0})
  lu.assertStrContains(out, "| data set | features alone | 1 layer | 2 layers | 2 over 1 |")
  lu.assertStrContains(out, "in percent, of one seed;")
  out, err, status = shell.run_ladies{"depth", "--ablate", "--datasets", dataset, "--layers", "1,2",
    "--runs", "1", "--max-batches", "5", "--hidden", "4", "--out", temporary.path "ablate",
    "--quiet"}
  lu.assertEquals({err, status}, {"", 0})
  lu.assertStrContains(out, "| `--model gcn`: a plain GCN")
  out, err, status = shell.run_ladies{"depth", "--layers", "2,many"}
  lu.assertEquals({out, err, status}, {"", "ladies depth: --layers[2] must be a "
    .. 'positive integer, got "many"\n', 2})
end

return tests
