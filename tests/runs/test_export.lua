--- `ladies export`: a run's model in files for other programs; and data sets as PyTorch Geometric's
-- arrays, there and back.
local lu = require "luaunit"
local ladies = require "ladies"
local files = require "tools.files"
local message_of = require "tools.message_of"
local shell = require "tools.shell"
local tables = require "ladies.base.tables"
local toy = require "reference.toy_data"

local tests = {}
local folder                                             -- of each test

function tests.setUp()
  folder = shell.folder()
  ladies.data.save(toy.new(), folder.path .. "/toy.npz")
end

function tests.tearDown()
  local _ <close> = folder
end

local function command(...) return shell.run_ladies({...}, {folder = folder.path}) end

local function train(...)
  shell.succeeded(command("train", "./toy.npz", "--method", "full", "--model", "gcn", "--layers",
    "2", "--hidden", "4", "--max-batches", "2", "--out", "runs/a", ...))
end

local function hashes(path, given)
  return tables.map(ladies.nn.named_parameters(ladies.load_model(path, given)), function(one)
    return one.name .. one.tensor:hash()
  end)
end

function tests.test_a_run()
  train()
  local path = folder.path .. "/"
  local whole = hashes(path .. "runs/a")
  for _, arguments in ipairs{{}, {"--format", "npz"}, {"--out", "b.safetensors"},
    {"--out", "b.npz", "--names", "pyg"}, {"--names", "pyg", "--out", "c.safetensors"}} do
    local out = shell.succeeded(command("export", "runs/a", table.unpack(arguments)))
    local file = out:match "^(%S+): 4 parameters, "
    lu.assertEquals(out:find "load_state_dict" ~= nil, arguments[2] == "pyg" or #arguments == 4)
    local made = ladies.load_model(path .. "runs/a")
    lu.assertEquals(hashes(path .. file, file == "b.npz" and made or nil), whole)
  end
  for _, file in ipairs{"a.safetensors", "a.npz"} do lu.assertNotNil(files.read(path .. file)) end
end

function tests.test_what_is_refused()
  train()
  for message, arguments in pairs{
    ["which run? ladies export RUN"] = {},
    ["there is no run in /nowhere"] = {"/nowhere"},
    ["--out must end in .npz, got x.safetensors"] = {"runs/a", "--format", "npz", "--out",
      "x.safetensors"},
    ["--out must end in .safetensors or .npz, got x.csv"] = {"runs/a", "--out", "x.csv"},
    ["--out runs/a/model.npz is model.npz of the run"] = {"runs/a", "--out", "runs/a/model.npz"},
  } do
    shell.refuses(message, command("export", table.unpack(arguments)))
  end
end

--- The export says what Python must be given besides, where PyG's layers propagate by another P.
function tests.test_notes()
  train("--normalize", "row")
  local out = command("export", "runs/a", "--names", "pyg")
  lu.assertStrContains(out, "# edge_index and edge_weight: the entries of P, whose rows are targ")
  lu.assertStrContains(out, "normalize=False")
end

-- Everything that PyTorch Geometric's arrays have of a data set.
local function content(data)
  local dense = data.features
  if ladies.options.class_of(dense) == "Matrix" then dense = dense:to_dense() end
  return {data.graph.adjacency:hash(), dense:hash(), data.labels:hash(), data.train:hash(),
    data.val:hash(), data.test:hash()}
end

function tests.test_data_there_and_back()
  local data = ladies.data.load(folder.path .. "/toy.npz")
  for _, ending in ipairs{"npz", "safetensors"} do
    local path = folder.path .. "/pyg." .. ending
    ladies.data.export(data, path, {format = "pyg"})
    local again = ladies.data.load(path)
    lu.assertEquals(content(again), content(data))
    lu.assertEquals({again.name, #again.notes}, {"pyg", 0})
    local f <close> = (ending == "npz" and ladies.npz or ladies.safetensors).open(path)
    lu.assertEquals(f:names(), {"edge_index", "test_mask", "train_mask", "val_mask", "x", "y"})
    lu.assertEquals({f:dtype "edge_index", f:dtype "y", f:dtype "val_mask"},
      {"int64", "int64", "bool"})
    lu.assertEquals(f:shape "edge_index", {2, data.graph.adjacency.nnz})
  end
end

--- Weights, directions, unlabelled nodes and missing parts of the split; a text with a line for
-- each class has the names of classes.
function tests.test_other_data()
  local graph = ladies.matrix{n_rows = 3, n_cols = 3, rows = ladies.index{1, 2, 3},
    cols = ladies.index{2, 3, 1}, values = ladies.tensor{1, 2, 3}}
  local data = ladies.data.from_arrays{graph = graph,
    features = ladies.ones(3, 2), labels = {1, 2, 0}, directed = "keep", train = {1}, val = {2}}
  local path = folder.path .. "/weighted.safetensors"
  ladies.data.export(data, path, {format = "pyg"})
  local again = ladies.data.load(path, {directed = "keep"})
  lu.assertEquals(again.graph.adjacency:hash(), data.graph.adjacency:hash())
  lu.assertEquals(again.labels:to_table(), {1, 2, 0})
  lu.assertNil(again.test)
  ladies.safetensors.write(path, {edge_index = ladies.npz.int64{{0, 1}, {1, 2}},
    y = ladies.npz.int64{0, 1, -1}, x = ladies.ones(3, 1), class_names = "one\ntwo\n",
    train_mask = ladies.npz.bool{1, 0, 0}})
  local named = ladies.data.load(path, {directed = "keep"})
  lu.assertEquals(named.class_names, {"one", "two"})
  lu.assertEquals(named.train:to_table(), {1})
end

function tests.test_files_that_are_none()
  local path = folder.path .. "/x.safetensors"
  files.write(path, "no such thing")
  lu.assertStrContains(message_of(ladies.data.load, path), "is not a safetensors file")
  lu.assertStrContains(message_of(ladies.load_model, path), "is not a safetensors file")
  lu.assertStrContains(message_of(ladies.data.load, "none.safetensors"), "does not exist")
end

return tests
