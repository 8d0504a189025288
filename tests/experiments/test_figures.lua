--- experiments.paper.figures: what it runs, its means and bands, its files; and the traces of
-- runs that the curves come from.
local lu = require "luaunit"
local core = require "ladies_core"
local ladies = require "ladies"
local paper = require "experiments.paper"
local statistics = require "ladies.statistics"
local temporary = require "reference.temporary"
local toy_study = require "tools.toy_study"
local one_run = require "ladies.study.one_run"
local tables = require "ladies.base.tables"

local tests = {}

local dataset, records_of = toy_study.dataset, toy_study.records_of

local SETTINGS = {layers = 2, hidden = 8, batch_size = 20, lr = 0.02, max_batches = 20,
  eval_every = 5}

local function figures(out, given)
  return paper.figures(tables.merged({datasets = {dataset}, runs = 2, settings = SETTINGS,
    out = out, quiet = true, jobs = 1}, given))
end

-- The series of this name in the picture of this name.
local function series_of(result, picture_name, series_name)
  local names = {}
  for _, picture in ipairs(result.pictures) do
    for _, series in ipairs(picture.name == picture_name and picture.plot.series or {}) do
      if series.name == series_name then return series end
      names[#names + 1] = series.name
    end
  end
  lu.fail(("no %s in %s, which has: %s"):format(series_name, picture_name,
    table.concat(names, ", ")))
end

local function names_of(result)
  return tables.map(result.pictures, function(picture) return picture.name end)
end

-- Mean and standard deviation of two numbers.
local function of_two(a, b) return (a + b) / 2, math.abs(a - b) / math.sqrt(2) end

--- Means and bands are those of the runs' traces; a run that two figures need is one.
function tests.test_curves()
  local out = temporary.path "curves"
  local result = figures(out, {figures = {"sample_curves", "epochs"}})
  lu.assertEquals(names_of(result),
    {"sample_curves-toy", "epochs-toy-train", "epochs-toy-val", "epochs-toy-test"})
  local records, n = records_of(out)
  lu.assertEquals(n, 2 * (7 + 3 - 1))                   -- LADIES (512) is in both
  local function check(picture, title, part)
    local points = series_of(result, picture, title).points
    local key = "toy, " .. title .. ", 2 layers, whole, seed "
    local one, two = records[key .. 1].trace, records[key .. 2].trace
    lu.assertEquals({#points, #one, #two}, {4, 4, 4})
    for i, point in ipairs(points) do
      local mean, deviation = of_two(100 * one[i][part], 100 * two[i][part])
      lu.assertEquals(point[1], 5 * i)
      lu.assertAlmostEquals(point[2], mean, 1e-9)
      lu.assertAlmostEquals(point[3], mean - deviation, 1e-9)
      lu.assertAlmostEquals(point[4], mean + deviation, 1e-9)
    end
  end
  check("sample_curves-toy", "LADIES (16)", "test")
  check("epochs-toy-train", "full batch", "train")
  check("epochs-toy-val", "LADIES (64)", "val")
  check("epochs-toy-test", "LADIES (512)", "test")
  local bands = 0
  for _, point in ipairs(series_of(result, "epochs-toy-val", "LADIES (64)").points) do
    if point[4] > point[3] then bands = bands + 1 end
  end
  lu.assertTrue(bands > 0)
end

--- The curves over seconds of training have the F1s of those over batches, for every method.
function tests.test_convergence()
  local out = temporary.path "convergence"
  local result = figures(out, {figures = {"convergence"}, jobs = 2})
  lu.assertEquals(names_of(result), {"convergence-toy-batches", "convergence-toy-seconds"})
  local records, n = records_of(out)
  lu.assertEquals(n, 2 * 7)
  for _, name in ipairs{"full batch", "GraphSAGE (5)", "VR-GCN (2)", "Cluster-GCN",
    "FastGCN (512)", "LADIES (64)", "LADIES (512)"} do
    local over_batches = series_of(result, "convergence-toy-batches", name).points
    local over_seconds = series_of(result, "convergence-toy-seconds", name).points
    local one = records[("toy, %s, 2 layers, whole, seed 1"):format(name)].trace
    local two = records[("toy, %s, 2 layers, whole, seed 2"):format(name)].trace
    for i = 1, 4 do
      lu.assertEquals(over_batches[i][1], 5 * i)
      lu.assertEquals(over_seconds[i][1], (of_two(one[i].seconds, two[i].seconds)))
      lu.assertEquals(over_seconds[i][2], over_batches[i][2])
    end
  end
end

--- Figures against samples and depth show the test F1 of the kept models with 95 % intervals.
function tests.test_kept_models()
  local out = temporary.path "kept"
  local result = figures(out, {figures = {"samples", "depth"}, runs = 3,
    settings = {hidden = 8, batch_size = 20, lr = 0.02, max_batches = 10, eval_every = 5}})
  local records, n = records_of(out)
  lu.assertEquals(n, 3 * (8 + 3 + 7 + 3 - 1))           -- LADIES (64) with 5 layers is in both
  local function check(point, x, title, layers)
    local f1s = {}
    for seed = 1, 3 do
      local record = records[("toy, %s, %d layers, early stopping, seed %d"):format(title, layers,
        seed)]
      f1s[seed] = 100 * record.test_f1
      lu.assertEquals(record.config.layers, layers)
      lu.assertNil(record.trace)
    end
    local mean, half_width = statistics.mean(f1s), statistics.half_width(f1s)
    lu.assertEquals({table.unpack(point, 1, 4)}, {x, mean, mean - half_width, mean + half_width})
  end
  local fastgcn = series_of(result, "samples-toy", "FastGCN").points
  lu.assertEquals(#fastgcn, 3)
  check(fastgcn[1], 32, "FastGCN (32)", 5)
  check(series_of(result, "samples-toy", "LADIES").points[8], 512, "LADIES (512)", 5)
  local full = series_of(result, "depth-toy", "full batch").points
  lu.assertEquals(#full, 3)
  check(full[3], 10, "full batch", 10)
  check(series_of(result, "depth-toy", "LADIES (64)").points[1], 2, "LADIES (64)", 2)
end

--- The study leaves the section, the numbers and the pictures; the same command once more trains
-- nothing, and more runs or figures join those that are there.
function tests.test_files_and_growing()
  local out = temporary.path "files"
  local function results() return ladies.file.read(out .. "/results.jsonl") end
  local result = figures(out, {figures = {"depth"}, runs = 1})
  local once = results()
  for _, file in ipairs(result.files) do
    lu.assertEquals(core.exists(out .. "/" .. file), "file", file)
  end
  local document = ladies.file.read(out .. "/figures.md")
  lu.assertStrContains(document, "## Figures, preset default\n\n### Test F1 against depth\n")
  lu.assertStrContains(document, "with three depths, and not on PubMed. One run.")
  lu.assertStrContains(document, "10 runs on ")
  lu.assertStrContains(document,
    "min gain 0.01; over these, layers 2, hidden 8, lr 0.02, batch size 20")
  local point = series_of(result, "depth-toy", "full batch").points[3]
  local csv = ladies.file.read(out .. "/figures.csv")
  lu.assertEquals(csv:match "^[^\n]*", "figure,dataset,series,x,f1,deviation,half_width,runs")
  lu.assertStrContains(csv, ("\ndepth-toy,toy,full batch,10,%s,,,1\n"):format(point[2]))
  lu.assertEquals({table.unpack(result.files, 4)},
    {"depth-toy.svg", ladies.plot.available() and "depth-toy.png" or nil})
  lu.assertStrContains(document, "\n![toy: Test F1 against depth](depth-toy.svg)\n")
  lu.assertStrContains(tostring(result), "toy: Test F1 against depth")

  lu.assertEquals(series_of(figures(out, {figures = {"depth"}, runs = 1}), "depth-toy",
    "full batch").points[3], point)
  lu.assertEquals(results(), once)
  figures(out, {figures = {"depth", "epochs"}, runs = 2})
  lu.assertEquals(results():sub(1, #once), once)
  lu.assertEquals(select(2, records_of(out)), 2 * (10 + 3))
end

function tests.test_wrong_options()
  local out = temporary.path "wrong"
  lu.assertErrorMsgContains('did you mean "depth"?', figures, out, {figures = {"dept"}})
  lu.assertErrorMsgContains("experiments.paper.figures: runs must be a positive integer", figures,
    out,
    {runs = 0})
  lu.assertErrorMsgContains("experiments.paper.figures: preset must be one of", figures, out,
    {preset = "papers"})
  lu.assertErrorMsgContains("experiments.paper.figures: nowhere is not here", figures, out,
    {datasets = {"nowhere"}})
  lu.assertErrorMsgContains("experiments.paper.figures: no method has parts", figures, out,
    {figures = {"epochs"}, settings = {parts = 3}})
  figures(out, {figures = {"epochs"}, runs = 1})
  lu.assertErrorMsgContains("holds another study (figures, preset default)", figures, out,
    {preset = "paper"})
end

-- ---------------------------------------------------------------- traces

local function config_of(given)
  return tables.merged({dataset = dataset, method = "ladies", samples = 5, seed = 3}, SETTINGS,
    given)
end

-- Presets of which one has the predictions of its validation, and the other must make them.
local function each_validation(f)
  for _, preset in ipairs{"default", "code"} do
    f(config_of{preset = preset}, preset == "default")
  end
end

--- A trace has what metrics.f1 finds for the models at the same batches.
function tests.test_traces_are_metrics()
  each_validation(function(config, exact)
    local settled = ladies.experiment.configure(config)
    local data, expected = ladies.experiment.load(settled), {}
    ladies.experiment.run(settled, data, {quiet = true, on_validation = function(at)
      local f1s = {batch = at.batch}
      for _, part in ipairs{"train", "val", "test"} do
        f1s[part] = ladies.metrics.f1(at.model, data, data[part])
      end
      expected[#expected + 1] = f1s
      lu.assertEquals(at.predicted ~= nil, exact)
      if exact then lu.assertEquals(at.value, f1s.val) end
    end})
    local record = one_run.train({key = "x", config = config, trace = true}, {})
    local differ = false                               -- so that parts cannot be mixed up unseen
    lu.assertEquals(#record.trace, 4)
    for i, point in ipairs(record.trace) do
      lu.assertEquals(point.seconds, record.curve[i][2])
      point.seconds = nil
      lu.assertEquals(point, expected[i])
      differ = differ or point.train ~= point.val and point.val ~= point.test
    end
    lu.assertTrue(differ)
  end)
end

--- Nothing of a record depends on its trace, but times and memory.
function tests.test_traces_change_nothing()
  each_validation(function(config)
    local traced = one_run.train({key = "x", config = config, trace = true}, {})
    local plain = one_run.train({key = "x", config = config}, {})
    lu.assertNil(plain.trace)
    for _, field in ipairs{"test_f1", "test_macro_f1", "val_f1", "best_batch", "batches", "stopped",
      "input_rows", "hidden_rows"} do
      lu.assertNotNil(plain[field], field)
      lu.assertEquals(traced[field], plain[field], field)
    end
    for i, at in ipairs(plain.curve) do
      lu.assertEquals({traced.curve[i][1], traced.curve[i][3]}, {at[1], at[3]})
    end
  end)
end

return tests
