--- experiments.paper.table3: its table, files and resuming. What it finds on the citation graphs
-- is in test_table3_data.lua.
local here = os.getenv "LADIES_SOURCE" .. "/tests"

local lu = require "luaunit"
local core = require "ladies_core"
local files = require "tools.files"
local statements = require "experiments.paper.table3.statements"
local ladies = require "ladies"
local paper = require "experiments.paper"
local published = require "experiments.paper.table3.published"
local shell = require "tools.shell"
local statistics = require "ladies.statistics"
local Table = require "ladies.report.table"
local temporary = require "reference.temporary"
local toy = require "reference.toy_data"
local toy_study = require "tools.toy_study"

local tests = {}

local dataset = toy_study.dataset

local SETTINGS = {layers = 2, hidden = 8, batch_size = 20, lr = 0.02, max_batches = 20,
  eval_every = 10}

local function table3(out, given)
  local opts = {datasets = {dataset}, methods = {"full", "ladies:5", "fastgcn:large"}, runs = 2,
    settings = SETTINGS, out = out, quiet = true, jobs = 2}
  for key, value in pairs(given or {}) do opts[key] = value end
  return paper.table3(opts)
end

function tests.test_table_and_files()
  local out = temporary.path "table"
  local result = table3(out)
  local titles = {}
  for i, row in ipairs(result.cases) do
    titles[i] = row.dataset .. " " .. row.title .. " " .. #row.records
  end
  lu.assertEquals(titles, {"toy full batch 2", "toy LADIES (5) 2"})   -- no third FastGCN
  local records = result.cases[2].records
  lu.assertEquals({records[1].config.seed, records[2].config.seed}, {1, 2})
  local f1 = {100 * records[1].test_f1, 100 * records[2].test_f1}
  lu.assertStrContains((tostring(result):gsub(" +", " ")),
    "| LADIES (5) | " .. Table.deviation(f1, "%.1f").text)
  local csv = files.lines(out .. "/table3.csv")
  lu.assertEquals(#csv, 3)
  lu.assertStrContains(csv[3], ("toy,LADIES (5),2,%s,"):format(statistics.mean(f1)))
  local document = ladies.file.read(out .. "/table3.md")
  lu.assertStrContains(document, "## Table 3, preset default\n\n### toy\n")
  lu.assertStrContains(document, "4 runs on ")
  lu.assertStrContains(document, "2 runs side by side, 1 thread each")
  for _, file in ipairs(result.files) do
    lu.assertEquals(core.exists(out .. "/" .. file), "file", file)
  end
end

--- More runs and methods join those that are there; other settings make them anew.
function tests.test_it_grows()
  local out = temporary.path "grows"
  local function keys_after(given)
    table3(out, given)
    local keys = {}
    for i, line in ipairs(files.lines(out .. "/results.jsonl")) do
      keys[i] = line:match '"key":"([^"]*)"'
    end
    return keys
  end
  local first = keys_after{methods = {"full"}, runs = 1, jobs = 1}
  lu.assertEquals(first, {"toy, full batch, seed 1"})
  local keys = keys_after{}
  lu.assertEquals(#keys, 4)
  lu.assertEquals(keys[1], first[1])
  local settings = {max_batches = 10}
  for key, value in pairs(SETTINGS) do settings[key] = settings[key] or value end
  lu.assertEquals(#keys_after{settings = settings}, 8)
  lu.assertErrorMsgContains("holds another study (table 3, preset default)", table3, out,
    {preset = "paper"})
end

--- Each method is given those of the settings that it takes.
function tests.test_settings_of_some_methods()
  local function with(key, value)
    local settings = {[key] = value}
    for name, own in pairs(SETTINGS) do settings[name] = own end
    return {settings = settings, methods = {"full", "ladies:5"}, runs = 1, jobs = 1}
  end
  local rows = table3(temporary.path "some", with("self_nodes", "batch")).cases
  lu.assertNil(rows[1].records[1].config.self_nodes)
  lu.assertEquals(rows[2].records[1].config.self_nodes, "batch")
  lu.assertErrorMsgContains("experiments.paper.table3: no method has parts", table3,
    temporary.path "some", with("parts", 3))
end

--- A data set without test nodes has no F1, and everything else.
function tests.test_without_test_nodes()
  local data, path = toy.new(true), temporary.path "untested.npz"
  data.test = nil
  ladies.data.save(data, path)
  local result = table3(temporary.path "untested", {datasets = {path}, methods = {"full"}})
  lu.assertStrContains(tostring(result), "| full batch |    - |")
  lu.assertEquals(#result.cases[1].records, 2)
  lu.assertNil(result.cases[1].records[1].test_f1)
end

--- Two data sets that tables would show under one name are refused, and studies in which all runs
-- fail say so.
function tests.test_refusals()
  local out = temporary.path "refused"
  lu.assertErrorMsgContains("would both be called toy; rename one", table3, out,
    {datasets = {dataset, "elsewhere/toy.npz"}})
  lu.assertErrorMsgContains("failed: ladies.train: batch 2: the loss is", table3, out,
    {methods = {"ladies:5"}, settings = {layers = 2, lr = 1e30, max_batches = 9}})
end

function tests.test_what_is_not_here()
  local out = temporary.path "missing"
  local result = table3(out, {datasets = {"nowhere", dataset}, methods = {"full"}, runs = 1})
  lu.assertEquals(#result.cases, 1)
  lu.assertStrContains(table.concat(result.notes, "\n"), "\nOne run of each, seed 1. The columns ")
  lu.assertStrContains(result.notes[#result.notes],
    "nowhere is not here, and none of the data sets that `ladies fetch` brings")
  lu.assertErrorMsgContains("experiments.paper.table3: nowhere is not here", table3, out,
    {datasets = {"nowhere"}})
  lu.assertErrorMsgContains('did you mean "ladies"?', table3, out, {methods = {"lades:3"}})
  lu.assertErrorMsgContains('samples of ladies must be a positive integer, got "x"', table3, out,
    {methods = {"ladies:x"}})
  lu.assertErrorMsgContains("these data sets have no row of these methods", table3, out,
    {methods = {"fastgcn:large"}})
end

-- The test F1s of the folder's runs by key.
local function f1s(folder)
  local list = {}
  for _, line in ipairs(files.lines(folder .. "/results.jsonl")) do
    list[line:match '"key":"([^"]*)"'] = line:match '"test_f1":([^,]*)'
  end
  return list
end

--- A study that is killed at any moment and started again ends with the table of one that was not
-- killed.
function tests.test_killed_and_started_again()
  local script, killed, whole = here .. "/tools/table3_toy.lua", temporary.path "killed",
    temporary.path "whole"
  local left = shell.run{here .. "/tools/kill_study.sh", killed .. "/results.jsonl", shell.ladies,
    script, killed, dataset}
  lu.assertEquals(left, "")
  lu.assertFalse(core.exists(killed .. "/table3.md"))
  for _, folder in ipairs{killed, whole} do
    shell.silent(shell.run_ladies{script, folder, dataset})
  end
  lu.assertEquals(f1s(killed), f1s(whole))
  local function without_times(folder)
    local list = {}
    for i, line in ipairs(files.lines(folder .. "/table3.csv")) do
      list[i] = line:match "^([^,]*,[^,]*,[^,]*,[^,]*,[^,]*)"
    end
    return list
  end
  lu.assertEquals(without_times(killed), without_times(whole))
end

--- The paper's numbers are all there, and on the citation graphs its batches times its time of a
-- batch are about its total time: what our columns take them for.
function tests.test_what_the_paper_has()
  local n = 0
  for name, rows in pairs(published) do
    for _, row in pairs(rows) do
      local seconds = row.batches[1] * row.batch_ms[1] / 1000
      if name ~= "reddit" then lu.assertAlmostEquals(seconds / row.seconds[1], 1, 0.45) end
      n = n + 1
    end
  end
  lu.assertEquals(n, 27)
end

--- The statements compare our mean with the paper's, and differences seed by seed with the sign of
-- the paper's.
function tests.test_comparison()
  local function row(title, values)
    local by_seed = {}
    for seed, f1 in ipairs(values) do by_seed[seed] = {test_f1 = f1 / 100} end
    return {dataset = "cora", title = title, by_seed = by_seed}
  end
  -- The paper has 77.6 for LADIES (64), 25.1 for FastGCN (64), 75.2 for GraphSAGE, 76.5 in full.
  local rows = {row("LADIES (64)", {77, 78, 76}), row("FastGCN (64)", {30, 20, 40, 50}),
    row("GraphSAGE (5)", {80, 80.5, 79.5}), row("full batch", {77, 77, 77}),
    row("LADIES (512)", {70, 70.5, 69.5})}
  local list = statements.table(rows, {"cora"}):texts()
  local texts = {}
  for i = 2, #list do texts[i - 1] = table.concat(list[i], "; ") end
  lu.assertEquals(texts, {
    "cora; LADIES (64): F1 %; 77.0 ± 2.5; 77.6; covered",
    "cora; LADIES (512): F1 %; 70.0 ± 1.2; 78.3; below",
    "cora; LADIES (64) - FastGCN (64); +47.0 ± 27.3; +52.5; holds",
    "cora; LADIES (64) - GraphSAGE (5); -3.0 ± 1.2; +2.4; does not hold",
    "cora; LADIES (64) - full batch; +0.0 ± 2.5; +1.1; not separated",
    "cora; LADIES (512) - GraphSAGE (5); -10.0 ± 0.0; +3.1; does not hold",
    "cora; LADIES (512) - full batch; -7.0 ± 1.2; +1.8; does not hold",
  })
  lu.assertEquals(statements.reaches({78, 80}, 77.6), "above")
  lu.assertNil(statements.table({row("LADIES (64)", {80})}, {"cora"}))     -- a single run
  lu.assertNil(statements.table(rows, {"toy"}))
end

return tests
