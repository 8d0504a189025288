--- experiments.paper.ablate: what it runs, its intervals and differences.
local lu = require "luaunit"
local ladies = require "ladies"
local paper = require "experiments.paper"
local statistics = require "ladies.statistics"
local temporary = require "reference.temporary"
local toy_study = require "tools.toy_study"

local tests = {}

local dataset, records_of = toy_study.dataset, toy_study.records_of

local function ablate(out, given)
  local opts = {datasets = {dataset}, runs = 2, samples = 5, out = out, quiet = true, jobs = 1,
    settings = {layers = 2, hidden = 8, batch_size = 20, lr = 0.02, max_batches = 20,
      eval_every = 10}}
  for key, value in pairs(given or {}) do opts[key] = value end
  return paper.ablate(opts)
end

-- The cells of the line of a text that begins with "| LABEL ".
local function cells_of(text, label)
  local cells = {}
  for line in text:gmatch "[^\n]+" do
    if line:match "^| (.-)%s+|" == label then
      for cell in line:gmatch "|%s*([^|]-)%s*%f[|]" do cells[#cells + 1] = cell end
    end
  end
  return cells
end

--- The difference is taken seed by seed, and its interval is that of Student's t.
function tests.test_one_change_at_a_time()
  local out = temporary.path "changes"
  local result = ablate(out, {presets = {"paper"}, parts = {"changes"}, runs = 3})
  local records, n = records_of(out)
  lu.assertEquals(n, 3 * 10)
  local base, changed, difference = {}, {}, {}
  for seed = 1, 3 do
    base[seed] = 100 * records["toy, paper: as it is, seed " .. seed].test_f1
    changed[seed] = 100 * records["toy, paper: self nodes batch, seed " .. seed].test_f1
    difference[seed] = changed[seed] - base[seed]
  end
  local text = tostring(result)
  lu.assertEquals(cells_of(text, "as it is"), {"as it is", ("%.1f ± %.1f"):format(
    statistics.mean(base), statistics.half_width(base)), ""})
  lu.assertEquals(cells_of(text, "self nodes batch"), {"self nodes batch",
    ("%.1f ± %.1f"):format(statistics.mean(changed), statistics.half_width(changed)),
    ("%+.1f ± %.1f"):format(statistics.mean(difference), statistics.half_width(difference))})
  local csv = ladies.file.read(out .. "/ablate.csv")
  lu.assertStrContains(csv, ("\ntoy,paper,self nodes batch,3,%s,"):format(statistics.mean(changed)))
end

--- The user's settings are what changes are made to.
function tests.test_own_settings()
  local out, settings = temporary.path "own", {layers = 2, hidden = 8, batch_size = 20, lr = 0.02,
    max_batches = 2, self_nodes = "batch", dropout = 0.5}
  local result = ablate(out, {presets = {"paper"}, runs = 1, parts = {"changes"},
    settings = settings})
  local records, n = records_of(out)
  lu.assertEquals(n, 10)         -- two of self nodes, two of dropout, five others, and the base
  lu.assertEquals(records["toy, paper: as it is, seed 1"].config.self_nodes, "batch")
  lu.assertEquals(records["toy, paper: dropout 0.2, seed 1"].config.self_nodes, "batch")
  lu.assertEquals(records["toy, paper: self nodes none, seed 1"].config.self_nodes, "none")
  lu.assertNil(tostring(result):find("±", 1, true))      -- a single run has no interval
end

--- Every change is one: all other settings are those of the preset.
function tests.test_settings()
  local out = temporary.path "settings"
  lu.assertNotStrContains(tostring(ablate(out, {presets = {"code"}, runs = 1})), "interval")
  local records, n = records_of(out)
  lu.assertEquals(n, 10 + 12 - 3)            -- what both parts have is run once
  local base = records["toy, code: as it is, seed 1"].config
  local function changes(label)
    local found = {}
    local config = records["toy, code: " .. label .. ", seed 1"].config
    for key, value in pairs(config) do
      if base[key] ~= value then found[key] = value end
    end
    return found
  end
  lu.assertEquals(changes "draw wr", {draw = "wr", union = "pre"})
  lu.assertEquals(changes "normalize sym", {normalize = "sym"})
  lu.assertEquals(changes "row normalize false", {row_normalize = false})
  lu.assertEquals(changes "dropout 0", {dropout = 0, head_dropout = 0})
  lu.assertEquals(changes "FastGCN", {method = "fastgcn"})
  lu.assertEquals(changes "uniform, neighbourhood, self nodes none",
    {probability = "uniform", self_nodes = "none"})
  lu.assertEquals(changes "uniform, all nodes",
    {method = "fastgcn", probability = "uniform"})
end

function tests.test_cross()
  local out = temporary.path "cross"
  local result = ablate(out, {presets = {"paper"}, parts = {"cross"}, jobs = 2})
  local notes = table.concat(result.notes, "\n")
  lu.assertStrContains(notes, "Columns none, previous, batch: ")
  lu.assertNotStrContains(notes, '"difference" is to the preset')
  local records, n = records_of(out)
  lu.assertEquals(n, 24)
  local cells = cells_of(tostring(result), "FastGCN")
  lu.assertEquals({#cells, cells[2]}, {10, "toy"})      -- F1s, then differences
  local f1 = {}
  for seed = 1, 2 do
    f1[seed] = 100 * records["toy, paper: FastGCN, self nodes previous, seed " .. seed].test_f1
  end
  lu.assertEquals(cells[4], ("%.1f ± %.1f"):format(statistics.mean(f1),
    statistics.half_width(f1)))
  local difference = {}
  for seed = 1, 2 do
    difference[seed] = 100 * records["toy, paper: self nodes previous, seed " .. seed].test_f1
      - f1[seed]
  end
  local mean, half = statistics.mean(difference), statistics.half_width(difference)
  lu.assertEquals(cells[9], ("%+.1f ± %.1f"):format(mean, half))
  local above, below = tostring(result):match
    "\n%* FastGCN: LADIES is above it (.-), and below it (.-)%."
  lu.assertEquals(above:find("previous (toy)", 1, true) ~= nil, mean > half)
  lu.assertEquals(below:find("previous (toy)", 1, true) ~= nil, mean < -half)
end

--- The words below the table name the data sets whose intervals exclude zero.
function tests.test_words_of_the_cross()
  local out = temporary.path "words"
  ablate(out, {presets = {"paper"}, parts = {"cross"}})
  local lines = {}
  for line in io.lines(out .. "/results.jsonl") do        -- FastGCN far below, without a union
    local f1 = line:find('paper: FastGCN, seed', 1, true) and 0.1
      or line:find('paper: as it is, seed', 1, true) and 0.9
    lines[#lines + 1] = f1 and line:gsub('"test_f1":[%d.e-]+', '"test_f1":' .. f1) or line
  end
  ladies.file.write(out .. "/results.jsonl", table.concat(lines, "\n") .. "\n")
  local text = tostring(ablate(out, {presets = {"paper"}, parts = {"cross"}}))
  lu.assertStrContains(text, "* FastGCN: LADIES is above it with the union none (toy)")
end

return tests
