--- Powers, whole numbers, masks and the choice by them, softmax, running sums, and columns of
-- tensors, against loops over numbers. Their gradients are in test_gradient_contract.lua's lists.
local lu = require "luaunit"
local ladies = require "ladies"
local compare = require "reference.compare"

local fails = lu.assertErrorMsgContains
local tensor = ladies.tensor
local nan, inf = 0 / 0, math.huge

local tests = {}

local rows = {{1, -2, 3.5}, {0, 4, -1}, {2, 2, 2}, {-3, 0.5, 8}}
local x = tensor(rows)

--- The table of f(r, j) for an n x k matrix.
local function table_of(n, k, f)
  local t = {}
  for r = 1, n do
    t[r] = {}
    for j = 1, k do t[r][j] = f(r, j) end
  end
  return t
end

-- ---------------------------------------------------------------- powers and absolute values

function tests.test_powers()
  local base, exponent = tensor{2, 9, -2, -2, 0, 0, 4, inf}, tensor{3, 0.5, 3, -2, 0, 2, -0.5, -1}
  lu.assertEquals((base ^ exponent):to_table(), {8, 3, -8, 0.25, 1, 0, 0.5, 0})
  lu.assertEquals((x ^ 3):to_table(), table_of(4, 3, function(r, j) return rows[r][j] ^ 3 end))
  lu.assertEquals((2 ^ tensor{-1, 0, 3}):to_table(), {0.5, 1, 8})
  local root = (tensor{-1} ^ 0.5):item()
  lu.assertTrue(root ~= root)
end

--- A vector, which is computed in pieces, has the numbers of a matrix of one column.
function tests.test_long_vectors()
  local n, rng = 70001, ladies.rng(4)
  local a, b = ladies.zeros(n):normal_(1, rng), ladies.zeros(n):normal_(1, rng)
  for _, f in ipairs{
    function(u, v) return u + v end, function(u, v) return u / v end,
    function(u) return u - 3 end, function(u) return tensor{3} / u end,
  } do
    lu.assertEquals(f(a, b):hash(), f(a:reshape(n, 1), b:reshape(n, 1)):reshape(n):hash())
  end
end

function tests.test_shapes_of_powers()
  lu.assertEquals((x ^ tensor{1, 2, 0}):to_table(), table_of(4, 3, function(r, j)
    return rows[r][j] ^ ({1, 2, 0})[j]
  end))
  local column = {1, 2, 0, 4}
  lu.assertEquals((tensor(column):reshape(4, 1) ^ x):to_table(), table_of(4, 3, function(r, j)
    return column[r] ^ rows[r][j]
  end))
  fails("pow: shapes 4 x 3 and 2 do not fit", function() return x ^ tensor{1, 2} end)
  fails("pow: shapes 2 and 4 x 3 do not fit", function() return tensor{1, 2} ^ x end)
end

--- Where a formula would be 0 * inf the derivative is 0, as that of a constant is.
function tests.test_gradient_of_powers_at_zero()
  local base, exponent = tensor{0, 0, 0}, tensor{0, 1, 2}
  base:requires_grad_()
  exponent:requires_grad_()
  do
    local _ <close> = ladies.step()
    local powers = base ^ exponent
    powers:sum():backward()
  end
  lu.assertEquals(base.grad:to_table(), {0, 1, 0})
  lu.assertEquals(exponent.grad:to_table(), {0, 0, 0})
end

function tests.test_absolute_values()
  lu.assertEquals(tensor{-1.5, 0, -0.0, 2, -inf}:abs():to_table(), {1.5, 0, 0, 2, inf})
  local w = tensor{-1.5, 0, 2}:requires_grad_()
  local _ <close> = ladies.step()
  w:abs():sum():backward()
  lu.assertEquals(w.grad:to_table(), {-1, 0, 1})
end

-- ---------------------------------------------------------------- whole numbers, angles, Huber

function tests.test_floor_and_round()
  local t = tensor{-2.5, -1.5, -0.5, 0.5, 1.5, 2.25, -0.0, 1e30, inf, -inf}
  lu.assertEquals(t:floor():to_table(), {-3, -2, -1, 0, 1, 2, 0, t[8], inf, -inf})
  lu.assertEquals(t:round():to_table(), {-2, -2, 0, 0, 2, 2, 0, t[8], inf, -inf})
  for _, name in ipairs{"floor", "round"} do
    local got = tensor{nan}[name](tensor{nan})[1]
    lu.assertTrue(got ~= got)
    lu.assertEquals(#ladies.zeros(0)[name](ladies.zeros(0)), 0)
  end
end

--- The modulo is Lua's; Lua computes it in doubles, but the results here are floats.
function tests.test_modulo()
  local a = {5, -5, 5, -5, 0, 7.5, -7.5, 3, -3, 2.5}
  local b = {3, 3, -3, -3, -2, 2, 2, inf, inf, 0.5}
  local want = {}
  for i, v in ipairs(a) do want[i] = v % b[i] end
  lu.assertEquals((tensor(a) % tensor(b)):to_table(), want)
  lu.assertEquals((x % 1.5):to_table(), table_of(4, 3, function(r, j) return rows[r][j] % 1.5 end))
  lu.assertEquals((-7 % tensor{2, 3, 4}):to_table(), {1, 2, 1})
  lu.assertEquals((x % tensor{{2}, {3}, {4}, {5}}):get(4, 3), 3)
  local none = (tensor{1} % 0):item()
  lu.assertTrue(none ~= none)
  fails("mod: ", function() return tensor{1, 2, 3} % tensor{1, 2} end)
  local t, u = tensor{7.5, -7.5, 0.25}:requires_grad_(), tensor{2, 2, 1}:requires_grad_()
  local _ <close> = ladies.step()
  local rest = t % u
  rest:sum():backward()
  lu.assertEquals({t.grad:to_table(), u.grad:to_table()}, {{1, 1, 1}, {-3, 4, 0}})
end

function tests.test_sine_and_cosine()
  local angles = ladies.range(1, 200):to_tensor() * 0.37 - 30
  for _, name in ipairs{"sin", "cos"} do
    local got = angles[name](angles)
    for i = 1, #angles do lu.assertAlmostEquals(got[i], math[name](angles[i]), 1e-7) end
    local none = tensor{inf}[name](tensor{inf}):item()
    lu.assertTrue(none ~= none)
  end
end

function tests.test_huber()
  local t = tensor{-3, -1, -0.5, 0, 0.25, 1, 2, inf}
  lu.assertEquals(t:huber():to_table(), {2.5, 0.5, 0.125, 0, 0.03125, 0.5, 1.5, inf})
  lu.assertEquals(t:huber(0.5):to_table(), {1.375, 0.375, 0.125, 0, 0.03125, 0.375, 0.875, inf})
  fails("huber: delta must be above 0, got 0", t.huber, t, 0)
  fails("huber: delta must be above 0, got -1", t.huber, t, -1)
end

-- ---------------------------------------------------------------- masks

local comparisons = {
  above = function(a, b) return a > b end,
  below = function(a, b) return a < b end,
  equals = function(a, b) return a == b end,
}

function tests.test_comparisons()
  local row, column = {1, 2, 3.5}, {{2}, {0}, {2}, {-3}}
  for name, holds in pairs(comparisons) do
    local function expected(other)
      return table_of(4, 3, function(r, j) return holds(rows[r][j], other(r, j)) and 1 or 0 end)
    end
    lu.assertEquals(x[name](x, 2):to_table(), expected(function() return 2 end))
    lu.assertEquals(x[name](x, tensor(row)):to_table(), expected(function(_, j) return row[j] end))
    lu.assertEquals(x[name](x, tensor(column)):to_table(),
                    expected(function(r) return column[r][1] end))
    lu.assertEquals(x[name](x, x):to_table(), expected(function(r, j) return rows[r][j] end))
    lu.assertEquals(tensor{nan, 1, nan}[name](tensor{nan, 1, nan}, tensor{1, nan, nan}):to_table(),
                    {0, 0, 0})
    fails(name .. ": shapes 4 x 3 and 2 do not fit", x[name], x, tensor{1, 2})
  end
  lu.assertEquals(tensor{2}:below(x):to_table(), x:above(2):to_table())
end

--- A mask outlives the step in which it was made.
function tests.test_a_mask_outlives_its_step()
  local mask
  do
    local _ <close> = ladies.step()
    mask = (tensor{1, 2}:requires_grad_() * 2):above(3)
  end
  lu.assertEquals(mask:to_table(), {0, 1})
end

function tests.test_where()
  local mask = x:above(0)
  lu.assertEquals(ladies.where(mask, x, -x):to_table(), x:abs():to_table())
  lu.assertEquals(ladies.where(mask, 1, 0), mask)
  lu.assertEquals(ladies.where(tensor{nan, 0, -2}, 1, 5):to_table(), {1, 5, 1})
  lu.assertEquals(ladies.where(mask, tensor{10, 20, 30}, tensor{{1}, {2}, {3}, {4}}):to_table(),
    table_of(4, 3, function(r, j) return rows[r][j] > 0 and 10 * j or r end))
  lu.assertEquals(ladies.where(tensor{{1}, {0}, {0}, {1}}, x, 0):to_table(),
    {rows[1], {0, 0, 0}, {0, 0, 0}, rows[4]})
  lu.assertEquals(ladies.where(ladies.ones(1), 2, 3):to_table(), {2})
  fails("where: shapes 4 x 3 and 2 do not fit", ladies.where, mask, tensor{1, 2}, 0)
  fails("#3 to 'where' (Tensor or number expected, got nil)", ladies.where, mask, 1)
  fails("#2 to 'where' (Tensor or number expected, got string)", ladies.where, mask, "x", 2)
  fails("'above' (Tensor or number expected, got nil)", x.above, x)
  fails("(Tensor or number expected, got ladies.Matrix; A:matmul(x) is the product of a Matrix and "
    .. "a Tensor)", function()
    return x * ladies.matrix{n_rows = 1, n_cols = 1, rows = ladies.index{1}, cols = ladies.index{1}}
  end)
  fails("(Tensor or number expected, got ladies.Index)", function() return x ^ ladies.index{1} end)
end

--- Elements that `where` did not choose get no gradient, not even 0 times something that is not
-- finite.
function tests.test_where_keeps_gradients_apart()
  local w = tensor{0, 4}:requires_grad_()
  local _ <close> = ladies.step()
  ladies.where(w:above(0), w, 1):log():sum():backward()
  lu.assertEquals(w.grad:to_table(), {0, 0.25})
end

-- ---------------------------------------------------------------- softmax and running sums

function tests.test_softmax()
  local p = x:softmax()
  compare.assert_close(p, table_of(4, 3, function(r, j)
    local sum = 0
    for _, value in ipairs(rows[r]) do sum = sum + math.exp(value) end
    return math.exp(rows[r][j]) / sum
  end), 1e-6, "softmax")
  compare.assert_close(p:log(), x:log_softmax(), 1e-6, "its logarithm")
  compare.assert_close(tensor{{1e4, 0, 1e4}, {-1e30, -1e30, -inf}}:softmax(),
                       {0.5, 0, 0.5, 0.5, 0.5, 0}, 1e-7, "large numbers")
  fails("softmax: logits of n x classes expected, got 3", tensor{1, 2, 3}.softmax, tensor{1, 2, 3})
end

function tests.test_cumsum()
  lu.assertEquals(x:cumsum():to_table(), {{1, -2, 3.5}, {1, 2, 2.5}, {3, 4, 4.5}, {0, 4.5, 12.5}})
  lu.assertEquals(x:cumsum(1), x:cumsum())
  lu.assertEquals(x:cumsum(2):to_table(), {{1, -1, 2.5}, {0, 4, 3}, {2, 4, 6}, {-3, -2.5, 5.5}})
  lu.assertEquals(tensor{1, 2, 3}:cumsum():to_table(), {1, 3, 6})
  lu.assertEquals({#ladies.zeros(0):cumsum(), ladies.zeros(2, 0):cumsum().n_rows}, {0, 2})
  fails("a vector has dimension 1 alone", tensor{1}.cumsum, tensor{1}, 2)
end

--- cumsum adds in double: in float32 every further 1 would be lost.
function tests.test_cumsum_is_summed_in_double()
  lu.assertEquals(tensor{2 ^ 24, 1, 1, 1, 1}:cumsum()[5], 2 ^ 24 + 4)
end

-- ---------------------------------------------------------------- columns

--- A transpose is right for a matrix of several tiles, the last of which are not full.
function tests.test_transpose()
  local n, k = 130, 71
  local t = ladies.zeros(n, k):uniform_(-1, 1, ladies.rng(1))
  local u, expected = t:transpose(), t:to_table()
  lu.assertEquals({u.n_rows, u.n_cols}, {k, n})
  lu.assertEquals(u:to_table(), table_of(k, n, function(r, j) return expected[j][r] end))
  lu.assertEquals(u:transpose(), t)
  lu.assertEquals(ladies.zeros(0, 3):transpose().n_rows, 3)
  fails("transpose: a matrix expected, got 2", tensor{1, 2}.transpose, tensor{1, 2})
end

function tests.test_slice_cols()
  lu.assertEquals(x:slice_cols(2, 3):to_table(), table_of(4, 2, function(r, j)
    return rows[r][j + 1]
  end))
  lu.assertEquals(x:slice_cols(1, 3), x)
  lu.assertEquals(x:slice_cols(4, 3).n_cols, 0)
  fails("slice_cols: columns 3..4 of a tensor of 4 x 3", x.slice_cols, x, 3, 4)
  fails("slice_cols: a matrix expected, got 2", tensor{1, 2}.slice_cols, tensor{1, 2}, 1, 1)
  local part = x:slice_cols(1, 1)
  part:fill_(7)
  lu.assertEquals(x:get(1, 1), 1)   -- it is a copy
end

return tests
