--- experiments.paper.reproduce: every experiment once, on toy data, and the document of them.
local lu = require "luaunit"
local core = require "ladies_core"
local ladies = require "ladies"
local paper = require "experiments.paper"
local json = require "ladies.base.json"
local tables = require "ladies.base.tables"
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

--- Each sweep trains with all values of its own settings, and others have theirs from elsewhere.
function tests.test_values_of_sweeps()
  local function values(sweep, key)
    local found = {}
    for line in io.lines(("%s/%s/results.jsonl"):format(folder, sweep)) do
      found[tostring(json.decode(line).config[key])] = true
    end
    return table.concat(tables.sorted_keys(found), " ")
  end
  for sweep, settings in pairs{
    ["sweep-1"] = {features = "as_given row_normalized", weight_decay = "0 0.0005",
      self_nodes = "none previous", dropout = "0 0.3 0.5", clip = "0", debias = "false"},
    ["sweep-2"] = {clip = "0 0.2", debias = "false true"},
    ["sweep-3"] = {weight_decay = "0 0.0005", self_nodes = "none previous", dropout = "0 0.3 0.5",
      patience = "600"},
  } do
    for key, expected in pairs(settings) do
      lu.assertEquals(values(sweep, key), expected, sweep .. " " .. key)
    end
  end
end

--- A document that cannot be written is refused before anything is run.
function tests.test_other_endings()
  local runs = temporary.path "none"
  lu.assertErrorMsgContains("experiments.paper.reproduce: out must end in .md, got x.txt",
    paper.reproduce, {out = "x.txt", folder = runs, quiet = true})
  lu.assertFalse(core.exists(runs))
end

return {
  test_1_everything = tests.test_everything, test_2_second_sweep = tests.test_second_sweep,
  test_3_values_of_sweeps = tests.test_values_of_sweeps,
  test_4_other_endings = tests.test_other_endings}
