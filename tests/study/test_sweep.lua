--- ladies.sweep: what it runs, how it ranks, what it writes; and the setting `features`.
local lu = require "luaunit"
local core = require "ladies_core"
local ladies = require "ladies"
local experiment_options = require "ladies.command.experiment_options"
local shell = require "tools.shell"
local statistics = require "ladies.statistics"
local tables = require "ladies.base.tables"
local temporary = require "reference.temporary"
local toy = require "reference.toy_data"
local toy_study = require "tools.toy_study"

local tests = {}

local dataset, records_of = toy_study.dataset, toy_study.records_of

local SETTINGS = {layers = 2, hidden = 8, batch_size = 20, max_batches = 10, eval_every = 5,
  seed = 11}

local function sweep(out, given)
  return ladies.sweep(tables.merged({datasets = {dataset}, methods = {"ladies:5", "full"}, runs = 2,
    jobs = 1, settings = SETTINGS, vary = {{"lr", 1e-6, 0.02}, {"dropout", 0, 0.3}}, out = out,
    quiet = true}, given))
end

--- Every combination is trained with every seed; the best is that of the highest mean validation
-- F1 over methods and seeds; test F1 is nowhere.
function tests.test_ranking()
  local out = temporary.path "ranking"
  local result = sweep(out)
  local records, n = records_of(out)
  lu.assertEquals(n, 2 * 4 * 2)
  local means, best = {}, nil
  for _, lr in ipairs{1e-6, 0.02} do
    for _, dropout in ipairs{0, 0.3} do
      local label, list = ("lr %s, dropout %s"):format(lr, dropout), {}
      for _, method in ipairs{"LADIES (5)", "full batch"} do
        for seed = 11, 12 do
          local record = records[("toy, %s, %s, seed %d"):format(method, label, seed)]
          lu.assertEquals({record.config.lr, record.config.dropout, record.config.seed},
            {lr, dropout, seed})
          list[#list + 1] = 100 * record.val_f1
        end
      end
      means[label] = statistics.mean(list)
      if not best or means[label] > means[best] then best = label end
    end
  end
  local first = tostring(result):match "\n| lr [^\n]*"
  lu.assertStrContains(first, ("| %s "):format(best))
  lu.assertStrContains(first, ("| %.2f |"):format(means[best]))
  lu.assertEquals(result.best.lr, 0.02)
  lu.assertEquals(("lr %s, dropout %s"):format(result.best.lr, result.best.dropout), best)
  local ranked = {}
  for line in io.lines(out .. "/sweep.csv") do
    local label, mean = line:match '^"([^"]*)",([^,]*)'
    if label then
      ranked[#ranked + 1] = tonumber(mean)
      lu.assertAlmostEquals(tonumber(mean), means[label], 1e-9)
    end
  end
  lu.assertEquals(#ranked, 4)
  for i = 2, 4 do lu.assertTrue(ranked[i] <= ranked[i - 1]) end
  lu.assertStrContains(ladies.file.read(out .. "/sweep.md"), "mean over the seeds 11 to 12; "
    .. "preset default\nwith layers 2, hidden 8, batch size 20, max batches 10, eval every 5.")
  lu.assertNil(ladies.file.read(out .. "/sweep.md"):find "test")
  sweep(out)
  lu.assertEquals(select(2, records_of(out)), n)      -- nothing is trained twice
end

--- The number of samples of a method that is named without one can be varied.
function tests.test_samples()
  local out = temporary.path "samples"
  local result = sweep(out, {methods = {"ladies"}, vary = {{"samples", 3, 5}}, runs = 1})
  local records, n = records_of(out)
  lu.assertEquals(n, 2)
  lu.assertEquals(records["toy, LADIES, samples 3, seed 11"].config.samples, 3)
  lu.assertNil(tostring(result):find("±", 1, true))
end

--- All combinations train one network, which each of them can train.
function tests.test_same_network()
  local out = temporary.path "same"
  sweep(out, {methods = {"ladies:5"}, vary = {{"sketch", false, true}}, runs = 1})
  local records, n = records_of(out)
  lu.assertEquals(n, 2)
  for _, record in pairs(records) do lu.assertEquals(record.config.model, "gcn") end
end

function tests.test_errors()
  local out = temporary.path "errors"     -- none of them leaves a folder, but the last
  lu.assertErrorMsgContains('ladies.sweep: vary[1] must be {"setting", value, value, ...}', sweep,
    out, {vary = {{"lr"}}})
  lu.assertErrorMsgContains('there is no setting "lrr"; did you mean "lr"?', sweep, out,
    {vary = {{"lrr", 1}}})
  lu.assertErrorMsgContains("the method full has no draw", sweep, out, {vary = {{"draw", "wr"}}})
  lu.assertErrorMsgContains("ladies.sweep: seed is not varied: see the option runs", sweep, out,
    {vary = {{"seed", 1, 2}}})
  local data, path = toy.new(true), temporary.path "no_val.npz"
  data.val = nil
  ladies.data.save(data, path)
  lu.assertErrorMsgContains("has no validation nodes to choose by", sweep, out, {datasets = {path}})
  lu.assertErrorMsgContains("ladies.sweep: name at least one data set", sweep, out, {datasets = {}})
  lu.assertErrorMsgContains("ladies.sweep: name at least one method", sweep, out, {methods = {}})
  lu.assertErrorMsgContains("ladies.sweep: settings.method is not taken: see the option methods",
    sweep, out, {settings = {method = "full"}})
end

--- The report speaks of nodes only where nodes were validated: types of edges have a micro-F1, too.
function tests.test_what_was_validated()
  local data, path = toy.new(), temporary.path "typed.npz"
  local A = data.graph.adjacency
  local once = A:row_of():above(A:col_of())
  ladies.data.save(ladies.data.from_arrays{edges = {A:col_of()[once], A:row_of()[once]},
    edge_types = A:row_of()[once] % 2 + 1, features = data.features}, path)
  local function said(out, given)
    local report = sweep(temporary.path(out), tables.merged({methods = {"graphsage:3"}, runs = 1,
      vary = {{"dropout", 0, 0.3}}}, given))
    return table.concat(report.notes, " "):match "on the validation (%l+)"
  end
  lu.assertEquals(said("of_nodes", {}), "nodes")
  lu.assertEquals(said("of_nodes_macro", {settings = tables.merged(SETTINGS,
    {monitor = "macro-F1"})}), "nodes")
  lu.assertEquals(said("of_edges", {datasets = {path}, settings = tables.merged(SETTINGS,
    {task = "edge_classification", embedding = 4})}), "part")
end

--- Settings are refused by which two things would have one label, or one thing two.
function tests.test_settings_that_meet()
  local out = temporary.path "meet"
  for text, given in pairs{
    ["dropout is varied twice"] = {vary = {{"dropout", 0}, {"dropout", 0.3}}},
    ["lr has the value 0.1 twice"] = {vary = {{"lr", 0.1, 0.1}}},
    ["hidden is varied, and set to 8 besides"] = {vary = {{"hidden", 4, 8}}},
    ["samples is varied, and given with ladies:5 besides"] = {vary = {{"samples", 3, 5}}},
    ["/nowhere/x.npz does not exist"] = {datasets = {dataset, "/nowhere/x.npz"}},
  } do
    lu.assertErrorMsgContains("ladies.sweep: " .. text, sweep, out, given)
  end
  lu.assertFalse(core.exists(out))
end

--- The results that there are are shown when other runs fail, and the status tells.
function tests.test_failures()
  local out, err, status = shell.run_ladies{"sweep", "--vary", "lr=0.02,1e38",
    "--datasets", dataset, "--methods", "full", "--runs", "1", "--max-batches", "5", "--hidden",
    "4", "--layers", "2", "--out", temporary.path "failing", "--quiet"}
  lu.assertEquals({err, status}, {"ladies sweep: runs that failed: 1\n", 1})
  lu.assertStrMatches(out:match "| lr 0.02[^\n]*", "| lr 0.02[^|]*| *%d+.*")
  lu.assertStrMatches(out:match "| lr 1e%+38[^\n]*", "| lr 1e%+38 *| *%- | *%- | *%- |")
end

function tests.test_command_line()
  lu.assertEquals(
    experiment_options.varied("x", "dropout=0,0.3  self-nodes=none,batch debias=true"),
    {{"dropout", 0, 0.3}, {"self_nodes", "none", "batch"}, {"debias", true}})
  local function fails(text, given)
    lu.assertErrorMsgContains(text, experiment_options.varied, "x", given)
  end
  fails('x: "dropout" is no setting with its values, such as dropout=0,0.3', "dropout")
  fails("x: unknown option --dropuot; did you mean --dropout?", "dropuot=1")
  fails("--dropout must be a number in [0, 1), got 1", "dropout=0,1")
  fails("x needs settings with their values", " ")
  local out = shell.silent(shell.run_ladies{"sweep", "--vary", "lr=0.02,1e-6",
    "--datasets", dataset, "--methods", "full", "--runs", "1", "--max-batches", "5",
    "--hidden", "4", "--layers", "2", "--out", temporary.path "command", "--quiet"})
  lu.assertStrContains(out, "| lr 0.02 ")
end

--- Rows of features sum to one in absolute value, dense or sparse; rows of zeros stay.
function tests.test_row_normalized()
  local values = {{1, -3, 0}, {0, 0, 0}, {2, 2, 4}}
  local expected = {{0.25, -0.75, 0}, {0, 0, 0}, {0.25, 0.25, 0.5}}
  local data = tables.merged(toy.new(true))
  setmetatable(data, getmetatable(toy.new(true)))
  data.features = ladies.tensor(values)
  lu.assertEquals(ladies.data.row_normalized(data).features:to_table(), expected)
  data.features = ladies.matrix{n_rows = 3, n_cols = 3, rows = ladies.index{1, 1, 3, 3, 3},
    cols = ladies.index{1, 2, 1, 2, 3}, values = ladies.tensor{1, -3, 2, 2, 4}}
  local copy = ladies.data.row_normalized(data)
  lu.assertEquals(copy.features:to_dense():to_table(), expected)
  lu.assertEquals(data.features:to_dense():to_table(), values)      -- a copy
  lu.assertIs(copy.labels, data.labels)
  lu.assertErrorMsgContains("must be a Dataset", ladies.data.row_normalized, {})
end

function tests.test_the_setting_features()
  local function features(how)
    local config = ladies.experiment.configure{dataset = dataset, features = how}
    return ladies.experiment.load(config).features
  end
  local given = features "as_given"
  lu.assertEquals(given:hash(), toy.new(true).features:hash())
  lu.assertEquals(features("row_normalized"):hash(),
    ladies.data.row_normalized(toy.new(true)).features:hash())
  lu.assertNotEquals(features("row_normalized"):hash(), given:hash())
end

return tests
