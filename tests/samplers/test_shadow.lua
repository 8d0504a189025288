--- ShaDow: ego graphs by the definition, exact where nothing is left to chance, models that read
-- the rows of their own nodes, draws, odd input, training.
local lu = require "luaunit"
local ladies = require "ladies"
local compare = require "reference.compare"
local graphs = require "reference.graphs"
local statistics = require "reference.statistics"
local toy = require "reference.toy_data"

local close, fails = compare.assert_close, lu.assertErrorMsgContains
local index, sampling, shadow = ladies.index, ladies.sampling, ladies.samplers.shadow

local tests = {}

-- The ego graphs of a batch, as Indexes of positions in its src: that of seed i has i itself. They
-- are the components of the first block, as long as each ego graph is connected.
local function egos(batch)
  local block = batch.blocks[1]
  local part, n = block.adj:components()
  local order, ends = part:group(n)
  local list = {}
  for i = 1, #batch.output do
    local c = part[i]
    list[i] = order:slice(ends[c], ends[c + 1] - 1)
  end
  return list, n
end

-- Asserts that a batch's layers are what its ego graphs make them: edges of A, all of them, between
-- the nodes of each, normalised; the seeds first, then the last layer's rows.
local function assert_batch(batch, A, seeds, opts)
  sampling.check(batch, "test", {nodes = A.n_rows})
  lu.assertTrue(batch.output == seeds)
  lu.assertTrue(batch.readout == ladies.range(1, #seeds))
  local ids, list, n = batch.input, egos(batch)
  lu.assertEquals(n, #seeds, "an ego graph a seed")
  local adj, k, nodes = batch.blocks[1].adj, opts.samples, 0
  for i, places in ipairs(list) do
    lu.assertEquals(places[1], i)
    lu.assertEquals(ids[i], seeds[i])
    nodes = nodes + #places
    local most = 0
    for d = 0, opts.depth do most = most + k ^ d end
    lu.assertTrue(#places <= most)
    ids[places]:check_unique "node of an ego graph"
    close(adj:induced(places):to_dense(),
      A:induced(ids[places]):normalize(opts.normalize or "sym"):to_dense(), 1e-6, "ego graph " .. i)
  end
  lu.assertEquals(nodes, #ids)
  local last = batch.blocks[#batch.blocks]
  close(last.adj:to_dense(), adj:rows(batch.readout):to_dense(), 1e-7, "last layer")
  for l = 1, #batch.blocks - 1 do lu.assertIs(batch.blocks[l], batch.blocks[1]) end
end

function tests.test_ego_graphs()
  local A, seeds = graphs.random(60, 3, 1), index{4, 60, 17, 5}
  for _, depth in ipairs{1, 2, 3} do
    for _, k in ipairs{1, 3} do
      for _, normalize in ipairs{"sym", "row"} do
        local opts = {layers = 4, samples = k, depth = depth, normalize = normalize}
        local sampler = shadow(A, opts)
        for seed = 1, 5 do assert_batch(sampler(seeds, ladies.rng(seed)), A, seeds, opts) end
      end
    end
  end
end

--- A node is followed by k of its neighbours, and what is found is followed: not what was known.
function tests.test_depth()
  local entries = {}
  for v = 1, 9 do
    entries[#entries + 1] = {v, v + 1}
    entries[#entries + 1] = {v + 1, v}
  end
  local path = graphs.matrix(10, entries)
  for depth = 1, 4 do
    local batch = shadow(path, {layers = 2, samples = 2, depth = depth})(index{5}, ladies.rng(1))
    lu.assertEquals(batch.input:sort():to_table(),
      ladies.range(math.max(1, 5 - depth), 5 + depth):to_table())
  end
end

--- Each pair of a hub's leaves is as likely, and two seeds' draws do not depend on each other.
function tests.test_draws()
  local entries = {}
  for leaf = 3, 7 do                                   -- two hubs, 1 and 2, with the same leaves
    for hub = 1, 2 do
      entries[#entries + 1] = {hub, leaf}
      entries[#entries + 1] = {leaf, hub}
    end
  end
  local star = graphs.matrix(7, entries)
  local sampler = shadow(star, {layers = 2, samples = 2, depth = 1})
  statistics.assert_equally_likely(statistics.count(5000, function(i)
    local batch, words = sampler(index{1, 2}, ladies.rng(i)), {}
    for j, places in ipairs(egos(batch)) do
      words[j] = table.concat(batch.input[places]:sort():to_table(), " ")
    end
    return table.concat(words, ", ")
  end), 100)
end

local MODELS = {
  {"gcn", {}}, {"gcn", {residual = true}}, {"gcn", {head = "concat"}}, {"gcnii", {}}, {"sage", {}},
  {"gin", {}},
}

local function model_of(one)
  local opts = {inputs = toy.FEATURES, hidden = 8, outputs = 3, layers = 3}
  for key, value in pairs(one[2]) do opts[key] = value end
  return ladies.nn[one[1]](opts)
end

--- Ego graphs that hold all that can be reached give the network over the whole graph, for models
-- that read the rows of their own nodes too, whatever nodes are in several of them.
function tests.test_exact_with_whole_components()
  local data = toy.new()
  local A, seeds = data.graph.adjacency, index{7, 8, 30, 9}
  local sampler = shadow(A, {layers = 3, samples = 100, depth = 20})
  local batch = sampler(seeds, ladies.rng(1))
  for _, one in ipairs(MODELS) do
    local model = model_of(one)
    local exact = ladies.inference.exact(model, data)[seeds]
    close(model:forward(data.features, batch, false), exact, 1e-4, one[1])
    close(ladies.inference.sampled(model, data, seeds, {sampler = sampler, batch_size = 3}), exact,
      1e-4, one[1])
  end
end

--- The logits of a seed do not depend on the others of its batch.
function tests.test_seeds_apart()
  local data = toy.new()
  local sampler = shadow(data.graph.adjacency, {layers = 3, samples = 100, depth = 2})
  local seeds = data.val:slice(1, 12)
  for _, one in ipairs(MODELS) do
    local model = model_of(one)
    local together = model:forward(data.features, sampler(seeds, ladies.rng(1)), false)
    for i = 1, #seeds do
      local alone = model:forward(data.features, sampler(seeds:slice(i, i), ladies.rng(2)), false)
      close(together:slice(i, i), alone, 1e-5, one[1])
    end
  end
end

function tests.test_odd_graphs()
  local opts = {layers = 2, samples = 3, depth = 2}
  for kind, A in pairs{star = graphs.star(), directed = graphs.directed(),
      weighted = graphs.weighted(), isolated = graphs.isolated(), loops = graphs.self_loops(),
      empty = graphs.matrix(8, {})} do
    for _, self_loops in ipairs{true, false} do
      opts.self_loops = self_loops
      for seed = 1, 5 do
        local batch = sampling.check(shadow(A, opts)(index{2, 8, 1}, ladies.rng(seed)))
        local isolated = 0
        for _, block in ipairs(batch.blocks) do
          isolated = isolated + block.adj:empty_rows()
          lu.assertTrue(block.adj:entry_values():is_finite(), kind)
        end
        lu.assertEquals(batch.stats.isolated, isolated)
      end
    end
  end
  opts.layers, opts.self_loops = 1, nil
  local batch = sampling.check(shadow(graphs.star(), opts)(index{5, 1}, ladies.rng(1)))
  lu.assertEquals({#batch.blocks, batch.blocks[1].adj.n_rows}, {1, 2})
end

function tests.test_training()
  local data = toy.new()
  for layers = 2, 4, 2 do
    local result = ladies.train{data = data, lr = 0.02, max_batches = 150, batch_size = 20,
      quiet = true, sampler = shadow(data.graph.adjacency, {layers = layers, samples = 5}),
      model = ladies.nn.gcn{inputs = toy.FEATURES, hidden = 16, outputs = 3, layers = layers}}
    lu.assertTrue(result.test_f1 > 0.8, result.test_f1)
  end
end

function tests.test_errors()
  local A = graphs.star()
  local function rejects(message, ...)
    fails("ladies.samplers.shadow: " .. message, shadow, ...)
  end
  rejects("layers must be a positive integer, got nil", A, {})
  rejects("samples must be a positive integer, got a table", A, {layers = 2, samples = {3, 4}})
  local sampler, rng = shadow(A, {layers = 2}), ladies.rng(1)
  fails("there are no seeds", sampler, index{}, rng)
  fails("node 3 occurs twice", sampler, index{3, 1, 3}, rng)
  fails("21 at position 1 is out of range 1..20", sampler, index{21}, rng)
  fails("the seeds must be an Index, got a table", sampler, {1}, rng)
  fails("rng must be an Rng, got nil", sampler, index{1})
end

--- A sampler that breaks the contract of `readout` is refused.
function tests.test_readout_is_checked()
  local function refused(message, readout)
    local batch = shadow(graphs.star(), {layers = 2})(index{1, 4}, ladies.rng(1))
    batch.readout = readout
    fails(message, sampling.check, batch)
  end
  refused("readout must be of class Index, got number", 3)
  refused("readout has the positions 1 to 99, expected 1 to ", index{1, 99})
  refused("at the positions in readout are not the output", index{2, 1})
  refused("distinct", nil)
end

return tests
