--- FastGCN: its distribution in all layers, the settings of its authors' program, and its variance
-- beside that of LADIES. sampling/test_layerwise.lua has its options as points whose outcomes are
-- enumerated.
local lu = require "luaunit"
local ladies = require "ladies"
local graphs = require "reference.graphs"
local statistics = require "reference.statistics"

local samplers, index = ladies.samplers, ladies.index

local tests = {}

--- Every layer draws from the same q, whatever the nodes above.
function tests.test_one_distribution_for_all_layers()
  local P, rng = graphs.random(20, 2, 3):normalize "sym", ladies.rng(2)
  local norms = P:to_dense():square():sum(1)
  local q = norms / norms:sum()
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
  -- With the weights of this draw, in which the three nodes are certain, they have weight 1.
  sampler = samplers.fastgcn(P, {samples = {10}, flat = true, draw = "wor", candidates = "touched"})
  lu.assertEquals(sampler(index{1}, ladies.rng(1)).blocks[1].adj:to_dense():to_table()[1],
    {3, 1, 2})
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
  rejects("flat must be true or false, got 1", P, {samples = {1}, flat = 1})
  for _, own in ipairs{{}, {draw = "wor", debias = true}} do
    own.samples, own.weights = {1}, "global"
    rejects('weights = "global" is for draw wor, self_nodes none and no debias', P, own)
  end
  rejects('flat is for probability = "norms"', P,
    {samples = {1}, flat = true, probability = "uniform"})
  rejects("all entries of P are zero", ladies.matrix{n_rows = 2, n_cols = 2, rows = index{},
    cols = index{}}, {samples = {1}})
end

return tests
