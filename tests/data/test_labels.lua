--- Tests labels of both kinds: what a data set says of them, and training, inference and scores
-- against values of NumPy, SciPy and PyTorch, on a directed graph with weights and unlabelled
-- nodes.
local lu = require "luaunit"
local ladies = require "ladies"
local compare = require "reference.compare"
local message_of = require "tools.message_of"
local shell = require "tools.shell"
local temporary = require "reference.temporary"
local fixture = require "reference.fixture"

local npz, index, tensor = ladies.npz, ladies.index, ladies.tensor
local NAN = 0 / 0
local tests = {}

local KINDS = {"single", "multi"}

local function labelled(kind) return fixture.path("labelled_" .. kind) end

-- The data set of the fixture, and its archive with the expected values.
local function opened(kind)
  return ladies.data.load(labelled(kind), {directed = "keep"}), npz.open(labelled(kind))
end

-- The GCN of the fixture with its parameters.
local function model_of(data, file, kind)
  local model = ladies.nn.gcn{inputs = data.features.n_cols, hidden = 6, outputs = data.classes,
    layers = 2, normalize = kind}
  local names = {["layers.1.conv.weight"] = "w1", ["layers.1.conv.bias"] = "b1",
    ["layers.2.conv.weight"] = "w2", ["layers.2.conv.bias"] = "b2"}
  local of = {}
  for _, parameter in ipairs(model:named_parameters()) do
    local name = assert(names[parameter.name], parameter.name)
    parameter.tensor:copy_(file:tensor(name))
    of[name] = parameter.tensor
  end
  return model, of
end

-- Labels as comparable tables: NaN, which equals nothing, becomes -1.
local function cells(labels)
  local all = labels:to_table()
  for _, row in ipairs(type(all[1]) == "table" and all or {}) do
    for j, x in ipairs(row) do row[j] = x ~= x and -1 or x end
  end
  return all
end

-- ---------------------------------------------------------------- against Python

function tests.test_propagation_of_a_directed_graph_with_weights()
  for _, kind in ipairs(KINDS) do
    local data, file = opened(kind)
    lu.assertFalse(data.graph:is_symmetric())
    for name, opts in pairs{[""] = {}, bare = {self_loops = false}} do
      for _, normalize in ipairs{"row", "sym"} do
        compare.assert_close(data.graph:normalize(normalize, opts):to_dense(),
          file:numbers("P." .. normalize .. name), 1e-6, normalize .. name)
      end
    end
  end
end

function tests.test_exact_inference()
  for _, kind in ipairs(KINDS) do
    local data, file = opened(kind)
    for _, normalize in ipairs{"row", "sym"} do
      compare.assert_close(ladies.inference.exact(model_of(data, file, normalize), data),
        file:numbers("logits." .. normalize), 1e-5, kind .. " " .. normalize)
    end
  end
end

--- A run's first step of training has the loss, and by way of SGD with rate 1 the gradients, of
-- PyTorch.
function tests.test_training_step()
  for _, kind in ipairs(KINDS) do
    local data, file = opened(kind)
    local sampler = ladies.samplers.full(data.graph:normalize "sym", {layers = 2})
    for _, weighted in ipairs{false, true} do
      local model, parameters = model_of(data, file, "sym")
      local before, place = {}, {}
      for name, parameter in pairs(parameters) do before[name] = parameter:clone() end
      for i, id in ipairs(data.train:to_table()) do place[id] = i end
      local folder = temporary.path(kind .. tostring(weighted))
      ladies.train{
        data = data, model = model, quiet = true, max_batches = 1,
        validation = function() return 0 end,           -- keeps the model after the step
        batch_size = #data.train, optimizer = ladies.optim.sgd(model:parameters(), {lr = 1}),
        out = folder, sampler = function(seeds, rng)
          local batch = sampler(seeds, rng)
          local nodes = batch.loss_nodes and batch.output[batch.loss_nodes] or batch.output
          local order = {}
          for i, id in ipairs(nodes:to_table()) do order[i] = place[id] end
          batch.loss_weight = weighted and file:tensor("weights")[index(order)] or nil
          return batch
        end}
      local record = ladies.file.read(folder .. "/log.jsonl"):match '"loss":([%d.]+)'
      compare.assert_close({tonumber(record)}, {file:numbers(weighted and "weighted" or "loss")},
        2e-4, kind .. " loss")
      if weighted then
        for name, parameter in pairs(parameters) do
          compare.assert_close(before[name] - parameter, file:numbers("grad." .. name), 1e-5,
            kind .. " gradient " .. name)
        end
      end
    end
  end
end

-- ---------------------------------------------------------------- what a data set holds

-- Makes the path 1-2-3 and node 4 alone with three classes; the nodes have two, none, one, and no
-- label.
local function own(changes)
  local all = {
    edges = {{1, 2}, {2, 3}}, features = tensor{{1, 0}, {0, 1}, {1, 1}, {0, 0}},
    labels = tensor{{1, 0, 1}, {0, 0, 0}, {1, 0, 0}, {NAN, NAN, NAN}},
    train = {1}, val = {2}, test = {3}, class_names = {"a", "b", "c"},
  }
  for key, value in pairs(changes or {}) do all[key] = value or nil end
  local data = ladies.data.from_arrays(all)
  return data
end

local OWN = {{1, 0, 1}, {0, 0, 0}, {1, 0, 0}, {-1, -1, -1}}

function tests.test_several_classes_a_node()
  local data = own()
  lu.assertEquals({data.multilabel, data.classes}, {true, 3})
  local facts = data:facts()
  lu.assertEquals({facts.class_sizes, facts.unlabelled, facts.mean_classes, facts.no_class},
    {{2, 0, 1}, 1, 1, 1})
  lu.assertStrContains(data:describe(), "3: a, b, c; 1.00 a node; in none: 1; unlabelled: 1\n")
  local sparse = own{labels = ladies.sparse(tensor{{1, 0, 1}, {0, 0, 0}, {1, 0, 0}, {0, 1, 0}})}
  lu.assertEquals(cells(sparse.labels), {{1, 0, 1}, {0, 0, 0}, {1, 0, 0}, {0, 1, 0}})
  local one = own{labels = {1, 2, 1, 0}}
  lu.assertEquals({one.multilabel, one:facts().mean_classes}, {false, nil})
end

function tests.test_refusals()
  local function refused(expected, changes)
    lu.assertEquals(message_of(own, changes), "ladies.data.from_arrays: " .. expected)
  end
  refused("labels has 2 rows, must have 4, one for each node", {labels = ladies.ones(2, 3)})
  refused("labels must be whole numbers or a matrix of 0 and 1, got a vector of 4",
    {labels = ladies.ones(4)})
  refused("labels has no columns, must have one for each class",
    {labels = ladies.zeros(4, 0), class_names = false})
  refused("class_names has length 3, must have 2, one for each column of labels",
    {labels = ladies.ones(4, 2)})
  local place = ", must be 0 or 1, or all of the row NaN: a node without a label"
  for value, text in pairs{[2] = "2", [0.5] = "0.5", [-1] = "-1", [math.huge] = "inf"} do
    refused("labels[3, 2] is " .. text .. place,
      {labels = tensor{{1, 0, 1}, {NAN, NAN, NAN}, {0, value, 0}, {0, 0, 0}}})
  end
  refused("labels[2, 2] is nan" .. place,
    {labels = tensor{{1, 0, 1}, {0, NAN, 1}, {0, 0, 0}, {0, 0, 0}}})
  refused("labels[2, 1] is inf" .. place,
    {labels = tensor{{1, 0, 1}, {math.huge, -math.huge, NAN}, {0, 0, 0}, {0, 0, 0}}})
  refused("labels: no node has one", {labels = ladies.zeros(4, 3)})
  refused("test[2] is node 4, which has no label", {test = {3, 4}})
  refused("labels is 50000 x 50000, too large for a matrix of 0 and 1", {labels = ladies.matrix{
    n_rows = 50000, n_cols = 50000, rows = index{1}, cols = index{1}}})
end

function tests.test_random_split_of_the_labelled()
  for _, data in ipairs{own(), own{labels = {1, 2, 1, 0}}} do
    local train, val, test = ladies.data.random_split(data, {train = 0.4, val = 0.3})
    lu.assertEquals({#train, #val, #test}, {1, 1, 1})
    lu.assertEquals((train .. val .. test):sort():to_table(), {1, 2, 3})
  end
end

-- ---------------------------------------------------------------- files

function tests.test_npz()
  local path = temporary.path "own.npz"
  for unlabelled, dtype in pairs{[true] = "int8", [false] = "uint8"} do
    local data = own(not unlabelled and {labels = tensor{{1, 0, 1}, {0, 0, 0}, {1, 0, 0},
      {0, 0, 0}}} or nil)
    ladies.data.save(data, path)
    lu.assertEquals(npz.open(path):dtype "labels", dtype)
    local again = ladies.data.load(path)
    lu.assertEquals(cells(again.labels), cells(data.labels))
    lu.assertEquals({again.multilabel, again.class_names}, {true, {"a", "b", "c"}})
  end
end

local function npz_with(labels)
  local path = temporary.path "strange.npz"
  npz.write(path, {adj_indptr = index{1, 2, 3}, adj_indices = index{2, 1}, adj_shape = {2, 2},
    attr_matrix = ladies.ones(2, 1), labels = labels})
  local data = ladies.data.load(path)
  return data
end

function tests.test_matrices_in_npz()
  lu.assertEquals(cells(npz_with(npz.bool{{1, 0}, {1, 1}}).labels), {{1, 0}, {1, 1}})
  lu.assertEquals(cells(npz_with(npz.float64{{NAN, NAN}, {1, 1}}).labels), {{-1, -1}, {1, 1}})
  lu.assertEquals(npz_with(npz.int64{{-1}, {0}}).labels:to_table(), {0, 1})   -- one column: classes
  for labels, expected in pairs{
    [{{1, 0}, {-1, 1}}] = "labels[1, 0] is -1, must be 0 or 1, or all of the row -1 or NaN: a node "
      .. "without a label",
    [{{1, 0}, {-3, 1}}] = "labels[1, 0] is -3, must be 0 or 1",
    [{{1, 0}}] = "labels has 1 rows, must have 2, one for each node",
    [{{-1, -1}, {0, 0}}] = "labels: no node has one",
  } do
    lu.assertStrContains(message_of(npz_with, labels), "strange.npz: " .. expected)
  end
end

function tests.test_pickled_matrix()
  local data = ladies.data.load(fixture.path "labelled_pickled")
  lu.assertEquals(cells(data.labels), {{1, 1}, {0, 0}, {0, 1}})
end

function tests.test_tables()
  local folder <close> = shell.folder()
  local function write(name, content)
    ladies.file.write(folder.path .. "/" .. name, content)
    return folder.path .. "/" .. name
  end
  local function load(changes)
    local all = {edges = write("e.csv", "0,1\n1,2\n"),
      features = write("f.csv", "1,0\n0,1\n1,1\n0,0\n"),
      labels = write("l.csv", "a,b,c\n1,0,1\n0,0,0\n1,0,0\n-1,-1,-1\n"), classes = "columns"}
    for key, value in pairs(changes or {}) do all[key] = value end
    local data = ladies.data.from_files(all)
    return data
  end
  local data = load()
  lu.assertEquals({cells(data.labels), data.class_names}, {OWN, {"a", "b", "c"}})
  local named = load{ids = "strings", edges = write("es.csv", "p,q\nq,r\n"),
    features = write("fs.csv", "p,1,0\nq,0,1\nr,1,1\ns,0,0\n"),
    labels = write("ls.csv", "who,a,b,c\nr,1,0,0\np,1,0,1\nq,0,0,0\n")}
  lu.assertEquals({cells(named.labels), named.class_names}, {OWN, {"a", "b", "c"}})
  local mtx = load{labels = write("l.mtx",
    "%%MatrixMarket matrix coordinate pattern general\n4 2 2\n1 1\n3 2\n")}
  lu.assertEquals(cells(mtx.labels), {{1, 0}, {0, 0}, {0, 1}, {0, 0}})
  ladies.npy.write(folder.path .. "/l.npy", {{1, 0}, {-1, -1}, {0, 1}, {1, 1}})
  lu.assertEquals(cells(load{labels = folder.path .. "/l.npy"}.labels),
    {{1, 0}, {-1, -1}, {0, 1}, {1, 1}})

  -- Where there are no features, the rows of the labels are the nodes.
  for _, labels in ipairs{"l.csv", "l.mtx", "l.npy"} do
    local bare = ladies.data.from_files{edges = folder.path .. "/e.csv", classes = "columns",
      labels = folder.path .. "/" .. labels, make_features = "degree"}
    lu.assertEquals(cells(bare.labels), cells(load{labels = folder.path .. "/" .. labels}.labels))
  end
  local bare = ladies.data.from_files{edges = folder.path .. "/es.csv", ids = "strings",
    labels = folder.path .. "/ls.csv", classes = "columns", make_features = "degree"}
  lu.assertEquals(cells(bare.labels), {{1, 0, 0}, {1, 0, 1}, {0, 0, 0}})

  local function refused(expected, changes)
    lu.assertStrContains(message_of(load, changes), expected)
  end
  refused("l2.csv has 2 rows, must have 4, one for each node",
    {labels = write("l2.csv", "1,0\n0,1\n")})
  refused("l3.csv[1, 1] is 2, must be 0 or 1", {labels = write("l3.csv", "1,0\n0,2\n1,1\n1,1\n")})
  refused('l4.csv: the node "p" stands there twice', {ids = "strings",
    edges = folder.path .. "/es.csv", features = folder.path .. "/fs.csv",
    labels = write("l4.csv", "p,1,0\nq,0,1\np,1,1\n")})

  for format, suffix in pairs{["edge list"] = "csv", ["matrix market"] = "mtx"} do
    local out = folder.path .. "/" .. suffix
    ladies.data.export(data, out, {format = format})
    local again = ladies.data.from_files{edges = out .. "/edges." .. suffix, directed = "keep",
      features = out .. "/features." .. suffix, labels = out .. "/labels.csv", classes = "columns"}
    lu.assertEquals(cells(again.labels), OWN)
  end
end

-- ---------------------------------------------------------------- training

local function generated()
  return ladies.generate.block_model{nodes = 400, classes = 4, p_inside = 0.08, p_outside = 0.005,
    overlap = 0.4, features = 16, signal = 0.6, train = 0.4, val = 0.2}
end

local function run(data, own_options)
  local options = {
    data = data,
    sampler = ladies.samplers.ladies(data.graph:normalize "sym", {samples = {64, 64}}),
    model = ladies.nn.gcn{inputs = data.features.n_cols, hidden = 16, outputs = data.classes,
      layers = 2, dropout = 0.2},
    batch_size = 64, lr = 0.02, eval_every = 5, patience = 0, quiet = true, max_batches = 40,
  }
  for key, value in pairs(own_options or {}) do options[key] = value end
  return ladies.train(options), options.model
end

function tests.test_generated()
  local data = generated()
  lu.assertTrue(data.multilabel)
  local facts = data:facts()
  lu.assertTrue(facts.mean_classes > 1.2 and facts.mean_classes < 4, facts.mean_classes)
  lu.assertStrContains(data.source, "overlap = 0.4")
  -- The graph and the features are those without overlap; the nodes of a class have the same sets.
  local plain = ladies.generate.block_model{nodes = 400, classes = 4, p_inside = 0.08,
    p_outside = 0.005, features = 16, signal = 0.6}
  lu.assertEquals(plain.graph.adjacency:hash(), data.graph.adjacency:hash())
  lu.assertEquals(plain.features:hash(), data.features:hash())
  local sets = {}
  for node, class in ipairs(plain.labels:to_table()) do
    lu.assertEquals(data.labels:get(node, class), 1)
    sets[class] = sets[class] or data.labels[node]:hash()
    lu.assertEquals(data.labels[node]:hash(), sets[class])
  end
end

--- A model learns several classes a node, and the predictions in its files score as the summary
-- says.
function tests.test_it_learns()
  local data, folder = generated(), temporary.path "multi"
  local result, model = run(data, {out = folder})
  lu.assertTrue(result.test_f1 > 0.9, result.test_f1)
  local file = npz.open(folder .. "/predictions.npz")
  local predicted = file:tensor "predicted"
  lu.assertEquals({file:dtype "predicted", file:dtype "labels", file:dtype "probabilities"},
    {"uint8", "uint8", "float32"})
  lu.assertEquals(file:tensor "probabilities":above(0.5):hash(), predicted:hash())
  lu.assertEquals(file:tensor "labels":hash(), data.labels:hash())
  lu.assertEquals(ladies.metrics.micro_f1(predicted, data.labels, data.test), result.test_f1)
  lu.assertEquals(ladies.metrics.macro_f1(predicted, data.labels, data.test), result.test_macro_f1)
  lu.assertStrContains(tostring(result), ("macro-F1     %.4f on"):format(result.test_macro_f1))
  local again = ladies.load_model(folder)
  lu.assertEquals(ladies.metrics.f1(again, data, data.test), result.test_f1)
  lu.assertEquals(ladies.metrics.f1(model, data, data.val), result.val_f1)
end

function tests.test_a_model_for_other_classes()
  for _, data in ipairs{generated(), ladies.data.load(labelled "single")} do
    local model = ladies.nn.gcn{inputs = data.features.n_cols, outputs = 7, layers = 2}
    lu.assertEquals(message_of(run, data, {model = model}),
      "ladies.train: batch 1: the model has 7 outputs, the data set 4 classes")
    ladies.step():close()                              -- the step of the failure is closed
    lu.assertEquals(message_of(ladies.metrics.f1, model, data, data.test),
      "ladies.metrics.f1: the model has 7 outputs, the data set 4 classes")
  end
end

--- `ladies make-graph`, `ladies train` with every preset, and `ladies info`.
function tests.test_commands()
  local folder <close> = shell.folder()
  local path = folder.path .. "/several.npz"
  shell.silent(shell.run_ladies{"make-graph", "--nodes", "300", "--entries", "3000",
    "--classes", "4", "--features", "16", "--signal", "0.6", "--overlap", "0.4", "--train", "0.4",
    "--out", path})
  local out = shell.run_ladies{"info", path}
  lu.assertStrMatches(out, ".*\n  classes    4; %d%.%d%d a node\n.*")
  for _, preset in ipairs{"default", "code"} do
    local run_folder = folder.path .. "/" .. preset
    out = shell.silent(shell.run_ladies{"train", "--dataset", path, "--preset", preset, "--layers",
      "2", "--hidden", "16", "--samples", "64", "--batch-size", "60", "--lr", "0.02",
      "--max-batches", "40", "--quiet", "--out", run_folder})
    lu.assertTrue(tonumber(out:match "test micro%-F1 (%S+)\n$") > 0.6, out)
  end
end

return tests
