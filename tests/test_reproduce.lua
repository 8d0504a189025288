--- ladies_paper.reproduce: every experiment once, on toy data, and the document of them.
local lu = require "luaunit"
local core = require "ladies_core"
local ladies = require "ladies"
local paper = require "ladies_paper"
local json = require "ladies.base.json"
local temporary = require "reference.temporary"
local toy_study = require "tools.toy_study"

local tests = {}

local dataset, folder = toy_study.dataset, temporary.path "runs"
core.folder.make(folder)

local function reproduce()
  return paper.reproduce{datasets = {dataset}, runs = 1, quick = true, folder = folder,
    out = temporary.path "reproduction.md", jobs = 1, quiet = true,
    settings = {hidden = 4, batch_size = 20, max_batches = 2, eval_every = 1}}
end

-- The records of all studies, as they are in their files.
local function results()
  local list = {}
  for _, name in ipairs(core.files(folder)) do
    list[name] = ladies.file.read(("%s/%s/results.jsonl"):format(folder, name))
  end
  return list
end

function tests.test_everything()
  local sections = reproduce()
  lu.assertEquals(sections, 10)
  local text, places = ladies.file.read(temporary.path "reproduction.md"), {}
  for i, heading in ipairs{"# The paper, reproduced", "## What is done otherwise",
    "## Table 3, preset default", "## Table 3, preset code", "## Table 3, preset paper",
    "## Settings by validation F1",
    "## Ablation", "## Figures, preset default", "## Table 2, measured: the error",
    "## Table 2, measured: time"} do
    places[i] = text:find("\n" .. heading, 1, true) or text:find(heading, 1, true)
    lu.assertNotNil(places[i], heading)
    lu.assertTrue(i == 1 or places[i] > places[i - 1], heading)
  end
  local before = results()
  lu.assertEquals(reproduce(), 10)
  lu.assertEquals(results(), before)              -- nothing is measured twice
end

--- The second sweep has the settings that were best in the first.
function tests.test_second_sweep()
  local best = ladies.file.read(folder .. "/sweep-1/sweep.md"):match "\n| (features [^|]-)%s+|"
  local n = 0
  for line in io.lines(folder .. "/sweep-2/results.jsonl") do
    local config = json.decode(line).config
    local label = ("features %s, weight decay %s, self nodes %s, dropout %s"):format(
      config.features, config.weight_decay, config.self_nodes, config.dropout)
    lu.assertEquals(label, best)
    n = n + 1
  end
  lu.assertEquals(n, 2 * 2 * 2)                   -- settings, methods
end

return {
  test_1_everything = tests.test_everything, test_2_second_sweep = tests.test_second_sweep}
