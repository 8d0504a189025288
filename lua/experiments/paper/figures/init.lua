--- The paper's figures and their like, drawn from repeated runs that are kept: F1 over batches,
-- epochs and seconds, against the number of samples and against depth.

local carry_out = require "ladies.study.carry_out"
local cases = require "experiments.paper.figures.cases"
local declared = require "experiments.options"
local drawn = require "experiments.paper.figures.drawn"
local methods = require "ladies.experiment.methods"
local protocol = require "experiments.paper.protocol"
local run_folder = require "ladies.training.record.run_folder"
local settings_text = require("ladies.experiment.settings").text
local statistics = require "ladies.statistics"
local Table = require "ladies.report.table"
local tables = require "ladies.base.tables"
local usable_data = require "ladies.study.usable_data"

local WHERE = "experiments.paper.figures"

local SPREADS = {
  deviation = "bands are one standard deviation each way",
  interval = "bars are 95 % intervals of the mean by Student's t",
}

-- ---------------------------------------------------------------- what is run

-- A figure on a data set is a panel. Returns those that are wanted.
local function panels_wanted(opts)
  local panels = {}
  for _, name in ipairs(opts.figures) do
    local figure = drawn[name]
    for _, path in ipairs(opts.datasets or figure.datasets) do
      local dataset = run_folder.plain(path)
      panels[#panels + 1] = {figure = figure, name = name .. "-" .. dataset, path = path,
        dataset = dataset, cases = figure.cases(dataset)}
    end
  end
  return panels
end

-- ---------------------------------------------------------------- what came out

-- Returns a sentence on the settings that all runs have in common.
local function settings_note(opts)
  local own = next(opts.settings) and "; over these, " .. settings_text(opts.settings) or ""
  return ("Preset %s with the paper's protocol: %s%s. What a figure changes is said above; all "
    .. "settings of a run are in results.jsonl."):format(opts.preset,
    settings_text(protocol.settings ""), own)
end

-- Returns a table with a line of numbers for each point of a picture.
local function numbers_of(name, dataset, drawing)
  local results = Table.new{"figure", "dataset", "series", "x", "f1", "deviation", "half_width",
    "runs"}
  for _, series in ipairs(drawing.series) do
    for _, point in ipairs(series.points) do
      local n = #point.values
      results:add{name, dataset, series.name, ("%.9g"):format(point[1]), point[2],
        n > 1 and statistics.deviation(point.values) or "",
        n > 1 and statistics.half_width(point.values) or "", n}
    end
  end
  return results
end

-- Adds the pictures of a panel, and their numbers.
local function add_panel(report, panel)
  for _, drawing in ipairs(panel.figure.pictures(panel.cases)) do
    local name = drawing.name and panel.name .. "-" .. drawing.name or panel.name
    drawing.name, drawing.title = nil, panel.dataset .. ": " .. panel.figure.title
    report:picture(name, drawing, true)
    report:csv(numbers_of(name, panel.dataset, drawing))
  end
end

-- ---------------------------------------------------------------- the whole

local DECLARED = {
  where = WHERE, name = "figures", title = "Figures, preset {preset}",
  folder = "runs/figures-{preset}", identity = "figures, preset {preset}",
  of_classes = true,
  options = declared.types "figures",
}

-- Returns the panels whose data set is here, and a line about each data set that is not.
function DECLARED.data(opts)
  local panels = panels_wanted(opts)
  local wanted, seen, is_here, list = {}, {}, {}, {}
  for _, panel in ipairs(panels) do
    if not seen[panel.path] then wanted[#wanted + 1] = panel.path end
    seen[panel.path] = true
  end
  local here, notes = usable_data(WHERE, wanted)
  for _, path in ipairs(here) do is_here[path] = true end
  for _, panel in ipairs(panels) do
    if is_here[panel.path] then list[#list + 1] = panel end
  end
  return list, notes
end

-- Returns the cases of all panels, as they are trained; and the panels.
function DECLARED.cases(opts, panels)
  local all, paths = {}, {}
  for _, panel in ipairs(panels) do
    tables.append(all, panel.cases)
    tables.append(paths, tables.repeated(panel.path, #panel.cases))
  end
  local plain = tables.map(all, function(case) return case.method end)
  for i, common in ipairs(methods.share(WHERE, plain, opts.settings)) do
    cases.configure(all[i], paths[i], opts.preset, common)
  end
  return all, panels
end

function DECLARED.show(report, _, opts, panels)
  local figure
  for _, panel in ipairs(panels) do
    if panel.figure ~= figure then
      figure = panel.figure
      report:heading(figure.title)
      report:text(("%s %s."):format(figure.about, opts.runs == 1 and "One run"
        or ("Means over %d runs; %s"):format(opts.runs, SPREADS[figure.spread])))
    end
    add_panel(report, panel)
  end
end

function DECLARED.notes(_, opts) return {settings_note(opts)} end

--- experiments.paper.figures{preset = "default", figures = {"depth"}, runs = 5} -> table: draws the
-- figures, with runs of the seeds 1, 2, ... Returns a report (see ladies.report).
-- preset     default, paper or code: see ladies.presets
-- figures    sample_curves   test F1 over batches, by number of samples
--            epochs          training, validation and test F1 per epoch, full batch and LADIES
--            convergence     test F1 by method, over batches and over seconds
--            samples         test F1 against number of samples, LADIES and FastGCN
--            depth           test F1 against 2 to 10 layers
--            (all of them)
-- runs       5
-- datasets   names or paths, for all figures; by default PubMed for the first two, and Cora,
--            Citeseer and PubMed for the others
-- settings   of ladies.experiment, over those of the protocol and the preset, for all methods that
--            take them
-- jobs       runs side by side (as many as there are cores), each with `threads` threads (1)
-- out        the folder of the study (runs/figures-PRESET-1), which goes on where it was stopped;
--            a run that two figures need is trained once
-- quiet      no progress
local function figures(given) return carry_out(DECLARED, given) end

return figures
