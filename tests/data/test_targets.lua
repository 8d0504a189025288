--- Real targets: from every format, what is said of them, how nodes with them are split, and what
-- is refused.
local lu = require "luaunit"
local ladies = require "ladies"
local message_of = require "tools.message_of"
local notes = require "ladies.data.notes"
local tables = require "ladies.base.tables"
local temporary = require "reference.temporary"

local npz, tensor = ladies.npz, ladies.tensor
local NAN = 0 / 0
local tests = {}

notes.tell = function() end      -- here they are read from data.notes

local folder = temporary.path "targets"
local PATH = {{1, 2}, {2, 3}, {3, 4}}
local NPZ_PATH = {{0, 1, 2}, {1, 2, 3}}

-- Targets as comparable tables: NaN, which equals nothing, becomes "?".
local function cells(data)
  local all = data.targets:to_table()
  for _, row in ipairs(all) do
    for j, x in ipairs(row) do row[j] = x == x and x or "?" end
  end
  return all
end

local function of_arrays(own)
  return ladies.data.from_arrays(tables.merged({edges = PATH, features = ladies.ones(4, 1),
    name = "path"}, own))
end

local function write(name, text)
  ladies.folder.make(folder)
  ladies.file.write(folder .. "/" .. name, text)
  return folder .. "/" .. name
end

-- The data set of a file with a list of edges and these arrays.
local function of_npz(arrays, opts)
  arrays.edge_index, arrays.x = npz.int64(NPZ_PATH), ladies.ones(4, 1)
  local path = temporary.path "one.npz"
  npz.write(path, arrays)
  return ladies.data.load(path, opts)
end

-- ---------------------------------------------------------------- what is read

function tests.test_arrays()
  local data = of_arrays{targets = tensor{0.5, -1, NAN, 3}, target_names = {"price"}}
  lu.assertEquals(cells(data), {{0.5}, {-1}, {"?"}, {3}})
  lu.assertNil(data.labels)
  lu.assertNil(data.classes)
  lu.assertNil(data.multilabel)
  lu.assertEquals(tostring(data),
    "Dataset path: 4 nodes, 6 entries, 1 feature, 1 target")
  data = of_arrays{targets = {{1, 2}, {3, NAN}, {NAN, NAN}, {5, 6}}, labels = {1, 2, 0, 1}}
  lu.assertEquals(cells(data), {{1, 2}, {3, "?"}, {"?", "?"}, {5, 6}})
  lu.assertEquals({data.classes, data.labels:to_table()}, {2, {1, 2, 0, 1}})
end

--- Numbers that are not all whole are targets, whatever holds them; whole ones where that is asked.
function tests.test_npz()
  local data = of_npz{y = tensor{0.5, 1, NAN, 3}}
  lu.assertEquals(cells(data), {{0.5}, {1}, {"?"}, {3}})
  lu.assertStrContains(data.notes[1], "y has numbers that are not whole: they are targets")
  lu.assertEquals(cells(of_npz{y = tensor{{0.5, 1}, {2, NAN}, {3, 4}, {5, 6}}}),
    {{0.5, 1}, {2, "?"}, {3, 4}, {5, 6}})
  data = of_npz({y = npz.int64{10, -1, 30, 40}}, {labels_as = "targets"})
  lu.assertEquals({cells(data), data.labels}, {{{10}, {-1}, {30}, {40}}, nil})
  lu.assertEquals(cells(of_npz({y = tensor{{0, 1}, {1, 1}, {0, 0}, {NAN, 1}}},
    {labels_as = "targets"})), {{0, 1}, {1, 1}, {0, 0}, {"?", 1}})
  data = of_npz{y = npz.int64{0, 1, 0, 1}, targets = tensor{1, 2, 3, 4},
    target_names = npz.bytes{"price"}}
  lu.assertEquals({data.classes, cells(data), data.target_names},
    {2, {{1}, {2}, {3}, {4}}, {"price"}})
  lu.assertEquals(cells(of_npz{targets = tensor{1, 2, 3, 4}}), {{1}, {2}, {3}, {4}})
end

function tests.test_json()
  local path = write("graph.json", [[{"edges": [{"source": 0, "target": 1}], "nodes": [
    {"id": 0, "x": [1], "y": 1.5}, {"id": 1, "x": [2], "y": null}]}]])
  lu.assertEquals(cells(ladies.data.load(path)), {{1.5}, {"?"}})
  path = write("graph.json", [[{"edges": [{"source": 0, "target": 1}], "nodes": [
    {"id": 0, "x": [1], "y": [1, 2.5]}, {"id": 1, "x": [2], "y": [null, 4]}]}]])
  lu.assertEquals(cells(ladies.data.load(path)), {{1, 2.5}, {"?", 4}})
end

local function table_files(targets, more)
  return tables.merged({edges = write("edges.csv", "0,1\n1,2\n2,3\n"),
    features = write("features.csv", "1\n2\n3\n4\n"), targets = write("targets.csv", targets),
    name = "tables"}, more)
end

function tests.test_tables()
  local load = ladies.data.from_files
  lu.assertEquals(cells(load(table_files "0.5\nnan\n-2\nNA\n")), {{0.5}, {"?"}, {-2}, {"?"}})
  local data = load(table_files(
    'node,price,"area, m2"\n3,1.5,2\n0,,-4\n2,7,nan\n'))
  lu.assertEquals(cells(data), {{"?", -4}, {"?", "?"}, {7, "?"}, {1.5, 2}})
  lu.assertEquals(data.target_names, {"price", "area, m2"})
  lu.assertEquals(cells(load(table_files("price,area\n1,2\n3,4\n5,6\n7,8\n"))),
    {{1, 2}, {3, 4}, {5, 6}, {7, 8}})
  -- A table of labels, read as targets; and targets beside labels.
  local labels = write("labels.csv", "1.5\n2\n3\n4\n")
  lu.assertEquals(cells(load{edges = folder .. "/edges.csv", labels = labels,
    labels_as = "targets", make_features = "degree"}), {{1.5}, {2}, {3}, {4}})
  write("labels.csv", "0\n1\n1\n0\n")
  data = load(table_files("1\n2\n3\n4\n", {labels = labels}))
  lu.assertEquals({data.classes, cells(data)}, {2, {{1}, {2}, {3}, {4}}})
end

--- A folder of tables without labels is a data set where it has targets.
function tests.test_folder_and_names()
  write("edges.csv", "source,target\nann,bob\nbob,cy\n")
  write("features.csv", "node,age\nann,1\nbob,2\ncy,3\n")
  write("targets.csv", "node,height\ncy,1.5\nann,2\n")
  os.remove(folder .. "/labels.csv")
  local data = ladies.data.load(folder, {ids = "strings"})
  lu.assertEquals({cells(data), data.target_names}, {{{2}, {"?"}, {1.5}}, {"height"}})
  lu.assertEquals(data:find_node "cy", 3)
end

local function ogb(labels, opts)
  local root = temporary.path "ogb"
  ladies.folder.make(root .. "/raw")
  ladies.file.write(root .. "/raw/num-node-list.csv", "4\n")
  ladies.file.write(root .. "/raw/edge.csv", "0,1\n1,2\n")
  ladies.file.write(root .. "/raw/node-feat.csv", "1\n2\n3\n4\n")
  ladies.file.write(root .. "/raw/node-label.csv", labels)
  return ladies.data.load(root, opts)
end

function tests.test_ogb()
  lu.assertEquals(cells(ogb "0.5\nnan\n2\n3\n"), {{0.5}, {"?"}, {2}, {3}})
  lu.assertEquals(cells(ogb "0.5,1\nnan,2\n2,3\n3,4\n"), {{0.5, 1}, {"?", 2}, {2, 3}, {3, 4}})
  lu.assertEquals(cells(ogb("1\nnan\n2\n3\n", {labels_as = "targets"})), {{1}, {"?"}, {2}, {3}})
  lu.assertEquals(ogb "1\nnan\n2\n0\n".labels:to_table(), {2, 0, 3, 1})
end

-- ---------------------------------------------------------------- what is written

function tests.test_round_trips()
  local data = of_arrays{targets = {{0.1, 2}, {3, NAN}, {NAN, NAN}, {-5, 6}}, train = {1, 2},
    target_names = {"price", 'in "quotes"'}, test = {4}}
  local path = temporary.path "written"
  for _, ending in ipairs{".npz", ".safetensors"} do
    ladies.data.save(data, path .. ending)
    local back = ladies.data.load(path .. ending)
    lu.assertEquals(cells(back), cells(data))
    lu.assertEquals(back.target_names, data.target_names)
    lu.assertEquals(back.train, data.train)
  end
  for _, format in ipairs{"edge list", "pyg", "npz"} do
    local to = path .. "_" .. format:gsub(" ", "_") .. (format == "edge list" and "" or ".npz")
    ladies.data.export(data, to, {format = format})
    local back = ladies.data.load(to)
    lu.assertEquals(cells(back), cells(data), format)
    lu.assertEquals(back.test, data.test)
  end
end

function tests.test_description()
  local data = of_arrays{targets = {{0.5, 2}, {3, NAN}, {NAN, NAN}, {-5, 6}},
    target_names = {"price", "area"}}
  lu.assertStrContains(data:describe(), "  targets    2: price -5 to 3, mean -0.5, unknown: 1; "
    .. "area 2 to 6, mean 4, unknown: 2\n")
  lu.assertNotStrContains(data:describe(), "classes")
  lu.assertStrContains(require("ladies.show").text(data, 200), "data.graph, .features, .targets, ")
  lu.assertEquals(data:facts().targets[2], {known = 2, least = 2, mean = 4, greatest = 6})
  lu.assertNil(data:facts().class_sizes)
end

-- ---------------------------------------------------------------- splits, chance

--- Nodes without a target that is known are in no part.
function tests.test_splits()
  local targets = {}
  for i = 1, 40 do targets[i] = {i % 4 == 0 and NAN or i / 3, i % 8 == 0 and NAN or 1} end
  local data = ladies.data.from_arrays{targets = targets, features = ladies.ones(40, 1),
    edges = {{1, 2}}}
  local train, val, test = ladies.data.split(data)
  lu.assertEquals({#train, #val, #test}, {4, 3, 28})     -- of the 35 that have one of the two
  for _, part in ipairs{train, val, test} do
    for _, node in ipairs(part:to_table()) do lu.assertTrue(node % 8 ~= 0) end
  end
  local a, b, c = ladies.data.random_split(data, {train = 0.4, val = 0.4})
  lu.assertEquals(#a + #b + #c, 35)
  lu.assertStrContains(message_of(data.split, data, "stratified:10/10/80"),
    "stratified:10/10/80 is for one class a node; where nodes have targets, give shares")
  lu.assertStrContains(message_of(ladies.data.class_split, data), "the labels")
end

function tests.test_shuffled()
  local data = of_arrays{targets = tensor{0.5, -1, NAN, 3}}
  local other = ladies.data.shuffled(data, {what = "labels", seed = 4})
  local rows, sum = cells(other), 0
  lu.assertEquals(rows[3], {"?"})
  for _, i in ipairs{1, 2, 4} do sum = sum + rows[i][1] end
  lu.assertEquals(sum, 2.5)
  lu.assertNotEquals(rows, cells(data))
end

--- Features alone are enough where the task is one of edges; a split of nodes is not made then.
function tests.test_without_labels_and_targets()
  write("edges.csv", "0,1\n1,2\n2,3\n")
  write("features.csv", "1\n2\n3\n4\n")
  os.remove(folder .. "/labels.csv")
  os.remove(folder .. "/targets.csv")
  local path = temporary.path "bare.npz"
  for _, data in ipairs{of_arrays{}, ladies.data.load(folder)} do
    lu.assertNil(data.labels)
    lu.assertNil(data.targets)
    lu.assertStrContains(tostring(data), "4 nodes, 6 entries, 1 feature, no labels")
    lu.assertNotStrContains(data:describe(), "classes")
    data:show(1)
    lu.assertStrContains(message_of(data.split, data, "10/10/80"),
      "has no labels and no targets, which a split of nodes divides")
    ladies.data.export(data, path, {format = "pyg"})
  end
end

-- ---------------------------------------------------------------- what is refused

function tests.test_refused()
  for _, case in ipairs{
    {{targets = tensor{1, 2}}, "targets has length 2, must have 4, one row for each node"},
    {{targets = ladies.zeros(4, 0)}, "targets has no columns"},
    {{targets = tensor{1, 2, NAN, math.huge}},
      "targets must be finite numbers, got 1 NaN or infinite, the first at targets[4, 1]"},
    {{targets = tensor{1, 2, 3, 4}, target_names = {"a", "b"}},
      "target_names has length 2, must have 1, one for each column of targets"},
    {{targets = tensor{1, NAN, 3, 4}, train = {1, 2}},
      "train[2] is node 2, which has no target that is known"},
  } do
    lu.assertStrContains(message_of(of_arrays, case[1]), case[2])
  end
  lu.assertStrContains(message_of(of_npz, {y = npz.bytes{"a", "b", "a", "b"}},
    {labels_as = "targets"}), "y must be numbers to be read as targets")
  lu.assertStrContains(message_of(of_npz, {y = tensor{0.5, 1, 2, 3}}, {labels_as = "classes"}),
    "y[0] is 0.5, must be a class from 0 on")
  lu.assertStrContains(message_of(of_npz, {y = tensor{0.5, 1, 2, 3}, targets = tensor{1, 2, 3, 4}}),
    "has both targets and y, which is read as targets")
  local load = ladies.data.from_files
  for text, message in pairs{
    ["1,2\n3,4\n5,6\n7,8\n"] = "targets.csv: has 2 columns and no header",
    ["node,price\n0,1\n0,2\n"] = "targets.csv: the node 0 stands there twice",
    ["node,price\n9,1\n"] = 'targets.csv: line 2, column 1: found "9", expected at most 3',
    ["1\ntwo\n3\n4\n"] = 'targets.csv: line 2, column 1: found "two", expected a number',
    ["1\n2\n3\n"] = "targets.csv has length 3, must have 4, one row for each node",
  } do
    lu.assertStrContains(message_of(load, table_files(text)), message)
  end
  lu.assertStrContains(message_of(load, {edges = folder .. "/edges.csv",
    features = folder .. "/features.csv", labels = write("labels.csv", "0\n1.5\n0\n1\n")}),
    "where they are no classes but real targets, --labels-as targets (in Lua labels_as")
  lu.assertStrContains(message_of(load, {edges = folder .. "/edges.csv"}),
    "give labels or targets, a table with a row for each node")
end

return tests
