--- The laboratory's statistics of how the layers of a mini-batch are connected, and of which nodes
-- an epoch draws: against counts in tables, on samplers made for these tests.
local lu = require "luaunit"
local ladies = require "ladies"
local by_degree = require "ladies.lab.nodes.by_degree"
local connection = require "ladies.lab.nodes.connection"
local Context = require "ladies.lab.context"
local coverage = require "ladies.lab.nodes.coverage"
local graphs = require "reference.graphs"
local subject = require "ladies.lab.subject"
local tables = require "ladies.base.tables"
local toy = require "reference.toy_data"

local index = ladies.index

local OPTS = {batch_size = 20, layers = 2, hidden = 4, steps = 1, seed = 3}

local tests = {}

-- The statistics of a mini-batch by key.
local function seen(batch, P)
  local found = {}
  for _, one in ipairs(connection.statistics(#batch.blocks)) do
    found[one.key:gsub("^connection%.", "")] = one.see(batch, {P = P})
  end
  return found
end

-- ---------------------------------------------------------------- a mini-batch

-- Counts the statistics of a layer in plain loops.
local function counted(block, P)
  local there, adj = P:to_dense():to_table(), block.adj:to_dense():to_table()
  local dst, src = block.dst:to_table(), block.src:to_table()
  local n = {rows = 0, empty = 0, joined = 0, alone = 0, entries = 0, kept = 0}
  local sources = {}
  for _, u in ipairs(src) do sources[u] = true end
  for i, v in ipairs(dst) do
    local all, others = 0, 0
    for j, u in ipairs(src) do
      if adj[i][j] ~= 0 then
        all = all + 1
        others = others + (u ~= v and 1 or 0)
      end
    end
    local has, joins = false, false
    for u, value in ipairs(there[v]) do
      if value ~= 0 then has, joins = true, joins or u ~= v end
    end
    if has then n.rows, n.empty = n.rows + 1, n.empty + (all == 0 and 1 or 0) end
    if joins then n.joined, n.alone = n.joined + 1, n.alone + (others == 0 and 1 or 0) end
    n.entries = n.entries + all
    n.kept = n.kept + (sources[v] and 1 or 0)
  end
  return {empty = n.empty / n.rows, alone = n.alone / n.joined, entries = n.entries / #dst,
    reuse = n.entries / #src, kept = n.kept / #dst, nodes = #src}
end

function tests.test_statistics_of_layers()
  for name, A in pairs{directed = graphs.directed(), isolated = graphs.isolated(),
    loops = graphs.self_loops(), random = graphs.random(30, 3, 1)} do
    for _, P in ipairs{A, A:normalize "sym"} do
      local sampler = ladies.samplers.fastgcn(P, {samples = {6, 4}, draw = "wor"})
      for trial = 1, 10 do
        local rng = ladies.rng(trial)
        local batch = sampler(ladies.sampling.uniform(P.n_rows, 5, {rng = rng}), rng)
        local found = seen(batch, P)
        for l, block in ipairs(batch.blocks) do
          for key, value in pairs(counted(block, P)) do
            local own = found[("%s.%d"):format(key, l)]
            if value ~= value then
              lu.assertNil(own)                                   -- no row that counts
            else
              lu.assertAlmostEquals(own, value, 1e-6, ("%s %s"):format(name, key))
            end
          end
        end
      end
    end
  end
end

function tests.test_statistics_of_the_whole()
  -- Nodes 1, 2 above 2, 3, above 3, 1, 4: four distinct ones in seven rows.
  local adj = ladies.sparse(ladies.tensor{{1, 0}, {1, 1}})
  local wide = ladies.sparse(ladies.tensor{{1, 1, 1}, {0, 0, 1}})
  local batch = {output = index{1, 2}, input = index{3, 1, 4}, blocks = {
    {adj = wide, dst = index{2, 3}, src = index{3, 1, 4}},
    {adj = adj, dst = index{1, 2}, src = index{2, 3}},
  }}
  local found = seen(batch, ladies.sparse(ladies.ones(4, 4)))
  lu.assertEquals(found.nodes, 4)
  lu.assertAlmostEquals(found.rows, 7 / 4, 1e-12)
  lu.assertAlmostEquals(found.draws, 7 / 4, 1e-12)
  lu.assertEquals(found["alone.2"], 0)
  lu.assertEquals({found["nodes.1"], found["nodes.2"]}, {3, 2})
end

function tests.test_sentences_and_receptive_field()
  local findings = {}
  for i, one in ipairs(connection.statistics(3)) do
    lu.assertEquals(one.section, "connection")
    findings[i] = tables.merged({key = one.key}, {mean = i, low = i - 0.5, high = i + 0.5, n = 9})
    for _, mean in ipairs{0, 0.5} do
      lu.assertEvalToTrue(not one.sentence or #one.sentence{mean = mean} > 10)
    end
    lu.assertStrContains(one.format:format(1.5), "1.5")
  end
  local series = connection.receptive_field(findings, "mine")
  lu.assertEquals(#series.lines[1].points, 3)
  for l, point in ipairs(series.lines[1].points) do
    local one = tables.by_field(findings, "key")["connection.nodes." .. l]
    lu.assertEquals(point, {l, one.mean, one.low, one.high})
  end
end

-- ---------------------------------------------------------------- epochs

local data = toy.new()
local context = Context.new(data, OPTS)

local function covered(given)
  local one = subject.of("test", given, data, OPTS)
  local findings, series = coverage.examine(one, context, 0)
  return tables.by_field(findings, "key"), series[1].lines[1].points
end

--- With whole neighbourhoods everything in reach is read, and nodes that each batch reads are read
-- equally often.
function tests.test_coverage_of_whole_neighbourhoods()
  local found = covered "full"
  lu.assertEquals(found["coverage.batches"].mean, 3)
  lu.assertEquals(found["coverage.never"].mean, 0)
  lu.assertEquals(found["coverage.unseen"].mean, 0)
  lu.assertEquals(found["coverage.unseen"].sentence,
    "Every training node is in the loss of every epoch.")
  lu.assertEquals(found["coverage.outside"].mean, 0)
  lu.assertStrContains(found["coverage.never"].sentence, "An epoch reads all")
end

-- Returns a sampler whose mini-batches have the seeds, the nodes `others`, and no edges.
local function alone(others, seeds_of)
  return function(seeds)
    seeds = seeds_of and seeds_of(seeds) or seeds
    local src = ladies.sampling.union(seeds, index(others))
    local adj = ladies.matrix{n_rows = #seeds, n_cols = #src, rows = index{}, cols = index{}}
    return {blocks = {{adj = adj, dst = seeds, src = src}}, input = src, output = seeds}
  end
end

--- Coverage counts the nodes that are drawn: the seeds, and one node in each of the three
-- mini-batches.
function tests.test_coverage_of_a_sampler_without_edges()
  local P = data.graph:normalize "sym"
  local train = data.train:to_table()
  local is_train = {}
  for _, v in ipairs(train) do is_train[v] = true end
  local near = {}                                       -- in reach, no training node
  local _, all = P:slice(data.train)
  for _, v in ipairs(all:to_table()) do near[#near + 1] = not is_train[v] and v or nil end
  local reach = #train + #near
  local sampler = setmetatable({P = P, name = "alone"}, {__call = function(_, ...)
    return alone{near[1]}(...)
  end})
  local found, points = covered(sampler)
  lu.assertAlmostEquals(found["coverage.never"].mean, (#near - 1) / reach, 1e-6)
  lu.assertEquals(found["coverage.never"].low, found["coverage.never"].high)
  lu.assertEquals(found["coverage.unseen"].mean, 0)
  lu.assertEquals(found["coverage.outside"].mean, 0)
  lu.assertAlmostEquals(found["coverage.effective"].mean, (#train + 3) ^ 2 / (#train + 9), 1e-3)
  local sum = 0
  for _, point in ipairs(points) do
    lu.assertTrue(point[3] <= point[2] and point[2] <= point[4])
    sum = sum + point[2]
  end
  lu.assertTrue(sum > 0)
end

--- For samplers that draw their own seeds, coverage counts training nodes that are never seeds, and
-- drawn nodes that are not in reach of any training node.
function tests.test_coverage_of_own_seeds()
  local P = data.graph:normalize "sym"
  local half = data.train:slice(1, #data.train // 2)
  local sampler = setmetatable({P = P, name = "half", batches_per_epoch = 4},
    {__call = function(_, ...)
      return alone({60, 90}, function() return half end)(...)         -- isolated nodes
    end})
  local found = covered(sampler)
  lu.assertEquals(found["coverage.batches"].mean, 4)
  lu.assertAlmostEquals(found["coverage.unseen"].mean, 1 - #half / #data.train, 1e-6)
  lu.assertAlmostEquals(found["coverage.outside"].mean, 2 / (#half + 2), 1e-6)
  lu.assertEquals(covered "clustergcn"["coverage.unseen"].mean, 0)
end

--- The coverage of a sampler that remembers something, which training would refuse, is counted all
-- the same.
function tests.test_coverage_of_a_sampler_that_remembers()
  local P, calls = data.graph:normalize "sym", 0
  local found = covered(setmetatable({P = P, name = "counting"}, {__call = function(_, ...)
    calls = calls + 1
    return alone{calls % 180 + 1}(...)
  end}))
  lu.assertEquals(found["coverage.unseen"].mean, 0)
end

--- Coverage is counted over several epochs with intervals, for samplers in step with training too.
function tests.test_intervals()
  for _, name in ipairs{"ladies:8", "fastgcn:8", "vrgcn", "mvs", "asgcn:8", "grapes:8"} do
    local found = covered(name)
    local never = found["coverage.never"]
    lu.assertTrue(never.n >= 4 and never.low < never.mean and never.mean < never.high, name)
  end
  lu.assertTrue(covered "fastgcn:8"["coverage.outside"].mean > 0)
  lu.assertEquals(covered "ladies:8"["coverage.outside"].mean, 0)
end

function tests.test_by_degree()
  local all = by_degree.new()
  for repetition = 1, 5 do
    all:add({0, 1, 2, 3, 4, 100}, {1, 3, 10, 10, repetition, 7})
  end
  all:add({9}, {1})
  local points = all:points()
  lu.assertEquals(#points, 4)                                 -- the bin of 9 has one repetition
  lu.assertEquals(points[1], {0.5, 2, 2, 2})
  lu.assertEquals(points[2], {2.5, 10, 10, 10})
  lu.assertEquals({points[3][1], points[3][2]}, {4, 3})
  lu.assertAlmostEquals(points[3][4] - 3, 2.776445 * math.sqrt(2.5 / 5), 1e-5)
  lu.assertEquals(points[4], {100, 7, 7, 7})
end

return tests
