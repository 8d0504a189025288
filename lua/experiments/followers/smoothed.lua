--- Measures the test F1 of methods that spread labels over the graph: label propagation, which has
-- no network, and Correct and Smooth after a network that reads no graph.

local experiment = require "ladies.experiment"
local inference = require "ladies.evaluation.inference"
local json = require "ladies.base.json"
local label_kinds = require "ladies.data.labels"
local measured = require "ladies.study.measured"
local metrics = require "ladies.evaluation.metrics"
local run_folder = require "ladies.training.record.run_folder"
local smoothing = require "ladies.evaluation.smoothing"
local Table = require "ladies.report.table"
local tables = require "ladies.base.tables"
local test_f1 = require "ladies.study.test_f1"

local smoothed = {}

local function f1_of(logits, data)
  local predicted = label_kinds.kind_of(data.labels).predict(logits)
  return data.test and metrics.micro_f1(predicted, data.labels, data.test)
end

--- smoothed.label_propagation(study, names, opts) -> cells, by the names of the data sets: the test
-- F1 of label propagation, which is not trained. It is kept in the study.
function smoothed.label_propagation(study, names, opts)
  local items = tables.map(names, function(name)
    return {key = run_folder.plain(name) .. ", label propagation", name = name}
  end)
  local records = measured(study, items, "data set", opts.quiet, function(item)
    local data = experiment.load(experiment.configure{dataset = item.name})
    return {test_f1 = f1_of(smoothing.label_propagation(data), data)}
  end)
  local cells = {}
  for i, record in ipairs(records) do
    cells[run_folder.plain(names[i])] =
      Table.number(record.test_f1 and 100 * record.test_f1, "%.1f")
  end
  return cells
end

-- Trains with these settings, and returns the test F1 of the logits after Correct and Smooth.
local function corrected_f1(settings)
  local config = experiment.configure(settings)
  local data = experiment.load(config)
  local _, model = experiment.run(config, data, {quiet = true})
  return f1_of(smoothing.correct_and_smooth(data, inference.exact(model, data)), data)
end

-- Returns the trainings of a variant (see ladies.study.repeated) with each of the seeds; with
-- opts.kept only those that the study has.
local function items_of(study, variant, opts)
  local items = {}
  for seed = 1, opts.runs do
    local settings = tables.merged(variant.settings, {seed = seed})
    local item = {settings = settings, key = "Correct and Smooth: " .. json.encode(settings)}
    if not opts.kept or study:record(item.key) then items[#items + 1] = item end
  end
  return items
end

--- smoothed.correct_and_smooth(study, variant, opts) -> a cell of a table: test F1 of what a
-- variant trains (see ladies.study.repeated) after both steps of Correct and Smooth, with their
-- default settings and the seeds of the runs. Kept in the study.
function smoothed.correct_and_smooth(study, variant, opts)
  local records = measured(study, items_of(study, variant, opts), "run", opts.quiet,
    function(item) return {test_f1 = corrected_f1(item.settings)} end)
  return test_f1.cell{by_seed = records}
end

return smoothed
