--- doc/gallery.md: its samplers are as short as it says, draw with the probabilities that it says,
-- and the laboratory says of them what it says; its tables come from the command that it names.

local lu = require "luaunit"
local ladies = require "ladies"
local page_blocks = require "tools.page_blocks"
local shell = require "tools.shell"

local tests = {}
local root = os.getenv "LADIES_SOURCE"

local DATA = ladies.generate.power_law{nodes = 400, entries = 3200, features = 12, classes = 3,
  signal = 0.5}:split("50/20/30")

local listings, commands = {}, {}
local PAGE = ladies.file.read(root .. "/doc/gallery.md")
for _, block in ipairs(page_blocks(PAGE)) do
  if block.file then listings[block.file:match "^(.*)%.lua$"] = block.text end
  if block.language == "sh" then
    for line in block.text:gmatch "[^\n]+" do commands[#commands + 1] = line end
  end
end

local function sampler_of(name, P, settings)
  return assert(load(listings[name], "@" .. name))()(P, settings)
end

function tests.test_at_most_15_lines()
  local count = 0
  for name, text in pairs(listings) do
    local _, lines = text:gsub("[^\n]*%S[^\n]*\n", "")
    lu.assertTrue(lines <= 15, name)
    count = count + 1
  end
  lu.assertEquals(count, 4)
end

-- ---------------------------------------------------------------- probabilities

local P = DATA.graph:normalize "sym"
local SEEDS = ladies.sampling.uniform(400, 40, {rng = ladies.rng(3)}):sort()
local DRAWS = 2000

-- Counts how often each node was drawn below SEEDS, and returns the last blocks of the
-- mini-batches, too.
local function drawn(name, samples)
  local sampler, counts, blocks = sampler_of(name, P, {layers = 1, samples = samples}),
    ladies.zeros(400), {}
  for i = 1, DRAWS do
    local block = sampler(SEEDS, ladies.rng(1):fork(i)).blocks[1]
    counts:add_at_(block.src, 1)
    blocks[i] = block
  end
  return counts, blocks
end

-- 5.5 deviations: by chance one of 400 nodes is further off in one of 60,000 runs; with these seeds
-- none is.
local function assert_shares(counts, expected)
  for u = 1, 400 do
    local p = expected[u]
    local off = math.abs(counts:get(u, 1) / DRAWS - p)
    lu.assertTrue(off <= 5.5 * math.sqrt(p * (1 - p) / DRAWS) + 1e-6, ("node %d"):format(u))
  end
end

-- A row draws k of its d entries; a node is missed where all rows miss it.
function tests.test_pooled_draws_as_it_weighs()
  for _, k in ipairs{1, 3} do
    local missed = {}
    for u = 1, 400 do missed[u] = 1 end
    for i = 1, #SEEDS do
      local U, near = P:slice(SEEDS:slice(i, i))
      for j = 1, #near do missed[near[j]] = missed[near[j]] * (1 - math.min(1, k / U.nnz)) end
    end
    local expected = {}
    for u = 1, 400 do expected[u] = 1 - missed[u] end
    assert_shares(drawn("pooled_draws", k), expected)
  end
end

-- Every node has the probability that the column sums of D^-1 P give it, the number of nodes is
-- that of the samples, and no row of these is left empty as often as where columns are drawn alone.
function tests.test_in_turn_draws_as_it_weighs()
  local U, near = P:slice(SEEDS)
  local pi = ladies.sampling.poisson_probabilities(U:row_normalize():col_sums(), 50)
  local expected = {}
  for u = 1, 400 do expected[u] = 0 end
  for j = 1, #near do expected[near[j]] = pi[j] end
  local counts, blocks = drawn("in_turn", 50)
  assert_shares(counts, expected)
  for _, block in ipairs(blocks) do lu.assertTrue(math.abs(#block.src - 50) <= 1) end
end

-- Rows that have an entry have P's sum.
function tests.test_row_sums()
  local sums = P:row_sums()[SEEDS]
  for _, name in ipairs{"row_sums", "in_turn", "pooled_draws"} do
    local _, blocks = drawn(name, 2)
    for i = 1, 20 do
      local adj = blocks[i].adj
      local off = (adj:row_sums() - sums) * adj:degrees():above(0)
      lu.assertTrue(off:abs():max() < 1e-5, name)
    end
  end
end

-- ---------------------------------------------------------------- what the laboratory says

local function examined(name, samples)
  return ladies.lab({name = name, sampler = function(matrix)
    return sampler_of(name, matrix, {layers = 2, samples = samples})
  end}, {dataset = DATA, against = {}, hidden = 16, batch_size = 60, seconds = 0.2, quiet = true})
end

local function text_of(lab)
  return (tostring(lab):gsub("%s+", " "))
end

function tests.test_verdicts()
  local pooled = examined("pooled_draws", 4)
  for _, one in ipairs(pooled.examinations[1].faults) do   -- dividing by row sums has its price
    lu.assertEquals({one.kind, one.key:match "^bias%.%d%.columns$" ~= nil}, {"warning", true})
  end
  lu.assertStrContains(text_of(pooled), "Its embedding is close to unbiased")
  local same = text_of(examined("same_numbers", 60))
  lu.assertStrContains(same, "Layer 1 is off by ")
  lu.assertStrContains(same, "by columns and by whether they are destinations too")
  for _, name in ipairs{"row_sums", "in_turn"} do
    local text = text_of(examined(name, 60))
    lu.assertNotStrContains(text, "Something is wrong")
    lu.assertNotStrContains(text, "the rows of the blocks that have entries")
  end
end

-- ---------------------------------------------------------------- the commands

-- Runs a command of the page with other options, on a small graph; returns what it printed.
local function run(folder, command, more)
  local words = shell.words((command .. " " .. more):gsub("^ladies ", "", 1))
  return (shell.succeeded(shell.run_ladies(words, {folder = folder.path})))
end

-- The rows of the table of tries in a text by their names, in their order.
local function tries_of(text)
  local names = {}
  local rows = text:match "| sampler: what it does.-\n|[-:| ]*\n(.-)\n\n"
  for name in ("\n" .. (rows or "")):gmatch "\n|%s*([^|]-):" do names[#names + 1] = name end
  return names
end

function tests.test_the_commands()
  local folder <close> = shell.folder()
  ladies.data.save(DATA, folder.path .. "/graph.npz")
  for name, text in pairs(listings) do
    ladies.file.write(("%s/%s.lua"):format(folder.path, name), text)
  end
  lu.assertEquals(#commands, 3)
  local lab = run(folder, commands[1]:gsub("cora", "./graph.npz"), "--seconds 0.1 --quiet")
  lu.assertStrContains(lab, "Compared at equal numbers of distinct nodes")
  local small = "--groups 2 --draws 2 --batches 2 --tries-on ./graph.npz --datasets ./graph.npz"
  local tries, graphs = run(folder, commands[2], small), run(folder, commands[3], small)
  for name in pairs(listings) do
    lu.assertStrContains(tries, "| " .. name:gsub("_draws$", "") .. ": ")
  end
  lu.assertEquals(tries_of(tries .. "\n"), tries_of(PAGE))
  lu.assertStrContains(graphs, "| ./graph.npz: GraphSAGE (4) ")
end

return tests
