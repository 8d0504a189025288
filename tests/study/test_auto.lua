--- ladies.auto and `ladies train --auto`: what is tried on which rung, what is chosen, and that the
-- run has it.
local lu = require "luaunit"
local ladies = require "ladies"
local json = require "ladies.base.json"
local one_run = require "ladies.study.one_run"
local shell = require "tools.shell"
local statistics = require "ladies.statistics"
local temporary = require "reference.temporary"
local toy = require "reference.toy_data"
local toy_study = require "tools.toy_study"

local tests = {}

local records_of = toy_study.records_of

local SETTINGS = {hidden = 8, batch_size = 20, max_batches = 10, eval_every = 5, lr = 0.02,
  samples = 8, seed = 5}

-- The report of a search on toy data with further settings, and its records by key. Time is no
-- matter, but where `seconds` are given.
local function search(out, settings, seconds)
  local all = {}
  for _, list in ipairs{SETTINGS, settings or {}} do
    for key, value in pairs(list) do all[key] = value end
  end
  local report = ladies.auto{data = toy.new(true), settings = all, out = out, quiet = true,
    seconds = seconds or 1e6}
  local records, n = records_of(out)
  return report, records, n
end

-- The combinations that were trained with the first seed for so many batches, sorted.
local function tried(records, batches)
  local list = {}
  for key in pairs(records) do
    list[#list + 1] = key:match(("^(.*), %d batches, seed 5$"):format(batches or 10))
  end
  table.sort(list)
  return list
end

-- The mean validation F1 of a combination over the three seeds; nil where there are not so many.
local function mean_of(records, label, batches)
  local list = {}
  for seed = 5, 7 do
    local record = records[("%s, %d batches, seed %d"):format(label, batches, seed)]
    if not record then return nil end
    list[#list + 1] = record.val_f1
  end
  return statistics.mean(list)
end

--- Networks with their depths and dropouts; of what ended with the same number of batches the
-- better climb, and the best mean of three seeds is chosen.
function tests.test_rungs()
  local out = temporary.path "rungs"
  local report, records, n = search(out, {max_batches = 300, eval_every = 50})
  local first, second, third = tried(records, 100), tried(records, 200), tried(records, 300)
  lu.assertEquals({#first, #second, #third, n}, {27, 9, 3, 27 + 9 + 3 * 3})
  for _, model in ipairs{"gcnii", "gcn", "sage"} do
    for _, layers in ipairs{2, 5} do
      lu.assertTableContains(first, ("model %s, layers %d"):format(model, layers))
      lu.assertTableContains(first, ("model %s, layers %d, dropout 0.5"):format(model, layers))
    end
  end
  for _, record in pairs(records) do
    lu.assertEquals({record.batches, record.stopped}, {record.config.max_batches, "max_batches"})
  end
  local function f1(label, batches)
    return records[("%s, %d batches, seed 5"):format(label, batches)].val_f1
  end
  for from, to in pairs{[first] = second, [second] = third} do
    local batches, climbed, best_left = from == first and 100 or 200, {}, -1
    local least = 2
    for _, label in ipairs(to) do
      climbed[label], least = true, math.min(least, f1(label, batches))
    end
    for _, label in ipairs(from) do
      if not climbed[label] then best_left = math.max(best_left, f1(label, batches)) end
    end
    lu.assertTrue(best_left <= least)
  end
  local mlp = records["model mlp, layers 2, 100 batches, seed 5"].config
  lu.assertEquals({mlp.method, mlp.samples}, {"none", nil})
  local best, label = -1, nil
  for _, one in ipairs(third) do
    local mean = mean_of(records, one, 300)
    if mean > best then best, label = mean, one end
  end
  lu.assertStrContains(report.notes[1], "Chosen: " .. label .. ".")
  local record = records[label .. ", 300 batches, seed 5"].config
  for key, value in pairs(report.best) do
    if key ~= "seed" and key ~= "max_batches" then lu.assertEquals(record[key], value, key) end
  end
  lu.assertEquals({report.best.lr, report.best.max_batches, report.best.seed, report.best.patience,
    report.best.max_seconds}, {0.02, 300, 5, nil, nil})
  lu.assertNil(ladies.file.read(out .. "/auto.md"):find "test")
  lu.assertEquals(tostring(search(out, {max_batches = 300, eval_every = 50})), tostring(report))
  lu.assertEquals(select(2, records_of(out)), n)      -- nothing is trained twice
end

--- A search for a task of edges says on which edges it chose.
function tests.test_edges()
  local report = search(temporary.path "edges", {task = "link_prediction", batch_size = 60,
    model = "gcn", layers = 1, max_batches = 3, eval_every = 3})
  lu.assertStrContains(report.notes[1], "AUC on the validation edges, of the model that is kept.")
end

--- The intervals of a metric that is not in percent have as many digits as its means.
function tests.test_digits_of_another_metric()
  local report = ladies.auto{settings = {dataset = toy_study.regression(), hidden = 8,
    model = "gcn", layers = 1, max_batches = 30, eval_every = 10}, out = temporary.path "digits",
    quiet = true}
  local n = 0
  for mean, half in tostring(report):gmatch "| +(%S+) ± (%S+) |" do
    lu.assertEquals({#mean:match "%.(%d+)", #half:match "%.(%d+)"}, {4, 4}, mean)
    n = n + 1
  end
  lu.assertTrue(n > 0)
end

--- Settings that the user has set are not searched; with a method there is no network without a
-- graph, and samples of each layer say how many layers there are.
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
  lu.assertEquals(#tried(records), 3 * 3)
  lu.assertEquals({report.best.layers, report.best.samples}, {3, {8, 6, 4}})
end

-- Has runs take so many seconds of training each, as a study keeps them; those whose keys match
-- `cut` are cut off by the clock after 3 batches, with an F1 that nothing else has.
local function with_times(seconds, cut, f)
  local train = one_run.train
  one_run.train = function(run, ...)
    if run.key:find(cut) then
      run.config.max_batches = 3
      local record = train(run, ...)
      run.config.max_batches = tonumber(run.key:match "(%d+) batches")
      record.stopped, record.best_value, record.seconds = "max_seconds", 1, seconds
      return record
    end
    local record = train(run, ...)
    record.seconds = seconds
    return record
  end
  local ok, reason = pcall(f)
  one_run.train = train
  lu.assertTrue(ok, reason)
end

--- A run that was cut off is marked, and not chosen, whatever its F1; nor does it climb.
function tests.test_cut_off()
  with_times(1, "model gcn, layers 2, 10 batches", function()
    local report = search(temporary.path "cut")
    lu.assertNotStrContains(report.notes[1], "Chosen: model gcn, layers 2.")
    local last = report.tables[1][28]
    lu.assertEquals({last[1], last[2], last[3], last[4], last[5], last[8]},
      {"gcn", "2", "0.3", "100.00", "3", "after 3 of 10 batches"})
    for i = 2, 27 do
      lu.assertEquals({report.tables[1][i][5], report.tables[1][i][8]}, {"10", ""})
    end
  end)
end

--- Time decides how many are tried, and how far they climb: a machine that takes ten times as long
-- compares fewer, by equally many batches all the same.
function tests.test_time()
  local function counts(seconds, max_batches)
    local all
    with_times(seconds, "no such key", function()
      local report, records = search(temporary.path("time" .. seconds),
        {max_batches = max_batches, eval_every = 100, model = "gcn"}, 100)
      all = {#tried(records, 100), #tried(records, 200), report.notes[2]}
    end)
    return all
  end
  lu.assertEquals(counts(0.1, 200), {8, 3, counts(0.1, 200)[3]})
  local slow = counts(10, 200)
  lu.assertEquals({slow[1], slow[2]}, {4, 1})        -- 40 % of the time; then 20 s for 200 batches
  lu.assertStrContains(slow[3], "The 100 s were gone before 4 more were tried")
  lu.assertEquals(counts(200, 200)[1], 1)
end

--- Where nothing comes to its end, that is told.
function tests.test_no_time()
  local report, records = search(temporary.path "none", {max_batches = 100000}, 1e-6)
  lu.assertEquals(#tried(records, 100), 1)
  lu.assertStrContains(report.notes[2], "No run came to the end of its 100 batches in 1e-06 s")
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
  lu.assertNotStrContains(text, "\\n")            -- notes of several lines are shown as such
  local model, layers = text:match "Chosen: model (%w+), layers (%d+)[.,]"
  local config = json.decode(ladies.file.read(out .. "/config.json"))
  lu.assertEquals({config.model, config.layers}, {model, tonumber(layers)})
  lu.assertEquals({config.dropout, config.max_batches, config.patience}, {0.1, 10, 600})
  local _, n = records_of(out .. "-auto")
  lu.assertEquals(n, 7 + 6 + 3 * 2)
  text, err, status = shell.run_ladies{"train", "--resume", out, "--max-batches", "20", "--quiet"}
  lu.assertEquals({err, status}, {"", 0})
  lu.assertStrContains(text, "test micro-F1 ")
end

return tests
