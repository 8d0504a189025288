--- The order of a vector's elements, masks as positions, and ids as numbers, against loops.
local lu = require "luaunit"
local ladies = require "ladies"

local fails = lu.assertErrorMsgContains
local tensor, index, range = ladies.tensor, ladies.index, ladies.range
local nan, inf = 0 / 0, math.huge
local LARGEST = (1 << 31) - 1

local tests = {}

-- ---------------------------------------------------------------- order

--- Each row of a matrix is ordered as a vector of its own would be. tests/c/kernel_row_order.c
-- holds orders to a plain one.
function tests.test_rows_in_order()
  local t = ladies.zeros(40, 7):uniform_(-2, 2, ladies.rng(2)) * 3
  for r = 1, 40, 2 do t:set_(r, 3, t:get(r, 6)) end               -- some are equal
  local order, values, at = t:argsort(), t:sort()
  local falling, falling_at = t:sort(true)
  local top, columns = t:topk(3)
  lu.assertEquals({#order, #columns, top.n_rows, top.n_cols}, {280, 120, 40, 3})
  lu.assertEquals(order, at)
  for r = 1, 40 do
    local row, first = t[r], (r - 1) * 7
    lu.assertEquals(order:slice(first + 1, first + 7), row:argsort())
    lu.assertEquals(values[r], row[row:argsort()])
    lu.assertEquals(falling_at:slice(first + 1, first + 7), (-row):argsort())
    lu.assertEquals(falling[r], row[(-row):argsort()])
    local chosen, positions = row:topk(3)
    lu.assertEquals({top[r], columns:slice(r * 3 - 2, r * 3)}, {chosen, positions})
  end
  lu.assertEquals(#ladies.zeros(0, 4):argsort(), 0)
  lu.assertEquals({ladies.zeros(3, 0):sort()}, {ladies.zeros(3, 0), index{}})
  lu.assertEquals((tensor{2, 3, 1}:sort()):to_table(), {1, 2, 3})
  lu.assertEquals({tensor{2, 2, 1}:sort(true)}, {tensor{2, 2, 1}, index{1, 2, 3}})
end

--- topk finds the largest elements in any order of the elements.
function tests.test_topk_of_ordered_elements()
  local rising = range(1, 1000):to_tensor()
  for _, t in ipairs{rising, 1001 - rising, (rising - 500):abs()} do
    local _, positions = t:topk(20)
    lu.assertEquals(positions, (-t):argsort():slice(1, 20))
  end
end

function tests.test_order_of_special_values()
  local t = tensor{0, nan, -inf, -0.0, inf, nan, 0x1p-149, -0x1p-149}
  lu.assertEquals(t:argsort():to_table(), {3, 8, 1, 4, 7, 5, 2, 6})
  lu.assertEquals((-t):argsort():to_table(), {5, 7, 1, 4, 8, 3, 2, 6})
  local _, positions = t:topk(8)
  lu.assertEquals(positions:to_table(), {2, 6, 5, 7, 1, 4, 8, 3})
  fails("topk: the 3 largest of rows of 2", tensor{{1, 2}}.topk, tensor{{1, 2}}, 3)
  fails("topk: the 3 largest of a vector of 2", tensor{1, 2}.topk, tensor{1, 2}, 3)
  for _, k in ipairs{-1, 0.5, "x"} do
    fails("topk: k must be", tensor{1, 2}.topk, tensor{1, 2}, k)
  end
  fails("topk: k must be", tensor{1, 2}.topk, tensor{1, 2})
end

function tests.test_gradient_of_topk()
  local w = tensor{3, 1, 4, 1, 5}:requires_grad_()
  local _ <close> = ladies.step()
  local values = w:topk(2)
  local loss = values * tensor{10, 1}
  loss:sum():backward()
  lu.assertEquals(w.grad:to_table(), {0, 0, 1, 0, 10})
end

-- ---------------------------------------------------------------- masks

function tests.test_positions()
  lu.assertEquals(tensor{0, 2, -1, 0, -0.0, nan}:positions():to_table(), {2, 3, 6})
  lu.assertEquals(#ladies.zeros(5):positions(), 0)
  fails("positions: a vector expected", ladies.ones(2, 2).positions, ladies.ones(2, 2))
end

function tests.test_a_mask_picks()
  local idx, m = index{7, 5, 9}, tensor{{1, 2}, {3, 4}, {5, 6}}
  local mask = tensor{0, 1, 1}
  lu.assertEquals(idx[mask]:to_table(), {5, 9})
  lu.assertEquals(m[mask]:to_table(), {{3, 4}, {5, 6}})
  lu.assertEquals(tensor{1, 2, 3}[mask]:to_table(), {2, 3})
  lu.assertEquals(#idx[idx:above(9)], 0)
  fails("a mask of 2 for 3 elements or rows", function() return idx[tensor{1, 0}] end)
  fails("a mask of 2 for 3 elements or rows", function() return m[tensor{1, 0}] end)
  fails("a mask of 3 x 1 for 3 elements or rows", function() return idx[ladies.ones(3, 1)] end)
end

-- ---------------------------------------------------------------- arithmetic of ids

local operators = {
  ["+"] = function(a, b) return a + b end, ["-"] = function(a, b) return a - b end,
  ["*"] = function(a, b) return a * b end, ["//"] = function(a, b) return a // b end,
  ["%"] = function(a, b) return a % b end,
}

--- Every pair for which Lua's integers give an id, on both sides, and the error for the others.
function tests.test_arithmetic()
  local numbers = {-LARGEST, -7, -2, -1, 0, 1, 2, 3, 7, LARGEST}
  local checked = 0
  for name, apply in pairs(operators) do
    for _, a in ipairs{0, 1, 5, 7, LARGEST} do
      for _, b in ipairs(numbers) do
        local ok, result = pcall(apply, a, b)
        local expected = ok and result >= 0 and result <= LARGEST and result or nil
        for _, other in ipairs(b >= 0 and {b, index{b}} or {b}) do
          local worked, got = pcall(apply, index{a}, other)
          lu.assertEquals(worked and got[1] or nil, expected, ("%d %s %d"):format(a, name, b))
          if not worked then lu.assertStrContains(got, name .. ": ") end
          checked = checked + 1
        end
      end
    end
  end
  lu.assertTrue(checked > 300)
end

function tests.test_arithmetic_of_lengths()
  lu.assertEquals((index{10, 20, 0} + index{1, 2, 3}):to_table(), {11, 22, 3})
  lu.assertEquals((12 - range(1, 3)):to_table(), {11, 10, 9})
  lu.assertEquals((100 // index{7, 30}):to_table(), {14, 3})
  lu.assertEquals(#(index{} * 3), 0)
  fails("+: an Index of 2 and one of 3", function() return range(1, 2) + range(1, 3) end)
  fails("-: 1 - 2 at position 1 is -1, which is no id (0 to 2147483647)",
    function() return range(1, 2) - 2 end)
  fails("//: division by zero at position 2", function() return range(1, 2) // index{1, 0} end)
  fails("%: division by zero at position 1", function() return range(1, 2) % 0 end)
  fails("less than 2^31 either way, expected", function() return range(1, 2) * (1 << 31) end)
  fails("number has no integer representation", function() return range(1, 2) * 0.5 end)
  fails("(Index or integer expected, got ladies.Tensor)", function()
    return range(1, 2) + tensor{1, 2}
  end)
end

function tests.test_comparisons()
  local idx, values = index{0, 3, 7, 3}, {0, 3, 7, 3}
  for name, holds in pairs{
    above = function(a, b) return a > b end, below = function(a, b) return a < b end,
    equals = function(a, b) return a == b end,
  } do
    local other = {1, 3, 2, 9}
    local with_number, with_index = {}, {}
    for i, value in ipairs(values) do
      with_number[i] = holds(value, 3) and 1 or 0
      with_index[i] = holds(value, other[i]) and 1 or 0
    end
    lu.assertEquals(idx[name](idx, 3):to_table(), with_number)
    lu.assertEquals(idx[name](idx, index(other)):to_table(), with_index)
    fails(name .. ": an Index of 4 and one of 1", idx[name], idx, index{1})
  end
  lu.assertEquals(idx:below(-1):sum():item(), 0)
end

-- ---------------------------------------------------------------- ids and tensors

function tests.test_conversion()
  local idx = index{0, 1, 12, 1 << 24}
  lu.assertEquals(idx:to_tensor():to_table(), {0, 1, 12, 1 << 24})
  lu.assertTrue(idx:to_tensor():to_index() == idx)
  lu.assertEquals(tensor{-0.0, 2 ^ 31 - 128}:to_index():to_table(), {0, (1 << 31) - 128})
  fails("to_tensor: element 2 is 16777217, above 2^24", index{1, (1 << 24) + 1}.to_tensor,
    index{1, (1 << 24) + 1})
  for _, bad in ipairs{-1, 0.5, nan, inf, -inf, 2 ^ 31} do
    fails("to_index: element 2 must be an integer 0 to 2147483647, got ",
      tensor{1, bad}.to_index, tensor{1, bad})
  end
  fails("to_index: a vector expected, got 1 x 1", tensor{{1}}.to_index, tensor{{1}})
end

return tests
