--- Formats metrics for readers: the short name, whether in percent, and which number in the record
-- of a finished run it is. Records (ladies.summary) have this in the fields monitor, mode and
-- percent; records of older versions lack them and are of node classification.

local tables = require "ladies.base.tables"

local metric_text = {}

local OF_CLASSES = "micro-F1"

--- Returns a metric, {name =, mode =, percent =}, as {name =, mode =, percent =, short = (in the
-- head of a table), csv = (in the head of a file), scale = 100 for percent, head = " %" for it or
-- "", format = of numbers in tables}.
function metric_text.of(metric)
  local short = metric.name:gsub("^micro%-", "")
  return {name = metric.name, mode = metric.mode or "max", percent = metric.percent or false,
    short = short, csv = short:lower():gsub("[^%w]+", "_"), scale = metric.percent and 100 or 1,
    head = metric.percent and " %" or "", format = metric.percent and "%.2f" or "%.4f"}
end

--- Returns the metric that tables show for the record of a run: the monitored one if the test has
-- it too, otherwise the first metric of the task.
function metric_text.of_record(record)
  local name = record.measure or OF_CLASSES
  if metric_text.tests(record)[record.monitor] then name = record.monitor end
  return metric_text.of{name = name, mode = record.mode,
    percent = record.percent or record.measure == nil}
end

--- Returns the metrics of a record on the test units, by name; an empty table where there were
-- none.
function metric_text.tests(record)
  return record.test or {[OF_CLASSES] = record.test_f1, ["macro-F1"] = record.test_macro_f1}
end

--- Returns a metric's validation value in a record, nil where it has none.
function metric_text.validation(record, name)
  if record.monitor == name then return record.best_value end
  return name == OF_CLASSES and record.val_f1 or nil
end

--- Returns the validation values of a metric (a result of metric_text.of) in some records, scaled
-- as they are shown; false where a record has none.
function metric_text.validations(records, shown)
  return tables.map(records, function(record)
    local value = metric_text.validation(record, shown.name)
    return value and shown.scale * value or false
  end)
end

--- Returns the metrics of a guess without features and graph on some units of a task, as "micro-F1
-- 0.3333, macro-F1 0.1667: what it is"; nil where the task has no such guess.
function metric_text.blind(task, units)
  local found, parts = task:blind_values(units), {}
  for _, metric in ipairs(task.metrics) do
    local value = found and found.test[metric.name]
    parts[#parts + 1] = value and ("%s %.4f"):format(metric.name, value)
  end
  return parts[1] and ("%s: %s"):format(table.concat(parts, ", "), found.is)
end

--- Formats a value, in percent with `digits` decimals, otherwise with four.
function metric_text.value(value, percent, digits)
  if not value or value ~= value then return "-" end
  if percent then return ("%%.%df %%%%"):format(digits or 2):format(100 * value) end
  return ("%.4f"):format(value)
end

return metric_text
