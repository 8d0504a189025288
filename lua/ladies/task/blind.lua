--- Makes the predictions of a guess that reads neither features nor graph, only the targets of the
-- training units, with which a model's metrics are compared (`blind` of ladies.task.new).

local core = require "ladies_core"
local medians = require "ladies.statistics.medians"
local options = require "ladies.base.options"
local tables = require "ladies.base.tables"

local blind = {}

-- Returns the number that occurs most often in an Index, of several the smallest, and how many
-- occur as often.
local function most_frequent(classes)
  local best, ties, count = 1, 0, classes:counts(classes:max())
  for class, n in ipairs(count) do
    if n > count[best] then best, ties = class, 0 end
    if n == count[best] then ties = ties + 1 end
  end
  return best, ties
end

--- blind.class(classes: Index, train: Index, unit: string) -> function: predicts the class that
-- most training units have. classes: that of each unit.
function blind.class(classes, train, unit)
  return function(units)
    local class, ties = most_frequent(classes[train])
    return core.range(1, #units) * 0 + class, ("the %s of most training %ss, for all"):format(
      ties == 1 and "class" or ("first of %d classes"):format(ties), unit)
  end
end

--- blind.classes(classes: Tensor, train: Index, unit: string) -> function: predicts for units with
-- any number of classes each the same ones, the most frequent among training units: as many as give
-- these the highest micro-F1. classes: a row of 0 and 1 for each unit.
function blind.classes(classes, train, unit)
  return function(units)
    local counts = classes[train]:sum(1):to_table()
    local order, all = {}, 0
    for class, n in ipairs(counts) do order[class], all = class, all + n end
    table.sort(order, function(a, b)
      if counts[a] ~= counts[b] then return counts[a] > counts[b] end
      return a < b
    end)
    local best, most, right = 0, 0, 0
    for i, class in ipairs(order) do
      right = right + counts[class]
      local f1 = 2 * right / (i * #train + all)
      if f1 > most then best, most = i, f1 end
    end
    local row = tables.repeated(0, #order)
    for i = 1, best do row[order[i]] = 1 end
    return core.zeros(#units, #order) + core.tensor(row),
      ("the %d most frequent classes of training %ss, for all"):format(best, unit)
  end
end

-- Returns the median of an array of numbers, of which unknown ones (NaN) are left out; 0 of none.
local function median(values)
  local known = {}
  for _, x in ipairs(values) do
    if x == x then known[#known + 1] = x end
  end
  return medians.of(known) or 0
end

--- blind.median(targets: Tensor, train: Index, unit: string) -> function: predicts the median of
-- the training units' targets, of each column for itself: no other number for all is closer to
-- them, as the mean absolute error measures it.
function blind.median(targets, train, unit)
  return function(units)
    local known, n = targets[train], #units
    local is = ("the median of the targets of training %ss, for all"):format(unit)
    if targets.ndim == 1 then return core.full(n, median(known:to_table())), is end
    local row = tables.map(known:transpose():to_table(), median)
    return core.zeros(n, #row) + core.tensor(row), is
  end
end

--- blind.ranks(counts: function, among: string) -> function: every rank once, since the rank of an
-- edge whose score says nothing is each with the same probability. counts(units) -> integer[]: how
-- many candidates each ranked edge has.
function blind.ranks(counts, among)
  return function(units)
    local times, n = {}, 0
    for _, count in ipairs(counts(units)) do
      times[count], n = (times[count] or 0) + 1, n + 1
    end
    local parts = tables.map(tables.sorted_keys(times), function(count)
      return {share = times[count] / n, predicted = core.range(1, count + 1):to_tensor()}
    end)
    return parts, ("any rank among %s candidates, by chance"):format(among)
  end
end

--- blind.values(task: Task, units: Index) -> {is = string, test = table}: the metrics of what the
-- task predicts without features and graph, but for those that are not of predictions or NaN. Where
-- it predicts several things, an array of {share =, predicted =}, metrics are the weighted means.
function blind.values(task, units)
  local where = task.name .. ": blind"
  local predicted, is = task.blind(units)
  if predicted == nil then options.value(where, "what it returns", nil, "Index or Tensor") end
  options.value(where, "what it returns second, which says what it is,", is, "string")
  local names, found = {}, {}
  for _, metric in ipairs(task.metrics) do
    if not metric.scores then names[#names + 1] = metric.name end
  end
  local is_parts = type(predicted) == "table" and not options.class_of(predicted)
    and predicted[1] and predicted[1].share
  for _, part in ipairs(is_parts and predicted or {{share = 1, predicted = predicted}}) do
    for name, value in pairs(task:values(part.predicted, part.predicted, units, names)) do
      found[name] = (found[name] or 0) + part.share * value
    end
  end
  for name, value in pairs(found) do
    if value ~= value then found[name] = nil end
  end
  return {is = is, test = found}
end

return blind
