--- A model whose forward and layer are different networks is reported; all others train in silence.

local lu = require "luaunit"
local ladies = require "ladies"
local check_model = require "ladies.training.loop.check_model"
local page_blocks = require "tools.page_blocks"
local stderr_of = require "tools.stderr_of"
local toy = require "reference.toy_data"

local tests = {}
local root = os.getenv "LADIES_SOURCE"

-- A GCN in which forward, layer or both go through another function.
local function model_of(own)
  local gcn = ladies.nn.gcn{inputs = toy.FEATURES, hidden = 8, outputs = 3, layers = 2}
  local model = {gcn = gcn, n_layers = 2, normalize = "sym", lambda = 0}
  function model.forward(_, ...) return (own.forward or gcn.forward)(gcn, ...) end
  function model.layer(_, ...) return (own.layer or gcn.layer)(gcn, ...) end
  function model.parameters() return gcn:parameters() end
  function model.named_parameters() return gcn:named_parameters() end
  return model
end

function tests.test_models_of_the_library()
  for _, name in ipairs{"gcn", "gcnii", "sage", "gin", "gat", "appnp", "sgc", "mlp"} do
    lu.assertNil(check_model(ladies.nn[name]{inputs = 5, outputs = 3, layers = 3}, 5), name)
  end
  local of_all_layers = ladies.nn.gcn{inputs = 5, outputs = 3, layers = 3, head = "concat",
    residual = true, norm = true, dropout = 0.5}
  lu.assertNil(check_model(of_all_layers, 5))
end

function tests.test_another_network()
  local half = model_of{layer = function(model, i, h, block, rng)
    local z = model:layer(i, h, block, rng)
    return i == 2 and z / 2 or z
  end}
  lu.assertStrContains(check_model(half, toy.FEATURES), "differ by 0.5 times the largest")
  local narrow = model_of{layer = function(model, ...) return model:layer(...):slice_cols(1, 1) end}
  lu.assertNil(check_model(narrow, toy.FEATURES))            -- its second layer fails, and says so
end

--- Of a model whose forward is the loop over its layers these are the same network; but a layer may
-- read more of its block than the row of a node.
function tests.test_layers_that_depend_on_their_block()
  local function layer(model, i, h, block, rng)
    local z = model:layer(i, h, block, rng)
    return z - z:mean(1)
  end
  local model = model_of{layer = layer, forward = function(gcn, features, batch)
    local h = features:rows(batch.input)
    for i, block in ipairs(batch.blocks) do h = layer(gcn, i, h, block) end
    return h
  end}
  lu.assertStrContains(check_model(model, toy.FEATURES), "gives a node another row in a mini-batch")
end

-- The model of a file of its own, whose text is given.
local function model_of_file(text)
  local made = assert(load(text))()
  local settings = {layers = 3, hidden = 8, normalize = "sym", seed = 1, dropout = 0.5}
  return (type(made) == "table" and made.make or made)(settings, toy.new())
end

-- The file `name` that doc/extending.md shows.
local function listing(name)
  for _, block in ipairs(page_blocks(ladies.file.read(root .. "/doc/extending.md"))) do
    if block.file == name then return block.text end
  end
end

function tests.test_models_to_begin_with()
  local template = ladies.file.read(root .. "/scripts/templates/model.lua")
  for _, text in ipairs{listing "residual.lua", listing "initial.lua", template} do
    lu.assertNil(check_model(model_of_file(text), toy.FEATURES))
  end
end

--- A model that adds rows of other nodes is refused, although the shapes fit: h wherever all layers
-- have as many nodes, its first rows always.
function tests.test_rows_of_other_nodes()
  for _, own in ipairs{"h", "h:slice(1, #block.dst)"} do
    local text, count = listing "residual.lua":gsub("block%.adj:matmul%(h%)", own)
    lu.assertEquals(count, 1)
    local model = model_of_file(text)
    local of_forward = {n_layers = 3, forward = function(_, ...) return model:forward(...) end}
    for _, each in ipairs{model, of_forward} do
      lu.assertStrMatches(check_model(each, toy.FEATURES), "the model's logits depend on the "
        .. "order of the nodes .* times the largest; .* is nn%.own_rows%(h, block%), not h, "
        .. "and where it gets no rng it draws nothing, as dropout would")
    end
  end
  local right = listing "residual.lua":gsub("block%.adj:matmul%(h%)", "nn.own_rows(h, block)")
  lu.assertNil(check_model(model_of_file(right), toy.FEATURES))
end

function tests.test_nothing_is_known()
  lu.assertNil(check_model(model_of{}, toy.FEATURES))
  lu.assertNil(check_model(model_of{forward = function() error "not here" end}, toy.FEATURES))
  local rng = ladies.rng(1)
  local noisy = model_of{forward = function(model, ...)
    return model:forward(...):dropout(0.5, rng)
  end}
  lu.assertNil(check_model(noisy, toy.FEATURES))
  lu.assertNil(check_model({forward = function() end}, toy.FEATURES))
end

function tests.test_training_tells()
  local data = toy.new()
  local function train(own)
    return stderr_of(function()
      ladies.train{data = data, model = model_of(own), batch_size = 20, max_batches = 2,
        sampler = toy.neighbourhoods(data.graph:normalize "sym", 2), quiet = true}
    end)
  end
  lu.assertEquals(train{}, "")
  lu.assertStrMatches(train{layer = function(model, ...) return model:layer(...) / 2 end},
    "ladies.train: the model's forward and its layers are not the same network: .*\n")
end

return tests
