--- Nodes in the order of parts of the graph: the same data set under other numbers, shards that end
-- where parts do; and the training nodes divided among the mini-batches of a step.
local lu = require "luaunit"
local ladies = require "ladies"
local core = require "ladies_core"
local message_of = require "tools.message_of"
local node_order = require "ladies.data.parts"
local shell = require "tools.shell"

local tests = {}

local BY = ladies.have_metis and {"metis", "ldg"} or {"ldg"}

-- A graph of eight communities, with names and types of nodes, and types, times and features of
-- edges, some of which are parallel and share an entry where `merged`.
local function dataset(merged)
  local rng = ladies.rng(3)
  local made = ladies.generate.block_model{nodes = 1600, classes = 8, p_inside = 0.04,
    p_outside = 0.0005, features = 5, train = 0.2, val = 0.1, seed = 4}
  local A, names, node_types = made.graph.adjacency, {}, {}
  for v = 1, 1600 do names[v], node_types[v] = "node " .. v, v % 3 + 1 end
  local sources, targets = A:col_of(), A:row_of()
  if merged then
    sources, targets = sources .. sources:slice(5, 900), targets .. targets:slice(5, 900)
  end
  local edge_types, times = {}, {}
  for e = 1, #sources do edge_types[e], times[e] = e % 4 + 1, rng:below(1000) end
  return ladies.data.from_arrays{name = "eight", edges = {sources, targets}, directed = "keep",
    parallel = merged and "merge" or nil, features = made.features, labels = made.labels,
    train = made.train, val = made.val, test = made.test, node_names = names,
    node_types = ladies.index(node_types), edge_types = ladies.index(edge_types),
    edge_features = ladies.zeros(#sources, 2):normal_(1, rng), edge_times = ladies.index(times)}
end

-- The edges of the entries `at` of a graph, entry by entry, as positions.
local function edges_at(data, at)
  local order, ends = data.edges:entries():group(data.graph.n_edges)
  local list = {}
  for _, e in ipairs(at:to_table()) do
    for k = ends[e], ends[e + 1] - 1 do list[#list + 1] = order[k] end
  end
  return ladies.index(list)
end

-- Asserts that two data sets are the same under the numbers `former` that nodes of the first have
-- in the second, but for the features.
local function assert_same(data, former, whole)
  lu.assertTrue(former:sort() == ladies.range(1, #whole))
  lu.assertEquals(data.labels:to_table(), whole.labels[former]:to_table())
  lu.assertEquals(data.node_types:to_table(), whole.node_types[former]:to_table())
  for _, part in ipairs{"train", "val", "test"} do
    lu.assertTrue(former[data[part]]:sort() == whole[part]:sort())
  end
  for _, v in ipairs{1, 77, 1600} do
    lu.assertEquals(data.node_names[v], whole.node_names[former[v]])
  end
  local A, B = whole.graph.adjacency, data.graph.adjacency
  lu.assertEquals(B.nnz, A.nnz)
  local at = A:find(former[B:row_of()], former[B:col_of()])
  lu.assertEquals(at:min() > 0, true)
  local edges = edges_at(whole, at)
  for _, part in ipairs{"types", "times", "features"} do
    lu.assertEquals(data.edges[part]:hash(), whole.edges[part][edges]:hash())
  end
end

function tests.test_another_order()
  for i, by in ipairs(BY) do
    local whole = dataset(i == #BY)
    local data, order = node_order.in_order("here", whole, {parts = 4, by = by})
    lu.assertTrue(data.former_ids == order)
    assert_same(data, order, whole)
    local parts, first = whole.graph:partition(4, {by = by, balanced = whole.train}), 1
    for k, last in ipairs(data.part_ends:to_table()) do
      lu.assertEquals(order:slice(first, last):to_table(), parts[k]:to_table())
      first = last + 1
    end
    local again, twice = node_order.in_order("here", data, {parts = 2, by = "ldg"})
    lu.assertEquals(again.former_ids:to_table(), order[twice]:to_table())
    assert_same(again, again.former_ids, whole)
  end
end

--- Shards end at the tile that is nearest to the end of their parts, and have the features of their
-- nodes; what they are read as is told by `former_ids`.
function tests.test_in_shards()
  local folder <close> = shell.folder()
  local whole = dataset()
  local source = folder.path .. "/source.safetensors"
  ladies.data.save(whole, source)
  for _, graph in ipairs{false, true} do
    local path = folder.path .. (graph and "/graph" or "/features")
    ladies.data.to_shards(graph and whole or source, path, {shards = 2, parts = 4, by = "ldg",
      shard_graph = graph, features_in = not graph and "file" or nil})
    local data = ladies.data.load(path)
    local former = data.former_ids
    lu.assertEquals(#data.part_ends, 4)
    lu.assertEquals(data.features:to_tensor():hash(), whole.features:rows(former):hash())
    assert_same(data, former, whole)
    local file <close> = ladies.safetensors.open(path .. "/shard-1-of-2.safetensors")
    local rows = file:shape "attr_matrix"[1]
    lu.assertEquals(rows % 192, 0)
    lu.assertTrue(math.abs(rows - data.part_ends[2]) <= 96)
    local copy = folder.path .. "/copy.safetensors"
    ladies.data.save(data, copy)
    lu.assertTrue(ladies.data.load(copy).former_ids == former)
  end
end

-- The share of the seeds of all places that are in the part of the graph, one of n, that most of
-- their place are in.
local function at_home(lists, part_of, n)
  local home, all = 0, 0
  for _, seeds in ipairs(lists) do
    home = home + math.max(table.unpack(part_of[seeds]:counts(n)))
    all = all + #seeds
  end
  return home / all
end

-- Asserts that lists have each of the nodes once, and differ by at most one.
local function assert_divided(lists, nodes)
  local all = ladies.index{}
  for _, list in ipairs(lists) do
    all = all .. list
    lu.assertTrue(math.abs(#list - #nodes / #lists) < 1)
  end
  lu.assertTrue(all:sort() == nodes:sort())
end

--- Seeds come from METIS's parts of this n and seed, each node in one place, as many everywhere.
function tests.test_seeds()
  if not ladies.have_metis then return end
  local data = dataset()
  local few = data.train:slice(1, 101)
  for _, n in ipairs{1, 3, 8, 16} do
    for _, nodes in ipairs{data.train, few} do
      local lists = ladies.data.seed_parts(data, n, {seed = 5, nodes = nodes})
      assert_divided(lists, nodes)
      local parts = data.graph:partition(n, {seed = 5, balanced = nodes})
      local part_of = ladies.partition.part_of("test", parts, #data)
      lu.assertTrue(at_home(lists, part_of, n) > 0.9, n)
    end
  end
  local function first(seed) return ladies.data.seed_parts(data, 8, {seed = seed})[1]:to_table() end
  lu.assertEquals(first(5), first(5))
  lu.assertNotEquals(first(5), first(6))
end

--- In a data set whose nodes are in the order of parts, seeds follow that order: a place has
-- several parts, or a part several places; the seed does not matter.
function tests.test_seeds_in_given_parts()
  local data = node_order.in_order("here", dataset(), {parts = 4, by = "ldg"})
  local ids = {}
  for i, last in ipairs(data.part_ends:to_table()) do
    for v = #ids + 1, last do ids[v] = i end
  end
  local part_of = ladies.index(ids)
  for _, n in ipairs{1, 2, 4, 8, 12} do
    local lists = ladies.data.seed_parts(data, n)
    assert_divided(lists, data.train)
    local home = at_home(lists, n > 4 and part_of or (part_of * n + (4 - n)) // 4, 4)
    lu.assertTrue(home > 0.95, n .. " " .. home)
    lu.assertEquals(lists[n]:to_table(),
      ladies.data.seed_parts(data, n, {seed = 9})[n]:to_table())
  end
  lu.assertStrContains(message_of(ladies.data.seed_parts, data, 3),
    "eight is in 4 parts: 3 mini-batches of a step are neither a multiple nor a divisor of them")
end

function tests.test_refused()
  local folder <close> = shell.folder()
  local data = dataset()
  local function refused(opts)
    return message_of(ladies.data.to_shards, data, folder.path .. "/x", opts)
  end
  lu.assertStrContains(refused{shards = 4, parts = 6},
    "ladies.data.to_shards: 6 parts for 4 shards: a multiple of the shards is expected")
  lu.assertStrContains(refused{shards = 4, by = "ldg"}, "by is how parts are made: give their")
  lu.assertStrContains(refused{shards = 1, parts = 1601, by = "ldg"},
    "part 1601 of 1601 would have no node: fewer parts are expected")
  lu.assertStrContains(message_of(ladies.data.seed_parts, data, 999), "999 parts for 320 training")
  shell.refuses("--parts and --by go with --out",
    shell.run_ladies{"import", "wordnet", "--parts", "4"})
end

--- A file that says something impossible of its parts is refused.
function tests.test_damaged()
  local folder <close> = shell.folder()
  local path = folder.path .. "/x.npz"
  local data = node_order.in_order("here", dataset(), {parts = 4, by = "ldg"})
  for _, case in ipairs{{"part_ends", ladies.index{5, 3, 1600}, "part_ends must ascend to the"},
      {"part_ends", ladies.index{5, 1599}, "part_ends must ascend to the last node"},
      {"part_ends", ladies.index{1601}, "part_ends[0] is 1600, must be in 0..1599"},
      {"former_ids", ladies.index{1, 2}, "former_ids has length 2, must have 1600"}} do
    local key, value, text = table.unpack(case)
    local kept = data[key]
    data[key] = value
    core.folder.remove(path)
    ladies.data.save(data, path)
    data[key] = kept
    lu.assertStrContains(message_of(ladies.data.load, path), text)
  end
end

return tests
