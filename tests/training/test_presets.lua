--- Tests the numbers of the presets, which are readings of the paper: every setting of the presets,
-- the methods and the paper's protocol, the settings that follow from the data set, and the
-- authors' sampled validation.
local lu = require "luaunit"
local ladies = require "ladies"
local methods = require "ladies.experiment.methods"
local protocol = require "experiments.paper.protocol"
local tables = require "ladies.base.tables"
local toy = require "reference.toy_data"

local experiment, merged = ladies.experiment, tables.merged
local tests = {}

-- ---------------------------------------------------------------- settings

local COMMON = {
  dataset = "wordnet", shuffle = "none", method = "ladies", samples = 512,
  layers = 5, hidden = 256, batch_size = 512, epochs = 1000, seed = 1, lr = 1e-3, clip = 0,
  weight_decay = 0, features = "as_given", row_normalize = true, debias = false, union = "pre",
  flat = false, probability = "norms", activation = "relu", dropout = 0, validation = "exact",
  patience = 200, min_gain = 0.01,
}

function tests.test_presets()
  local found = {}
  for preset in pairs(ladies.presets) do found[preset] = experiment.configure{preset = preset} end
  lu.assertEquals(found, {
    default = merged(COMMON, {preset = "default", normalize = "sym", draw = "wor",
      self_nodes = "auto", dropout = 0.3, patience = 600, best = "highest", model = "gcnii",
      theta = 0.5}),
    paper = merged(COMMON, {preset = "paper", normalize = "sym", draw = "wr", self_nodes = "none",
      head = "none", head_dropout = 0, order = "propagate_first", eval_every = 10, best = "gain"}),
    code = merged(COMMON, {preset = "code", normalize = "row", draw = "wor", self_nodes = "batch",
      union = "post", order = "transform_first", activation = "elu", head = "linear",
      dropout = 0.2, head_dropout = 0.5, clip = 0.2, validation = "sampled", eval_every = 10,
      best = "gain"}),
  })
  lu.assertEquals(experiment.configure{preset = "code", dropout = 0.1},
    merged(found.code, {dropout = 0.1}))
end

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

function tests.test_settings_of_methods()
  local settings = {}
  for _, name in ipairs{"ladies", "fastgcn", "graphsage", "clustergcn", "vrgcn", "full"} do
    local config, usual = experiment.configure{method = name, preset = "code"},
      experiment.configure{preset = "code"}
    settings[name] = {}
    for key, value in pairs(config) do
      if usual[key] ~= value and key ~= "method" then settings[name][key] = value end
    end
  end
  lu.assertEquals(settings, {
    ladies = {},
    fastgcn = {draw = "wr", self_nodes = "none", row_normalize = false, union = "pre"},
    graphsage = {samples = 5},
    clustergcn = {partition = "metis", lambda = 0, validation = "exact"},
    vrgcn = {samples = 2, validation = "exact"},
    full = {validation = "exact"},
  })
  lu.assertEquals(experiment.configure{method = "graphsage"}.normalize, "row")
  lu.assertEquals(experiment.configure{method = "full"}.patience, 200)
end

function tests.test_protocol()
  local fixed = {model = "gcn", layers = 5, hidden = 256, batch_size = 512, lr = 1e-3,
    min_gain = 0.01}
  lu.assertEquals(protocol.settings "cora", merged(fixed, {patience = 200}))
  lu.assertEquals(protocol.settings "reddit", fixed)
  lu.assertEquals(protocol.settings(protocol.REDDIT_SCALE), merged(fixed, {max_batches = 100,
    max_seconds = 30, eval_every = 1000}))
end

--- The defaults are those of README's lines, which leave them open.
function tests.test_defaults()
  lu.assertEquals(ladies.nn.gcn{inputs = 2, outputs = 3}.config, {
    inputs = 2, outputs = 3, hidden = 256, layers = 5, activation = "relu", dropout = 0,
    head = "none", head_dropout = 0, order = "auto", norm = false, bias = true,
    init = "glorot_uniform", normalize = "sym", lambda = 0, seed = 1,
  })
  local iterator = ladies.batches(ladies.range(1, 1024), {epochs = 2})
  lu.assertEquals({#iterator().output, iterator.last, iterator.opts.seed, iterator.opts.workers},
    {512, 4, 1, 0})
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
