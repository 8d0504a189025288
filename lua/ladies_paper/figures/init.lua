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
local machine = require "ladies.base.machine"
local methods = require "ladies.experiment.methods"
local options = require "ladies.base.options"
local plot = require "ladies.report.plot"
local protocol = require "ladies_paper.protocol"
local provenance = require "ladies.report.provenance"
local run_folder = require "ladies.training.run_folder"
local section = require "ladies.report.section"
local settings_text = require("ladies.experiment.settings").text
local statistics = require "ladies.report.statistics"
local Study = require "ladies.study"
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
  local paths, is_here, list = {}, {}, {}
  for _, panel in ipairs(panels) do
    if is_here[panel.path] == nil then
      paths[#paths + 1], is_here[panel.path] = panel.path, false
    end
  end
  local here, notes = usable_data(WHERE, paths)
  for _, path in ipairs(here) do is_here[path] = true end
  for _, panel in ipairs(panels) do
    if is_here[panel.path] then list[#list + 1] = panel end
  end
  return list, notes
end

-- Gives the cases of all panels their settings.
local function configure(panels, opts)
  local all, names = {}, {}
  for _, panel in ipairs(panels) do
    for _, case in ipairs(panel.cases) do
      all[#all + 1], names[#names + 1] = {case, panel.path}, case.method
    end
  end
  for i, common in ipairs(methods.share(WHERE, names, opts.settings)) do
    local case, path = table.unpack(all[i])
    cases.configure(case, path, opts.preset, common)
  end
end

-- All runs, seed by seed; case.keys become those of a case.
local function runs_of(panels, n)
  local runs = {}
  for seed = 1, n do
    for _, panel in ipairs(panels) do
      for _, case in ipairs(panel.cases) do
        local run = cases.run(case, panel.dataset, seed)
        case.keys = case.keys or {}
        case.keys[seed] = run.key
        runs[#runs + 1] = run
      end
    end
  end
  return runs
end

-- Gives every case its records; a run that failed has none.
local function collect(panels, study)
  for _, panel in ipairs(panels) do
    for _, case in ipairs(panel.cases) do
      case.records = {}
      for _, key in ipairs(case.keys) do
        case.records[#case.records + 1] = study:record(key)
      end
    end
  end
end

-- ---------------------------------------------------------------- what came out

-- A sentence on the settings that all runs have in common.
local function settings_note(opts)
  local own = next(opts.settings) and "; over these, " .. settings_text(opts.settings) or ""
  return ("Preset %s with the paper's protocol: %s%s. What a figure changes is said above; all "
    .. "settings of a run are in results.jsonl."):format(opts.preset,
    settings_text(protocol.settings ""), own)
end

-- The pictures of a panel as files of the folder: {name =, plot =, files =}.
local function draw(panel, folder)
  local list = panel.figure.pictures(panel.cases)
  for i, drawing in ipairs(list) do
    local name = drawing.name and panel.name .. "-" .. drawing.name or panel.name
    drawing.name, drawing.title = nil, panel.dataset .. ": " .. panel.figure.title
    list[i] = {name = name, plot = drawing, files = plot.files(folder:file(name), drawing)}
  end
  return list
end

-- A line of numbers for each point of each picture.
local function csv_rows(panels)
  local rows = {{"figure", "dataset", "series", "x", "f1", "deviation", "half_width", "runs"}}
  for _, panel in ipairs(panels) do
    for _, picture in ipairs(panel.pictures) do
      for _, series in ipairs(picture.plot.series) do
        for _, point in ipairs(series.points) do
          rows[#rows + 1] = {picture.name, panel.dataset, series.name, ("%.9g"):format(point[1]),
            point[2], #point.values > 1 and statistics.deviation(point.values) or "",
            #point.values > 1 and statistics.half_width(point.values) or "",
            #point.values}
        end
      end
    end
  end
  return rows
end

-- The section: each figure with its pictures.
local function parts_of(panels, opts, notes)
  local parts, figure = {("## Figures, preset %s"):format(opts.preset)}, nil
  for _, panel in ipairs(panels) do
    if panel.figure ~= figure then
      figure = panel.figure
      parts[#parts + 1] = "### " .. figure.title
      parts[#parts + 1] = ("%s %s."):format(figure.about, opts.runs == 1 and "One run"
        or ("Means over %d runs; %s"):format(opts.runs, SPREADS[figure.spread]))
    end
    for _, picture in ipairs(panel.pictures) do
      local svg = picture.files[1]
      if svg then parts[#parts + 1] = ("![%s](%s)"):format(picture.plot.title, svg) end
    end
  end
  return table.move(notes, 1, #notes, #parts + 1, parts)
end

local Figures = {__name = "ladies.Figures"}

--- The pictures as text.
function Figures.__tostring(self)
  local texts = {}
  for i, picture in ipairs(self.pictures) do
    local text, complaint = plot.text(picture.plot)
    texts[i] = text or ("%s: %s"):format(picture.plot.title, complaint)
  end
  return table.concat(texts, "\n")
end

-- Writes figures.md, figures.csv and the pictures; returns the result.
local function write(opts, panels, study, records, notes)
  local folder = study.folder
  local result = {folder = folder.path, files = {"results.jsonl", "figures.csv", "figures.md"},
    failed = study.failed, pictures = {},
    notes = {provenance.runs(study, records), settings_note(opts)}}
  table.move(notes, 1, #notes, #result.notes + 1, result.notes)
  for _, panel in ipairs(panels) do
    panel.pictures = draw(panel, folder)
    for _, picture in ipairs(panel.pictures) do
      result.pictures[#result.pictures + 1] = picture
      table.move(picture.files, 1, #picture.files, #result.files + 1, result.files)
    end
  end
  section.write(folder:file "figures.md", parts_of(panels, opts, result.notes))
  section.write_csv(folder:file "figures.csv", csv_rows(panels))
  return setmetatable(result, Figures)
end

-- ---------------------------------------------------------------- the whole

--- ladies_paper.figures{preset = "default", figures = {"depth"}, runs = 5}: draws the figures, with
-- runs of the seeds 1, 2, ... Returns a table whose tostring is the pictures as text, with
-- `pictures` ({name =, plot = options of ladies.plot, files =}), `notes`, `files`
-- and `failed`, the number of runs that failed.
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
  local opts = options.check(WHERE, given, {
    preset = {"default|paper|code", "default"},
    figures = {"array of " .. table.concat(NAMES, "|"), NAMES}, runs = {"positive integer", 5},
    datasets = "array of strings or nil", settings = {"table", {}},
    jobs = {"positive integer", machine.cores}, threads = {"positive integer", 1},
    out = "string or nil", quiet = {"boolean", false},
  })
  local panels, notes = panels_here(panels_wanted(opts))
  configure(panels, opts)
  local identity = "figures, preset " .. opts.preset
  local study = Study.at(opts.out, "runs/figures-" .. opts.preset, identity)
  local records = study:complete(runs_of(panels, opts.runs), opts, notes)
  collect(panels, study)
  return write(opts, panels, study, records, notes)
end

return figures
