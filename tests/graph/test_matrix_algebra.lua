--- Tests that a matrix is the same however it is held: every operation on every way to hold one
-- (values, row scale and column scale, each there or not; a structure that is known to be
-- symmetric, one that is not, a slice) against plain dense tables.
local lu = require "luaunit"
local ladies = require "ladies"
local compare = require "reference.compare"
local dense = require "reference.dense"
local plain = require "reference.plain_gcn"
local tables = require "ladies.base.tables"

local assert_is, random_vector = dense.assert_is, dense.random_vector
local TOLERANCE = 1e-5

local tests = {}

-- ---------------------------------------------------------------- every way to hold a matrix

local N = 9

-- Structures, and what is in them as dense tables of ones.
local function structures()
  math.randomseed(11)
  local function pair(n_rows, n_cols, density)
    return dense.random_pair(math.random, n_rows, n_cols, {density = density or 0.45})
  end
  local A, D = pair(N, N)
  local S, E = A:symmetrize(), dense.symmetrize(D)
  local wide, F = pair(N - 2, N + 4)
  local large, G = pair(N + 4, N + 4)
  local nodes = dense.some(N + 4, N)
  local ids = nodes:to_table()
  return {
    square = {A, D},
    without_entries = {pair(N, N, 0)},
    nearly_full = {pair(N, N, 0.9)},
    symmetric = {S, E},
    wide = {wide, F},
    slice = {large:induced(nodes), dense.pick(G, ids, ids)},
    symmetric_slice = {large:symmetrize():induced(nodes),
                       dense.pick(dense.symmetrize(G), ids, ids)},
    transposed = {wide:transpose(), dense.transpose(F)},
  }
end

-- Row by row, in the order of A, entry e of D times values[e].
local function times_entries(D, A, values)
  local result, rows, cols = dense.new(D.n_rows, D.n_cols), A:row_of(), A:col_of()
  for e = 1, A.nnz do result[rows[e]][cols[e]] = D[rows[e]][cols[e]] * values[e] end
  return result
end

-- Calls f(name, A, D) for `only` these structures (nil: all) with all combinations of factors.
local function every_matrix(f, only)
  for name, pair in pairs(structures()) do
    for held = 0, not only and 7 or only[name] and 7 or -1 do
      local A, D = pair[1], pair[2]
      if held & 1 ~= 0 then
        local values = random_vector(A.nnz)
        A, D = A:with_values(values), times_entries(D, A, values)
      end
      if held & 2 ~= 0 then
        local scale = random_vector(A.n_rows)
        A, D = A:scale_rows(scale), dense.scale(D, scale)
      end
      if held & 4 ~= 0 then
        local scale = random_vector(A.n_cols)
        A, D = A:scale_cols(scale), dense.scale(D, nil, scale)
      end
      f(("%s %s%s%s"):format(name, held & 1 ~= 0 and "v" or "-", held & 2 ~= 0 and "r" or "-",
                             held & 4 ~= 0 and "c" or "-"), A, D)
    end
  end
end

local SQUARE = {square = true, without_entries = true, nearly_full = true, symmetric = true,
  slice = true, symmetric_slice = true}

local function random_rows(n_rows, n_cols)
  return plain.filled(n_rows, n_cols, function() return math.random(-8, 8) / 8 end)
end

-- ---------------------------------------------------------------- against dense tables

local function add_diagonal(D, v)
  return dense.map(D, function(x, r, c) return r == c and (x or 0) + v[r] or x end)
end

-- Operations without ids: {of a Matrix, of a table}.
local operations = {
  transpose = {function(A) return A:transpose() end, dense.transpose},
  row_normalize = {function(A) return A:row_normalize() end, dense.row_normalize},
}
local square_operations = {
  add_diag = {function(A) return A:add_diag(0.75) end,
              function(D) return add_diagonal(D, ladies.full(N, 0.75)) end},
  without_loops = {function(A) return A:without_loops() end, function(D)
    return dense.map(D, function(x, r, c) if r ~= c then return x end end)
  end},
  symmetrize = {function(A) return A:symmetrize() end, dense.symmetrize},
}
for _, kind in ipairs{"sym", "row"} do
  for _, loops in ipairs{true, false} do
    square_operations[("normalize_%s_%s"):format(kind, loops)] = {
      function(A) return A:normalize(kind, {self_loops = loops}) end,
      function(D) return dense.normalize(D, kind, loops) end,
    }
  end
end

function tests.test_operations()
  local function check(list)
    return function(name, A, D)
      assert_is(A, D, TOLERANCE)
      for what, operation in pairs(list) do
        local ok, message = pcall(assert_is, operation[1](A), operation[2](D), TOLERANCE)
        if not ok then lu.fail(("%s of %s: %s"):format(what, name, message.msg or message)) end
      end
    end
  end
  every_matrix(check(operations))
  every_matrix(check(square_operations), SQUARE)
end

function tests.test_operations_with_a_vector()
  every_matrix(function(_, A, D)
    local r, c, e = random_vector(A.n_rows), random_vector(A.n_cols), random_vector(A.nnz)
    assert_is(A:scale_rows(r), dense.scale(D, r), TOLERANCE)
    assert_is(A:scale_cols(c), dense.scale(D, nil, c), TOLERANCE)
    assert_is(A:scale_entries(e), times_entries(D, A, e), TOLERANCE)
    if A.n_rows == A.n_cols then assert_is(A:add_diag(r), add_diagonal(D, r), TOLERANCE) end
  end)
end

function tests.test_sums()
  every_matrix(function(name, A, D)
    for power = 1, 2 do
      compare.assert_close(A:row_sums(power), dense.row_sums(D, power), TOLERANCE, name)
      compare.assert_close(A:col_sums(power), dense.col_sums(D, power), TOLERANCE, name)
    end
    if A.n_rows == A.n_cols then
      local diagonal = {}
      for i = 1, A.n_rows do diagonal[i] = D[i][i] or 0 end
      compare.assert_close(A:diagonal_values(), diagonal, TOLERANCE, name)
    end
  end)
end

--- Loops that stand several times in a graph are one number of the diagonal, their sum.
function tests.test_parallel_loops()
  local A = ladies.edge_matrix{n_rows = 3, n_cols = 3, rows = ladies.index{1, 1, 1, 2, 3},
    cols = ladies.index{1, 1, 2, 1, 3}, values = ladies.tensor{1, 2, 4, 8, 16}}
  local v = ladies.tensor{10, 20, 30}
  compare.assert_close(A:diagonal_values(), {3, 0, 16}, TOLERANCE, "diagonal")
  compare.assert_close(A:add_diag(v):to_dense(), {{13, 4, 0}, {8, 20, 0}, {0, 0, 46}}, TOLERANCE,
    "sum")
  local step <close> = ladies.step()                                -- luacheck: ignore step
  local values = A:entry_values():detach():requires_grad_()
  local recorded = A:with_values(values):add_diag(v)
  compare.assert_close(recorded:to_dense(), A:add_diag(v):to_dense(), TOLERANCE, "recorded")
  A:with_values(values):diagonal_values():sum():backward()
  compare.assert_close(values.grad, {1, 1, 0, 0, 1}, TOLERANCE, "gradient")
end

--- The largest entry of each row and column, also where all are negative; 0 where there is none;
-- and the largest x among a row's columns, whatever its entries are.
function tests.test_maxima()
  local function largest(n, m, at)
    local list = {}
    for i = 1, n do
      for j = 1, m do
        local x = at(i, j)
        if x then list[i] = math.max(list[i] or x, x) end
      end
      list[i] = list[i] or 0
    end
    return list
  end
  local function check(name, A, D)
    compare.assert_close(A:row_max(), largest(A.n_rows, A.n_cols, function(r, c)
      return D[r][c]
    end), TOLERANCE, name)
    compare.assert_close(A:col_max(), largest(A.n_cols, A.n_rows, function(c, r)
      return D[r][c]
    end), TOLERANCE, name)
    local x = random_rows(A.n_cols, 1)
    compare.assert_close(A:neighbour_max(ladies.tensor(x)), tables.map(largest(A.n_rows, A.n_cols,
      function(r, c) return D[r][c] and x[c][1] end), function(y) return {y} end), TOLERANCE, name)
  end
  every_matrix(function(name, A, D)
    check(name, A, D)
    local below = ladies.full(A.n_rows, -1)
    check(name .. ", negative", A:scale_rows(below), dense.scale(D, below))
  end)
end

function tests.test_parts()
  every_matrix(function(_, A, D)
    local rows, cols = dense.some(A.n_rows, 5), dense.some(A.n_cols, 6)
    local r, c = rows:to_table(), cols:to_table()
    local U, src = A:slice(rows, {first = cols})
    assert_is(U, dense.pick(D, r, src:to_table()), TOLERANCE)
    assert_is(A:slice(rows, cols), dense.pick(D, r, c), TOLERANCE)
    assert_is(A:pick_cols(cols), dense.pick(D, nil, c), TOLERANCE)
    assert_is(A:rows(rows .. rows), dense.pick(D, (rows .. rows):to_table()), TOLERANCE)
    if A.n_rows == A.n_cols then assert_is(A:induced(rows), dense.pick(D, r, r), TOLERANCE) end
  end)
end

function tests.test_products()
  every_matrix(function(name, A, D)
    for _, width in ipairs{1, 70} do
      local x, y = random_rows(A.n_cols, width), random_rows(A.n_rows, width)
      compare.assert_close(A:matmul(ladies.tensor(x)), dense.matmul(D, x), TOLERANCE, name)
      compare.assert_close(A:matmul_t(ladies.tensor(y)), dense.matmul(dense.transpose(D), y),
                           TOLERANCE, name)
    end
  end)
end

--- A product of two matrices has an entry wherever entries meet, a sum those of both.
function tests.test_products_and_sums_of_matrices()
  local random = math.random
  every_matrix(function(name, A, D)
    local B, E = dense.random_pair(random, A.n_cols, 11, {weighted = true, density = 0.4})
    local want = dense.map(dense.new(A.n_rows, 11), function(_, r, c)
      local value
      for u = 1, A.n_cols do
        if D[r][u] and E[u][c] then value = (value or 0) + D[r][u] * E[u][c] end
      end
      return value
    end)
    local ok, message = pcall(assert_is, A:matmul_sparse(B), want, 1e-4)
    if not ok then lu.fail(name .. ": " .. (message.msg or message)) end
    local C, F = dense.random_pair(random, A.n_rows, A.n_cols, {density = 0.4})
    local function of_both(sign)
      return dense.map(D, function(v, r, c)
        local w = F[r][c]
        return (v or w) and (v or 0) + sign * (w or 0)
      end)
    end
    assert_is(A + C, of_both(1), TOLERANCE)
    assert_is(A - C, of_both(-1), TOLERANCE)
  end)
  local A = ladies.matrix{n_rows = 2, n_cols = 2, rows = ladies.index{1, 1},
    cols = ladies.index{1, 2}}
  assert_is(A - A, {n_rows = 2, n_cols = 2, {0, 0}, {}})
  assert_is(A + A:rows(ladies.index{2, 2}), {n_rows = 2, n_cols = 2, {1, 1}, {}})
  lu.assertEquals((A:rows(ladies.index{}) + A:rows(ladies.index{})).nnz, 0)
  lu.assertErrorMsgContains("sum of matrices: 2 x 2 and 1 x 2", function()
    return A + A:rows(ladies.index{1})
  end)
  lu.assertErrorMsgContains("matmul_sparse: (2 x 2) * (1 x 2)", A.matmul_sparse, A,
    A:rows(ladies.index{1}))
  lu.assertErrorMsgContains("Matrix expected, got ladies.Tensor", function()
    return A + ladies.ones(2, 2)
  end)
end

--- Paths of two steps in a large graph, whose rows are made in parallel, one at a time.
function tests.test_a_large_product()
  local n = 3000
  local A = ladies.matrix{n_rows = n, n_cols = n, rows = ladies.range(1, 5 * n) % n + 1,
    cols = (ladies.range(1, 5 * n) * 13 + ladies.range(1, 5 * n) // 7) % n + 1}
  local x = ladies.zeros(n, 1):uniform_(-1, 1, ladies.rng(1))
  local twice = A:matmul_sparse(A)
  compare.assert_close(twice:matmul(x), A:matmul(A:matmul(x)), 1e-4, "A A x")
  lu.assertEquals(twice:row_sums(), A:matmul(A:row_sums()))
  lu.assertEquals((A + A):entry_values(), ladies.full(A.nnz, 2))
end

function tests.test_symmetry()
  local function is_symmetric(D)
    for r = 1, D.n_rows do
      for c = 1, D.n_cols do
        local difference = (D[r][c] or 0) - (D[c][r] or 0)
        if not D[r][c] ~= not D[c][r] or math.abs(difference) > TOLERANCE then return false end
      end
    end
    return true
  end
  every_matrix(function(name, A, D)
    lu.assertEquals({name, A:is_symmetric()}, {name, is_symmetric(D)})
  end, SQUARE)
end

return tests
