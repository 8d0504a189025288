--- Adds the sections about classes to the page of a run: which classes the model confuses, its
-- scores for each, and the nodes on which it is most wrong.

local grouped = require("ladies.base.units").grouped
local metrics = require "ladies.evaluation.metrics"
local plot = require "ladies.report.plot"
local tables = require "ladies.base.tables"

local MOST_CLASSES, MOST_PAIRS, MOST_NODES = 60, 15, 50

local function percent(x) return x == x and ("%.1f"):format(100 * x) or "-" end

local function class_name(data, class)
  return data.class_names and data.class_names[class] or ("class %d"):format(class)
end

-- Returns how wrong each row of the logits is: minus the logarithm of the probability of the true
-- classes.
local function losses_of(data, logits, labels)
  if data.multilabel then
    local p = logits:sigmoid():clamp(1e-7, 1 - 1e-7)
    return (-(labels * p:log() + (1 - labels) * (1 - p):log())):row_sums():to_table()
  end
  local logarithms, list = logits:log_softmax(), {}
  for i = 1, #labels do list[i] = -logarithms:get(i, labels[i]) end
  return list
end

local function add_heat_map(page, data, confusion, unit)
  local n = data.classes
  if n > MOST_CLASSES then return end
  local names = {}
  for class = 1, n do names[class] = class_name(data, class) end
  local cells = tables.map(confusion, function(row)
    local sum = 0
    for _, count in ipairs(row) do sum = sum + count end
    return tables.map(row, function(count)
      return sum > 0 and count > 0 and tonumber(("%.1f"):format(100 * count / sum))
    end)
  end)
  page:add '<div class="figures">'
  page:figure(plot.heat_map(cells, {rows = names, columns = names, y = "class", x = "taken for",
    title = unit:gsub("^%l", string.upper) .. "s of a class that are taken for each, in %",
    width = math.max(480, 260 + 16 * n), height = math.max(300, 190 + 15 * n)}).plot)
  page:add "</div>"
end

-- Returns the class with which units of `class` are most often confused, and how many are.
local function taken_for(confusion, class)
  local best, most = nil, 0
  for other, count in ipairs(confusion[class]) do
    if other ~= class and count > most then best, most = other, count end
  end
  return best, most
end

local function add_classes(page, data, classes, confusion, unit)
  local head, rows = {"class", unit .. "s", "F1 %", "precision %", "recall %"}, {}
  if confusion then head[6] = "most often taken for" end
  for class, one in ipairs(classes) do
    local row = {class_name(data, class), grouped(one.nodes // 1 | 0), percent(one.f1),
      percent(one.precision), percent(one.recall)}
    if confusion then
      local other, n = taken_for(confusion, class)
      row[6] = other and ("%s, %s"):format(class_name(data, other),
        n == 1 and "once" or grouped(n) .. " times") or "-"
    end
    rows[class] = row
  end
  page:add("<details%s><summary>Each class</summary>", data.classes <= 12 and " open" or "")
  page:table(head, rows)
  page:add "</details>"
end

local function add_pairs(page, data, confusion, unit)
  local list, rows = {}, {}
  for class, row in ipairs(confusion) do
    for other, count in ipairs(row) do
      if other ~= class and count > 0 then list[#list + 1] = {class, other, count} end
    end
  end
  table.sort(list, function(a, b)
    if a[3] ~= b[3] then return a[3] > b[3] end
    return a[1] < b[1] or a[1] == b[1] and a[2] < b[2]
  end)
  for i = 1, math.min(#list, MOST_PAIRS) do
    rows[i] = {class_name(data, list[i][1]), class_name(data, list[i][2]), grouped(list[i][3])}
  end
  if not rows[1] then return end
  page:add "<h3>What is confused most often</h3>"
  page:table({"class", "taken for", unit .. "s"}, rows)
end

-- Returns the name of the class of node i or, for several classes, the names of those that its row
-- of 0 and 1 marks.
local function classes_in_words(data, labels, i)
  if not data.multilabel then return class_name(data, labels[i]) end
  local words = {}
  for class = 1, data.classes do
    if labels:get(i, class) == 1 then words[#words + 1] = class_name(data, class) end
  end
  return #words > 0 and table.concat(words, ", ") or "none"
end

local function add_nodes(page, data, found, losses)
  local order, rows = {}, {}
  for i = 1, #losses do order[i] = i end
  table.sort(order, function(a, b)
    if losses[a] ~= losses[b] then return losses[a] > losses[b] end
    return a < b
  end)
  local degrees = data.graph:degrees()
  for k = 1, math.min(#order, MOST_NODES) do
    local i = order[k]
    local id = found.units[i]
    rows[k] = {data.node_names and data.node_names[id] or ("node %d"):format(id),
      classes_in_words(data, found.targets, i), classes_in_words(data, found.predicted, i),
      ("%.2g"):format(math.exp(-losses[i])), grouped(degrees[id] // 1 | 0)}
  end
  page:heading "The hardest nodes"
  page:paragraph(("Those of whose true %s the model thinks least."):format(data.multilabel
    and "classes, all together," or "class"))
  page:table({"node", "class", "predicted", "probability of the truth", "neighbours"}, rows)
end

--- Adds these sections to a page: `found` is what ladies.task.new says of `page`.
return function(page, found)
  local data, unit = found.task.data, found.task.unit
  local losses = losses_of(data, found.out, found.targets)
  local classes = metrics.by_class(found.predicted, found.targets, data.classes)
  page:heading "Classes"
  local confusion
  if not data.multilabel then
    confusion = metrics.confusion(found.predicted, found.targets, data.classes)
    add_heat_map(page, data, confusion, unit)
    add_pairs(page, data, confusion, unit)
  end
  add_classes(page, data, classes, confusion, unit)
  if unit == "node" then add_nodes(page, data, found, losses) end
end
