--- Table 3 of the paper, ours beside theirs: the methods on Cora, Citeseer, PubMed and Reddit, by
-- the protocol of the paper's section 5, as a study that is kept run by run.

local carry_out = require "ladies.study.carry_out"
local collection = require "ladies.data.store.collection"
local columns = require "experiments.paper.table3.columns"
local declared = require "experiments.options"
local errors = require "ladies.base.errors"
local experiment = require "ladies.experiment"
local generate = require "ladies.data.generate"
local methods = require "ladies.experiment.methods"
local protocol = require "experiments.paper.protocol"
local published = require "experiments.paper.table3.published"
local run_folder = require "ladies.training.record.run_folder"
local settings_text = require("ladies.experiment.settings").text
local statements = require "experiments.paper.table3.statements"
local tables = require "ladies.base.tables"

local WHERE = "experiments.paper.table3"

-- The methods of the table, and those of its quick form. `fastgcn:large` has the paper's third
-- number of samples, which depends on the data set; Cora has none.
local ALL = {"full", "graphsage:5", "fastgcn:64", "fastgcn:512", "fastgcn:large", "ladies:64",
  "ladies:512", "vrgcn:2", "clustergcn"}
local QUICK = {"full", "fastgcn:64", "ladies:64", "ladies:512"}
local LARGE = {citeseer = 1024, pubmed = 8192, reddit = 8192, ["reddit-scale"] = 8192}

-- A random graph with the numbers of Reddit: nodes, entries, classes, features, splits.
local REDDIT_SCALE = protocol.REDDIT_SCALE
local function make_reddit_scale()
  local n = protocol.REDDIT.nodes
  return generate.power_law(tables.merged(protocol.REDDIT,
    {features = 602, train = 153431 / n, val = 23831 / n}))
end

-- ---------------------------------------------------------------- what is run

-- Turns a row such as "fastgcn:512" into settings; nil for a row that the data set does not have.
local function settings_of(text, dataset)
  if text == "fastgcn:large" then
    if not LARGE[dataset] then return nil end
    text = "fastgcn:" .. LARGE[dataset]
  end
  local settings = methods.parse(WHERE, text)
  -- The stand-in has only the rows that the paper has of Reddit: to partition it takes as long as
  -- all else.
  if dataset == REDDIT_SCALE and not published.reddit[methods.title(settings)] then
    return nil
  end
  settings.dataset = dataset
  return settings
end

-- ---------------------------------------------------------------- what came out

-- Returns the settings of the first row with LADIES, which all presets are written for, or of the
-- first, in words.
local function shown_settings(rows)
  local shown = rows[1]
  for i = #rows, 1, -1 do
    if rows[i].settings.method == "ladies" then shown = rows[i] end
  end
  return settings_text(experiment.configure(shown.settings), "dataset", "method", "preset",
    "samples", "seed")
end

local SPREAD = "Mean ± standard deviation over runs with the seeds 1, 2, ..."

local ABOUT = [[
%s The columns "paper" are those of
Zou et al., NeurIPS 2019, table 3; their times are a GPU's. "batches" and "total s", without
validation, are up to the model that is kept, as the paper's are on the citation graphs (its times
are about its batches times its time of a batch, GraphSAGE's a little more, and many batches are
fewer than the patience); "to the end s" includes the patience. "memory MB" is the paper's count,
weights and a batch's dense rows; "held MB" is what the program holds for a batch, the model and the
optimizer.]]

local NO_REDDIT = "reddit is not here: `ladies fetch reddit` brings it, and --datasets "
  .. "cora,citeseer,pubmed,reddit-scale adds a random graph of its size, for time and memory"

local COMPARED = [[
F1 of a method: "above" where our mean is not below the paper's, "covered" where our 95 % interval
reaches it. Differences between methods are taken seed by seed: "holds" where ours has the sign of
the paper's, "not separated" where its interval contains zero.]]

local function heading_of(dataset)
  if dataset ~= REDDIT_SCALE then return dataset end
  return dataset .. ": a random graph with Reddit's numbers of nodes, edges, classes and features, "
    .. "not Reddit; one run of 100 batches or 30 s, for time and memory"
end

local TABLE3 = {
  where = WHERE, name = "table3", title = "Table 3, preset {preset}",
  folder = "runs/table3-{preset}", identity = "table 3, preset {preset}",
  options = tables.merged(declared.types "table3",
    {methods = {"array of strings", ALL, quick = QUICK}}),
  made = {[REDDIT_SCALE] = make_reddit_scale}, of_classes = true,
}

-- Reddit is not fetched unasked.
function TABLE3.check(opts)
  if opts.datasets then return end
  opts.datasets = {"cora", "citeseer", "pubmed"}
  if opts.quick then return end
  if collection.find "reddit" then table.insert(opts.datasets, "reddit") end
  opts.lacks_reddit = not collection.find "reddit"
end

-- Returns the rows of the table by data set, each {dataset =, title =} and what is trained for it;
-- and the names of the data sets.
function TABLE3.cases(opts, names, place)
  local rows, plain = {}, {}
  for _, name in ipairs(names) do
    for _, text in ipairs(opts.methods) do
      local settings = settings_of(text, name)
      if settings then
        rows[#rows + 1] = {dataset = run_folder.plain(name),
          runs = name == REDDIT_SCALE and 1 or nil, settings = tables.merged(settings,
            protocol.settings(name), {dataset = place(name), preset = opts.preset})}
        plain[#rows] = settings.method
      end
    end
  end
  if #rows == 0 then errors.fail(WHERE .. ": these data sets have no row of these methods") end
  for i, common in ipairs(methods.share(WHERE, plain, opts.settings)) do
    local row = rows[i]
    row.settings = tables.merged(row.settings, common)
    row.title = methods.title(experiment.configure(row.settings))
    row.key = ("%s, %s"):format(row.dataset, row.title)
  end
  return rows, tables.map(names, run_folder.plain)
end

function TABLE3.show(report, rows, _, names)
  for _, name in ipairs(names) do
    report:heading(heading_of(name))
    report:results(columns.table(rows, name))
    report:picture(name, columns.picture(rows, name), true)
  end
  local stated = statements.table(rows, names)
  if stated then
    report:heading "The paper's statements on F1"
    report:table(stated)
    report:text(COMPARED)
  end
end

function TABLE3.notes(rows, opts)
  local list = {
    ("Preset %s, LADIES: %s. Where methods have settings of their own they are in results.jsonl.")
      :format(opts.preset, shown_settings(rows)),
    ABOUT:format(opts.runs == 1 and "One run of each, seed 1." or SPREAD)}
  for _, row in ipairs(rows) do
    if #row.records < #row.by_seed then
      list[#list + 1] = ("%s, %s: %d of %d runs."):format(row.dataset, row.title, #row.records,
        #row.by_seed)
    end
  end
  list[#list + 1] = opts.lacks_reddit and NO_REDDIT or nil
  return list
end

--- experiments.paper.table3{preset = "default", runs = 10} -> table: table 3 of the paper, each
-- method `runs` times with the seeds 1, 2, ..., ours beside the paper's. Returns a report (see
-- ladies.report) with `cases`: {dataset =, title =, records =}.
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
local function table3(given) return carry_out(TABLE3, given) end

return table3
