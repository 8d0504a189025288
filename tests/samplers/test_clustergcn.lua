--- Cluster-GCN: every batch of a small graph against a dense reference, epochs, clusters without
-- training nodes, odd graphs, and bits.
local lu = require "luaunit"
local ladies = require "ladies"
local compare = require "reference.compare"
local dense = require "reference.dense"
local statistics = require "reference.statistics"
local toy = require "reference.toy_data"

local fails = lu.assertErrorMsgContains
local index, clustergcn = ladies.index, ladies.samplers.clustergcn

local tests = {}

math.randomseed(7)

local PARTS = {index{1, 5, 9}, index{2, 3}, index{4, 13, 6, 7}, index{8}, index{10, 11, 12}}

-- The sorted numbers of the parts that a batch is made of, as text; an error unless it is all of
-- them.
local function parts_in(batch, parts)
  local of = ladies.partition.part_of("test", parts, toy.NODES)
  local found, names, size = {}, {}, 0
  for _, v in ipairs(batch.output:to_table()) do found[of[v]] = true end
  for i, part in ipairs(parts) do
    if found[i] then names[#names + 1], size = i, size + #part end
  end
  lu.assertEquals(#batch.output, size)
  return table.concat(names, " ")
end

-- The block's matrix as the formulas say, on the rows and columns of the batch.
local function expected(D, nodes, opts)
  local S = dense.normalize(dense.pick(D, nodes, nodes), opts.normalize or "row",
    opts.self_loops ~= false)
  return dense.map(S, function(v, r, c)
    return r == c and (v or 0) * (1 + (opts.lambda or 0)) or v or 0
  end)
end

--- All pairs of five parts come up, as often as each other, with the matrix of the formula, in
-- every way to normalise.
function tests.test_normalisation_by_enumeration()
  dense.cases(function(A, D)
    for _, opts in ipairs{{}, {normalize = "sym"}, {self_loops = false}, {lambda = 1},
        {lambda = 0.5, normalize = "sym"}} do
      local given = {layers = 2, train = ladies.range(1, 13), parts = PARTS, clusters = 2}
      for name, value in pairs(opts) do given[name] = value end
      local sampler, counts = clustergcn(A, given), {}
      for i = 1, 200 do
        local batch = sampler(nil, nil, {index = 1, rng = ladies.rng(i)})
        local pair = parts_in(batch, PARTS)
        if not counts[pair] then
          ladies.sampling.check(batch)
          local nodes, adj = batch.output:to_table(), batch.blocks[1].adj
          compare.assert_close(adj:to_dense(), expected(D, nodes, opts), 1e-6, pair)
          lu.assertIs(batch.blocks[2], batch.blocks[1])
          lu.assertEquals(batch.stats.isolated, 2 * adj:empty_rows())
          lu.assertTrue(batch.output[batch.loss_nodes]:sort() == batch.output)
        end
        counts[pair] = (counts[pair] or 0) + 1
      end
      local means = {}
      for i = 1, 5 do
        for j = i + 1, 5 do means[("%d %d"):format(i, j)] = 20 end
      end
      statistics.assert_frequencies(counts, means)
    end
  end)
end

-- Runs two epochs; asserts that each sees every training node once and no batch is without one or
-- has more than `most` parts. Returns the batches.
local function epochs(sampler, train, parts, most)
  local seen, all = {}, {}
  for batch in ladies.batches(train, {sampler = sampler, epochs = 2, seed = 3}) do
    lu.assertTrue(#batch.loss_nodes > 0)
    local names = parts_in(batch, parts)
    lu.assertTrue(select(2, names:gsub("%d+", "")) <= most)
    seen[batch.epoch] = (seen[batch.epoch] or index{}) .. batch.output[batch.loss_nodes]
    all[#all + 1] = names
  end
  for epoch = 1, 2 do lu.assertTrue(seen[epoch]:sort() == train:sort()) end
  lu.assertEquals(#all, 2 * sampler.batches_per_epoch)
  return all
end

function tests.test_every_training_node_once()
  local data = toy.new()
  local A = data.graph.adjacency
  for _, k in ipairs{1, 2, 7, 30} do
    local parts = ladies.partition.of(A, k, {by = "random"})
    for _, q in ipairs{1, 2, 5, 100} do
      local sampler = clustergcn(A, {layers = 1, train = data.train, parts = parts, clusters = q})
      local with = 0                                       -- parts that have training nodes
      for _, part in ipairs(parts) do
        if #ladies.sampling.find(part, data.train) > 0 then with = with + 1 end
      end
      lu.assertEquals(sampler.batches_per_epoch, math.min(with, math.ceil(k / q)))
      epochs(sampler, data.train, parts, q)
    end
  end
end

--- Batches always have training nodes where only two of five parts do; the other parts fill the
-- room.
function tests.test_clusters_without_training_nodes()
  local A = dense.random_pair(math.random, 13, 13, {})
  local train = index{2, 13, 4}
  local cases = {
    {q = 1, batches = 2}, {q = 2, batches = 2}, {q = 3, batches = 2}, {q = 5, batches = 1},
  }
  for _, case in ipairs(cases) do
    local sampler = clustergcn(A, {layers = 1, train = train, parts = PARTS, clusters = case.q})
    lu.assertEquals(sampler.batches_per_epoch, case.batches)
    for _, names in ipairs(epochs(sampler, train, PARTS, case.q)) do
      local _, count = names:gsub("%d+", "")
      lu.assertTrue(count >= math.min(case.q, 5 // case.batches))
    end
  end
end

--- Parts that are empty, leave nodes out, or do not hold what they must.
function tests.test_given_parts()
  local A = dense.random_pair(math.random, 13, 13, {})
  local opts = {layers = 1, train = index{1, 4}, parts = {index{}, index{1, 2}, index{}, index{4}},
    clusters = 1}
  local sampler = clustergcn(A, opts)
  lu.assertEquals({sampler.n_clusters, sampler.batches_per_epoch, sampler.cut}, {2, 2})
  epochs(sampler, opts.train, opts.parts, 1)
  opts.parts = {index{1, 2}}
  fails("parts must hold every training node; one is in none", clustergcn, A, opts)
  opts.parts = {index{1, 2}, index{2, 4}}
  fails("node 2 is in parts[1] and in parts[2]", clustergcn, A, opts)
  opts.parts = {index{1, 2}, 7}
  fails("parts[2] must be an Index, got 7", clustergcn, A, opts)
  opts.parts, opts.train = {index{1, 2}}, index{1, 1}
  fails("training node 1 occurs twice", clustergcn, A, opts)
  opts.train = index{}
  fails("train must not be empty", clustergcn, A, opts)
  opts.train = index{14}
  fails("out of range", clustergcn, A, opts)
end

--- Directed, disconnected, star, self-loops and isolated nodes; more parts than nodes.
function tests.test_odd_graphs()
  local star, directed, loops = {{}, {}}, {{}, {}}, {{}, {}}
  for v = 2, 13 do
    star[1][v - 1], star[2][v - 1] = 1, v
    directed[1][v - 1], directed[2][v - 1] = v, v // 2
    loops[1][v - 1], loops[2][v - 1] = v, v
  end
  for _, edges in ipairs{star, directed, loops, {{}, {}}} do
    local A = ladies.matrix{n_rows = 13, n_cols = 13, rows = index(edges[1]),
      cols = index(edges[2])}
    for _, k in ipairs{1, 3, 13, 40} do
      local how = ladies.have_metis and "metis" or "random"
      local sampler = clustergcn(A, {layers = 2, train = ladies.range(1, 13), parts = k,
        clusters = 3, partition = how, lambda = 1})
      for batch in ladies.batches(ladies.range(1, 13), {sampler = sampler}) do
        lu.assertTrue(batch.blocks[1].adj:entry_values():is_finite())
        lu.assertEquals(batch.stats.isolated, 0)            -- the self-loops are there
      end
    end
  end
end

--- A batch without a place in an epoch is made of the clusters that hold the seeds.
function tests.test_given_seeds()
  local A = dense.random_pair(math.random, 13, 13, {})
  local sampler = clustergcn(A, {layers = 2, train = index{1}, parts = PARTS, clusters = 1})
  local seeds = index{12, 7, 10, 4}
  local batch = ladies.sampling.check(sampler(seeds))
  lu.assertEquals(parts_in(batch, PARTS), "3 5")
  lu.assertTrue(batch.output[batch.loss_nodes] == seeds)
  fails("the seeds must be an Index, got nil", sampler)
  fails("out of range", sampler, index{14})
  sampler = clustergcn(A, {layers = 2, train = index{1}, parts = {index{1, 2}}})
  fails("the parts must hold every seed; one is in none", sampler, index{2, 3})
end

--- Batch i of epoch e is a function of (seed, e, i): the same from the start and in the middle.
function tests.test_bits()
  local data = toy.new()
  local sampler = clustergcn(data.graph.adjacency, {layers = 2, train = data.train, parts = 12,
    clusters = 5, partition = "random"})
  local function hashes(options)
    local list = {}
    options.sampler, options.epochs = sampler, 3
    for batch in ladies.batches(data.train, options) do
      list[#list + 1] = batch.output:hash() .. batch.blocks[1].adj:hash() .. batch.loss_nodes:hash()
    end
    return list
  end
  local all = hashes{seed = 8}
  lu.assertEquals(#all, 9)
  lu.assertEquals(hashes{seed = 8, start = {epoch = 2, batch = 2}}, table.move(all, 5, 9, 1, {}))
  lu.assertNotEquals(hashes{seed = 9}, all)
  lu.assertNotEquals(all[1] .. all[2] .. all[3], all[4] .. all[5] .. all[6])
end

return tests
