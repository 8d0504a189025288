--- Samplers whose estimates have the mean P[S,:] P H: over two layers and thousands of draws their
-- mean is that, and the test shows where other forms of a sampler have another mean.
local lu = require "luaunit"
local ladies = require "ladies"
local graphs = require "reference.graphs"
local tables = require "ladies.base.tables"
local two_layers = require "reference.two_layers"

local tests = {}

-- How far the mean of 3000 estimates by a sampler lies from P[S,:] P H at the worst seed, over P of
-- a kind, in standard errors.
local function deviation(name, kind, opts)
  local P, h = graphs.random(30, 4, 5):normalize(kind), ladies.zeros(30, 1)
  for i = 1, 30 do h:set_(i, 1, 1 + i * 7 % 5) end
  return two_layers.deviation(ladies.samplers[name](P, opts), P, ladies.index{3, 17, 28}, h,
    ladies.rng(11), 3000)
end

-- Methods, the kinds of P, what their forms below have in common, and the forms.
local UNBIASED = {
  {"ladies", {"sym"}, {samples = {8, 6}, row_normalize = false}, {
    {draw = "wr"}, {draw = "poisson"}, {debias = true}, {debias = true, self_nodes = "previous"},
    {draw = "wr", self_nodes = "batch"}, {draw = "poisson", self_nodes = "previous"},
    {draw = "wr", flat = true}}},
  {"graphsage", {"sym", "row"}, {samples = {2, 3}, form = "unbiased"}, {
    {replace = false, self_nodes = "none"}, {replace = false, self_nodes = "previous"},
    {replace = true, self_nodes = "none"}, {replace = true, self_nodes = "previous"}}},
  {"labor", {"sym"}, {samples = {3, 3}, form = "unbiased"}, {
    {}, {iterations = 1}, {iterations = "converge", self_nodes = "none"}}},
}

function tests.test_unbiased()
  for _, case in ipairs(UNBIASED) do
    local name, kinds, common, forms = table.unpack(case)
    for i, form in ipairs(forms) do
      for _, kind in ipairs(kinds) do
        local worst = deviation(name, kind, tables.merged(common, form))
        lu.assertTrue(worst < 4, ("%s %d, %s: %g standard errors"):format(name, i, kind, worst))
      end
    end
  end
end

--- Draws without replacement need debias; a mean of neighbours counts the node itself more.
function tests.test_biased()
  lu.assertTrue(deviation("ladies", "sym", {samples = {20, 12}, row_normalize = false}) > 8)
  lu.assertTrue(deviation("graphsage", "row", {samples = {2, 3}, form = "mean"}) > 8)
end

--- Estimates that are no numbers fail; those that are all exact have no deviation.
function tests.test_deviation()
  local P, h, seeds = graphs.star():normalize "row", ladies.ones(20, 1), ladies.index{1, 7}
  local full = ladies.samplers.full(P, {layers = 2})
  lu.assertEquals(two_layers.deviation(full, P, seeds, h, ladies.rng(1), 3), 0)
  local function broken(...)
    local batch = full(...)
    local block = batch.blocks[2]
    batch.blocks[2] = {adj = block.adj:scale_cols(ladies.full(block.adj.n_cols, 0 / 0))}
    return batch
  end
  lu.assertErrorMsgContains("not NaN", two_layers.deviation, broken, P, seeds, h, ladies.rng(1), 3)
end

return tests
