--- Node regression from end to end: by command and by ladies.train, resumed, written, shown and
-- compared; and a task of one's own in a file.
local lu = require "luaunit"
local compare = require "reference.compare"
local ladies = require "ladies"
local json = require "ladies.base.json"
local shell = require "tools.shell"
local temporary = require "reference.temporary"

local tests = {}

local N = 300

-- A data set whose two targets are means over neighbours of the features, one far from 0; the
-- second is unknown for some nodes. Returns it, and its path.
local function made()
  local data = ladies.generate.power_law{nodes = N, entries = 2400, classes = 3, features = 8,
    signal = 0.5}
  local near = data.graph:normalize "sym":matmul(data.features)
  local rows = near:to_table()
  for i, row in ipairs(rows) do
    rows[i] = {3 * row[1] + 50, i % 7 == 0 and 0 / 0 or row[2] - row[3]}
  end
  local path = temporary.path "numbers.npz"
  local parts = ladies.data.from_arrays{graph = data.graph.adjacency, features = data.features,
    targets = ladies.tensor(rows), target_names = {"high", "low"}, split = "40/20/40"}
  ladies.data.save(parts, path)
  return ladies.data.load(path), path
end

local data, path = made()

local COMMON = {"--samples", "32", "--layers", "2", "--lr", "0.01", "--self-nodes", "previous"}

local function run(name, ...)
  local folder = temporary.path "."
  local arguments = {...}
  if name == "train" or name == "compare" or name == "sweep" then
    table.move(COMMON, 1, #COMMON, #arguments + 1, arguments)
  end
  return shell.run_ladies({name, table.unpack(arguments)}, {folder = folder})
end

local function ran(...)
  return (shell.succeeded(run(...)))
end

local function refused(text, ...)
  local _, err, status = run(...)
  shell.refuses(text, "", err, status == 2 and 1 or status)  -- 2: of the command line itself
end

local function same_file(one, other, name)
  local text = ladies.file.read(one .. "/" .. name)
  lu.assertTrue(text == ladies.file.read(other .. "/" .. name), name)
end

local trained

-- The folder of a run by command, and what it printed.
local function by_command()
  if not trained then
    local folder = temporary.path "command"
    trained = {folder, ran("train", path, "--max-batches", "40", "--out", folder)}
  end
  return table.unpack(trained)
end

--- The metrics of predictions, by their definitions.
local function by_hand(predicted, truth, nodes)
  local absolute, squares, r2 = 0, 0, 0
  for column = 1, 2 do
    local n, sum, sum_squares, mean, spread = 0, 0, 0, 0, 0
    local known = {}
    for _, node in ipairs(nodes:to_table()) do
      local x, y = truth:get(node, column), predicted:get(node, column)
      if x == x then
        n, mean = n + 1, mean + x
        sum, sum_squares = sum + math.abs(x - y), sum_squares + (x - y) ^ 2
        known[n] = x
      end
    end
    mean = mean / n
    for _, x in ipairs(known) do spread = spread + (x - mean) ^ 2 end
    absolute, squares = absolute + sum / n / 2, squares + sum_squares / n / 2
    r2 = r2 + (1 - sum_squares / spread) / 2
  end
  return {MAE = absolute, RMSE = math.sqrt(squares), R2 = r2}
end

--- The command and ladies.train by names come to the same bits; nothing says F1, and what is
-- reported follows from the predictions.
function tests.test_by_command_and_in_lua()
  local folder, out = by_command()
  lu.assertNotStrContains(out, "F1")
  lu.assertStrContains(out, "task: node regression\n")
  local result = ladies.train{data = path, samples = 32, layers = 2, lr = 0.01, max_batches = 40,
    self_nodes = "previous", out = temporary.path "lua", quiet = true}
  same_file(folder, temporary.path "lua", "model.npz")
  same_file(folder, temporary.path "lua", "predictions.npz")
  lu.assertEquals({result.monitor, result.mode, result.measure, result.test_f1},
    {"MAE", "min", "MAE", nil})
  local file = ladies.npz.open(folder .. "/predictions.npz")
  lu.assertEquals(file:strings "target_names", {"high", "low"})
  local found = by_hand(file:tensor "predicted", file:tensor "targets", data.test)
  for name, value in pairs(found) do lu.assertAlmostEquals(result.test[name], value, 1e-4, name) end
  lu.assertStrMatches(out, (".*test MAE %.4f\n"):format(result.test.MAE))
  lu.assertTrue(result.test.R2 > 0)                   -- better than the mean of the targets
  local summary = json.decode(ladies.file.read(folder .. "/summary.json"))
  lu.assertEquals(summary.test, result.test)
end

--- evaluate, predict and view of a finished run.
function tests.test_a_finished_run()
  local folder = by_command()
  local summary = json.decode(ladies.file.read(folder .. "/summary.json"))
  local out = ran("evaluate", folder)
  for _, name in ipairs{"MAE", "RMSE", "R2"} do
    lu.assertStrContains(out, ("test %s %.4f\n"):format(name, summary.test[name]))
  end
  local csv = ran("predict", folder)
  lu.assertStrContains(csv, "node,predicted_high,high,predicted_low,low,split\n")
  lu.assertStrMatches(csv, ".*\n6,[%d.]+,[%d.]+,[%d.-]+,,%a*\n.*")      -- node 7 from 1 lacks one
  lu.assertEquals(select(2, csv:gsub("\n", "")), N + 1)
  ran("predict", folder, "--out", temporary.path "p.npz")
  local written = ladies.npz.open(temporary.path "p.npz")
  lu.assertEquals(written:tensor "predicted":hash(),
    ladies.npz.open(folder .. "/predictions.npz"):tensor "predicted":hash())
  ran("view", folder, "--out", temporary.path "page.html")
  local page = ladies.file.read(temporary.path "page.html")
  lu.assertStrContains(page, "The largest errors")
  lu.assertNotStrContains(page, "F1")
  local known = data.targets[data.test]
  local pictures = page:match "Predictions(.-)The largest errors"
  lu.assertEquals(select(2, pictures:gsub("<circle", "")), known:equals(known):sum():item())
  refused("Correct and Smooth is of classes of nodes", "evaluate", folder, "--smooth")
end

--- The data's moments are the run's: on other data it predicts by the same.
function tests.test_shift_and_scale()
  local folder = by_command()
  local config = json.decode(ladies.file.read(folder .. "/config.json"))
  local sum = 0
  for _, node in ipairs(data.train:to_table()) do sum = sum + data.targets:get(node, 1) end
  lu.assertAlmostEquals(config.shift[1], sum / #data.train, 1e-9)
  local other = ladies.data.from_arrays{graph = data.graph.adjacency, features = data.features,
    targets = data.targets * 1000, train = data.train, val = data.val, test = data.test}
  local run_of_other = ladies.saved_run(folder, {data = other})
  local nodes = data.test
  local predicted = run_of_other.task.predict(run_of_other:scores(nodes), nodes)
  compare.assert_close(predicted, ladies.npz.open(folder .. "/predictions.npz"):tensor "predicted"[
    nodes], 1e-5, "predictions")
end

--- They need no task where the data set has it: shift 0 and scale 1 leave targets as they are.
function tests.test_given_shift_and_scale()
  local folder = temporary.path "given"
  ran("train", path, "--shift", "0", "--scale", "1", "--layers", "1", "--max-batches", "3", "--out",
    folder)
  local config = json.decode(ladies.file.read(folder .. "/config.json"))
  lu.assertEquals({config.task, config.shift, config.scale}, {"node_regression", 0, 1})
end

--- Means of errors are compared, ranked and described as what they are.
function tests.test_compare_and_sweep()
  local out = ran("compare", "--methods", "ladies,full", "--dataset", path, "--max-batches", "10",
    "--runs", "2", "--out", temporary.path "compared", "--quiet")
  lu.assertStrMatches(out, "| method +| +test MAE | +val MAE |.*")
  lu.assertStrContains(out, "the test MAE is above that of LADIES (32) (less is better)")
  lu.assertNotStrContains(out, "F1")
  local csv = ladies.file.read(temporary.path "compared" .. "/compare.csv")
  lu.assertStrContains(csv, "test_mae,test_mae_sd,val_mae")

  local report = ladies.sweep{vary = {{"lr", 1e-5, 1e-2}}, methods = {"ladies:32"}, runs = 2,
    datasets = {path}, settings = {layers = 2, max_batches = 20}, out = temporary.path "swept",
    quiet = true}
  lu.assertEquals(report.best, {lr = 1e-2})
  lu.assertStrContains(report.notes[#report.notes], "MAE, of which less is better")
  lu.assertNotStrContains(tostring(report), "F1")
end

-- Writes a file of a task; returns its path.
local function file_of(name, text)
  local place = temporary.path(name .. ".lua")
  ladies.file.write(place, text)
  return place
end

local OWN = [[
local ladies = require "ladies"
return {
  settings = {{"column", "positive integer", default = 1, help = "of the targets"}},
  make = function(settings, data)
    local y = data.targets:slice_cols(settings.column, settings.column)
    return {name = "one column", data = data, outputs = 1,
      units = {train = data.train, val = data.val, test = data.test},
      targets = function(nodes) return y[nodes] - 50 end,
      loss = function(out, truth) return (out - truth):square():mean() end,
      metrics = {{name = "error", mode = "min", of = ladies.metrics.mae}}}
  end,
}
]]

--- A task of a file trains, has settings, is known again by its code, and refused as other code.
function tests.test_own_file()
  local own, folder = file_of("own", OWN), temporary.path "own_run"
  local out = ran("train", path, "--task", own, "--max-batches", "20", "--out", folder)
  lu.assertStrContains(out, "task: one column\n")
  lu.assertStrMatches(out, ".*test error %d+%.%d+\n")
  lu.assertStrContains(ran("evaluate", folder, "--task", own), "test error ")
  lu.assertStrContains(ran("predict", folder, "--task", own), "node,predicted,split\n")
  refused("is code of one's own, which is to be named again: --task FILE.lua", "evaluate", folder)
  ladies.file.write(own, (OWN:gsub("square", "abs")))
  refused("the code of the task own, of ", "evaluate", folder, "--task", own)
  ladies.file.write(own, OWN)
  refused("unknown option --column", "train", path, "--column", "1")
end

--- Any fault of a task's file is reported in a line that names the file.
function tests.test_wrong_files()
  local count = 0
  local function wrong(expected, text)
    local own = file_of("wrong", text)
    count = count + 1
    refused(expected, "train", path, "--task", own, "--out", temporary.path("none" .. count))
  end
  wrong("wrong.lua: what the file returns must be a function or a table, got nil", "return nil")
  wrong("wrong.lua:1:", "retrun 1")
  wrong("wrong.lua: what it makes must be a table, got nil", "return function() end")
  wrong("wrong.lua: data must be a table, got nil", "return function() return {} end")
  wrong("wrong.lua: metrics must have at least one", (OWN:gsub("{{name = \"error\".*}}}", "{}}")))
  wrong('wrong.lua: unknown option "metric"; did you mean "metrics"?',
    (OWN:gsub("metrics = ", "metric = ")))
  wrong("the metric error must give a number, got a nil",
    (OWN:gsub("of = ladies.metrics.mae", "of = function() end")))
  wrong("predictions of", (OWN:gsub("outputs = 1", "outputs = 7")))
  refused('the task node regression has no metric "F1"; it has: MAE, RMSE, R2', "train", path,
    "--monitor", "F1", "--out", temporary.path "none")
end

return tests
