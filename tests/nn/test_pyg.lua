--- Models under PyTorch Geometric's names: its weights in our models give its logits, and our files
-- have the tensors that it wrote (fixtures/make_pyg.py).
local here = os.getenv "LADIES_SOURCE" .. "/tests"

local lu = require "luaunit"
local ladies = require "ladies"
local core = require "ladies_core"
local compare = require "reference.compare"
local message_of = require "tools.message_of"
local pyg = require "ladies.nn.pyg"
local tables = require "ladies.base.tables"

local nn, npz, safetensors = ladies.nn, ladies.npz, ladies.safetensors
local tests = {}
local scratch = os.tmpname()
local PATH = scratch .. ".safetensors"

function tests.tearDown()
  for _, path in ipairs{scratch, PATH, scratch .. ".npz"} do os.remove(path) end
end

local fixture = safetensors.open(here .. "/fixtures/pyg.safetensors")

local INPUTS, OUTPUTS = 5, 3

-- Each model of the fixture as one of ours, and the class that makes it in Python, where there is
-- one.
local MODELS = {
  gcn = {nn.gcn, {hidden = 8, layers = 2}, "GCN(in_channels=5, hidden_channels=8, num_layers=2, "
    .. "out_channels=3)"},
  gcn_concat = {nn.gcn, {hidden = 8, layers = 3, head = "concat", norm = true, activation = "elu"},
    'GCN(in_channels=5, hidden_channels=8, num_layers=3, out_channels=3, act="elu", jk="cat", '
    .. 'norm="layer_norm", norm_kwargs={"mode": "node"})'},
  sage = {nn.sage, {hidden = 8, layers = 2, normalize = "row"},
    "GraphSAGE(in_channels=5, hidden_channels=8, num_layers=2, out_channels=3)"},
  gat = {nn.gat, {hidden = 8, layers = 2, heads = 4, output_heads = 4, normalize = "row"},
    "GAT(in_channels=5, hidden_channels=8, num_layers=2, out_channels=3, heads=4)"},
  gat_heads = {nn.gat, {hidden = 8, layers = 2, heads = 4, output_heads = 2, normalize = "none"}},
  gin = {nn.gin, {hidden = 8, layers = 2, eps = 0.25, learn_eps = true, norm = true,
    normalize = "none"},
    "GIN(in_channels=5, hidden_channels=8, num_layers=2, out_channels=3, eps=0.25, train_eps=True, "
    .. 'norm="layer_norm", norm_kwargs={"mode": "node"})'},
  gcnii = {nn.gcnii, {hidden = 8, layers = 3, alpha = 0.1}},
  gcnii_hops = {nn.gcnii, {hidden = 8, layers = 3}},
  appnp = {nn.appnp, {hidden = 8, layers = 3}},
  sgc = {nn.sgc, {layers = 2}, "SGConv(5, 3, K=2, bias=True)"},
  mlp = {nn.mlp, {hidden = 8, layers = 2, norm = true},
    'MLP([5, 8, 3], norm="layer_norm", norm_kwargs={"mode": "node"})'},
}

local function make(name)
  local kind, opts = table.unpack(MODELS[name])
  return kind(tables.merged({inputs = INPUTS, outputs = OUTPUTS}, opts))
end

-- The graph of the fixture, with labels that mean nothing.
local function dataset()
  local shape = fixture:shape "graph/edge_index"
  local ends, x = fixture:index "graph/edge_index", fixture:tensor "graph/x"
  local m, n = shape[2], x.n_rows
  return ladies.data.from_arrays{features = x, labels = ladies.range(1, n) // n + 1,
    edges = {ends:slice(1, m), ends:slice(m + 1, 2 * m)}}
end

-- Writes the file that torch would have saved of a model of the fixture.
local function state_dict(name, path)
  local arrays = {}
  for _, key in ipairs(fixture:names()) do
    local parameter = key:match("^" .. name .. "/(.*)")
    if parameter and parameter ~= "logits" then
      local x, shape = fixture:tensor(key), fixture:shape(key)
      arrays[parameter] = #shape > 2 and npz.float32(x, {shape = shape}) or x
    end
  end
  (path:find "npz$" and npz or safetensors).write(path, arrays)
  return arrays
end

--- Our models with PyG's weights give its logits: GCNConv, SAGEConv, GATConv, GINConv, GCN2Conv,
-- APPNP, SGConv and MLP.
function tests.test_logits_are_those_of_pyg()
  local data = dataset()
  for name in pairs(MODELS) do
    state_dict(name, PATH)
    local model = ladies.load_model(PATH, make(name))
    local logits = ladies.inference.exact(model, data)
    compare.assert_close(logits, fixture:numbers(name .. "/logits"), 1e-5, name)
    state_dict(name, scratch .. ".npz")
    local from_npz = ladies.load_model(scratch .. ".npz", make(name))
    lu.assertEquals(ladies.inference.exact(from_npz, data):hash(), logits:hash())
  end
end

--- Our file of such a model has the tensors that PyG wrote: names, shapes and values.
function tests.test_files_are_those_of_pyg()
  for name, case in pairs(MODELS) do
    local arrays = state_dict(name, PATH)
    local model = ladies.load_model(PATH, make(name))
    ladies.save_model(model, PATH, {names = "pyg"})
    local f <close> = safetensors.open(PATH)
    local count = 0
    for parameter in pairs(arrays) do
      local key = name .. "/" .. parameter
      lu.assertEquals({f:shape(parameter), f:dtype(parameter)}, {fixture:shape(key), "float32"})
      lu.assertEquals(f:tensor(parameter):hash(), fixture:tensor(key):hash(), key)
      count = count + 1
    end
    lu.assertEquals(#f:names(), count)
    lu.assertEquals(f:metadata().pyg, case[3])
    lu.assertEquals(f:metadata().names, "pyg")
  end
end

--- Our own files make the model again, by either names; .npz with PyG's names has the state alone.
function tests.test_models_come_back()
  for name in pairs(MODELS) do
    local model = make(name)
    for _, names in ipairs{"ladies", "pyg"} do
      ladies.save_model(model, PATH, {names = names})
      local again = ladies.load_model(PATH)
      for i, one in ipairs(nn.named_parameters(again)) do
        lu.assertEquals(one.tensor:hash(), nn.named_parameters(model)[i].tensor:hash())
      end
    end
  end
  local path = scratch .. ".npz"
  ladies.save_model(make "gcn", path, {names = "pyg"})
  local f <close> = npz.open(path)
  lu.assertEquals(f:names(), {"convs.0.bias", "convs.0.lin.weight", "convs.1.bias",
    "convs.1.lin.weight"})
  lu.assertStrContains(message_of(ladies.load_model, path), "does not say how its model is built")
end

function tests.test_what_has_no_counterpart()
  local max = nn.sage{inputs = 2, outputs = 2, hidden = 4, layers = 1, aggregate = "max"}
  lu.assertStrContains(message_of(ladies.save_model, max, PATH, {names = "pyg"}),
    'ladies.save_model: nn.sage with aggregate = "max" has no counterpart in PyG')
  local own = {forward = print, weight = ladies.ones(1):requires_grad_()}
  lu.assertStrContains(message_of(ladies.save_model, own, PATH, {names = "pyg"}),
    "PyG's names are those of our own models, gcn, ")
  local more = make "gcn"
  more.layers[1].own = {weight = ladies.ones(1):requires_grad_()}
  lu.assertStrContains(message_of(ladies.save_model, more, PATH, {names = "pyg"}),
    "the model has 5 parameters, PyG's has 4: it is not as it was made")
  lu.assertStrContains(message_of(ladies.save_model, own, PATH, {names = "torch"}), "pyg")
  lu.assertFalse(core.exists(PATH))
end

--- A note says what Python must do, which depends on the P that a model is for.
function tests.test_notes()
  local function note(name, more)
    return pyg.note(nn[name]{inputs = 2, outputs = 2, layers = 2, hidden = 4,
      normalize = more and more.normalize, lambda = more and more.lambda})
  end
  lu.assertNil(note "gcn")
  lu.assertStrContains(note("gcn", {normalize = "row"}), "edge_index and edge_weight")
  lu.assertStrContains(note("gcn", {lambda = 1}), "edge_index and edge_weight")
  lu.assertStrContains(note("sage", {normalize = "row"}), "add_self_loops")
  lu.assertNil(note("gcnii", {normalize = "sym"}))
  lu.assertEquals(note("gcnii", {normalize = "row"}),
    "PyG's layers propagate by sym, this model by row: its logits will be others")
  lu.assertEquals(note("gcnii", {lambda = 1}),
    "PyG's layers propagate by sym, this model by another P: its logits will be others")
end

--- A file of another model is refused with the first thing that differs, and nothing is filled.
function tests.test_files_of_other_models()
  state_dict("gcn", PATH)
  local deeper = nn.gcn{inputs = 5, outputs = 3, hidden = 8, layers = 3}
  local before = nn.named_parameters(deeper)[1].tensor:hash()
  lu.assertStrContains(message_of(ladies.load_model, PATH, deeper),
    "has no convs.2.lin.weight: it is of another model")
  lu.assertEquals(nn.named_parameters(deeper)[1].tensor:hash(), before)
  local wider = nn.gcn{inputs = 5, outputs = 3, hidden = 9, layers = 2}
  lu.assertStrContains(message_of(ladies.load_model, PATH, wider),
    "convs.0.lin.weight is 8 x 5, the model's is 9 x 5")
  state_dict("gat", PATH)
  local heads = nn.gat{inputs = 5, outputs = 3, hidden = 8, layers = 2, heads = 2,
    output_heads = 4}
  lu.assertStrContains(message_of(ladies.load_model, PATH, heads),
    "convs.0.att_src is 1 x 4 x 2, the model's is 1 x 2 x 4")
  state_dict("gin", PATH)
  local fixed = nn.gin{inputs = 5, outputs = 3, hidden = 8, layers = 2, eps = 0.5, norm = true}
  lu.assertStrContains(message_of(ladies.load_model, PATH, fixed),
    "convs.0.eps is 0.25, the model's is 0.5")
end

return tests
