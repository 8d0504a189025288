--- Random walks: every path of small graphs with its exact probability, of node2vec and with
-- restarts too; the frontier's; bits; disjoint unions.
local lu = require "luaunit"
local ladies = require "ladies"
local compare = require "reference.compare"
local dense = require "reference.dense"
local graphs = require "reference.graphs"
local reference = require "reference.walks"
local statistics = require "reference.statistics"

local fails, index, sampling = lu.assertErrorMsgContains, ladies.index, ladies.sampling

local tests = {}

-- A matrix as a dense table, with nil where there is no entry.
local function table_of(A)
  local D, row, col, value = dense.new(A.n_rows, A.n_cols), A:row_of(), A:col_of(), A:entry_values()
  for e = 1, A.nnz do D[row[e]][col[e]] = value[e] end
  return D
end

-- Node 6 has no entry; the others can be reached from 1, some of them one way.
local function small(weighted)
  local rows = index{1, 1, 1, 2, 2, 3, 3, 3, 4, 5, 5}
  local cols = index{2, 3, 4, 1, 3, 2, 4, 6, 1, 3, 5}
  return ladies.matrix{n_rows = 6, n_cols = 6, rows = rows, cols = cols,
    values = weighted and ladies.tensor{1, 2, 0.5, 3, 1, 0, 4, 1, 2, 1, 1} or nil}
end

local function paths_of(nodes, length)
  local list, all = {}, nodes:to_table()
  for i = 1, #all // (length + 1) do
    list[i] = table.concat(all, " ", (i - 1) * (length + 1) + 1, i * (length + 1))
  end
  return list
end

local OPTIONS = {
  {}, {restart = 0.3}, {p = 4}, {q = 0.25}, {p = 0.2, q = 3}, {p = 2, q = 0.5, restart = 0.2},
  {q = 1e-3}, {p = 1e-4, q = 1e3},
}

function tests.test_every_path()
  local rng, n = ladies.rng(1), 20000
  for _, A in ipairs{small(false), small(true), small(true):row_normalize(),
      small(false):normalize "sym"} do
    local D = table_of(A)
    for i, opts in ipairs(OPTIONS) do
      for _, root in ipairs{1, 3} do
        local roots = {}
        for j = 1, n do roots[j] = root end
        local given = {rng = rng, p = opts.p, q = opts.q, restart = opts.restart}
        local nodes = A:random_walk(index(roots), 3, given)
        statistics.assert_probabilities(paths_of(nodes, 3), reference.paths(D, root, 3, opts),
          ("options %d, root %d"):format(i, root))
      end
    end
  end
end

--- A slice's rows are not sorted by column: node2vec looks for entries all the same.
function tests.test_slices()
  local A = graphs.random(8, 2, 3)
  local order = index{5, 2, 8, 1, 7, 3, 6, 4}
  local S = A:induced(order)
  local roots = {}
  for j = 1, 20000 do roots[j] = 2 end
  local walks = S:random_walk(index(roots), 2, {rng = ladies.rng(2), q = 5})
  statistics.assert_probabilities(paths_of(walks, 2),
    reference.paths(table_of(S), 2, 2, {q = 5}), "slice")
end

function tests.test_roots_and_dead_ends()
  local A, rng = small(false), ladies.rng(3)
  lu.assertEquals(A:random_walk(index{6, 4, 6}, 0, {rng = rng}):to_table(), {6, 4, 6})
  lu.assertEquals(A:random_walk(index{6}, 3, {rng = rng}):to_table(), {6, 6, 6, 6})
  lu.assertEquals(#A:random_walk(index{}, 5, {rng = rng}), 0)
  lu.assertEquals(A:random_walk(index{2, 3}, 2, {rng = rng, restart = 1}):to_table(),
    {2, 2, 2, 3, 3, 3})
end

function tests.test_same_bits()
  local A = ladies.generate.power_law{nodes = 4000, entries = 60000, features = 1, seed = 3}.graph
    .adjacency
  local roots = sampling.permutation(4000, ladies.rng(1))
  for _, opts in ipairs{{}, {p = 0.5, q = 2}, {restart = 0.1}} do
    opts.rng = ladies.rng(7)
    local want = A:random_walk(roots, 8, opts)
    opts.rng = ladies.rng(7)
    lu.assertEquals(A:random_walk(roots:slice(1, 50), 8, opts):hash(), want:slice(1, 450):hash(),
      "walk i depends on i alone")
    lu.assertNotEquals(A:random_walk(roots:slice(1, 50), 8, opts):hash(), want:slice(1, 450):hash())
    for _, n in ipairs{1, 2, 4} do
      ladies.threads(n)
      opts.rng = ladies.rng(7)
      lu.assertEquals(A:random_walk(roots, 8, opts):hash(), want:hash())
    end
  end
end

function tests.test_frontier()
  local A, list = small(false), {}
  for i = 1, 20000 do
    local left = A:frontier_walk(index{1, 3, 6}, 3, {rng = ladies.rng(i)})
    list[i] = table.concat(left:to_table(), " ")
  end
  statistics.assert_probabilities(list, reference.frontier(table_of(A), {1, 3, 6}, 3), "frontier")
  -- A walk ends at node 3, which has no entry.
  local stuck = ladies.matrix{n_rows = 3, n_cols = 3, rows = index{1, 2}, cols = index{2, 3}}
  lu.assertEquals(stuck:frontier_walk(index{1, 1}, 9, {rng = ladies.rng(1)}):sort():to_table(),
    {1, 1, 2, 2})
  lu.assertEquals(#stuck:frontier_walk(index{}, 9, {rng = ladies.rng(1)}), 0)
end

--- Many walkers, each among nodes of one degree: how often each kind is chosen.
function tests.test_large_frontier()
  local n, entries, counts, means = 301, {}, {}, {}
  for v = 1, n do
    for step = 1, v % 7 do entries[#entries + 1] = {v, (v + 7 * step - 1) % n + 1} end
  end
  local A, rng = graphs.matrix(n, entries), ladies.rng(5)
  for r = 1, 6 do counts[r], means[r] = 0, 20000 * r * 43 / #entries end
  for i = 1, 200 do
    for _, v in ipairs(A:frontier_walk(ladies.range(1, n), 100, {rng = rng:fork(i)}):to_table()) do
      counts[v % 7] = counts[v % 7] + 1
    end
  end
  statistics.assert_frequencies(counts, means)
end

function tests.test_errors()
  local A, rng = small(false), ladies.rng(1)
  local function walk(...) return A:random_walk(...) end
  fails("root 7 at position 1 is out of range 1..6", walk, index{7}, 2, {rng = rng})
  fails("length must be at least 0", walk, index{1}, -1, {rng = rng})
  fails("2 walks of 2000000000 steps", walk, index{1, 1}, 2000000000, {rng = rng})
  fails("restart must be 0 to 1, got 1.5", walk, index{1}, 1, {rng = rng, restart = 1.5})
  fails("p and q must be positive and finite, and so must 1/p and 1/q, got 1e-310 and 1", walk,
    index{1}, 1, {rng = rng, p = 1e-310})
  fails("p and q must be positive and finite, and so must 1/p and 1/q, got 0 and 1", walk,
    index{1}, 1, {rng = rng, p = 0})
  fails("the option rng is missing", walk, index{1}, 1)
  fails("a square matrix expected, got 2 x 6", A:rows(index{1, 2}).random_walk,
    A:rows(index{1, 2}), index{1}, 1, {rng = rng})
  local values = ladies.full(11, 1)
  values[3], values[10] = -1, 1 / 0              -- in rows 1 and 5, of which the first is told
  fails("row 1 has an entry that is negative or not finite", A.random_walk, A:with_values(values),
    index{2, 1, 5}, 3, {rng = rng})
  fails("root 0 at position 1", A.frontier_walk, A, index{0}, 1, {rng = rng})
  fails("the steps must be 0 to", A.frontier_walk, A, index{1}, -1, {rng = rng})
end

-- ---------------------------------------------------------------- disjoint unions

function tests.test_block_diagonal()
  dense.cases(function(A, D)
    local a, b = dense.some(13, 5), dense.some(13, 3)
    local U, near = A:slice(a)
    local V = A:induced(b):scale_rows(ladies.full(3, 2))
    local W = ladies.block_diagonal{U, V:scale_cols(ladies.full(3, 0.5)), A:rows(index{})}
    lu.assertEquals({W.n_rows, W.n_cols, W.nnz}, {8, #near + 3 + 13, U.nnz + V.nnz})
    local expected = dense.new(8, #near + 16)
    for r = 1, 5 do
      for c = 1, #near do expected[r][c] = D[a[r]][near[c]] end
    end
    for r = 1, 3 do
      for c = 1, 3 do expected[5 + r][#near + c] = D[b[r]][b[c]] end
    end
    expected = dense.map(expected, function(v) return v or 0 end)
    compare.assert_close(W:to_dense(), expected, 1e-6, "union")
    lu.assertTrue(W.edge == sampling.concat{U.edge, V.edge})
    lu.assertTrue(W.nnz == 0 or W.edge:max() <= A.nnz)
  end)
  local A = graphs.star()
  lu.assertEquals(ladies.block_diagonal{}.n_rows, 0)
  local two = ladies.block_diagonal{A, A}
  lu.assertEquals({two.n_rows, two.nnz, two.root}, {40, 2 * A.nnz})
  lu.assertTrue(two:is_symmetric())
  fails("block_diagonal: matrix 2 is no slice", ladies.block_diagonal, {A:induced(index{1, 2}), A})
  fails("block_diagonal: matrix 2 is no slice", ladies.block_diagonal,
    {A:induced(index{1, 2}), graphs.directed():induced(index{1})})
end

function tests.test_disjoint_union()
  local A = graphs.random(20, 4, 1)
  local function block(dst)
    local adj, src = A:slice(dst, {first = dst})
    return {adj = adj, dst = dst, src = src}
  end
  local one, two = block(index{3, 9}), block(index{9, 4, 1})
  local both = sampling.disjoint_union{one, two}
  lu.assertEquals(both.dst:to_table(), {3, 9, 9, 4, 1})
  lu.assertTrue(both.src == one.src .. two.src)
  local h = ladies.zeros(20, 2):uniform_(0, 1, ladies.rng(1))
  compare.assert_close(both.adj:matmul(h[both.src]), A:matmul(h)[both.dst], 1e-6, "product")
  fails("src of block 2 must be an Index, got nil", sampling.disjoint_union,
    {one, {adj = A, dst = index{1}}})
  fails("the blocks must be an array of tables, got nil", sampling.disjoint_union)
end

return tests
