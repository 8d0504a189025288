--- Tests that a seed gives what it gave in the first version that had it: nodes, graphs, batches
-- and runs. A change here changes what others have published with a seed.
local lu = require "luaunit"
local ladies = require "ladies"
local toy = require "reference.toy_data"

local tests = {}

local function text(idx) return table.concat(idx:to_table(), " ") end

local data = ladies.generate.power_law{nodes = 300, entries = 2400, classes = 4, features = 8,
  seed = 5}
local A, P = data.graph.adjacency, data.graph:normalize "sym"

function tests.test_nodes()
  lu.assertEquals(text(ladies.sampling.permutation(10, ladies.rng(3))), "8 5 9 2 6 1 7 3 10 4")
  local train, val = ladies.data.random_split(12, {train = 0.3, val = 0.2, seed = 7})
  lu.assertEquals({text(train), text(val)}, {"1 3 5 9", "6 12"})
  local parts = {ladies.data.class_split(data, {per_class = 2, val = 4, test = 5})}
  for i, part in ipairs(parts) do parts[i] = text(part) end
  lu.assertEquals(parts, {"44 69 79 81 231 288 294 297", "61 116 203 205", "2 25 48 52 261"})
end

function tests.test_graphs()
  lu.assertEquals(text(data.labels:slice(1, 20)), "4 2 2 1 4 1 2 2 2 4 2 2 2 4 4 4 1 4 2 4")
  lu.assertEquals({#data.train, text(data.train:slice(1, 5)), text(data.val:slice(1, 5))},
    {30, "3 4 17 50 59", "9 27 29 30 43"})
  lu.assertEquals(text(A:col_of():slice(1, 12)), "14 155 164 208 236 282 81 83 163 197 198 209")
  local block = ladies.generate.block_model{nodes = 100, p_inside = 0.1, p_outside = 0.01,
    classes = 3, features = 2, overlap = 0.2, seed = 2}
  lu.assertEquals(text(block.graph.adjacency:col_of():slice(1, 12)),
    "2 37 1 37 38 70 72 92 6 33 36 43")
end

function tests.test_shuffled()
  local labels = ladies.data.shuffled(data, {what = "labels", seed = 2}).labels
  lu.assertEquals(text(labels:slice(1, 20)), "1 4 2 2 4 4 1 4 4 2 2 4 2 4 2 1 2 1 4 4")
  local edges = ladies.data.shuffled(data, {what = "edges", seed = 2}).graph.adjacency
  lu.assertEquals(text(edges:col_of():slice(1, 12)),
    "33 28 202 194 125 107 115 113 240 273 263 176")
end

function tests.test_partitions()
  local parts = ladies.partition.of(A, 70, {by = "random", seed = 4})
  lu.assertEquals({text(parts[1]), text(parts[70])}, {"20 117 153 207 216", "31 186 244 259"})
end

-- The batches of an epoch, each as nodes of the input, their sum, the output by place, and entries.
local function batches(sampler)
  local list = {}
  for batch in ladies.batches(data.train, {batch_size = 16, sampler = sampler, seed = 9}) do
    local inputs, outputs = 0, 0
    for _, v in ipairs(batch.input:to_table()) do inputs = inputs + v end
    for i, v in ipairs(batch.output:to_table()) do outputs = outputs + i * v end
    list[#list + 1] = ("%d %d %d %d"):format(#batch.input, inputs, outputs,
      batch.blocks[1].adj.nnz)
  end
  return table.concat(list, ", ")
end

function tests.test_batches()
  local S, sizes = ladies.samplers, {20, 10}
  for _, case in ipairs{
    {"281 42511 28767 1433, 279 41887 17210 1167",
      S.full(P, {layers = 2})},
    {"20 3763 22959 25, 20 3154 11192 28",
      S.ladies(P, {samples = sizes})},
    {"44 7344 22959 94, 40 5111 11192 80",
      S.ladies(P, {samples = sizes, draw = "wr", self_nodes = "previous"})},
    {"38 5795 22959 84, 33 4543 11192 74",
      S.ladies(P, {samples = sizes, draw = "poisson", self_nodes = "batch"})},
    {"33 5158 22959 63, 31 4444 11192 60",
      S.ladies(P, {samples = sizes, union = "post", self_nodes = "batch"})},
    {"20 3296 22959 23, 20 2696 11192 31",
      S.ladies(P, {samples = sizes, flat = true})},
    {"20 3676 22959 21, 20 2800 11192 26",
      S.ladies(P, {samples = sizes, probability = "uniform", debias = true})},
    {"20 3211 22959 3, 20 1813 11192 10",
      S.fastgcn(P, {samples = sizes})},
    {"20 2740 22959 24, 20 3148 11192 23",
      S.fastgcn(P, {samples = sizes, draw = "wor", candidates = "touched"})},
    {"109 17059 22959 170, 97 16063 11192 146",
      S.graphsage(P, {samples = {3, 2}})},
    {"90 13238 816400 340, 90 13151 777573 286, 60 8513 349757 156, 60 10248 404249 130",
      S.clustergcn(A, {train = data.train, parts = 10, clusters = 3, partition = "random", seed = 6,
        layers = 2})},
  } do
    lu.assertEquals(batches(case[2]), case[1])
  end
end

--- Whole runs have the results that they had; F1 is a ratio of small numbers, so that the last bits
-- of a machine do not matter.
function tests.test_runs()
  for _, case in ipairs{
    {"ladies", "40 20 0.9167 0.8500"}, {"fastgcn", "40 40 0.5000 0.4667"},
    {"graphsage", "40 20 0.8833 0.9000"}, {"vrgcn", "40 30 0.8833 0.9000"},
    {"full", "40 40 0.9333 0.9167"},
  } do
    local method, expected = table.unpack(case)
    local config = ladies.experiment.configure{method = method, model = "gcn", layers = 2,
      hidden = 8, batch_size = 20, lr = 0.02, max_batches = 40, patience = 0, eval_every = 10,
      seed = 3, normalize = "sym", samples = method ~= "full" and 5 or nil}
    local summary = ladies.experiment.run(config, toy.new(), {quiet = true})
    lu.assertEquals(("%d %d %.4f %.4f"):format(summary.batches, summary.best_batch, summary.val_f1,
      summary.test_f1), expected, method)
  end
end

return tests
