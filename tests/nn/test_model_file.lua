--- Tests models in files: a loaded model is the saved one, and the file of a model that cannot be
-- built from its options does not say how it is built.
local lu = require "luaunit"
local ladies = require "ladies"
local temporary = require "reference.temporary"
local toy = require "reference.toy_data"
local toy_training = require "reference.toy_training"

local tests = {}
local weights = toy_training.weights

local function gcn()
  return ladies.nn.gcn{inputs = toy.FEATURES, hidden = 16, outputs = 3, layers = 2, dropout = 0.2}
end

function tests.test_model_of_a_run()
  local folder = temporary.path "saved"
  local opts = toy_training.options{max_batches = 10, out = folder}
  local result = ladies.train(opts)
  local model = ladies.load_model(folder)
  lu.assertEquals(weights(model), weights(opts.model))
  lu.assertEquals(tostring(model), tostring(opts.model))
  lu.assertEquals(ladies.metrics.f1(model, opts.data, opts.data.test), result.test_f1)
  lu.assertEquals(weights(ladies.load_model(folder .. "/model.npz")), weights(model))
end

--- A model of the user's own is saved without an architecture and loaded into one made anew.
function tests.test_model_of_ones_own()
  local function new()
    local own = {w = ladies.ones(2, 3)}
    own.w:requires_grad_()
    return own
  end
  local model, path = new(), temporary.path "own.npz"
  model.w:fill_(7)
  ladies.save_model(model, path)
  lu.assertEquals(ladies.load_model(path, new()).w:to_table(), {{7, 7, 7}, {7, 7, 7}})
  lu.assertErrorMsgContains("does not say how its model is built", ladies.load_model, path)
end

--- Tied parameters are in a file once; the model that is filled keeps the tie.
function tests.test_tied_parameters()
  local function new()
    local w = ladies.ones(2):requires_grad_()
    return {encode = {w = w}, decode = {w = w}}
  end
  local model, path = new(), temporary.path "tied.npz"
  model.encode.w:fill_(7)
  ladies.save_model(model, path)
  lu.assertEquals(ladies.npz.open(path):names(), {"parameter.decode.w"})
  local loaded = ladies.load_model(path, new())
  lu.assertEquals(loaded.encode.w:to_table(), {7, 7})
  lu.assertTrue(rawequal(loaded.encode.w, loaded.decode.w))
end

--- A gcn that the user changed, however deep, is saved as a model of the user's own, since its
-- options would not make it. (It may be for another P: see test_propagation.)
function tests.test_changed_gcn()
  local path = temporary.path "changed.npz"
  local function identity(x) return x end
  for what, change in pairs{
    layer = function(m) m.layer = function(_, _, h) return h end end,
    forward = function(m) m.forward = function() end end,
    activation = function(m) m.layers[1].activation = identity end,
    ["forward of a convolution"] = function(m) m.layers[1].conv.forward = identity end,
    order = function(m) m.layers[1].conv.order = "transform_first" end,
    ["a layer more"] = function(m) m.layers[3] = m.layers[2] end,
    width = function(m) m.layers[2].conv.bias = ladies.ones(4):requires_grad_() end,
    class = function(m) setmetatable(m, ladies.nn.class "Gcn") end,
    ["a setting that none can have"] = function(m) m.config.layers = 0 end,
  } do
    local model = gcn()
    ladies.save_model(model, path)
    lu.assertEquals(weights(ladies.load_model(path)), weights(model))
    change(model)
    ladies.save_model(model, path)
    lu.assertFalse(ladies.npz.open(path):has "architecture", what)
    lu.assertErrorMsgContains("does not say how its model is built", ladies.load_model, path)
    lu.assertEquals(weights(ladies.load_model(path, model)), weights(model), what)
  end
end

return tests
