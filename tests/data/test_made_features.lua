--- Features and splits for data sets without any.
local lu = require "luaunit"
local hashes = require "ladies.data.hashes"
local ladies = require "ladies"
local json = require "ladies.base.json"
local message_of = require "tools.message_of"

local tests = {}

-- A star of 9 nodes around the first, a pair, and a node alone.
local function star(asked, more)
  local arrays = {edges = {{10, 11}}, labels = {}, make_features = asked}
  for i = 1, 12 do arrays.labels[i] = i % 3 + 1 end
  for i = 2, 9 do arrays.edges[i] = {1, i} end
  for key, value in pairs(more or {}) do arrays[key] = value end
  local data = ladies.data.from_arrays(arrays)
  return data
end

local function refusal(...) return message_of(star, ...) end

function tests.test_identity()
  local features = star("identity").features
  lu.assertEquals({features.n_rows, features.n_cols, features.nnz}, {12, 12, 12})
  lu.assertNil(features.values)
  for i = 1, 12 do lu.assertEquals(features:to_dense():get(i, i), 1) end
end

function tests.test_degree()
  local data = star "degree"
  lu.assertEquals(data.feature_names,
    {"degree 0", "degree 1", "degree 2-3", "degree 4-7", "degree 8-15"})
  local column = {5, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1}
  lu.assertEquals(data.features:col_of():to_table(), column)
  lu.assertEquals(data.features:row_of():to_table(), ladies.range(1, 12):to_table())
  local alone = ladies.data.from_arrays{edges = {{1, 1}}, labels = {1}, make_features = "degree"}
  lu.assertEquals(alone.feature_names, {"degree 0", "degree 1"})
end

--- Degrees are those of the graph that a task leaves: an edge that is to be predicted does not
-- show in them.
function tests.test_degree_of_what_is_trained_on()
  local arrays = {edges = {}, labels = {}, make_features = "degree"}
  for v = 1, 20 do arrays.labels[v] = 1 end
  for i = 1, 60 do arrays.edges[i] = {i % 20 + 1, (i * 7 + i // 20) % 20 + 1} end
  for _, directed in ipairs{"symmetrize", "keep"} do
    arrays.directed = directed
    local data = ladies.data.from_arrays(arrays)
    local task = ladies.task.link_prediction(data, {edge_split = "60/10/30"})
    local trained_on = task.data
    lu.assertEquals(trained_on.features.n_cols, data.features.n_cols)
    for v = 1, 20 do
      local degree = trained_on.graph:degrees():to_table()[v]
      local column = degree == 0 and 1 or math.tointeger(math.log(degree, 2) // 1) + 2
      lu.assertEquals(trained_on.features:to_dense():get(v, column), 1)
    end
    lu.assertNotEquals(trained_on.features:hash(), data.features:hash())
    lu.assertEquals(hashes.of(trained_on), hashes.of(data))   -- so that a run knows its data set
  end
end

function tests.test_random()
  local data = star{"random", columns = 400, seed = 3}
  lu.assertEquals({data.features.n_rows, data.features.n_cols}, {12, 400})
  for i = 1, 12 do lu.assertAlmostEquals(data.features[i]:norm(), 1, 0.2) end
  lu.assertEquals(star{"random", columns = 400, seed = 3}.features:hash(), data.features:hash())
  lu.assertNotEquals(star{"random", columns = 400, seed = 4}.features:hash(), data.features:hash())
  lu.assertEquals(star("random").features.n_cols, 64)
end

function tests.test_refusals()
  lu.assertEquals(refusal(nil), "ladies.data.from_arrays: there are no features; "
    .. '--make-features (in Lua make_features) "identity", "degree" or "random" makes some')
  lu.assertEquals(refusal("degree", {features = ladies.ones(12, 2)}),
    "ladies.data.from_arrays: there are features: Tensor 12 x 2; make_features is for graphs "
    .. "without")
  lu.assertStrContains(refusal "degrees", "make_features")
  lu.assertStrContains(refusal "degrees", "identity, degree, random")
  lu.assertStrContains(refusal{"random", column = 3}, 'did you mean "columns"?')
  lu.assertStrContains(refusal{"identity", columns = 3}, "unknown option")
  lu.assertStrContains(refusal{columns = 3}, "identity, degree, random")
end

--- In a graph whose nodes have changed places, degrees are those there; other features stay.
function tests.test_shuffled()
  local data, random = star "degree", star "random"
  local other = ladies.data.shuffled(data, {what = "edges", seed = 2})
  local again = ladies.data.from_arrays{graph = other.graph.adjacency, labels = data.labels,
    make_features = "degree"}
  lu.assertNotEquals(other.features:hash(), data.features:hash())
  lu.assertEquals(other.features:hash(), again.features:hash())
  lu.assertTrue(other.features_are_degrees)
  lu.assertEquals(ladies.data.shuffled(random, {what = "edges"}).features:hash(),
    random.features:hash())
end

-- ---------------------------------------------------------------- splits by class

local function labels_of(n, classes)
  local labels = {}
  for i = 1, n do labels[i] = i % (classes + 1) end
  return ladies.index(labels)
end

local function check_parts(labels, ...)
  local seen = {}
  for _, part in ipairs{...} do
    lu.assertEquals(part, part:sort())
    for _, node in ipairs(part:to_table()) do
      lu.assertNil(seen[node])
      lu.assertTrue(labels[node] > 0)
      seen[node] = true
    end
  end
end

function tests.test_class_split()
  local labels = labels_of(4000, 3)
  local train, val, test = ladies.data.class_split(labels)
  check_parts(labels, train, val, test)
  lu.assertEquals({#train, #val, #test}, {60, 500, 1000})
  lu.assertEquals(labels[train]:counts(3), {20, 20, 20})
  local same = ladies.data.class_split(labels, {seed = 1})
  lu.assertEquals(same, train)
  lu.assertNotEquals(ladies.data.class_split(labels, {seed = 2}), train)
end

function tests.test_class_split_of_a_data_set()
  local data = star "degree"
  local train = ladies.data.class_split(data, {per_class = 2})
  lu.assertEquals(data.labels[train]:counts(3), {2, 2, 2})
  lu.assertEquals(train, ladies.data.class_split(data.labels, {per_class = 2}))
  lu.assertErrorMsgContains("the labels", ladies.data.class_split, {1, 2})
end

--- Small classes are taken whole; what is left is divided in proportion.
function tests.test_class_split_of_few()
  local labels = ladies.index{1, 1, 1, 1, 1, 1, 1, 2, 2, 0, 0}
  local train, val, test = ladies.data.class_split(labels, {per_class = 4, val = 10, test = 20})
  check_parts(labels, train, val, test)
  lu.assertEquals({labels[train]:counts(2), #val, #test}, {{4, 2}, 1, 2})
  train, val, test = ladies.data.class_split(labels, {per_class = 9})
  lu.assertEquals({#train, #val, #test}, {9, 0, 0})
  train, val, test = ladies.data.class_split(labels, {per_class = 2, val = 0, test = 0})
  lu.assertEquals({#train, #val, #test}, {4, 0, 0})
end

--- Settings keep what the option says besides its kind, also in a file of a run.
function tests.test_settings_keep_all_of_it()
  local config = ladies.experiment.configure{make_features = {"random", columns = 8, seed = 3}}
  local again = ladies.experiment.configure(json.decode(json.encode(config), "config.json"))
  lu.assertEquals(again.make_features, {kind = "random", columns = 8, seed = 3})
  local function features(asked)
    local arrays = {edges = {{1, 2}}, labels = {1, 1}, make_features = asked}
    return ladies.data.from_arrays(arrays).features
  end
  lu.assertEquals(features(again.make_features):hash(),
    features{"random", columns = 8, seed = 3}:hash())
end

return tests
