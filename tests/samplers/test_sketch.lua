--- LADIES with probabilities from the norms ||(H W)_u|| (sketch): probabilities by hand, how a step
-- changes the norms, models that have none; and PLADIES, which is LADIES with Poisson draws.
local lu = require "luaunit"
local ladies = require "ladies"
local graphs = require "reference.graphs"
local methods = require "ladies.experiment.methods"
local row_norms = require "ladies.sampling.row_norms"
local statistics = require "reference.statistics"
local tables = require "ladies.base.tables"
local toy = require "reference.toy_data"
local two_layers = require "reference.two_layers"

local fails, index, sampling = lu.assertErrorMsgContains, ladies.index, ladies.sampling

local tests = {}

local function gcn(own)
  return ladies.nn.gcn(tables.merged({inputs = toy.FEATURES, hidden = 6, outputs = 3,
    layers = 2}, own))
end

local function sketching(P, own)
  return ladies.samplers.ladies(P, tables.merged({samples = {20, 20}, sketch = true,
    self_nodes = "previous"}, own))
end

--- A norm that is not known counts as the mean of those that are, and a small one as a tenth of it.
function tests.test_norms()
  local norms = row_norms.new(6, 2)
  lu.assertEquals(norms:of(1, index{2, 3}):to_table(), {1, 1})
  norms.norms[1]:copy_rows_(index{1, 2, 3, 4}, ladies.tensor{2, 6, 0, 0.25})
  lu.assertEquals(norms:of(1, index{1, 2, 3}):to_table(), {2, 6, 4})
  lu.assertEquals(norms:of(1, index{6, 2, 5}):to_table(), {6, 6, 6})
  local low = norms:of(1, index{2, 4}):to_table()
  lu.assertAlmostEquals(low[2], 0.3125, 1e-6)
  lu.assertEquals(norms:of(2, index{1, 2}):to_table(), {1, 1})
  lu.assertIs(norms.state[2].tensor, norms.norms[2])
end

--- One node drawn from a neighbourhood: each as often as ||P(S,u)|| times its norm says.
function tests.test_probabilities()
  local P, seeds = graphs.random(20, 3, 2):normalize "sym", index{3, 9}
  local sampler, rng = sketching(P, {samples = {1}, self_nodes = "none"}), ladies.rng(1)
  local norms = sampler.state[1].tensor:uniform_(1, 5, ladies.rng(2))
  local U, near = P:slice(seeds)
  local p = U:col_sums(2):sqrt() * norms[near]
  local total, means = p:sum():item(), {}
  for i = 1, #near do means[near[i]] = 4000 * p[i] / total end
  statistics.assert_frequencies(statistics.count(4000, function(i)
    return sampler(seeds, rng:fork(i)).input[1]
  end), means)
end

--- The sampler's weights are those of its probabilities, so that it is unbiased with replacement.
function tests.test_unbiased()
  local P, seeds = graphs.random(30, 3, 5):normalize "sym", index{3, 17, 28}
  local h = ladies.zeros(30, 1):uniform_(1, 2, ladies.rng(1))
  local sampler = sketching(P, {samples = {8, 6}, draw = "wr", row_normalize = false,
    self_nodes = "none"})
  for l = 1, 2 do sampler.state[l].tensor:uniform_(1, 4, ladies.rng(l)) end
  lu.assertTrue(two_layers.deviation(sampler, P, seeds, h, ladies.rng(4), 3000) < 4.9)
end

--- A step notes sketches of ||(H W)_u||, whose squares have the right mean; those of nodes that it
-- did not compute stay.
function tests.test_update()
  local data, model = toy.new(true), gcn{head = "linear"}
  local sampler = sketching(data.graph:normalize "sym")
  local norms = {sampler.state[1].tensor, sampler.state[2].tensor}
  local seeds, ratios = index{1, 50, 99}, {statistics.running(), statistics.running()}
  local batch = sampler(seeds, ladies.rng(1))
  norms[1]:fill_(7)
  for i = 1, 300 do
    batch.rng = ladies.rng(2):fork(i)
    local _ <close> = ladies.step()
    model:forward(data.features, batch)
    batch:after_step(model)
    local exact = {}
    ladies.no_grad(function()
      local h = data.features:rows(batch.input)
      exact[1] = h:matmul(model.layers[1].conv.weight)
      exact[2] = model:layer(1, h, batch.blocks[1]):matmul(model.layers[2].conv.weight)
    end)
    for l, block in ipairs(batch.blocks) do
      local of, squares = exact[l]:row_sums(2), norms[l][block.src]:square()
      ratios[l].add(squares:sum():item() / of:sum():item())
      lu.assertTrue((of * 9 - squares):min() > -1e-5)
    end
  end
  for l, run in ipairs(ratios) do
    lu.assertTrue(math.abs(run.mean() - 1) < 4.9 * run.standard_error(), l .. " " .. run.mean())
  end
  local kept = norms[1]:above(6.999) * (1 - norms[1]:above(7))
  lu.assertTrue(kept:sum():item() >= 180 - #batch.input)
  norms[1]:fill_(7)
  model:forward(data.features, batch, false)
  lu.assertEquals(norms[1]:min(), 7, "a forward without training notes nothing")
end

function tests.test_training()
  local data = toy.new()
  local sampler = sketching(data.graph:normalize "sym")
  local result = ladies.train{data = data, model = gcn{dropout = 0.2}, lr = 0.02, quiet = true,
    max_batches = 100, patience = 0, seed = 3, sampler = sampler}
  lu.assertTrue(result.test_f1 > 0.8, result.test_f1)
  for l = 1, 2 do lu.assertTrue(sampler.state[l].tensor:max() > 0) end
end

function tests.test_errors()
  local P = toy.new().graph:normalize "sym"
  fails('sketch is for probability = "norms"', sketching, P, {probability = "uniform"})
  fails("sketch has norms that are not squared; leave flat out", sketching, P, {flat = true})
  fails("layer 1 must be a convolution P H W", function()
    local batch = sketching(P)(index{1}, ladies.rng(1))
    batch.rng = ladies.rng(1)
    batch:after_step{layers = {{}, {}}}
  end)
end

--- The method of that name is LADIES with Poisson draws.
function tests.test_pladies()
  local P = toy.new().graph:normalize "sym"
  local config = ladies.experiment.configure{method = "pladies", layers = 2, samples = 10,
    self_nodes = "previous"}
  local found = methods.by_name.pladies.make(P, config)(index{1, 8}, ladies.rng(1))
  local own = ladies.samplers.ladies(P, {samples = 10, layers = 2, draw = "poisson",
    self_nodes = "previous"})(index{1, 8}, ladies.rng(1))
  lu.assertEquals(sampling.hash(found), sampling.hash(own))
  fails("the method pladies has no draw", ladies.experiment.configure,
    {method = "pladies", draw = "wr"})
end

return tests
