--- Compares the runs of the paper's experiments with fixtures/experiments.txt, which has every kind
-- of run, how many seeds it has, and where its settings differ from those of its preset. Nothing is
-- trained.
local here = os.getenv "LADIES_SOURCE" .. "/tests"

-- Makes all data sets count as usable here, since nothing is trained.
package.loaded["ladies.study.usable_data"] = function(_, names) return names, {} end

local lu = require "luaunit"
local ladies = require "ladies"
local paper = require "experiments.paper"
local Study = require "ladies.study"
local temporary = require "reference.temporary"

local tests = {}
local STOP = {}

-- The runs that an experiment gives to its study.
local function runs_of(experiment, opts)
  local runs
  local complete = Study.complete
  Study.complete = function(_, given)
    runs = given
    error(STOP, 0)
  end
  opts.out, opts.quiet = temporary.path "experiment", true
  local _, raised = pcall(experiment, opts)
  Study.complete = complete
  ladies.folder.remove(opts.out)
  if raised ~= STOP then error(raised, 0) end
  return runs
end

-- "key=value key=value" where a configuration is not that of its method and preset with the paper's
-- network.
local function own_settings(config)
  local usual = ladies.experiment.configure{method = config.method, preset = config.preset,
    model = "gcn"}
  local list = {}
  for key, value in pairs(config) do
    if key ~= "seed" and key ~= "dataset" and usual[key] ~= value then
      list[#list + 1] = ("%s=%s"):format(key, value)
    end
  end
  for key in pairs(usual) do
    if config[key] == nil then list[#list + 1] = key .. "=nil" end
  end
  table.sort(list)
  return table.concat(list, " ")
end

-- A line for each kind of run: its key without the seed, how many seeds, its settings.
local function lines_of(name, runs)
  local lines, seeds, seen = {name .. ":"}, {}, {}
  for _, run in ipairs(runs) do
    local kind = run.key:gsub(",? seed %d+", "")
    if not seeds[kind] then
      seeds[kind] = 0
      lines[#lines + 1] = kind
    end
    seeds[kind] = seeds[kind] + (seen[run.key] and 0 or 1)         -- of equal keys there is one
    seen[run.key] = true
    seeds[kind .. " settings"] = own_settings(run.config)
  end
  for i = 2, #lines do
    lines[i] = ("%s; %d seeds; %s"):format(lines[i], seeds[lines[i]],
      seeds[lines[i] .. " settings"])
  end
  return lines
end

function tests.test_runs()
  local wanted, found = {}, {}
  for line in io.lines(here .. "/fixtures/experiments.txt") do wanted[#wanted + 1] = line end
  for _, one in ipairs{
    {"table3", paper.table3, {datasets = {"cora", "pubmed"}}},
    {"table3 quick", paper.table3, {datasets = {"cora"}, quick = true, preset = "code"}},
    {"ablate", paper.ablate, {datasets = {"cora"}, presets = {"default"}}},
    {"ablate paper", paper.ablate, {datasets = {"cora"}, presets = {"paper"},
      parts = {"changes"}}},
    {"figures", paper.figures, {}},
    {"sweep", ladies.sweep, {datasets = {"cora"}, vary = {{"dropout", 0, 0.5}}}},
  } do
    local lines = lines_of(one[1], runs_of(one[2], one[3]))
    table.move(lines, 1, #lines, #found + 1, found)
  end
  for i = 1, math.max(#wanted, #found) do lu.assertEquals(found[i], wanted[i], "line " .. i) end
end

return tests
