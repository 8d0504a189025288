--- Measures how well a sampler trains: the metric of the task after a budget of batches or seconds,
-- over several seeds.

local counted = require("ladies.base.units").counted
local experiment = require "ladies.experiment"
local metric_text = require "ladies.task.metric_text"
local statistics = require "ladies.statistics"
local tables = require "ladies.base.tables"

local training = {}

-- Returns the numbers that are taken from a finished run whose task has a metric, as {name, label,
-- function(result)}.
local function numbers_of(shown)
  return {
    {"val_" .. shown.csv, "validation " .. shown.name, function(result)
      return metric_text.validation(result, shown.name)
    end},
    {"test_" .. shown.csv, "test " .. shown.name, function(result)
      return metric_text.tests(result)[shown.name]
    end},
  }
end

-- Returns the settings of a run: the subject's, with the budget as the end of training.
local function settings_of(subject, budget, seed)
  return tables.merged(subject.config, {seed = seed, patience = 0, epochs = 1 << 30,
    max_batches = budget.batches, max_seconds = budget.seconds})
end

-- Returns a budget as text, "200 batches" or "10 seconds".
local function text_of(budget)
  return budget.batches and counted(budget.batches, "batch", "batches")
    or counted(budget.seconds, "second")
end

--- Trains a subject, which must have settings, with the seeds 1 to budget.seeds for budget.batches,
-- or for budget.seconds of its own time. Returns lists by "training.val_f1" and "training.test_f1",
-- or whatever its short name is, and `shown` (see ladies.task.metric_text).
function training.run(subject, data, budget)
  local columns = {}
  for seed = 1, budget.seeds do
    local result = experiment.run(settings_of(subject, budget, seed), data, {quiet = true})
    columns.shown = columns.shown or metric_text.of_record(result)
    for _, number in ipairs(numbers_of(columns.shown)) do
      local key, value = "training." .. number[1], number[3](result)
      if value then
        columns[key] = columns[key] or {}
        table.insert(columns[key], value)
      end
    end
  end
  return columns
end

--- Makes the findings of these lists; first: the lists of the sampler with which others are
-- compared, trained with the same seeds, and its title, or nil.
function training.findings(columns, budget, first, title)
  local list, shown = {}, columns.shown
  local format = shown.percent and "%.2f %%" or "%.4f"
  local better, worse = "Better, with the same seeds.", "Worse, with the same seeds."
  if shown.mode == "min" then better, worse = worse, better end
  for _, number in ipairs(numbers_of(shown)) do
    local key, label = "training." .. number[1], number[2]
    local column = columns[key]
    if column and #column > 1 then
      list[#list + 1] = tables.merged({key = key, section = "training", format = format,
        scale = shown.scale, label = ("%s after %s"):format(label, text_of(budget))},
        statistics.interval(column))
      if first and first[key] then
        local x = statistics.interval(statistics.differences(column, first[key]))
        list[#list + 1] = tables.merged({key = key .. "_difference", section = "training",
          format = format, scale = shown.scale, label = ("%s less that of %s"):format(label, title),
          sentence = x.low > 0 and better or x.high < 0 and worse
            or "These seeds do not tell which is better."}, x)
      end
    end
  end
  return list
end

return training
