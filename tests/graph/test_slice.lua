--- Tests slices of sparse matrices against plain dense tables (reference/dense.lua).
local lu = require "luaunit"
local core = require "ladies_core"
local ladies = require "ladies"
local dense = require "reference.dense"
local graphs = require "reference.graphs"

local fails = lu.assertErrorMsgContains
local index = ladies.index
local cases, assert_is, some = dense.cases, dense.assert_is, dense.some

local tests = {}

-- Asserts that U.edge says where the entries of rows and columns `rows`, `cols` (Index) are in A.
local function assert_edges(U, rows, cols, A)
  local edge, row, col = U.edge, U:row_of(), U:col_of()
  local parent_row, parent_col = A:row_of(), A:col_of()
  lu.assertEquals(#edge, U.nnz)
  for e = 1, U.nnz do
    lu.assertEquals(parent_row[edge[e]], rows[row[e]])
    lu.assertEquals(parent_col[edge[e]], cols[col[e]])
  end
end

--- Asserts that U has these rows and columns of A, whose dense form is D.
local function assert_part(U, rows, cols, A, D, tolerance)
  assert_is(U, dense.pick(D, rows:to_table(), cols:to_table()), tolerance)
  assert_edges(U, rows, cols, A)
end

function tests.test_touched_columns()
  cases(function(A, D)
    for _, first in ipairs{false, {}, {5, 2, 13}} do
      local dst = some(13, 6)
      local U, src = A:slice(dst, first and {first = index(first)} or nil)
      lu.assertEquals(src:to_table(), dense.touched(D, dst:to_table(), first or nil))
      assert_part(U, dst, src, A, D)
    end
    local none, src = A:slice(index{})
    lu.assertEquals({none.n_rows, none.n_cols, none.nnz, #src, #none.edge}, {0, 0, 0, 0, 0})
    local only, both = A:slice(index{}, {first = index{3, 1}})
    lu.assertEquals({only.n_rows, only.n_cols, only.nnz}, {0, 2, 0})
    lu.assertEquals(both:to_table(), {3, 1})
  end)
end

function tests.test_given_rows_and_columns()
  cases(function(A, D)
    local dst, src, all = some(13, 6), some(13, 8), ladies.range(1, 13)
    local U, same = A:slice(dst, src)
    lu.assertIs(same, src)
    assert_part(U, dst, src, A, D)
    assert_part(A:induced(dst), dst, dst, A, D)
    assert_part(A:pick_cols(src), all, src, A, D)
    assert_part(A:pick_cols(index{}), all, index{}, A, D)
    local twice = dst .. dst
    assert_part(A:rows(twice), twice, all, A, D)
    lu.assertEquals(A:degrees(twice):to_table(), A:rows(twice):degrees():to_table())
  end)
end

--- A slice of any kind knows the matrix that it came from, and still does when its values change.
function tests.test_root()
  local P = ladies.sparse(ladies.ones(13, 13))
  local dst, rng = some(13, 6), ladies.rng(1)
  local slices = {
    slice = P:slice(dst), both = P:slice(dst, dst), rows = P:rows(dst), induced = P:induced(dst),
    picked = P:pick_cols(dst), drawn = P:draw_cols(dst, 4, {rng = rng}),
    sampled = P:sample_rows(dst, 2, {rng = rng}),
  }
  for name, U in pairs(slices) do
    for _, of in ipairs{U, U:pick_cols(index{1, 2}), U:rows(index{2}):rows(index{1}),
      U:scale_cols(ladies.full(U.n_cols, 2)):row_normalize(), U:with_values(ladies.ones(U.nnz))} do
      lu.assertTrue(of.root:is_close(P), name)
      lu.assertNil(of.root.root, name)
    end
  end
  lu.assertNil(P.root)
  lu.assertNil(P:scale_cols(ladies.ones(13)).root)
  lu.assertNil(slices.induced:normalize("row").root)     -- self-loops were added
  local W = P:scale_cols(ladies.full(13, 3))
  lu.assertTrue(W:slice(dst).root:is_close(W))
  lu.assertFalse(W:slice(dst).root:is_close(P))
end

function tests.test_is_close()
  local function matrix(values, cols)
    return ladies.matrix{n_rows = 2, n_cols = 3, rows = index{1, 1, 2}, cols = index(cols or
      {1, 3, 2}), values = ladies.tensor(values)}
  end
  local A = matrix{1, 2, 3}
  lu.assertTrue(A:is_close(A))
  lu.assertTrue(A:is_close(matrix{1, 2, 3}, 0))
  lu.assertTrue(A:is_close(matrix{1, 2.00001, 3}))
  lu.assertFalse(A:is_close(matrix{1, 2.0001, 3}))
  lu.assertTrue(A:is_close(matrix{1, 2.0001, 3}, 1e-3))
  lu.assertFalse(A:is_close(matrix{1, 2, 0 / 0}))
  lu.assertFalse(A:is_close(matrix({1, 2, 3}, {1, 2, 2})))
  lu.assertFalse(A:is_close(A:rows(index{1})))
  lu.assertTrue(matrix{2, 4, 6}:is_close(A:scale_rows(ladies.full(2, 2)), 0))
end

--- A slice of few columns of many rows looks into the columns where the transpose is at hand, or
-- the matrix is known to be symmetric, with the same bits as from the rows.
function tests.test_few_columns()
  local function hub(n)                                   -- long rows and columns
    local ones = {}
    for i = 1, n - 1 do ones[i] = 1 end
    local first, others = index(ones), ladies.range(2, n)
    return ladies.matrix{n_rows = n, n_cols = n, rows = first .. others, cols = others .. first}
  end
  local function check(A)
    local n = A.n_rows
    local values = dense.random_vector(A.nnz)
    A = A:with_values(values):scale_rows(dense.random_vector(n))
    local dst, src = some(n, n), some(n, 2)
    local by_rows = A:slice(dst, src)
    A:transpose()
    local by_cols = A:slice(dst, src)
    lu.assertEquals(by_cols:hash(), by_rows:hash())
    lu.assertEquals(by_cols.edge:to_table(), by_rows.edge:to_table())
    local S = A:symmetrize()
    for _, B in ipairs{S, S:induced(some(n, n))} do       -- and one whose rows are not sorted
      local both, part = B:slice(dst, src), B:rows(dst):pick_cols(src)
      lu.assertEquals(both:hash(), part:hash())
      lu.assertEquals(both.edge:to_table(), part.edge:to_table())
    end
  end
  cases(check, 60)
  check(hub(1400))
end

--- Slices are right for long and short rows on every vector unit, with more columns than the filter
-- that looks for them has bits.
function tests.test_ids_that_share_a_bit()
  local n, rng, own = 140000, ladies.rng(8), core.vector_units()
  local rows, row, col = index{1, 70001, 70002, 139999}, {}, {}
  for i, step in ipairs{10, 70, 30000, 300} do
    for u = i, n, step do row[#row + 1], col[#col + 1] = rows[i], u end
  end
  local A = ladies.matrix{n_rows = n, n_cols = n, rows = index(row), cols = index(col)}
  for _, k in ipairs{1, 3000, n} do
    local cols = ladies.sampling.uniform(n, k, {rng = rng})
    local place, expected = {}, {}
    for j, u in ipairs(cols:to_table()) do place[u] = j end
    for _, u in ipairs(col) do expected[#expected + 1] = place[u] end
    for _, name in ipairs{"own", "sse2", "avx2", "avx512"} do
      if name == "own" or pcall(core.vector_units, name) then
        local U = A:slice(rows, cols)
        if name ~= "own" then core.vector_units(own) end
        lu.assertEquals(U:col_of():to_table(), expected, name)
        assert_edges(U, rows, cols, A)
      end
    end
  end
end

--- A slice does not transpose the whole matrix, and is right for rows with so many entries that
-- they are searched in several chunks, by any number of threads.
function tests.test_many_entries()
  local n, rng, entries = 400, ladies.rng(6), {}
  for v = 1, n do
    for u = 1, n do
      if v % 9 > 0 and (rng:below(2) == 1 or v % 7 == 0) then
        entries[#entries + 1] = {v, u, v + u / 512}
      elseif u % 90 == v % 90 then
        entries[#entries + 1] = {v, u, -v}
      end
    end
  end
  local A = graphs.matrix(n, entries)
  local rows = ladies.sampling.uniform(n, 390, {rng = rng})
  local cols = ladies.sampling.uniform(n, 60, {rng = rng})
  local place, expected = {}, {}
  for j, u in ipairs(cols:to_table()) do place[u] = j end
  for i, v in ipairs(rows:to_table()) do
    expected[i] = {}
    for _, e in ipairs(entries) do
      if e[1] == v and place[e[2]] then table.insert(expected[i], {place[e[2]], e[3]}) end
    end
  end
  for _, count in ipairs{1, 3} do
    ladies.threads(count)
    local U = A:slice(rows, cols)
    local offsets, col, values = U:offsets(), U:col_of(), U:entry_values()
    lu.assertEquals(#offsets, #rows + 1)
    for i, own in ipairs(expected) do
      local found = {}
      for e = offsets[i], offsets[i + 1] - 1 do found[#found + 1] = {col[e], values[e]} end
      lu.assertEquals(found, own)
    end
    assert_edges(U, rows, cols, A)
  end
end

function tests.test_no_transpose()
  local n = 2000
  local A = ladies.matrix{n_rows = n, n_cols = n, rows = ladies.range(1, n - 1),
    cols = ladies.range(2, n)}
  local before = ladies.memory().matrix
  local U = A:slice(index{7}, index{8})
  lu.assertTrue(ladies.memory().matrix - before < n)
  lu.assertEquals(U.nnz, 1)
end

--- Slices of a scaled matrix and of its slices are right in every order.
function tests.test_slices_of_slices()
  local kinds = {
    touched = function(U, dst) return U:slice(dst) end,
    first = function(U, dst) return U:slice(dst, {first = some(U.n_cols, U.n_cols // 4)}) end,
    given = function(U, dst) return U:slice(dst, some(U.n_cols, (U.n_cols + 1) // 2)) end,
    rows = function(U, dst) return U:rows(dst), ladies.range(1, U.n_cols) end,
    picked = function(U)
      local pick = some(U.n_cols, (U.n_cols + 1) // 2)
      return U:pick_cols(pick), pick, true
    end,
  }
  cases(function(A, D)
    local r, c = dense.random_vector(13), dense.random_vector(13)
    local S, E = A:scale_rows(r):scale_cols(c), dense.scale(D, r, c)
    for _, second in pairs(kinds) do
      for _, third in pairs(kinds) do
        local U, rows, cols = S, ladies.range(1, 13), ladies.range(1, 13)
        for _, slice in ipairs{kinds.first, second, third} do
          local dst = some(#U, #U * 3 // 4)
          local part, src, all_rows = slice(U, dst)
          U, rows, cols = part, all_rows and rows or rows[dst], cols[src]
          assert_part(U, rows, cols, A, E, 1e-6)
        end
      end
    end
  end)
end

function tests.test_refused()
  local A = ladies.matrix{n_rows = 3, n_cols = 4, rows = index{1, 3}, cols = index{4, 1}}
  local unknown = (1 << 31) - 1
  fails("slice: node 4 at position 2 is out of range 1..3", A.slice, A, index{1, 4})
  fails("slice: node 2147483647 at position 1 is out of range", A.slice, A, index{unknown})
  fails("slice: node 2 occurs twice, at positions 1 and 3", A.slice, A, index{2, 1, 2})
  fails("slice: first column 5 at position 1", A.slice, A, index{1}, {first = index{5}})
  fails("slice: first column 3 occurs twice", A.slice, A, index{1}, {first = index{3, 3}})
  fails('slice: unknown option "frist"; did you mean "first"?', A.slice, A, index{1}, {frist = 1})
  fails("slice: column 5 at position 2 is out of range 1..4", A.slice, A, index{1}, index{1, 5})
  fails("slice: column 1 occurs twice, at positions 1 and 2", A.slice, A, index{1}, index{1, 1})
  fails("slice: node 0 at position 1 is out of range 1..3", A.rows, A, index{0})
  fails("slice: node 4 at position 1", A.induced, A, index{4})
  fails("pick_cols: position 5 at position 1 is out of range 1..4", A.pick_cols, A, index{5})
  fails("pick_cols: position 2 occurs twice", A.pick_cols, A, index{2, 2})
  fails("degrees: row 4 at position 1", A.degrees, A, index{4})
  fails("table expected, got number", A.slice, A, index{1}, 3)
  fails("ladies.Index expected, got table", A.slice, A, {1})
end

return tests
