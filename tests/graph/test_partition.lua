--- Partitions: METIS and random parts are parts, balanced and the same for the same seed; METIS
-- cuts less; odd graphs; the primitives under them.
local lu = require "luaunit"
local ladies = require "ladies"
local dense = require "reference.dense"
local graphs = require "reference.graphs"

local fails = lu.assertErrorMsgContains
local index, partition = ladies.index, ladies.partition
local WAYS = ladies.have_metis and {"metis", "ldg", "random"} or {"ldg", "random"}

local tests = {}

-- A ring of cliques of `size` nodes, whose nodes are numbered crosswise; edges of weight w.
local function ring_of_cliques(n, size, w)
  local entries = {}
  local function id(clique, i) return (i - 1) * n + (clique - 1) % n + 1 end
  local function edge(u, v, weight)
    entries[#entries + 1], entries[#entries + 2] = {u, v, weight}, {v, u, weight}
  end
  for c = 1, n do
    for i = 1, size do
      for j = i + 1, size do edge(id(c, i), id(c, j), w) end
    end
    edge(id(c, 1), id(c + 1, 2), 1)
  end
  return graphs.matrix(n * size, entries)
end

-- Asserts that the parts hold every node 1 .. n once, each ascending; returns their sizes.
local function assert_parts(parts, n, k)
  lu.assertEquals(#parts, k)
  local all, sizes = index{}, {}
  for i, part in ipairs(parts) do
    lu.assertTrue(part == part:sort())
    all, sizes[i] = all .. part, #part
  end
  lu.assertTrue(all:sort() == ladies.range(1, n))
  return sizes
end

-- The entries between different parts, the obvious way.
local function cut_of(A, parts)
  local of, rows, cols, cut = {}, A:row_of(), A:col_of(), 0
  for i, part in ipairs(parts) do
    for _, v in ipairs(part:to_table()) do of[v] = i end
  end
  for e = 1, A.nnz do cut = cut + (of[rows[e]] ~= of[cols[e]] and 1 or 0) end
  return cut
end

function tests.test_parts_are_balanced_parts()
  local A = ring_of_cliques(20, 12, 1)
  local graph = ladies.graph.new(A)
  local cuts = {}
  for _, by in ipairs(WAYS) do
    for _, k in ipairs{1, 2, 7, 20} do
      local parts, cut = graph:partition(k, {by = by})
      local sizes = assert_parts(parts, 240, k)
      lu.assertTrue(math.max(table.unpack(sizes)) <= math.ceil(240 / k * 1.05))
      lu.assertEquals(cut, cut_of(A, parts))
      cuts[by .. k] = cut
    end
  end
  lu.assertEquals(cuts.random1, 0)
  if ladies.have_metis then
    for _, k in ipairs{2, 7, 20} do
      lu.assertTrue(cuts["metis" .. k] < cuts["random" .. k] / 3)
    end
    lu.assertEquals(cuts.metis20, 40)                    -- the edges of the ring
  end
end

function tests.test_without_metis()
  if ladies.have_metis then
    lu.assertTrue(#ring_of_cliques(3, 3, 1):metis(2, ladies.rng(1)) == 9)
  else
    fails("built without METIS", partition.of, ring_of_cliques(3, 3, 1), 2)
    fails("libmetis-dev", partition.of, ring_of_cliques(3, 3, 1), 2)
  end
end

--- A seed gives one partition whatever the number of threads, and another seed another.
function tests.test_deterministic()
  local A = ladies.generate.chung_lu(ladies.ones(1500), ladies.range(1, 1500), 9000, 0,
    ladies.rng(1))
  local function hash(options)
    local text = {}
    for i, part in ipairs((partition.of(A, 8, options))) do text[i] = part:hash() end
    return table.concat(text)
  end
  for _, by in ipairs(WAYS) do
    local first = hash{by = by, seed = 4}
    for n = 1, 3 do
      ladies.threads(n)
      lu.assertEquals(hash{by = by, seed = 4}, first)
    end
    lu.assertEquals(hash{by = by, rng = ladies.rng(4)}, first)
    lu.assertNotEquals(hash{by = by, seed = 5}, first)
  end
end

--- Heavy edges stay within parts when weights count: pairs of weight 100 lie along a light path, or
-- the other way round.
function tests.test_weights()
  if not ladies.have_metis then return end
  for shift = 0, 1 do
    local entries = {}
    for v = 1, 63 do
      local w = v % 2 == shift and -100 or 0.5           -- the absolute value counts
      entries[#entries + 1], entries[#entries + 2] = {v, v + 1, w}, {v + 1, v, w}
    end
    local parts = partition.of(graphs.matrix(64, entries), 16, {weighted = true})
    assert_parts(parts, 64, 16)
    local of = partition.part_of("test", parts, 64)
    local broken = 0
    for v = 1, 63 do
      if v % 2 == shift and of[v] ~= of[v + 1] then broken = broken + 1 end
    end
    lu.assertTrue(broken <= 1, broken)
  end
  fails("entry (1, 2) is not finite", partition.of, graphs.matrix(3, {{1, 2, 0 / 0}, {2, 3}}), 2,
    {weighted = true})
end

function tests.test_odd_graphs()
  local star, path, loops, apart = {}, {}, {}, {}
  for v = 2, 20 do
    star[#star + 1], path[#path + 1], loops[#loops + 1] = {1, v}, {v, v - 1}, {v, v, v}
    if v % 4 ~= 0 then apart[#apart + 1] = {v, v + 1 > 20 and 1 or v + 1} end
  end
  local cases = {{20, star}, {20, path}, {20, loops}, {20, apart}, {20, {}}, {1, {{1, 1}}}, {0, {}},
    {2, {{1, 2}}}}
  for _, by in ipairs(WAYS) do
    for _, case in ipairs(cases) do
      local A = graphs.matrix(case[1], case[2])
      for _, k in ipairs{1, 2, 3, 19, 20, 21, 50} do
        local parts, cut = partition.of(A, k, {by = by})
        local sizes = assert_parts(parts, A.n_rows, k)
        lu.assertEquals(cut, cut_of(A, parts))
        if k >= A.n_rows then lu.assertTrue(math.max(table.unpack(sizes)) <= 1) end
      end
    end
  end
end

function tests.test_errors()
  local A = graphs.matrix(4, {{1, 2}})
  fails('did you mean "metis"', partition.of, A, 2, {by = "metsi"})
  fails("must be a positive integer, got 0", partition.of, A, 0)
  for _, by in ipairs(WAYS) do
    fails("4000000000 parts of 4 nodes; at most 65536 expected", partition.of, A, 4000000000,
      {by = by})
  end
  fails("65537 parts of 2 nodes; at most 65536 expected", partition.from_index, index{1, 3}, 65537)
  lu.assertEquals(#partition.from_index(index{1, 3}, 65536), 65536)
  fails("the number of parts must be a positive integer", partition.from_index, index{1}, "2")
  fails("must be square", partition.of, ladies.matrix{n_rows = 2, n_cols = 3, rows = index{},
    cols = index{}}, 2)
  fails("the parts of 3 nodes for a 4 x 4 matrix", A.cut, A, index{1, 1, 1})
  fails("group: id 3 at position 2 is out of range 1..2", index{1, 3}.group, index{1, 3}, 2)
  fails("here: node 2 is in parts[1] and in parts[2]", partition.part_of, "here",
    {index{1, 2}, index{2}}, 4)
  fails("here: parts[1] has the node 5", partition.part_of, "here", {index{5}}, 4)
end

function tests.test_group()
  local order, ends = index{3, 1, 3, 2, 3}:group(4)
  lu.assertEquals(order:to_table(), {2, 4, 1, 3, 5})
  lu.assertEquals(ends:to_table(), {1, 2, 3, 6, 6})
  order, ends = index{}:group(0)
  lu.assertEquals({#order, ends:to_table()}, {0, {1}})
end

function tests.test_diagonals()
  dense.cases(function(A, D)
    local diagonal, v = {}, {}
    for i = 1, 13 do diagonal[i], v[i] = D[i][i] or 0, i end
    lu.assertEquals(A:diagonal_values():to_table(), diagonal)
    dense.assert_is(A:add_diag(ladies.tensor(v)), dense.map(D, function(x, r, c)
      return r == c and (x or 0) + r or x
    end))
  end)
  local A = graphs.matrix(3, {{1, 1, 2}, {1, 3, 5}})
  lu.assertEquals(A:scale_rows(ladies.tensor{3, 1, 1}):diagonal_values():to_table(), {6, 0, 0})
  fails("a vector of 3 expected", A.add_diag, A, ladies.ones(2))
end

--- An induced subgraph of a graph that is known to be symmetric is known to be, and its transposed
-- products are right.
function tests.test_induced_symmetric()
  local A = ring_of_cliques(5, 4, 1):normalize "sym"
  lu.assertTrue(A:is_symmetric())
  local nodes = index{17, 3, 8, 4, 20, 1, 9}
  local S = A:induced(nodes)
  local x = ladies.tensor{1, 2, 3, 4, 5, 6, 7}:reshape(7, 1)
  lu.assertEquals(S:matmul_t(x):to_table(), S:transpose():matmul(x):to_table())
  local parent, edge = A:entry_values(), S.edge
  lu.assertEquals(parent[edge]:to_table(), S:entry_values():to_table())
end

return tests
