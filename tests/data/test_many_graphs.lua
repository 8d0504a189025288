--- Data sets of many graphs: their disjoint union, labels, targets and splits by graph, files, and
-- what is refused.
local lu = require "luaunit"
local ladies = require "ladies"
local message_of = require "tools.message_of"
local notes = require "ladies.data.notes"
local temporary = require "reference.temporary"

local npz, tensor = ladies.npz, ladies.tensor
local tests = {}

notes.tell = function() end      -- here they are read from data.notes

-- Three graphs of 2, 3 and 1 nodes; the nodes of the second are not next to each other.
local function load(own)
  local arrays = {name = "three", edges = {{1, 3}, {2, 4}, {4, 6}}, features = ladies.ones(6, 2),
    graph_of = {1, 2, 1, 2, 3, 2}, targets = tensor{0.5, 1.5, -1}, train = {1, 3}, test = {2}}
  for name, value in pairs(own or {}) do arrays[name] = value or nil end
  return ladies.data.from_arrays(arrays)
end

function tests.test_graphs()
  local data = load()
  lu.assertEquals({data.unit, data.n_graphs, data.graph.n_nodes}, {"graph", 3, 6})
  lu.assertEquals(data.graph_of:to_table(), {1, 2, 1, 2, 3, 2})
  lu.assertEquals(data.targets:to_table(), {{0.5}, {1.5}, {-1}})
  lu.assertStrContains(data:describe(), "  graphs     3, of 1 to 3 nodes\n")
  lu.assertStrContains(data:describe(), "split      2 train, 1 test")
  data = load{targets = false, labels = {1, 2, 1}}
  lu.assertEquals({data.classes, data.unit}, {2, "graph"})
  lu.assertEquals(ladies.data.from_arrays{edges = {{1, 2}}, features = ladies.ones(2, 1),
    labels = {1, 2}}.unit, "node")
end

function tests.test_splits_by_graph()
  local graph_of, labels, edges = {}, {}, {}
  for g = 1, 40 do
    labels[g] = g % 2 + 1
    for _ = 1, 3 do graph_of[#graph_of + 1] = g end
    edges[g] = {3 * g - 2, 3 * g}
  end
  local data = ladies.data.from_arrays{edges = edges, features = ladies.ones(120, 1),
    labels = labels, graph_of = graph_of}
  local train, val, test = ladies.data.split(data, "stratified:50/25/25")
  lu.assertEquals({#train, #val, #test}, {20, 10, 10})
  lu.assertTrue(math.max(train:max(), val:max(), test:max()) == 40)
  lu.assertEquals(data.labels[train]:counts(2), {10, 10})
  data:split("10/10/80", {seed = 2})
  lu.assertEquals(#data.test, 32)
  local of_all = {ladies.data.split(data)}
  lu.assertEquals({#of_all[1], #of_all[2], #of_all[3]}, {32, 4, 4})
  lu.assertEquals(data.labels[of_all[1]]:counts(2), {16, 16})
end

-- A folder as of ogbg_molesol: graphs of 3, 2 and 1 nodes, edges listed one way.
local MOLECULES = {["num-node-list"] = "3\n2\n1\n", ["num-edge-list"] = "2\n1\n0\n",
  edge = "0,1\n1,2\n0,1\n", ["edge-feat"] = "5,0\n6,1\n7,0\n",
  ["node-feat"] = "1\n2\n3\n4\n5\n6\n", ["graph-label"] = "0.5\n-1.25\n2\n"}

local function molecules(changes)
  local path = temporary.path "ogbg"
  for _, folder in ipairs{"", "/raw", "/split", "/split/scaffold"} do
    ladies.folder.make(path .. folder)
  end
  for name, text in pairs(MOLECULES) do
    ladies.file.write(("%s/raw/%s.csv"):format(path, name), changes and changes[name] or text)
  end
  for graph, part in ipairs{"train", "valid", "test"} do
    ladies.file.write(("%s/split/scaffold/%s.csv"):format(path, part), ("%d\n"):format(graph - 1))
  end
  return path
end

function tests.test_a_folder_of_ogb()
  local data = ladies.data.load(molecules())
  lu.assertEquals({data.unit, data.n_graphs, data.graph_of:to_table()},
    {"graph", 3, {1, 1, 1, 2, 2, 3}})
  lu.assertEquals(data.targets:to_table(), {{0.5}, {-1.25}, {2}})
  lu.assertEquals({data.train:to_table(), data.val:to_table(), data.test:to_table()},
    {{1}, {2}, {3}})
  lu.assertEquals(data.features:to_table(), {{1}, {2}, {3}, {4}, {5}, {6}})
  local found, A = {}, data.graph.adjacency
  for e, from in ipairs(A:col_of():to_table()) do
    found[e] = ("%d>%d %g %g"):format(from, A:row_of()[e], table.unpack(
      data.edges.features[e]:to_table()))
  end
  table.sort(found)
  lu.assertEquals(found, {"1>2 5 0", "2>1 5 0", "2>3 6 1", "3>2 6 1", "4>5 7 0", "5>4 7 0"})
  lu.assertEquals(data.source, "OGB folder: 3 edges listed; split: split/scaffold")
  for name, case in pairs{
    ["num-edge-list"] = {"2\n1\n", "num-edge-list has 2 graphs, raw/num-node-list 3"},
    edge = {"0,1\n1,2\n0,2\n", "edge.csv: line 3: node 2 of graph 1, which has 2 nodes"},
    ["edge-feat"] = {"5,0\n", "edge-feat has length 1, must have 3, one for each edge"},
    ["graph-label"] = {"1\n", "graph-label.csv has length 1, must have 3, one for each graph"},
    ["num-node-list"] = {"3\n0\n3\n", "raw/num-node-list: graph 1 has no nodes"},
    ["node-feat"] = {"1\n2\n", "node-feat.csv has length 2, must have 6, as many as"},
  } do
    lu.assertErrorMsgContains(case[2], ladies.data.load, molecules{[name] = case[1]})
  end
  local path = molecules{["num-node-list"] = "3\n2\n1000000000\n"}
  os.remove(path .. "/raw/node-feat.csv")
  lu.assertErrorMsgContains("counts 1000000005 nodes; --max-ids", ladies.data.load, path)
  lu.assertErrorMsgContains("num-edge-list counts 4 edges, raw/edge.csv has 3", ladies.data.load,
    molecules{["num-edge-list"] = "2\n2\n0\n"})
end

--- In tables a file says the graph of each node; what an export writes comes back.
function tests.test_tables()
  local data = load()
  for format, name in pairs{["edge list"] = "tables", ["matrix market"] = "matrices",
    pyg = "pyg.npz"} do
    local path = temporary.path(name)
    ladies.data.export(data, path, {format = format})
    local back = ladies.data.load(path, {directed = "keep"})
    lu.assertEquals({back.unit, back.n_graphs, back.graph_of, back.targets, back.train, back.test},
      {"graph", 3, data.graph_of, data.targets, data.train, data.test})
    lu.assertEquals(back.graph.n_edges, data.graph.n_edges)
  end
  local folder = temporary.path "named"
  ladies.folder.make(folder)
  for name, text in pairs{edges = "source,target\nann,bob\ncy,dee\n",
    features = "ann,1\nbob,2\ncy,3\ndee,4\n", graph_of = "dee,1\nann,0\nbob,0\ncy,1\n",
    labels = "1\n0\n", split = "train\ntest\n"} do
    ladies.file.write(("%s/%s.csv"):format(folder, name), text)
  end
  local named = ladies.data.load(folder, {ids = "strings"})
  lu.assertEquals({named.graph_of:to_table(), named.labels:to_table(), named.node_names[3]},
    {{1, 1, 2, 2}, {2, 1}, "cy"})
  lu.assertEquals({named.train:to_table(), named.test:to_table()}, {{1}, {2}})
  for text, message in pairs{
    ["ann,0\nbob,0\ncy,1\n"] = "graph_of.csv[3] is -1, must be in 0..3",
    ["ann,0\nbob,1\ncy,1\ndee,1\n"] = "leads from one graph to another",
    ["ann,0\nbob,0\ncy,1\ndee,x\n"] = "graph_of.csv: line 4",
  } do
    ladies.file.write(folder .. "/graph_of.csv", text)
    lu.assertErrorMsgContains(message, ladies.data.load, folder, {ids = "strings"})
  end
end

function tests.test_files()
  local data = load()
  for _, name in ipairs{"g.npz", "g.safetensors"} do
    local path = temporary.path(name)
    ladies.data.save(data, path)
    local back = ladies.data.load(path)
    lu.assertEquals({back.unit, back.n_graphs, back.graph_of, back.train:to_table()},
      {"graph", 3, data.graph_of, {1, 3}})
    lu.assertEquals(back.targets, data.targets)
  end
  local path = temporary.path "pyg.npz"
  npz.write(path, {edge_index = npz.int64{{0, 1, 2, 3}, {1, 0, 3, 2}}, x = ladies.ones(5, 1),
    batch = npz.int64{0, 0, 1, 1, 2}, y = npz.int64{0, 1, 1},
    edge_attr = tensor{{1}, {1}, {2}, {2}},
    train_mask = npz.bool{1, 0, 1}, test_mask = npz.bool{0, 1, 0}})
  local back = ladies.data.load(path)
  lu.assertEquals({back.n_graphs, back.labels:to_table(), back.train:to_table(), back.test[1]},
    {3, {1, 2, 2}, {1, 3}, 2})
  lu.assertEquals(back.edges.features:to_table(), {{1}, {1}, {2}, {2}})
end

--- The description of a node is that of its graph.
function tests.test_nodes_and_chance()
  local data = load()
  data:show(6)
  local other = ladies.data.shuffled(data, {what = "labels", seed = 3})
  lu.assertAlmostEquals(other.targets:sum():item(), 1, 1e-6)
  lu.assertStrContains(message_of(ladies.data.shuffled, data, {what = "edges"}),
    "nodes of many graphs are not shuffled")
end

function tests.test_refused()
  for _, case in ipairs{
    {{graph_of = {1, 2, 1, 2, 3}}, "graph_of has length 5, must have 6, one for each node"},
    {{graph_of = {1, 2, 1, 2, 4, 2}}, "graph_of: no node is in graph 3 of 4"},
    {{graph_of = {1, 2, 2, 2, 3, 2}}, "the edge of nodes 3 and 1 leads from one graph to another"},
    {{targets = tensor{1, 2}}, "targets has length 2, must have 3, one row for each graph"},
    {{targets = false, labels = {1, 2, 1, 2, 1, 1}}, "must have 3, one for each graph"},
    {{train = {4}}, "train[1] is 4, must be in 1..3"},
    {{train = {1, 2}}, "test[1] is graph 2 again, after train[2]"},
  } do
    lu.assertStrContains(message_of(load, case[1]), case[2])
  end
end

return tests
