--- Data sets from files and arrays: what they hold, and the one line for each thing that is wrong.
local lu = require "luaunit"
local ladies = require "ladies"
local files = require "tools.files"

local MISSING = "; replace a missing feature by its column's mean, say, and mark it in a further "
  .. "column of 0 and 1"

local tests = {}

local npz, index, tensor = ladies.npz, ladies.index, ladies.tensor
local scratch = os.tmpname()

function tests.tearDown() os.remove(scratch) end

-- Five nodes: the path 1-2-3-4, and node 5 alone.
local function arrays()
  return {
    adj_indptr = index{1, 2, 4, 6, 7, 7}, adj_indices = index{2, 1, 3, 2, 4, 3},
    adj_shape = {5, 5},
    attr_indptr = index{1, 2, 3, 5, 6, 6}, attr_indices = index{1, 2, 1, 3, 3},
    attr_shape = {5, 3}, attr_data = tensor{1, 2, 3, 4, 5},
    labels = index{1, 2, 1, 2, 0},
    idx_train = index{1, 2}, idx_val = index{3}, idx_test = index{4},
    class_names = {"odd", "even"}, feature_names = {"x", "y", "z"},
    node_names = "one\ntwo\ndrei\nfour\nfive\n", source = {"made by hand"},
  }
end

-- Loads the arrays above with some of them replaced; `false` takes one away. Without a tail call,
-- since this line is the one to blame.
local function load_with(changes)
  local all = arrays()
  for key, value in pairs(changes or {}) do all[key] = value or nil end
  npz.write(scratch, all)
  local data = ladies.data.load(scratch)
  return data
end

-- The message of the error, without the place that it blames.
local function message_of(f, ...)
  local ok, message = pcall(f, ...)
  lu.assertFalse(ok)
  lu.assertStrMatches(message, "[^:]*test_data.lua:%d+: .*", nil, nil, "must blame the caller")
  return (message:gsub("^[^:]*:%d+: ", ""))
end

local function assert_refused(changes, expected)
  lu.assertEquals(message_of(load_with, changes), scratch .. ": " .. expected)
end

-- ---------------------------------------------------------------- what a data set holds

function tests.test_fields()
  local data = load_with()
  lu.assertEquals(data.graph.n_nodes, 5)
  lu.assertEquals(data.graph.n_edges, 6)
  lu.assertEquals(data.features:to_dense():to_table(),
    {{1, 0, 0}, {0, 2, 0}, {3, 0, 4}, {0, 0, 5}, {0, 0, 0}})
  lu.assertEquals(data.labels:to_table(), {1, 2, 1, 2, 0})
  lu.assertEquals(data.classes, 2)
  lu.assertEquals(data.class_names, {"odd", "even"})
  lu.assertEquals(data.feature_names, {"x", "y", "z"})
  lu.assertEquals(data.train:to_table(), {1, 2})
  lu.assertEquals(data.val:to_table(), {3})
  lu.assertEquals(data.test:to_table(), {4})
  lu.assertEquals(data.source, "made by hand")
  lu.assertEquals(data.path, scratch)
  lu.assertStrMatches(tostring(data), "Dataset .*: 5 nodes, 6 entries, 3 features, 2 classes")
end

function tests.test_node_names()
  local data = load_with()
  lu.assertEquals(#data.node_names, 5)
  for i, name in ipairs{"one", "two", "drei", "four", "five"} do
    lu.assertEquals(data.node_names[i], name)
    lu.assertEquals(data:find_node(name), i)
  end
  for _, i in ipairs{0, 6} do
    lu.assertErrorMsgContains(("[%d] of NodeNames of 5"):format(i), function()
      return data.node_names[i]
    end)
  end
  local id, why = data:find_node "thre"
  lu.assertNil(id)
  lu.assertStrContains(why, 'no node called "thre"')
  lu.assertNil((data:find_node "wo"))
  lu.assertNil((data:find_node ""))
  lu.assertNil((data:find_node "one\ntwo"))
  lu.assertErrorMsgContains("the name must be a string, got nil", data.find_node, data)
  local listed = load_with{node_names = {"a", "bb", "ü", "d", "e"}}
  lu.assertEquals(listed.node_names[3], "ü")
  lu.assertEquals(listed:find_node "e", 5)
end

function tests.test_only_what_is_needed()
  local data = load_with{class_names = false, feature_names = false, node_names = false,
    source = false, idx_train = false, idx_val = false, idx_test = false}
  lu.assertEquals(data.classes, 2)
  lu.assertNil(data.train)
  lu.assertNil((data:find_node "one"))
  lu.assertStrContains(data:describe(), "none (see ladies.data.split)")
end

function tests.test_dense_features()
  local data = load_with{attr_indptr = false, attr_indices = false, attr_shape = false,
    attr_data = false, attr_matrix = tensor{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {1, 1, 1}, {0, 0, 0}}}
  lu.assertEquals(tostring(data.features), "Tensor 5 x 3")
  lu.assertStrContains(data:describe(), "3, dense")
end

function tests.test_values_of_one_are_dropped()
  local data = load_with{adj_data = ladies.ones(6), attr_data = ladies.ones(5)}
  lu.assertNil(data.graph.adjacency.values)
  lu.assertNil(data.features.values)
  lu.assertEquals(data.features:to_dense():to_table()[3], {1, 0, 1})
end

function tests.test_directed_and_loops_are_kept_and_told()
  load_with{adj_indptr = index{1, 3, 4, 5, 6, 6}, adj_indices = index{1, 2, 3, 4, 4}}
  local data = ladies.data.load(scratch, {directed = "keep"})
  lu.assertEquals(data.graph.n_edges, 5)
  lu.assertFalse(data.graph:is_symmetric())
  lu.assertEquals(data.graph:n_self_loops(), 2)
  lu.assertStrContains(data:describe(), "5, directed (kept as given), self-loops: 2")
end

function tests.test_save_and_load_again()
  local data, copy = load_with(), os.tmpname()
  ladies.data.save(data, copy)
  local again = ladies.data.load(copy)
  os.remove(copy)
  lu.assertEquals(again.graph.adjacency:hash(), data.graph.adjacency:hash())
  lu.assertEquals(again.features:hash(), data.features:hash())
  for _, field in ipairs{"labels", "train", "val", "test"} do
    lu.assertEquals(again[field]:to_table(), data[field]:to_table())
  end
  for _, field in ipairs{"classes", "class_names", "feature_names", "source"} do
    lu.assertEquals(again[field], data[field])
  end
  lu.assertEquals(again.node_names:lines(), data.node_names:lines())
end

-- ---------------------------------------------------------------- the graph

function tests.test_graph()
  local graph = load_with().graph
  lu.assertEquals(tostring(graph), "Graph 5 nodes, 6 entries")
  lu.assertEquals(graph:degrees():to_table(), {1, 2, 2, 1, 0})
  lu.assertEquals(graph:n_isolated(), 1)
  lu.assertTrue(graph:is_symmetric())
  local P = graph:normalize "row"
  lu.assertEquals(P:to_dense():to_table()[1], {0.5, 0.5, 0, 0, 0})
  lu.assertIs(graph:normalize "row", P)
  lu.assertIs(graph:normalize("row", {self_loops = true}), P)
  lu.assertEquals(graph:normalize("row", {self_loops = false}):to_dense():to_table()[1],
    {0, 1, 0, 0, 0})
  lu.assertAlmostEquals(graph:normalize("sym"):to_dense():get(1, 2), 1 / math.sqrt(6), 1e-7)
  lu.assertEquals(message_of(function() return (graph:normalize "symm") end),
    'graph:normalize: the kind must be one of sym, row, none, got "symm"; did you mean "sym"?')
  lu.assertEquals(message_of(function() return (graph:normalize("sym", {self_loop = 1})) end),
    'graph:normalize: unknown option "self_loop"; did you mean "self_loops"?')
end

-- ---------------------------------------------------------------- names and paths

function tests.test_unknown_name()
  local message = message_of(function() return (ladies.data.load "wordnett") end)
  lu.assertStrContains(message, 'no data set "wordnett"; did you mean "wordnet"? (looked in ')
  lu.assertStrContains(message, "/datasets")
end

function tests.test_names_in_the_collection()
  local collection = os.getenv "LADIES_DATA"
  if not collection then lu.skip "LADIES_DATA is not set" end
  local cora = ladies.data.load "cora"
  lu.assertEquals(tostring(cora),
    "Dataset cora: 2708 nodes, 10556 entries, 1433 features, 7 classes")
  lu.assertEquals({#cora.train, #cora.val, #cora.test}, {140, 500, 1000})
  local photo = ladies.data.load(collection .. "/arrays/amazon_photo.npz")
  lu.assertEquals({photo.name, photo.classes, photo.train}, {"amazon_photo", 8, nil})
end

function tests.test_missing_file()
  local message = message_of(function() return (ladies.data.load "/nowhere/x.npz") end)
  lu.assertStrContains(message, "/nowhere/x.npz")
  lu.assertStrContains(message, "No such file")
end

function tests.test_not_a_name()
  lu.assertEquals(message_of(function() return (ladies.data.load(7)) end),
    "ladies.data.load: the name must be a string, got 7")
end

function tests.test_file_that_is_no_npz()
  files.write(scratch, "not an archive")
  lu.assertStrContains(message_of(function() return (ladies.data.load(scratch)) end), scratch)
end

-- ---------------------------------------------------------------- broken files

function tests.test_missing_keys()
  for _, key in ipairs{"adj_indptr", "adj_indices", "adj_shape", "attr_indptr"} do
    local message = message_of(load_with, {[key] = false})
    lu.assertStrContains(message, scratch .. ": " .. key .. " is missing")
  end
  assert_refused({labels = false, label = index{1}}, 'labels is missing; is it "label"?')
end

function tests.test_shapes()
  assert_refused({adj_shape = {5, 6}}, "adj_shape must be square, got 5 x 6")
  assert_refused({adj_shape = {4, 5}},
    "adj_indptr has length 6, must have 5, one more than the rows in adj_shape")
  assert_refused({adj_shape = {5}}, "adj_shape must be two whole numbers")
  assert_refused({adj_shape = {-5, 5}}, "adj_shape must be two whole numbers")
  assert_refused({adj_indptr = index{1}, adj_indices = index{}, adj_shape = {0, 0}},
    "adj_shape is the graph of no nodes")
  assert_refused({attr_shape = {4, 3}, attr_indptr = index{1, 2, 3, 5, 6}},
    "attr_shape has 4 rows, must have 5, one for each node")
  assert_refused({attr_data = tensor{1, 2}},
    "attr_data has length 2, must have 5, one for each of attr_indices")
  assert_refused({labels = index{1, 2, 1, 2}},
    "labels has length 4, must have 5, one for each node")
  assert_refused({node_names = "a\nb\n"},
    "node_names has length 2, must have 5, one for each node")
  assert_refused({feature_names = {"x"}},
    "feature_names has length 1, must have 3, one for each column of the features")
end

function tests.test_structure()
  assert_refused({adj_indptr = index{1, 2, 5, 4, 7, 7}},
    "adj_indptr[3] is 3, must be at least the 4 before it")
  assert_refused({adj_indptr = index{2, 2, 4, 6, 7, 7}}, "adj_indptr[0] is 1, must be 0")
  assert_refused({adj_indptr = index{1, 2, 4, 6, 7, 8}},
    "adj_indptr ends with 7, must end with 6, the length of adj_indices")
  assert_refused({adj_indices = index{2, 1, 3, 2, 6, 3}}, "adj_indices[4] is 5, must be in 0..4")
  assert_refused({adj_indices = index{2, 1, 0, 2, 4, 3}}, "adj_indices[2] is -1, must be in 0..4")
  assert_refused({attr_indices = index{1, 2, 1, 4, 3}}, "attr_indices[3] is 3, must be in 0..2")
end

function tests.test_values()
  local nan, inf = 0 / 0, math.huge
  assert_refused({attr_data = tensor{1, nan, 3, inf, 5}},
    "attr_data must be finite numbers, got 2 NaN or infinite, the first at attr_data[1]")
  assert_refused({adj_data = tensor{1, 1, 1, 1, 1, -inf}},
    "adj_data must be finite numbers, got 1 NaN or infinite, the first at adj_data[5]")
  local dense = tensor{{1, 2}, {3, 4}, {5, nan}, {nan, 6}, {7, 8}}
  assert_refused({attr_matrix = dense},
    "attr_matrix must be finite numbers, got 2 NaN or infinite, the first at attr_matrix[2, 1]"
      .. MISSING)
end

function tests.test_dense_features_of_one_dimension()
  assert_refused({attr_matrix = tensor{1, 2, 3, 4, 5}},
    "attr_matrix must be a matrix, got a vector of 5")
end

function tests.test_labels()
  assert_refused({labels = index{1, 2, 3, 2, 0}},
    "labels[2] is 2, must be in 0..1, or -1: a node without a label")
  lu.assertEquals(message_of(load_with, {labels = tensor{0, 1, -2, 1, 0}}),
    ("%s: labels[2] is -2.0, must be a class from 0 on, or -1 or nan for none"):format(scratch))
end

function tests.test_split()
  assert_refused({idx_train = index{1, 6}}, "idx_train[1] is 5, must be in 0..4")
  assert_refused({idx_val = index{3, 2}}, "idx_val[1] is node 1 again, after idx_train[1]")
  assert_refused({idx_test = index{4, 3, 4}}, "idx_test[1] is node 2 again, after idx_val[0]")
  assert_refused({idx_test = index{4, 4}}, "idx_test[1] is node 3 again, after idx_test[0]")
  assert_refused({idx_test = index{5}}, "idx_test[0] is node 4, which has no label")
end

-- Every array may be replaced by anything else: that gives a data set which can be described, or
-- one line that names the file.
function tests.test_anything_loads_or_is_one_line()
  local strange = {
    5, {}, {5, 2^31 | 0}, {2^40 | 0, 2^40 | 0}, {1.5, 2}, {{1, 2}, {3, 4}}, {-3, 1, 1, 1, 1},
    "text", {"a", "b"}, {"a", "b", "c", "d", "e"}, {{"a", "b"}, {"c", "d"}},
    tensor{1, 2}, tensor{{1, 2}, {3, 4}}, index{}, index{0, 0, 0, 0, 0}, index{2^31 - 1 | 0},
    npz.bool{0, 1, 0, 1, 1}, npz.float64{1e300, 0, 0, 0, 0},
  }
  local names = {adj_data = true, attr_matrix = true}
  for name in pairs(arrays()) do names[name] = true end
  for name in pairs(names) do
    for _, array in ipairs(strange) do
      local ok, result = pcall(load_with, {[name] = array})
      if ok then
        lu.assertIsString(result:describe())
      else
        lu.assertStrMatches(result, "[^\n:]*test_data.lua:%d+: [^\n]*" .. scratch .. ": [^\n]+")
      end
    end
  end
end

-- ---------------------------------------------------------------- a script's own arrays

local function own(changes)
  local all = {
    edges = {{1, 2}, {2, 3}}, features = tensor{{1, 0}, {0, 1}, {1, 1}}, labels = {1, 2, 0},
    train = {1}, val = {2}, node_names = {"a", "b", "c"},
  }
  for key, value in pairs(changes or {}) do all[key] = value or nil end
  local data = ladies.data.from_arrays(all)
  return data
end

function tests.test_own_arrays()
  local data = own()
  lu.assertEquals(data.graph.adjacency:to_dense():to_table(), {{0, 1, 0}, {1, 0, 1}, {0, 1, 0}})
  lu.assertEquals(data.classes, 2)
  lu.assertEquals(data.val:to_table(), {2})
  lu.assertNil(data.test)
  lu.assertEquals(data:find_node "c", 3)
  local one_way = own{directed = "keep"}
  lu.assertEquals(one_way.graph.adjacency:to_dense():to_table(), {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}})
  local by_index = own{edges = {index{1, 2}, index{2, 3}}, labels = index{1, 2, 0}}
  lu.assertEquals(by_index.graph.adjacency:hash(), data.graph.adjacency:hash())
  local by_matrix = own{edges = false, graph = data.graph.adjacency}
  lu.assertEquals(by_matrix.graph.adjacency:hash(), data.graph.adjacency:hash())
  local by_rows = own{features = {{1, 2}, {3, 4}, {5, 6.5}}}
  lu.assertEquals(by_rows.features:to_table(), {{1, 2}, {3, 4}, {5, 6.5}})
end

function tests.test_own_arrays_wrong()
  local cases = {
    {{lables = {1}}, 'unknown option "lables"; did you mean "labels"?'},
    {{labels = false, features = false}, "there are no labels; each node has a class from 1 on, or "
      .. "0 for none; or targets; or features alone, for tasks of edges"},
    {{split = {train = {1}}}, "split is a way to split, such as 10/10/80; the nodes of its parts "
      .. "are the options train, val and test"},
    {{labels = {1, 2}}, "labels has length 2, must have 3, one for each node"},
    {{labels = {1, -1, 1}}, "labels[2] must be a non-negative integer, got -1"},
    {{labels = {1, 3, 1}, class_names = {"p", "q"}},
      "labels[2] is 3, must be in 1..2, or 0: a node without a label"},
    {{edges = {{1, 2}, {2, 4}}}, "edges[2] is 4, must be in 1..3"},
    {{edges = {{1, 2}, {2}}}, "edges[2] must be two nodes, got 1"},
    {{edges = {{1, 2}, {2, 0}}}, "edges[2][2] is 0; nodes count from 1"},
    {{edges = {{1, 2}, {2, -1}}}, "edges[2][2] must be a positive integer, got -1"},
    {{edges = false}, "give either edges or graph"},
    {{edges = false, graph = ladies.csr{n_rows = 3, n_cols = 2, offsets = index{1, 1, 1, 1},
      columns = index{}}}, "graph must be square, got 3 x 2"},
    {{val = {1}}, "val[1] is node 1 again, after train[1]"},
    {{test = {3}}, "test[1] is node 3, which has no label"},
    {{features = {{1, 0}, {1}, {1, 1}}}, "features: tensor: row 2 must be a table of 2 numbers"},
    {{edge_features = {{1, 0}, {1}}},
      "edge_features: tensor: row 2 must be a table of 2 numbers"},
    {{features = tensor{{1, 0}, {0, 0 / 0}, {1, 1}}},
      "features must be finite numbers, got 1 NaN or infinite, the first at features[2, 2]"
        .. MISSING},
  }
  for _, case in ipairs(cases) do
    lu.assertEquals(message_of(own, case[1]),
      "ladies.data.from_arrays: " .. case[2])
  end
end

function tests.test_random_split()
  local train, val, test = ladies.data.random_split(103, {train = 0.2, val = 0.3, seed = 7})
  lu.assertEquals({#train, #val, #test}, {21, 31, 51})
  lu.assertEquals((train .. val .. test):sort():to_table(), ladies.range(1, 103):to_table())
  lu.assertEquals(train:to_table(), train:sort():to_table())
  local again = ladies.data.random_split(103, {train = 0.2, val = 0.3, seed = 7})
  lu.assertEquals(again:to_table(), train:to_table())
  local other = ladies.data.random_split(103, {train = 0.2, val = 0.3, seed = 8})
  lu.assertNotEquals(other:to_table(), train:to_table())
  lu.assertEquals(message_of(function()
    return (ladies.data.random_split(10, {train = 0.9, val = 0.2}))
  end), "ladies.data.random_split: train + val must be at most 1")
end

--- Scaled rows of a Matrix are in the file, though it has no values of its own.
function tests.test_scaled_matrices_are_saved()
  local ones = ladies.matrix{n_rows = 2, n_cols = 2, rows = index{1, 2}, cols = index{2, 1}}
  ladies.data.save(ladies.data.from_arrays{
    graph = ones:scale_cols(tensor{3, 3}), features = ones:scale_rows(tensor{2, 2}),
    labels = index{1, 2}, train = index{1}, directed = "keep"}, scratch)
  local file = npz.open(scratch)
  lu.assertEquals(file:tensor("attr_data"):to_table(), {2, 2})
  lu.assertEquals(file:tensor("adj_data"):to_table(), {3, 3})
end

return tests
