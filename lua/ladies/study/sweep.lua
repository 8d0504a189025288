--- Every combination of some settings, ranked by validation F1: how to choose settings without a
-- look at the test nodes, whose F1 is not shown.

local usable_data = require "ladies.study.usable_data"
local experiment = require "ladies.experiment"
local json = require "ladies.base.json"
local machine = require "ladies.base.machine"
local markdown = require "ladies.report.markdown"
local methods = require "ladies.experiment.methods"
local options = require "ladies.base.options"
local own_code = require "ladies.experiment.own_code"
local provenance = require "ladies.report.provenance"
local run_folder = require "ladies.training.run_folder"
local section = require "ladies.report.section"
local settings_text = require("ladies.experiment.settings").text
local statistics = require "ladies.report.statistics"
local Study = require "ladies.study"

local WHERE = "ladies.sweep"

-- ---------------------------------------------------------------- what is run

-- Settings that a sweep has options for.
local FIXED = {method = "methods", dataset = "datasets", preset = "preset", seed = "runs"}

-- Fails when the values of a setting are not all different, or it is set elsewhere as well.
local function check_once(one, seen, opts)
  local key, values = one[1], {}
  if seen[key] then options.fail(("%s: %s is varied twice"):format(WHERE, key)) end
  seen[key] = true
  if opts.settings[key] ~= nil then
    options.fail(("%s: %s is varied, and set to %s besides"):format(WHERE, key,
      tostring(opts.settings[key])))
  end
  for i = 2, #one do
    local text = tostring(one[i])
    if values[text] then
      options.fail(("%s: %s has the value %s twice"):format(WHERE, key, text))
    end
    values[text] = true
  end
  for _, text in ipairs(key == "samples" and opts.methods or {}) do
    if type(text) == "string" and text:find ":" then
      options.fail(("%s: samples is varied, and given with %s besides"):format(WHERE, text))
    end
  end
end

-- The combinations, each {label =, settings =}, the last of the varied settings going fastest.
local function combinations(opts)
  local list, seen = {{label = "", settings = {}}}, {}
  for i, one in ipairs(opts.vary) do
    options.value(WHERE, ("vary[%d]"):format(i), one, "table")
    local key, longer = one[1], {}
    if type(key) ~= "string" or one[2] == nil then
      options.fail(('%s: vary[%d] must be {"setting", value, value, ...}'):format(WHERE, i))
    elseif FIXED[key] then
      options.fail(("%s: %s is not varied: see the option %s"):format(WHERE, key, FIXED[key]))
    end
    check_once(one, seen, opts)
    for _, before in ipairs(list) do
      for j = 2, #one do
        local settings = {[key] = one[j]}
        for name, value in pairs(before.settings) do settings[name] = value end
        local words = ("%s %s"):format(key:gsub("_", " "), one[j])
        longer[#longer + 1] = {settings = settings,
          label = before.label == "" and words or before.label .. ", " .. words}
      end
    end
    list = longer
  end
  return list
end

-- The columns: each method on each data set, {title =, dataset =, settings =}.
local function cells_of(opts, names)
  local list, parsed, of = {}, {}, {}
  for i, text in ipairs(opts.methods) do
    parsed[i] = own_code.method(WHERE, text)
    of[i] = parsed[i].method
  end
  for _, name in ipairs(names) do
    for i, settings in ipairs(methods.share(WHERE, of, opts.settings)) do
      for key, value in pairs(parsed[i]) do settings[key] = value end
      settings.dataset, settings.preset = name, opts.preset
      local title = select(2, methods.of(parsed[i]))
      list[#list + 1] = {title = ("%s, %s"):format(run_folder.plain(name), title),
        settings = settings}
    end
  end
  return list
end

local function key_of(cell, combination, seed)
  return ("%s, %s, seed %d"):format(cell.title, combination.label, seed)
end

-- The seeds of the runs, in order.
local function seeds_of(opts)
  local list, first = {}, opts.settings.seed or 1
  for i = 1, opts.runs do list[i] = first + i - 1 end
  return list
end

local function runs_of(seeds, list, cells)
  local runs = {}
  for _, seed in ipairs(seeds) do
    for _, combination in ipairs(list) do
      for _, cell in ipairs(cells) do
        local settings = {}
        for _, more in ipairs{cell.settings, combination.settings, {seed = seed}} do
          for key, value in pairs(more) do settings[key] = value end
        end
        runs[#runs + 1] = {key = key_of(cell, combination, seed),
          config = experiment.configure(settings)}
      end
    end
  end
  return runs
end

-- ---------------------------------------------------------------- what came out

-- Validation F1 in percent by seed, where there is one.
local function f1s(study, cell, combination, seeds)
  local list = {}
  for _, seed in ipairs(seeds) do
    local record = study:record(key_of(cell, combination, seed))
    list[#list + 1] = record and 100 * record.val_f1
  end
  return list
end

-- Of a combination: `by_cell`, mean F1s, nan where no run is there; `by_seed`, means over the
-- cells; `mean`, of all, nil where a run failed.
local function score(study, cells, combination, seeds)
  local by_cell, by_seed, whole = {}, {}, true
  for i = 1, #seeds do by_seed[i] = 0 end
  for i, cell in ipairs(cells) do
    local list = f1s(study, cell, combination, seeds)
    whole = whole and #list == #seeds
    by_cell[i] = statistics.mean(list) or 0 / 0
    for j, f1 in ipairs(list) do by_seed[j] = by_seed[j] + f1 / #cells end
  end
  return {combination = combination, by_cell = by_cell, by_seed = by_seed,
    mean = whole and statistics.mean(by_seed) or nil}
end

-- The combinations, best first; those of which a run failed come last.
local function ranking(study, cells, list, seeds)
  local ranked = {}
  for _, combination in ipairs(list) do
    ranked[#ranked + 1] = score(study, cells, combination, seeds)
  end
  table.sort(ranked, function(a, b)
    local x, y = a.mean or -1, b.mean or -1
    if x ~= y then return x > y end
    return a.combination.label < b.combination.label
  end)
  return ranked
end

-- How far a combination's mean is below the best one's, and half the 95 % interval of that.
local function behind(one, best)
  local list = {}
  for i, f1 in ipairs(one.by_seed) do list[i] = best.by_seed[i] - f1 end
  return statistics.mean(list), statistics.half_width(list)
end

local function table_of(ranked, cells)
  local rows = {{"settings", "mean", "behind the best"}}
  for _, cell in ipairs(cells) do table.insert(rows[1], cell.title) end
  for i, one in ipairs(ranked) do
    local format = #one.by_seed > 1 and "%.2f ± %.2f" or "%.2f"
    local row = {one.combination.label, one.mean and ("%.2f"):format(one.mean) or "-",
      not one.mean and "-" or i == 1 and "" or format:format(behind(one, ranked[1]))}
    for _, f1 in ipairs(one.by_cell) do row[#row + 1] = f1 == f1 and ("%.2f"):format(f1) or "-" end
    rows[i + 1] = row
  end
  return rows
end

-- The same as numbers.
local function csv_rows(ranked, cells)
  local rows = {{"settings", "mean", "behind", "behind_half_width"}}
  for _, cell in ipairs(cells) do table.insert(rows[1], cell.title) end
  for i, one in ipairs(ranked) do
    local row = {one.combination.label, one.mean or "", "", ""}
    if one.mean then row[3], row[4] = behind(one, ranked[1]) end
    for _, f1 in ipairs(one.by_cell) do row[#row + 1] = f1 == f1 and f1 or "" end
    rows[i + 1] = row
  end
  return rows
end

local function heading(opts, names)
  local keys, plain = {}, {}
  for i, one in ipairs(opts.vary) do keys[i] = one[1]:gsub("_", " ") end
  for i, name in ipairs(names) do plain[i] = run_folder.plain(name) end
  return ("## Settings by validation F1: %s on %s"):format(table.concat(keys, ", "),
    table.concat(plain, ", "))
end

-- What the numbers of the table are.
local function description(opts, seeds)
  local fixed = settings_text(opts.settings, "seed")
  return ([[Micro-F1 in percent on the validation nodes, of the model that is kept; %s; preset %s
with %s. "behind the best" is of the mean, seed by seed, with its 95 %% interval by
Student's t where there are several seeds.]]):format(
    #seeds == 1 and "seed " .. seeds[1] or ("mean over the seeds %d to %d"):format(seeds[1],
      seeds[#seeds]),
    opts.preset, fixed ~= "" and fixed or "all its other settings")
end

-- ---------------------------------------------------------------- the whole

local Sweep = {__name = "ladies.Sweep"}

function Sweep.__tostring(self) return self.text end

--- ladies.sweep{vary = {{"dropout", 0, 0.3}, {"self_nodes", "none", "previous"}}, ...}: trains with
-- every combination of the values and ranks them by the mean validation F1 over methods, data sets
-- and runs. Returns a table whose tostring is the ranking as text, with `best` (settings), `notes`,
-- `files`, and `failed`, the number of runs that failed.
-- vary       array of {"setting of ladies.experiment", value, value, ...}
-- methods    as for ladies.compare ({"ladies:64", "ladies:512"})
-- datasets   cora, citeseer and pubmed
-- preset     default, paper or code: what is not varied
-- settings   of ladies.experiment, for all; with `seed` the runs begin with that one
-- runs       5, with following seeds
-- jobs       runs side by side (as many as there are cores), each with `threads` threads (1)
-- out        the folder of the study (runs/sweep-1), which goes on where it was stopped
-- quiet      no progress
local function sweep(given)
  local opts = options.check(WHERE, given, {
    vary = "table", methods = {"table", {"ladies:64", "ladies:512"}},
    datasets = {"array of strings", {"cora", "citeseer", "pubmed"}},
    preset = {"default|paper|code", "default"}, settings = {"table", {}},
    runs = {"positive integer", 5}, jobs = {"positive integer", machine.cores},
    threads = {"positive integer", 1}, out = "string or nil", quiet = {"boolean", false},
  })
  local names, notes = usable_data(WHERE, opts.datasets)
  if #notes > 0 then options.fail(("%s: %s"):format(WHERE, table.concat(notes, "; "))) end
  local list, cells, seeds = combinations(opts), cells_of(opts, names), seeds_of(opts)
  local runs = runs_of(seeds, list, cells)
  local identity = "sweep " .. json.encode{vary = opts.vary, methods = own_code.names(opts.methods),
    datasets = opts.datasets, preset = opts.preset, settings = opts.settings}
  local study = Study.at(opts.out, "runs/sweep", identity)
  local records = study:complete(runs, opts, notes)
  if not records[1].val_f1 then
    options.fail(("%s: %s has no validation nodes to choose by"):format(WHERE, names[1]))
  end
  local ranked = ranking(study, cells, list, seeds)
  local rows = table_of(ranked, cells)
  table.insert(notes, 1, provenance.runs(study, records))
  table.insert(notes, 2, description(opts, seeds))
  local result = setmetatable({
    best = ranked[1].mean and ranked[1].combination.settings or nil, notes = notes,
    failed = study.failed, folder = study.folder.path, text = markdown.table(rows),
    files = {"results.jsonl", "sweep.csv", "sweep.md"}}, Sweep)
  section.write(study.folder:file "sweep.md", {heading(opts, names), rows, table.unpack(notes)})
  section.write_csv(study.folder:file "sweep.csv", csv_rows(ranked, cells))
  return result
end

return sweep
