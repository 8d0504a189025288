--- FastGCN: its distribution and weights against the formula, means, and its variance beside that
-- of LADIES.
local lu = require "luaunit"
local ladies = require "ladies"
local graphs = require "reference.graphs"
local statistics = require "reference.statistics"

local samplers, index = ladies.samplers, ladies.index

local tests = {}

-- q over all nodes of the dense matrix.
local function distribution(P, power)
  local dense, q, total = P:to_dense():to_table(), {}, 0
  for u = 1, P.n_cols do
    q[u] = 0
    for v = 1, P.n_rows do q[u] = q[u] + dense[v][u] ^ 2 end
    q[u] = q[u] > 0 and q[u] ^ (power / 2) or 0
    total = total + q[u]
  end
  for u = 1, P.n_cols do q[u] = q[u] / total end
  return q, dense
end

--- Draws follow q, and every entry is P_vu m_u / (t q_u) with whole m_u that sum to t: on a graph
-- without zeros every draw can be read off the block.
function tests.test_draws_and_multiplicities()
  local entries = {}
  for v = 1, 8 do
    for u = 1, 8 do entries[#entries + 1] = {v, u, 1 + v * u % 5 + u} end
  end
  local P, rng, t = graphs.matrix(8, entries), ladies.rng(1), 20
  for power, opts in pairs{[0] = {probability = "uniform"}, {flat = true}, {}} do
    local q, dense = distribution(P, power)
    opts.samples = {t}
    local sampler = samplers.fastgcn(P, opts)
    local counts, means = {}, {}
    for u = 1, 8 do counts[u], means[u] = 0, 500 * t * q[u] end
    for _ = 1, 500 do
      local block = sampler(index{5, 2}, rng).blocks[1]
      local adj, drawn = block.adj:to_dense(), 0
      for j = 1, #block.src do
        local u = block.src[j]
        local times = adj:get(1, j) / dense[5][u] * t * q[u]
        lu.assertAlmostEquals(times, math.floor(times + 0.5), 1e-4)
        lu.assertAlmostEquals(adj:get(2, j) / dense[2][u] * t * q[u], times, 1e-4)
        times = math.floor(times + 0.5)
        counts[u], drawn = counts[u] + times, drawn + times
      end
      lu.assertEquals(drawn, t)
    end
    statistics.assert_frequencies(counts, means)
  end
end

--- Every layer draws from the same q, whatever the nodes above.
function tests.test_one_distribution_for_all_layers()
  local P, rng = graphs.random(20, 2, 3):normalize "sym", ladies.rng(2)
  local q = distribution(P, 2)
  local sampler = samplers.fastgcn(P, {samples = {1, 1, 1}})
  local counts = {{}, {}, {}}
  for _ = 1, 2500 do
    for l, block in ipairs(sampler(index{4}, rng).blocks) do
      lu.assertEquals(#block.src, 1)
      counts[l][block.src[1]] = (counts[l][block.src[1]] or 0) + 1
    end
  end
  local means = {}
  for u = 1, 20 do means[u] = 2500 * q[u] end
  for l = 1, 3 do statistics.assert_frequencies(counts[l], means) end
end

--- The settings of the authors' program draw as it does: norms, touched columns, no replacement,
-- the q of all nodes. There are more draws than columns, so that nothing is random but their order.
function tests.test_authors_program_by_hand()
  -- Column norms 5, 1, 2 and 12, of which row 1 touches the first three.
  local P = graphs.matrix(4, {{1, 1, 3}, {2, 1, 4}, {1, 2, 1}, {1, 3, 2}, {4, 4, 12}})
  local sampler = samplers.fastgcn(P, {samples = {10}, flat = true, draw = "wor",
    candidates = "touched", weights = "global"})
  local block = sampler(index{1}, ladies.rng(1)).blocks[1]
  lu.assertEquals(block.src:to_table(), {1, 2, 3})
  local row = block.adj:to_dense():to_table()[1]
  for j, want in ipairs{3 * 20 / 50, 1 * 20 / 10, 2 * 20 / 20} do
    lu.assertAlmostEquals(row[j], want, 1e-6)
  end
  -- By the probabilities of the draw the three are certain.
  sampler = samplers.fastgcn(P, {samples = {10}, flat = true, draw = "wor", candidates = "touched"})
  lu.assertEquals(sampler(index{1}, ladies.rng(1)).blocks[1].adj:to_dense():to_table()[1],
    {3, 1, 2})
end

function tests.test_self_nodes_come_first()
  local P, seeds = graphs.random(60, 2, 4):normalize "sym", index{9, 33, 2, 50}
  for _, candidates in ipairs{"all", "touched"} do
    local function blocks_of(self_nodes)
      return samplers.fastgcn(P, {samples = {5, 5}, draw = "wor", candidates = candidates,
        self_nodes = self_nodes})(seeds, ladies.rng(1)).blocks
    end
    for _, block in ipairs(blocks_of "previous") do
      lu.assertTrue(block.src:slice(1, #block.dst) == block.dst)
      lu.assertEquals(#block.src, #block.dst + 5)
    end
    for _, block in ipairs(blocks_of "batch") do
      lu.assertTrue(block.src:slice(1, 4) == seeds)
      lu.assertEquals(#block.src, 9)
    end
  end
end

--- The authors' union takes t nodes from the whole q, then the seeds that are missing; every weight
-- is 1/q.
function tests.test_union_after_the_draw()
  local P, seeds = graphs.random(40, 3, 5):normalize "sym", index{9, 33, 2}
  local q = distribution(P, 2)
  local block = samplers.fastgcn(P, {samples = {6}, draw = "wor", union = "post",
    self_nodes = "batch"})(seeds, ladies.rng(1)).blocks[1]
  lu.assertEquals(#ladies.sampling.find(block.src, seeds), 3)
  lu.assertTrue(#block.src >= 6 and #block.src <= 9)
  local dense, adj = P:to_dense(), block.adj:to_dense()
  for i = 1, 3 do
    for j = 1, #block.src do
      local u = block.src[j]
      local want = dense:get(seeds[i], u) / q[u]
      lu.assertAlmostEquals(adj:get(i, j), want, 1e-5 * math.max(1, want))
    end
  end
end

function tests.test_row_normalize()
  local P = graphs.random(40, 3, 5):normalize "sym"
  local sampler = samplers.fastgcn(P, {samples = {15}, draw = "wor", row_normalize = true})
  local batch = sampler(ladies.range(1, 40), ladies.rng(1))
  local sums, empty = batch.blocks[1].adj:row_sums(), 0
  for i = 1, 40 do
    if sums[i] == 0 then empty = empty + 1 else lu.assertAlmostEquals(sums[i], 1, 1e-6) end
  end
  lu.assertEquals(batch.stats.isolated, empty)
end

-- Returns for each seed the running mean of `runs` estimates of P[S,:] ... P H by the sampler.
local function estimates(sampler, seeds, h, runs)
  local all, rng = {}, ladies.rng(7)
  for v = 1, #seeds do all[v] = statistics.running() end
  for i = 1, runs do
    local batch = sampler(seeds, rng:fork(i))
    local x = h[batch.input]
    for _, block in ipairs(batch.blocks) do x = block.adj:matmul(x) end
    for v, run in ipairs(all) do run.add(x:get(v, 1)) end
  end
  return all
end

function tests.test_unbiased_through_two_layers()
  local P, seeds = graphs.random(30, 2, 5):normalize "sym", index{3, 17, 28}
  local h = ladies.zeros(30, 1)
  for i = 1, 30 do h:set_(i, 1, 1 + i * 7 % 5) end
  local exact = P:matmul(P:matmul(h))[seeds]
  for _, opts in ipairs{{}, {flat = true}, {probability = "uniform"}, {draw = "poisson"},
    {candidates = "touched"}, {self_nodes = "previous"},
    {self_nodes = "batch", candidates = "touched", flat = true}} do
    opts.samples = {10, 8}
    for v, run in ipairs(estimates(samplers.fastgcn(P, opts), seeds, h, 2500)) do
      local off = math.abs(run.mean() - exact:get(v, 1)) / run.standard_error()
      lu.assertTrue(off < 4, ("seed %d: %g standard errors"):format(v, off))
    end
  end
end

--- LADIES varies less than FastGCN at equal sample numbers, as the paper claims.
function tests.test_ladies_varies_less()
  local P = ladies.generate.power_law{nodes = 2000, entries = 16000, features = 1, seed = 2}.graph
    :normalize "sym"
  local seeds = ladies.sampling.uniform(2000, 32, {rng = ladies.rng(3)})
  local h = ladies.zeros(2000, 1):uniform_(0, 1, ladies.rng(4))
  for _, sizes in ipairs{{64}, {64, 64}} do
    local function variance(name)
      local opts, total = {samples = sizes, draw = "wr", row_normalize = false}, 0
      for _, run in ipairs(estimates(samplers[name](P, opts), seeds, h, 300)) do
        total = total + run.standard_error() ^ 2
      end
      return total
    end
    local ladies_variance, fastgcn_variance = variance "ladies", variance "fastgcn"
    lu.assertTrue(ladies_variance < 0.5 * fastgcn_variance,
      ("%g against %g"):format(ladies_variance, fastgcn_variance))
  end
end

function tests.test_errors()
  local P = graphs.star():normalize "sym"
  local function rejects(message, ...)
    lu.assertErrorMsgContains("ladies.samplers.fastgcn: " .. message, samplers.fastgcn, ...)
  end
  rejects("P must be a Matrix, got nil")
  rejects("P must be square", P:rows(index{1, 2}), {samples = {1}})
  rejects("samples must be a positive integer or an array of positive integers, got nil", P, {})
  rejects("samples must not be empty", P, {samples = {}})
  rejects("flat must be true or false, got 1", P, {samples = {1}, flat = 1})
  rejects('unknown option "candidate"; did you mean "candidates"?', P,
    {samples = {1}, candidate = "all"})
  rejects('weights = "global" is for draw wor and self_nodes none', P,
    {samples = {1}, weights = "global"})
  rejects("all entries of P are zero", ladies.matrix{n_rows = 2, n_cols = 2, rows = index{},
    cols = index{}}, {samples = {1}})
end

return tests
