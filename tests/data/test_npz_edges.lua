--- Tests data sets as .npz files with a list of edges: what each form of an array becomes, which
-- names of arrays are read, reported as not used or contradict, and the errors for other forms.
local lu = require "luaunit"
local ladies = require "ladies"
local notes = require "ladies.data.notes"
local temporary = require "reference.temporary"

local npz, tensor, ones = ladies.npz, ladies.tensor, ladies.ones
local tests = {}

notes.tell = function() end      -- here they are read from data.notes

local path = temporary.path "edges.npz"
local RING = {{0, 1, 2}, {1, 2, 0}}

-- The data set of a ring of three nodes or, where `own` is, of the path of three in the layout that
-- is our own; arrays may be others or (false) left out.
local function load(changes, opts, own)
  local arrays = own and {adj_indptr = {0, 1, 3, 4}, adj_indices = {1, 0, 2, 1}, adj_shape = {3, 3},
    attr_matrix = ones(3, 1), labels = {0, 1, 0}}
    or {edge_index = npz.int64(RING), y = npz.int64{0, 1, 0}, x = ones(3, 1)}
  for name, value in pairs(changes or {}) do arrays[name] = value or nil end
  npz.write(path, arrays)
  return ladies.data.load(path, opts or not own and {directed = "keep"} or nil)
end

-- Returns the error that loading such a file raises, without the path.
local function message_of(...)
  local ok, message = pcall(load, ...)
  lu.assertFalse(ok)
  return (message:gsub("^.*edges%.npz: ", ""))
end

local function notes_of(...)
  local list = {}
  for i, note in ipairs(load(...).notes) do list[i] = note:match "edges%.npz: (.*)" end
  return list
end

local function dense(data) return data.graph.adjacency:to_dense():to_table() end

function tests.test_edges()
  local ring = {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}}               -- rows hear columns
  local weighted = {{0, 0, 4}, {2, 0, 0}, {0, 3, 0}}
  for _, own in ipairs{
    {}, {edge_index = npz.int64{{0, 1}, {1, 2}, {2, 0}}},
    {edge_index = false, edges = npz.int64(RING)}, {num_nodes = npz.int64{3}},
  } do
    lu.assertEquals(dense(load(own)), ring)
  end
  for _, name in ipairs{"edge_weight", "edge_weights", "weight", "weights"} do
    lu.assertEquals(dense(load{[name] = tensor{2, 3, 4}}), weighted, name)
  end
  lu.assertEquals(dense(load{weights = tensor{{2}, {3}, {4}}}), weighted)
end

function tests.test_labels()
  for _, case in ipairs{
    {npz.int64{0, 1, 0}, {1, 2, 1}}, {tensor{0, 0 / 0, 1}, {1, 0, 2}},
    {tensor{{0}, {1}, {-1}}, {1, 2, 0}}, {npz.bytes{"b", "", "a"}, {2, 0, 1}},
  } do
    local data = load{y = case[1]}
    lu.assertEquals({data.classes, data.labels:to_table()}, {2, case[2]})
  end
  lu.assertEquals(load{y = npz.bytes{"b", "", "a"}}.class_names, {"a", "b"})
  lu.assertEquals(load{y = false, node_labels = npz.int64{1, 0, 0}}.labels:to_table(), {2, 1, 1})
end

--- A mask may be one column, or one row.
function tests.test_masks()
  for _, mask in ipairs{npz.bool{1, 0, 1}, tensor{{1}, {0}, {1}}, tensor{{1, 0, 1}}} do
    lu.assertEquals(load{train_mask = mask}.train:to_table(), {1, 3})
  end
end

function tests.test_several_classes()
  local several = load{y = tensor{{0, 1}, {1, 1}, {0, 0}}}
  lu.assertTrue(several.multilabel)
  lu.assertEquals(several.labels:to_table(), {{0, 1}, {1, 1}, {0, 0}})
  local one = ": y has exactly one 1 in each row and is taken as several classes a node; for one "
    .. "class, give numbers (in Python, y.argmax(1))"
  local function said(cells) return load{y = tensor(cells)}.notes end
  lu.assertEquals(said{{0, 1}, {1, 0}, {0, 1}}, {path .. one})
  for _, cells in ipairs{{{0, 1}, {1, 1}, {0, 1}}, {{0, 1}, {0, 0}, {0, 1}},
    {{0, 1}, {-1, -1}, {0, 1}}} do
    lu.assertEquals(said(cells), {})
  end
end

function tests.test_numbers_that_may_be_types()
  lu.assertEquals(load{edge_attr = npz.int64{0, 1, 0}}.notes, {path .. ": edge_attr, one whole "
    .. "number for each edge, is a feature; what numbers types of edges is called edge_type"})
  for _, own in ipairs{{edge_attr = tensor{0, 1, 0}}, {edge_attr = npz.int64{{0}, {1}, {0}}},
    {edge_attr = npz.int64{0, 1, 0}, edge_type = npz.int64{0, 1, 0}}} do
    lu.assertEquals(load(own).notes, {})
  end
end

function tests.test_refused()
  for _, case in ipairs{
    {"edge_index is 3, must be 2 x edges", {edge_index = npz.int64{0, 1, 2}}},
    {"edge_index is 3 x 3, must be 2 x edges",
      {edge_index = npz.int64{{0, 1, 2}, {1, 2, 0}, {1, 1, 1}}}},
    {"edge_index[2] is 3, must be in 0..2", {edge_index = npz.int64{{0, 1, 3}, {1, 2, 0}}}},
    {"edge_index[2] is -1, must be in 0..2", {edge_index = npz.int64{{0, 1, -1}, {1, 2, 0}}}},
    {"edge_weight has length 2, must have 3, one for each edge", {edge_weight = tensor{1, 2}}},
    {"edge_weight must be finite numbers, got 2 NaN or infinite, the first at edge_weight[1]",
      {edge_weight = tensor{1, 0 / 0, 1 / 0}}},
    {"num_nodes is 4, but x has 3 rows", {num_nodes = npz.int64{4}}},
    {"num_nodes is 4, but y has 3 rows", {num_nodes = npz.int64{4}, x = false}},
    {"has edge_index but no labels: y, the class or the targets of each node, is missing",
      {y = false}},
    {"has edges but no labels: y, the class or the targets of each node, is missing",
      {y = false, edge_index = false, edges = npz.int64(RING)}},
    {"y[1] is -3.0, must be a class from 0 on, or -1 or nan for none", {y = tensor{0, -3, 0}}},
    {"y[1] is -2.0, must be a class from 0 on, or -1 or nan for none", {y = tensor{0, -2, 0}}},
    {"y[1, 1] is 2, must be 0 or 1, or all of the row -1 or NaN: a node without a label",
      {y = tensor{{0, 1}, {1, 2}, {0, 1}}}},
    {"edge_index[2] is 2, must be in 0..1", {x = ones(2, 1)}},
  } do
    lu.assertEquals(message_of(case[2]), case[1])
  end
end

-- ---------------------------------------------------------------- names

function tests.test_names_of_splits()
  for i, names in ipairs{{"train_idx", "val_idx", "test_idx"}, {"train_idx", "valid_idx",
    "test_idx"}, {"idx_train", "idx_valid", "idx_test"}} do
    local data = load({[names[1]] = {0}, [names[2]] = {2}, [names[3]] = {1}}, nil, i > 1)
    lu.assertEquals({data.train[1], data.val[1], data.test[1], data.notes}, {1, 3, 2, {}})
  end
  local data = load{train_mask = {1, 0, 0}, valid_mask = {0, 0, 1}}
  lu.assertEquals({data.train[1], data.val[1], data.notes}, {1, 3, {}})
  data = load{train_mask = {1, 0, 0}, train_idx = {1}}
  lu.assertEquals({data.train:to_table(), data.notes},
    {{2}, {path .. ": not used: train_mask, as there is train_idx"}})
end

function tests.test_other_names()
  local data = load{class_names = {"a", "b", "c"}, node_names = {"i", "j", "k"}}
  lu.assertEquals({data.classes, data.class_names[3], data.node_names[2], data.notes},
    {3, "c", "j", {}})
  lu.assertTrue(load({directed = {"keep"}}, {}).directed)
end

function tests.test_not_used()
  lu.assertEquals(notes_of{edge_attr = ones(3, 1), pos = {1, 2}, faces = {0}},
    {"not used: faces, pos"})
  lu.assertEquals(notes_of({pos = {1, 2}, train = {0}}, nil, true), {"not used: pos, train"})
  local many = {}
  for i = 1, 10 do many["a" .. i] = {1} end
  lu.assertEquals(notes_of(many),
    {"not used: a1, a10, a2, a3, a4, a5, a6, a7 and 2 others"})
end

function tests.test_two_names_for_the_same()
  local same = "has both %s and %s, which are names for the same; keep one of them"
  for _, case in ipairs{
    {{node_features = ladies.ones(3, 2)}, "x", "node_features"},
    {{labels = {0, 1, 0}}, "y", "labels"},
    {{adj_indptr = {0, 0, 0, 0}, adj_indices = {}, adj_shape = {3, 3}}, "edge_index",
      "adj_shape"},
    {{idx_val = {0}, valid_idx = {0}}, "idx_val", "valid_idx"},
    {{edge_weight = {1, 1, 1}, weight = {1, 1, 1}}, "edge_weight", "weight"},
  } do
    lu.assertEquals(message_of(case[1]), same:format(case[2], case[3]))
  end
end

--- A number of a split that is not there is refused, and a seed that nothing uses is reported.
function tests.test_number_of_a_split()
  lu.assertEquals(message_of({idx_train = {0}}, {split = "7"}, true),
    'no split "7"; the file has one of its own, number 0')
  lu.assertEquals(message_of({train_mask = {1, 0, 0}}, {split = "1"}),
    'no split "1"; the file has one of its own, number 0')
  lu.assertEquals(message_of({}, {split = "0"}), 'no split "0"; the file has none of its own')
  lu.assertEquals(load({idx_train = {0}}, {split = "0"}).train:to_table(), {1})
  lu.assertEquals(notes_of({idx_train = {0}}, {split_seed = 3, directed = "keep"}),
    {"--split-seed (in Lua split_seed) is not used: the split is the data set's own"})
  lu.assertEquals(notes_of({}, {split_seed = 3, directed = "keep"}), {})
end

return tests
