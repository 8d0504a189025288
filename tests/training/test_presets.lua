--- Tests the settings that follow from others and from the data set, the paper's protocol, and the
-- authors' sampled validation. The numbers of the presets, which are readings of the paper, are in
-- fixtures/defaults.txt.
local lu = require "luaunit"
local ladies = require "ladies"
local methods = require "ladies.experiment.methods"
local protocol = require "experiments.paper.protocol"
local tables = require "ladies.base.tables"
local toy = require "reference.toy_data"

local experiment, merged = ladies.experiment, tables.merged
local tests = {}

-- ---------------------------------------------------------------- settings

--- The model of the default preset is trained where it can be. Methods that know P H but not H, or
-- that sketch H, have gcn, and so have all that are compared with them.
function tests.test_the_model_of_the_default_preset()
  local function model(given) return experiment.configure(given).model end
  lu.assertEquals({model{}, model{method = "fastgcn"}, model{model = "sage"}, model{model = "gcn"}},
    {"gcnii", "gcnii", "sage", "gcn"})
  for _, given in ipairs{{method = "vrgcn"}, {method = "mvs"}, {sketch = true}, {preset = "paper"},
    {preset = "code", method = "full"}} do
    lu.assertNil(model(given))
  end
  local same = experiment.same_model
  lu.assertEquals({same({"full", "vrgcn"}, {}), same({"ladies"}, {sketch = true})}, {"gcn", "gcn"})
  lu.assertNil(same({"full", "ladies"}, {}))
  lu.assertNil(same({"full", "vrgcn"}, {model = "gcn"}))
  lu.assertNil(same({"full", "vrgcn"}, {preset = "paper"}))
end

--- A stored run that names no model is one of gcn, as it was.
function tests.test_stored_without_a_model()
  local stored = experiment.configure{model = "gcn", layers = 2}
  stored.model = nil
  lu.assertEquals(experiment.stored(stored, "here"), stored)
  local own = experiment.configure{layers = 2}
  lu.assertEquals(experiment.stored(own, "here"), own)
  lu.assertErrorMsgContains("here: the model gcn has no alpha", experiment.stored, {alpha = 0.2},
    "here")
end

function tests.test_protocol()
  local fixed = {model = "gcn", layers = 5, hidden = 256, batch_size = 512, lr = 1e-3,
    min_gain = 0.01}
  lu.assertEquals(protocol.settings "cora", merged(fixed, {patience = 200}))
  lu.assertEquals(protocol.settings "reddit", fixed)
  lu.assertEquals(protocol.settings(protocol.REDDIT_SCALE), merged(fixed, {max_batches = 100,
    max_seconds = 30, eval_every = 1000}))
end

--- A large graph has fewer validations, and more clusters.
function tests.test_settings_that_follow_from_the_size()
  local function settled(n_nodes, given)
    local config = experiment.configure(given)
    experiment.resolve(config, {graph = {n_nodes = n_nodes}, train = ladies.range(1, 9),
      labels = ladies.index{1, 2}, features = ladies.zeros(9, 1)})
    return config
  end
  lu.assertEquals(settled(19999, {}).eval_every, 10)
  lu.assertEquals(settled(20000, {}).eval_every, 100)
  lu.assertEquals(settled(20000, {preset = "code"}).eval_every, 10)
  lu.assertEquals(settled(20000, {method = "full"}).eval_every, 10)
  for n_nodes, want in pairs{[12749] = {50, 5}, [12750] = {51, 5}, [74999] = {299, 5},
    [75000] = {300, 6}, [232965] = {931, 18}} do
    local config = settled(n_nodes, {method = "clustergcn"})
    lu.assertEquals({config.parts, config.clusters}, want)
  end
end

-- ---------------------------------------------------------------- sampled validation

-- Trains a few batches with every sampler that the method makes observed: a list of
-- {samples =, seeds = {Index, ...}}, in the order in which they were made.
local function observed(own)
  local method, made, data = methods.by_name.ladies, {}, toy.new()
  local make = method.make
  method.make = function(P, config, of)
    local sampler, one = make(P, config, of), {samples = config.samples, seeds = {}}
    made[#made + 1] = one
    return function(seeds, rng)
      one.seeds[#one.seeds + 1] = seeds
      return sampler(seeds, rng)
    end
  end
  local config = experiment.configure(merged({preset = "code", samples = 3, layers = 2, hidden = 8,
    batch_size = 20, eval_every = 2, max_batches = 6, patience = 0}, own))
  local ok, result = pcall(experiment.run, config, data, {quiet = true})
  method.make = make
  lu.assertTrue(ok, result)
  return made, data
end

--- The authors validate on a batch of random validation nodes, with 20 times the samples.
function tests.test_sampled_validation()
  local made, data = observed{}
  lu.assertEquals({made[1].samples, made[2].samples, #made}, {3, 60, 2})
  lu.assertEquals(observed{samples = {3, 2}}[2].samples, {60, 40})
  local seeds = made[2].seeds
  lu.assertEquals(#seeds, 3)                         -- after batches 2, 4 and 6
  for _, nodes in ipairs(seeds) do
    lu.assertEquals(#nodes, 20)
    lu.assertEquals(#ladies.sampling.find(data.val, nodes), 20)
  end
  lu.assertNotEquals(seeds[1]:sort():to_table(), seeds[2]:sort():to_table())
  made = observed{batch_size = 1000}
  lu.assertEquals(#made[2].seeds[1], #data.val)      -- all, where a batch has room
  lu.assertEquals(#observed{validation = "exact"}, 1)
end

return tests
