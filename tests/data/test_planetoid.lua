--- The citation graphs as Planetoid's pickles, npz files with pickled SciPy matrices, and a small
-- data set in the same form (fixtures/make_pickles.py). The numbers of the real ones were counted
-- by NumPy and SciPy: fixtures/count_planetoid.py prints them from the same files.
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

-- Entries, and the sum of row * column over them, from 0.
local function entries(matrix)
  local sum, rows, cols = 0, matrix:row_of():to_table(), matrix:col_of():to_table()
  for e, row in ipairs(rows) do sum = sum + (row - 1) * (cols[e] - 1) end
  return {matrix.nnz, sum}
end

local function total(matrix)
  if not matrix.values then return matrix.nnz end
  local sum = 0
  for _, value in ipairs(matrix.values:to_table()) do sum = sum + value end
  return sum
end

local function weighted(labels)
  local sum = 0
  for node, label in ipairs(labels:to_table()) do sum = sum + node * label end
  return sum
end

-- The ids of nodes without a label, from 0.
local function unlabelled(labels)
  local ids = {}
  for node, label in ipairs(labels:to_table()) do
    if label == 0 then ids[#ids + 1] = node - 1 end
  end
  return ids
end

local COUNTED = {
  cora = {
    nodes = 2708, edges = {10556, 18113050838}, features = {49216, 52432241815}, sum = 49216,
    columns = 1433, classes = {351, 217, 418, 818, 426, 298, 180}, labels = 14182160, isolated = 0,
    train = 140, test = {1000, 2207500}, absent = {},
    found = "10858 neighbours listed, duplicates merged: 302, "
      .. "self-loops dropped: 0",
  },
  citeseer = {
    nodes = 3327, edges = {9104, 23968288232}, features = {105165, 317451632061}, sum = 105165,
    columns = 3703, classes = {249, 590, 668, 701, 596, 508}, labels = 20390810, isolated = 48,
    train = 120, test = {1000, 2816427},
    absent = {2407, 2489, 2553, 2682, 2781, 2953, 3042, 3063, 3212, 3214, 3250, 3292, 3305, 3306,
      3309},
    found = "9464 neighbours listed, duplicates merged: 236, "
      .. "self-loops dropped: 124, nodes without features and label: 15",
  },
  pubmed = {
    nodes = 19717, edges = {88648, 8445957330084}, features = {988031, 1815342253754},
    sum = 38716.29, columns = 500, classes = {4103, 7739, 7875}, labels = 425433144, isolated = 0,
    train = 60, test = {1000, 19216500}, absent = {},
    found = "88676 neighbours listed, duplicates merged: 25, "
      .. "self-loops dropped: 3",
  },
}

local function check_counts(name)
  if not collection then lu.skip "LADIES_DATA is not set" end
  local data, expected = ladies.data.load(collection .. "/planetoid/ind." .. name), COUNTED[name]
  lu.assertEquals({data.graph.n_nodes, data.features.n_rows, data.features.n_cols},
    {expected.nodes, expected.nodes, expected.columns})
  lu.assertEquals(entries(data.graph.adjacency), expected.edges)
  lu.assertTrue(data.graph:is_symmetric())
  lu.assertEquals(data.graph:n_self_loops(), 0)
  lu.assertEquals(data.graph:n_isolated(), expected.isolated)
  lu.assertEquals(entries(data.features), expected.features)
  lu.assertAlmostEquals(total(data.features), expected.sum, 0.006)
  lu.assertEquals(data.labels:counts(data.classes), expected.classes)
  lu.assertEquals(weighted(data.labels), expected.labels)
  lu.assertEquals(data.train, ladies.range(1, expected.train))
  lu.assertEquals(data.val, ladies.range(expected.train + 1, expected.train + 500))
  local sum = 0
  for _, id in ipairs(data.test:to_table()) do sum = sum + id - 1 end
  lu.assertEquals({#data.test, sum}, expected.test)
  lu.assertEquals(data.test, data.test:sort())
  lu.assertEquals(unlabelled(data.labels), expected.absent)
  for _, id in ipairs(expected.absent) do
    lu.assertEquals(data.features:rows(ladies.index{id + 1}).nnz, 0)
  end
  lu.assertStrContains(data:describe(), ("Planetoid, ind.%s.*: %s"):format(name, expected.found))
  return data
end

function tests.test_citeseer() check_counts "citeseer" end

function tests.test_pubmed() check_counts "pubmed" end

--- Cora in Planetoid's files is the data set in arrays/cora.npz, which was made from these files by
-- other means.
function tests.test_cora()
  local data = check_counts "cora"
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

function tests.test_training_from_the_command_line()
  local binary = os.getenv "LADIES_BIN"
  if not collection or not binary then lu.skip "LADIES_DATA is not set" end
  local folder <close> = shell.folder()
  local output = shell.succeeded(shell.run{binary, "train", "--dataset", "citeseer", "--epochs",
    "1", "--out", folder.path .. "/run"})
  lu.assertStrContains(output, "citeseer")
end

-- ---------------------------------------------------------------- pickled matrices

local function check_pickled(name, expected)
  if not collection then lu.skip "LADIES_DATA is not set" end
  local data = ladies.data.load(("%s/npz/%s.npz"):format(collection, name), {directed = "keep"})
  lu.assertEquals(data.graph.n_nodes, expected.nodes)
  lu.assertEquals(entries(data.graph.adjacency), expected.edges)
  lu.assertEquals(data.features.n_cols, expected.columns)
  lu.assertEquals(entries(data.features), expected.features)
  lu.assertEquals(total(data.features), expected.sum)
  lu.assertEquals(data.labels:counts(data.classes), expected.classes)
  lu.assertNil(data.train)
  return data
end

function tests.test_coauthor_cs()
  local data = check_pickled("coauthor_cs", {
    nodes = 18333, edges = {163788, 14152773019336}, columns = 6805,
    features = {1092079, 33753759970792}, sum = 1741991,
    classes = {708, 462, 2050, 429, 1394, 2193, 371, 924, 775, 118, 1444, 2033, 420, 4136, 876},
  })
  lu.assertEquals({data.class_names[1], data.class_names[2]},
    {"bioinformatics", "machine_learning"})
  lu.assertEquals({data.node_names[1], data.node_names[2]}, {"0006BF12", "0007426B"})
  lu.assertEquals({data.feature_names[1], data.feature_names[2]}, {"1 dimensional", "16 qam"})
end

function tests.test_amazon_photo()
  local data = check_pickled("amazon_photo", {
    nodes = 7650, edges = {143663, 2099517974454}, columns = 745,
    features = {1979909, 2811892760243}, sum = 1979909,
    classes = {369, 1686, 703, 915, 882, 823, 1941, 331},
  })
  lu.assertEquals({data.class_names[1], data.class_names[2]},
    {"Film Photography", "Digital Cameras"})
end

return tests
