--- Studies of the paper's experiments in which some runs fail: the others are shown, the result
-- counts those that failed, and the status of the command tells.
local lu = require "luaunit"
local ladies = require "ladies"
local paper = require "experiments.paper"
local shell = require "tools.shell"
local temporary = require "reference.temporary"
local toy = require "reference.toy_data"
local toy_study = require "tools.toy_study"

local tests = {}

-- A data set with features that no network stands.
local broken = temporary.path "broken.npz"
do
  local data = toy.new()
  data.features = data.features * 3e38
  ladies.data.save(data, broken)
end

local function check_count(name, n_failed, given)
  given.datasets, given.runs, given.jobs, given.quiet = {toy_study.dataset, broken}, 1, 1, true
  given.out, given.preset = temporary.path(name), given.presets == nil and "paper" or nil
  given.settings = {layers = 2, hidden = 4, max_batches = 2}
  local result = paper[name](given)
  lu.assertEquals(result.failed, n_failed)
  lu.assertStrContains(table.concat(result.notes, "\n"), "failed: ladies.train: batch 1: the loss")
end

function tests.test_table3() check_count("table3", 2, {methods = {"full", "ladies:5"}}) end

function tests.test_figures() check_count("figures", 3, {figures = {"epochs"}}) end

function tests.test_ablate()
  check_count("ablate", 10, {presets = {"paper"}, parts = {"changes"}, samples = 5})
end

function tests.test_status()
  local out, err, status = shell.run_ladies{"table3", "--datasets",
    toy_study.dataset .. "," .. broken, "--methods", "full", "--runs", "1",
    "--quiet", "--out", temporary.path "status"}
  lu.assertEquals({err, status}, {"ladies table3: runs that failed: 1\n", 1})
  lu.assertStrContains(out, "results.jsonl")
end

return tests
