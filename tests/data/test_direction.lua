--- Tests one digraph in every format, with its edges kept: an edge from a to b lets b hear a in all
-- of them, and a line tells where the matrix of a file was turned for it.
local lu = require "luaunit"
local ladies = require "ladies"
local files = require "tools.files"
local temporary = require "reference.temporary"

local npz = ladies.npz
local tests = {}

-- 0 -> 1 -> 2 -> 3, 0 -> 2 and 3 -> 1; row 1 of the adjacency is what node 0 hears.
local SOURCES, TARGETS = {0, 1, 2, 0, 3}, {1, 2, 3, 2, 1}
local HEARD = {{0, 0, 0, 0}, {1, 0, 0, 1}, {1, 1, 0, 0}, {0, 0, 1, 0}}

local LABELS, FEATURES = {0, 1, 0, 1}, ladies.tensor{{1, 0}, {0, 1}, {1, 1}, {0.5, 0}}
local TURNED = "the matrix was turned, since in files rows are sources: the entry in row a and "
  .. "column b is the edge from a to b, which lets b hear a"

-- The matrix as SciPy has it, of rows that are sources: its offsets and columns.
local OFFSETS, COLUMNS = {0, 2, 3, 4, 5}, {1, 2, 2, 3, 1}

local function path_of(name) return temporary.path(name) end

local function folder_of(name, members)
  local folder = path_of(name)
  os.execute("mkdir -p " .. folder)
  for member, text in pairs(members) do files.write(folder .. "/" .. member, text) end
  return folder
end

local function save_npz(path)
  npz.write(path, {format = {"csr"}, shape = npz.int64{4, 4}, indptr = npz.int64(OFFSETS),
    indices = npz.int64(COLUMNS), data = ladies.ones(5)})
  return path
end

-- edges.csv and the like by lines of the text for each edge.
local function lines(form)
  local list = {}
  for i, source in ipairs(SOURCES) do list[i] = form:format(source, TARGETS[i]) end
  return table.concat(list)
end

local TABLES = {["features.csv"] = "1,0\n0,1\n1,1\n0.5,0\n", ["labels.csv"] = "0\n1\n0\n1\n"}

local function from_files(edges)
  local folder = folder_of("tables", TABLES)
  return ladies.data.from_files{edges = edges, features = folder .. "/features.csv",
    labels = folder .. "/labels.csv", directed = "keep", quiet = true}
end

-- Each format: whether it is a matrix that is turned, and what reads it.
local FORMATS = {
  ["NetworkX, node-link JSON"] = {false, function()
    local nodes = {}
    for i, label in ipairs(LABELS) do
      local row = FEATURES[i]:to_table()
      nodes[i] = ('{"id":%d,"y":%d,"x":[%g,%g]}'):format(i - 1, label, row[1], row[2])
    end
    local path = files.write(path_of "g.json", ('{"directed":true,"nodes":[%s],"edges":[%s]}')
      :format(table.concat(nodes, ","), (lines '{"source":%d,"target":%d},'):sub(1, -2)))
    return ladies.data.load(path, {directed = "keep"})
  end},
  ["edge_index"] = {false, function()
    local path = path_of "edges.npz"
    npz.write(path, {edge_index = npz.int64{SOURCES, TARGETS}, x = FEATURES, y = npz.int64(LABELS)})
    return ladies.data.load(path, {directed = "keep"})
  end},
  ["a table of edges"] = {false, function()
    return from_files(files.write(path_of "e.csv", lines "%d,%d\n"))
  end},
  ["a table with a header the other way round"] = {false, function()
    local list = {}
    for i, source in ipairs(SOURCES) do list[i] = ("%d,%d\n"):format(TARGETS[i], source) end
    return from_files(files.write(path_of "t.csv", "target,source\n" .. table.concat(list)))
  end},
  ["save_npz"] = {true, function() return from_files(save_npz(path_of "m.npz")) end},
  ["Matrix Market"] = {true, function()
    local list = {}
    for i, source in ipairs(SOURCES) do list[i] = ("%d %d\n"):format(source + 1, TARGETS[i] + 1) end
    return from_files(files.write(path_of "m.mtx",
      "%%MatrixMarket matrix coordinate pattern general\n4 4 5\n" .. table.concat(list)))
  end},
  ["gnn-benchmark"] = {true, function()
    local path = path_of "adj.npz"
    npz.write(path, {adj_shape = npz.int64{4, 4}, adj_indptr = npz.int64(OFFSETS),
      adj_indices = npz.int64(COLUMNS), adj_data = ladies.ones(5), attr_matrix = FEATURES,
      labels = npz.int64(LABELS)})
    return ladies.data.load(path, {directed = "keep"})
  end},
  ["DGL's pair"] = {true, function()
    local folder = folder_of("pair", {})
    save_npz(folder .. "/p_graph.npz")
    npz.write(folder .. "/p_data.npz", {feature = FEATURES, label = npz.int64(LABELS),
      node_types = npz.int64{1, 1, 2, 3}})
    return ladies.data.load(folder .. "/p", {directed = "keep"})
  end},
  ["content and cites"] = {false, function()
    local content = {}
    for i, label in ipairs(LABELS) do
      local row = FEATURES[i]:to_table()
      content[i] = ("p%d %g %g c%d\n"):format(i - 1, row[1], row[2], label)
    end
    local cites = {}
    for i, source in ipairs(SOURCES) do cites[i] = ("p%d p%d\n"):format(TARGETS[i], source) end
    return ladies.data.load(folder_of("papers", {["five.content"] = table.concat(content),
      ["five.cites"] = table.concat(cites)}), {directed = "keep"})
  end},
}

local function heard(data) return data.graph.adjacency:to_dense():to_table() end

local function turned(data)
  local count = 0
  for _, note in ipairs(data.notes or {}) do
    if note:find(TURNED, 1, true) then count = count + 1 end
  end
  return count
end

for name, format in pairs(FORMATS) do
  tests["test_" .. name] = function()
    local data = format[2]()
    lu.assertEquals(heard(data), HEARD)
    lu.assertTrue(data.directed)
    lu.assertEquals(turned(data), format[1] and 1 or 0)
  end
end

--- A digraph that we have written is the same digraph when it is read again, and reading our own
-- file turns no edges around.
function tests.test_written()
  local data = FORMATS["a table of edges"][2]()
  for _, ending in ipairs{"npz", "safetensors"} do
    local path = path_of("own." .. ending)
    ladies.data.save(data, path)
    for _, directed in ipairs{"keep", false} do
      local again = ladies.data.load(path, {directed = directed or nil})
      lu.assertEquals(heard(again), HEARD)
      lu.assertEquals(turned(again), 0)
    end
  end
  for _, format in ipairs{"edge list", "matrix market"} do
    local folder = path_of(format:gsub(" ", "-") .. "-out")
    ladies.data.export(data, folder, {format = format})
    local again = ladies.data.load(folder, {directed = "keep"})
    lu.assertEquals(heard(again), HEARD)
    lu.assertEquals(turned(again), format == "matrix market" and 1 or 0)
  end
  local path = path_of "pyg.npz"
  ladies.data.export(data, path, {format = "pyg"})
  lu.assertEquals(heard(ladies.data.load(path, {directed = "keep"})), HEARD)
  local arrays = ladies.data.from_arrays{graph = data.graph.adjacency, features = FEATURES,
    labels = data.labels, directed = "keep"}
  lu.assertEquals(heard(arrays), HEARD, "a Matrix in Lua has rows that hear")
end

--- A graph whose edges are to go both ways is not turned around, and a note says how many had no
-- reverse.
function tests.test_symmetric()
  local data = ladies.data.from_files{edges = save_npz(path_of "s.npz"), make_features = "degree",
    labels = folder_of("tables", TABLES) .. "/labels.csv", quiet = true}
  lu.assertEquals(turned(data), 0)
  lu.assertTrue(data.graph.adjacency:is_symmetric())
  lu.assertStrContains(table.concat(data.notes, "\n"), "5 of 5 edges had no reverse")
end

return tests
