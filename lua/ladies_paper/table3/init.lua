--- Table 3 of the paper, ours beside theirs: the methods on Cora, Citeseer, PubMed and Reddit, by
-- the protocol of the paper's section 5, as a study that is kept run by run.

local core = require "ladies_core"
local collection = require "ladies.data.store.collection"
local columns = require "ladies_paper.table3.columns"
local data_sets = require "ladies.data"
local experiment = require "ladies.experiment"
local generate = require "ladies.data.generate"
local machine = require "ladies.base.machine"
local markdown = require "ladies.report.markdown"
local methods = require "ladies.experiment.methods"
local options = require "ladies.base.options"
local plot = require "ladies.report.plot"
local protocol = require "ladies_paper.protocol"
local provenance = require "ladies.report.provenance"
local published = require "ladies_paper.table3.published"
local run_folder = require "ladies.training.run_folder"
local section = require "ladies.report.section"
local settings_text = require("ladies.experiment.settings").text
local statements = require "ladies_paper.table3.statements"
local Study = require "ladies.study"
local usable_data = require "ladies.study.usable_data"

local WHERE = "ladies_paper.table3"

-- What is run, of all and with --quick. `fastgcn:large` has the paper's third number of samples,
-- which depends on the data set; Cora has none.
local ALL = {"full", "graphsage:5", "fastgcn:64", "fastgcn:512", "fastgcn:large", "ladies:64",
  "ladies:512", "vrgcn:2", "clustergcn"}
local QUICK = {"full", "fastgcn:64", "ladies:64", "ladies:512"}
local LARGE = {citeseer = 1024, pubmed = 8192, reddit = 8192, ["reddit-scale"] = 8192}

local CITATIONS = {"cora", "citeseer", "pubmed"}

-- A random graph with the numbers of Reddit: nodes, entries, classes, features, splits.
local REDDIT_SCALE = protocol.REDDIT_SCALE
local function make_reddit_scale()
  return generate.power_law{
    nodes = 232965, entries = 114615892, classes = 41, features = 602,
    train = 153431 / 232965, val = 23831 / 232965,
  }
end

-- ---------------------------------------------------------------- what is run

-- "fastgcn:512" as settings; nil for a row that the data set does not have.
local function settings_of(text, dataset)
  if text == "fastgcn:large" then
    if not LARGE[dataset] then return nil end
    text = "fastgcn:" .. LARGE[dataset]
  end
  local settings = methods.parse(WHERE, text)
  -- Of the stand-in only what the paper has of Reddit: to partition it takes as long as all else.
  if dataset == REDDIT_SCALE and not published.reddit[select(2, methods.of(settings))] then
    return nil
  end
  settings.dataset = dataset
  return settings
end

-- The data sets to run, and notes about those that are not here. Reddit is not fetched unasked.
local function choose(names, quick)
  if names then
    local others, made = {}, {}
    for _, name in ipairs(names) do
      table.insert(name == REDDIT_SCALE and made or others, name)
    end
    if #others == 0 then return made, {} end
    local list, notes = usable_data(WHERE, others)
    return table.move(made, 1, #made, #list + 1, list), notes
  end
  local list, notes = usable_data(WHERE, CITATIONS)
  if quick then return list, notes end
  if collection.find "reddit" then
    list[#list + 1] = "reddit"
  else
    notes[#notes + 1] = "reddit is not here: `ladies fetch reddit` brings it, and --datasets "
      .. "cora,citeseer,pubmed,reddit-scale adds a random graph of its size, for time and memory"
  end
  return list, notes
end

-- The name or path by which a run loads a data set; the generated one is a file of the study.
local function place_of(name, folder)
  if name ~= REDDIT_SCALE then return name end
  local path = folder:file(name .. ".npz")
  if core.exists(path) ~= "file" then
    data_sets.save(make_reddit_scale(), path, {compress = false})
  end
  return path
end

-- The rows of the table, each {dataset =, title =, settings =, runs =}, by data set.
local function rows_of(opts, names, folder)
  local rows, of = {}, {}
  for _, name in ipairs(names) do
    for _, text in ipairs(opts.methods) do
      local settings = settings_of(text, name)
      if settings then
        settings.dataset, settings.preset = place_of(name, folder), opts.preset
        for key, value in pairs(protocol.settings(name)) do settings[key] = value end
        rows[#rows + 1] = {dataset = run_folder.plain(name), settings = settings, records = {},
          runs = name == REDDIT_SCALE and 1 or opts.runs}
        of[#rows] = settings.method
      end
    end
  end
  if #rows == 0 then options.fail(WHERE .. ": these data sets have no row of these methods") end
  for i, common in ipairs(methods.share(WHERE, of, opts.settings)) do
    local row = rows[i]
    for key, value in pairs(common) do row.settings[key] = value end
    row.title = select(2, methods.of(experiment.configure(row.settings)))
  end
  return rows
end

-- The runs, seed by seed, so that a table of some seeds is there as soon as can be.
local function runs_of(rows, n)
  local runs = {}
  for seed = 1, n do
    for _, row in ipairs(rows) do
      if seed <= row.runs then
        row.settings.seed = seed
        runs[#runs + 1] = {row = row, config = experiment.configure(row.settings),
          key = ("%s, %s, seed %d"):format(row.dataset, row.title, seed)}
      end
    end
  end
  return runs
end

-- ---------------------------------------------------------------- what came out

-- The settings of the first row with LADIES, which all presets are written for, or of the first, in
-- words.
local function shown_settings(rows)
  local shown = rows[1]
  for i = #rows, 1, -1 do
    if rows[i].settings.method == "ladies" then shown = rows[i] end
  end
  return settings_text(experiment.configure(shown.settings), "dataset", "method", "preset",
    "samples", "seed")
end

local function notes_of(opts, rows, study, records, notes)
  local list = {
    provenance.runs(study, records),
    ("Preset %s, LADIES: %s. Where methods have settings of their own they are in results.jsonl.")
      :format(opts.preset, shown_settings(rows)),
    [[Mean ± standard deviation over runs with the seeds 1, 2, ... The columns "paper" are those of
Zou et al., NeurIPS 2019, table 3; their times are a GPU's. "batches" and "total s", without
validation, are up to the model that is kept, as the paper's are on the citation graphs (its times
are about its batches times its time of a batch, GraphSAGE's a little more, and many batches are
fewer than the patience); "to the end s" includes the patience. "memory MB" is the paper's count,
weights and a batch's dense rows; "held MB" is what the program holds for a batch, the model and the
optimizer.]],
  }
  for _, row in ipairs(rows) do
    if #row.records < row.runs then
      list[#list + 1] = ("%s, %s: %d of %d runs."):format(row.dataset, row.title, #row.records,
        row.runs)
    end
  end
  table.move(notes, 1, #notes, #list + 1, list)
  return list
end

-- ---------------------------------------------------------------- the whole

local COMPARED = [[
F1 of a method: "above" where our mean is not below the paper's, "covered" where our 95 % interval
reaches it. Differences between methods are taken seed by seed: "holds" where ours has the sign of
the paper's, "not separated" where its interval contains zero.]]

local Table = {__name = "ladies.Table3"}

function Table.__tostring(self) return self.text end

local function heading_of(dataset)
  if dataset ~= REDDIT_SCALE then return "### " .. dataset end
  return "### " .. dataset .. ": a random graph with Reddit's numbers of nodes, edges, classes and "
    .. "features, not Reddit; one run of 100 batches or 30 s, for time and memory"
end

-- Writes table3.csv, table3.md and the pictures; returns the result.
local function write(opts, rows, names, study, records, notes)
  local folder = study.folder
  local result = {rows = rows, notes = notes_of(opts, rows, study, records, notes),
    failed = study.failed, folder = folder.path, plots = {},
    files = {"results.jsonl", "table3.csv", "table3.md"}}
  local parts, plain = {("## Table 3, preset %s"):format(opts.preset)}, {}
  local texts = {}
  for i, name in ipairs(names) do plain[i] = run_folder.plain(name) end
  for i, name in ipairs(plain) do
    local cells, drawing = columns.table(rows, name), columns.picture(rows, name)
    result.plots[i] = drawing
    local pictures = plot.files(folder:file(name), drawing)
    table.move(pictures, 1, #pictures, #result.files + 1, result.files)
    parts[#parts + 1], parts[#parts + 2] = heading_of(name), cells
    if pictures[1] then parts[#parts + 1] = ("![%s](%s)"):format(name, pictures[1]) end
    texts[i] = name .. "\n\n" .. markdown.table(cells)
  end
  local compared = statements.table(rows, plain)
  if compared then
    parts[#parts + 1], parts[#parts + 2] = "### The paper's statements on F1", compared
    parts[#parts + 1] = COMPARED
    texts[#texts + 1] = "the paper's statements on F1\n\n" .. markdown.table(compared)
  end
  table.move(result.notes, 1, #result.notes, #parts + 1, parts)
  section.write(folder:file "table3.md", parts)
  section.write_csv(folder:file "table3.csv", columns.csv(rows))
  result.text = table.concat(texts, "\n\n")
  return setmetatable(result, Table)
end

--- ladies_paper.table3{preset = "default", runs = 10}: table 3 of the paper, each method `runs`
-- times with the seeds 1, 2, ..., ours beside the paper's. Returns a table whose tostring is the
-- tables as text, with `rows` ({dataset =, title =, records =}), `notes`, `plots`, `files`
-- and `failed`, the number of runs that failed.
-- preset     default, paper or code: see ladies.presets
-- runs       10; with quick 2
-- quick      full batch, FastGCN (64) and LADIES (64, 512) alone, on the citation graphs
-- datasets   names or paths; by default cora, citeseer, pubmed and, where it is, reddit.
--            "reddit-scale" is a random graph of its size, on which each method has a single run of
--            100 batches or 30 seconds: for time and memory, not for F1
-- methods    as for ladies.compare, and fastgcn:large: the paper's 1024 or 8192 samples
-- settings   of ladies.experiment, over those of the protocol and the preset, for all methods that
--            take them
-- jobs       runs side by side (as many as there are cores), each with `threads` threads (1)
-- out        the folder of the study (runs/table3-PRESET-1), which goes on where it was stopped;
--            it may have had fewer runs or other methods before
-- quiet      no progress
local function table3(given)
  local opts = options.check(WHERE, given, {
    preset = {"default|paper|code", "default"}, runs = "positive integer or nil",
    quick = {"boolean", false}, datasets = "array of strings or nil",
    methods = "array of strings or nil", settings = {"table", {}},
    jobs = {"positive integer", machine.cores}, threads = {"positive integer", 1},
    out = "string or nil", quiet = {"boolean", false},
  })
  opts.runs = opts.runs or (opts.quick and 2 or 10)
  opts.methods = opts.methods or (opts.quick and QUICK or ALL)
  local names, notes = choose(opts.datasets, opts.quick)
  local identity = "table 3, preset " .. opts.preset
  local study = Study.at(opts.out, "runs/table3-" .. opts.preset, identity)
  local rows = rows_of(opts, names, study.folder)
  local runs = runs_of(rows, opts.runs)
  local records = study:complete(runs, opts, notes)
  for _, run in ipairs(runs) do
    local record = study:record(run.key)
    if record then table.insert(run.row.records, record) end
  end
  return write(opts, rows, names, study, records, notes)
end

return table3
