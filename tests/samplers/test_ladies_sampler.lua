--- The samplers ladies and full, and sampling.check: values worked out by hand, every block against
-- a dense recomputation, Monte-Carlo means, all options, and odd graphs.
local lu = require "luaunit"
local ladies = require "ladies"
local graphs = require "reference.graphs"
local reference = require "reference.choice"
local statistics = require "reference.statistics"
local tables = require "ladies.base.tables"
local two_layers = require "reference.two_layers"
local toy = require "reference.toy_data"

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
local HAND_P = {5 / 14, 4 / 14, 4 / 14, 1 / 14}

-- --- recomputation ------------------------------------------------------------------------------

-- p over all nodes of the graph for the destinations dst: the formula, on the dense matrix.
local function probabilities(dense, dst, opts)
  local p, total = {}, 0
  for u = 1, #dense do
    p[u] = 0
    for _, v in ipairs(dst) do p[u] = p[u] + dense[v][u] ^ 2 end
    if opts.flat then p[u] = math.sqrt(p[u]) end
    if opts.probability == "uniform" and p[u] > 0 then p[u] = 1 end
    total = total + p[u]
  end
  for u = 1, #dense do p[u] = p[u] / total end
  return p
end

-- The probability that independent draws with these probabilities are not none.
local function some(pi)
  local none = 1
  for _, share in ipairs(pi) do none = none * (1 - share) end
  return 1 - none
end

-- The design weight of each node of src, from the definitions; for wr that of a single draw; of
-- independent draws, which are never none, that given that there are some.
local function weights(p, dst, src, opts, size, seeds)
  local kept = {}
  local keep = opts.self_nodes == "batch" and seeds or opts.self_nodes == "previous" and dst or {}
  local post = opts.union == "post"
  for _, u in ipairs(keep) do kept[u] = true end
  local q, total, support = {}, 0, 0
  for u in ipairs(p) do
    q[u] = (post or not kept[u]) and p[u] or 0
    total, support = total + q[u], support + (q[u] > 0 and 1 or 0)
  end
  for u in ipairs(p) do q[u] = total > 0 and q[u] / total or 0 end
  local pi = opts.draw == "poisson" and size < support and reference.inclusion(q, size)
  local given = pi and next(kept) == nil and some(pi) or 1
  local w = {}
  for i, u in ipairs(src) do
    if post then
      w[i] = p[u] > 0 and 1 / p[u] or 1
    elseif kept[u] or (size >= support and opts.draw ~= "wr") then
      w[i] = 1
    else
      w[i] = pi and given / pi[u] or 1 / (size * q[u])
    end
  end
  return w
end

-- Every entry of every block against P[v][u] * w[u], row-normalised if so; src is a set of distinct
-- nodes of which every one but those kept for certain is a neighbour. `times` is how often a node
-- was drawn, read off the block: a whole number.
local function check_blocks(P, sampler_opts, batch)
  local dense, seeds = P:to_dense():to_table(), batch.output:to_table()
  for l = #sampler_opts.samples, 1, -1 do
    local block = batch.blocks[l]
    local adj = block.adj:to_dense():to_table()
    local dst, src = block.dst:to_table(), block.src:to_table()
    local p = probabilities(dense, dst, sampler_opts)
    local w = weights(p, dst, src, sampler_opts, sampler_opts.samples[l], seeds)
    local drawn = 0
    for j, u in ipairs(src) do
      local times = 1
      for i, v in ipairs(dst) do
        if sampler_opts.draw == "wr" and not sampler_opts.row_normalize and dense[v][u] ~= 0 then
          times = math.floor(adj[i][j] / (dense[v][u] * w[j]) + 0.5)
        end
      end
      w[j], drawn = w[j] * times, drawn + times
    end
    if sampler_opts.draw == "wr" and (sampler_opts.self_nodes or "none") == "none" then
      lu.assertEquals(drawn, sampler_opts.samples[l])
    end
    for i, v in ipairs(dst) do
      local sum = 0
      for j, u in ipairs(src) do sum = sum + dense[v][u] * w[j] end
      for j, u in ipairs(src) do
        local want = dense[v][u] * w[j]
        if sampler_opts.row_normalize and sum ~= 0 then want = want / sum end
        lu.assertAlmostEquals(adj[i][j], want, 3e-6 * math.max(1, math.abs(want)))
      end
    end
  end
end

-- --- by hand ------------------------------------------------------------------------------------

--- In a draw of one node with weight 1/p the block shows p, and the frequencies follow it.
function tests.test_probabilities_by_hand()
  local P, rng, counts = hand_graph(), ladies.rng(1), {0, 0, 0, 0}
  local sampler = samplers.ladies(P, {samples = {1}, draw = "wr", row_normalize = false})
  local values = {{0.5, 0.25}, {0.5, 0}, {0, 0.5}, {0, 0.25}}     -- P's columns in the rows 1, 2
  for _ = 1, 7000 do
    local block = sampler(ladies.index{1, 2}, rng).blocks[1]
    local u, adj = block.src[1], block.adj:to_dense()
    counts[u] = counts[u] + 1
    lu.assertAlmostEquals(adj:get(1, 1), values[u][1] / HAND_P[u], 1e-6)
    lu.assertAlmostEquals(adj:get(2, 1), values[u][2] / HAND_P[u], 1e-6)
  end
  statistics.assert_frequencies(counts, {2500, 2000, 2000, 500})
end

--- The option `flat` draws by the norms, not by their squares: in proportion to sqrt 5 : 2 : 2 : 1.
function tests.test_flat_by_hand()
  local total = math.sqrt(5) + 5
  local sampler = samplers.ladies(hand_graph(),
    {samples = {1}, draw = "wr", row_normalize = false, flat = true})
  local p = {math.sqrt(5) / total, 2 / total, 2 / total, 1 / total}
  local row, value = {1, 1, 2, 2}, {0.5, 0.5, 0.5, 0.25}
  for seed = 1, 40 do
    local block = sampler(ladies.index{1, 2}, ladies.rng(seed)).blocks[1]
    local u = block.src[1]
    lu.assertAlmostEquals(block.adj:to_dense():get(row[u], 1), value[u] / p[u], 1e-6)
  end
end

--- With uniform probabilities over the neighbourhood node 5, which no row touches, is never drawn,
-- and the others are equally likely.
function tests.test_uniform_by_hand()
  local sampler, counts = samplers.ladies(hand_graph(), {samples = {1}, draw = "wr",
    row_normalize = false, probability = "uniform"}), {0, 0, 0, 0}
  for seed = 1, 2000 do
    local block = sampler(ladies.index{1, 2}, ladies.rng(seed)).blocks[1]
    local u = block.src[1]
    counts[u] = counts[u] + 1
    lu.assertAlmostEquals(block.adj:to_dense():max(), 4 * (u < 4 and 0.5 or 0.25), 1e-6)
  end
  statistics.assert_frequencies(counts, {500, 500, 500, 500})
end

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

-- --- every option on odd graphs -----------------------------------------------------------------

local VARIANTS = {
  {draw = "wor"}, {draw = "wr"}, {draw = "poisson"}, {draw = "wor", flat = true},
  {draw = "wor", self_nodes = "previous"}, {draw = "wor", self_nodes = "batch"},
  {draw = "poisson", self_nodes = "previous"}, {draw = "wor", row_normalize = true},
  {draw = "poisson", self_nodes = "batch", row_normalize = true},
  {draw = "wr", probability = "uniform"},
  {draw = "wor", probability = "uniform", self_nodes = "batch"},
  {draw = "wor", union = "post"}, {draw = "wor", union = "post", self_nodes = "batch"},
  {draw = "wor", union = "post", self_nodes = "previous", row_normalize = true},
}

local function variant_options(variant, sizes)
  return tables.merged({samples = sizes, row_normalize = false}, variant)
end

function tests.test_every_entry()
  local odd = {
    random_graph(30, 2, 1):normalize "sym", random_graph(30, 2, 2):normalize "row",
    graphs.directed():normalize "row", graphs.star():normalize("sym", {self_loops = false}),
    graphs.star():normalize "row", graphs.self_loops():normalize("row", {self_loops = false}),
  }
  for g, P in ipairs(odd) do
    local seeds = ladies.index{7, 1, 4}
    for v, variant in ipairs(VARIANTS) do
      for _, sizes in ipairs{{6, 4, 3}, {50, 2, 50}} do
        local opts = variant_options(variant, sizes)
        local batch = samplers.ladies(P, opts)(seeds, ladies.rng(g):fork(v))
        sampling.check(batch, "ladies")
        lu.assertEquals(#batch.blocks, 3)
        lu.assertTrue(batch.output == seeds)
        check_blocks(P, opts, batch)
      end
    end
  end
end

function tests.test_rows_sum_to_one()
  local P, rng = random_graph(200, 3, 3):normalize "sym", ladies.rng(2)
  for _, draw in ipairs{"wor", "wr", "poisson"} do
    local sampler = samplers.ladies(P, {samples = {8, 8}, draw = draw})
    for _ = 1, 20 do
      local batch, empty = sampler(sampling.uniform(200, 20, {rng = rng}), rng), 0
      for _, block in ipairs(batch.blocks) do
        local sums = block.adj:row_sums()
        for i = 1, #sums do
          if sums[i] == 0 then empty = empty + 1 else lu.assertAlmostEquals(sums[i], 1, 1e-6) end
        end
      end
      lu.assertEquals(batch.stats.isolated, empty)
    end
  end
end

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

-- --- Monte Carlo --------------------------------------------------------------------------------

-- Returns how far the mean of 3000 two-layer estimates of P[S,:] P H lies from it, in standard
-- errors.
local function deviations(opts)
  local P, seeds = random_graph(30, 2, 5):normalize "sym", ladies.index{3, 17, 28}
  local h = ladies.zeros(30, 1)
  for i = 1, 30 do h:set_(i, 1, 1 + i * 7 % 5) end
  opts.samples, opts.row_normalize = {8, 6}, opts.row_normalize or false
  return two_layers.deviation(samplers.ladies(P, opts), P, seeds, h, ladies.rng(77), 3000)
end

function tests.test_unbiased_through_two_layers()
  for _, opts in ipairs{{draw = "wr"}, {draw = "poisson"}, {debias = true},
    {debias = true, self_nodes = "previous"}, {draw = "wr", self_nodes = "batch"},
    {draw = "poisson", self_nodes = "previous"}, {draw = "wr", flat = true}} do
    local worst = deviations(opts)
    lu.assertTrue(worst < 4, ("%s debias=%s %s: %g standard errors"):format(opts.draw or "wor",
      opts.debias, opts.self_nodes, worst))
  end
end

function tests.test_biased_without_debias()
  lu.assertTrue(deviations{draw = "wor"} > 8)
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
  local P, rng = hand_graph(), ladies.rng(1)
  local sampler = samplers.ladies(P, {samples = {2, 2}})
  lu.assertErrorMsgContains("layer 2: draw_cols: node 3 occurs twice, at positions 1 and 3",
    sampler, ladies.index{3, 1, 3}, rng)
  lu.assertErrorMsgContains("layer 2: draw_cols: node 6 at position 1 is out of range 1..5",
    sampler, ladies.index{6}, rng)
  lu.assertErrorMsgContains("the seeds must be an Index, got a table", sampler, {1, 2}, rng)
  lu.assertErrorMsgContains("layer 2: draw_cols: the option rng is missing", sampler,
    ladies.index{1})
  local function rejects(message, ...)
    lu.assertErrorMsgContains("ladies.samplers.ladies: " .. message, samplers.ladies, ...)
  end
  rejects("P must be a Matrix, got nil")
  rejects('P must be a Matrix, got a Graph; graph:normalize "sym" makes one', toy.new().graph)
  rejects('P must be a Matrix, got a Dataset; data.graph:normalize "sym" makes one', toy.new())
  rejects("P must be square, got Matrix 2 x 5", P:rows(ladies.index{1, 2}), {samples = {1}})
  rejects("samples must be a positive integer or an array of positive integers, got nil", P, {})
  rejects("samples must not be empty", P, {samples = {}})
  rejects("samples[2] must be a positive integer, got 0", P, {samples = {1, 0}})
  rejects('unknown option "drw"; did you mean "draw"?', P, {samples = {1}, drw = "wr"})
  rejects("choice: debias is for draw wor", P, {samples = {1}, draw = "wr", debias = true})
  rejects("choice: union post is for draw wor alone", P,
    {samples = {1}, draw = "poisson", union = "post"})
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
