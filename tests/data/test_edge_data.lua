--- Tests the features, types and times of edges against a plain reference: through the order of the
-- graph's entries, both ways, inverse types, parallel edges, normalisation, slices and mini-batches
-- of every kind, and files.
local lu = require "luaunit"
local ladies = require "ladies"
local message_of = require "tools.message_of"
local notes = require "ladies.data.notes"
local temporary = require "reference.temporary"

local index, npz, tensor = ladies.index, ladies.npz, ladies.tensor
local tests = {}

notes.tell = function() end      -- here they are read from data.notes

-- A random list of edges of n nodes, some of them parallel, some loops. Feature 1 is the number of
-- the edge, so that an edge is known again wherever it comes out.
local function random_list(n, count, seed)
  local rng, list = ladies.rng(seed), {edges = {}, features = {}, types = {}, times = {}}
  for e = 1, count do
    list.edges[e] = {rng:below(n), rng:below(n)}
    list.features[e] = {e, rng:below(100)}
    list.types[e] = ("abc"):sub(rng:below(3)):sub(1, 1)
    list.times[e] = rng:below(5)
  end
  return list
end

local function load(n, list, own)
  local arrays = {edges = list.edges, edge_features = list.features, edge_types = list.types,
    edge_times = list.times, features = ladies.ones(n, 1), labels = {1, 2}}
  for i = 3, n do arrays.labels[i] = 1 + i % 2 end
  for name, value in pairs(own or {}) do arrays[name] = value or nil end
  return ladies.data.from_arrays(arrays)
end

-- The edges of the list as texts "source>target features type time" in a set with their numbers.
local function texts_of(list)
  local found = {}
  for e, ends in ipairs(list.edges) do
    local text = ("%d>%d %g %g %s %d"):format(ends[1], ends[2], list.features[e][1],
      list.features[e][2], list.types[e], list.times[e])
    found[text] = (found[text] or 0) + 1
  end
  return found
end

-- Returns such texts for the entries of a Matrix whose rows are targets: `rows` and `cols` are the
-- ids of its rows and columns, at[k] the edge of entry k; loops that are no edges (0) are left out.
local function texts_in(data, adj, rows, cols, block)
  local found, E = {}, data.edges
  local r, c = adj:row_of():to_table(), adj:col_of():to_table()
  for k, e in ipairs(block.edge:to_table()) do
    local source, target = cols[c[k]], rows[r[k]]
    if e == 0 then
      lu.assertEquals(source, target)
      lu.assertEquals({block.edge_types[k], block.edge_times[k],
        block.edge_features[k]:to_table()}, {0, 0, {0, 0}})
    else
      local features = block.edge_features[k]:to_table()
      lu.assertEquals({block.edge_types[k], block.edge_times[k], features},
        {E.types[e], E.times[e], E.features[e]:to_table()})
      local text = ("%d>%d %g %g %s %d"):format(source, target, features[1], features[2],
        E.type_names[E.types[e]], E.times[e])
      found[text] = (found[text] or 0) + 1
    end
  end
  return found
end

local function all_of(data)
  local A = data.graph.adjacency
  local ids = ladies.range(1, A.n_rows):to_table()
  return texts_in(data, A, ids, ids, data.edges:attach{adj = A})
end

-- ---------------------------------------------------------------- order and directions

function tests.test_kept_edges_follow_their_entries()
  for seed = 1, 10 do
    local n, count = 1 + seed, 4 * seed
    local list = random_list(n, count, seed)
    local data = load(n, list, {directed = "keep"})
    lu.assertEquals(data.graph.n_edges, count)               -- parallel ones too
    lu.assertEquals(all_of(data), texts_of(list))
  end
end

--- With types, a type some of whose edges lack their reverse gets an inverse for all of them.
function tests.test_both_ways()
  for seed = 1, 10 do
    local n, count = 1 + seed, 4 * seed
    local list = random_list(n, count, seed)
    local data = load(n, list)
    local is_there, lacking = {}, {}
    local function key(e, back)
      local ends = list.edges[e]
      return ("%d>%d %s %d"):format(ends[back and 2 or 1], ends[back and 1 or 2], list.types[e],
        list.times[e])
    end
    for e = 1, count do is_there[key(e)] = true end
    for e, name in ipairs(list.types) do
      lacking[name] = lacking[name] or not is_there[key(e, true)]
    end
    local expected = texts_of(list)
    for e, ends in ipairs(list.edges) do
      if lacking[list.types[e]] and ends[1] ~= ends[2] then
        local text = ("%d>%d %g %g inverse %s %d"):format(ends[2], ends[1], list.features[e][1],
          list.features[e][2], list.types[e], list.times[e])
        expected[text] = (expected[text] or 0) + 1
      end
    end
    lu.assertEquals(all_of(data), expected)
    lu.assertTrue(data.graph:is_symmetric())
    for number, inverse in ipairs(data.edges.inverses:to_table()) do
      lu.assertEquals(data.edges.inverses[inverse], number)
    end
  end
end

--- An inverse has a name that no other type has, so that pairs goes through every relation once.
function tests.test_names_of_inverses()
  local data = ladies.data.from_arrays{edges = {{1, 2}, {2, 3}}, edge_types = {1, 2},
    edge_type_names = {"a", "inverse a"}, features = ladies.ones(3, 1), labels = {1, 2, 1}}
  local names = {}
  for name, matrix in pairs(data.graph.relations) do
    names[#names + 1] = name
    lu.assertEquals(matrix.nnz, 1)
  end
  lu.assertEquals(names, {"a", "inverse a", "inverse inverse a", "inverse inverse inverse a"})
end

--- Without types only the edges that lack their reverse get one.
function tests.test_both_ways_without_types()
  local data = ladies.data.from_arrays{edges = {{1, 2}, {2, 1}, {2, 3}, {3, 3}},
    edge_features = {{1}, {2}, {3}, {4}}, features = ladies.ones(3, 1), labels = {1, 2, 1}}
  local A = data.graph.adjacency
  lu.assertEquals(A:row_of():to_table(), {1, 2, 2, 3, 3})
  lu.assertEquals(A:col_of():to_table(), {2, 1, 3, 2, 3})
  lu.assertEquals(data.edges.features:to_table(), {{2}, {1}, {3}, {3}, {4}})
  lu.assertStrContains(data.notes[1], "1 of 3 edges had no reverse and now go both ways")
end

--- Edges that differ in nothing are one, unless they have features or weights.
function tests.test_same_edges()
  local list = {edges = {{1, 2}, {1, 2}, {2, 1}, {1, 2}}, types = {"a", "a", "a", "b"}}
  local data = load(2, list, {directed = "keep"})
  lu.assertEquals({data.graph.n_edges, data.merged}, {3, 1})
  data = load(2, list, {directed = "keep", edge_weights = tensor{1, 2, 3, 4}})
  lu.assertEquals({data.graph.n_edges, data.merged}, {4, 0})
  lu.assertEquals(data.graph.adjacency:entry_values():to_table(), {3, 1, 2, 4})
end

--- EdgeData prints its number of edges, and the parts that there are.
function tests.test_text()
  local list = {edges = {{1, 2}, {2, 3}}}
  lu.assertEquals(tostring(load(3, list, {directed = "keep", parallel = "keep"}).edges),
    "EdgeData 2")
  list.types, list.features = {"a", "a"}, {{1, 2}, {3, 4}}
  lu.assertEquals(tostring(load(3, list, {directed = "keep"}).edges),
    "EdgeData 2, 2 features, 1 type")
end

-- ---------------------------------------------------------------- parallel edges

function tests.test_merged()
  local list = random_list(6, 40, 3)
  local kept = load(6, list, {directed = "keep"})
  local merged = load(6, list, {directed = "keep", parallel = "merge"})
  lu.assertEquals(#merged.edges, #kept.edges)
  lu.assertEquals(merged.edges.features, kept.edges.features)
  lu.assertTrue(merged.graph.n_edges < 40)
  local A, k = merged.graph.adjacency, 0
  local rows, cols = kept.graph.adjacency:row_of(), kept.graph.adjacency:col_of()
  for entry, count in ipairs(merged.edges.counts:to_table()) do
    for _ = 1, count do
      k = k + 1
      lu.assertEquals({A:row_of()[entry], A:col_of()[entry]}, {rows[k], cols[k]})
    end
  end
  lu.assertStrContains(message_of(merged.edges.positions, merged.edges, A),
    "an entry is not one edge; --parallel keep")
  for i, name in ipairs{"a", "b", "c"} do
    lu.assertEquals(merged.graph.relations[name], kept.graph.relations[i])
  end
end

--- Sums over the entries of a graph with parallel edges count each of them.
function tests.test_operations_on_parallel_entries()
  local rows, cols = index{1, 2, 1, 2, 1}, index{2, 1, 2, 2, 2}
  local A, order = ladies.edge_matrix{n_rows = 2, n_cols = 2, rows = rows, cols = cols,
    values = tensor{1, 2, 3, 4, 5}}
  lu.assertEquals(order:to_table(), {1, 3, 5, 2, 4})
  lu.assertEquals(A:entry_values():to_table(), {1, 3, 5, 2, 4})
  lu.assertEquals(A:to_dense():to_table(), {{0, 9}, {2, 4}})
  lu.assertEquals((A:matmul(tensor{{1}, {10}})):to_table(), {{90}, {42}})
  lu.assertEquals(A:transpose():matmul(tensor{{1}, {10}}):to_table(), {{20}, {49}})
  lu.assertEquals(A:row_sums():to_table(), {9, 6})
  lu.assertAlmostEquals(A:normalize("row", {self_loops = false}):entry_values()[1], 1 / 9, 1e-7)
  lu.assertEquals(A:normalize("none"):entry_values():to_table(), {1, 1, 3, 5, 2, 1})
  lu.assertEquals(A:normalize("none"):align(A):to_table(), {0, 1, 2, 3, 4, 5})
  lu.assertFalse(A:is_symmetric())
  local B = ladies.edge_matrix{n_rows = 2, n_cols = 2, rows = index{1, 1, 2, 2},
    cols = index{2, 2, 1, 1}}
  lu.assertTrue(B:is_symmetric())
  lu.assertEquals(B:slice(index{2}, index{1}).edge:to_table(), {3, 4})
  lu.assertEquals(B:transpose():slice(index{2}, index{1}):to_dense():to_table(), {{2}})
end

--- The gradient of a slice's values goes to the parallel entry that each is.
function tests.test_gradients_of_parallel_entries()
  local A = ladies.edge_matrix{n_rows = 2, n_cols = 2, rows = index{1, 1, 2, 1},
    cols = index{2, 2, 1, 1}, values = tensor{1, 2, 3, 4}}
  local step <close> = ladies.step()
  lu.assertNotNil(step)
  local values = A.values:requires_grad_()
  local own = A:with_values(values)
  local S = own:slice(index{1}, index{2, 1});
  (S:entry_values() * tensor{10, 100, 1000}):sum():backward()
  lu.assertEquals(values.grad:to_table(), {10, 100, 1000, 0})
end

-- ---------------------------------------------------------------- mini-batches

-- The blocks of a mini-batch of a sampler have edges that are those of the data set.
local function check_batch(data, batch)
  local expected = all_of(data)
  data.edges:attach_all(batch)
  for _, block in ipairs(batch.blocks) do
    local found = texts_in(data, block.adj, block.dst:to_table(), block.src:to_table(), block)
    for text, count in pairs(found) do
      lu.assertTrue(count <= (expected[text] or 0), text)
    end
  end
end

function tests.test_every_sampler()
  local n = 60
  local data = load(n, random_list(n, 400, 5))
  data:split "50/25/25"
  for _, kind in ipairs{"sym", "row"} do
    local P, S = data.graph:normalize(kind), ladies.samplers
    for name, sampler in pairs{
      ladies = S.ladies(P, {samples = {20, 20}}), full = S.full(P, {layers = 2}),
      fastgcn = S.fastgcn(P, {samples = {20, 20}}),
      graphsage = S.graphsage(P, {samples = {3, 3}}), labor = S.labor(P, {samples = {3, 3}}),
      clustergcn = S.clustergcn(P, {clusters = 4, layers = 2, train = data.train}),
      bandit = S.bandit(P, {samples = {3, 3}}),
    } do
      for batch in ladies.batches(data.train, {batch_size = 16, sampler = sampler, seed = 3,
        edges = data.edges}) do
        if batch.after_step then batch.after_step = nil end
        check_batch(data, batch)
        lu.assertNotNil(batch.blocks[1].edge_features, name)
      end
    end
  end
end

--- Exact inference gives a layer all edges, or those of the nodes that are asked for.
function tests.test_inference()
  local data = load(30, random_list(30, 90, 7))
  local P = data.graph:normalize("row", {self_loops = false})
  local model = {n_layers = 2, P = P}
  function model.layer(_, _, h, block)
    local messages = h[block.adj:col_of()] + block.edge_features
    return ladies.matrix{n_rows = block.adj.n_rows, n_cols = #block.edge,
      rows = block.adj:row_of(), cols = ladies.range(1, #block.edge)}:matmul(messages)
  end
  local features = ladies.ones(30, 2)
  local all = ladies.inference.exact(model, data, {features = features})
  local some = ladies.inference.exact(model, data, {features = features, nodes = index{4, 9}})
  lu.assertEquals(some, all[index{4, 9}])
end

function tests.test_what_is_no_edge()
  local data = load(10, random_list(10, 30, 8))
  local other = ladies.sparse(ladies.ones(10, 10))
  lu.assertStrContains(message_of(data.edges.positions, data.edges, other),
    "the matrix is not made of the data set's graph")
end

-- ---------------------------------------------------------------- files

function tests.test_saved()
  for _, own in ipairs{{}, {parallel = "merge"}, {directed = "keep"}, {edge_features = false},
    {edge_weights = tensor{1, 2, 3}, edge_types = false}, {edge_times = {-5, 7, 3}}} do
    local list = random_list(4, 3, 9)
    for _, name in ipairs{"a.npz", "a.safetensors"} do
      local data, path = load(4, list, own), temporary.path(name)
      ladies.data.save(data, path)
      local back = ladies.data.load(path, {directed = own.directed})
      lu.assertEquals(back.edges:hash(), data.edges:hash())
      lu.assertEquals(back.graph.adjacency, data.graph.adjacency)
      lu.assertEquals({back.edges.type_names, back.edges.time_origin, back.edges.inverses
        and back.edges.inverses:to_table()}, {data.edges.type_names, data.edges.time_origin,
        data.edges.inverses and data.edges.inverses:to_table()})
    end
  end
end

--- An export for PyTorch Geometric has all that is known of edges, each by itself.
function tests.test_exported()
  local list = random_list(12, 40, 5)
  for e, time in ipairs(list.times) do list.times[e] = time - 1000 end
  local path = temporary.path "pyg_edges.npz"
  for _, parallel in ipairs{"keep", "merge"} do
    local data = load(12, list, {directed = "keep", parallel = parallel,
      node_types = {1, 2, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1}})
    ladies.data.export(data, path, {format = "pyg"})
    local back = ladies.data.load(path, {directed = "keep", parallel = parallel})
    for _, part in ipairs{"features", "types", "times"} do
      lu.assertEquals(back.edges[part], data.edges[part], part)
    end
    lu.assertEquals({back.edges.time_origin, back.edges.type_names},
      {data.edges.time_origin, data.edges.type_names})
    lu.assertEquals(back.node_types, data.node_types)
    lu.assertTrue(back.graph.adjacency == data.graph.adjacency)
  end
end

--- A merged graph is kept in its file with all edges, and brings them back where that is asked.
function tests.test_saved_merged()
  local list = random_list(5, 40, 10)
  local path = temporary.path "merged.npz"
  local kept = load(5, list, {directed = "keep"})
  ladies.data.save(load(5, list, {directed = "keep", parallel = "merge"}), path)
  local back = ladies.data.load(path, {parallel = "keep"})
  lu.assertEquals(back.graph.adjacency, kept.graph.adjacency)
  lu.assertEquals(back.edges:hash(), kept.edges:hash())
  ladies.data.save(kept, path)
  lu.assertEquals(ladies.data.load(path).graph.adjacency, kept.graph.adjacency)
  lu.assertEquals(#ladies.data.load(path, {parallel = "merge"}).edges.counts,
    ladies.data.load(path, {parallel = "merge"}).graph.n_edges)
end

local RING = {{0, 1, 2}, {1, 2, 0}}

local function of_npz(own, opts)
  local arrays = {edge_index = npz.int64(RING), y = npz.int64{0, 1, 0}, x = ladies.ones(3, 1)}
  for name, value in pairs(own) do arrays[name] = value end
  local path = temporary.path "pyg.npz"
  npz.write(path, arrays)
  return ladies.data.load(path, opts or {directed = "keep"})
end

--- PyTorch Geometric's arrays: entry (1, 3) of the ring is its third edge.
function tests.test_npz()
  local data = of_npz{edge_attr = tensor{{1, 2}, {3, 4}, {5, 6}}, edge_type = npz.int64{1, 0, 1},
    time = npz.int64{1700000000, 1700000001, 1700000002}, edge_weight = tensor{2, 3, 4},
    node_type = npz.int64{0, 1, 1}, node_type_names = npz.bytes{"user", "item"}}
  lu.assertEquals(data.edges.features:to_table(), {{5, 6}, {1, 2}, {3, 4}})
  lu.assertEquals(data.edges.types:to_table(), {2, 2, 1})
  lu.assertEquals(data.edges.type_names, {"0", "1"})
  lu.assertEquals(data.edges.times:to_table(), {1700000002, 1700000000, 1700000001})
  lu.assertEquals(data.graph.adjacency:entry_values():to_table(), {4, 2, 3})
  lu.assertEquals({data.node_types:to_table(), data.node_type_names},
    {{1, 2, 2}, {"user", "item"}})
  lu.assertEquals(#data.notes, 0)
  data = of_npz{edge_attr = tensor{1, 2, 3}, edge_type = npz.bytes{"b", "a", "b"},
    timestamps = tensor{-4, 1, 2}}
  lu.assertEquals({data.edges.type_names, data.edges.time_origin}, {{"a", "b"}, -4})
  lu.assertEquals(data.edges.times:to_table(), {6, 0, 5})
  lu.assertEquals(data.edges.features:to_table(), {{3}, {1}, {2}})
  -- Names that are given number texts, also those that no edge has.
  data = of_npz{edge_type = npz.bytes{"b", "a", "b"}, edge_type_names = npz.bytes{"b", "c", "a"},
    node_type = npz.bytes{"u", "v", "u"}, node_type_names = npz.bytes{"v", "u"}}
  lu.assertEquals({data.edges.types:to_table(), data.edges.type_names}, {{1, 1, 3},
    {"b", "c", "a"}})
  lu.assertEquals({data.node_types:to_table(), data.node_type_names}, {{2, 1, 2}, {"v", "u"}})
  data = of_npz({edge_index = npz.int64{{0, 0, 1}, {1, 1, 0}}}, {parallel = "keep"})
  lu.assertEquals(data.graph.n_edges, 2)          -- nothing tells the first two apart
end

--- NetworkX's JSON has dates as texts; a type is a name or a number.
function tests.test_json_of_dates()
  local path = temporary.path "dates.json"
  local function load_with(attributes)
    ladies.file.write(path, ([[{"nodes": [{"id": 0, "x": [1], "y": 0}, {"id": 1, "x": [1], "y": 1}],
      "links": [{"source": 0, "target": 1, %s}]}]]):format(attributes))
    return ladies.data.load(path)
  end
  lu.assertEquals(load_with('"time": "2024-03-01T12:30:15Z"').edges.times:to_table(),
    {1709296215, 1709296215})
  lu.assertErrorMsgContains("time[0] is soon; times must be whole numbers", load_with,
    '"time": "soon"')
  lu.assertErrorMsgContains("relation[0] is a list, must be a type", load_with, '"relation": [1]')
end

--- NetworkX's JSON: an edge of a graph without directions goes both ways with its type.
function tests.test_json()
  local path, rest = temporary.path "graph.json", [["nodes": [{"id": 0, "x": [1], "y": 0},
    {"id": 1, "x": [1], "y": 1}, {"id": 2, "x": [1], "y": 0}], "edges": [
    {"source": 0, "target": 1, "type": "b", "time": 3, "edge_attr": [1, 2]},
    {"source": 0, "target": 1, "type": "a", "time": 4, "edge_attr": [3, 4]},
    {"source": 2, "target": 2, "type": "a", "time": 5, "edge_attr": [5, 6]}]}]]
  ladies.file.write(path, '{"directed": true, ' .. rest)
  local data = ladies.data.load(path, {directed = "keep"})
  lu.assertEquals(data.edges.features:to_table(), {{3, 4}, {1, 2}, {5, 6}})
  lu.assertEquals({data.edges.types:to_table(), data.edges.type_names, data.edges.times:to_table()},
    {{1, 2, 1}, {"a", "b"}, {4, 3, 5}})
  ladies.file.write(path, '{"directed": false, ' .. rest)
  data = ladies.data.load(path)
  lu.assertEquals({data.edges.times:to_table(), #data.edges.type_names, #data.notes},
    {{4, 3, 4, 3, 5}, 2, 0})
  ladies.file.write(path, '{"directed": true, ' .. rest:gsub('"time": 4, ', ""))
  lu.assertStrContains(message_of(ladies.data.load, path), "edges[1] has no time, as others have")
  ladies.file.write(path, '{"directed": true, ' .. rest:gsub("%[3, 4%]", "[3]"))
  lu.assertStrContains(message_of(ladies.data.load, path), "edges[1].edge_attr must be a list")
end

--- A table of edges: what its titles say.
function tests.test_tables()
  local folder = temporary.path "purchases"
  ladies.folder.make(folder)
  local function write(name, text) ladies.file.write(folder .. "/" .. name, text) end
  write("edges.csv", "relation,source,feature_amount,target,time,shop,feature_pieces\n"
    .. "buys,0,2.5,1,1700000000,x,1\nsees,0,0,1,1700000009,y,0\nbuys,2,7,1,1700000003,x,3\n")
  write("features.csv", "1\n2\n3\n")
  write("labels.csv", "0\n1\n0\n")
  local data = ladies.data.load(folder, {directed = "keep"})
  lu.assertEquals(data.edges.features:to_table(), {{2.5, 1}, {0, 0}, {7, 3}})
  lu.assertEquals(data.edges.feature_names, {"feature_amount", "feature_pieces"})
  lu.assertEquals({data.edges.types:to_table(), data.edges.type_names},
    {{1, 2, 1}, {"buys", "sees"}})
  lu.assertEquals(data.edges.times:to_table(), {1700000000, 1700000009, 1700000003})
  lu.assertStrContains(data.notes[1], "not used: shop")
  lu.assertEquals(data.graph.n_edges, 3)
  lu.assertEquals(ladies.data.load(folder, {parallel = "merge"}).graph.n_edges, 4)
  for text, message in pairs{
    ["source,target,time\n0,1,1.5\n"] = 'edges.csv: column time, row 1 of the edges: found "1.5", '
      .. "expected a whole number, or a date such as 2024-01-31",
    ["source,target,time\n0,1,5\n1,2,soon\n"] = 'row 2 of the edges: found "soon"',
    ["source,target,time\n0,1,5\n1,2,2023-02-29\n"] = 'row 2 of the edges: found "2023-02-29"',
    ["source,target,time\n0,1,-5\n1,2,1700000000000\n"] = "are more than 2^31 apart",
    ["source,target,time\n0,1,5\n1,2,2023-02-28\n"] = 'row 2 of the edges: found "2023-02-28", '
      .. "expected a number as in row 1",
    ["source,target,time\n0,1,2023-02-28\n1,2,17\n"] = 'row 2 of the edges: found "17", expected '
      .. "a date as in row 1",
    ["source,target,time\n0,1,5\n0,1,\n"] = "line 3, column 3: found nothing, expected a time",
    ["source,target,time,type\n0,1,2023-02-28,a\n0,1,,b\n"] = "line 3, column 3: found nothing, "
      .. "expected a time",
    ["source,target,type\n0,1,\n"] = "edges.csv: line 2, column 3",
    ["source,target,feature\n0,1,x\n"] = 'edges.csv: line 2, column 3: found "x"',
    ["source,target,time\n0,9,1\n"] = 'edges.csv: line 2, column 2: found "9"',
  } do
    write("edges.csv", text)
    lu.assertStrContains(message_of(ladies.data.load, folder), message)
  end
end

--- Times are whole numbers of any sign and size, or dates, which become seconds since 1970.
function tests.test_times_of_tables()
  local path = temporary.path "dates.csv"
  for text, seconds in pairs{
    ["-7"] = -7, ["1700000000000"] = 1700000000000, ["1970-01-01"] = 0, ["1969-12-31"] = -86400,
    -- As `date --utc --date="..." +%s` has them.
    ["2000-02-29"] = 951782400, ["2024-03-01 12:30"] = 1709296200,
    ["2024-03-01T12:30:15.75Z"] = 1709296215, ["2024-03-01 12:30:15+02:00"] = 1709289015,
    ["2024-03-01T12:30:15 -0530"] = 1709316015, ["2100/3/1"] = 4107542400,
  } do
    ladies.file.write(path, ("source,target,date\n0,1,%s\n1,2,%s\n"):format(text, text))
    local data = ladies.data.load(path, {make_features = "random"})
    lu.assertEquals(data.edges.times:max() + data.edges.time_origin, seconds, text)
    lu.assertEquals(data.edges.times:min() + data.edges.time_origin, seconds, text)
  end
end

--- Times of a script's own arrays are numbers or dates, and not both.
function tests.test_times_of_arrays()
  local function of(times)
    return ladies.data.from_arrays{edges = {{1, 2}, {2, 3}}, features = ladies.ones(3, 2),
      labels = {1, 2, 1}, directed = "keep", edge_times = times}
  end
  lu.assertEquals(of{"1970-01-03", "1970-01-02"}.edges.times:to_table(), {172800, 86400})
  lu.assertStrContains(message_of(of, {"1970-01-03", "17"}), "edge_times[1] is 1970-01-03 and "
    .. "edge_times[2] 17; times must be all numbers or all dates")
  lu.assertStrContains(message_of(of, {"soon", "17"}), "edge_times[1] is soon; times must be whole")
end

--- Triples of names are read below a header, in either order, and without one.
function tests.test_triples()
  local path, told = temporary.path "triples.csv", "taken as head, relation and tail"
  for _, case in ipairs{
    {"head,relation,tail\nann,knows,bob\nbob,likes,ann\nann,knows,cy\n"},
    {"object,predicate,subject\nbob,knows,ann\nann,likes,bob\ncy,knows,ann\n"},
    {"ann,knows,bob\nbob,likes,ann\nann,knows,cy\n", told},
    {"ann\tknows\tbob\nbob\tlikes\tann\nann\tknows\tcy\n", told},
  } do
    ladies.file.write(path, case[1])
    local data = ladies.data.load(path, {make_features = "identity", ids = "strings",
      directed = "keep"})
    lu.assertEquals(data.edges.type_names, {"knows", "likes"})
    lu.assertEquals(data.graph.n_nodes, 3)
    local found, A = {}, data.graph.adjacency
    for e, from in ipairs(A:col_of():to_table()) do
      found[e] = ("%s %s %s"):format(data.node_names[from],
        data.edges.type_names[data.edges.types[e]], data.node_names[A:row_of()[e]])
    end
    table.sort(found)
    lu.assertEquals(found, {"ann knows bob", "ann knows cy", "bob likes ann"})
    lu.assertEquals(data.notes[1] ~= nil and data.notes[1]:find(told, 1, true) ~= nil,
      case[2] ~= nil)
  end
end

--- A table of edges alone, in a folder or by itself, is a data set where features are made; titles
-- of both ends are types of nodes where no node is in both columns.
function tests.test_table_alone()
  local folder = temporary.path "shop"
  ladies.folder.make(folder)
  local path = folder .. "/edges.csv"
  local opts = {make_features = "identity", ids = "strings"}
  ladies.file.write(path, "user,item,time,feature_amount\n"
    .. "ann,pen,5,2.5\nbob,ink,7,1\nann,pen,9,3\n")
  ladies.file.write(folder .. "/sales.csv", ladies.file.read(path))
  for _, from in ipairs{folder, folder .. "/sales.csv"} do
    local data = ladies.data.load(from, opts)
    lu.assertEquals({data.graph.n_nodes, data.features.n_cols, data.graph.n_edges}, {4, 4, 6})
    lu.assertEquals(data.node_type_names, {"user", "item"})
    local types = {}
    for node, name in ipairs{"ann", "pen", "bob", "ink"} do
      types[name] = data.node_types[data:find_node(name)]
      lu.assertEquals(data:find_node(name), node)
    end
    lu.assertEquals(types, {ann = 1, pen = 2, bob = 1, ink = 2})
    lu.assertEquals(data.edges.feature_names, {"feature_amount"})
    lu.assertEquals(data.edges.times:max(), 9)
  end
  lu.assertStrContains(message_of(ladies.data.load, folder), "--make-features")
  ladies.file.write(path, "user,item,time\nann,pen,5\npen,ann,7\n")
  local both = ladies.data.load(folder, opts)
  lu.assertNil(both.node_types)
  lu.assertStrContains(both.notes[1], "2 names are in both columns, user and item")
  ladies.file.write(path, "ann,pen,5\npen,bob,7\n")
  lu.assertEquals(ladies.data.load(folder, opts).graph.n_nodes, 3)
  ladies.file.write(path, "source,target,time\n0,1,5\n1,4,7\n")
  lu.assertEquals(ladies.data.load(folder, {make_features = "random"}).graph.n_nodes, 5)
end

function tests.test_refused()
  for _, case in ipairs{
    {{edge_attr = tensor{{1}, {2}}}, "edge_attr has length 2, must have 3, one for each edge"},
    {{edge_attr = tensor{{1}, {2}, {0 / 0}}}, "edge_attr must be finite numbers"},
    {{edge_type = npz.int64{0, 1}}, "edge_type has length 2, must have 3, one for each edge"},
    {{edge_type = npz.int64{0, -1, 1}}, "edge_type[1] is -1, must be in 0.."},
    {{edge_type = tensor{0, 0.5, 1}}, "edge_type[1] is 0.5, must be a type, a whole number from 0"},
    {{edge_type = npz.int64{0, 1, 2}, edge_type_names = npz.bytes{"a", "b"}},
      "edge_type[2] is 2, must be in 0..1"},
    {{edge_type = npz.bytes{"a", "", "b"}}, "edge_type[1] must be the name of a type"},
    {{edge_type = npz.bytes{"a", "c", "b"}, edge_type_names = npz.bytes{"b", "a"}},
      'edge_type[1] is "c", which is none of the names'},
    {{edge_type = npz.int64{0, 1, 2}, edge_type_names = npz.bytes{"a", "b", "a"}},
      'edge_type_names[2] is "a" again, after edge_type_names[0]'},
    {{node_type = npz.int64{0, 1, 0}, node_type_names = npz.bytes{"a", "a"}},
      'node_type_names[1] is "a" again, after node_type_names[0]'},
    {{time = tensor{0, 1.5, 2}}, "time[1] is 1.5; times must be whole numbers"},
    {{time = npz.int64{0, 1 << 40, 2}}, "time: times from 0 to 1099511627776 are more than 2^31"},
    {{time = npz.int64{0, 1}}, "time has length 2, must have 3"},
    {{time = npz.int64{0, 1, 2}, timestamps = npz.int64{0, 1, 2}}, "has both time and timestamps"},
    {{node_type = npz.int64{0, 1}}, "node_type has length 2, must have 3, one for each node"},
  } do
    lu.assertStrContains(message_of(of_npz, case[1]), case[2])
  end
  local base = {edges = {{1, 2}, {2, 3}}, features = ladies.ones(3, 1), labels = {1, 2, 1}}
  for _, case in ipairs{
    {{edge_features = {{1}}}, "edge_features has length 1, must have 2, one for each edge"},
    {{edge_types = {1, 0}}, "edge_types"},
    {{edge_weights = {1, 2, 3}}, "edge_weights has length 3, must have 2, one for each edge"},
    {{edge_types = {1, 3}, edge_type_names = {"a"}}, "edge_types[2] is 3, must be in 1..1"},
    {{edge_types = {1, 2}, edge_type_names = {"a", "b", "a"}},
      'edge_type_names[3] is "a" again, after edge_type_names[1]'},
    {{node_types = {1, 2, 1}, node_type_names = {"a", "a"}},
      'node_type_names[2] is "a" again, after node_type_names[1]'},
    {{edge_features = {{1}, {2}}, edge_feature_names = {"a", "b"}},
      "edge_feature_names has length 2, must have 1"},
    {{edge_types = {1, 2}, graph = ladies.sparse(ladies.ones(3, 3)), edges = false},
      "features, types, times and weights of edges, and parallel edges, are of edges"},
    {{edges = {ladies.index{1, 2}}},
      "edges must be two Indexes, the sources and the targets, got 1"},
    {{edge_feature_names = {"a"}, edge_weights = {1, 2}},
      "there is edge_feature_names without edge_features"},
    {{edge_type_names = {"a"}}, "there is edge_type_names without edge_types"},
    {{node_type_names = {"a"}}, "there is node_type_names without node_types"},
    {{target_names = {"a"}}, "there is target_names without targets"},
    {{features = false, feature_names = {"a"}}, "there is feature_names without features"},
  } do
    local arrays = {}
    for name, value in pairs(base) do arrays[name] = value end
    for name, value in pairs(case[1]) do arrays[name] = value or nil end
    lu.assertStrContains(message_of(ladies.data.from_arrays, arrays), case[2])
  end
end

return tests
