--- What the choices of a preset are worth: LADIES with one of them changed at a time, and every
-- combination of the draw's probabilities with the nodes that are united into its layers. The seeds
-- are the same for all, so differences are taken run by run.

local experiment = require "ladies.experiment"
local machine = require "ladies.base.machine"
local markdown = require "ladies.report.markdown"
local options = require "ladies.base.options"
local protocol = require "ladies_paper.protocol"
local provenance = require "ladies.report.provenance"
local run_folder = require "ladies.training.run_folder"
local section = require "ladies.report.section"
local statistics = require "ladies.report.statistics"
local Study = require "ladies.study"
local tables = require "ladies.base.tables"
local usable_data = require "ladies.study.usable_data"

local WHERE = "ladies_paper.ablate"

-- The settings that are changed one at a time, with their values.
local CHANGES = {
  {"draw", "wor", "wr"}, {"normalize", "sym", "row"}, {"row_normalize", true, false},
  {"self_nodes", "none", "previous", "batch"}, {"head", "none", "linear"},
  {"activation", "relu", "elu"}, {"dropout", 0, 0.2, 0.5},
}

-- Whence nodes are drawn, and with which probabilities.
local PROBABILITIES = {
  {title = "LADIES", method = "ladies"},
  {title = "FastGCN", method = "fastgcn"},
  {title = "uniform, neighbourhood", method = "ladies", probability = "uniform"},
  {title = "uniform, all nodes", method = "fastgcn", probability = "uniform"},
}
local UNIONS = {"none", "previous", "batch"}

local BASE = "as it is"

-- ---------------------------------------------------------------- what is run

-- The settings to start from: the preset's, and the user's over them.
local function base_of(preset, own)
  return experiment.configure(tables.merged(own, {preset = preset}))
end

-- The base with changes: {label =, settings =}. Equal settings have equal labels, so that a run
-- that both parts need is one.
local function variant(preset, own, from, changes)
  local words, settings, base = {}, {preset = preset, method = from.method}, base_of(preset, own)
  if from ~= PROBABILITIES[1] then words[1] = from.title end
  settings.probability = from.probability
  for _, key in ipairs{"draw", "row_normalize", "self_nodes", "union"} do
    settings[key] = base[key]     -- where FastGCN has its own
  end
  for _, change in ipairs(changes) do
    local key, value = change[1], change[2]
    if value ~= base[key] then
      settings[key] = value
      words[#words + 1] = ("%s %s"):format(key:gsub("_", " "), value)
    end
    if key == "draw" and value == "wr" then settings.union = "pre" end  -- "post" is for wor
    if key == "dropout" and value == 0 then settings.head_dropout = 0 end
  end
  return {label = #words > 0 and table.concat(words, ", ") or BASE, settings = settings}
end

-- One change at a time, behind the preset itself.
local function changes_of(preset, own)
  local list, base = {variant(preset, own, PROBABILITIES[1], {})}, base_of(preset, own)
  for _, change in ipairs(CHANGES) do
    for i = 2, #change do
      if change[i] ~= base[change[1]] then
        list[#list + 1] = variant(preset, own, PROBABILITIES[1], {{change[1], change[i]}})
      end
    end
  end
  return list
end

-- Every combination, each with its place: {label =, settings =, from = title, union = word}.
local function cross_of(preset, own)
  local list = {}
  for _, from in ipairs(PROBABILITIES) do
    for _, union in ipairs(UNIONS) do
      local one = variant(preset, own, from, {{"self_nodes", union}})
      one.from, one.union = from.title, union
      list[#list + 1] = one
    end
  end
  return list
end

local PARTS = {changes = changes_of, cross = cross_of}

local function key_of(dataset, preset, label, seed)
  return ("%s, %s: %s, seed %d"):format(run_folder.plain(dataset), preset, label, seed)
end

-- All runs, seed by seed, each once.
local function runs_of(opts, names)
  local runs, seen = {}, {}
  for seed = 1, opts.runs do
    for _, preset in ipairs(opts.presets) do
      for _, part in ipairs(opts.parts) do
        for _, one in ipairs(PARTS[part](preset, opts.settings)) do
          for _, name in ipairs(names) do
            local key = key_of(name, preset, one.label, seed)
            if not seen[key] then
              local settings = {dataset = name, samples = opts.samples, seed = seed}
              for _, more in ipairs{protocol.settings(name), opts.settings, one.settings} do
                for k, value in pairs(more) do settings[k] = value end
              end
              runs[#runs + 1] = {key = key, config = experiment.configure(settings)}
              seen[key] = true
            end
          end
        end
      end
    end
  end
  return runs
end

-- ---------------------------------------------------------------- what came out

-- Test F1s in percent by seed; a run that failed leaves a hole.
local function f1s(study, dataset, preset, label, runs)
  local list = {}
  for seed = 1, runs do
    local record = study:record(key_of(dataset, preset, label, seed))
    list[seed] = record and record.test_f1 and 100 * record.test_f1 or false
  end
  return list
end

-- F1s of a label, and their differences to those of the preset, over the seeds.
local function numbers_of(opts, study, dataset, preset, label)
  local own = f1s(study, dataset, preset, label, opts.runs)
  local base = f1s(study, dataset, preset, BASE, opts.runs)
  return statistics.present(own), statistics.differences(own, base)
end

local function changes_table(opts, study, names, preset)
  local rows = {{"LADIES (" .. opts.samples .. ")"}}
  for _, name in ipairs(names) do
    table.move({run_folder.plain(name) .. " F1 %", "difference"}, 1, 2, #rows[1] + 1, rows[1])
  end
  for _, one in ipairs(changes_of(preset, opts.settings)) do
    local cells = {one.label}
    for _, name in ipairs(names) do
      local own, difference = numbers_of(opts, study, name, preset, one.label)
      cells[#cells + 1] = statistics.interval(own, "%.1f")
      cells[#cells + 1] = one.label == BASE and "" or statistics.interval(difference, "%+.1f")
    end
    rows[#rows + 1] = cells
  end
  return rows
end

local function cross_table(opts, study, names, preset)
  local rows = {{"probabilities", "data set", table.unpack(UNIONS)}}
  for _, name in ipairs(names) do
    local row
    for _, one in ipairs(cross_of(preset, opts.settings)) do
      if not row or row[1] ~= one.from then
        row = {one.from, run_folder.plain(name)}
        rows[#rows + 1] = row
      end
      local own = numbers_of(opts, study, name, preset, one.label)
      row[#row + 1] = statistics.interval(own, "%.1f")
    end
  end
  return rows
end

-- Lists of data sets by title and union, in words.
local function places(lists, title)
  local words = {}
  for _, union in ipairs(UNIONS) do
    local list = lists[title .. union]
    if list then words[#words + 1] = ("%s (%s)"):format(union, table.concat(list, ", ")) end
  end
  return #words > 0 and "with the union " .. table.concat(words, "; ") or "nowhere"
end

-- What LADIES' probabilities are worth with each union: its F1 less that of the others; and where
-- the intervals of that are above zero, and where below.
local function cross_differences(opts, study, names, preset)
  local rows, ladies = {{"LADIES less", "data set", table.unpack(UNIONS)}}, {}
  local above, below, lines = {}, {}, {}
  for _, name in ipairs(names) do
    local row
    for _, one in ipairs(cross_of(preset, opts.settings)) do
      local own = f1s(study, name, preset, one.label, opts.runs)
      if one.from == PROBABILITIES[1].title then
        ladies[one.union] = own
      else
        if not row or row[1] ~= one.from then
          row = {one.from, run_folder.plain(name)}
          rows[#rows + 1] = row
        end
        local difference = statistics.differences(ladies[one.union], own)
        row[#row + 1] = statistics.interval(difference, "%+.1f")
        local mean, half = statistics.mean(difference), statistics.half_width(difference)
        if #difference > 1 and math.abs(mean) > half then
          local lists, place = mean > 0 and above or below, one.from .. one.union
          lists[place] = lists[place] or {}
          table.insert(lists[place], run_folder.plain(name))
        end
      end
    end
  end
  for i = 2, #PROBABILITIES do
    local title = PROBABILITIES[i].title
    lines[i - 1] = ("* %s: LADIES is above it %s, and below it %s."):format(title,
      places(above, title), places(below, title))
  end
  return rows, "By 95 % intervals:\n\n" .. table.concat(lines, "\n")
end

-- The tables of each part: title and function, which may return a text to stand below as well.
local TABLES = {
  changes = {{"one change at a time", changes_table}},
  cross = {{"probabilities and union", cross_table},
    {"LADIES' probabilities less the others, by union", cross_differences}},
}

-- A line of numbers for each label.
local function csv_rows(opts, study, names)
  local rows = {{"dataset", "preset", "variant", "runs", "f1", "f1_half_width", "difference",
    "difference_half_width"}}
  local seen = {}
  for _, preset in ipairs(opts.presets) do
    for _, part in ipairs(opts.parts) do
      for _, one in ipairs(PARTS[part](preset, opts.settings)) do
        for _, name in ipairs(names) do
          local key = key_of(name, preset, one.label, 0)
          local own, difference = numbers_of(opts, study, name, preset, one.label)
          if not seen[key] and #own > 0 then
            seen[key] = true
            rows[#rows + 1] = {run_folder.plain(name), preset, one.label, #own,
              statistics.mean(own), #own > 1 and statistics.half_width(own) or "",
              statistics.mean(difference) or "",
              #difference > 1 and statistics.half_width(difference) or ""}
          end
        end
      end
    end
  end
  return rows
end

-- ---------------------------------------------------------------- the whole

local Ablation = {__name = "ladies.Ablation"}

function Ablation.__tostring(self) return self.text end

-- Writes ablate.md and ablate.csv; returns the result.
local function write(opts, study, names, records, notes)
  local parts, texts = {"## Ablation"}, {}
  for _, preset in ipairs(opts.presets) do
    for _, part in ipairs(opts.parts) do
      for _, each in ipairs(TABLES[part]) do
        local title = ("preset %s: %s"):format(preset, each[1])
        local rows, text = each[2](opts, study, names, preset)
        parts[#parts + 1], parts[#parts + 2], parts[#parts + 3] = "### " .. title, rows, text
        texts[#texts + 1] = title .. "\n\n" .. markdown.table(rows)
        if text then texts[#texts] = texts[#texts] .. "\n\n" .. text end
      end
    end
  end
  local result = {notes = {
    provenance.runs(study, records),
    ([[Test micro-F1 in percent with 95 %% intervals by Student's t over %d runs, seeds 1, 2, ...
Differences are taken seed by seed; "difference" is to the preset as it is. Columns none, previous,
batch: the nodes that are united into every sampled layer. "uniform" draws all nodes alike, of the
neighbourhood or of the graph; all else is the preset's, for all four. A draw with replacement
unites before the draw, and dropout 0 sets head_dropout to 0 too.]]):format(opts.runs),
  }, failed = study.failed, folder = study.folder.path, text = table.concat(texts, "\n\n"),
    files = {"results.jsonl", "ablate.csv", "ablate.md"}}
  table.move(notes, 1, #notes, #result.notes + 1, result.notes)
  table.move(result.notes, 1, #result.notes, #parts + 1, parts)
  section.write(study.folder:file "ablate.md", parts)
  section.write_csv(study.folder:file "ablate.csv", csv_rows(opts, study, names))
  return setmetatable(result, Ablation)
end

--- ladies_paper.ablate{presets = {"default"}, runs = 10}: LADIES with one choice of a preset
-- changed at a time, and the cross of probabilities and unions. Returns a table whose tostring is
-- the tables as text, with `notes`, `files` and `failed`, the number of runs that failed.
-- presets    default, paper and code: see ladies.presets
-- parts      "changes" and "cross"
-- runs       10, with the seeds 1, 2, ...
-- samples    nodes of a layer (64)
-- datasets   cora, citeseer and pubmed
-- settings   of ladies.experiment, for all
-- jobs       runs side by side (as many as there are cores), each with `threads` threads (1)
-- out        the folder of the study (runs/ablate-1), which goes on where it was stopped
-- quiet      no progress
local function ablate(given)
  local opts = options.check(WHERE, given, {
    presets = {"array of default|paper|code", {"default", "paper", "code"}},
    parts = {"array of changes|cross", {"changes", "cross"}},
    runs = {"positive integer", 10}, samples = {"positive integer", 64},
    datasets = {"array of strings", {"cora", "citeseer", "pubmed"}}, settings = {"table", {}},
    jobs = {"positive integer", machine.cores}, threads = {"positive integer", 1},
    out = "string or nil", quiet = {"boolean", false},
  })
  local names, notes = usable_data(WHERE, opts.datasets)
  local identity = ("ablation, %d samples"):format(opts.samples)
  local study = Study.at(opts.out, "runs/ablate", identity)
  local records = study:complete(runs_of(opts, names), opts, notes)
  return write(opts, study, names, records, notes)
end

return ablate
