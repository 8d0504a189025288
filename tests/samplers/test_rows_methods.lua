--- Features that stay in a file, in half precision: every method trains on them with the bits of
-- features that were read into memory.
local lu = require "luaunit"
local ladies = require "ladies"
local compare = require "reference.compare"
local generate = require "ladies.data.generate"
local method_names = require "reference.method_names"
local methods = require "ladies.experiment.methods"
local temporary = require "reference.temporary"
local toy = require "reference.toy_data"

local tests = {}

local path = temporary.path "toy.safetensors"
ladies.data.save(toy.new(), path, {dtype = "float16"})

-- The data set with features in its file, and in memory.
local function both()
  local list = {}
  for _, where in ipairs{"file", "memory"} do
    list[#list + 1] = ladies.data.load(path, {features_in = where})
  end
  lu.assertEquals(tostring(list[1].features), "Rows 180 x 12, float16")
  lu.assertEquals(list[2].features.ndim, 2)
  return list
end

-- The hash of what a method's training leaves.
local function trained(data, method, model)
  local config = ladies.experiment.configure{method = method, model = model, layers = 2, hidden = 8,
    samples = methods.takes(method, "samples") and 5 or nil, batch_size = 20,
    max_batches = 8, eval_every = 4, lr = 0.02}
  local result, own = ladies.experiment.run(config, data, {quiet = true})
  local hashes = {result.test_f1}
  for _, parameter in ipairs(own:parameters()) do hashes[#hashes + 1] = parameter:hash() end
  return table.concat(hashes, " ")
end

for _, method in ipairs(method_names()) do
  tests["test_" .. method] = function()
    local stored, read = table.unpack(both())
    lu.assertEquals(trained(stored, method), trained(read, method))
  end
end

-- A sampler of PASS for a data set, whose attention is not the first one.
local function pass_of(data)
  local sampler = ladies.samplers.pass(data.graph:normalize "row",
    {samples = {3, 3}, features = data.features})
  sampler.parameters.a:copy_(ladies.tensor{{1, 2, 0.5}})
  return sampler
end

--- PASS's expectation is the same when the features are read in pieces; this graph has two of them.
function tests.test_expectation()
  local large = temporary.path "large.safetensors"
  ladies.data.save(generate.power_law{nodes = 20000, entries = 40000, classes = 3}, large)
  local stored = ladies.data.load(large, {features_in = "file"})
  lu.assertStrContains(tostring(stored.features), "Rows 20000 x ")
  compare.assert_close(pass_of(stored):expectation():entry_values(),
    pass_of(ladies.data.load(large, {features_in = "memory"})):expectation():entry_values(), 1e-6)
end

--- VR-GCN's history is filled from the file; P X, which is kept in memory, is not made from there.
function tests.test_vrgcn_fill()
  local histories = {}
  for i, data in ipairs(both()) do
    local model = ladies.nn.gcn{inputs = toy.FEATURES, hidden = 8, outputs = 3, layers = 2}
    local sampler = ladies.samplers.vrgcn(data.graph:normalize "sym", {layers = 2, hidden = 8})
    sampler:fill(model, data.features)
    histories[i] = sampler.history[1]:hash()
  end
  lu.assertEquals(histories[1], histories[2])
  local data = both()[1]
  lu.assertErrorMsgContains("ladies.samplers.vrgcn: features must be a Tensor or a Matrix, "
    .. "got a Rows", ladies.samplers.vrgcn, data.graph:normalize "sym",
    {layers = 2, hidden = 8, features = data.features})
end

return tests
