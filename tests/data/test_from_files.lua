--- A user's own files: five nodes in every form, and the one line for each thing that is wrong.
local lu = require "luaunit"
local ladies = require "ladies"
local file_tools = require "tools.files"
local malformed = require "tools.malformed"
local shell = require "tools.shell"

local from_files, export = ladies.data.from_files, ladies.data.export
local tests = {}
local folder = shell.folder_of_each(tests)

local function write(name, content)
  return file_tools.write(folder.path .. "/" .. name, content)
end

-- The path 0-1-2-3 and node 4 alone, as options for from_files.
local function files(changes)
  local opts = {
    edges = write("edges.csv", "source,target\n0,1\n1,2\n2,3\n"),
    features = write("features.csv", "x,y\n1,0\n0.5,1\n0,1\n1,1\n0,0\n"),
    labels = write("labels.csv", "0\n1\n1\n0\n-1\n"),
    split = write("split.csv", "train\ntrain\nval\ntest\nnone\n"),
  }
  for key, value in pairs(changes or {}) do opts[key] = value or nil end
  return opts
end

local function assert_five(data)
  lu.assertEquals(data.graph.adjacency:to_dense():to_table(), {{0, 1, 0, 0, 0}, {1, 0, 1, 0, 0},
    {0, 1, 0, 1, 0}, {0, 0, 1, 0, 0}, {0, 0, 0, 0, 0}})
  local features = data.features
  if getmetatable(features).__name == "ladies.Matrix" then features = features:to_dense() end
  lu.assertEquals(features:to_table(), {{1, 0}, {0.5, 1}, {0, 1}, {1, 1}, {0, 0}})
  lu.assertEquals(data.labels:to_table(), {1, 2, 2, 1, 0})
  lu.assertEquals({data.train:to_table(), data.val:to_table(), data.test:to_table()},
    {{1, 2}, {3}, {4}})
end

-- The message of the error, without the place that it blames.
local function message_of(changes)
  local opts = files(changes)
  local ok, message = pcall(function()
    local data = from_files(opts)
    return data
  end)
  lu.assertFalse(ok, "an error was expected")
  lu.assertStrMatches(message, "[^:]*test_from_files.lua:%d+: .*", nil, nil, message)
  return (message:gsub("^[^:]*:%d+: ", ""):gsub(folder.path:gsub("%p", "%%%0") .. "/", ""))
end

-- ---------------------------------------------------------------- what is read

function tests.test_numbers_from_0() assert_five(from_files(files())) end

function tests.test_numbers_from_1()
  assert_five(from_files(files{ids = "numbers from 1",
    edges = write("e.txt", "1 2\n2 3\n3 4\n"), labels = write("l.txt", "1\n2\n2\n1\n0\n"),
    split = false, train = write("train.txt", "1\n2\n"), val = write("val.txt", "3\n"),
    test = write("test.txt", "4\n")}))
end

function tests.test_strings()
  local data = from_files{ids = "strings", classes = "strings",
    edges = write("e.tsv", "ann\tbob\nbob\tcy\ncy\tdee\n"),
    features = write("f.tsv",
      "node\tx\ty\nann\t1\t0\nbob\t0.5\t1\ncy\t0\t1\ndee\t1\t1\neve\t0\t0\n"),
    labels = write("l.tsv", "dee\tred\nann\tred\ncy\tblue\nbob\tblue\n"),
    split = write("s.tsv", "bob\ttrain\nann\ttrain\ncy\tval\ndee\ttest\n")}
  assert_five(data)
  lu.assertEquals(data.class_names, {"red", "blue"})
  lu.assertEquals({data:find_node "cy", data.node_names[5]}, {3, "eve"})
end

--- A field without a class is as good as a row that is left out, also where classes have names.
function tests.test_names_of_classes_and_none()
  local function read(last)
    return from_files(files{ids = "strings", classes = "strings",
      features = write("f.csv", "a,1,0\nb,0.5,1\nc,0,1\nd,1,1\ne,0,0\n"),
      edges = write("e.csv", "a,b\nb,c\nc,d\n"),
      labels = write("l.csv", "a,red\nb,blue\nc,blue\nd,red\n" .. last),
      split = write("s.csv", "a,train\nb,train\nc,val\nd,test\ne,\n")})
  end
  for _, last in ipairs{"", "e,\n", "e,-1\n", 'e,""\n'} do
    local data = read(last)
    assert_five(data)
    lu.assertEquals(data.class_names, {"red", "blue"})
    lu.assertStrContains(data:describe(), "unlabelled: 1")
    lu.assertEquals(data.notes[2], nil)
  end
end

function tests.test_labels_and_split_by_node()
  assert_five(from_files(files{labels = write("l.csv", "3,0\n0,0\n1,1\n2,1\n"),
    split = write("s.csv", "3,test\n2,val\n0,train\n1,train\n")}))
end

function tests.test_packed_and_binary()
  ladies.npy.write(folder.path .. "/f.npy", {{1, 0}, {0.5, 1}, {0, 1}, {1, 1}, {0, 0}})
  assert_five(from_files(files{edges = write("e.csv.gz", malformed.gzip "0,1\n1,2\n2,3\n"),
    features = folder.path .. "/f.npy"}))
end

function tests.test_matrix_market()
  assert_five(from_files(files{edges = write("e.mtx",
    "%%MatrixMarket matrix coordinate pattern symmetric\n5 5 3\n2 1\n3 2\n4 3\n")}))
end

function tests.test_directed_and_weighted()
  local data = from_files(files{directed = "keep", weighted = true,
    edges = write("e.csv", "0,1,0.5\n1,2,2\n0,1,1\n")})
  lu.assertEquals(data.graph.adjacency:to_dense()[2]:to_table(), {1.5, 0, 0, 0, 0})
  lu.assertEquals(data.graph.adjacency:to_dense()[3]:to_table(), {0, 2, 0, 0, 0})
  lu.assertEquals(data.graph.n_edges, 2)
end

--- An edge that is listed twice is one edge, and a line says so; not where each is kept or where
-- merging was asked for.
function tests.test_repeated_edges()
  local function notes_of(parallel, weighted)
    local text = "source,target,weight\n0,1,1\n1,2,1\n2,3,1\n1,2,1\n"
    local data = from_files(files{parallel = parallel,
      edges = write("repeated.csv", weighted and text or text:gsub(",[w1][^,]*\n", "\n"))})
    return table.concat(data.notes, "\n"), data.graph.n_edges
  end
  local text, n_edges = notes_of(nil, true)
  lu.assertStrContains(text, "1 edge repeats another and is one with it; --parallel keep")
  lu.assertEquals(n_edges, 6)
  lu.assertEquals({select(2, notes_of("keep", true)), select(2, notes_of "keep")}, {8, 6})
  text = notes_of(nil)                       -- nothing keeps edges apart that are all the same
  lu.assertStrMatches(text, ".*1 edge repeats another and is one with it\n.*")
  lu.assertNotStrContains(notes_of "keep", "repeat")
end

--- Without features, the labels say which nodes there are.
function tests.test_without_features()
  local data = from_files(files{features = false, make_features = "identity"})
  lu.assertEquals({data.graph.n_nodes, data.features.nnz, data.merged}, {5, 5, 0})
  data = from_files{ids = "strings", make_features = "degree", edges = write("e.txt", "a b\nb c\n"),
    labels = write("l.txt", "a 0\nb 1\nc 1\nd -1\n")}
  lu.assertEquals(data.features:to_dense():to_table(), {{0, 1, 0}, {0, 0, 1}, {0, 1, 0}, {1, 0, 0}})
  lu.assertEquals(data.node_names:lines(), "a\nb\nc\nd\n")
  lu.assertEquals(message_of{features = false}, "ladies.data.from_files: there are no features; "
    .. '--make-features (in Lua make_features) "identity", "degree" or "random" makes some')
  lu.assertEquals(message_of{features = false, make_features = "degree",
    edges = write("e.csv", "0,6\n")},
    'text: e.csv: line 1, column 2: found "6", expected at most 4')
end

--- Nodes without a class are left out of the labels, or have nothing or -1 there, whether nodes
-- have numbers or names; without features, those that the edges alone name are nodes too, and are
-- told.
function tests.test_nodes_without_a_class()
  local function read(labels, given)
    local opts = {make_features = "degree", ids = "strings", classes = "strings",
      edges = write("e.csv", "ann,bob\nbob,cy\ncy,eve\nzoe,ann\n"), labels = write("l.csv", labels)}
    for key, value in pairs(given or {}) do opts[key] = value or nil end
    local data = from_files(opts)
    local told = {}
    for _, line in ipairs(data.notes) do told[#told + 1] = line:match "l%.csv: .*" end
    return data.labels:to_table(), data.node_names and data.node_names:lines(), told
  end
  local left_out = 'l.csv: %d of 5 nodes are not in it, and have no class: %s'
  local labels, names, told, _ = read "ann,red\nbob,blue\ncy,red\neve,\nzoe,-1\n"
  lu.assertEquals({labels, names, told}, {{1, 2, 1, 0, 0}, "ann\nbob\ncy\neve\nzoe\n", {}})
  labels, names, told = read "node,team\nann,red\nbob,blue\ncy,red\n"
  lu.assertEquals({labels, names, told},
    {{1, 2, 1, 0, 0}, "ann\nbob\ncy\neve\nzoe\n", {left_out:format(2, "eve, zoe")}})
  labels, names, told = read("ann,0\nbob,1\ncy,\n", {classes = "numbers"})
  lu.assertEquals({labels, names, told},
    {{1, 2, 0, 0, 0}, "ann\nbob\ncy\neve\nzoe\n", {left_out:format(2, "eve, zoe")}})
  local numbers = {ids = "numbers from 0", classes = "numbers",
    edges = write("n.csv", "0,1\n1,2\n2,3\n4,0\n")}
  labels, _, told = read("0,0\n1,1\n2,\n3,-1\n4,1\n", numbers)
  lu.assertEquals({labels, told}, {{1, 2, 0, 0, 2}, {}})
  labels, _, told = read("0,0\n1,1\n2,\n", numbers)
  lu.assertEquals({labels, told}, {{1, 2, 0, 0, 0}, {left_out:format(2, "3, 4")}})
  -- With features, whose rows are the nodes, none is left to the edges.
  numbers.features, numbers.make_features = write("f.csv", "1\n2\n3\n4\n5\n"), false
  labels, _, told = read("0,0\n1,1\n2,\n", numbers)
  lu.assertEquals({labels, told}, {{1, 2, 0, 0, 0}, {}})
  lu.assertErrorMsgContains('the node 0 stands there twice', read, "0,\n0,1\n", numbers)
end

--- Likely mistakes are found where nothing says which nodes there are: ids from 1, a typing error,
-- a header of other words.
function tests.test_nodes_by_their_numbers()
  local function given(edges, labels)
    return {features = false, make_features = "degree", split = false,
      edges = write("e.csv", edges), labels = write("l.csv", labels)}
  end
  lu.assertEquals(message_of(given("1,2\n2,3\n", "1,0\n2,1\n3,0\n")),
    "ladies.data.from_files: neither l.csv nor e.csv names the node 0; where ids count from 1, "
    .. '--ids "numbers from 1" (in Lua ids = "numbers from 1") reads them')
  lu.assertEquals(message_of(given("0,1\n1,2000000\n", "0,0\n1,1\n2,0\n")),
    "ladies.data.from_files: the nodes go to 2000000, more than the 65536 that l.csv and e.csv may "
    .. "name; --max-ids (in Lua max_ids) allows more")
  local data = from_files{ids = "strings", classes = "strings", make_features = "degree",
    edges = write("e.csv", "ann,bob\n"), labels = write("l.csv", "member,team\nann,red\nbob,red\n")}
  lu.assertStrContains(table.concat(data.notes, "\n"), 'l.csv: the first line, "member,team", is '
    .. 'read as a node, which no edge names; one that begins with "node" is a header')
  for content, is_told in pairs{["user,item\nann,tea\nbob,tea\n"] = true,
    ["user,item\nann,tea\nann,user\n"] = false, ["ann,tea\nbob,tea\n"] = false,
    ["ann,tea\n"] = false, ["7,8\nann,tea\n"] = false} do
    data = from_files{ids = "strings", make_features = "degree", directed = "keep",
      edges = write("e.csv", content)}
    local note = 'e.csv: the first line, "user,item", is read as an edge, and no other edge has '
      .. 'its nodes; one with "source" and "target" is a header (in Lua header = {edges = true} '
      .. "says so)"
    lu.assertEquals(#data.notes, is_told and 1 or 0, content)
    lu.assertStrContains(data.notes[1] or note, note)
  end
end

function tests.test_names_in_files()
  local data = from_files(files{node_names = write("n.txt", "ann\r\nbob\ncy\ndee\neve"),
    class_names = write("c.txt", "red\nblue\ngreen\n")})
  lu.assertEquals({data:find_node "cy", data.node_names[5]}, {3, "eve"})
  lu.assertEquals({data.classes, data.class_names[3]}, {3, "green"})
  lu.assertStrContains(message_of{node_names = write("n.txt", "ann\n")},
    "has length 1, must have 5, one for each node")
  lu.assertEquals(message_of{classes = "strings", class_names = "c.txt"},
    'ladies.data.from_files: with classes = "strings" the tables have the names, not class_names')
end

-- ---------------------------------------------------------------- headers

--- Rows below a header that begins with the node come in any order.
function tests.test_rows_by_node()
  local rows = "3,1,1\n0,1,0\n4,0,0\n1,0.5,1\n2,0,1\n"
  for _, word in ipairs{"node", "Node_ID", "id", "name"} do
    assert_five(from_files(files{features = write("f.csv", word .. ",x,y\n" .. rows),
      labels = write("l.csv", "label,node\n0,3\n0,0\n1,1\n1,2\n")}))
  end
  assert_five(from_files(files{ids = "numbers from 1", split = false,
    edges = write("e.csv", "1,2\n2,3\n3,4\n"), labels = write("l.csv", "1\n2\n2\n1\n0\n"),
    features = write("f.csv", "node,x,y\n5,0,0\n4,1,1\n2,0.5,1\n3,0,1\n1,1,0\n"),
    train = write("a.txt", "1\n2\n"), val = write("b.txt", "3\n"), test = write("c.txt", "4\n")}))
  lu.assertEquals(message_of{features = write("f.csv", "node,x\n0,1\n7,1\n")},
    "ladies.data.from_files: f.csv: has a row for the node 7, but 2 rows; each node must have one")
  lu.assertEquals(message_of{features = write("f.csv", "node,x\n0,1\n0,1\n")},
    "ladies.data.from_files: f.csv: the node 0 stands there twice")
  local data = from_files(files{classes = "columns", split = false,
    labels = write("l.csv", "node,red,blue\n2,0,1\n0,1,1\n1,0,0\n4,1,0\n")})
  lu.assertEquals(data.class_names, {"red", "blue"})
  lu.assertEquals(data.labels[ladies.index{1, 3, 5}]:to_table(), {{1, 1}, {0, 1}, {1, 0}})
end

--- A header of features names their columns, but not that of the nodes; numbers are no names.
function tests.test_names_of_features()
  local function names(content, changes)
    local opts = files{features = write("f.csv", content), split = false, labels = false,
      edges = write("e.csv", "a,b\n0,1\n"), quiet = true}
    for key, value in pairs(changes or {}) do opts[key] = value end
    return from_files(opts).feature_names
  end
  lu.assertEquals(names "age,income\n1,2\n3,4\n", {"age", "income"})
  lu.assertEquals(names "id,age,income\n1,1,2\n0,3,4\n", {"age", "income"})
  lu.assertEquals(names("node,age\na,1\nb,2\n", {ids = "strings",
    edges = write("names.csv", "source,target\na,b\n")}), {"age"})
  lu.assertNil(names "1,2\n3,4\n")
  lu.assertNil(names("0,1\n1,2\n3,4\n", {header = {features = true}}))
  lu.assertNil(names("node,feature,value\n0,0,1\n1,1,2\n", {labels = write("l.csv", "0\n1\n")}))
  lu.assertEquals(names("age,income\n1,2\n3,4\n", {feature_names = write("n.txt", "a\nb\n")}),
    {"a", "b"})
end

--- The columns of edges that are read are found by their names, and the notes name the others.
function tests.test_columns_of_edges()
  local function read(content, changes)
    local opts = files{directed = "keep", edges = write("e.csv", content)}
    for key, value in pairs(changes or {}) do opts[key] = value end
    local data = from_files(opts)
    for i, note in ipairs(data.notes) do data.notes[i] = note:match "e%.csv: (.*)" end
    return data.graph.adjacency:to_dense():to_table()[2], data.notes
  end
  local one, half = {1, 0, 0, 0, 0}, {0.5, 0, 0, 0, 0}
  local guessed = {"the third column is taken as weights; a header tells what columns are"}
  for content, expected in pairs{
    ["source,target,year\n0,1,2010\n"] = {one, {"not used: year"}},
    ["edge_id,source,target\n7,0,1\n"] = {one, {"not used: edge_id"}},
    ["weight,Source,target\n0.5,0,1\n"] = {half, {}},
    ["to,from,kind\n1,0,cites\n"] = {one, {"not used: kind"}},
    ["src,dst,w,year,x\n0,1,0.5,9,9\n"] = {half, {"not used: year, x"}},
    ["a,b,value\n0,1,0.5\n"] = {half, {}}, ["a,b\n0,1\n"] = {one, {}},
    ["0,1,0.5\n"] = {half, guessed},
  } do
    local row, notes = read(content)
    lu.assertEquals({row, notes}, expected, content)
  end
  lu.assertEquals({read("0,1,0.5\n", {weighted = false})}, {one, {}})
  lu.assertEquals({read("0,1,0.5\n", {weighted = true})}, {half, {}})
  lu.assertEquals({read("u,v,year\n0,1,0.5\n", {weighted = true})}, {half, {}})
  lu.assertEquals({read("u,v,w\n0,1,0.5\n", {weighted = false})}, {one, {"not used: w"}})
  local before = "ladies.data.from_files: e.csv: the header "
  lu.assertEquals(message_of{edges = write("e.csv", "weight,a,b\n0.5,0,1\n")},
    before .. "weight,a,b does not say which columns are source and target")
  lu.assertEquals(message_of{weighted = true, edges = write("e.csv", "u,v,a,b\n0,1,2,3\n")},
    before .. "u,v,a,b does not say which column is the weight")
  local data = from_files{ids = "strings", make_features = "identity", directed = "keep",
    edges = write("e.tsv", "year\tsource\ttarget\n2010\ta\tb\n"),
    labels = write("l.tsv", "a\t0\nb\t1\n")}
  lu.assertEquals(data.graph.adjacency:to_dense():to_table(), {{0, 0}, {1, 0}})
end

--- In tables of names the first line is a header where it says so and no node is called so.
function tests.test_headers_of_names()
  local function read(changes)
    local opts = {ids = "strings", classes = "strings", directed = "keep",
      features = write("f.csv", "ann,1\nbob,2\n"), labels = write("l.csv", "ann,red\nbob,blue\n"),
      edges = write("e.csv", "source,target\nann,bob\n")}
    for key, value in pairs(changes or {}) do opts[key] = value or nil end
    local data = from_files(opts)
    return {data.graph.adjacency:to_dense():to_table(), data.node_names:lines(), data.class_names,
      data.labels:to_table()}
  end
  local expected = {{{0, 0}, {1, 0}}, "ann\nbob\n", {"red", "blue"}, {1, 2}}
  lu.assertEquals(read(), expected)
  lu.assertEquals(read{edges = write("t.csv", "to,from\nbob,ann\n")}, expected)
  lu.assertEquals(read{edges = write("t.csv", "sort,target,source\nknows,bob,ann\n")},
    expected)
  lu.assertEquals(read{edges = write("t.csv", "ann,bob\n")}, expected)
  for _, features in ipairs{folder.path .. "/f.csv", false} do
    local make = not features and "degree" or nil
    lu.assertEquals(read{features = features, make_features = make,
      labels = write("t.csv", "name,class\nann,red\nbob,blue\n")}, expected)
  end
  lu.assertEquals(read{edges = write("t.csv", "a,b\nann,bob\n"), header = {edges = true,
    features = false, labels = false}}, expected)
  local letters = {features = write("g.csv", "u,1\nv,2\nid,3\n"),
    labels = write("m.csv", "id,red\nu,blue\nv,blue\n"),
    edges = write("t.csv", "u,v\nv,id\n"), split = write("s.csv", "id,train\nu,test\n")}
  expected = {{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, "u\nv\nid\n", {"red", "blue"}, {2, 2, 1}}
  lu.assertEquals(read(letters), expected)
  letters.header = {edges = true}
  lu.assertEquals(read(letters)[1], {{0, 0, 0}, {0, 0, 0}, {0, 1, 0}})
end

--- The option `header` may say of each table by itself whether it has one.
function tests.test_headers_of_numbers()
  assert_five(from_files(files{header = {edges = true, features = true, labels = false,
    split = false}}))
  local data = from_files(files{header = {edges = true}, directed = "keep", split = false,
    edges = write("e.csv", "0,1\n1,2\n")})
  lu.assertEquals(data.graph.n_edges, 1)
  lu.assertStrContains(message_of{header = {edges = false}},
    'edges.csv: line 1, column 1: found "source", expected a whole number from 0 on')
  lu.assertEquals(message_of{header = {edge = true}},
    'ladies.data.from_files: header: unknown option "edge"; did you mean "edges"?')
  lu.assertEquals(message_of{header = {edges = 1}},
    "ladies.data.from_files: header: edges must be true or false, got 1")
  lu.assertEquals(message_of{header = {val = true}},
    "ladies.data.from_files: header.val is of no file: there is no val")
  local before = "ladies.data.from_files: e.csv: the node "
  local two = {ids = "strings", features = write("f.csv", "ann,1\nbob,2\n"), split = false,
    labels = write("l.csv", "ann,0\nbob,1\n"), edges = write("e.csv", "who,whom\nann,bob\n")}
  lu.assertEquals(message_of(two), before .. '"who" has no row in f.csv; header = {edges = true} '
    .. "says that the first line is a header")
  two.edges = write("e.csv", "ann,bob\nwho,whom\n")
  lu.assertEquals(message_of(two), before .. '"who" has no row in f.csv')
end

--- A first feature that looks like the nodes of the rows is one, which a line tells.
function tests.test_ids_among_features()
  local function notes_of(content, ids)
    local data = from_files(files{features = write("f.csv", content), ids = ids, split = false,
      edges = write("e.csv", "1,2\n2,3\n"), labels = write("l.csv", "1\n2\n2\n1\n"),
      directed = "keep"})
    lu.assertEquals(data.features.n_cols, 2)
    for i, note in ipairs(data.notes) do data.notes[i] = note:match "f%.csv: (.*)" end
    return data.notes
  end
  local function told(title)
    return {"all 2 columns are features, with the first" .. title .. ", though that has each "
      .. "node's id once; a header that calls it node makes it the node of its row"}
  end
  local rows = "user,a\n0,0.5\n1,1\n3,2\n2,4\n"
  lu.assertEquals(notes_of(rows), told ", user")
  lu.assertEquals(notes_of(rows:match "\n(.*)"), told "")
  lu.assertEquals(notes_of("user,a\n1,0.5\n2,1\n4,2\n3,4\n", "numbers from 1"), told ", user")
  lu.assertEquals(notes_of(rows, "numbers from 1"), {})
  for _, last in ipairs{"0", "4", "-1", "2.5"} do
    lu.assertEquals(notes_of((rows:gsub("2,4", last .. ",4"))), {}, last)
  end
end

-- ---------------------------------------------------------------- what is refused

--- An error that an option would settle names it, in the same line.
function tests.test_options_that_errors_name()
  local names = '; where nodes have names, --ids strings (in Lua ids = "strings") reads them'
  local from_1 =
    '; where ids count from 1, --ids "numbers from 1" (in Lua ids = "numbers from 1") reads them'
  local classes =
    '; where classes have names, --classes strings (in Lua classes = "strings") reads them'
  local id = 'found "bob", expected a whole number from 0 on'
  local beyond = 'found "5", expected at most 4'
  local missing = "; replace a missing feature by its column's mean, say, and mark it in a further "
    .. "column of 0 and 1"
  local before = "text: t.csv: line 2, column "
  for _, case in ipairs{
    {"edges", "ann,bob\nbob,cy\n", before .. "1: " .. id .. names},
    {"edges", "1,4\n4,5\n", before .. "2: " .. beyond .. from_1},
    {"edges", "1,4\n4,6\n", before .. '2: found "6", expected at most 4'},
    {"edges", "1,4\n4,-5\n", before .. '2: found "-5", expected a whole number from 0 on'},
    {"labels", "ann,0\nbob,1\n", "text: t.csv: line 1, column 1: "
      .. 'found "ann", expected a whole number from 0 on' .. names},
    {"labels", "1,0\n5,1\n", before .. "1: " .. beyond .. from_1},
    {"labels", "red\nblue\n", before .. '1: found "blue", expected a whole number from 0 on, or '
      .. "-1 or nothing: none" .. classes},
    {"features", "ann,1\nbob,2\n", 'text: t.csv: line 1, column 1: found "ann", expected a number'
      .. names},
    {"features", "x,y\n1,bob\n", before .. '2: found "bob", expected a number'},
    {"features", "x,y\nnan,1\n", before .. '1: found "nan", expected a number' .. missing},
    {"features", "x,y\n1,NA\n", before .. '2: found "NA", expected a number' .. missing},
    {"features", "x,y\n1,\n", before .. "2: found nothing, expected a number" .. missing},
    {"features", "node,x\nbob,1\n", before .. "1: " .. id .. names},
    {"features", "node,x\n1,1\n2,1\n", "ladies.data.from_files: t.csv: has a row for the node 2, "
      .. "but 2 rows; each node must have one" .. from_1},
    {"features", "node,feature,value\n0,red,1\n", before .. '2: found "red", expected a whole '
      .. "number from 0 on, or -1 or nothing: none"},
  } do
    local part, content, expected = table.unpack(case)
    lu.assertEquals(message_of{[part] = write("t.csv", content)}, expected)
  end
  lu.assertEquals(message_of{ids = "numbers from 1", edges = write("t.csv", "1,6\n")},
    'text: t.csv: line 1, column 2: found "6", expected at most 5')
end

function tests.test_refusals()
  lu.assertEquals(message_of{edges = write("e.csv", "0,1\n1,7\n")},
    'text: e.csv: line 2, column 2: found "7", expected at most 4')
  lu.assertEquals(message_of{edges = write("e.csv", "0,1,1,1\n")},
    "text: e.csv: line 1: found 4 columns, expected 3")
  lu.assertEquals(message_of{labels = write("l.csv", "0\n1\n")},
    "ladies.data.from_files: l.csv has length 2, must have 5, one for each node")
  lu.assertEquals(message_of{split = write("s.csv", "train\ntrain\nval\ntest\n")},
    "ladies.data.from_files: s.csv has length 4, must have 5, one for each node")
  lu.assertEquals(message_of{labels = write("l.csv", "0\n1\n\n0\n-1\n")},
    "text: l.csv: line 3 is blank; only lines behind the last row may be")
  lu.assertEquals(message_of{labels = write("l.csv", "1,0\n1,1\n")},
    "ladies.data.from_files: l.csv: the node 1 stands there twice")
  lu.assertStrContains(message_of{labels = write("l.csv", "0\n1\n1\n-1\n0\n")},
    "which has no label")
  lu.assertStrContains(message_of{features = folder.path .. "/none.csv"},
    "none.csv: cannot be opened")
  lu.assertStrContains(message_of{features = write("f.csv", "1,0\n0,inf\n")},
    'line 2, column 2: found "inf"')
  lu.assertEquals(message_of{train = "x"},
    "ladies.data.from_files: give either split or train, val and test")
  lu.assertStrContains(message_of{ids = "number"}, "must be one of numbers from 0, numbers from 1")
  lu.assertStrContains(message_of{edge = "x"}, 'did you mean "edges"?')
  lu.assertEquals(message_of{edges = write("e.mtx",
    "%%MatrixMarket matrix coordinate pattern general\n4 4 0\n")},
    "ladies.data.from_files: e.mtx is 4 x 4, must be 5 x 5, as the features have 5 rows")
  lu.assertStrContains(message_of{edges = write("e.mtx",
    "%%MatrixMarket matrix array real general\n1 1\n1\n")}, "must be a coordinate file")
  lu.assertEquals(message_of{edges = write("e.mtx", "x")},
    'mtx: e.mtx: line 1: found "x", expected %%MatrixMarket at the beginning of the file')
end

function tests.test_refusals_of_strings()
  local features = write("f.txt", "ann 1 0\nbob 0 1\n")
  local labels = write("l.txt", "ann 0\nbob 1\n")
  local function refused(changes)
    local all = {ids = "strings", features = features, labels = labels, split = false}
    for key, value in pairs(changes) do all[key] = value end
    return message_of(all)
  end
  lu.assertEquals(refused{edges = write("e.txt", "ann bob\nbob zoe\n")},
    'ladies.data.from_files: e.txt: the node "zoe" has no row in f.txt')
  lu.assertEquals(refused{labels = write("m.txt", "zoe 1\n")},
    'ladies.data.from_files: m.txt: the node "zoe" has no row in f.txt')
  lu.assertEquals(refused{labels = write("m.txt", "z\27[2J\7 1\n")},
    'ladies.data.from_files: m.txt: the node "z\\x1b[2J\\x07" has no row in f.txt')
  lu.assertEquals(refused{features = write("g.txt", "ann 1\nbob 2\nann 3\n")},
    'ladies.data.from_files: g.txt: two rows for the node "ann"')
  lu.assertStrContains(refused{features = write("f.mtx", "")}, "must be a table with a name")
end

-- ---------------------------------------------------------------- export

function tests.test_export_comes_back()
  local data = from_files(files())
  for format, suffix in pairs{["edge list"] = "csv", ["matrix market"] = "mtx"} do
    local out = folder.path .. "/" .. suffix
    export(data, out, {format = format})
    assert_five(from_files{edges = out .. "/edges." .. suffix,
      features = out .. "/features." .. suffix, labels = out .. "/labels.csv",
      split = out .. "/split.csv", directed = "keep"})
  end
  export(data, folder.path .. "/x.npz")
  assert_five(ladies.data.load(folder.path .. "/x.npz"))
  lu.assertErrorMsgContains("must be one of npz, pyg, edge list, matrix market", export, data, "x",
    {format = "csv"})
end

function tests.test_export_of_names_and_parts()
  local data = ladies.data.from_arrays{edges = {{1, 2}, {2, 3}}, labels = {1, 2, 0},
    features = ladies.tensor{{1, 0}, {0, 2}, {3, 3}}, train = {1}, test = {2},
    node_names = {"ann", "bob", "cy"}, class_names = {"red", "dark blue"},
    feature_names = {"x", "y"}}
  for format, suffix in pairs{["edge list"] = "csv", ["matrix market"] = "mtx"} do
    local out = folder.path .. "/" .. suffix
    export(data, out, {format = format})
    local by_hand = from_files{edges = out .. "/edges." .. suffix,
      features = out .. "/features." .. suffix, labels = out .. "/labels.csv",
      split = out .. "/split.csv", node_names = out .. "/node_names.txt",
      class_names = out .. "/class_names.txt", feature_names = out .. "/feature_names.txt"}
    for _, again in ipairs{by_hand, ladies.data.load(out)} do
      lu.assertEquals(again.node_names:lines(), "ann\nbob\ncy\n")
      lu.assertEquals(again.class_names, {"red", "dark blue"})
      lu.assertEquals(again.feature_names, {"x", "y"})
      lu.assertEquals({again.train:to_table(), again.val, again.test:to_table()}, {{1}, nil, {2}})
      lu.assertEquals(again.graph.adjacency:hash(), data.graph.adjacency:hash())
    end
  end
  data.class_names[1] = "two\nlines"
  lu.assertErrorMsgContains("ladies.data.export: one of the class_names has more than one line",
    export, data, folder.path .. "/lines", {format = "edge list"})
end

--- Several classes a node come back by load, however many there are and whatever they are called.
function tests.test_export_of_several_classes()
  for classes, names in pairs{{"1"}, {"1", "b,c"}, {"x", "y", "z"}} do
    local labels = ladies.full(3, classes, 0)
    labels:copy_rows_(ladies.index{2, 3}, ladies.ones(2, classes))
    local data = ladies.data.from_arrays{edges = {{1, 2}, {2, 1}}, labels = labels,
      features = ladies.ones(3, 2), class_names = names, train = {1}, test = {2}}
    local out = ("%s/several%d"):format(folder.path, classes)
    export(data, out, {format = "edge list"})
    local again = ladies.data.load(out)
    lu.assertEquals(again.labels:to_table(), labels:to_table())
    lu.assertEquals(again.class_names, names)
  end
end

function tests.test_export_of_weights()
  local data = from_files(files{directed = "keep", weighted = true,
    edges = write("e.csv", "0,1,0.1\n1,2,2\n")})
  local out = folder.path .. "/weighted"
  export(data, out, {format = "edge list"})
  local again = from_files{edges = out .. "/edges.csv", features = out .. "/features.csv",
    labels = out .. "/labels.csv", directed = "keep", weighted = true}
  lu.assertEquals(again.graph.adjacency:hash(), data.graph.adjacency:hash())
  lu.assertNil(again.train and #again.train > 0 or nil)
end

return tests
