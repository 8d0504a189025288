--- Sums of neighbours and features of edges after relu, against the same from single operations,
-- and their gradients against central differences. tests/c/kernel_relu_sums.c has many rows,
-- columns beyond a tile, and gradients of some rows.
local lu = require "luaunit"
local ladies = require "ladies"
local compare = require "reference.compare"
local gradcheck = require "reference.gradcheck"
local graphs = require "reference.graphs"

local tests = {}
local FEATURES = 3

local function random(seed, n_rows, n_cols)
  return ladies.zeros(n_rows, n_cols):normal_(1, ladies.rng(seed))
end

-- v, x, f, w and b for k columns.
local function operands(A, k)
  return random(1, 1, A.nnz):reshape(A.nnz), random(2, A.n_cols, k), random(3, A.nnz, FEATURES),
    random(4, FEATURES, k), random(5, 1, k):reshape(k)
end

local function plain(A, v, x, f, w, b)
  local terms = (x:rows(A:col_of()) + f:linear(w, b)):relu()
  return ladies.segments(A:row_of(), A.n_rows):with_values(v):matmul(terms)
end

function tests.test_sums()
  local A = graphs.five_by_six()
  for _, k in ipairs{1, 5, 64, 70} do
    local v, x, f, w, b = operands(A, k)
    compare.assert_close(A:relu_sums(v, x, f, w, b), plain(A, v, x, f, w, b), 1e-5, "sums")
    compare.assert_close(A:relu_sums(v, x, f, w), plain(A, v, x, f, w), 1e-5, "without a bias")
    local rare = ladies.where(x:above(0.5), x, ladies.zeros(A.n_cols, k))
    compare.assert_close(A:relu_sums(v, ladies.sparse(rare), f, w, b),
      A:relu_sums(v, rare, f, w, b), 0, "of sparse rows")
  end
end

function tests.test_gradients()
  local A = graphs.five_by_six()
  local v, x, f, w, b = operands(A, 7)
  local all = {v, x, f, w, b}
  for _, t in ipairs(all) do t:requires_grad_() end
  gradcheck.check("relu_sums", function() return A:relu_sums(v, x, f, w, b) end, all)
  gradcheck.check("relu_sums twice", function()
    return A:relu_sums(v, x, f, w, b):concat(A:relu_sums(v * 2, x, f, w))
  end, all)
  local rare = ladies.sparse(x:detach())
  gradcheck.check("relu_sums of sparse rows", function()
    return A:relu_sums(v, rare, f, w, b)
  end, {v, f, w, b})
end

-- A matrix of n x n with two entries in most rows.
local function large(n)
  local rng = ladies.rng(9)
  local function half()
    return ladies.matrix{n_rows = n, n_cols = n, rows = ladies.range(1, n),
      cols = ladies.sampling.permutation(n, rng)}
  end
  return half() + half()
end

--- An infinite feature changes no gradient where no loss depends on it, as in products.
function tests.test_infinite_where_no_loss_is()
  local A = large(100)
  for _, rows in ipairs{ladies.index{3, 7}, ladies.range(3, 100)} do
    local found = {}
    for i, value in ipairs{0, math.huge} do
      local v, x, f, w, b = operands(A, 8)
      for j = 1, FEATURES do f:set_(1, j, value) end                     -- an entry of row 1
      local step <close> = ladies.step()                                 -- luacheck: ignore step
      for _, t in ipairs{w, b} do t:requires_grad_() end
      A:relu_sums(v, x, f, w, b):rows(rows):sum():backward()
      found[i] = {w.grad:clone(), b.grad:clone()}
    end
    for i = 1, 2 do compare.assert_close(found[2][i], found[1][i], 0, "gradient " .. i) end
  end
end

function tests.test_refusals()
  local A, fails = graphs.five_by_six(), lu.assertErrorMsgContains
  local v, x, f, w, b = operands(A, 4)
  fails("relu_sums: x is 5 x 4, 6 x 4 expected", A.relu_sums, A, v, random(1, 5, 4), f, w, b)
  fails("relu_sums: weights of 3 for 10 entries", A.relu_sums, A, ladies.ones(3), x, f, w, b)
  fails("relu_sums: features of 10 x 2, 10 x 3 expected", A.relu_sums, A, v, x, random(1, 10, 2), w)
  fails("relu_sums: the bias is 3, 4 expected", A.relu_sums, A, v, x, f, w, ladies.ones(3))
  local sparse = ladies.sparse(x)
  local heavy = ladies.ones(sparse.nnz):requires_grad_()
  local step <close> = ladies.step()                                     -- luacheck: ignore step
  fails("carries a gradient", A.relu_sums, A, v, sparse:with_values(heavy), f, w, b)
end

return tests
