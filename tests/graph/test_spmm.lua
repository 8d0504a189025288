--- Tests products of a sparse and a dense matrix that are large, of few columns or of some rows
-- against a plain loop with the same roundings, whose bits they must have. tests/c/kernel_spmm.c
-- has each way that a product takes, at all widths.
local lu = require "luaunit"
local ladies = require "ladies"

local index = ladies.index

local tests = {}

-- x as a float32 has it.
local function rounded(x) return (string.unpack("f", string.pack("f", x))) end

-- Computes the product of A and x row by row in float32, over A's entries in their order.
local function plain(A, by_row, by_col, values, x, width)
  local cols, ends, y = A:col_of(), A:offsets(), {}
  for r = 1, A.n_rows do
    y[r] = {}
    for j = 1, width do y[r][j] = 0.0 end
    for e = ends[r], ends[r + 1] - 1 do
      local c = cols[e]
      local weight = rounded((values and values[e] or 1.0) * (by_col and by_col[c] or 1.0))
      for j = 1, width do y[r][j] = rounded(y[r][j] + rounded(weight * x[c][j])) end
    end
    for j = 1, width do y[r][j] = rounded((by_row and by_row[r] or 1.0) * y[r][j]) end
  end
  return y
end

-- The rows with the vector added to each.
local function with_bias(rows, bias)
  local sums, b = {}, bias:to_table()
  for r, row in ipairs(rows) do
    sums[r] = {}
    for j, x in ipairs(row) do sums[r][j] = rounded(x + b[j]) end
  end
  return sums
end

-- n_entries different entries, sorted by row.
local function structure(n_rows, n_cols, n_entries, rng)
  local rows, cols = {}, {}
  for e = 1, n_entries do rows[e], cols[e] = rng:below(n_rows), rng:below(n_cols) end
  return ladies.matrix{n_rows = n_rows, n_cols = n_cols, rows = index(rows), cols = index(cols)}
end

local function normal(rng, ...) return ladies.zeros(...):normal_(1, rng) end

--- A product with the transpose of a matrix of few columns with many entries does not make the
-- transpose. As a gradient it is added to another one. Its numbers are whole, so that their order
-- makes no difference.
function tests.test_few_columns_add()
  local A, w = structure(70, 5, 700, ladies.rng(7)), ladies.full(5, 70, 2):requires_grad_()
  local _ <close> = ladies.step()
  local loss = A:matmul(w):sum() + (w * 3):sum()
  loss:backward()
  local found = w.grad:to_table()
  for c, degree in ipairs(A:transpose():row_sums():to_table()) do
    for j = 1, 70 do lu.assertEquals(found[c][j], degree + 3) end
  end
end

function tests.test_bias_of_another_length()
  local A, x = ladies.sparse(ladies.ones(3, 3)), ladies.ones(3, 2)
  for found, bias in pairs{["3"] = ladies.ones(3), ["1 x 2"] = ladies.ones(1, 2)} do
    lu.assertErrorMsgContains(("matmul: the bias is %s, 2 expected"):format(found), A.matmul, A, x,
      bias)
  end
end

-- The rows of a tensor as tables, each made when it is wanted.
local function rows_of(x)
  return setmetatable({}, {__index = function(rows, r)
    rows[r] = x[index{r}]:to_table()[1]
    return rows[r]
  end})
end

-- Tests products that go by blocks of x, because x has more rows than the other ways take. A has
-- n_entries in twenty rows; widths[held] is the width of x for a way to hold A: the bits of `held`
-- say whether there are values, scales of rows and scales of columns.
local function assert_blocks(n_entries, widths)
  local rng = ladies.rng(3)
  local A = structure(20, 140000, n_entries, rng)
  for held, width in pairs(widths) do
    local x = normal(rng, A.n_cols, width)
    local values = held & 1 ~= 0 and normal(rng, A.nnz) or nil
    local by_row = held & 2 ~= 0 and normal(rng, A.n_rows) or nil
    local by_col = held & 4 ~= 0 and normal(rng, A.n_cols) or nil
    local B = values and A:with_values(values) or A
    B = by_row and B:scale_rows(by_row) or B
    B = by_col and B:scale_cols(by_col) or B
    local want, bias = plain(B, by_row, by_col, values, rows_of(x), width), normal(rng, width)
    for _, n in ipairs{1, 2, 5} do
      ladies.threads(n)
      lu.assertEquals(B:matmul(x):to_table(), want)
      lu.assertEquals(B:matmul(x, bias):to_table(), with_bias(want, bias))
      lu.assertEquals(B:transpose():matmul_t(x):to_table(), want)
    end
  end
  return A, rng
end

function tests.test_blocks()
  assert_blocks(4000, {[0] = 64, [4] = 48, [5] = 33})
end

--- Rows of few entries make blocks larger; the gradients of several products are added.
function tests.test_large_blocks()
  local A, rng = assert_blocks(1500, {[0] = 64, [1] = 33, [3] = 100, [7] = 65})
  local x, T = normal(rng, A.n_rows, 40):requires_grad_(), A:transpose()
  local g, h = normal(rng, A.n_cols, 40), normal(rng, A.n_cols, 40)
  do
    local _ <close> = ladies.step();
    ((T:matmul(x) * g):sum() + (T:matmul(x) * h):sum()):backward()
  end
  lu.assertEquals(x.grad:to_table(), (A:matmul(g) + A:matmul(h)):to_table())
  -- Where the entries of a row are in no order they are taken row by row.
  local order = ladies.sampling.permutation(A.n_cols, rng)
  local mixed = A:pick_cols(order)
  lu.assertEquals(mixed:matmul(g):to_table(), plain(mixed, nil, nil, nil, rows_of(g), 40))
end

--- Products are right for more entries than are brought into the order of blocks at once; the rows
-- of A are all the same.
function tests.test_tiles()
  local n_rows, n_cols, per_row = 512, 140000, 70000
  local cols, ends = ladies.range(1, per_row), {}
  for i = 0, n_rows do ends[i + 1] = 1 + i * per_row end
  while #cols < n_rows * per_row do cols = cols .. cols end
  local A = ladies.csr{n_rows = n_rows, n_cols = n_cols, offsets = index(ends), columns = cols}
  local scale = normal(ladies.rng(5), n_rows)
  local x = normal(ladies.rng(4), n_cols, 33)
  local y = A:scale_rows(scale):matmul(x)
  local few = A:rows(ladies.range(1, 2)):matmul(x)
  for _, r in ipairs{1, 2, 255, 256, 257, 511, 512} do
    local by = scale[index{r}]:item()
    lu.assertEquals(y[index{r}]:to_table(), (few[index{1}] * by):to_table())
  end
end

-- Asserts that a product with rows of x, named by their places, is that with a copy of them,
-- whether or not one is made.
local function assert_rows(A, x, rows)
  local copy, bias = x[rows], normal(ladies.rng(8), x.n_cols)
  local want, with = A:matmul(copy):to_table(), A:matmul(copy, bias):to_table()
  for _, n in ipairs{1, 2, 5} do
    ladies.threads(n)
    lu.assertEquals(A:matmul(x, nil, rows):to_table(), want)
    lu.assertEquals(A:matmul(x, bias, rows):to_table(), with)
  end
end

--- Rows are read where they are for few entries of wide rows, and copied for many of narrow ones;
-- rows repeat, and those of A may be empty.
function tests.test_rows_where_they_are()
  local rng = ladies.rng(9)
  for _, width in ipairs{1, 7, 64, 200, 602} do
    local x = normal(rng, 300, width)
    for _, n_entries in ipairs{0, 30, 200, 2000} do
      local A = structure(60, 90, n_entries, rng)
      local rows = ladies.sampling.permutation(300, rng):slice(1, 60) .. index{7, 300, 1}
      rows = rows .. rows:slice(1, 27)
      assert_rows(A, x, rows)
      assert_rows(A:with_values(normal(rng, A.nnz)):scale_cols(normal(rng, 90)), x, rows)
      assert_rows(A:scale_rows(normal(rng, 60)), x, rows)
    end
  end
  assert_rows(structure(0, 4, 0, rng), normal(rng, 9, 40), index{9, 9, 1, 2})
  assert_rows(structure(3, 0, 0, rng), normal(rng, 9, 40), index{})
end

--- Rows of so large an x are copied, and the product goes by blocks.
function tests.test_rows_beside_blocks()
  local rng = ladies.rng(10)
  local A, x = structure(20, 140000, 1500, rng), normal(rng, 150000, 40)
  local rows = ladies.sampling.permutation(150000, rng):slice(1, 140000)
  assert_rows(A, x, rows)
  assert_rows(A:with_values(normal(rng, A.nnz)), x, rows)
end

--- Gradients of x, of A's values and of the bias are those with a copy.
function tests.test_gradients_of_rows()
  local rng = ladies.rng(11)
  local A, rows = structure(30, 40, 50, rng), ladies.sampling.permutation(70, rng):slice(1, 40)
  local x, values = normal(rng, 70, 100), normal(rng, A.nnz)
  local bias, weight = normal(rng, 100), normal(rng, 30, 100)
  local function gradients(wanted, f)
    for _, t in ipairs{x, values, bias} do
      t:requires_grad_(wanted[t] or false)
    end
    do
      local _ <close> = ladies.step();
      (f(A:with_values(values)) * weight):sum():backward()
    end
    local found = {}
    for i, t in ipairs{x, values, bias} do
      found[i] = wanted[t] and t.grad:to_table() or false
      t:requires_grad_(false)
    end
    return found
  end
  for _, wanted in ipairs{{[bias] = true}, {[x] = true}, {[values] = true, [bias] = true},
    {[x] = true, [values] = true, [bias] = true}} do
    lu.assertEquals(gradients(wanted, function(B) return B:matmul(x, bias, rows) end),
      gradients(wanted, function(B) return B:matmul(x[rows], bias) end))
  end
end

--- Rows that are read where they are may change after the product: no gradient needs them.
function tests.test_rows_may_change()
  local x, w = ladies.ones(3, 64), ladies.ones(64, 2):requires_grad_()
  do
    local _ <close> = ladies.step()
    local y = ladies.sparse(ladies.ones(1, 2)):matmul(x, nil, index{3, 1}):matmul(w)
    x:fill_(5)
    y:sum():backward()
  end
  lu.assertEquals(w.grad:to_table()[1], {2, 2})
end

function tests.test_rows_that_are_not_there()
  local A, x = ladies.sparse(ladies.ones(3, 2)), ladies.ones(4, 64)
  local function fails(message, rows)
    lu.assertErrorMsgContains(message, A.matmul, A, x, nil, index(rows))
  end
  fails("matmul: row 5 at position 2 is out of range 1..4", {1, 5})
  fails("matmul: row 0 at position 1 is out of range 1..4", {0, 1})
  fails("matmul: 3 rows for a matrix of 2 columns", {1, 2, 3})
  lu.assertErrorMsgContains("Index expected", A.matmul, A, x, nil, "1")
end

return tests
