--- A finished run as one page of HTML (ladies.report.page): what it came to, its curves, which
-- classes the model takes for which, the nodes that it is most wrong about, and how it was
-- configured.

local core = require "ladies_core"
local curve = require "ladies.training.curve"
local grouped = require "ladies.base.grouped"
local json = require "ladies.base.json"
local label_kinds = require "ladies.data.labels"
local metrics = require "ladies.evaluation.metrics"
local own_folder = require "ladies.base.own_folder"
local Page = require "ladies.report.page"
local plot = require "ladies.report.plot"
local settings = require "ladies.experiment.settings"
local summaries = require "ladies.training.summary"
local svg = require "ladies.report.svg"
local tables = require "ladies.base.tables"

local MOST_CLASSES, MOST_PAIRS, MOST_NODES = 60, 15, 50

local function percent(x) return x == x and ("%.1f"):format(100 * x) or "-" end

local function class_name(data, class)
  return data.class_names and data.class_names[class] or ("class %d"):format(class)
end

-- What read_file(folder, name) gives of a file in the run's folder, {} where there is none.
local function read(run, name, read_file)
  local folder = own_folder.at(run.path)
  return folder:has(name) and read_file(folder, name) or {}
end

-- ---------------------------------------------------------------- what it came to

local function add_card(page, i, value, name)
  page:add('<article class="%s"><h2>%s</h2>\n<p>%s</p></article>', Page.colour(i), svg.text(value),
    svg.text(name))
end

local function add_cards(page, found, part, summary)
  page:add '<div class="cards brief">'
  add_card(page, 1, percent(found.micro) .. " %", part .. " micro-F1")
  add_card(page, 2, percent(found.macro) .. " %", part .. " macro-F1")
  if summary.best_value and summary.best_batch then
    add_card(page, 3, ("%.4f"):format(summary.best_value), ("best validation %s, after batch %d")
      :format(summary.monitor or "value", summary.best_batch))
  end
  if summary.seconds and summary.batches then
    add_card(page, 4, ("%.1f s"):format(summary.seconds), ("of training: %s batches, %.2f ms each")
      :format(grouped(summary.batches), summary.batch_ms or 0 / 0))
  end
  page:add "</div>"
end

local function add_curves(page, run, summary)
  local name = summary.monitor or "micro-F1"
  local rows = read(run, "log.jsonl", function(folder, log)
    return curve.read(folder:file(log), name)
  end)
  if #rows < 2 then return end
  page:heading "Curves"
  page:add '<div class="figures">'
  page:figure(curve.figure(rows, "over batches", name).plot)
  local points = tables.map(rows, function(row) return {row.seconds, row.value} end)
  page:figure(plot.figure{title = "over seconds of training", x = "seconds",
    y = "validation " .. name, series = {{name = "validation " .. name, points = points}}}.plot)
  page:add "</div>"
end

-- ---------------------------------------------------------------- what it predicts

-- counts[truth][predicted] of nodes that have one class; of others only how many nodes have a class
-- (truth), were given it (predicted), and both (correct).
local function counts_of(data, predicted, labels)
  local truth, given, correct = {}, {}, {}
  if data.multilabel then
    return {truth = labels:col_sums():to_table(), given = predicted:col_sums():to_table(),
      correct = (labels * predicted):col_sums():to_table()}
  end
  local confusion = metrics.confusion(predicted, labels, data.classes)
  for class, row in ipairs(confusion) do
    truth[class], given[class], correct[class] = 0, 0, row[class]
    for other, count in ipairs(row) do
      truth[class], given[class] = truth[class] + count, given[class] + confusion[other][class]
    end
  end
  return {truth = truth, given = given, correct = correct, confusion = confusion}
end

-- How wrong each row of the logits is: minus the logarithm of the probability of what is true.
local function losses_of(data, logits, labels)
  if data.multilabel then
    local p = logits:sigmoid():clamp(1e-7, 1 - 1e-7)
    return (-(labels * p:log() + (1 - labels) * (1 - p):log())):row_sums():to_table()
  end
  local logarithms, list = logits:log_softmax(), {}
  for i = 1, #labels do list[i] = -logarithms:get(i, labels[i]) end
  return list
end

-- What the model makes of the labelled nodes of a part of the split.
local function findings(run, part)
  local data, nodes = run.data, run:nodes(part)
  local known = core.sampling.find(label_kinds.labelled(data.labels), nodes)
  nodes = nodes[known:above(0):positions()]
  local logits, labels = run:logits(nodes), data.labels[nodes]
  local predicted = label_kinds.kind_of(data.labels).predict(logits)
  return {nodes = nodes, labels = labels, logits = logits, predicted = predicted,
    counts = counts_of(data, predicted, labels), losses = losses_of(data, logits, labels),
    micro = metrics.micro_f1(predicted, labels), macro = metrics.macro_f1(predicted, labels)}
end

-- ---------------------------------------------------------------- classes

local function add_heat_map(page, data, confusion)
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
    title = "Nodes of a class that are taken for each, in %", width = math.max(480, 260 + 16 * n),
    height = math.max(300, 190 + 15 * n)}).plot)
  page:add "</div>"
end

-- The class that the nodes of one are most often taken for, besides itself, and how many are.
local function taken_for(confusion, class)
  local best, most = nil, 0
  for other, count in ipairs(confusion[class]) do
    if other ~= class and count > most then best, most = other, count end
  end
  return best, most
end

local function add_classes(page, data, counts)
  local head, rows = {"class", "nodes", "F1 %", "precision %", "recall %"}, {}
  if counts.confusion then head[6] = "most often taken for" end
  for class = 1, data.classes do
    local truth, given, correct = counts.truth[class], counts.given[class], counts.correct[class]
    local row = {class_name(data, class), grouped(truth // 1 | 0),
      percent(2 * correct / (truth + given)), percent(correct / given), percent(correct / truth)}
    local other, n = nil, 0
    if counts.confusion then other, n = taken_for(counts.confusion, class) end
    if counts.confusion then
      row[6] = other and ("%s, %s times"):format(class_name(data, other), grouped(n)) or "-"
    end
    rows[class] = row
  end
  page:add("<details%s><summary>Each class</summary>", data.classes <= 12 and " open" or "")
  page:table(head, rows)
  page:add "</details>"
end

local function add_pairs(page, data, confusion)
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
  page:table({"class", "taken for", "nodes"}, rows)
end

-- ---------------------------------------------------------------- nodes

-- The classes that a row of 0 and 1 marks, or the one, in words.
local function classes_in_words(data, labels, i)
  if not data.multilabel then return class_name(data, labels[i]) end
  local words = {}
  for class = 1, data.classes do
    if labels:get(i, class) == 1 then words[#words + 1] = class_name(data, class) end
  end
  return #words > 0 and table.concat(words, ", ") or "none"
end

local function add_nodes(page, data, found)
  local order, rows = {}, {}
  for i = 1, #found.losses do order[i] = i end
  table.sort(order, function(a, b)
    if found.losses[a] ~= found.losses[b] then return found.losses[a] > found.losses[b] end
    return a < b
  end)
  local degrees = data.graph:degrees()
  for k = 1, math.min(#order, MOST_NODES) do
    local i = order[k]
    local id = found.nodes[i]
    rows[k] = {data.node_names and data.node_names[id] or ("node %d"):format(id),
      classes_in_words(data, found.labels, i), classes_in_words(data, found.predicted, i),
      ("%.2g"):format(math.exp(-found.losses[i])), grouped(degrees[id] // 1 | 0)}
  end
  page:heading "The hardest nodes"
  page:paragraph(("Those of whose true %s the model thinks least."):format(data.multilabel
    and "classes, all together," or "class"))
  page:table({"node", "class", "predicted", "probability of the truth", "neighbours"}, rows)
end

-- ---------------------------------------------------------------- how it was made

local function add_configuration(page, run)
  local config, rows = run.config, {}
  for i, name in ipairs(config and settings.names(config) or {}) do
    rows[i] = {name, settings.show(config[name])}
  end
  if not config then
    local own = read(run, "config.json", function(folder, name)
      return folder:read_json(name)
    end)
    for i, name in ipairs(tables.sorted_keys(own)) do
      rows[i] = {name, type(own[name]) == "table" and json.encode(own[name]) or tostring(own[name])}
    end
  end
  if not rows[1] then return end
  page:add "<details><summary>Configuration</summary>"
  page:table({"setting", "value"}, rows)
  page:add "</details>"
end

--- The text of SavedRun:page.
return function(run, part)
  local data, summary, page = run.data, read(run, "summary.json", summaries.stored), Page.new()
  part = part or (data.test and #data.test > 0 and "test" or "val")
  local found = findings(run, part)
  local title = ("%s on %s"):format(summary.method or "a run", data.name)
  page:add("<header>\n<h1>%s</h1>", svg.text(title))
  page:paragraph(("%s. %s nodes of the part %s, exact inference.%s"):format(run.path,
    grouped(#found.nodes), part,
    summary.stopped and (" The run was ended by %s."):format(summary.stopped) or ""))
  page:add "</header>"
  add_cards(page, found, part, summary)
  add_curves(page, run, summary)
  page:heading "Classes"
  if found.counts.confusion then
    add_heat_map(page, data, found.counts.confusion)
    add_pairs(page, data, found.counts.confusion)
  end
  add_classes(page, data, found.counts)
  add_nodes(page, data, found)
  page:heading "How it was made"
  page:paragraph(summary.numerics and ("Computed by %s."):format(summary.numerics) or "")
  add_configuration(page, run)
  return page:text(title)
end
