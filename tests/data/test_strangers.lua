--- Data of strangers from the command line alone: `ladies train PATH` ends in a trained model or in
-- one clear line, and leaves nothing behind where it fails. Files from Python are in
-- fixtures/strangers.npz.
local lu = require "luaunit"
local ladies = require "ladies"
local core = require "ladies_core"
local json = require "ladies.base.json"
local bundle = require "tools.bundle"
local shell = require "tools.shell"
local tables = require "ladies.base.tables"
local fixture = require "reference.fixture"

local tests = {}
local folder = shell.folder_of_each(tests)

local function unpack_files() bundle.write(fixture.path "strangers", folder.path, "") end

local function write(name, content)
  bundle.write_file(folder.path .. "/" .. name, content)
end

local function train(words)
  return shell.run_ladies(shell.words("train " .. words
    .. " --max-batches 2 --layers 2 --hidden 4 --samples 64 --quiet"), {folder = folder.path})
end

-- Trains; each of `notes`, and nothing else, is said on stderr. Returns the run's configuration.
local function assert_trains(words, notes)
  local out, err = shell.succeeded(train(words))
  lu.assertStrContains(out, "test micro-F1 ", nil, nil, words)
  local count = 0
  for line in err:gmatch "[^\n]+" do
    count = count + 1
    local note = notes and notes[count] or "nothing more"
    lu.assertNotNil(line:find(note, 1, true), ("%s: said %q, not %q"):format(words, line, note))
  end
  lu.assertEquals(count, #(notes or {}), words)
  local run = folder.path .. "/runs/" .. core.files(folder.path .. "/runs")[1]
  local config = json.decode(ladies.file.read(run .. "/config.json"))
  os.execute("rm -r " .. shell.quote(folder.path .. "/runs"))
  return config
end

-- Fails with one line that has this text, after lines about the data, and without a folder.
local function assert_fails(words, text)
  local _, err, status = train(words)
  lu.assertEquals(status, 1, words)
  err = err:gsub("^[^\n]*: split [^\n]*\n", "")
  lu.assertStrMatches(err, "ladies train: [^\n]*\n", nil, nil, words .. ": " .. err)
  lu.assertStrContains(err, text)
  lu.assertNil(core.exists(folder.path .. "/runs") or nil, words .. " left a folder")
end

local SPLIT = ": split stratified:10/10/80 with seed 1: 3 train, 3 val, 24 test, as it has none; "
  .. "--split"

-- ---------------------------------------------------------------- npz

function tests.test_npz()
  unpack_files()
  for name, notes in pairs{
    pickled = {SPLIT}, pickled_split = {}, pickled_masks = {}, listed_masks = {},
    pickled_directed = {"40 of 40 edges had no reverse and now go both ways; --directed", SPLIT},
    pickled_from_one = {"node_label count from 1, as no node has class 0", SPLIT},
    listed = {SPLIT}, listed_directed = {"40 of 40 edges had no reverse", SPLIT},
    listed_splits = {"train_mask has 2 splits, of which number 0", "val_mask", "test_mask"},
    listed_rows = {"train_masks has 2 splits, of which number 0", "val_masks", "test_masks"},
    listed_no_edges = {"there are no edges: every node hears itself alone", SPLIT},
    listed_weights = {SPLIT}, column_labels = {SPLIT}, byte_labels = {SPLIT}, fortran = {SPLIT},
    text_labels = {SPLIT}, object_labels = {SPLIT},
    float_labels = {": split stratified:10/10/80 with seed 1: 3 train, 2 val, 17 test"},
    one_hot_labels = {"y has exactly one 1 in each row and is taken as several classes a node",
      ": split 10/10/80 with seed 1: 3 train, 3 val, 24 test"},
  } do
    assert_trains(name .. ".npz", notes)
  end
end

function tests.test_npz_refused()
  unpack_files()
  for name, text in pairs{
    pickled_no_features = 'there are no features; --make-features (in Lua make_features) '
      .. '"identity", "degree" or "random" makes some',
    listed_no_features = "there are no features",
    listed_negative = 'row 1 has the sum -3; "sym" needs sums of zero or more',
    listed_no_labels = "has edge_index but no labels: y, the class or the targets of each node, is "
      .. "missing",
    listed_beyond = "edge_index[1] is 1000000000, must be in 0..29",
    huge_label = "y[7] is 100000000: more classes than the 1024 that 30 nodes may have",
    nan_features = "x must be finite numbers, got 45 NaN or infinite, the first at x[0, 1]",
    big_endian = "big-endian",
    unknown = "holds the arrays a, b: no graph in a layout that is known",
  } do
    assert_fails(name .. ".npz", text)
  end
  assert_fails("fraction_labels.npz --labels-as classes", "y[0] is 0.5, must be a class from 0 on")
end

--- A note names the options that are given and not used.
function tests.test_what_is_not_used()
  unpack_files()
  local _, err = shell.succeeded(shell.run_ladies({"train", "listed_masks.npz", "--method", "full",
    "--layers", "1", "--max-batches", "2", "--batch-size", "3"}, {folder = folder.path}))
  lu.assertStrContains(err, "batch_size 3 is not used: the method full has all 6 training nodes in "
    .. "a mini-batch")
  _, err = shell.succeeded(shell.run_ladies({"train", "listed_masks.npz", "--method", "rns",
    "--layers", "1", "--max-batches", "2", "--batch-size", "3"}, {folder = folder.path}))
  lu.assertStrContains(err, "batch_size 3 is not used: the method rns draws its own seeds")
  os.execute("rm -r " .. shell.quote(folder.path .. "/runs"))
end

function tests.test_options()
  unpack_files()
  local config = assert_trains("pickled_no_features.npz --make-features degree", {SPLIT})
  lu.assertEquals({config.make_features, config.split, config.split_seed},
    {"degree", "stratified:10/10/80", 1})
  config = assert_trains("pickled_directed.npz --directed keep", {"the matrix was turned", SPLIT})
  lu.assertEquals(config.directed, "keep")
  assert_trains("listed_splits.npz --split 1", {})
  assert_fails("listed_splits.npz --split 2", "train_mask has 2 splits, got the number 2")
  assert_trains("listed_masks.npz --split 40/30/30 --split-seed 7",
    {": split 40/30/30 with seed 7: 12 train, 9 val, 9 test in place of its own (6 train, 6 val, "
      .. "6 test)"})
  assert_trains("listed.npz --split 50/0/50", {": split 50/0/50 with seed 1: 15 train, 0 val, 15 "
    .. "test", "listed: there are no nodes for validation: training goes on to its last batch"})
  assert_fails("listed_masks.npz --split 7", 'no split "7"; the file has one of its own')
  assert_fails("listed.npz --split 40/30/90", "together at most 100")
  assert_fails("listed.npz --split halves", 'no split "halves"')
  assert_fails("one_hot_labels.npz --split 2-per-class", "2-per-class is for one class a node")
  write("a.txt", "0\n10\n20\n")
  write("b.txt", "1\n11\n21\n")
  write("c.txt", "2\n12\n")
  assert_trains("listed.npz --split a.txt,b.txt,c.txt",
    {": split a.txt,b.txt,c.txt: 3 train, 3 val, 2 test"})
  assert_fails("listed.npz --split a.txt,a.txt,c.txt", "a.txt[0] is node 0 again, after a.txt[0]")
  write("c.txt", "2\n30\n")
  assert_fails("listed.npz --split a.txt,b.txt,c.txt",
    'c.txt: line 2, column 1: found "30", expected at most 29')
end

-- ---------------------------------------------------------------- text

local function edges(separator)
  local lines = {}
  for i = 0, 29 do lines[#lines + 1] = ("%d%s%d"):format(i, separator, (i + 1) % 30) end
  return table.concat(lines, "\n") .. "\n"
end

local function rows(f)
  local lines = {}
  for i = 0, 29 do lines[#lines + 1] = f(i) end
  return table.concat(lines, "\n") .. "\n"
end

local LABELS = rows(function(i) return ("%d"):format(i // 10) end)
local DENSE = rows(function(i) return ("%d,0.5,%d,1.5"):format(i // 10, i % 2) end)
local ONE_WAY = "30 of 30 edges had no reverse and now go both ways"

local function triplets(head)
  return head .. rows(function(i) return ("%d,%d,1\n%d,9,0.5"):format(i, i // 10, i) end)
end

function tests.test_tables()
  write("t/edges.csv", edges ",")
  write("t/labels.csv", LABELS)
  assert_fails("t", "no data set \"t\"; what is called so here has the path ./t")
  assert_fails("t/", "there are no features")
  assert_trains("t/ --make-features random", {ONE_WAY, SPLIT})
  write("t/features.csv", DENSE)
  assert_trains("t/edges.csv", {ONE_WAY, SPLIT})
  write("t/features.csv", triplets "node,feature,value\n")
  assert_trains("./t", {ONE_WAY, SPLIT})
  write("t/features.csv", triplets "")
  assert_fails("./t", "are these three features a node, or lines of node, feature and value?")
  write("t/features.csv", triplets "node,feature,value\n" .. "3,1000000000,1\n")
  assert_fails("./t", 'features.csv: line 62, column 2: found "1000000000", expected at most '
    .. "65535, the limit of labels; --max-ids")
  write("t/features.csv", DENSE)
  write("t/labels.csv", (LABELS:gsub("2\n$", "100000000\n")))
  assert_fails("./t", 'labels.csv: line 30, column 1: found "100000000", expected at most 1023')
  write("t/labels.csv", LABELS)
  write("t/edges.csv", edges "," .. "0,1000000000\n")
  assert_fails("./t", 'edges.csv: line 31, column 2: found "1000000000", expected at most 29')
end

--- Names and ids from 1 are reported with the option that reads them, which every command has.
function tests.test_names_in_a_folder()
  local function reads(what, option, value)
    return ("; where %s, --%s %s (in Lua %s = %q) reads them"):format(what, option,
      value:find " " and ('"%s"'):format(value) or value, option, value)
  end
  write("t/edges.csv", (edges ",":gsub("%d+", "n%0")))
  write("t/labels.csv", LABELS)
  write("t/features.csv", DENSE)
  assert_fails("./t", 'edges.csv: line 2, column 1: found "n1", expected a whole number from 0 on'
    .. reads("nodes have names", "ids", "strings"))
  write("t/edges.csv", "30,1\n" .. edges ",")
  assert_fails("./t", 'edges.csv: line 1, column 1: found "30", expected at most 29'
    .. reads("ids count from 1", "ids", "numbers from 1"))
  write("t/edges.csv", edges ",")
  write("t/labels.csv", (LABELS:gsub("%d", {["0"] = "red", ["1"] = "blue", ["2"] = "green"})))
  assert_fails("./t", 'labels.csv: line 2, column 1: found "red", expected a whole number from 0 '
    .. "on, or -1 or nothing: none" .. reads("classes have names", "classes", "strings"))
  assert_trains("./t --classes strings", {ONE_WAY, SPLIT})
end

--- Tables of names and nothing else go through the commands as they go through the library.
function tests.test_commands_take_names()
  core.mkdir(folder.path .. "/n")
  local edge_lines, label_lines = {"source,target"}, {"node,team"}
  for i = 1, 40 do
    edge_lines[#edge_lines + 1] = ("\"O'Neil %d\",\"O'Neil %d\""):format(i, i % 40 + 1)
    if i > 2 then
      local class = ({"red", "blue", ""})[i % 3 + 1]
      label_lines[#label_lines + 1] = ("\"O'Neil %d\",%s"):format(i, class)
    end
  end
  ladies.file.write(folder.path .. "/n/edges.csv", table.concat(edge_lines, "\n") .. "\n")
  ladies.file.write(folder.path .. "/n/labels.csv", table.concat(label_lines, "\n") .. "\n")
  local names = {"--ids", "strings", "--classes", "strings", "--make-features", "degree"}
  local function run(...)
    return (shell.succeeded(shell.run_ladies(tables.append({...}, names), {folder = folder.path})))
  end
  lu.assertStrContains(run("info", "./n"), "classes    2: red, blue; unlabelled: 14")
  run("train", "./n", "--max-batches", "2", "--hidden", "4", "--out", "run")
  run("lab", "ladies", "--dataset", "./n", "--samples", "8", "--seconds", "1")
  run("compare", "--dataset", "./n", "--methods", "ladies:8,full", "--runs", "1", "--max-batches",
    "2", "--hidden", "4")
  run("import", "./n", "--out", "n.safetensors")
  -- A run knows how its data were read.
  names = {}
  lu.assertStrContains(run("evaluate", "run"), "micro-F1")
  lu.assertStrContains(run("info", "./n.safetensors"), "classes    2: red, blue; unlabelled: 14")
  local _, err, status = shell.run_ladies({"info", "./n.safetensors", "--ids", "strings"},
    {folder = folder.path})
  lu.assertEquals({status, err}, {1, "ladies info: ladies.data.load: ids is of tables, and "
    .. "./n.safetensors is none\n"})
end

function tests.test_words_of_a_split()
  write("t/edges.csv", edges ",")
  write("t/labels.csv", LABELS)
  write("t/features.csv", DENSE)
  write("t/split.csv", rows(function(i) return ({[0] = "Train", "valid", "TEST"})[i % 3] end))
  assert_fails("./t", 'split.csv: no node is in "train", "val" or "test"; found Train, valid, TEST')
  write("t/split.csv", rows(function(i) return ({[0] = "train", "valid", "none"})[i % 3] end))
  assert_trains("./t --max-batches 1", {'split.csv: nodes of other words than "train", "val" and '
    .. '"test" are in no part: valid', ONE_WAY, "t: there are no nodes for validation"})
end

--- Windows' line ends, a byte order mark, tabs and quotes are read.
function tests.test_tables_of_other_programs()
  write("t/edges.csv", ("\u{feff}source,target\n" .. edges ","):gsub("\n", "\r\n"))
  write("t/labels.csv", (("label\n" .. LABELS):gsub("\n", "\r\n")))
  write("t/features.csv", (("a,b,c,d\n" .. DENSE):gsub(",", "\t"):gsub("\n", "\r\n")))
  assert_trains("./t", {ONE_WAY, SPLIT})
  write("t/edges.csv", edges " \t ")
  assert_trains("./t", {ONE_WAY, SPLIT})
end

function tests.test_a_file_alone()
  write("edges.txt", edges " ")
  write("graph.edges", edges " ")
  write("graph.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n2 1\n")
  for _, name in ipairs{"edges.txt", "graph.edges", "graph.mtx", "./graph.mtx"} do
    assert_fails(name, "is one table, and nothing says the class of each node: make a folder")
  end
  write("only/edges.csv", edges ",")
  assert_fails("./only", "has edges but no labels.csv, with a class for each node")
  assert_fails("nowhere.csv", 'no data set "nowhere.csv"')
end

function tests.test_matrix_market()
  write("m/edges.mtx", "%%MatrixMarket matrix coordinate pattern general\n30 30 30\n"
    .. rows(function(i) return ("%d %d"):format(i + 1, (i + 1) % 30 + 1) end))
  write("m/labels.csv", LABELS)
  write("m/features.csv", DENSE)
  assert_trains("m/edges.mtx", {ONE_WAY, SPLIT})
  assert_trains("./m", {ONE_WAY, SPLIT})
end

-- ---------------------------------------------------------------- other formats without a split

function tests.test_other_formats()
  write("p/five.content",
    rows(function(i) return ("n%d\t1\t%d\tc%d"):format(i, i % 2, i // 10) end))
  write("p/five.cites", rows(function(i) return ("n%d\tn%d"):format(i, (i + 1) % 30) end))
  assert_trains("./p", {ONE_WAY, SPLIT})
  write("o/raw/num-node-list.csv", "30\n")
  write("o/raw/edge.csv", edges ",")
  write("o/raw/node-feat.csv", DENSE)
  write("o/raw/node-label.csv", LABELS)
  write("o/mapping/labelidx2kind.csv", 'label idx,kind\n2,cat\n0,ape\n1,"bee, black"\n')
  assert_trains("./o", {ONE_WAY, SPLIT})
  lu.assertEquals(ladies.data.load(folder.path .. "/o").class_names, {"ape", "bee, black", "cat"})
  write("r/r_graph.npz", "")
  core.npz.write(folder.path .. "/r/r_graph.npz", {format = {"csr"}, shape = {3, 3},
    indptr = ladies.index{1, 3, 4, 5}, indices = ladies.index{2, 3, 1, 1}})
  core.npz.write(folder.path .. "/r/r_data.npz", {feature = ladies.ones(3, 2), label = {0, 1, 1},
    node_types = {0, 0, 0}})
  assert_trains("./r", {": split stratified:10/10/80 with seed 1: 1 train, 1 val, 1 test",
    "1 of 2 classes have no node for training"})
end

return tests
