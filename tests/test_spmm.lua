--- Products of a sparse and a dense matrix against a plain loop with the same roundings: the same
-- bits, whichever way a product takes.
local lu = require "luaunit"
local ladies = require "ladies"

local index = ladies.index

local tests = {}

-- x as a float32 has it.
local function rounded(x) return (string.unpack("f", string.pack("f", x))) end

-- Row by row the products of A's entries, in their order, and rows of x: in float32.
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

-- Compares A in every way to hold it, and its transpose, with the plain loop.
local function assert_plain(A, width, rng)
  local x, x_t = normal(rng, A.n_cols, width), normal(rng, A.n_rows, width)
  local rows, rows_t, T = x:to_table(), x_t:to_table(), A:transpose()
  for held = 0, 7 do
    local values = held & 1 ~= 0 and normal(rng, A.nnz) or nil
    local by_row = held & 2 ~= 0 and normal(rng, A.n_rows) or nil
    local by_col = held & 4 ~= 0 and normal(rng, A.n_cols) or nil
    local B = values and A:with_values(values) or A
    local of_t = values and B:transpose():entry_values()
    B = by_row and B:scale_rows(by_row) or B
    B = by_col and B:scale_cols(by_col) or B
    local want, bias = plain(A, by_row, by_col, values, rows, width), normal(rng, width)
    lu.assertEquals(B:matmul(x):to_table(), want)
    lu.assertEquals(B:matmul(x, bias):to_table(), with_bias(want, bias))
    lu.assertEquals(B:matmul_t(x_t):to_table(), plain(T, by_col, by_row, of_t, rows_t, width))
  end
end

--- Few columns with many entries: the product with the transpose is made without it.
function tests.test_few_columns()
  local rng = ladies.rng(6)
  local A = structure(70, 5, 700, rng)
  for _, width in ipairs{1, 64, 65, 150} do assert_plain(A, width, rng) end
end

--- The gradient by such a product, added to another one: whole numbers, which no order changes.
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

function tests.test_every_width_of_tiles()
  local rng = ladies.rng(1)
  local A = structure(12, 20, 40, rng)
  for _, width in ipairs{1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, 127, 191} do
    assert_plain(A, width, rng)
  end
end

function tests.test_bias_of_another_length()
  local A, x = ladies.sparse(ladies.ones(3, 3)), ladies.ones(3, 2)
  for found, bias in pairs{["3"] = ladies.ones(3), ["1 x 2"] = ladies.ones(1, 2)} do
    lu.assertErrorMsgContains(("matmul: the bias is %s, 2 expected"):format(found), A.matmul, A, x,
      bias)
  end
end

function tests.test_operands_that_no_cache_holds()
  local rng = ladies.rng(2)
  assert_plain(structure(40, 9000, 60, rng), 31, rng)
end

-- The rows of a tensor as tables, each made when it is wanted.
local function rows_of(x)
  return setmetatable({}, {__index = function(rows, r)
    rows[r] = x[index{r}]:to_table()[1]
    return rows[r]
  end})
end

-- More rows of x than go without blocks, and so many entries in twenty rows; widths[held]: of x.
local function assert_blocks(n_entries, widths)
  local rng, threads = ladies.rng(3), ladies.threads()
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
  ladies.threads(threads)
  return A, rng
end

function tests.test_blocks()
  assert_blocks(4000, {[0] = 64, [4] = 48, [5] = 33})
end

--- Few entries a row, which make blocks larger; and gradients that are added to others.
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

--- More entries than are brought into the order of blocks at once; the rows are all the same.
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

return tests
