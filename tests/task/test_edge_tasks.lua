--- Edge classification and edge regression: which edges are examples, what a model is not shown,
-- and that both learn what there is to learn.
local lu = require "luaunit"
local ladies = require "ladies"
local compare = require "reference.compare"
local graphs = require "reference.graphs"
local shell = require "tools.shell"
local temporary = require "reference.temporary"
local toy = require "reference.toy_data"

local tests = {}

-- The toy graph, one way, without times; the feature "sum" of an edge is that of the numbers of its
-- classes.
local function typed(given)
  local all = toy.with_edges(toy.new())
  all.name, all.edge_times, all.edge_feature_names = "typed", nil, {"number", "sum"}
  for key, value in pairs(given or {}) do all[key] = value or nil end
  return ladies.data.from_arrays(all)
end

local function trained(task, batches)
  local model = task:equip(ladies.nn.gcn{inputs = toy.FEATURES, hidden = 16, outputs = task.outputs,
    layers = 1, seed = 2})
  local result = ladies.train{task = task, model = model, lr = 0.01, batch_size = 64, quiet = true,
    max_batches = batches, sampler = ladies.samplers.full(task.data.graph:normalize "sym",
    {layers = 1})}
  return result, model
end

--- Every edge is one example, also where it was given a reverse, and where its type was an inverse.
function tests.test_every_edge_is_one_example()
  for _, given in ipairs{{}, {directed = "keep"}, {edge_types = false}} do
    local data = typed(given)
    local n = #typed{directed = "keep"}.edges
    local task = ladies.task.edge_regression(data, {target = "sum"})
    local all = (task.units.train .. task.units.val .. task.units.test):sort()
    lu.assertEquals(all, ladies.range(1, n))
    local arrays = task.arrays(ladies.zeros(n, 1), all)
    local seen = {}
    for i = 1, n do
      local a, b = arrays.from[i], arrays.to[i]
      local key = math.min(a, b) * 1000 + math.max(a, b)
      lu.assertNil(seen[key])
      seen[key] = true
      lu.assertEquals(arrays.targets[i], data.labels[a] + data.labels[b])
    end
    lu.assertEquals({#task.units.val, #task.units.test}, {n * 5 // 100, n // 10})
  end
end

--- Propagation has all edges, but not their types where these are the targets, nor their weights.
function tests.test_what_a_model_sees()
  local data = typed()
  local task = ladies.task.edge_classification(data)
  lu.assertNil(task.data.edges)
  lu.assertEquals(task.data.graph.n_edges, data.graph.n_edges)
  local n = #data.edges
  local weighted = ladies.data.from_arrays{edges = {{1, 2}, {2, 3}, {3, 4}, {4, 5}},
    edge_weights = {1, 2, 3, 4}, edge_times = {1, 2, 3, 4}, features = ladies.ones(5, 1),
    labels = {1, 1, 1, 1, 1}}
  local of_weights = ladies.task.edge_regression(weighted, {target = "weight",
    edge_split = "50/25/25"})
  lu.assertEquals(of_weights.targets(ladies.range(1, 4)):to_table(), {1, 2, 3, 4})
  lu.assertEquals(of_weights.data.graph.adjacency:entry_values():max(), 1)
  lu.assertEquals(n, data.graph.n_edges)
end

--- Weights of a graph that come from a matrix, without other data of edges, can be targets, too.
function tests.test_weights_alone()
  local path = temporary.path "weighted.npz"
  local A = ladies.matrix{n_rows = 4, n_cols = 4, rows = ladies.index{1, 1, 2, 2, 3, 3, 4, 4},
    cols = ladies.index{2, 4, 1, 3, 2, 4, 1, 3}, values = ladies.tensor{2, 5, 2, 3, 3, 4, 5, 4}}
  ladies.data.save(ladies.data.from_arrays{graph = A, features = ladies.ones(4, 1),
    labels = {1, 1, 1, 1}}, path)
  local data = ladies.data.load(path)
  lu.assertNil(data.edges)
  local task = ladies.task.edge_regression(data, {target = "weight", edge_split = "50/25/25"})
  local all, found = ladies.range(1, 4), {}
  local arrays = task.arrays(ladies.zeros(4, 1), all)
  for i = 1, 4 do
    found[i] = ("%d-%d %g"):format(arrays.from[i], arrays.to[i], arrays.targets[i])
  end
  table.sort(found)
  lu.assertEquals(found, {"1-2 2", "1-4 5", "2-3 3", "3-4 4"})
  lu.assertEquals(task.data.graph.adjacency:entry_values():max(), 1)
  lu.assertErrorMsgContains('target must be "weight", got "1"', ladies.task.edge_regression, data)
  lu.assertErrorMsgContains("the edges have no types", ladies.task.edge_classification, data)
end

function tests.test_classification_learns()
  local task = ladies.task.edge_classification(typed())
  local result, model = trained(task, 150)
  local test = task:evaluate(model, "test")
  lu.assertAlmostEquals(result.test["micro-F1"], test["micro-F1"], 1e-12)
  local near = 0
  local truth = task.targets(task.units.test)
  for _, number in ipairs(truth:to_table()) do near = math.max(near, truth:counts(2)[number]) end
  lu.assertTrue(test["micro-F1"] >= near / #truth, tostring(test["micro-F1"]))
end

function tests.test_regression_learns()
  local task = ladies.task.edge_regression(typed(), {target = "sum"})
  local _, model = trained(task, 300)
  local test = task:evaluate(model, "test")
  lu.assertTrue(test.R2 > 0.5, tostring(test.R2))
  local z = ladies.inference.exact(model, task.data)
  local out = task:scored(z[task.nodes(task.units.test)], task.units.test, model)
  local error, targets = 0, task.targets(task.units.test)
  for i = 1, #targets do error = error + math.abs(out:get(i, 1) - targets[i]) end
  lu.assertAlmostEquals(test.MAE, error / #targets, 1e-5)
end

--- What is predicted of an edge is by the row of the node where it begins and then that of the node
-- where it ends, in training and in evaluation; in time by those at the time of the edge.
function tests.test_scores_by_hand()
  local all = graphs.in_time(20, 150, 25, 8)
  local A, times = all.graph.adjacency, all.edges.times
  local data = ladies.data.from_arrays{edges = {A:col_of(), A:row_of()}, edge_times = times,
    edge_features = times:to_tensor():reshape(#times, 1), features = all.features,
    directed = "keep"}
  for _, in_time in ipairs{false, true} do
    local task = ladies.task.edge_regression(data, {edge_split = "time", in_time = in_time,
      embedding = 6})
    local model = task:equip(ladies.nn.sage{inputs = 3, hidden = 8, outputs = 6, layers = 2,
      seed = 1})
    local sampler = in_time and ladies.samplers.temporal(data.edges, {samples = {200, 200}})
      or ladies.samplers.full(task.data.graph:normalize "sym", {layers = 2})
    local z = ladies.inference.exact(model, task.data)
    local function row(node, time)
      if not in_time then return z[ladies.index{node}] end
      return ladies.inference.in_time(model, task.data, ladies.index{node}, ladies.index{time},
        {sampler = sampler})
    end
    local function check(out, units)
      local arrays = task.arrays(out, units)
      lu.assertEquals(#arrays.predicted, #units)
      for i = 1, #units do
        local time = math.tointeger(arrays.targets[i])
        local ends = row(arrays.from[i], time):concat(row(arrays.to[i], time))
        compare.assert_close(arrays.predicted[i], model.decoder.mlp:apply(ends):get(1, 1), 1e-5)
      end
    end
    local test = task.units.test
    check(in_time and task:inferred("test_scores_by_hand", test, model, sampler)
      or task:scored(z[task.nodes(test)], test, model), test)
    local batch = ladies.batches(task.units.train, {batch_size = 20, task = task, sampler = sampler,
      edges = in_time and data.edges or nil})()
    check(task.read(model:forward(task.data.features, batch), batch, model), batch.units)
  end
end

--- A data set without labels can be saved and loaded, and the tasks that need no labels train on
-- it.
function tests.test_no_labels_in_a_file()
  local path = temporary.path "edges.npz"
  ladies.data.save(typed{labels = false, train = false, val = false, test = false}, path)
  lu.assertNil(ladies.data.load(path).labels)
  local common = {data = path, samples = 16, layers = 1, batch_size = 20, max_batches = 2,
    quiet = true}
  for name, metric in pairs{edge_classification = "micro-F1", edge_regression = "R2",
    link_prediction = "AUC"} do
    common.task = name
    lu.assertNotNil(ladies.train(common).test[metric], name)
  end
  common.task = nil
  lu.assertErrorMsgContains("neither labels nor targets; a task of edges, such as --task",
    ladies.train, common)
end

--- evaluate, predict and view refuse a model whose scores are NaN.
function tests.test_scores_that_are_no_numbers()
  local path = temporary.path "edges.npz"
  ladies.data.save(typed(), path)
  for _, name in ipairs{"edge_classification", "edge_regression"} do
    local folder = temporary.path(name)
    local _, model = ladies.train{data = path, task = name, samples = 16, layers = 1,
      batch_size = 20, max_batches = 2, quiet = true, out = folder}
    local parameters = ladies.nn.parameters(model.decoder)
    parameters[#parameters]:fill_(0 / 0)
    ladies.save_model(model, folder .. "/model.npz")
    for _, words in ipairs{{"evaluate"}, {"predict", "--split", "test"}, {"view"}} do
      table.insert(words, 2, folder)
      local err = shell.refused(shell.run_ladies(words))
      lu.assertStrMatches(err, ".*: what the model gives is not finite: it has nan\n")
    end
    local run = ladies.saved_run(folder)
    lu.assertErrorMsgContains("what the model gives is not finite: it has nan", run.task.evaluate,
      run.task, run.model, "test")
  end
end

-- A folder with triples of people, and runs of two tasks on them.
local function triples(folder)
  local lines = {"head,relation,tail"}
  for i = 1, 60 do
    lines[#lines + 1] = ("p%d,\"knows, well\",p%d"):format(i, i % 60 + 1)
    lines[#lines + 1] = ("p%d,likes,p%d"):format(i, (i + 7) % 60 + 1)
  end
  ladies.file.write(folder .. "/kg.csv", table.concat(lines, "\n") .. "\n")
end

local function command(folder, ...)
  return (shell.succeeded(shell.run_ladies({...}, {folder = folder})))
end

--- Predictions of edges, by default all of them or for links those of the test, name their ends and
-- their types.
function tests.test_predictions_by_name()
  local folder <close> = shell.folder()
  triples(folder.path)
  local function train(name, ...)
    command(folder.path, "train", "kg.csv", "--ids", "strings", "--make-features", "identity",
      "--layers", "1", "--hidden", "8", "--embedding", "8", "--batch-size", "32", "--samples", "16",
      "--max-batches", "2", "--quiet", "--out", name, ...)
  end
  train("types", "--task", "edge_classification")
  local lines = {}
  for line in command(folder.path, "predict", "types"):gmatch "[^\n]+" do
    lines[#lines + 1] = line
  end
  lu.assertEquals(lines[1],
    "edge,from,from_name,to,to_name,predicted,type,predicted_name,type_name,split")
  lu.assertEquals(#lines, 121)
  local parts = {}
  for i = 2, #lines do
    local from, to, type, name, part = lines[i]:match
      '^%d+,%d+,p(%d+),%d+,p(%d+),%d,(%d),[%a", ]+,("?%a[%a, ]*"?),(%a+)$'
    lu.assertNotNil(from, lines[i])
    lu.assertEquals(name == "likes" and "1" or "0", type)
    lu.assertEquals((tonumber(to) - tonumber(from)) % 60, name == "likes" and 8 or 1)
    parts[part] = (parts[part] or 0) + 1
  end
  lu.assertEquals(parts, {train = 102, val = 6, test = 12})
  train("links", "--task", "link_prediction", "--relations", "true", "--candidates", "5",
    "--decoder", "distmult")
  local out = command(folder.path, "predict", "links")
  lu.assertEquals(out:match "^[^\n]*",
    "edge,from,from_name,to,to_name,relation,rank_of_to,rank_of_from,split")
  lu.assertEquals(select(2, out:gsub("\n", "")), 13)
  local n = 0
  for from, to, name in out:gmatch ',p(%d+),%d+,p(%d+),("?%a[%a, ]*"?),[%d.]+,[%d.]+,test' do
    lu.assertEquals((tonumber(to) - tonumber(from)) % 60, name == "likes" and 8 or 1)
    n = n + 1
  end
  lu.assertEquals(n, 12)
end

--- One edge is enough to train on, none is not.
function tests.test_the_least_to_train_on()
  local function task_of(split)
    return ladies.task.edge_regression(ladies.data.from_arrays{edges = {{1, 2}, {2, 3}, {3, 4},
      {4, 1}}, edge_weights = {1, 2, 3, 4}, features = ladies.ones(4, 1), directed = "keep"},
      {target = "weight", edge_split = split})
  end
  lu.assertEquals(#task_of("25/25/50").units.train, 1)
  lu.assertErrorMsgContains("2 of 4 edges for validation and 2 for test leave none for training",
    task_of, "0/50/50")
end

function tests.test_errors()
  local function fails(text, ...) lu.assertErrorMsgContains(text, ...) end
  fails("has no features, types, times or weights of edges", ladies.task.edge_classification,
    toy.new())
  fails("the edges have no types", ladies.task.edge_classification, typed{edge_types = false})
  fails("the edges have no weights", ladies.task.edge_regression, typed(), {target = "weight"})
  fails('from 1 to 2, got "summ"; did you mean "sum"?', ladies.task.edge_regression, typed(),
    {target = "summ"})
  fails("edge_split must be three shares", ladies.task.edge_regression, typed(),
    {edge_split = "100"})
end

return tests
