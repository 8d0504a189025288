--- Sums, means, variances and extremes of a Tensor over one dimension, and `==`.
local lu = require "luaunit"
local core = require "ladies_core"
local ladies = require "ladies"

local tensor, index = ladies.tensor, ladies.index
local nan, inf = 0 / 0, math.huge
local tests = {}

local function fails(text, f, ...) lu.assertErrorMsgContains(text, f, ...) end

local rows = {{1, -2, 3.5}, {0, 4, -1}, {2, 2, 2}, {-3, 0.5, 8}}
local x = tensor(rows)

-- One number for each column (dim 1) or row (dim 2): reduce(the numbers in it).
local function obvious(dim, reduce)
  local lines = {}
  for i, row in ipairs(rows) do
    for j, value in ipairs(row) do
      local k = dim == 1 and j or i
      lines[k] = lines[k] or {}
      table.insert(lines[k], value)
    end
  end
  for k, line in ipairs(lines) do lines[k] = reduce(line) end
  return lines
end

local function sum(line, power)
  local total = 0
  for _, value in ipairs(line) do total = total + value ^ (power or 1) end
  return total
end

--- Dimension 1 is that of the rows, which go: a number for each column.
function tests.test_dimensions()
  for dim = 1, 2 do
    lu.assertEquals(x:sum(dim):to_table(), obvious(dim, sum))
    lu.assertAlmostEquals(x:mean(dim):to_table(), obvious(dim, function(line)
      return sum(line) / #line
    end), 1e-6)
    lu.assertEquals(x:max(dim):to_table(), obvious(dim, function(line)
      return math.max(table.unpack(line))
    end))
    lu.assertEquals(x:min(dim):to_table(), obvious(dim, function(line)
      return math.min(table.unpack(line))
    end))
  end
  lu.assertEquals(#x:sum(1), 3)
  lu.assertEquals(#x:sum(2), 4)
end

--- The mean square of what is left without the mean, over n less the correction, and its root.
function tests.test_variance_and_std()
  for correction = 0, 1 do
    local function variance(line)
      local mean, squares = sum(line) / #line, 0
      for _, value in ipairs(line) do squares = squares + (value - mean) ^ 2 end
      return squares / (#line - correction)
    end
    local function std(line) return math.sqrt(variance(line)) end
    for dim = 1, 2 do
      lu.assertAlmostEquals(x:variance(dim, correction):to_table(), obvious(dim, variance), 1e-5)
      lu.assertAlmostEquals(x:std(dim, correction):to_table(), obvious(dim, std), 1e-6)
    end
    local all = {}
    for _, row in ipairs(rows) do table.move(row, 1, 3, #all + 1, all) end
    lu.assertAlmostEquals(x:variance(nil, correction):item(), variance(all), 1e-5)
    lu.assertAlmostEquals(x:std(nil, correction):item(), std(all), 1e-6)
    lu.assertAlmostEquals(tensor(all):std(1, correction):item(), std(all), 1e-6)
  end
  lu.assertEquals(tensor{7}:std():item(), 0)
  lu.assertEquals(#ladies.zeros(0, 3):std(2), 0)
  fails("variance: 0 elements with a correction of 0", x.variance, ladies.zeros(0, 3), 1)
  fails("std: 0 elements with a correction of 0", x.std, ladies.zeros(0))
  fails("std: 1 elements with a correction of 1", x.std, tensor{7}, nil, 1)
  fails("dimension", x.std, x, 3)
  lu.assertTrue(x:std(2):to_table()[3] == 0)                       -- of equal numbers exactly
  local w = tensor{{2, 2, 2}, {1, nan, 3}}:requires_grad_()
  do
    local _ <close> = ladies.step()
    w:std(2):sum():backward()
  end
  lu.assertEquals(w.grad:slice(1, 1):to_table(), {{0, 0, 0}})
  lu.assertTrue(w.grad:get(2, 1) ~= w.grad:get(2, 1))
end

--- Sums of rows and of columns mean the same for a Tensor as for a Matrix.
function tests.test_row_and_column_sums_of_powers()
  local A = ladies.sparse(x)
  for power = 1, 2 do
    local function squares(line) return sum(line, power) end
    lu.assertEquals(x:row_sums(power):to_table(), obvious(2, squares))
    lu.assertEquals(x:col_sums(power):to_table(), obvious(1, squares))
    lu.assertTrue(x:row_sums(power) == A:row_sums(power))
    lu.assertTrue(x:col_sums(power) == A:col_sums(power))
  end
  lu.assertTrue(x:row_sums() == x:sum(2) and x:col_sums() == x:sum(1))
  fails("the power must be 1 or 2", x.row_sums, x, 3)
  fails("the power must be 1 or 2", x.col_sums, x, 0)
end

function tests.test_vectors_have_one_dimension()
  local v = tensor{3, -1, 2}
  lu.assertEquals({v:sum(1):to_table(), v:max(1):to_table()}, {{4}, {3}})
  for _, name in ipairs{"sum", "mean", "max", "min"} do
    fails("a vector has dimension 1 alone", v[name], v, 2)
    for _, dim in ipairs{0, 3, -1} do
      fails("the dimension must be 1 (one result for each column) or 2 (one for each row)",
        x[name], x, dim)
    end
    fails("number has no integer representation", x[name], x, 1.5)
  end
end

function tests.test_nan_and_infinity()
  local t = tensor{{1, nan}, {inf, 2}}
  lu.assertEquals(t:max(1)[1], inf)
  lu.assertTrue(t:max(1)[2] ~= t:max(1)[2])
  lu.assertEquals(t:max(2):to_table()[2], inf)
  lu.assertTrue(t:min(2)[1] ~= t:min(2)[1])
  lu.assertEquals(t:min(2):to_table()[2], 2)
end

function tests.test_empty()
  local wide, tall = ladies.zeros(0, 3), ladies.zeros(3, 0)
  lu.assertEquals(wide:sum(1):to_table(), {0, 0, 0})
  lu.assertEquals(tall:sum(1):to_table(), {})
  lu.assertEquals(wide:max(2):to_table(), {})
  fails("max: nothing to choose from in 0 x 3", wide.max, wide, 1)
  fails("min: nothing to choose from in 3 x 0", tall.min, tall, 2)
  fails("mean: the tensor is empty", wide.mean, wide, 1)
end

--- The gradient of an extreme goes to the first among equals.
function tests.test_gradient_of_extremes()
  local w = tensor{{1, 5}, {5, 5}}:requires_grad_()
  local step <close> = ladies.step()
  local loss = w:max(1) * tensor{10, 1} + w:min(2)
  loss:sum():backward()
  lu.assertEquals(w.grad:to_table(), {{1, 1}, {11, 0}})
  step:close()
end

-- ---------------------------------------------------------------- equality

function tests.test_equal_contents_are_equal()
  local A = ladies.sparse(x)
  lu.assertTrue(x == x:clone() and A == ladies.sparse(x) and index{1, 2} == ladies.range(1, 2))
  lu.assertFalse(x == x + 1 or x == x:slice(1, 3) or x == x:reshape(3, 4))
  lu.assertFalse(tensor{1, 2} == tensor{{1}, {2}})                 -- another shape
  lu.assertFalse(A == A:scale_rows(tensor{1, 1, 1, 2}) or A == A:transpose())
  lu.assertTrue(A == A:scale_rows(tensor{1, 1, 1, 1}) and A:scale_rows(tensor{2, 2, 2, 2})
    == ladies.sparse(x * 2))
  lu.assertTrue(ladies.sparse(tensor{{inf}}) == ladies.sparse(tensor{{inf}}))
end

function tests.test_nan_equals_nothing()
  local t = tensor{nan}
  lu.assertFalse(t == t:clone())
  lu.assertFalse(ladies.sparse(t:reshape(1, 1)) == ladies.sparse(t:reshape(1, 1)))
  lu.assertTrue(t == t)                                            -- one object, to Lua
end

function tests.test_other_kinds_are_not_equal()
  local A = ladies.sparse(x)
  local kinds = {x, A, index{1}, ladies.rng(1), 1, "x", {}}
  for i, a in ipairs(kinds) do
    for j, b in ipairs(kinds) do lu.assertEquals(a == b, i == j) end
  end
end

--- A table's keys are objects, whatever they hold.
function tests.test_keys_are_objects()
  local t, u = tensor{1}, tensor{1}
  local names = {[t] = "t", [u] = "u"}
  lu.assertTrue(t == u)
  lu.assertEquals({names[t], names[u], rawequal(t, u)}, {"t", "u", false})
end

--- A number that is not finite is found wherever it stands among elements that are looked at
-- together.
function tests.test_is_finite_anywhere()
  local t = core.zeros(2, 5000):normal_(1e30, ladies.rng(1))
  lu.assertEquals({t:is_finite(), select("#", t:is_finite())}, {true, 1})
  for _, place in ipairs{1, 16, 17, 4096, 4097, 5000, 5001, 9999, 10000} do
    local row, column = (place - 1) // 5000 + 1, (place - 1) % 5000 + 1
    for _, value in ipairs{inf, -inf, nan} do
      local kept = t:get(row, column)
      t:set_(row, column, value)
      local finite, found, at_row, at_column = t:is_finite()
      lu.assertEquals({finite, at_row, at_column}, {false, row, column})
      lu.assertTrue(found == value or found ~= found and value ~= value)
      t:set_(row, column, kept)
    end
  end
end

--- The range of a matrix's values, which its scales leave as it is.
function tests.test_range_of_values()
  local function matrix_of(values)
    return core.csr{n_rows = 1, n_cols = #values, offsets = index{1, #values + 1},
      columns = ladies.range(1, #values), values = values}
  end
  local list = {}
  for i = 1, 5003 do list[i] = (i * 7919 % 5003 - 2000) / 8 end
  local least, greatest = core.value_range(matrix_of(tensor(list)):scale_rows(tensor{100}))
  lu.assertEquals({least, greatest}, {-250, 3002 / 8})
  for _, place in ipairs{1, 4095, 4096, 4097, 4999, 5003} do
    local kept = list[place]
    for _, low in ipairs{-1000, -inf} do
      list[place] = low
      lu.assertEquals({core.value_range(matrix_of(tensor(list)))},
        {low, kept == 3002 / 8 and 3001 / 8 or 3002 / 8})
    end
    list[place] = 1000
    lu.assertEquals(select(2, core.value_range(matrix_of(tensor(list)))), 1000)
    list[place] = nan
    least, greatest = core.value_range(matrix_of(tensor(list)))
    lu.assertTrue(least ~= least and greatest ~= greatest)
    list[place] = kept
  end
  lu.assertEquals({core.value_range(matrix_of(tensor{3, 3}))}, {3, 3})
  lu.assertEquals(select("#", core.value_range(core.csr{n_rows = 1, n_cols = 2,
    offsets = index{1, 2}, columns = index{2}})), 0)
  lu.assertEquals(select("#", core.value_range(core.csr{n_rows = 1, n_cols = 2,
    offsets = index{1, 1}, columns = ladies.range(1, 0), values = core.zeros(0)})), 0)
end

return tests
