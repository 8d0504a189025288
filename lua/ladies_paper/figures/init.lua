--- The paper's figures and their like, drawn from repeated runs that are kept: F1 over batches,
-- epochs and seconds, against the number of samples and against depth.
--
-- A figure is a file of lua/ladies_paper/figures/:
--
--   title, about         its heading, and what is drawn
--   spread               of the points: "deviation" or "interval" (see SPREADS)
--   datasets             of which it is drawn by default
--   cases(dataset)       what must be trained for it (see ladies_paper.figures.cases)
--   pictures(cases)      plots for ladies.plot, without a title; `name` tells those of one data set
--                        apart. Their points are those of ladies_paper.figures.points.

local cases = require "ladies_paper.figures.cases"
local methods = require "ladies.experiment.methods"
local options = require "ladies.base.options"
local protocol = require "ladies_paper.protocol"
local provenance = require "ladies.report.provenance"
local repeated = require "ladies.study.repeated"
local run_folder = require "ladies.training.run_folder"
local settings_text = require("ladies.experiment.settings").text
local statistics = require "ladies.report.statistics"
local Study = require "ladies.study"
local Table = require "ladies.report.table"
local tables = require "ladies.base.tables"
local usable_data = require "ladies.study.usable_data"

local WHERE = "ladies_paper.figures"

-- In the order of the document.
local NAMES = {"sample_curves", "epochs", "convergence", "samples", "depth"}

local FIGURES = {
  sample_curves = require "ladies_paper.figures.sample_curves",
  epochs = require "ladies_paper.figures.epochs",
  convergence = require "ladies_paper.figures.convergence",
  samples = require "ladies_paper.figures.samples",
  depth = require "ladies_paper.figures.depth",
}

local SPREADS = {
  deviation = "bands are one standard deviation each way",
  interval = "bars are 95 % intervals of the mean by Student's t",
}

-- ---------------------------------------------------------------- what is run

-- A figure on a data set is a panel. Returns those that are wanted.
local function panels_wanted(opts)
  local panels = {}
  for _, name in ipairs(opts.figures) do
    local figure = FIGURES[name]
    for _, path in ipairs(opts.datasets or figure.datasets) do
      local dataset = run_folder.plain(path)
      panels[#panels + 1] = {figure = figure, name = name .. "-" .. dataset, path = path,
        dataset = dataset, cases = figure.cases(dataset)}
    end
  end
  return panels
end

-- Those of the panels whose data set is here, and a line about each data set that is not.
local function panels_here(panels)
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

-- The cases of all panels, as they are trained.
local function cases_of(panels, opts)
  local all, paths = {}, {}
  for _, panel in ipairs(panels) do
    tables.append(all, panel.cases)
    tables.append(paths, tables.repeated(panel.path, #panel.cases))
  end
  local plain = tables.map(all, function(case) return case.method end)
  for i, common in ipairs(methods.share(WHERE, plain, opts.settings)) do
    cases.configure(all[i], paths[i], opts.preset, common)
  end
  return all
end

-- ---------------------------------------------------------------- what came out

-- A sentence on the settings that all runs have in common.
local function settings_note(opts)
  local own = next(opts.settings) and "; over these, " .. settings_text(opts.settings) or ""
  return ("Preset %s with the paper's protocol: %s%s. What a figure changes is said above; all "
    .. "settings of a run are in results.jsonl."):format(opts.preset,
    settings_text(protocol.settings ""), own)
end

-- A line of numbers for each point of a picture.
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

local function report_of(opts, panels, study)
  local report = study:report("figures", "Figures, preset " .. opts.preset)
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
  return report
end

-- ---------------------------------------------------------------- the whole

--- ladies_paper.figures{preset = "default", figures = {"depth"}, runs = 5} -> table: draws the
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
local function figures(given)
  local opts = options.check(WHERE, given, Study.options{
    preset = {"default|paper|code", "default"},
    figures = {"array of " .. table.concat(NAMES, "|"), NAMES}, runs = {"positive integer", 5},
    datasets = "array of strings or nil",
  })
  local panels, notes = panels_here(panels_wanted(opts))
  local all = cases_of(panels, opts)
  local identity = "figures, preset " .. opts.preset
  local study = Study.at(opts.out, "runs/figures-" .. opts.preset, identity)
  local records = repeated(study, all, opts, notes)
  local report = report_of(opts, panels, study)
  report:note(provenance.runs(study, records), settings_note(opts), table.unpack(notes))
  return report:write()
end

return figures
