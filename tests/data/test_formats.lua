--- Tests the layouts of other programs: what is read beyond the numbers of test_info_numbers.lua,
-- and the one line for each thing that is wrong.
local lu = require "luaunit"
local core = require "ladies_core"
local ladies = require "ladies"
local bundle = require "tools.bundle"
local malformed = require "tools.malformed"
local ogb = require "ladies.data.formats.ogb"
local shell = require "tools.shell"
local fixture = require "reference.fixture"

local index, npz = ladies.index, ladies.npz
local tests = {}
local folder, root

function tests.setUp()
  folder = shell.folder()
  root = folder.path
end

function tests.tearDown() getmetatable(folder).__close() end

local function unpack_files(prefix)
  bundle.write(fixture.path "formats", root, prefix)
  return root .. "/" .. prefix:match "^[^/]*"
end

local function write(name, content) bundle.write_file(root .. "/" .. name, content) end

-- The message of the error in ladies.data.load, without the place that it blames and `root`.
local function refused(path, opts)
  local ok, message = pcall(function()
    local data = ladies.data.load(path, opts)
    return data
  end)
  lu.assertFalse(ok, "an error was expected")
  lu.assertStrMatches(message, "[^:]*test_formats.lua:%d+: [^\n]*", nil, nil, message)
  return (message:gsub("^[^:]*:%d+: ", ""):gsub(root:gsub("%p", "%%%0") .. "/", ""))
end

-- ---------------------------------------------------------------- content and cites

local CONTENT, CITES = "p31 1 0 odd\np9 0.5 1 even\n27 0 1 even\n", "p9 p31\n27 p9\n27 far\n"

local function papers(content, cites)
  write("a/five.content", content or CONTENT)
  write("a/five.cites", cites or CITES)
  return root .. "/a"
end

function tests.test_papers()
  local path = papers()
  for _, name in ipairs{path, path .. "/", path .. "/five", path .. "/five.content"} do
    local data = ladies.data.load(name)
    lu.assertEquals(data.name, "five")
    lu.assertEquals(data.node_names:lines(), "p31\np9\n27\n")
    lu.assertEquals(data.class_names, {"odd", "even"})
    lu.assertEquals(data.labels:to_table(), {1, 2, 2})
    lu.assertEquals(data.features:to_dense():to_table(), {{1, 0}, {0.5, 1}, {0, 1}})
    lu.assertEquals(data.graph.adjacency:to_dense():to_table(), {{0, 1, 0}, {1, 0, 1}, {0, 1, 0}})
    lu.assertNil(data.train)
    lu.assertEquals(data.source, "content and cites: 3 citations, of papers without content "
      .. "dropped: 1")
  end
  -- p9 is cited by p31: what p31 says goes to p9, whose row it is in.
  local directed = ladies.data.load(path, {directed = "keep"})
  lu.assertEquals(directed.graph.adjacency:to_dense():to_table(),
    {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}})
end

function tests.test_papers_refused()
  for _, case in ipairs{
    {"p31 1 0 odd\np9 1 even\n", nil,
      'five.content: line 2, column 3: found "even", expected a number'},
    {"p31 1 0 odd\np9 x 1 even\n", nil, 'five.content: line 2, column 2: found "x"'},
    {"p31 1 0 odd\np31 0 1 even\n", nil, "five: content: a paper stands there twice: "},
    {"p31 odd\n", nil, "five: content: the first line must have an id, features and a class"},
    {"", nil, "five.content"},
    {nil, "p9\n", "five.cites: line 1: found 1 columns, expected 2"},
    {nil, "p9 p31 p9\n", "five.cites: line 1: found 3 columns, expected 2"},
  } do
    lu.assertStrContains(refused(papers(case[1], case[2])), case[3])
  end
end

-- ---------------------------------------------------------------- pairs of npz

-- Five nodes, with some of the arrays replaced; `false` takes one away.
local function pair(changes, graph)
  local data = {feature = ladies.ones(5, 2), label = npz.int64(index{1, 2, 2, 1, 0}),
    node_types = {1, 1, 2, 3, 0}, node_ids = {9, 8, 7, 6, 5}}
  for key, value in pairs(changes or {}) do data[key] = value or nil end
  local coo = {format = {"coo"}, shape = {5, 5}, row = index{1, 2, 2}, col = index{2, 1, 3}}
  for key, value in pairs(graph or {}) do coo[key] = value or nil end
  core.mkdir(root .. "/r")
  npz.write(root .. "/r/x_data.npz", data)
  npz.write(root .. "/r/x_graph.npz", coo)
  return root .. "/r"
end

function tests.test_pair()
  local path = unpack_files "reddit/"
  local data = ladies.data.load(path)
  lu.assertEquals({data.name, data.path}, {"reddit", path .. "/reddit_data.npz"})
  local by_file = ladies.data.load(path .. "/reddit_data.npz")
  lu.assertEquals(by_file.graph.adjacency:hash(), data.graph.adjacency:hash())
  local file <close> = npz.open(path .. "/reddit_data.npz")
  local types = file:numbers "node_types"
  for part, type_of in pairs{train = 1, val = 2, test = 3} do
    for _, node in ipairs(data[part]:to_table()) do lu.assertEquals(types[node], type_of) end
  end
end

function tests.test_pair_refused()
  for _, case in ipairs{
    {{node_types = {1, 1, 2, 4, 0}}, nil,
      "r/x_data.npz: node_types[3] is 4, must be in 0..3"},
    {{node_types = {1, 1}}, nil, "node_types has length 2, must have 5, one for each node"},
    {{node_types = {1, 1, 2, 3, 1}}, nil, "is node 4, which has no label"},
    {{node_types = false, node_type = {1}}, nil, 'node_types is missing; is it "node_type"?'},
    {{feature = false}, nil, "r/x_data.npz: feature is missing"},
    {{feature = ladies.ones(4, 2)}, nil, "feature has 4 rows, must have 5, one for each node"},
    {{label = false}, nil, "r/x_data.npz: label is missing"},
    {nil, {shape = {5, 4}}, "must be square, got 5 x 4"},
    {nil, {shape = {1 << 30, 5}}, "r/x_graph.npz: shape has 1073741824 rows or columns, too many "
      .. "for 3 entries"},
    {nil, {format = {"csc"}, indptr = index{1, 1}, indices = index{}, shape = {1 << 30, 0}},
      "r/x_graph.npz: shape has 1073741824 rows or columns, too many for 0 entries"},
    {nil, {row = false}, "r/x_graph.npz: row is missing"},
    {nil, {col = index{1}}, "r/x_graph.npz: col has length 1, must have 3, one for each of row"},
    {nil, {col = index{2, 1, 6}}, "r/x_graph.npz: col[2] is 5, must be in 0..4"},
    {nil, {format = {"dok"}}, 'r/x_graph.npz: format is "dok", must be csr, csc or coo; in Python, '
      .. "matrix.tocsr() makes one"},
    {nil, {format = false}, "r/x_graph.npz: holds no matrix of SciPy's save_npz"},
  } do
    lu.assertStrContains(refused(pair(case[1], case[2])), case[3])
  end
end

-- ---------------------------------------------------------------- save_npz

function tests.test_forms_of_save_npz()
  local path, load = unpack_files "matrices/", require "ladies.data.formats.npz.matrix".load
  local dense = ladies.npy.read(path .. "/all.npy")
  for _, form in ipairs{"csr", "csc", "coo"} do
    local matrix, merged = load(("%s/%s.npz"):format(path, form))
    lu.assertEquals(matrix:to_dense():to_table(), dense:to_table())
    lu.assertEquals({matrix.nnz, merged}, {ladies.sparse(dense).nnz, 0})
  end
  for _, form in ipairs{"bsr", "dia"} do
    lu.assertErrorMsgContains(('%s.npz: format is "%s", must be csr, csc or coo; in Python, '
      .. "matrix.tocsr() makes one"):format(form, form), load, ("%s/%s.npz"):format(path, form))
  end
  local twice, merged = load(path .. "/twice.npz")
  lu.assertEquals({twice:to_dense():to_table(), merged}, {{{0, 0, 5}, {2, 0, 0}}, 1})
end

function tests.test_save_npz_is_no_data_set()
  lu.assertEquals(refused(unpack_files "matrices/" .. "/csr.npz"),
    "matrices/csr.npz: is one matrix of SciPy's save_npz, not a data set; "
    .. ""
    .. "ladies.data.from_files{edges = ...} takes it, or a folder with it as edges.npz and "
    .. "labels.csv")
end

function tests.test_save_npz_from_files()
  local path = unpack_files "matrices/"
  local function read(changes)
    local opts = {edges = path .. "/twice.npz", features = path .. "/csr.npz",
      labels = root .. "/labels.csv"}
    for key, value in pairs(changes) do opts[key] = value end
    local data = ladies.data.from_files(opts)
    return data
  end
  write("labels.csv", ("0\n1\n"):rep(6))
  lu.assertErrorMsgContains("twice.npz is 2 x 3, must be 12 x 12, as the features have 12 rows",
    read, {})
  lu.assertErrorMsgContains('dia.npz: format is "dia"', read, {edges = path .. "/dia.npz"})
  lu.assertErrorMsgContains("npz: ", read, {edges = root .. "/labels.npz"})
end

-- ---------------------------------------------------------------- gnn-benchmark

function tests.test_names_of_gnn_benchmark()
  local path = root .. "/b.npz"
  for _, names in ipairs{{"adj_matrix.", "attr_matrix."}, {"adj_matrix_", "node_attr."}} do
    npz.write(path, {
      [names[1] .. "indptr"] = index{1, 2, 3}, [names[1] .. "indices"] = index{2, 1},
      [names[1] .. "shape"] = {2, 2}, [names[2] .. "indptr"] = index{1, 2, 3},
      [names[2] .. "indices"] = index{1, 3}, [names[2] .. "shape"] = {2, 3},
      node_label = index{1, 2}, attr_names = {"x", "y", "z"},
    })
    local data = ladies.data.load(path)
    lu.assertEquals(data.features:to_dense():to_table(), {{1, 0, 0}, {0, 0, 1}})
    lu.assertEquals(data.labels:to_table(), {1, 2})
    lu.assertEquals(data.feature_names, {"x", "y", "z"})
  end
  npz.write(path, {["adj_matrix.indptr"] = index{1, 2}, ["adj_matrix.indices"] = index{2, 1},
    ["adj_matrix.shape"] = {2, 2}})
  lu.assertEquals(refused(path), "b.npz: adj_matrix.indptr has length 2, must have 3, one more "
    .. "than the rows in adj_matrix.shape")
end

-- ---------------------------------------------------------------- arrays of objects

function tests.test_pickled()
  local path = unpack_files "pickled/"
  local data = ladies.data.load(path .. "/fine.npz")
  lu.assertEquals(data.graph.adjacency:to_dense():to_table(), {{1, 0}, {0, 1}})
  lu.assertEquals(data.features:to_dense():to_table(), {{1, 0}, {0, 1}})
  lu.assertEquals({data.labels:to_table(), data.class_names}, {{1, 2}, {"a", "b"}})
  data = ladies.data.load(path .. "/texts.npz")
  lu.assertEquals({data.feature_names, data.class_names}, {{"x", "y"}, {"a", "b"}})
end

function tests.test_pickled_refused()
  local path = unpack_files "pickled/"
  for name, expected in pairs{
    dict = "dict.npz: adj_matrix must be a csr_matrix, csc_matrix or coo_matrix, got a table",
    dense = 'dense.npz: member "adj_matrix.npy": dtype is float64, object expected',
    label = "label.npz: node_label[1] is None, must be a class from 0 on, or -1 or nan for none",
    metadata = "metadata.npz: metadata.class_names[1] must be a text, got a number",
    dia = 'dia.npz: member "adj_matrix.npy": refuses the class "scipy.sparse._dia.dia_matrix"',
    none = "none.npz: class_names must be texts",
    no_texts = "no_texts.npz: attr_names[1] must be a text, got a number",
  } do
    lu.assertStrContains(refused(("%s/%s.npz"):format(path, name)), expected)
  end
end

-- ---------------------------------------------------------------- OGB

local OGB = {["raw/num-node-list.csv"] = "5\n", ["raw/edge.csv"] = "0,1\n1,2\n2,3\n1,2\n",
  ["raw/node-feat.csv"] = "1,0\n0.5,1\n0,1\n1,1\n0,0\n",
  ["raw/node-label.csv"] = "0\n1.0\n1\n0\nnan\n", ["split/time/train.csv"] = "0\n1\n",
  ["split/time/valid.csv"] = "2\n", ["split/time/test.csv"] = "3\n"}

-- The files above, some of them changed; `false` takes one away.
local function ogb_folder(changes)
  for name in pairs(OGB) do os.remove(root .. "/o/" .. name) end
  for name, content in pairs(OGB) do
    local changed = changes and changes[name]
    if changed ~= false then write("o/" .. name, changed or content) end
  end
  for name, content in pairs(changes or {}) do
    if content then write("o/" .. name, content) end
  end
  return root .. "/o"
end

function tests.test_ogb()
  local data = ladies.data.load(ogb_folder{["raw/node_species.csv"] = "1\n"})
  lu.assertEquals(data.labels:to_table(), {1, 2, 2, 1, 0})
  lu.assertEquals({data.train:to_table(), data.val:to_table(), data.test:to_table()},
    {{1, 2}, {3}, {4}})
  lu.assertEquals(data.source, "OGB folder: 4 edges listed; split: split/time; not read: "
    .. "node_species")
  lu.assertEquals({data.graph.n_edges, data.merged}, {6, 1})
  local directed = ladies.data.load(root .. "/o", {directed = "keep"})
  lu.assertEquals(directed.graph.adjacency:to_dense():to_table()[2], {1, 0, 0, 0, 0})
  lu.assertEquals(directed.graph.n_edges, 3)
end

--- Features of the edges of one graph are read where edges are asked for one by one.
function tests.test_ogb_features_of_edges()
  local path = ogb_folder{["raw/edge-feat.csv"] = "1\n2\n3\n4\n"}
  lu.assertStrContains(ladies.data.load(path).source, "not read: edge-feat")
  local data = ladies.data.load(path, {parallel = "keep", directed = "keep"})
  lu.assertEquals(data.edges.features:to_table(), {{1}, {2}, {4}, {3}})
  os.remove(path .. "/raw/edge-feat.csv")
end

function tests.test_ogb_choice_of_split()
  local path = ogb_folder{["split/random/train.csv"] = "3\n", ["split/random/valid.csv"] = "1\n",
    ["split/random/test.csv"] = "0\n"}
  lu.assertEquals(refused(path), "o: several splits: random, time; {split = NAME} takes one")
  lu.assertEquals(refused(path, {split = "times"}), 'o: no split "times"; did you mean "time"?')
  lu.assertEquals(ladies.data.load(path, {split = "random"}).train:to_table(), {4})
end

--- ogbn-proteins: a column for each class, no features.
function tests.test_ogb_several_classes()
  local fields = ogb.read(unpack_files "ogbn_several/", {})
  lu.assertEquals({fields.labels.n_rows, fields.labels.n_cols}, {40, 4})
  lu.assertEquals({fields.labels:min(), fields.labels:max()}, {0, 1})
  lu.assertNil(fields.features)
end

function tests.test_ogb_refused()
  for _, case in ipairs{
    {"raw/num-node-list.csv", false, "o: raw/num-node-list.csv.gz is missing"},
    {"raw/num-node-list.csv", "5\n4\n",
      "o: raw/num-node-list.csv.gz has 2 graphs, and there is no raw/graph-label"},
    {"raw/num-node-list.csv", "2000000000\n",
      "o: raw/node-label.csv has length 5, must have 2000000000, one for each node"},
    {"raw/num-node-list.csv", "x\n", 'raw/num-node-list.csv: line 1, column 1: found "x"'},
    {"raw/edge.csv", "0,1\n1,5\n",
      'raw/edge.csv: line 2, column 2: found "5", expected at most 4'},
    {"raw/edge.csv", "0,1\n1\n",
      "raw/edge.csv: line 2, column 2: found nothing, expected 2 columns as before"},
    {"raw/node-feat.csv", "1,0\n1,1\n", "raw/node-feat.csv has 2 rows, must have 5"},
    {"raw/node-feat.csv", false, "o: there are no features; --make-features"},
    {"raw/node-label.csv", false, "o: raw/node-label.csv.gz is missing"},
    {"raw/node-label.csv", "0\n1\n", "raw/node-label.csv has length 2, must have 5"},
    {"raw/node-label.csv", "0\n1\n0\n-5\n0\n",
      "raw/node-label.csv[3] is -5.0, must be a class from 0 on, or -1 or nan for none"},
    {"raw/node-label.csv", "0\n1\n0\nx\n0\n",
      'raw/node-label.csv: line 4, column 1: found "x", expected a number'},
    {"split/time/valid.csv", false, "o: split/time/valid.csv.gz is missing"},
    {"split/time/valid.csv", "9\n", 'split/time/valid.csv: line 1, column 1: found "9"'},
    {"split/time/valid.csv", "1\n", "is node 1 again, after split/time/train.csv[1]"},
    {"split/time/test.csv", "4\n", "split/time/test.csv[0] is node 4, which has no label"},
  } do
    lu.assertStrContains(refused(ogb_folder{[case[1]] = case[2]}), case[3])
  end
  write("q/raw/edge.csv.gz", malformed.gzip "0,1\n":sub(1, 15))
  write("q/raw/num-node-list.csv", "2\n")
  write("q/raw/node-label.csv", "0\n1\n")
  lu.assertStrContains(refused(root .. "/q"), "q/raw/edge.csv.gz")
end

-- The binary layout of ogbn-papers100M with the same graph: arrays by file, of which changes may
-- replace some; `false` takes one away.
local function papers_folder(changes)
  local files = {
    ["data.npz"] = {edge_index = npz.int64{{0, 1, 2, 1}, {1, 2, 3, 2}},
      node_feat = npz.float32{{1, 0}, {0.5, 1}, {0, 1}, {1, 1}, {0, 0}},
      node_year = npz.int64{{2010}, {2011}, {2012}, {2013}, {2014}},
      num_nodes_list = npz.int64{5}, num_edges_list = npz.int64{4}},
    ["node-label.npz"] = {node_label = npz.float32{{0}, {1}, {1}, {0}, {0 / 0}}},
  }
  for name, content in pairs(OGB) do
    if name:find "^split" then write("papers/" .. name, content) end
  end
  write("papers/raw/x", "")
  for file, arrays in pairs(files) do
    for name, array in pairs(changes or {}) do
      if arrays[name] then arrays[name] = array or nil end
    end
    npz.write(root .. "/papers/raw/" .. file, arrays)
  end
  return root .. "/papers"
end

function tests.test_ogb_binary()
  local data, tables = ladies.data.load(papers_folder()), ladies.data.load(ogb_folder())
  lu.assertEquals(data.labels, tables.labels)
  lu.assertEquals({data.graph.adjacency:hash(), data.features:hash(), data.merged},
    {tables.graph.adjacency:hash(), tables.features:hash(), tables.merged})
  lu.assertEquals({data.train:to_table(), data.val:to_table(), data.test:to_table()},
    {{1, 2}, {3}, {4}})
  lu.assertEquals(data.source,
    "OGB folder: 4 edges listed; split: split/time; not read: node_year")
  lu.assertEquals(ladies.data.load(papers_folder(), {features_in = "file"}).features:to_tensor(),
    tables.features)
  local several = papers_folder{node_label = ladies.npz.float32{{0, 1}, {1, 1}, {1, 0}, {0, 0},
    {0 / 0, 0 / 0}}}
  lu.assertEquals({ladies.data.load(several).labels.n_cols}, {2})
end

--- `ladies import --memory` describes what it has written without reading its features.
function tests.test_import_in_bounded_memory()
  local path, columns = root .. "/wide.safetensors", 1000000
  local script <close> = shell.file [[
    local ladies = require "ladies"
    dofile(ladies.home() .. "/scripts/import.lua")
    print(ladies.memory().peak)]]
  local out = shell.succeeded(shell.run_ladies{script.path, papers_folder{
    node_feat = ladies.zeros(5, columns)}, "--out", path, "--memory", "2M", "--dtype", "float16"})
  lu.assertStrContains(out, "1,000,000, dense, float16 in the file")
  local peak = tonumber(out:match "(%d+)\n$")
  lu.assertTrue(peak < 6 * 4 * columns, peak)          -- a piece of them while they are written
end

--- A data set of OGB's binary files is the same when it is written into a file in bounded memory,
-- whatever the bound.
function tests.test_ogb_binary_to_file()
  local path = root .. "/papers.safetensors"
  for _, case in ipairs{{"1G", "float32"}, {400, "float32"}, {"0.5K", "float16", true},
    {"1M", "bfloat16", false, "keep"}} do
    local memory, dtype, loops, directed = table.unpack(case)
    ladies.data.to_file(papers_folder(), path, {memory = memory, dtype = dtype,
      self_loops = loops or nil, directed = directed})
    local data = ladies.data.load(path, {features_in = "file"})
    local whole = ladies.data.load(papers_folder(), {directed = directed})
    local A = whole.graph.adjacency
    if loops then A = A:normalize "none" end
    lu.assertTrue(data.graph.adjacency == A)
    lu.assertEquals({data.labels, data.features:to_tensor(), data.features.dtype},
      {whole.labels, whole.features, dtype})
    lu.assertEquals({data.train, data.val, data.test, data.directed, data.source},
      {whole.train, whole.val, whole.test, whole.directed, whole.source})
  end
  ladies.data.to_file(ogb_folder(), path, {self_loops = true})
  lu.assertTrue(ladies.data.load(path).graph.adjacency
    == ladies.data.load(ogb_folder()).graph.adjacency:normalize "none")
end

function tests.test_ogb_binary_to_file_refused()
  local path = root .. "/refused.safetensors"
  for _, case in ipairs{
    {"edge_index", npz.int64{{0, 1}, {1, 5}}, "edge_index holds 5, must hold nodes 0..4"},
    {"edge_index", npz.int64{{0, 1}, {1, -1}}, "edge_index holds -1, must hold nodes 0..4"},
    {"edge_index", npz.int64{0, 1}, "edge_index must have two rows"},
    {"node_feat", npz.float32{{0}, {1}}, "node_feat has length 2, must have 5"},
    {"node_feat", npz.float32{0, 1, 2, 3, 4}, "node_feat must have two dimensions"},
    {"node_feat", npz.float32{{0}, {1}, {1e6}, {1}, {1}},
      'tensor "attr_matrix": element 3 is 1e+06, which float16 cannot hold'},
    {"num_nodes_list", npz.int64{5, 4}, "num_nodes_list must be the number of nodes of one graph"},
  } do
    lu.assertErrorMsgContains(case[3], ladies.data.to_file, papers_folder{[case[1]] = case[2]},
      path, {dtype = "float16"})
  end
  lu.assertStrContains(select(2, pcall(ladies.data.to_file, papers_folder(), path, {memory = 10})),
    "for which 10 bytes of memory are too few; about ")
  for _, memory in ipairs{"much", "0", "-4G", "4X", ""} do
    lu.assertStrContains(select(2, pcall(ladies.data.to_file, papers_folder(), path,
      {memory = memory})), 'memory must be a size, as "4G" or "500M"')
  end
  lu.assertStrContains(select(2, pcall(ladies.data.to_file, papers_folder(), root .. "/x.npz")),
    "must end in .safetensors")
  local bytes = ladies.file.read(papers_folder() .. "/raw/data.npz")
  for length = #bytes - 1, 100, -397 do
    write("papers/raw/data.npz", bytes:sub(1, length))
    lu.assertFalse(pcall(ladies.data.to_file, root .. "/papers", path))
  end
  for _, name in ipairs(require "ladies_core".files(root)) do      -- nothing is left of them
    lu.assertNil(name:match "refused", name)
  end
end

function tests.test_ogb_binary_refused()
  for _, case in ipairs{
    {"edge_index", false, "papers: raw/data.npz has no array edge_index"},
    {"num_nodes_list", false, "papers: raw/data.npz has no array num_nodes_list"},
    {"node_label", false, "papers: raw/node-label.npz has no array node_label"},
    {"node_feat", false, "papers: there are no features"},
    {"num_nodes_list", npz.int64{5, 4}, "num_nodes_list must be the number of nodes of one graph"},
    {"num_nodes_list", npz.int64{2000000000}, "node_label has length 5, must have 2000000000"},
    {"num_nodes_list", npz.float64{0.5}, "num_nodes_list must be the number of nodes"},
    {"edge_index", npz.int64{{0, 1}}, "edge_index must have two rows, sources and targets"},
    {"edge_index", npz.int64{0, 1}, "edge_index must have two rows, sources and targets"},
    {"edge_index", npz.int64{{0, 1}, {1, 5}}, "raw/data.npz: edge_index[3] is 5, must be in 0..4"},
    {"edge_index", npz.int64{{0, 1}, {1, -1}}, "edge_index[3] is -1, must be in 0..4"},
    {"edge_index", npz.int64{{0, 1}, {1, 1 << 33}}, "8589934592"},
    {"edge_index", npz.float32{{0, 1}, {1, 2}}, "edge_index"},
    {"node_label", npz.float32{{0}, {1}, {-2}, {0}, {0}}, "node_label must be classes from 0 on"},
    {"node_label", npz.float32{{0}, {1}, {math.huge}, {0}, {0}}, "must be classes from 0 on"},
    {"node_feat", npz.float32{{0}, {1}}, "node_feat has 2 rows, must have 5"},
    {"node_feat", npz.float32{{0}, {1}, {0 / 0}, {1}, {1}}, "must be finite numbers"},
  } do
    lu.assertStrContains(refused(papers_folder{[case[1]] = case[2]}), case[3])
  end
  os.remove(papers_folder() .. "/raw/node-label.npz")
  lu.assertEquals(refused(root .. "/papers"), "papers: raw/node-label.npz is missing")
  for _, bytes in ipairs{"", "PK", ("x"):rep(1000)} do
    write("papers/raw/data.npz", bytes)
    lu.assertStrContains(refused(root .. "/papers"), "papers/raw/data.npz")
  end
end

-- ---------------------------------------------------------------- folders of tables, options

function tests.test_folder_of_tables()
  write("t/edges.tsv", "0\t1\t0.5\n1\t2\t2\n")
  write("t/labels.csv", "0\n1\n0\n")
  write("t/class_names.txt", "even\nodd\n")
  local data = ladies.data.load(root .. "/t", {make_features = "identity", directed = "keep"})
  lu.assertEquals(data.graph.adjacency:to_dense():to_table(), {{0, 0, 0}, {0.5, 0, 0}, {0, 2, 0}})
  lu.assertEquals(data.class_names, {"even", "odd"})
  lu.assertNil(data.train)
  write("t/edges.mtx", "")
  lu.assertEquals(refused(root .. "/t"), "t: has both edges.tsv and edges.mtx")
end

function tests.test_options_of_info()
  local path = ogb_folder{["raw/node-feat.csv"] = false}
  local out, err =
    shell.succeeded(shell.run_ladies{"info", path, "--make-features", "degree", "--directed",
    "keep", "--split", "time"})
  lu.assertStrMatches(err, "[^\n]*: 1 edge repeats another and is one with it\n[^\n]*\n?")
  lu.assertStrContains(out, "  edges      3, directed (kept as given), given more than once: 1\n")
  lu.assertStrContains(out, "  features   2, sparse: 5 ones, 50.00 %\n")
  shell.refuses("ladies info: " .. path .. ": there are no features; ",
    shell.run_ladies{"info", path})
end

function tests.test_options_of_load()
  write("none/x.txt", "")
  lu.assertEquals(refused(root .. "/none"),
    "ladies.data.load: none is in no format that is known; see doc/data.md")
  lu.assertEquals(refused(root .. "/nowhere"), "ladies.data.load: nowhere does not exist")
  local path = pair()
  lu.assertEquals(refused(path, {split = "time"}), 'ladies.data.load: r: "time" is no way to '
    .. "split; there are 10/10/80, stratified:10/10/80, 20-per-class and TRAIN,VAL,TEST")
  lu.assertStrContains(refused(path, {make_feature = "x"}), 'did you mean "make_features"?')
end

return tests
