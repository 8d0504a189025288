--- Products with one rounding: matmul_precise and matmul_t_precise of Matrix and Tensor. Their
-- kernels are held to plain loops in double by tests/c/kernel_gemm.c and kernel_spmm.c.
local lu = require "luaunit"
local ladies = require "ladies"
local compare = require "reference.compare"

local index, tensor = ladies.index, ladies.tensor

local tests = {}

-- x as a float32 has it.
local function rounded(x) return (string.unpack("f", string.pack("f", x))) end

-- ---------------------------------------------------------------- dense

-- Products are right with more rows and more terms than one block has.
function tests.test_dense_blocks()
  local m, k, n = 1100, 2049, 3
  local a, b = ladies.ones(m, k), ladies.ones(k, n)
  for i = 1, m do a:set_(i, 1 + i % k, i) end
  for i = 1, k do b:set_(i, 1 + i % n, 2) end
  local ones, sums = {}, b:sum(1):to_table()
  for i = 1, m do
    ones[i] = {}
    for j = 1, n do ones[i][j] = sums[j] + (i - 1) * b:get(1 + i % k, j) end
  end
  compare.assert_close(a:matmul_precise(b), ones, 0, "blocks")
  local wide = a:matmul_t_precise(ladies.ones(m, 2))
  compare.assert_close(wide:sum(1), {a:sum():item(), a:sum():item()}, 0, "transposed blocks")
end

function tests.test_dense_cancellation()
  local e = 2^-12
  local a, b = tensor{{1 + e, 1 + 2 * e, 2^20, -2^20}}, tensor{{1 + e}, {-1}, {1}, {1}}
  lu.assertEquals(a:matmul_precise(b):item(), e * e)
  lu.assertEquals(b:matmul_t_precise(b):item(), rounded((1 + e)^2 + 3))
end

-- ---------------------------------------------------------------- sparse

function tests.test_sparse_cancellation()
  local e = 2^-12
  local A = ladies.csr{n_rows = 1, n_cols = 4, offsets = index{1, 5}, columns = index{1, 2, 3, 4},
    values = tensor{1 + e, 1 + 2 * e, 2^20, -2^20}}
  local x = tensor{{1 + e}, {-1}, {1}, {1}}
  lu.assertEquals(A:matmul_precise(x):item(), e * e)
  lu.assertEquals(A:transpose():matmul_t_precise(x):item(), e * e)
  lu.assertEquals(A:matmul(x):item(), 0)                          -- what float32 makes of it
  lu.assertEquals(A:matmul_precise(x:reshape(4)).ndim, 1)
end

-- ---------------------------------------------------------------- all

function tests.test_same_bits_with_any_number_of_threads()
  local rng = ladies.rng(3)
  local a, b = ladies.zeros(1300, 150):normal_(1, rng), ladies.zeros(1300, 33):normal_(1, rng)
  local rows, cols = {}, {}
  for e = 1, 9000 do rows[e], cols[e] = 1 + e * e % 1300, 1 + e * 7 % 1300 end
  local A = ladies.matrix{n_rows = 1300, n_cols = 1300, rows = index(rows),
    cols = index(cols),
    values = ladies.zeros(9000):normal_(1, rng)}
  local want
  for _, n in ipairs{1, 2, 3, 7} do
    ladies.threads(n)
    local got = {
      a:matmul_t_precise(b):hash(), a:matmul_precise(a, {transpose_b = true}):hash(),
      A:matmul_precise(b):hash(), A:matmul_t_precise(a):hash(),
    }
    want = want or got
    lu.assertEquals(got, want, n .. " threads")
  end
end

function tests.test_shapes()
  local function fails(text, f, ...) lu.assertErrorMsgContains(text, f, ...) end
  local m, A = ladies.ones(2, 3), ladies.sparse(ladies.ones(2, 3))
  fails("matmul: (2 x 3) * (2 x 3)", m.matmul_precise, m, m)
  fails("matmul: (2 x 3)^T * (3 x 1)", m.matmul_t_precise, m, ladies.ones(3, 1))
  fails("matmul: (2 x 3) * (2 x 2)^T", m.matmul_precise, m, ladies.ones(2, 2), {transpose_b = true})
  fails("matmul: sparse (2 x 3) * (2 x 3)", A.matmul_precise, A, m)
  fails("matmul: sparse (2 x 3)^T * (3 x 1)", A.matmul_t_precise, A, ladies.ones(3, 1))
  local none = ladies.zeros(2, 0)
  lu.assertEquals(none:matmul_precise(none, {transpose_b = true}):to_table(), {{0, 0}, {0, 0}})
  lu.assertEquals(m:matmul_precise(ladies.zeros(3, 0)):to_table(), {{}, {}})
  lu.assertEquals(A:matmul_precise(ladies.zeros(3, 0)):to_table(), {{}, {}})
end

return tests
