--- Names of arrays in .npz files: which are read, which are told as not used, which contradict.
local lu = require "luaunit"
local ladies = require "ladies"
local temporary = require "reference.temporary"

local tests = {}

-- The path 0-1-2, with the changes, as the file of a list of edges or, where `own` is, as ours.
local function load(changes, opts, own)
  local arrays = own and {adj_indptr = {0, 1, 3, 4}, adj_indices = {1, 0, 2, 1}, adj_shape = {3, 3},
    attr_matrix = ladies.ones(3, 2), labels = {0, 1, 0}}
    or {edge_index = ladies.npz.uint8(ladies.tensor{{0, 1, 1, 2}, {1, 0, 2, 1}}),
      x = ladies.ones(3, 2), y = {0, 1, 0}}
  for name, array in pairs(changes or {}) do arrays[name] = array or nil end
  local path = temporary.path "names.npz"
  ladies.npz.write(path, arrays)
  return ladies.data.load(path, opts)
end

local function notes_of(data)
  local list = {}
  for i, note in ipairs(data.notes) do list[i] = note:match "npz: (.*)" end
  return list
end

local function message_of(...)
  local ok, message = pcall(load, ...)
  lu.assertFalse(ok)
  return message:match "names%.npz: (.*)" or message
end

function tests.test_names_of_splits()
  for i, names in ipairs{{"train_idx", "val_idx", "test_idx"}, {"train_idx", "valid_idx",
    "test_idx"}, {"idx_train", "idx_valid", "idx_test"}} do
    local data = load({[names[1]] = {0}, [names[2]] = {2}, [names[3]] = {1}}, nil, i > 1)
    lu.assertEquals({data.train[1], data.val[1], data.test[1], data.notes}, {1, 3, 2, {}})
  end
  local data = load{train_mask = {1, 0, 0}, valid_mask = {0, 0, 1}}
  lu.assertEquals({data.train[1], data.val[1], data.notes}, {1, 3, {}})
  data = load{train_mask = {1, 0, 0}, train_idx = {1}}
  lu.assertEquals({data.train:to_table(), notes_of(data)},
    {{2}, {"not used: train_mask, as there is train_idx"}})
end

function tests.test_other_names()
  for _, name in ipairs{"edge_weight", "edge_weights", "weight", "weights"} do
    local data = load{[name] = {2, 2, 3, 3}}
    lu.assertEquals({data.graph.adjacency:to_dense():get(3, 2), data.notes}, {3, {}})
  end
  local data = load{class_names = {"a", "b", "c"}, num_nodes = {3}, node_names = {"i", "j", "k"}}
  lu.assertEquals({data.classes, data.class_names[3], data.node_names[2], data.notes},
    {3, "c", "j", {}})
  local one = ladies.npz.uint8(ladies.tensor{{0}, {1}})
  lu.assertTrue(load{edge_index = one, directed = {"keep"}}.directed)
  lu.assertEquals(message_of{num_nodes = {4}}, "num_nodes is 4, but x has 3 rows")
end

function tests.test_not_used()
  lu.assertEquals(notes_of(load{pos = {1, 2}, faces = {0}}), {"not used: faces, pos"})
  lu.assertEquals(notes_of(load({pos = {1, 2}, train = {0}}, nil, true)), {"not used: pos, train"})
  local many = {}
  for i = 1, 10 do many["a" .. i] = {1} end
  lu.assertEquals(notes_of(load(many)),
    {"not used: a1, a10, a2, a3, a4, a5, a6, a7 and 2 others"})
end

function tests.test_two_names_for_the_same()
  local same = "has both %s and %s, which are names for the same; keep one of them"
  for _, case in ipairs{
    {{node_features = ladies.ones(3, 2)}, "x", "node_features"},
    {{labels = {0, 1, 0}}, "y", "labels"},
    {{adj_indptr = {0, 0, 0, 0}, adj_indices = {}, adj_shape = {3, 3}}, "edge_index", "adj_shape"},
    {{idx_val = {0}, valid_idx = {0}}, "idx_val", "valid_idx"},
    {{edge_weight = {1, 1, 1, 1}, weight = {1, 1, 1, 1}}, "edge_weight", "weight"},
  } do
    lu.assertEquals(message_of(case[1]), same:format(case[2], case[3]))
  end
end

--- A number of a split that is not there is refused, and a seed that nothing uses told.
function tests.test_number_of_a_split()
  lu.assertEquals(message_of({idx_train = {0}}, {split = "7"}, true),
    'no split "7"; the file has one of its own, number 0')
  lu.assertEquals(message_of({train_mask = {1, 0, 0}}, {split = "1"}),
    'no split "1"; the file has one of its own, number 0')
  lu.assertEquals(message_of({}, {split = "0"}), 'no split "0"; the file has none of its own')
  lu.assertEquals(load({idx_train = {0}}, {split = "0"}).train:to_table(), {1})
  lu.assertEquals(notes_of(load({idx_train = {0}}, {split_seed = 3})),
    {"--split-seed (in Lua split_seed) is not used: the split is the data set's own"})
  lu.assertEquals(load({}, {split_seed = 3}).notes, {})
end

return tests
