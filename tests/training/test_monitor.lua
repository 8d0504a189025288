--- Tests runs that are judged by a metric of one's own: its number, whether more or less of it is
-- better, and its name wherever it is shown.
local lu = require "luaunit"
local ladies = require "ladies"
local json = require "ladies.base.json"
local progress = require "ladies.base.progress"
local temporary = require "reference.temporary"
local toy_training = require "reference.toy_training"
local validation = require "ladies.training.loop.validation"

local tests = {}
local options, weights = toy_training.options, toy_training.weights

-- A validation that gives the values one after the other; the weights at each.
local function scripted(values)
  local calls, seen = 0, {}
  return function(model)
    calls = calls + 1
    seen[calls] = weights(model)
    return values[calls]
  end, seen
end

--- With mode = "min" less is better: best model, patience and min_gain go by it.
function tests.test_own_metric_minimised()
  local script, seen = scripted{0.9, 0.5, 0.495, 0.6, 0.7, 0.1}
  local opts = options{validation = script, monitor = {name = "RMSE", mode = "min"}, patience = 15,
    min_gain = 0.01, max_batches = 100}
  local result = ladies.train(opts)
  lu.assertEquals({result.stopped, result.batches}, {"patience", 25})
  lu.assertEquals({result.monitor, result.mode, result.best_value, result.best_batch},
    {"RMSE", "min", 0.495, 15})
  lu.assertNil(result.val_f1)
  lu.assertEquals(weights(opts.model), seen[3])
  script = scripted{0.9, 0.5, 0.495, 0.6, 0.7, 0.1}
  result = ladies.train(options{validation = script, monitor = {name = "RMSE", mode = "min"},
    patience = 15, min_gain = 0.01, best = "gain"})
  lu.assertEquals({result.best_value, result.best_batch}, {0.5, 10})
end

--- A run that is resumed between two validations remembers what was best.
function tests.test_minimised_and_resumed()
  local function run(folder, batches, resume)
    local opts = options{max_batches = batches, out = temporary.path(folder), resume = resume,
      monitor = {name = "RMSE", mode = "min"},
      validation = function(_, number) return math.abs(number - 10) / 100 end}
    return ladies.train(opts), opts
  end
  run("parts", 12)
  local result, parts = run("parts", 30, true)
  local _, whole = run("whole", 30)
  lu.assertEquals({result.best_value, result.best_batch}, {0, 10})
  lu.assertEquals(weights(parts.model), weights(whole.model))
  lu.assertErrorMsgContains('monitor was "RMSE, min" and is "the task\'s first metric"',
    ladies.train, options{max_batches = 40, out = temporary.path "parts", resume = true,
      validation = function(_, number) return math.abs(number - 10) / 100 end})
end

--- The summary, the log, the curve and the progress bar call the metric by its name; nothing says
-- micro-F1 of it.
function tests.test_its_name_is_everywhere()
  local out = temporary.path "names"
  local result = ladies.train(options{max_batches = 10, out = out,
    monitor = {name = "RMSE", mode = "min"},
    validation = function(_, number) return {RMSE = 1 / number, ["mean error"] = 2} end})
  local text = tostring(result)
  lu.assertStrContains(text, "  best model   after batch 10: validation RMSE 0.1000\n")
  lu.assertNotStrContains(text, "validation micro-F1")
  local _, validations = toy_training.log(out)
  lu.assertEquals(validations[1].validation, {RMSE = 0.2, ["mean error"] = 2})
  local curve = ladies.file.read(out .. "/curve.tsv")
  lu.assertStrMatches(curve, "batch\tseconds\tloss\tRMSE\n5\t%S+\t%S+\t0.200000\n10\t.*0.100000\n")
  local picture = ladies.file.read(out .. "/curve.svg")
  lu.assertStrContains(picture, "validation RMSE")
  lu.assertNotStrContains(picture, "micro-F1")
  local summary = json.decode(ladies.file.read(out .. "/summary.json"))
  lu.assertEquals({summary.monitor, summary.mode, summary.best_value, summary.val_f1},
    {"RMSE", "min", 0.1, nil})
  local drawn
  local bar = progress.new{total = 4, terminal = true, measure = "RMSE", clock = function()
    return 0
  end, write = function(line) drawn = line end}
  bar:update(2, 10, 1, 0.25)
  lu.assertStrContains(drawn, "val RMSE 0.2500")
  lu.assertNotStrContains(drawn, "F1")
end

--- A number without a name is a score; exact validation is micro-F1.
function tests.test_names_that_nobody_gave()
  local result = ladies.train(options{max_batches = 5, validation = function() return 0.5 end})
  lu.assertEquals({result.monitor, result.val_f1}, {"score", nil})
  result = ladies.train(options{max_batches = 5})
  lu.assertEquals({result.monitor, result.val_f1}, {"micro-F1", result.best_value})
  lu.assertStrContains(tostring(result), "validation micro-F1 ")
end

function tests.test_what_is_refused()
  local function refused(expected, own)
    own.max_batches = 5
    lu.assertErrorMsgContains("ladies.train: " .. expected, ladies.train, options(own))
  end
  refused('validation returned no number "RMSE", which is monitored',
    {validation = function() return {rmse = 1} end, monitor = {name = "RMSE"}})
  refused('validation returned no number "score", which is monitored',
    {validation = function() return {rmse = 1} end})
  refused("validation must return numbers by name, got a string for x",
    {validation = function() return {x = "1", score = 1} end})
  refused('monitor: the task node classification has no metric "RMSE"; it has: micro-F1, macro-F1',
    {monitor = {name = "RMSE"}})
  refused("monitor: mode must be one of max, min", {monitor = {mode = "low"}})
  refused('the schedule is for mode = "min", and the monitor is for "max"',
    {schedule = ladies.schedule.plateau{mode = "min"}})
  refused("batch 5: the validation RMSE is nan", {monitor = {name = "RMSE"},
    validation = function() return 0 / 0 end})
end

--- Whether min_gain is a share of the number is the metric's or what the monitor says.
function tests.test_relative()
  local function relative_of(own)
    local opts = options(own)
    opts.task = ladies.task.node_classification(opts.data)
    return validation.monitor(opts).relative
  end
  lu.assertEquals({relative_of{monitor = {}}, relative_of{monitor = "loss"},
    relative_of{monitor = {relative = true}},
    relative_of{monitor = {name = "loss", relative = false}}}, {false, true, true, false})
end

--- Every task on nodes has its loss as a metric: the model of the lowest one is kept.
function tests.test_loss()
  local opts = options{monitor = "loss", min_gain = 0, max_batches = 30}
  local result = ladies.train(opts)
  lu.assertEquals({result.monitor, result.mode}, {"loss", "min"})
  local lowest = math.huge
  for _, one in ipairs(result.history) do lowest = math.min(lowest, one.value) end
  lu.assertEquals(result.best_value, lowest)
  local data = opts.data
  local logits = ladies.inference.exact(opts.model, data)[data.val]
  lu.assertAlmostEquals(ladies.loss.cross_entropy(logits, data.labels[data.val]):item(), lowest,
    1e-6)
  lu.assertStrContains(ladies.summary and tostring(result), "micro-F1")
  lu.assertStrMatches(ladies.show(result.history),
    "[^\n]+\n +batch +seconds +loss +validation loss\n.*")
  ladies.train(options{monitor = "loss", max_batches = 10, out = temporary.path "loss"})
  lu.assertStrMatches(ladies.file.read(temporary.path "loss" .. "/curve.tsv"),
    "batch\tseconds\tloss\tvalidation loss\n.*")
  lu.assertErrorMsgContains("has no metric", ladies.train, options{monitor = "losses"})
end

return tests
