--- A finished run as one page of HTML (ladies.report.page): what it came to, its curves, what its
-- task shows of predictions, and how it was configured.

local core = require "ladies_core"
local curve = require "ladies.training.record.curve"
local grouped = require("ladies.base.units").grouped
local json = require "ladies.base.json"
local metric_text = require "ladies.task.metric_text"
local own_folder = require "ladies.base.own_folder"
local Page = require "ladies.report.page"
local plot = require "ladies.report.plot"
local settings = require "ladies.experiment.settings"
local summaries = require "ladies.training.record.summary"
local svg = require "ladies.report.svg"
local tables = require "ladies.base.tables"

local MOST_CARDS = 2       -- of metrics

-- Reads a file in the run's folder by read_file(folder, name); returns {} where the file does not
-- exist.
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
  for i, metric in ipairs(found.task.metrics) do
    if i > MOST_CARDS then break end
    add_card(page, i, metric_text.value(found.values[metric.name], metric.percent, 1),
      ("%s %s"):format(part, metric.name))
  end
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

-- Computes the model's predictions for the units of a part that have a target.
local function findings(run, part)
  local task, units = run.task, run:units(part)
  if task.known then
    units = units[core.sampling.find(task.known(), units):above(0):positions()]
  end
  local out = run:scores(units)
  local predicted = task.predict(out, units)
  return {task = task, units = units, out = out, predicted = predicted,
    targets = task.targets(units), values = task:values(predicted, out, units)}
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

-- Tells whether a page calls units or classes by their numbers.
local function counts(run)
  local data = run.data
  return run.task.unit ~= "node" or not data.node_names or data.labels and not data.class_names
end

--- Returns the HTML text for SavedRun:page.
return function(run, part)
  local units, page = run.task.units, Page.new()
  local summary = read(run, "summary.json", summaries.stored)
  part = part or (units.test and #units.test > 0 and "test" or "val")
  local found = findings(run, part)
  local title = ("%s on %s"):format(summary.method or "a run", run.data.name)
  page:add("<header>\n<h1>%s</h1>", svg.text(title))
  page:paragraph(("%s. %s %ss of the part %s, exact inference.%s"):format(run.path,
    grouped(#found.units), run.task.unit, part,
    summary.stopped and (" The run was ended by %s."):format(summary.stopped) or ""))
  page:add "</header>"
  add_cards(page, found, part, summary)
  local guess = metric_text.blind(found.task, found.units)
  if guess then page:paragraph(("Blind: %s."):format(guess)) end
  add_curves(page, run, summary)
  if run.task.page then
    if counts(run) then
      page:paragraph "Nodes, graphs and classes without names count from 1 here, from 0 in files."
    end
    run.task.page(page, found)
  end
  page:heading "How it was made"
  page:paragraph(summary.numerics and ("Computed by %s."):format(summary.numerics) or "")
  add_configuration(page, run)
  return page:text(title)
end
