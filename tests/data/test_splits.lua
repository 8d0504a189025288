--- Splits, directions, class numbers and bounds: what is settled for every source of data alike.
local lu = require "luaunit"
local ladies = require "ladies"
local json = require "ladies.base.json"
local message_of = require "tools.message_of"
local shell = require "tools.shell"
local tables = require "ladies.base.tables"
local temporary = require "reference.temporary"

local tests = {}

-- A data set of these labels (from 1, 0 = none), a ring, and other arrays.
local function data_of(labels, changes)
  local edges, n = {}, #labels > 0 and #labels or labels.n_rows
  for v = 1, n do
    edges[#edges + 1] = {v, v % n + 1}
    edges[#edges + 1] = {v % n + 1, v}
  end
  local arrays = tables.merged({edges = edges, labels = labels, make_features = "degree"}, changes)
  local data = ladies.data.from_arrays(arrays)
  return data
end

-- n nodes of the classes 1 .. #sizes, mixed.
local function labels_of(sizes)
  local labels = {}
  for class, size in ipairs(sizes) do
    for _ = 1, size do labels[#labels + 1] = class end
  end
  local mixed = {}
  for i, v in ipairs(ladies.sampling.permutation(#labels, ladies.rng(5)):to_table()) do
    mixed[v] = labels[i]
  end
  return mixed
end

-- The sizes of the parts; asserts that no node is twice or unlabelled.
local function sizes_of(data, how, opts)
  local sizes, seen = {}, {}
  for i, part in ipairs{ladies.data.split(data, how, opts)} do
    sizes[i] = #part
    for _, v in ipairs(part:to_table()) do
      lu.assertNil(seen[v])
      seen[v] = true
      lu.assertTrue(data.multilabel or data.labels[v] > 0)
    end
    lu.assertEquals(part, part:sort())
  end
  return sizes
end

-- ---------------------------------------------------------------- shares

--- Sizes are the shares rounded by largest remainder, with the exact sum.
function tests.test_shares()
  local data = data_of(labels_of{53, 30, 20})       -- 103 nodes
  for how, sizes in pairs{
    ["10/10/80"] = {10, 10, 83}, ["50/25/25"] = {51, 26, 26}, ["33/33/34"] = {34, 34, 35},
    ["20/0/80"] = {21, 0, 82}, ["10/20/30"] = {10, 21, 31}, ["12.5/12.5/75"] = {13, 13, 77},
    ["100/0/0"] = {103, 0, 0}, ["0.001/0/0"] = {1, 0, 0},
  } do
    lu.assertEquals(sizes_of(data, how), sizes, how)
  end
end

--- Each class has its shares to within a node, and the totals are as if there were no classes.
function tests.test_stratified()
  local sizes = {400, 211, 97, 33, 10, 4, 2, 1}
  local data = data_of(labels_of(sizes))
  local parts = {ladies.data.split(data, "stratified:30/20/50")}
  for part, share in ipairs{30, 20, 50} do
    local counts = data.labels[parts[part]]:counts(data.classes)
    for class, size in ipairs(sizes) do
      lu.assertTrue(math.abs(counts[class] - share * size / 100) <= 1.5,
        ("class %d, part %d: %d of %d"):format(class, part, counts[class], size))
      lu.assertTrue(part > 1 or counts[class] >= 1, "a class without training")
    end
    lu.assertTrue(math.abs(#parts[part] - share * 758 / 100) <= 1)
  end
  lu.assertEquals(#parts[1] + #parts[2] + #parts[3], 758)
  lu.assertEquals(sizes_of(data_of(labels_of{50, 50}), "stratified:10/10/80"), {10, 10, 80})
  lu.assertEquals(sizes_of(data_of(labels_of{50, 50}), "stratified:10/10/20"), {10, 10, 20})
end

function tests.test_unlabelled_and_few()
  lu.assertEquals(sizes_of(data_of{1, 0, 2, 0, 1, 2}, "10/10/80"), {1, 1, 2})
  lu.assertEquals(sizes_of(data_of{1, 2, 3}, "stratified:10/10/80"), {1, 1, 1})
  lu.assertEquals(sizes_of(data_of{1, 2, 0}, "50/0/50"), {1, 0, 1})
  lu.assertEquals(sizes_of(data_of{1, 1, 2, 2}, "1/1/1"), {1, 1, 1})
  lu.assertEquals(message_of(ladies.data.split, data_of{1, 2, 0}, "10/10/80"),
    "ladies.data.split: 2 labelled nodes are too few for 3 parts")
end

--- A class may have no node for training, which a note says: where another part would have none,
-- and with shares of all nodes, where the small ones may be left out.
function tests.test_classes_without_training()
  local function notes_of(labels, how)
    return data_of(labels, {split = how}).notes[2]
  end
  lu.assertEquals(notes_of({1, 2, 3}, "stratified:10/10/80"),
    "ladies.data.from_arrays: 2 of 3 classes have no node for training")
  local rare = labels_of{90, 1, 1, 1, 1, 1}
  lu.assertStrMatches(notes_of(rare, "10/10/80"),
    "ladies.data.from_arrays: %d of 6 classes have no node for training")
  lu.assertNil(notes_of(rare, "stratified:10/10/80"))
end

--- Where the nodes of each class leave too few for a part, a note says so.
function tests.test_no_validation_left()
  local note = "ladies.data.from_arrays: there are too few labelled nodes for a validation"
  local function last_note(way)
    local notes = data_of(labels_of{4, 3}, {split = way}).notes
    return notes[#notes]
  end
  lu.assertEquals(last_note "2-per-class:1/2", "ladies.data.from_arrays: split 2-per-class:1/2 "
    .. "with seed 1: 4 train, 1 val, 2 test")
  lu.assertEquals(last_note "3-per-class", note)
  lu.assertNotEquals(last_note "3-per-class:0/1", note)
end

function tests.test_seed()
  local data = data_of(labels_of{40, 30, 30})
  local one = {ladies.data.split(data, "stratified:20/20/60", {seed = 1})}
  lu.assertEquals({ladies.data.split(data, "stratified:20/20/60")}, one)
  lu.assertNotEquals({ladies.data.split(data, "stratified:20/20/60", {seed = 2})}, one)
  ladies.threads(1)
  lu.assertEquals({ladies.data.split(data, "stratified:20/20/60")}, one)
  lu.assertIs(data:split("stratified:20/20/60"), data)
  lu.assertEquals({data.train, data.val, data.test}, one)
end

-- ---------------------------------------------------------------- other ways

function tests.test_per_class()
  local data = data_of(labels_of{100, 60, 3})
  lu.assertEquals(sizes_of(data, "20-per-class:30/50"), {43, 30, 50})
  lu.assertEquals(sizes_of(data, "20-per-class"), {43, 40, 80})
  lu.assertEquals(sizes_of(data, "20-per-class:30/30"), {43, 30, 30})
  data:split("20-per-class:30/50")
  lu.assertEquals(data.labels[data.train]:counts(3), {20, 20, 3})
  lu.assertEquals(message_of(ladies.data.split, data, "100-per-class"), "ladies.data.split: "
    .. "100-per-class takes all 163 labelled nodes for training and leaves none for the other "
    .. "parts")
  for _, count in ipairs{"0", "99999999999999999999"} do
    lu.assertStrContains(message_of(ladies.data.split, data, count .. "-per-class"),
      "nodes of each class, and of validation and test, such as 20-per-class:500/1000")
  end
end

function tests.test_several_classes()
  local rows = {}
  for i = 1, 40 do rows[i] = i % 10 == 0 and {0 / 0, 0 / 0} or {i % 2, i % 3 // 2} end
  local data = data_of(ladies.tensor(rows))
  lu.assertEquals(sizes_of(data), {4, 3, 29})          -- 10/10/80
  lu.assertStrContains(message_of(ladies.data.split, data, "stratified:10/10/80"),
    "stratified:10/10/80 is for one class a node; where nodes have several, give shares")
end

function tests.test_files()
  local function file(name, text)
    ladies.file.write(temporary.path(name), text)
    return temporary.path(name)
  end
  local train, val = file("train.txt", "2\n0\n"), file("val.txt", "1\n")
  local data = data_of{1, 2, 1, 0}
  lu.assertEquals({data:split(train .. "," .. val).train:to_table(), data.val:to_table()},
    {{3, 1}, {2}})
  lu.assertNil(data.test)
  lu.assertStrContains(message_of(ladies.data.split, data, train .. "," .. train),
    "[0] is node 2 again")
  lu.assertStrContains(message_of(ladies.data.split, data, train .. "," .. file("x", "3\n")),
    "[0] is node 3, which has no label")
  lu.assertStrContains(message_of(ladies.data.split, data, train .. "," .. file("none", "")),
    "ladies.data.split (--split): val: text: " .. temporary.path "none" .. ": has no lines")
  local named = data_of({1, 2, 1}, {node_names = {"ann", "bob", "cy"}})
  named:split(file("a", "cy\n") .. "," .. file("b", "bob\nann\n"))
  lu.assertEquals({named.train:to_table(), named.val:to_table()}, {{3}, {2, 1}})
  lu.assertStrContains(message_of(ladies.data.split, named, file("a", "zoe\n") .. "," .. val),
    'has no node called "zoe"')
end

function tests.test_wrong_ways()
  local data = data_of{1, 2, 1}
  for how, text in pairs{
    ["10/10"] = "three shares in per cent", ["10/10/90"] = "three shares",
    ["0/50/50"] = "three shares",
    ["stratified:x"] = "is no way to split", ["0-per-class"] = "nodes of each class",
    ["3-per-class:1"] = "nodes of each class", ["3-per-class:1.5/2"] = "nodes of each class",
    ["half"] = "is no way to split; there are 10/10/80", ["a,b,c,d"] = "at most three files",
    ["nowhere,nothing"] = "nowhere",
  } do
    lu.assertStrContains(message_of(ladies.data.split, data, how), text, nil, nil, how)
  end
end

--- A split given to from_arrays replaces the one that is there, and says so.
function tests.test_in_place_of_its_own()
  local data = data_of({1, 2, 1, 2}, {train = {1}, val = {2}, test = {3, 4}})
  lu.assertEquals({#data.train, #data.notes}, {1, 0})
  data = data_of({1, 2, 1, 2}, {train = {1}, val = {2}, test = {3, 4}, split = "50/25/25",
    split_seed = 4})
  lu.assertEquals({#data.train, #data.val, #data.test}, {2, 1, 1})
  lu.assertEquals(data.notes, {"ladies.data.from_arrays: split 50/25/25 with seed 4: 2 train, "
    .. "1 val, 1 test in place of its own (1 train, 1 val, 2 test)"})
end

-- ---------------------------------------------------------------- commands

local function parts_of(run)
  local file <close> = ladies.npz.open(run .. "/predictions.npz")
  return file:numbers "split"
end

--- The split that a run made is that of its configuration, of its resumption, and of evaluation.
function tests.test_split_of_a_run()
  local folder <close> = shell.folder()
  local data = data_of(labels_of{40, 40})
  ladies.data.save(data, folder.path .. "/x.npz")
  local function ladies_(...)
    return shell.succeeded(shell.run_ladies({...}, {folder = folder.path}))
  end
  local small = {"--layers", "1", "--hidden", "4", "--samples", "4", "--batch-size", "8", "--quiet"}
  local function train(...)
    local words = table.pack("train", ...)
    table.move(small, 1, #small, #words + 1, words)
    return ladies_(table.unpack(words))
  end
  train("./x.npz", "--max-batches", "2", "--split-seed", "9", "--out", "a")
  local config = json.decode(ladies.file.read(folder.path .. "/a/config.json"))
  lu.assertEquals({config.split, config.split_seed}, {"stratified:10/10/80", 9})
  local parts = parts_of(folder.path .. "/a")
  data:split(config.split, {seed = 9})
  for i, v in ipairs(data.train:to_table()) do lu.assertEquals(parts[v], 0, i) end
  lu.assertStrContains(ladies_("evaluate", "a"), "a on x, test: 64 nodes")
  ladies_("train", "--resume", "a", "--max-batches", "4", "--quiet")
  lu.assertEquals(parts_of(folder.path .. "/a"), parts)
  -- On another data set evaluate takes that one's own split.
  data.train, data.val, data.test = ladies.index{1}, ladies.index{2}, ladies.index{3, 4, 5}
  ladies.data.save(data, folder.path .. "/y.npz")
  lu.assertStrContains(ladies_("evaluate", "a", "--dataset", "./y.npz"), "a on y, test: 3 nodes")
  -- Commands that train many runs make it too, and say it once.
  local _, err = ladies_("compare", "--methods", "ladies:4,full", "--dataset", "./x.npz", "--runs",
    "2", "--max-batches", "2", "--layers", "1", "--hidden", "4", "--quiet")
  lu.assertEquals(select(2, err:gsub("split stratified:10/10/80 with seed 1", "")), 1)
  _, err = ladies_("sweep", "--vary", "dropout=0,0.3", "--datasets", "./x.npz", "--methods",
    "ladies:4", "--runs", "2", "--max-batches", "2", "--layers", "1", "--hidden", "4", "--quiet")
  lu.assertEquals(select(2, err:gsub("split stratified:10/10/80 with seed 1", "")), 1)
end

-- ---------------------------------------------------------------- directions

local function directed(changes)
  local arrays = {edges = {{1, 2}, {2, 1}, {2, 3}, {3, 3}}, labels = {1, 2, 1},
    make_features = "identity"}
  for key, value in pairs(changes or {}) do arrays[key] = value or nil end
  return ladies.data.from_arrays(arrays)
end

function tests.test_directions()
  local data = directed()
  lu.assertEquals(data.graph.adjacency:to_dense():to_table(), {{0, 1, 0}, {1, 0, 1}, {0, 1, 1}})
  lu.assertEquals(data.notes, {"ladies.data.from_arrays: 1 of 3 edges had no reverse and now go "
    .. 'both ways; --directed keep (in Lua directed = "keep") leaves them as they are'})
  lu.assertFalse(data.directed)
  data = directed{directed = "keep"}
  lu.assertEquals(data.graph.adjacency:to_dense():to_table(), {{0, 1, 0}, {1, 0, 0}, {0, 1, 1}})
  lu.assertEquals({data.notes, data.directed}, {{}, true})
end

--- A missing reverse edge gets the weight of the edge; of two that differ both get the larger
-- weight.
function tests.test_weights()
  local data = directed{edges = false, graph = ladies.matrix{n_rows = 3, n_cols = 3,
    rows = ladies.index{1, 2, 3, 3}, cols = ladies.index{2, 1, 2, 3},
    values = ladies.tensor{2, 5, -1, 7}}}
  lu.assertEquals(data.graph.adjacency:to_dense():to_table(), {{0, 5, 0}, {5, 0, -1}, {0, -1, 7}})
  lu.assertEquals(#data.notes, 2)
  lu.assertStrContains(data.notes[1], "1 of 3 edges had no reverse")
  lu.assertStrContains(data.notes[2], "edges had other weights than their reverse and now have the "
    .. "larger")
  data = directed{edges = false, graph = ladies.matrix{n_rows = 3, n_cols = 3,
    rows = ladies.index{1, 2}, cols = ladies.index{2, 1}, values = ladies.tensor{2, 5}}}
  lu.assertStrContains(data.notes[1], "edges had other weights than their reverse and now have the "
    .. "larger")
end

--- A file of a graph whose edges were kept says so.
function tests.test_kept_directions_are_saved()
  local path = temporary.path "kept.npz"
  ladies.data.save(directed{directed = "keep"}, path)
  local again = ladies.data.load(path)
  lu.assertEquals({again.graph.n_edges, again.directed, again.notes}, {4, true, {}})
  lu.assertEquals(ladies.data.load(path, {directed = "symmetrize"}).graph.n_edges, 5)
  ladies.data.save(directed(), path)
  local file <close> = ladies.npz.open(path)
  lu.assertFalse(file:has "directed")
end

-- ---------------------------------------------------------------- classes and bounds

function tests.test_class_numbers()
  local function load(labels, more)
    local path = temporary.path "classes.npz"
    local arrays = tables.merged({adj_indptr = {0, 1, 2, 2}, adj_indices = {1, 0},
      adj_shape = {3, 3}, attr_matrix = ladies.ones(3, 1), labels = labels}, more)
    ladies.npz.write(path, arrays)
    return ladies.data.load(path, more and more.opts)
  end
  local data = load{1, 3, -1}
  lu.assertEquals({data.labels:to_table(), data.classes, data.class_names}, {{1, 3, 0}, 3,
    {"1", "2", "3"}})
  lu.assertStrContains(data.notes[1], "labels count from 1, as no node has class 0")
  lu.assertStrContains(data.notes[2], "no node has class 2 of 1..3; a model has outputs for them")
  data = load({1, 2, 2}, {class_names = {"a", "b", "c"}})
  lu.assertEquals({data.labels:to_table(), data.classes, data.notes}, {{2, 3, 3}, 3, {}})
  data = load{0, 2, 0}
  lu.assertEquals({data.classes, data.class_names}, {3, nil})
  lu.assertStrContains(data.notes[1], "no node has class 1 of 0..2")
  lu.assertEquals(load{0, 1023, 0}.classes, 1024)
  lu.assertStrContains(message_of(load, {0, 1024, 0}), "labels[1] is 1024: more classes than the "
    .. "1024 that 3 nodes may have; names of classes, or --max-ids (in Lua max_ids), allow more")
  -- In a script class 1 is the first.
  lu.assertEquals(data_of{1, 3, 3}.classes, 3)
end

function tests.test_bounds()
  local path = temporary.path "edges.txt"
  ladies.file.write(path, "# a comment\n0 1\n1 1000000000\n2 3\n")
  local edges = {columns = {"id", "id"}}
  lu.assertEquals(message_of(ladies.text.read_edges, path, edges), ("text: %s: line 3, column 2: "
    .. "id 1000000000 is far beyond the 3 lines; n_ids says how many nodes there are"):format(path))
  ladies.file.write(path, "0 1000300\n1 1\n2 3\n")
  lu.assertEquals(ladies.text.read_edges(path, edges).n_rows, 1000301)
  ladies.file.write(path, "0 1000301\n1 1\n2 3\n")
  lu.assertStrContains(message_of(ladies.text.read_edges, path, edges), "line 1, column 2")
  edges.n_ids = 1000302
  lu.assertEquals(ladies.text.read_edges(path, edges).n_rows, 1000302)
  ladies.file.write(path, "0\n7\n-1\n")
  lu.assertEquals(ladies.text.read(path, {columns = {"label"}, n_labels = 8}):to_table(), {1, 8, 0})
  lu.assertStrContains(message_of(ladies.text.read, path, {columns = {"label"}, n_labels = 7}),
    'line 2, column 1: found "7", expected at most 6, the limit of labels')
end

function tests.test_columns()
  local function load(n_cols, opts)
    local path = temporary.path "wide.npz"
    ladies.npz.write(path, {adj_indptr = {0, 1, 2, 2}, adj_indices = {1, 0}, adj_shape = {3, 3},
      attr_indptr = {0, 1, 2, 3}, attr_indices = {0, 1, 2}, attr_shape = {3, n_cols},
      labels = {0, 1, 0}})
    return ladies.data.load(path, opts)
  end
  lu.assertEquals(load(65536).features.n_cols, 65536)
  lu.assertStrContains(message_of(load, 65537), "attr_shape has 65537 columns, more than the 65536 "
    .. "that 3 values may have; --max-ids (in Lua max_ids) allows more")
  lu.assertEquals(load(65537, {max_ids = 65537}).features.n_cols, 65537)
end

return tests
