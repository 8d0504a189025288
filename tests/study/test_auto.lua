--- ladies.auto and `ladies train --auto`: what is tried on which rung, what is chosen, and that the
-- run has it.
local lu = require "luaunit"
local choices = require "ladies.study.auto_choices"
local ladies = require "ladies"
local json = require "ladies.base.json"
local one_run = require "ladies.study.one_run"
local shell = require "tools.shell"
local statistics = require "ladies.statistics"
local tables = require "ladies.base.tables"
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
  local report = ladies.auto{data = toy.new(true), settings = tables.merged(SETTINGS, settings),
    out = out, quiet = true, seconds = seconds or 1e6}
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

-- The settings of the combinations that were trained for so many batches, by name.
local function configs_of(records, batches)
  local by_key = {}
  for key, record in pairs(records) do
    local name = key:match(("^(.*), %d batches, seed 5$"):format(batches))
    if name then by_key[name] = record.config end
  end
  return by_key
end

-- How many settings two configurations differ in, but for the time that was left.
local function differences(a, b)
  local n = 0
  for name, value in pairs(a) do
    n = n + (name ~= "max_seconds" and value ~= b[name] and 1 or 0)
  end
  for name in pairs(b) do n = n + (a[name] == nil and 1 or 0) end
  return n
end

--- Networks by three recipes, and what differs from one of them in one setting; the best of each
-- network climb, then the best of all, and the best mean of three seeds is chosen.
function tests.test_rungs()
  local out = temporary.path "rungs"
  local own = {max_batches = 300, eval_every = 100, layers = 2, weight_decay = 5e-4,
    normalize = "sym"}
  local report, records, n = search(out, own)
  local first, second, third = tried(records, 100), tried(records, 200), tried(records, 300)
  local function model_of(label) return label:match "^model (%w+)" end
  local of_model, n_second = {}, 0
  for _, label in ipairs(first) do
    local model = model_of(label)
    of_model[model] = (of_model[model] or 0) + 1
    if of_model[model] <= 4 then n_second = n_second + 1 end
  end
  lu.assertEquals({#second, #third, n}, {n_second, 3, #first + #second + 3 * 3})
  local bases = {}
  for _, model in ipairs{"gcnii", "gcn", "sage"} do
    bases[("model %s, layers 2"):format(model)] = true
    for _, recipe in ipairs{"features row_normalized, dropout 0.5, input dropout 0.5",
        "dropout 0.5, norm true"} do
      bases[("model %s, layers 2, %s"):format(model, recipe)] = true
    end
  end
  for key in pairs(bases) do lu.assertTableContains(first, key) end
  local configs = configs_of(records, 100)
  for key, config in pairs(configs) do
    local near = bases[key] or config.model == "mlp"
    for other, its in pairs(configs) do
      near = near or other ~= key and differences(config, its) <= 1
    end
    lu.assertTrue(near, key .. " differs from all others in several settings")
  end
  lu.assertTrue(#first > 12 + 8, "there are changes to the best")
  for _, record in pairs(records) do
    lu.assertEquals({record.batches, record.stopped}, {record.config.max_batches, "max_batches"})
    lu.assertEquals({record.config.hidden, record.config.lr}, {8, 0.02})    -- as they were set
  end
  local function f1(label, batches)
    return records[("%s, %d batches, seed 5"):format(label, batches)].val_f1
  end
  -- Checks that of the labels for which `is_one` holds the best went on from `from` to `to`.
  local function check_climb(from, to, batches, is_one)
    local climbed, least, best_left = {}, 2, -1
    for _, label in ipairs(to) do
      climbed[label] = true
      if is_one(label) then least = math.min(least, f1(label, batches)) end
    end
    for _, label in ipairs(from) do
      if is_one(label) and not climbed[label] then
        best_left = math.max(best_left, f1(label, batches))
      end
    end
    lu.assertTrue(best_left <= least)
  end
  for model in pairs(of_model) do
    check_climb(first, second, 100, function(label) return model_of(label) == model end)
  end
  check_climb(second, third, 200, function() return true end)
  local mlp = records["model mlp, layers 2, 100 batches, seed 5"].config
  lu.assertEquals({mlp.method, mlp.samples}, {"none", nil})
  local label = report.notes[1]:match "^Chosen: (.-)%. Micro"
  for _, one in ipairs(third) do
    lu.assertTrue(mean_of(records, one, 300) <= mean_of(records, label, 300) + 1e-9)
  end
  lu.assertStrContains(report.notes[1], ("%d choices in "):format(#first))
  local record = records[label .. ", 300 batches, seed 5"].config
  for key, value in pairs(report.best) do
    if key ~= "seed" and key ~= "max_batches" then lu.assertEquals(record[key], value, key) end
  end
  lu.assertEquals({report.best.lr, report.best.max_batches, report.best.seed, report.best.patience,
    report.best.max_seconds}, {0.02, 300, 5, nil, nil})
  lu.assertNil(ladies.file.read(out .. "/auto.md"):find "test")
  lu.assertEquals(tostring(search(out, own)), tostring(report))
  lu.assertEquals(select(2, records_of(out)), n)      -- nothing is trained twice
end

--- A search for a task of edges says on which edges it chose.
function tests.test_edges()
  local report = search(temporary.path "edges", {task = "link_prediction", batch_size = 60,
    model = "gcn", layers = 1, max_batches = 3, eval_every = 3})
  lu.assertStrContains(report.notes[1], "AUC on the validation edges, of the model that is kept.")
  lu.assertStrContains(report.notes[1], "the best four of each network for 3")
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

--- Sampler or full batch, width and learning rate are tried where they are open.
function tests.test_what_is_open()
  local out = temporary.path "open"
  ladies.auto{data = toy.new(true), out = out, quiet = true, seconds = 1e6,
    settings = {max_batches = 4, eval_every = 4, model = "gcn", layers = 2, batch_size = 20,
      seed = 5}}
  local seen = {}
  for _, config in pairs(configs_of(records_of(out), 4)) do
    for name, value in pairs(config) do seen[("%s %s"):format(name, value)] = true end
  end
  for _, one in ipairs{"method full", "method ladies", "hidden 64", "lr 0.01", "norm true",
      "weight_decay 0.0005", "weight_decay 0.005", "residual true", "dropout 0.7"} do
    lu.assertTrue(seen[one], one)
  end
end

--- Epochs are of the training to come: the runs of the search have the batches that it tells.
function tests.test_epochs()
  local report, records = search(temporary.path "epochs", {model = "sgc", layers = 2, epochs = 1})
  for key, record in pairs(records) do lu.assertEquals(record.batches, 10, key) end
  lu.assertEquals(report.best.epochs, 1)
  lu.assertStrContains(report.command, "--epochs 1 ")
end

--- The network and its depth come first in what a choice is called.
function tests.test_name_of_a_choice()
  lu.assertEquals(choices.text{hidden = 64, layers = 3, method = "full", model = "gcn"},
    "model gcn, layers 3, method full, hidden 64")
end

--- Settings that the user has set are not searched; with a method there is no network without a
-- graph, and samples of each layer say how many layers there are.
function tests.test_what_is_set()
  local _, records = search(temporary.path "set", {model = "sgc", layers = 2, weight_decay = 0})
  for _, record in pairs(records) do
    lu.assertEquals({record.config.model, record.config.layers, record.config.weight_decay},
      {"sgc", 2, 0})
  end
  _, records = search(temporary.path "dropout", {model = "gcn", dropout = 0.2})
  for _, record in pairs(records) do lu.assertEquals(record.config.dropout, 0.2) end
  local report
  report, records = search(temporary.path "samples", {method = "ladies", samples = {8, 6, 4}})
  for _, record in pairs(records) do
    lu.assertEquals({record.config.method, record.config.layers}, {"ladies", 3})
  end
  lu.assertEquals({report.best.layers, report.best.samples}, {3, {8, 6, 4}})
  lu.assertStrContains(report.command, "--samples 8,6,4")
end

-- Calls f while another function trains runs, which is given the one that does, and the run.
local function with_train(other, f)
  local train = one_run.train
  one_run.train = function(run, ...) return other(train, run, ...) end
  local ok, reason = pcall(f)
  one_run.train = train
  lu.assertTrue(ok, reason)
end

-- Has runs take so many seconds of training each, as a study keeps them; those whose keys match
-- `cut` are cut off by the clock after 3 batches, with an F1 that nothing else has.
local function with_times(seconds, cut, f)
  with_train(function(train, run, ...)
    local is_cut = run.key:find(cut)
    if is_cut then run.config.max_batches = 3 end
    local record = train(run, ...)
    record.seconds, record.wall = seconds, seconds
    if is_cut then
      run.config.max_batches = tonumber(run.key:match "(%d+) batches")
      record.stopped, record.best_value = "max_seconds", 1
    end
    return record
  end, f)
end

--- A run that was cut off is marked, and not chosen, whatever its F1; nor does it climb.
function tests.test_cut_off()
  with_times(1, "model gcn, layers 2, 10 batches", function()
    local report = search(temporary.path "cut")
    lu.assertNotStrContains(report.notes[1], "Chosen: model gcn, layers 2.")
    local rows = report.tables[1]
    local last = rows[#rows]
    lu.assertEquals({last[1], last[2], last[4], last[9], last[10], last[13]},
      {"gcn", "2", "0.3", "100.00", "3", "after 3 of 10 batches"})
    for i = 2, #rows - 1 do lu.assertEquals({rows[i][10], rows[i][13]}, {"10", ""}) end
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
  local fast, slow = counts(0.1, 200), counts(10, 200)
  lu.assertTrue(fast[1] > 12 and fast[2] == 4, fast[1])
  lu.assertNotStrContains(fast[3], "left no time")
  lu.assertEquals({slow[1], slow[2]}, {4, 1})        -- 45 % of the time; 65 % for 200 batches
  lu.assertStrMatches(slow[3], "Of 100 s a run .*: that left no time for %d+ more;.*")
  lu.assertEquals(counts(200, 200)[1], 1)
end

--- Nothing climbs past a better one that takes longer: time must not choose.
function tests.test_slow_and_best()
  local best = "model gcn, layers 2, dropout 0.5, norm true"
  with_train(function(train, run, ...)
    local record = train(run, ...)
    local is_best = run.key:find(best .. ", %d+ batches")
    record.wall = is_best and 40 or 0.01
    record.seconds = record.wall
    record.best_value = is_best and 1 or record.best_value / 2
    return record
  end, function()
    local own = {max_batches = 400, eval_every = 100, model = "gcn", layers = 2}
    local report, records = search(temporary.path "slow and best", own, 100)
    lu.assertStrContains(report.notes[1], ("Chosen: %s."):format(best))
    lu.assertEquals({#tried(records, 100), #tried(records, 200)}, {3, 0})
    report, records = search(temporary.path "slow and best, longer", own, 500)
    lu.assertStrContains(report.notes[1], ("Chosen: %s."):format(best))
    lu.assertEquals({#tried(records, 200), #tried(records, 400)},
      {4, 3})
    lu.assertEquals(#report.tables[1], 1 + #tried(records, 100))
  end)
end

--- Full batches of a large graph, each longer than a tenth of the time, are tried once and cut off;
-- what has a sampler is tried first.
function tests.test_long_full_batches()
  local full, sampled = {}, {}
  with_train(function(train, run, ...)
    local is_full = run.config.method == "full"
    table.insert(is_full and full or sampled, run.config.max_seconds)
    local record = train(run, ...)
    record.wall = is_full and 20 or 0.01
    record.seconds = record.wall / 2
    if is_full then record.stopped = "max_seconds" end
    return record
  end, function()
    local report = ladies.auto{data = toy.new(true), out = temporary.path "full", quiet = true,
      seconds = 99, settings = {max_batches = 10, eval_every = 10, model = "gcn", layers = 2,
        hidden = 8, batch_size = 20}}
    lu.assertNotStrContains(report.notes[1], "method full")
    lu.assertStrMatches(report.notes[2], "Of 99 s a run of 10 batches may take 10 %%, and all of "
      .. "these together 45 %%: that left no time for %d+ more;.*")
  end)
  lu.assertAlmostEquals(full, {9.9}, 1e-9)          -- none is alike
  lu.assertAlmostEquals(sampled[1], 99, 1e-9)
  lu.assertTrue(#sampled > 8)
  for i = 2, #sampled do                            -- half of what is alike was training
    lu.assertTrue(sampled[i] <= 9.9 / 2 + 1e-9 or sampled[i] > 9.9, sampled[i])
  end
end

-- Has runs of a search take a second for each 100 batches, and returns the seeds of those of 400
-- batches with their numbers, the notes and the number of records of a search in `out`.
local function search_of_seconds(out, seconds)
  local seeds, notes, n = {}, nil, nil
  with_train(function(train, run, ...)
    local record = train(run, ...)
    record.seconds, record.wall = record.batches / 100, record.batches / 100
    return record
  end, function()
    local report, records
    report, records, n = search(out, {max_batches = 400, eval_every = 100, model = "gcn"}, seconds)
    for key in pairs(records) do
      local seed = key:match "400 batches, seed (%d+)"
      if seed then seeds[tonumber(seed)] = (seeds[tonumber(seed)] or 0) + 1 end
    end
    notes = table.concat(report.notes, "\n")
  end)
  return seeds, notes, n
end

--- What time there is on the last rungs goes to one seed of the best before more seeds of one, and
-- a search that had too little time goes on to the same end.
function tests.test_seeds_of_the_last_rung()
  local out = temporary.path "seeds"
  local seeds, notes, n = search_of_seconds(out, 50)
  lu.assertEquals(seeds, {[5] = 3, [6] = 1, [7] = 1})
  lu.assertStrContains(notes, "left no time for")
  local again = {search_of_seconds(out, 50)}
  lu.assertEquals(again, {seeds, notes, n})
end

--- A run that fails on a later rung is no lack of time.
function tests.test_failure_on_a_later_rung()
  with_train(function(train, run, ...)
    if run.key:find "200 batches" then error "it broke" end
    return train(run, ...)
  end, function()
    local report = search(temporary.path "fails later", {max_batches = 200, eval_every = 100,
      model = "gcn", layers = 2})
    local notes = table.concat(report.notes, "\n")
    lu.assertNotStrContains(notes, "left no time")
    lu.assertStrContains(notes, "it broke")
  end)
end

--- Where the best of a rung is cut off by the clock, nothing climbs in its place.
function tests.test_cut_off_on_a_later_rung()
  with_train(function(train, run, ...)
    local record = train(run, ...)
    record.seconds, record.wall = 0.01, 0.01
    if run.key:find "model gcn, layers 2, %d+ batches" then record.best_value = 1
    else record.best_value = record.best_value / 2 end
    if record.batches == 200 then record.stopped = "max_seconds" end
    return record
  end, function()
    local report, records = search(temporary.path "cut later", {max_batches = 400,
      eval_every = 100, model = "gcn", layers = 2}, 100)
    lu.assertEquals(tried(records, 200), {"model gcn, layers 2"})
    lu.assertStrContains(report.notes[2],
      "The 100 s left no time for training all of the best further")
    lu.assertStrContains(report.notes[1], "Chosen: model gcn, layers 2.")
  end)
end

--- A note says when no run came to its end.
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

--- The runs of all rungs are counted, and the command is one that a shell understands.
function tests.test_what_is_told()
  local dataset = temporary.path "it's toy.npz"
  ladies.data.save(toy.new(), dataset)
  local out = temporary.path "told"
  local report = ladies.auto{settings = tables.merged(SETTINGS, {dataset = dataset, layers = 2,
    model = "sgc", max_batches = 1}), out = out, quiet = true}
  local _, n = records_of(out)
  local text = table.concat(report.notes, "\n")
  lu.assertStrContains(text, ("\n%d runs on "):format(n))
  local words = shell.must{"sh", "-c", "printf '%s\n' " .. report.command:gsub("^ladies ", "")}
  lu.assertStrContains(words, "train\n" .. dataset .. "\n--batch-size\n20\n")
end

--- The run of --auto is that of the settings which were found, and --resume goes on with it.
function tests.test_command()
  local out = temporary.path "command"
  local text = shell.silent(shell.run_ladies{"train", toy_study.dataset, "--auto", "--hidden", "8",
    "--batch-size", "20", "--max-batches", "10", "--eval-every", "5", "--dropout", "0.1", "--out",
    out, "--quiet"})
  lu.assertNotStrContains(text, "\\n")            -- notes of several lines are shown as such
  local model, layers = text:match "Chosen: model (%w+), layers (%d+)[.,]"
  local config = json.decode(ladies.file.read(out .. "/config.json"))
  lu.assertEquals({config.model, config.layers}, {model, tonumber(layers)})
  lu.assertEquals({config.dropout, config.max_batches, config.patience},
    {0.1, 10, config.method == "full" and 200 or 600})
  lu.assertStrContains(text, "The same again: ladies train ")
  text = shell.silent(shell.run_ladies{"train", "--resume", out, "--max-batches", "20", "--quiet"})
  lu.assertStrContains(text, "test micro-F1 ")
end

--- An optimizer without an L2 penalty is searched as others are, but for that.
function tests.test_other_optimizers()
  local ways = choices.ways(ladies.ones(2, 2))
  local all = #choices.bases({}, ways)
  for _, own in ipairs{{optimizer = "adamw"}, {decoupled_decay = 0.1}} do
    local bases = choices.bases(own, ways)
    lu.assertEquals(#bases, all)
    for _, choice in ipairs(bases) do
      lu.assertNil(choice.weight_decay)
      local config = ladies.experiment.configure(choice)
      for _, near in ipairs(choices.around(choice, config, own, ways)) do
        lu.assertNil(near.weight_decay)
      end
    end
  end
  local decays = {}
  for _, choice in ipairs(choices.bases({optimizer = "sgd"}, ways)) do
    decays[choice.weight_decay or "none"] = true
  end
  lu.assertEquals(decays, {none = true, [5e-4] = true})
end

return tests
