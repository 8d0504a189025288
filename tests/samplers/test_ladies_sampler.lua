--- The samplers ladies and full, and sampling.check: presets worked out by hand, limits and
-- errors. sampling/test_layerwise.lua has the options of ladies as points whose outcomes are
-- enumerated, test_two_layers.lua the means of two layers.
local lu = require "luaunit"
local ladies = require "ladies"
local graphs = require "reference.graphs"

local sampling, samplers = ladies.sampling, ladies.samplers
local matrix, random_graph = graphs.matrix, graphs.random

local tests = {}

-- --- graphs -------------------------------------------------------------------------------------

-- Rows 1 and 2 are the seeds of the hand-made tests. Squared column norms of these rows:
--   u = 1: 1/4 + 1/16 = 5/16,  u = 2: 1/4,  u = 3: 1/4,  u = 4: 1/16;  together 14/16
-- so p = 5/14, 4/14, 4/14, 1/14.
local function hand_graph()
  return matrix(5, {{1, 1, 0.5}, {1, 2, 0.5}, {2, 1, 0.25}, {2, 3, 0.5}, {2, 4, 0.25},
    {3, 3, 1}, {4, 2, 1}, {5, 1, 1}})
end

-- --- by hand ------------------------------------------------------------------------------------

-- The sampler's part of a preset; "auto" as on graphs with many training nodes.
local function preset_options(name, sizes)
  local preset = ladies.experiment.configure{preset = name}
  return preset.normalize, {samples = sizes, draw = preset.draw, debias = preset.debias,
    union = preset.union, row_normalize = preset.row_normalize,
    self_nodes = preset.self_nodes == "auto" and "previous" or preset.self_nodes}
end

--- With more samples than neighbours nothing is random but the order of draws, so blocks are known.
function tests.test_presets_by_hand()
  local P, seeds = hand_graph(), ladies.index{1, 2}
  local function block_of(name)
    local normalize, opts = preset_options(name, {100})
    lu.assertEquals(normalize, name == "code" and "row" or "sym")
    local batch = samplers.ladies(P, opts)(seeds, ladies.rng(1))
    return batch.blocks[1].src:to_table(), batch.blocks[1].adj:to_dense():to_table()
  end
  local src, adj = block_of "default"
  lu.assertEquals(src, {1, 2, 3, 4})
  lu.assertEquals(adj, {{0.5, 0.5, 0, 0}, {0.25, 0, 0.5, 0.25}})
  -- The authors' weights 1/p = 2.8, 3.5, 3.5, 14: rows 1.4, 1.75 and 0.7, 1.75, 3.5.
  src, adj = block_of "code"
  local want = {{1.4 / 3.15, 1.75 / 3.15, 0, 0}, {0.7 / 5.95, 0, 1.75 / 5.95, 3.5 / 5.95}}
  lu.assertEquals(src, {1, 2, 3, 4})
  for i = 1, 2 do
    for j = 1, 4 do lu.assertAlmostEquals(adj[i][j], want[i][j], 1e-6) end
  end
  -- 100 draws with replacement: all four nodes (but for one seed in a thousand), rows sum to one.
  src, adj = block_of "paper"
  table.sort(src)
  lu.assertEquals(src, {1, 2, 3, 4})
  for i = 1, 2 do
    lu.assertAlmostEquals(adj[i][1] + adj[i][2] + adj[i][3] + adj[i][4], 1, 1e-6)
  end
end

-- --- nodes that are kept -------------------------------------------------------------------------

function tests.test_self_nodes_come_first()
  local P, seeds = random_graph(60, 2, 4):normalize "sym", ladies.index{9, 33, 2, 50}
  local function blocks_of(opts)
    opts.samples = {5, 5, 5}
    return samplers.ladies(P, opts)(seeds, ladies.rng(1)).blocks
  end
  for _, block in ipairs(blocks_of{self_nodes = "previous"}) do
    lu.assertTrue(block.src:slice(1, #block.dst) == block.dst)
    lu.assertEquals(#block.src, #block.dst + 5)
  end
  for _, block in ipairs(blocks_of{self_nodes = "batch"}) do
    lu.assertTrue(block.src:slice(1, 4) == seeds)
    lu.assertEquals(#block.src, 9)
  end
  for _, block in ipairs(blocks_of{self_nodes = "batch", union = "post"}) do
    lu.assertEquals(#sampling.find(block.src, seeds), 4)
    lu.assertTrue(#block.src <= 9)
  end
  for _, block in ipairs(blocks_of{}) do lu.assertEquals(#block.src, 5) end
end

-- --- limits and errors --------------------------------------------------------------------------

function tests.test_isolated_seeds()
  local P = matrix(6, {{1, 2}, {2, 1}, {3, 2}, {5, 5}}):normalize("row", {self_loops = false})
  local sampler = samplers.ladies(P, {samples = {3, 3}})
  local batch = sampler(ladies.index{4, 1, 6}, ladies.rng(1))
  lu.assertEquals(batch.blocks[2].adj:degrees():to_table(), {0, 1, 0})
  lu.assertEquals(batch.stats.isolated, 2)
  sampling.check(batch)
  lu.assertErrorMsgContains("layer 2: choice: all 0 probabilities are zero", sampler,
    ladies.index{4, 6}, ladies.rng(1))
  -- Nodes that are kept for certain need no neighbours.
  for _, union in ipairs{"pre", "post"} do
    local kept = samplers.ladies(P, {samples = {3, 3}, self_nodes = "previous", union = union})
    batch = kept(ladies.index{4, 6}, ladies.rng(1))
    lu.assertEquals(batch.input:to_table(), {4, 6})
    lu.assertEquals(batch.stats.isolated, 4)
    sampling.check(batch)
  end
end

function tests.test_errors()
  local P = hand_graph()
  lu.assertErrorMsgContains("layer 2: draw_cols: the option rng is missing",
    samplers.ladies(P, {samples = {2, 2}}), ladies.index{1})
  local function rejects(message, ...)
    lu.assertErrorMsgContains("ladies.samplers.ladies: " .. message, samplers.ladies, ...)
  end
  rejects("choice: debias is for draw wor", P, {samples = {1}, draw = "wr", debias = true})
  rejects("choice: union post is for draw wor alone", P,
    {samples = {1}, draw = "poisson", union = "post"})
  rejects('flat is for probability = "norms"', P,
    {samples = {1}, flat = true, probability = "uniform"})
end

-- --- full ---------------------------------------------------------------------------------------

function tests.test_full_is_exact()
  local P = random_graph(80, 1, 7):normalize "sym"
  local h, sampler = ladies.zeros(80, 2), samplers.full(P, {layers = 3})
  for i = 1, 80 do h:set_(i, 1, i % 7); h:set_(i, 2, i % 3) end
  local exact = P:matmul(P:matmul(P:matmul(h)))
  local batch = sampler(ladies.index{70, 3, 41})
  sampling.check(batch)
  lu.assertEquals(batch.output:to_table(), {3, 41, 70})
  local x = h[batch.input]
  for _, block in ipairs(batch.blocks) do x = block.adj:matmul(x) end
  for i = 1, 3 do
    for j = 1, 2 do lu.assertAlmostEquals(x:get(i, j), exact:get(batch.output[i], j), 1e-5) end
  end
end

function tests.test_full_keeps_the_last_batch()
  local sampler = samplers.full(graphs.star():normalize "sym", {layers = 2})
  local first = sampler(ladies.index{5, 1})
  first.epoch = 1
  local again = sampler(ladies.index{1, 5})
  lu.assertTrue(again.blocks[1].adj == first.blocks[1].adj)
  lu.assertNil(again.epoch, "the batch's table is the caller's own")
  local other = sampling.hash(sampler(ladies.index{2}))
  lu.assertNotEquals(other, sampling.hash(first))
  lu.assertEquals(sampling.hash(sampler(ladies.index{1, 5})), sampling.hash(first))
  lu.assertErrorMsgContains("layer 2: slice: node 2 occurs twice", sampler, ladies.index{2, 2})
  lu.assertErrorMsgContains("layers must be a positive integer, got nil", samplers.full,
    graphs.star(), {})
end

-- --- check --------------------------------------------------------------------------------------

local function good_batch()
  local sampler = samplers.ladies(hand_graph(), {samples = {9, 9}, self_nodes = "previous"})
  return sampler(ladies.index{1, 2}, ladies.rng(1))
end

function tests.test_check_passes_a_good_batch()
  local batch = good_batch()
  lu.assertIs(sampling.check(batch), batch)
  batch.loss_nodes, batch.loss_weight = ladies.index{2}, ladies.tensor{0, 0.5}
  sampling.check(batch, "mine")
end

--- Independent draws of few nodes are never none, and unbiased all the same.
function tests.test_independent_draws_are_never_none()
  local P, seeds = hand_graph(), ladies.index{1, 2}
  local sampler = samplers.ladies(P, {samples = {1, 1}, draw = "poisson", row_normalize = false})
  local sums, draws = ladies.zeros(5), 3000
  for i = 1, draws do
    local block = sampler(seeds, ladies.rng(i)).blocks[2]
    lu.assertTrue(#block.src > 0)
    sums:add_at_(block.src, block.adj:col_sums())
  end
  local exact = P:slice(seeds, ladies.range(1, 5)):col_sums()
  for u = 1, 4 do lu.assertAlmostEquals(sums[u] / draws, exact[u], 0.15) end
end

return tests
