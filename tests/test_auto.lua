--- ladies.auto and `ladies train --auto`: what is tried in which round, what is chosen, and that
-- the run has it.
local lu = require "luaunit"
local ladies = require "ladies"
local json = require "ladies.base.json"
local shell = require "tools.shell"
local statistics = require "ladies.report.statistics"
local temporary = require "reference.temporary"
local toy = require "reference.toy_data"
local toy_study = require "tools.toy_study"

local tests = {}

local records_of = toy_study.records_of

local SETTINGS = {hidden = 8, batch_size = 20, max_batches = 10, eval_every = 5, lr = 0.02,
  samples = 8, seed = 5}

-- The report of a search on toy data with further settings, and its records by key.
local function search(out, settings)
  local all = {}
  for _, list in ipairs{SETTINGS, settings or {}} do
    for key, value in pairs(list) do all[key] = value end
  end
  local report = ladies.auto{data = toy.new(true), settings = all, out = out, quiet = true}
  local records, n = records_of(out)
  return report, records, n
end

-- The combinations that were trained with the first seed, sorted.
local function tried(records)
  local list = {}
  for key in pairs(records) do
    list[#list + 1] = key:match "^(.*), seed 5$"
  end
  table.sort(list)
  return list
end

-- The mean validation F1 of a combination over the three seeds; nil where there are not so many.
local function mean_of(records, label)
  local list = {}
  for seed = 5, 7 do
    local record = records[("%s, seed %d"):format(label, seed)]
    if not record then return nil end
    list[#list + 1] = record.val_f1
  end
  return statistics.mean(list)
end

--- Networks with two depths each and one without a graph; then the depths beside that of the best,
-- its dropout, and further seeds for three. The best mean of these is chosen.
function tests.test_rounds()
  local out = temporary.path "rounds"
  local report, records, n = search(out)
  local labels = tried(records)
  lu.assertEquals({#labels, n}, {7 + 2 + 2, 7 + 2 + 2 + 3 * 2})
  for _, model in ipairs{"gcnii", "gcn", "sage"} do
    for _, layers in ipairs{2, 5} do
      lu.assertTableContains(labels, ("model %s, layers %d"):format(model, layers))
    end
  end
  local mlp = records["model mlp, layers 2, seed 5"].config
  lu.assertEquals({mlp.method, mlp.samples}, {"none", nil})
  local best, label = -1, nil
  for _, one in ipairs(labels) do
    local mean = mean_of(records, one)
    if mean and mean > best then best, label = mean, one end
  end
  lu.assertStrContains(report.notes[1], "Chosen: " .. label .. ".")
  lu.assertAlmostEquals(mean_of(records, label), best, 0)
  local record = records[label .. ", seed 5"].config
  for key, value in pairs(report.best) do
    if key ~= "seed" then lu.assertEquals(record[key], value, key) end
  end
  lu.assertEquals({report.best.lr, report.best.max_batches, report.best.seed, report.best.patience},
    {0.02, 10, 5, nil})
  lu.assertNil(ladies.file.read(out .. "/auto.md"):find "test")
  search(out)
  lu.assertEquals(select(2, records_of(out)), n)      -- nothing is trained twice
end

--- What the user has set is not searched; with a method there is no network without a graph, and
-- samples of each layer say how many layers there are.
function tests.test_what_is_set()
  local _, records, n = search(temporary.path "set", {model = "sgc", layers = 2})
  lu.assertEquals({tried(records), n}, {{"model sgc, layers 2"}, 3})
  _, records = search(temporary.path "dropout", {model = "gcn", dropout = 0.2})
  lu.assertEquals(#tried(records), 2 + 2)
  for _, record in pairs(records) do lu.assertEquals(record.config.dropout, 0.2) end
  local report
  report, records = search(temporary.path "samples", {method = "ladies", samples = {8, 6, 4}})
  for _, record in pairs(records) do
    lu.assertEquals({record.config.method, record.config.layers}, {"ladies", 3})
  end
  lu.assertEquals(#tried(records), 3 + 2)
  lu.assertEquals({report.best.layers, report.best.samples}, {3, {8, 6, 4}})
end

function tests.test_errors()
  local data = toy.new()
  data.val = nil
  lu.assertErrorMsgContains("has no validation nodes to choose by", ladies.auto, {data = data})
  lu.assertErrorMsgContains('there is no setting "lrr"; did you mean "lr"?', ladies.auto,
    {data = toy.new(), settings = {lrr = 1}})
end

--- The run of --auto is that of the settings which were found, and --resume goes on with it.
function tests.test_command()
  local out = temporary.path "command"
  local text, err, status = shell.run_ladies{"train", toy_study.dataset, "--auto", "--hidden", "8",
    "--batch-size", "20", "--max-batches", "10", "--eval-every", "5", "--dropout", "0.1", "--out",
    out, "--quiet"}
  lu.assertEquals({err, status}, {"", 0})
  local model, layers = text:match "Chosen: model (%w+), layers (%d+)%."
  local config = json.decode(ladies.file.read(out .. "/config.json"))
  lu.assertEquals({config.model, config.layers}, {model, tonumber(layers)})
  lu.assertEquals({config.dropout, config.max_batches, config.patience}, {0.1, 10, 600})
  local _, n = records_of(out .. "-auto")
  lu.assertEquals(n, 7 + 2 + 3 * 2)
  text, err, status = shell.run_ladies{"train", "--resume", out, "--max-batches", "20", "--quiet"}
  lu.assertEquals({err, status}, {"", 0})
  lu.assertStrContains(text, "test micro-F1 ")
end

return tests
