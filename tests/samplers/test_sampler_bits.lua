--- A sampler's mini-batch follows from its seeds and its rng: it has the same bits with any number
-- of threads and workers, and another stream of random numbers gives another one.
local lu = require "luaunit"
local ladies = require "ladies"
local graphs = require "reference.graphs"
local tables = require "ladies.base.tables"

local samplers, sampling = ladies.samplers, ladies.sampling
local tests = {}

local A = graphs.random(3000, 8, 6)
local SEEDS = ladies.range(1, 2000)

-- Name of a sampler, what it takes in place of P, and several settings.
local CASES = {
  {"ladies", A:normalize "sym", {
    {}, {draw = "wr"}, {draw = "poisson"}, {draw = "wor", flat = true}, {debias = true},
    {draw = "wor", self_nodes = "previous"}, {draw = "wor", self_nodes = "batch"},
    {draw = "poisson", self_nodes = "previous"}, {draw = "wr", probability = "uniform"},
    {draw = "wor", union = "post"}, {draw = "wor", union = "post", self_nodes = "batch"},
    samples = {300, 200, 100}}},
  {"fastgcn", A:normalize "sym", {{}, {candidates = "touched"}, {draw = "wor"},
    {self_nodes = "batch"}, samples = {300, 200}}},
  {"graphsage", A:normalize "row", {{}, {replace = true}, {form = "unbiased"},
    {self_nodes = "none"}, samples = {5, 5}}},
  {"labor", A:normalize "row", {{}, {iterations = 2, form = "unbiased"}, {batch_dependency = 4},
    samples = {5, 5}}},
  {"pooled", A:normalize "sym", {{}, {form = "unbiased"}, {self_nodes = "previous"},
    {self_nodes = "batch"}, samples = {2, 3}}},
  {"pps", A:normalize "sym", {{}, {draw = "sampford"}, {self_nodes = "none"},
    samples = {300, 200}}},
  {"temporal", graphs.in_time(3000, 12000, 900, 6).edges, {{}, {strategy = "recent"},
    {normalize = "none"}, samples = {5, 5}, node_times = ladies.range(1, 3000) % 900}},
  {"shadow", A, {{layers = 3, samples = 3}}},
  {"graphsaint", A:normalize "row", {{}, {by = "edge"}, {by = "node"}, {by = "mrw"},
    layers = 2, train = SEEDS, samples = 100, coverage = 5}},
  {"rns", A, {{}, {normalize = "row"}, layers = 2, train = SEEDS, parts = 9}},
  {"clustergcn", A, {{}, layers = 2, train = SEEDS, parts = 40, clusters = 5,
    partition = "random"}},
}

-- The hashes of the mini-batches of two epochs.
local function hashes(sampler, workers)
  local list = {}
  for batch in ladies.batches(SEEDS, {batch_size = 300, epochs = 2, workers = workers,
      sampler = sampler}) do
    list[#list + 1] = sampling.hash(batch)
  end
  return list
end

-- Checks a sampler, new for each reading: what it keeps must not matter.
local function check(name, over, options)
  local function new() return samplers[name](over, options) end
  local want = hashes(new(), 0)
  lu.assertTrue(#want > 7, name)
  lu.assertNotEquals(want[1], want[2], name)
  lu.assertNotEquals(want[1], want[#want // 2 + 1], name)
  for _, n in ipairs{1, 3} do
    ladies.threads(n)
    lu.assertEquals(hashes(new(), n - 1), want, name)
  end
end

-- Why the others are not among them.
local LEARNS = "its batches follow from the steps before, too"
local NOT_HERE = {asgcn = LEARNS, bandit = LEARNS, bliss = LEARNS, grapes = LEARNS, mvs = LEARNS,
  pass = LEARNS, vrgcn = LEARNS, full = "it draws nothing"}

function tests.test_every_sampler_is_here()
  local here = tables.merged(NOT_HERE)
  for _, case in ipairs(CASES) do here[case[1]] = true end
  lu.assertEquals(tables.sorted_keys(here), tables.sorted_keys(samplers))
end

for _, case in ipairs(CASES) do
  local name, over, settings = table.unpack(case)
  tests["test_" .. name] = function()
    for _, own in ipairs(settings) do
      local options = {}
      for key, value in pairs(settings) do
        if type(key) == "string" then options[key] = value end
      end
      for key, value in pairs(own) do options[key] = value end
      check(name, over, options)
    end
  end
end

--- Two calls on one rng differ, and so do forks of it; a fork gives the same again.
function tests.test_streams()
  for _, case in ipairs{CASES[1], CASES[2], CASES[3], CASES[4]} do
    local name, over, settings = table.unpack(case)
    local sampler = samplers[name](over, {samples = settings.samples})
    local function hash(rng) return sampling.hash(sampler(SEEDS, rng)) end
    local rng = ladies.rng(1)
    lu.assertNotEquals(hash(rng), hash(rng), name)
    lu.assertEquals(hash(rng:fork(1)), hash(ladies.rng(1):fork(1)), name)
    lu.assertNotEquals(hash(rng:fork(1)), hash(rng:fork(2)), name)
    lu.assertNotEquals(hash(rng:fork(1)), hash(ladies.rng(2):fork(1)), name)
  end
end

return tests
