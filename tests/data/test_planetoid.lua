--- The citation graphs as Planetoid's pickles, npz files with pickled SciPy matrices, and a small
-- data set in the same form (fixtures/make_pickles.py). What is in the real ones is counted in
-- test_info_numbers.
local lu = require "luaunit"
local ladies = require "ladies"
local shell = require "tools.shell"
local fixture = require "reference.fixture"

local tests = {}
local collection = os.getenv "LADIES_DATA"

-- ---------------------------------------------------------------- a small one

local PARTS = {"x", "y", "allx", "ally", "tx", "ty", "graph", "test.index"}

-- Writes the files of the small data set into a folder, `changes` in place of some of them.
local function write_toy(folder, changes)
  local fixtures <close> = fixture.open "pickles"
  for _, part in ipairs(PARTS) do
    ladies.file.write(("%s/ind.toy.%s"):format(folder, part),
      changes and changes[part] or fixtures:text("ind.toy." .. part))
  end
end

local function toy_part(part)
  local fixtures <close> = fixture.open "pickles"
  return fixtures:text(part)
end

-- The pickle of a graph of 506 nodes, list(i) for the neighbours of node i.
local function graph_of(list)
  local parts = {}
  for i = 0, 505 do parts[#parts + 1] = ("I%d\n%ss"):format(i, list(i)) end
  return "(d" .. table.concat(parts) .. "."
end

function tests.test_small_data_set()
  local folder <close> = shell.folder()
  write_toy(folder.path)
  local data = ladies.data.load(folder.path .. "/ind.toy")
  lu.assertEquals(data.name, "toy")
  lu.assertEquals({data.graph.n_nodes, data.graph.n_edges}, {506, 1012})
  lu.assertEquals({data.graph:n_self_loops(), data.graph:n_isolated()}, {0, 0})
  lu.assertTrue(data.graph:is_symmetric())
  lu.assertEquals(data.merged, 1)         -- one neighbour is listed twice, by one end of its edge
  lu.assertEquals(data.train:to_table(), {1, 2})
  lu.assertEquals({#data.val, data.val[1], data.val[500]}, {500, 3, 502})
  lu.assertEquals(data.test:to_table(), {504, 506})
  local features = data.features:to_dense()
  for id = 0, 505 do
    local absent, expected = id == 502 or id == 504, {0, 0, 0}
    if not absent then expected[id % 3 + 1] = 1 + id % 2 end
    lu.assertEquals(features[id + 1]:to_table(), expected)
    lu.assertEquals(data.labels[id + 1], absent and 0 or id % 2 + 1)
  end
  lu.assertEquals(data.source, "Planetoid, ind.toy.*: 1014 neighbours listed, duplicates merged: "
    .. "1, self-loops dropped: 1, nodes without features and label: 2")
end

--- An edge goes from a node to those in its list where edges are kept, so that these hear the node.
function tests.test_kept()
  local folder <close> = shell.folder()
  write_toy(folder.path, {graph = graph_of(function(i)
    return i == 3 and "(lI7\naI9\na" or "(l"
  end)})
  local adjacency = ladies.data.load(folder.path .. "/ind.toy", {directed = "keep"}).graph.adjacency
  lu.assertEquals({adjacency.nnz, adjacency:row_of():to_table(), adjacency:col_of():to_table()},
    {2, {8, 10}, {4, 4}})
end

function tests.test_what_is_wrong_is_named()
  local folder <close> = shell.folder()
  local base = folder.path .. "/ind.toy"
  for _, case in ipairs{
    {"x", "NN.", "more or less"},
    {"x", "cos\nsystem\n(S'ls'\ntR.", 'pickle: ' .. base .. '.x: refuses the class "os.system"'},
    {"x", "]." , "pickle: " .. base .. ".x: must hold a Matrix, got a table"},
    {"graph", toy_part "ind.toy.x", ".graph: must hold a table, got a Matrix"},
    {"y", toy_part "ind.toy.ally", base .. ": y has 502 rows, must have 2 as x has"},
    {"graph", "(dI0\n(lI9\nas.", "test.index: line 1 is \"505\", must be an id of 502..0"},
    {"graph", graph_of(function(i) return i == 3 and "(lI506\na" or "(l" end),
      "graph: node 3 has the neighbour 506, must be in 0..505"},
    {"graph", graph_of(function(i) return i == 0 and "(lp0\n" or "g0\n" end),
      "with a list of neighbours of its own"},
    {"graph", graph_of(function() return "N" end), "with a list of neighbours of its own"},
    {"test.index", "505\n501\n", 'test.index: line 2 is "501", must be an id of 502..505'},
    {"test.index", "505\n506\n", 'line 2 is "506", must be an id of 502..505'},
    {"test.index", "505\nx\n", 'line 2 is "x", must be an id'},
    {"test.index", "505\n\27[2Jx\n", 'line 2 is "\\x1b[2Jx", must be an id'},
    {"test.index", "", "test.index has no ids"},
    {"test.index", "505\n", "test.index has length 1, must have 2, one for each row of tx"},
    {"test.index", "505\n505\n", "test.index[1] is node 505 again"},
  } do
    write_toy(folder.path, {[case[1]] = case[2]})
    local ok, message = pcall(function()
      local data = ladies.data.load(base)
      return data
    end)
    lu.assertFalse(ok)
    lu.assertStrMatches(message, "[^:]*test_planetoid.lua:%d+: .*", nil, nil, message)
    lu.assertStrContains(message, case[3])
  end
  write_toy(folder.path)
  os.remove(base .. ".tx")
  lu.assertErrorMsgContains(".tx: cannot be opened: No such file or directory", ladies.data.load,
    base)
end

-- ---------------------------------------------------------------- the real ones

local READ = {
  cora = "10858 neighbours listed, duplicates merged: 302, self-loops dropped: 0",
  citeseer = "9464 neighbours listed, duplicates merged: 236, "
    .. "self-loops dropped: 124, nodes without features and label: 15",
  pubmed = "88676 neighbours listed, duplicates merged: 25, self-loops dropped: 3",
}

function tests.test_what_was_read_is_described()
  if not collection then lu.skip "LADIES_DATA is not set" end
  for name, found in pairs(READ) do
    local data = ladies.data.load(collection .. "/planetoid/ind." .. name)
    lu.assertStrContains(data:describe(), ("Planetoid, ind.%s.*: %s"):format(name, found))
  end
end

--- Cora in Planetoid's files is the data set in arrays/cora.npz, which was made from these files by
-- other means.
function tests.test_cora()
  if not collection then lu.skip "LADIES_DATA is not set" end
  local data = ladies.data.load(collection .. "/planetoid/ind.cora")
  local other = ladies.data.load(collection .. "/arrays/cora.npz")
  lu.assertEquals(data.graph.adjacency:hash(), other.graph.adjacency:hash())
  lu.assertEquals(data.features:hash(), other.features:hash())
  for _, field in ipairs{"labels", "train", "val", "test"} do
    lu.assertEquals(data[field], other[field])
  end
end

function tests.test_by_name()
  if not collection then lu.skip "LADIES_DATA is not set" end
  local names = table.concat(ladies.data.names(), " ")
  for _, name in ipairs{"cora", "citeseer", "pubmed"} do lu.assertStrContains(names, name) end
  lu.assertEquals(ladies.data.load("citeseer").path, collection .. "/planetoid/ind.citeseer")
end

-- ---------------------------------------------------------------- pickled matrices

function tests.test_names_of_pickled_matrices()
  if not collection then lu.skip "LADIES_DATA is not set" end
  local data = ladies.data.load(collection .. "/npz/coauthor_cs.npz")
  lu.assertEquals({data.class_names[1], data.class_names[2]},
    {"bioinformatics", "machine_learning"})
  lu.assertEquals({data.node_names[1], data.node_names[2]}, {"0006BF12", "0007426B"})
  lu.assertEquals({data.feature_names[1], data.feature_names[2]}, {"1 dimensional", "16 qam"})
  lu.assertNil(data.train)
  data = ladies.data.load(collection .. "/npz/amazon_photo.npz")
  lu.assertEquals({data.class_names[1], data.class_names[2]},
    {"Film Photography", "Digital Cameras"})
end

return tests
