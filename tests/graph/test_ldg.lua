--- Linear deterministic greedy: the parts of a plain version, node by node, whatever the graph, the
-- passes and the set that is balanced; bounds on the sizes; few entries between parts where there
-- are communities.
local lu = require "luaunit"
local ladies = require "ladies"
local philox = require "reference.philox"

local fails = lu.assertErrorMsgContains
local index, partition = ladies.index, ladies.partition

local tests = {}

-- A graph of n nodes with random entries, in one direction and with self-loops.
local function random_graph(n, entries, seed)
  local rng, rows, cols = ladies.rng(seed), {}, {}
  for i = 1, entries do rows[i], cols[i] = rng:below(n), rng:below(n) end
  return ladies.matrix{n_rows = n, n_cols = n, rows = index(rows), cols = index(cols)}
end

-- The neighbours of every node but itself, an array for each.
local function neighbours_of(A)
  local rows, cols, lists = A:row_of(), A:col_of(), {}
  for v = 1, A.n_rows do lists[v] = {} end
  for e = 1, A.nnz do
    if rows[e] ~= cols[e] then table.insert(lists[rows[e]], cols[e]) end
  end
  return lists
end

-- A number of 0 .. n - 1, of call `pass` of a generator with this seed, for node v (from 0): the
-- upper half of the product of 64 random bits and n, which is small.
local function below(seed, pass, v, n)
  local bits = philox.bits(philox.seed(seed), pass, v)
  local low, high = bits & 0xffffffff, bits >> 32
  return (high * n + (low * n >> 32)) >> 32
end

-- The most nodes in one of k parts of n.
local function capacity(n, k) return math.max(math.ceil(n / k), math.floor(1.03 * (n / k))) end

-- The part 1 .. k of every node, by the definition. `set`: whether a node is of the balanced set.
local function plain(A, k, passes, seed, set, set_size)
  local n, near, part_of = A.n_rows, neighbours_of(A), {}
  local most, most_of_set = capacity(n, k), capacity(set_size, k)
  for pass = 0, passes - 1 do
    local size, size_of_set = {}, {}
    for i = 1, k do size[i], size_of_set[i] = 0, 0 end
    for v = 1, n do
      local best, best_score, best_free
      for j = 0, k - 1 do
        local i = (below(seed, pass, v - 1, k) + j) % k + 1
        local free, links = 1 - size[i] / most, 0
        if set[v] then free = math.min(free, 1 - size_of_set[i] / most_of_set) end
        for _, u in ipairs(near[v]) do links = links + (part_of[u] == i and 1 or 0) end
        local score = links * free
        if not best or score > best_score or score == best_score and free > best_free then
          best, best_score, best_free = i, score, free
        end
      end
      part_of[v], size[best] = best, size[best] + 1
      if set[v] then size_of_set[best] = size_of_set[best] + 1 end
    end
  end
  return part_of
end

function tests.test_as_defined()
  for seed = 1, 6 do
    local n = 13 * seed
    local A = random_graph(n, 40 * seed, seed)
    local set, ids = {}, {}
    for v = 1, n, 3 do set[v], ids[#ids + 1] = true, v end
    for _, k in ipairs{1, 2, 5, 7} do
      for passes = 1, 3 do
        lu.assertEquals(A:ldg(k, ladies.rng(seed), {passes = passes}):to_table(),
          plain(A, k, passes, seed, {}, 0))
        local balanced = A:ldg(k, ladies.rng(seed), {passes = passes, balanced = index(ids)})
        lu.assertEquals(balanced:to_table(), plain(A, k, passes, seed, set, #ids))
      end
    end
  end
end

--- Values do not count, and neither do self-loops.
function tests.test_structure_alone()
  local A = random_graph(60, 300, 3)
  local weighted = A:with_values(ladies.zeros(A.nnz):uniform_(0, 9, ladies.rng(1)))
  lu.assertEquals(weighted:ldg(4, ladies.rng(1)):to_table(), A:ldg(4, ladies.rng(1)):to_table())
  lu.assertEquals(A:add_diag(ladies.ones(60)):ldg(4, ladies.rng(1)):to_table(),
    A:ldg(4, ladies.rng(1)):to_table())
end

-- The sizes of parts, and how many nodes of a set each has.
local function sizes_of(parts, set)
  local sizes, of_set, in_set = {}, {}, {}
  for _, v in ipairs(set:to_table()) do in_set[v] = true end
  for i, part in ipairs(parts) do
    sizes[i], of_set[i] = #part, 0
    for _, v in ipairs(part:to_table()) do of_set[i] = of_set[i] + (in_set[v] and 1 or 0) end
  end
  return sizes, of_set
end

-- The nodes of the first class.
local function of_one_class(data)
  local order, ends = data.labels:group(data.classes)
  return order:slice(1, ends[2] - 1)
end

--- Communities stay together, and no part becomes too large, nor has it too many of the nodes that
-- are to be balanced, even where they are all of one community.
function tests.test_communities()
  local data = ladies.generate.block_model{nodes = 1200, classes = 8, p_inside = 0.1,
    p_outside = 0.001, seed = 2}
  local train = of_one_class(data)
  local cuts = {}
  for _, passes in ipairs{1, 10} do
    local parts, cut = data.graph:partition(4, {by = "ldg", passes = passes})
    lu.assertTrue(math.max(table.unpack((sizes_of(parts, train)))) <= 309)
    cuts[passes] = cut / data.graph.n_edges
  end
  lu.assertTrue(cuts[1] < 0.55 and cuts[10] < 0.3, cuts[1] .. " " .. cuts[10])
  local parts = data.graph:partition(4, {by = "ldg", balanced = train})
  local sizes, of_set = sizes_of(parts, train)
  lu.assertTrue(math.max(table.unpack(sizes)) <= 309)
  lu.assertTrue(math.max(table.unpack(of_set)) <= capacity(#train, 4))
end

function tests.test_metis_balances_too()
  if not ladies.have_metis then return end
  local data = ladies.generate.block_model{nodes = 1200, classes = 8, p_inside = 0.1,
    p_outside = 0.001, seed = 2}
  local train = of_one_class(data)
  local function most(given)
    local _, of_set = sizes_of(data.graph:partition(4, given), train)
    return math.max(table.unpack(of_set)) * 4 / #train
  end
  lu.assertTrue(most{} > 2)                  -- one community is in few parts
  lu.assertTrue(most{balanced = train} < 1.15)
  lu.assertTrue(most{balanced = index{}} == most{})
end

function tests.test_errors()
  local A = random_graph(4, 6, 1)
  fails("passes must be a positive integer, got 0", partition.of, A, 2, {by = "ldg", passes = 0})
  fails('partition: by = "metis" has no option passes', partition.of, A, 2, {passes = 2})
  fails('partition: by = "ldg" has no option weighted', partition.of, A, 2,
    {by = "ldg", weighted = true})
  fails('partition: by = "random" has no option balanced', partition.of, A, 2,
    {by = "random", balanced = index{1}})
  fails("ldg: balanced 5 at position 1 is out of range 1..4", A.ldg, A, 2, ladies.rng(1),
    {balanced = index{5}})
  fails("the passes at least 1, got 2 and 0", A.ldg, A, 2, ladies.rng(1), {passes = 0})
  fails("a square matrix expected", function()
    ladies.matrix{n_rows = 2, n_cols = 3, rows = index{}, cols = index{}}:ldg(2, ladies.rng(1))
  end)
end

return tests
