--- Every method for nodes and a graph by its name: settings that follow, training to about the F1
-- of the full batch, exact inference with the P that it was trained with, F1 that comes from the
-- graph, and the same model with any number of workers.
local lu = require "luaunit"
local ladies = require "ladies"
local methods = require "ladies.experiment.methods"
local compare = require "reference.compare"
local method_names = require "reference.method_names"
local tables = require "ladies.base.tables"
local toy = require "reference.toy_data"

local experiment, fails = ladies.experiment, lu.assertErrorMsgContains

local tests = {}

local PARTITION = ladies.have_metis and "metis" or "random"
local NAMES = method_names()

-- Settings that fit small graphs, `given` above all.
local function settings_of(name, given)
  local settings = {
    method = name, model = "gcn", layers = 2, hidden = 16, lr = 0.02, dropout = 0.2,
    eval_every = 10, patience = 0, batch_size = 40,
  }
  if name == "ladies" or name == "pladies" then settings.samples = 64 end
  if name == "graphsaint" then settings.samples = 60 end
  if name == "fastgcn" then settings.samples = 900 end
  if name == "clustergcn" then
    settings.parts, settings.clusters, settings.partition = 12, 3, PARTITION
  end
  for key, value in pairs(given or {}) do settings[key] = value end
  return settings
end

local function train(name, data, given, extra)
  local config = experiment.configure(settings_of(name, given))
  local run = tables.merged({quiet = true}, extra)
  return experiment.run(config, data, run)
end

-- ---------------------------------------------------------------- settings

--- The rows of the paper's count: a path of five nodes, batches of its first, 3 samples.
function tests.test_nominal_rows()
  local path = ladies.matrix{n_rows = 5, n_cols = 5, rows = ladies.range(1, 4),
    cols = ladies.range(2, 5)}
  local data = {graph = ladies.graph.new(path:symmetrize()), train = ladies.index{1, 5}}
  local function rows(name, samples, size)
    return {methods.by_name[name].nominal_rows(data,
      {samples = samples, layers = 3, batch_size = size, normalize = "sym"})}
  end
  lu.assertEquals(rows("ladies", 3, 1), {3, 1 + 2 + 3})      -- nodes 1; 1, 2; 1, 2, 3; 3 of 4
  lu.assertEquals(rows("ladies", 9, 1), {4, 1 + 2 + 3})
  lu.assertEquals(rows("ladies", 2, 9), {2, 2 + 2 + 2})
  lu.assertEquals(rows("fastgcn", 3, 1), {3, 1 + 3 + 3})
  lu.assertEquals(rows("fastgcn", 9, 9), {5, 2 + 5 + 5})
  lu.assertEquals(rows("full", nil, 1), {5, 15})
end

--- Settings that are left open follow from other settings and from the data set.
function tests.test_settings_that_follow()
  local function settled(given)
    local config = experiment.configure(given)
    experiment.resolve(config, toy.new())
    return config
  end
  local config = settled{method = "clustergcn"}
  lu.assertEquals({config.parts, config.clusters, config.lambda}, {50, 5, 0})
  config = settled{method = "clustergcn", parts = 600}
  lu.assertEquals({config.parts, config.clusters}, {600, 12})
  lu.assertEquals(settled{method = "graphsage"}.form, "mean")
  lu.assertEquals(settled{method = "graphsage", normalize = "sym"}.form, "unbiased")
  lu.assertTrue(settled{method = "vrgcn"}.cvd)
  lu.assertFalse(settled{method = "vrgcn", dropout = 0}.cvd)
  lu.assertFalse(settled{method = "vrgcn", cvd = false}.cvd)
  local n = #toy.new().train
  lu.assertEquals(settled{batch_size = n}.self_nodes, "none")
  lu.assertEquals(settled{batch_size = n - 1}.self_nodes, "none")     -- the last one joins in
  lu.assertEquals(settled{batch_size = n // 2}.self_nodes, "previous")
  lu.assertEquals(settled{batch_size = n, self_nodes = "batch"}.self_nodes, "batch")
  lu.assertEquals(settled{method = "fastgcn", self_nodes = "auto", batch_size = 1}.self_nodes,
    "previous")
end

-- ---------------------------------------------------------------- exact inference

--- Where the sampler leaves nothing out, a mini-batch has the logits of exact inference:
-- both have the same P.
function tests.test_exact_inference_has_the_P_of_training()
  local data = toy.new()
  local everything = {
    {"full"}, {"full", {normalize = "row"}},
    {"ladies", {samples = 180, draw = "wor", row_normalize = false}},
    {"ladies", {samples = 180, normalize = "row"}},
    {"fastgcn", {samples = 180, draw = "wor"}},
    {"graphsage", {samples = 180}}, {"graphsage", {samples = 180, normalize = "sym"}},
    {"graphsage", {samples = 180, form = "unbiased"}},
    {"rns", {parts = 1}}, {"rns", {parts = 1, normalize = "row"}},
    {"pooled", {samples = 180}}, {"pooled", {samples = 180, form = "unbiased", normalize = "row"}},
    {"pps", {samples = 180}}, {"pps", {samples = 180, normalize = "row"}},
    {"vrgcn", {samples = 180}}, {"vrgcn", {samples = 180, normalize = "row", cvd = false}},
    {"clustergcn", {parts = 4, clusters = 4}},
    {"clustergcn", {parts = 4, clusters = 4, lambda = 1}},
    {"clustergcn", {parts = 4, clusters = 4, lambda = 0.5, normalize = "sym"}},
  }
  for _, case in ipairs(everything) do
    local config = experiment.configure(settings_of(case[1], case[2]))
    experiment.resolve(config, data)
    local model = experiment.model(config, data)
    local batch = experiment.sampler(config, data)(data.train, ladies.rng(2))
    compare.assert_close(model:forward(data.features, batch, false),
      ladies.inference.exact(model, data)[batch.output], 1e-5, case[1])
  end
end

-- ---------------------------------------------------------------- what the F1 comes from

-- Nodes in five classes of different sizes, whose features say a little of their class and whose
-- neighbours say more.
local planted
local function graph()
  planted = planted or ladies.generate.block_model{
    nodes = 600, classes = 5, p_inside = 0.03, p_outside = 0.002, features = 16, signal = 0.5,
    train = 0.3, val = 0.2, seed = 4,
  }
  return planted
end

-- The share of the largest class among the test nodes.
local function majority(data)
  local counts = {}
  for _, class in ipairs(data.labels[data.test]:to_table()) do
    counts[class] = (counts[class] or 0) + 1
  end
  local most = 0
  for _, count in pairs(counts) do most = math.max(most, count) end
  return most / #data.test
end

local function f1(name, what)
  local data = graph()
  if what then data = ladies.data.shuffled(data, {what = what}) end
  return train(name, data, {max_batches = name == "full" and 50 or 60}).test_f1
end

-- Four standard errors of a share of the test nodes.
local function noise() return 4 * math.sqrt(0.25 / #graph().test) end

--- Every method comes near the full batch, which is much better than the features alone.
function tests.test_f1_of_methods()
  local full, words = f1 "full", f1("full", "edges")
  lu.assertTrue(full > words + 2 * noise(), full .. ", " .. words)
  for _, name in ipairs(NAMES) do
    local own = f1(name)
    lu.assertTrue(own > full - 0.04, ("%s: %.4f, full batch %.4f"):format(name, own, full))
  end
end

--- With shuffled labels no method does better than the largest class's share.
function tests.test_shuffled_labels()
  local rate = majority(ladies.data.shuffled(graph(), {what = "labels"}))
  for _, name in ipairs(NAMES) do
    local own = f1(name, "labels")
    lu.assertTrue(own < rate + noise(), ("%s: %.4f, majority %.4f"):format(name, own, rate))
  end
end

--- With shuffled edges none does better than a model of the features alone.
function tests.test_shuffled_edges()
  local data = tables.merged(graph())
  local n = data.graph.n_nodes
  data.graph = ladies.graph.new(ladies.matrix{n_rows = n, n_cols = n, rows = ladies.index{},
    cols = ladies.index{}})
  local alone = train("full", data, {max_batches = 50}).test_f1
  lu.assertTrue(alone > majority(data) + noise(), alone)
  for _, name in ipairs(NAMES) do
    local own = f1(name,"edges")
    lu.assertTrue(own < alone + noise(), ("%s: %.4f, alone %.4f"):format(name, own, alone))
  end
end

--- Shuffling changes what it should and nothing else.
function tests.test_shuffled()
  local data = toy.new(true)
  data.labels = ladies.index(data.labels:to_table())
  local function shuffled(what, seed)
    return ladies.data.shuffled(data, {what = what, seed = seed})
  end
  local labels, edges, both = shuffled "labels", shuffled "edges", shuffled "both"
  lu.assertIs(labels.graph, data.graph)
  lu.assertFalse(labels.labels == data.labels)
  lu.assertTrue(labels.labels:sort() == data.labels:sort())
  lu.assertIs(edges.labels, data.labels)
  lu.assertNotEquals(edges.graph.adjacency:hash(), data.graph.adjacency:hash())
  lu.assertTrue(edges.graph:is_symmetric())
  local function degrees(of) return of.graph:degrees():to_table() end
  local before, after = degrees(data), degrees(edges)
  table.sort(before)
  table.sort(after)
  lu.assertEquals(after, before)
  lu.assertTrue(both.labels == labels.labels)
  lu.assertEquals(both.graph.adjacency:hash(), edges.graph.adjacency:hash())
  lu.assertFalse(shuffled("labels", 2).labels == labels.labels)
  lu.assertEquals(tostring(both), tostring(data))
  fails('what must be one of labels, edges, both, got "nodes"', shuffled, "nodes")
  fails("must be a Dataset", ladies.data.shuffled, {}, {what = "labels"})
end

--- Nodes without a label stay without; labels of several classes move as rows.
function tests.test_shuffled_labels_of_some_nodes()
  local data = toy.new()
  local list = data.labels:to_table()
  for v = 1, #list, 4 do list[v] = 0 end
  data.labels = ladies.index(list)
  local found = ladies.data.shuffled(data, {what = "labels"}).labels:to_table()
  for v, label in ipairs(found) do lu.assertEquals(label == 0, list[v] == 0) end
  data.labels = ladies.tensor{{1, 0}, {0, 0}, {0 / 0, 0 / 0}, {1, 1}}
  data.graph = {n_nodes = 4}
  local rows = ladies.data.shuffled(data, {what = "labels", seed = 3}).labels:to_table()
  lu.assertTrue(rows[3][1] ~= rows[3][1])
  lu.assertEquals(rows[1][1] + rows[2][1] + rows[4][1], 2)
  lu.assertEquals(rows[1][2] + rows[2][2] + rows[4][2], 1)
end

-- ---------------------------------------------------------------- workers

-- The parameters of the trained model, and what was written to stderr.
local function trained(name, data, workers)
  local config = experiment.configure(settings_of(name, {max_batches = 20}))
  local result, model = experiment.run(config, data, {quiet = true, workers = workers})
  local hashes = {}
  for i, parameter in ipairs(model:parameters()) do hashes[i] = parameter:hash() end
  return hashes, result
end

function tests.test_same_model_with_any_number_of_workers()
  for _, name in ipairs(NAMES) do
    local data = toy.new(true)
    local want = trained(name, data, 0)
    for _, workers in ipairs{1, 3} do
      local found, result = trained(name, toy.new(true), workers)
      lu.assertEquals(found, want, name)
      lu.assertEquals(result.workers, workers)
    end
  end
end

return tests
