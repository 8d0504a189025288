--- How sparse matrices are made, compared and refused, against plain dense tables
-- (reference/dense.lua), on random small matrices with empty rows and columns, duplicates,
-- self-loops and weights. test_matrix_algebra.lua has their operations.
local lu = require "luaunit"
local core = require "ladies_core"
local ladies = require "ladies"
local compare = require "reference.compare"
local dense = require "reference.dense"

local fails = lu.assertErrorMsgContains
local index, tensor = ladies.index, ladies.tensor
local cases, assert_is, random_vector = dense.cases, dense.assert_is, dense.random_vector

local tests = {}

-- ---------------------------------------------------------------- making

function tests.test_from_coordinates()
  cases(function(A, D)
    assert_is(A, D)
    local cols = A:col_of()
    local offsets = A:offsets()
    for r = 1, A.n_rows do                                -- columns ascend within a row
      for e = offsets[r] + 1, offsets[r + 1] - 1 do lu.assertTrue(cols[e - 1] < cols[e]) end
    end
    lu.assertEquals(offsets[A.n_rows + 1], A.nnz + 1)
    local all = ladies.range(1, 13):to_table()
    lu.assertEquals(A:empty_rows(), #A - #dense.touched(dense.transpose(D), all))
  end)
  assert_is(ladies.matrix{n_rows = 0, n_cols = 3, rows = index{}, cols = index{}}, dense.new(0, 3))
end

--- CSR arrays may have unsorted rows and repeated entries. The sum of the numbers for one place
-- does not depend on their order: they are sorted first, since sums of doubles depend on it.
function tests.test_repeated_entries_in_any_order()
  local large, given = 2.0 ^ 60, {}
  for _, v in ipairs{{1, large, -large}, {large, 1, -large}, {large, -large, 1}} do
    given[#given + 1] = ladies.matrix{n_rows = 2, n_cols = 2, rows = index{2, 2, 2},
      cols = index{1, 1, 1}, values = tensor(v)}
    given[#given + 1] = ladies.csr{n_rows = 2, n_cols = 2, offsets = index{1, 1, 4},
      columns = index{1, 1, 1}, values = tensor(v)}
  end
  for _, A in ipairs(given) do lu.assertEquals(A:to_dense():to_table(), {{0, 0}, {0, 0}}) end
end

function tests.test_from_arrays()
  local arrays = {n_rows = 3, n_cols = 4, offsets = index{1, 5, 5, 7},
    columns = index{4, 1, 4, 2, 3, 1}}
  local A = ladies.csr(arrays)
  lu.assertNil(A.values)
  assert_is(A, {n_rows = 3, n_cols = 4, {1, 1, nil, 1}, {}, {1, nil, 1}})
  arrays.values = tensor{1, 2, 3, 4, 5, 6}
  local B = ladies.csr(arrays)
  assert_is(B, {n_rows = 3, n_cols = 4, {2, 4, nil, 4}, {}, {6, nil, 5}})
  arrays.values:fill_(0)                                  -- B has its own copy
  lu.assertEquals(B.values:to_table(), {2, 4, 4, 6, 5})
  local sorted = ladies.csr{n_rows = 2, n_cols = 2, offsets = index{1, 2, 3}, columns = index{2, 1},
    values = arrays.values:slice(1, 2)}
  arrays.values:fill_(7)
  lu.assertEquals(sorted.values:to_table(), {0, 0})
end

function tests.test_from_dense()
  cases(function(A, D)
    assert_is(ladies.sparse(A:to_dense()), D)
  end, 6, 9)
  lu.assertEquals(ladies.sparse(tensor{{0, -0.0}, {0 / 0, 0}}).nnz, 1)
  assert_is(ladies.sparse(tensor{0, 5}), {n_rows = 2, n_cols = 1, {}, {5}})
end

function tests.test_refused_constructions()
  local function coo(changes)
    local given = {n_rows = 2, n_cols = 3, rows = index{1, 2}, cols = index{1, 3}}
    for key, value in pairs(changes) do given[key] = value end
    return function() ladies.matrix(given) end
  end
  fails("matrix: row 3 at position 2 is out of range 1..2", coo{rows = index{1, 3}})
  fails("matrix: row 0 at position 1 is out of range 1..2", coo{rows = index{0, 1}})
  fails("matrix: column 4 at position 1 is out of range 1..3", coo{cols = index{4, 1}})
  fails("matrix: row 1 at position 1 is out of range: there are none", coo{n_rows = 0})
  fails("matrix: 1 rows, 2 columns and no values", coo{rows = index{1}})
  fails("matrix: 2 rows, 2 columns and 3 values", coo{values = tensor{1, 2, 3}})
  fails("matrix: 2 rows, 2 columns and 2 x 1 values", coo{values = ladies.ones(2, 1)})
  fails("matrix: n_rows must be an integer 0 to 2147483647, got 2147483648", coo{n_rows = 1 << 31})
  fails("matrix: rows must be of class Index, got table", coo{rows = {1, 2}})
  fails("matrix: values must be of class Tensor, got 1", coo{values = 1})
  fails("matrix: the option rows is missing", function() ladies.matrix{n_rows = 1, n_cols = 1} end)
  fails('matrix: unknown option "nrows"; did you mean "n_rows"?', coo{nrows = 2})
  local function csr(offsets, columns, values)
    return function()
      ladies.csr{n_rows = 2, n_cols = 3, offsets = offsets, columns = columns, values = values}
    end
  end
  fails("csr: 2 offsets for 2 rows; one more than rows expected", csr(index{1, 2}, index{1}))
  fails("csr: the offsets run from 2 to 3; from 1 to 3, one past the columns",
    csr(index{2, 2, 3}, index{1, 2}))
  fails("csr: the offsets run from 1 to 2; from 1 to 3, one past the columns",
    csr(index{1, 2, 2}, index{1, 2}))
  fails("csr: the offsets fall from 4 to 3 behind position 2", csr(index{1, 4, 3}, index{1, 2}))
  fails("csr: column 4 at position 2 is out of range 1..3", csr(index{1, 2, 3}, index{1, 4}))
  fails("csr: values of 1 for 2 columns", csr(index{1, 2, 3}, index{1, 2}, tensor{1}))
end

-- ---------------------------------------------------------------- scaling, sums, normalisation

function tests.test_degrees()
  cases(function(A, D)
    local entries = dense.map(D, function(v) return v and 1 end)
    compare.assert_close(A:scale_rows(random_vector(13)):degrees(), dense.row_sums(entries), 0,
      "degrees")
  end)
end

function tests.test_refused_sums_and_scales()
  local A = ladies.matrix{n_rows = 2, n_cols = 2, rows = index{1}, cols = index{1}}
  fails("the power must be 1 or 2", A.col_sums, A, 3)
  fails("scale_rows: a vector of 2 expected, got 3", A.scale_rows, A, tensor{1, 2, 3})
  fails("scale_cols: a vector of 2 expected, got 2 x 1", A.scale_cols, A, ladies.ones(2, 1))
end

--- A matrix does not change when the vector that scaled it does.
function tests.test_scales_are_copied()
  cases(function(A)
    local w = random_vector(13)
    for _, name in ipairs{"scale_rows", "scale_cols"} do
      local once = A[name](A, w)
      local twice = once[name](once, w)
      local before, hashes = w:clone(), {once:hash(), twice:hash(), A:hash()}
      w:fill_(0)
      lu.assertEquals({once:hash(), twice:hash(), A:hash()}, hashes)
      w:copy_(before)
    end
  end)
end

function tests.test_normalizations_of_negative_sums()
  local A = ladies.matrix{n_rows = 2, n_cols = 2, rows = index{1, 2}, cols = index{2, 1},
    values = tensor{1, -4}}
  fails('normalize: row 2 has the sum -4; "sym" needs sums of zero or more', A.normalize, A, "sym",
    {self_loops = false})
  lu.assertEquals(A:normalize("row", {self_loops = false}):entry_values():to_table(), {1, 1})
  fails("invalid option 'both'", A.normalize, A, "both")
  fails('unknown option "selfloops"; did you mean "self_loops"?', A.normalize, A, "sym",
    {selfloops = true})
end

-- ---------------------------------------------------------------- transposes

function tests.test_transpose_of_a_transpose()
  cases(function(A) lu.assertEquals(A:transpose():transpose():hash(), A:hash()) end, 9, 14)
end

function tests.test_symmetric()
  cases(function(A, D)
    local S, E = A:symmetrize(), dense.symmetrize(D)
    assert_is(S, E)
    lu.assertTrue(S:is_symmetric())
    lu.assertEquals(S:symmetrize():hash(), S:hash())
    lu.assertEquals(A:is_symmetric(), A:transpose():hash() == A:hash())
    lu.assertTrue(S:normalize "sym":is_symmetric())
    local nodes = dense.some(13, 8)
    lu.assertTrue(S:induced(nodes):is_symmetric())        -- whatever the order of its entries
    assert_is(A:induced(nodes):symmetrize(),
      dense.symmetrize(dense.pick(D, nodes:to_table(), nodes:to_table())))
    if S.nnz > 0 then
      lu.assertFalse(S:scale_cols(random_vector(13)):is_symmetric())
    end
  end)
  local A = ladies.matrix{n_rows = 2, n_cols = 2, rows = index{1}, cols = index{2}}
  lu.assertFalse(A:is_symmetric())
  lu.assertFalse(A:slice(index{1, 2}):is_symmetric())     -- not square
  lu.assertTrue(A:symmetrize():is_symmetric())
end

-- ---------------------------------------------------------------- products

function tests.test_products_with_vectors_and_nothing()
  cases(function(A, D)
    local x = ladies.range(1, 11):to_tensor()
    local v = A:matmul(x)
    lu.assertEquals({v.ndim, #v}, {1, 5})
    compare.assert_close(v, dense.matmul(D, x:reshape(11, 1):to_table()), 0, "vector")
    lu.assertEquals(A:matmul(ladies.zeros(11, 0)):to_table(), {{}, {}, {}, {}, {}})
  end, 5, 11)
  local A = ladies.matrix{n_rows = 2, n_cols = 3, rows = index{1}, cols = index{1}}
  fails("matmul: sparse (2 x 3) * (2 x 4)", A.matmul, A, ladies.ones(2, 4))
  fails("matmul: sparse (2 x 3)^T * (3)", A.matmul_t, A, ladies.ones(3))
end

function tests.test_only_square()
  local A = ladies.matrix{n_rows = 3, n_cols = 4, rows = index{1}, cols = index{1}}
  fails("symmetrize: a square matrix expected, got 3 x 4", A.symmetrize, A)
  fails("normalize: a square matrix expected, got 3 x 4", A.normalize, A, "sym")
  fails("diagonal: a square matrix expected, got 3 x 4", A.add_diag, A, 1)
  fails("diagonal: a square matrix expected, got 3 x 4", A.without_loops, A)
end

function tests.test_with_values()
  cases(function(A, D)
    local t = random_vector(A.nnz)
    local B, e = A:scale_rows(random_vector(13)):with_values(t), 0
    assert_is(B, dense.map(D, function(v)
      if v then e = e + 1 end
      return v and t[e]
    end))
    fails(("with_values: a vector of %d expected, got %d"):format(A.nnz, A.nnz + 1),
      A.with_values, A, ladies.ones(A.nnz + 1))
  end)
end

-- ---------------------------------------------------------------- the rest

function tests.test_hash()
  local function make(changes)
    local given = {n_rows = 3, n_cols = 3, rows = index{1, 2}, cols = index{2, 3},
      values = tensor{1, 2}}
    for key, value in pairs(changes) do given[key] = value end
    return ladies.matrix(given)
  end
  local A, hashes = make{}, {}
  for _, B in ipairs{A, make{n_rows = 4}, make{n_cols = 4}, make{rows = index{1, 3}},
    make{cols = index{2, 2}}, make{values = tensor{1, 2 + 2 ^ -22}}, make{values = tensor{2, 1}},
    make{rows = index{}, cols = index{}, values = tensor{}}} do
    local hash = B:hash()
    lu.assertEquals(#hash, 16)
    lu.assertNil(hashes[hash])
    hashes[hash] = true
  end
  lu.assertEquals(make{rows = index{2, 1}, cols = index{3, 2}, values = tensor{2, 1}}:hash(),
    A:hash())
  lu.assertEquals(A:scale_rows(tensor{1, 1, 1}):hash(), A:hash())
  local function alone(row)                    -- of many rows, some are hashed together
    return ladies.matrix{n_rows = 512, n_cols = 1, rows = index{row}, cols = index{1}}:hash()
  end
  lu.assertNotEquals(alone(511), alone(512))
end

function tests.test_text_and_fields()
  local A = ladies.matrix{n_rows = 512, n_cols = 2031, rows = index{1, 7}, cols = index{2, 2}}
  lu.assertEquals(tostring(A), "Matrix 512 x 2031, 2 entries")
  lu.assertEquals(A.edge:to_table(), {1, 2})
  lu.assertNil(A.values)
  fails(': Matrix has no field or method "nrows"; did you mean "n_rows"?',
    function() return A.nrows end)
  fails('Matrix has no field or method "colsums"; did you mean "col_sums"?',
    function() return A:colsums() end)
  fails("Matrix has no elements", function() return A[1] end)
  fails("ladies.Matrix expected, got ladies.Tensor", A.transpose, ladies.ones(2))
end

function tests.test_values_are_a_copy()
  local A = ladies.matrix{n_rows = 1, n_cols = 1, rows = index{1}, cols = index{1},
    values = ladies.tensor{4}}
  A.values:fill_(7)
  lu.assertEquals(A:to_dense():item(), 4)
  local weights = ladies.tensor{4}:requires_grad_()
  A:with_values(weights).values:fill_(7)      -- but a parameter stays itself
  lu.assertEquals(weights:item(), 7)
end

--- A matrix from CSR arrays equals that from single entries, whether its rows are in order or not,
-- and wherever empty ones stand between them.
function tests.test_csr_of_rows_in_any_order()
  local rng = ladies.rng(31)
  for case = 1, 300 do
    local n_rows, n_cols = rng:below(6), 5
    local offsets, columns, rows, values = {1}, {}, {}, {}
    for r = 1, n_rows do
      local last = 0
      for _ = 1, rng:below(4) - 1 do
        -- In two of three cases ascending, as far as there is room.
        local c = case % 3 > 0 and math.min(n_cols, last + rng:below(2)) or rng:below(n_cols)
        if c == last and case % 3 == 1 then break end
        last = c
        columns[#columns + 1], rows[#rows + 1], values[#values + 1] = c, r, rng:below(9)
      end
      offsets[r + 1] = #columns + 1
    end
    local given = {n_rows = n_rows, n_cols = n_cols, offsets = ladies.index(offsets),
      columns = ladies.index(columns), values = #values > 0 and ladies.tensor(values) or nil}
    local one_by_one = core.matrix{n_rows = n_rows, n_cols = n_cols, rows = ladies.index(rows),
      cols = ladies.index(columns), values = given.values}
    lu.assertEquals(core.csr(given):hash(), one_by_one:hash(), case)
  end
end

--- Values that cannot change are not copied; others can, and the matrix stays as it was.
function tests.test_csr_shares_values_that_are_frozen()
  local n = 100000
  local function matrix_of(t)
    return core.csr{n_rows = 1, n_cols = n, offsets = index{1, n + 1},
      columns = ladies.range(1, n), values = t}
  end
  local t = ladies.zeros(n):uniform_(1, 2, ladies.rng(3))
  local copied = matrix_of(t)
  local hash, before = copied:hash(), ladies.memory().tensor
  local frozen = core.freeze(t:clone())
  local shared = matrix_of(frozen)
  lu.assertTrue(ladies.memory().tensor - before < 6 * n)       -- that of the clone alone
  lu.assertEquals(shared:hash(), hash)
  fails("frozen", frozen.fill_, frozen, 0)
  shared.values:fill_(0)
  frozen:release()
  t:fill_(0)
  collectgarbage()
  lu.assertEquals({shared:hash(), copied:hash()}, {hash, hash})
  -- Rows that must be sorted get values of their own.
  local both = core.freeze(tensor{1, 2, 4})
  local sorted = core.csr{n_rows = 1, n_cols = 2, offsets = index{1, 4}, columns = index{2, 1, 2},
    values = both}
  lu.assertEquals({sorted.values:to_table(), both:to_table()}, {{2, 5}, {1, 2, 4}})
end

--- Row sums outside of the range of float32 make neither rows of zeros nor infinities.
function tests.test_sums_out_of_range()
  local function matrix(...)
    return ladies.matrix{n_rows = 2, n_cols = 2, rows = index{1, 1, 2, 2}, cols = index{1, 2, 1, 2},
      values = tensor{1, 1, ...}}
  end
  local large, small = matrix(3e38, 3e38), matrix(1e-40, 1e-40)
  for _, kind in ipairs{"sym", "row"} do
    fails("normalize: row 2 has the sum inf, by which float32 cannot divide", large.normalize,
      large, kind, {self_loops = false})
  end
  fails("row_normalize: row 2 has the sum inf", large.row_normalize, large)
  fails("row_normalize: row 2 has the sum 1.99999e-40, by which float32 cannot divide",
    small.row_normalize, small)
  fails("normalize: row 2 has the sum 1.99999e-40", small.normalize, small, "row",
    {self_loops = false})
  lu.assertTrue(small:normalize("sym", {self_loops = false}):entry_values():is_finite())
  local nan = matrix(0 / 0, 1)
  fails("row_normalize: row 2 has the sum", nan.row_normalize, nan)
end

return tests
