--- Operations that write their gradient where a tensor has none yet, and add it to one that is
-- there: the numbers must be the same either way. They are small integers where the operation is
-- linear, so that no sum rounds.
local ladies = require "ladies"
local compare = require "reference.compare"

local index, tensor = ladies.index, ladies.tensor

local tests = {}

-- n x k (k or none) of integers that differ.
local function numbers(n, k)
  local t = ladies.zeros(n, k)
  local flat = t:reshape(n * (k or 1))
  for i = 1, #flat do flat:slice(i, i):fill_((i * 7) % 11 - 5) end
  return t
end

-- The gradient of sum(f(h) * c) in h, a copy of x in the step; with `other` h has a gradient
-- already, x times as large as another number, when that of f comes, or gets it afterwards.
local function gradient(f, x, c, other)
  x:requires_grad_()
  local _ <close> = ladies.step()
  local h = x * 1
  local early = other == "before" and (h * 3):sum()
  local late = f(h)
  local loss = (late * c):sum()
  if other == "after" then early = (h * 3):sum() end
  if early then loss = loss + early end
  loss:backward()
  local grad = x.grad:clone():detach()
  x:requires_grad_(false)
  return grad
end

--- Asserts that the gradient of f is `want`, alone and beside another one, in any order and with
-- any number of threads.
local function check(what, f, x, c, want, tolerance)
  local more = tensor(compare.flatten(want)) + 3
  for _, n in ipairs{1, 3} do
    ladies.threads(n)
    local name = ("%s, %d threads"):format(what, n)
    compare.assert_close(gradient(f, x, c), want, tolerance or 0, name)
    for _, other in ipairs{"before", "after"} do
      compare.assert_close(gradient(f, x, c, other), more, tolerance or 0, name .. ", " .. other)
    end
  end
end

-- Returns the sums that scattering adds to the rows of an n x k matrix: row i of c goes to row
-- to[i].
local function scattered(n, k, to, c)
  local want, from = {}, compare.flatten(c)
  for i = 1, n * k do want[i] = 0 end
  for i, r in ipairs(to) do
    for j = 1, k do
      want[(r - 1) * k + j] = want[(r - 1) * k + j] + from[(i - 1) * k + j]
    end
  end
  return want
end

--- The gradient is right for rows that are taken never, once and several times, narrow ones, and
-- ones that threads share.
function tests.test_gather()
  for _, k in ipairs{1, 3, 40} do
    local to = {9, 2, 2, 7, 9, 2, 1}
    local c = numbers(#to, k)
    check("gather", function(h) return h:rows(index(to)) end, numbers(9, k), c,
      scattered(9, k, to, c))
    check("scatter_add", function(h) return h:scatter_add(index(to), 9) end, c, numbers(9, k),
      numbers(9, k):rows(index(to)))
    compare.assert_close(c:scatter_add(index(to), 9), scattered(9, k, to, c), 0, "scatter_add")
  end
  local none = index{}
  check("gather of none", function(h) return h:rows(none) end, numbers(4, 20), ladies.zeros(0, 20),
    ladies.zeros(4, 20))
end

--- The gradient of mul_add is right with all rows, some of them, and some several times, and where
-- both operands are one tensor.
function tests.test_mul_add()
  local factor = tensor{3}
  for _, k in ipairs{1, 3, 40} do
    local x, y, c = numbers(7, k), numbers(9, k), numbers(7, k)
    for _, to in ipairs{{9, 2, 4, 7, 8, 3, 1}, {9, 2, 2, 7, 9, 2, 1}} do
      local idx = index(to)
      check("mul_add, x", function(h) return h:mul_add(factor, y, idx) end, x, c, c * 3)
      check("mul_add, y", function(h) return x:mul_add(3, h, idx) end, y, c,
        scattered(9, k, to, c))
      check("mul_add, factor", function(f) return x:mul_add(f, y, idx) end, factor, c,
        (x * c):sum())
      check("mul_add, both", function(h) return h:rows(idx):mul_add(2, h, idx) end, y, c,
        tensor(scattered(9, k, to, c * 3)))
      local on = index{7, 6, 1, 1, 2, 3, 4}
      check("mul_add of itself", function(h) return h:mul_add(2, h, on) end, x, c,
        tensor(scattered(7, k, on:to_table(), c)) + (c * 2):reshape(7 * k))
    end
    local other = x * 2
    check("mul_add of all, y", function(h) return other:mul_add(3, h) end, x, c, c)
    check("mul_add of all, both", function(h) return h:mul_add(3, h) end, x, c, c * 4)
    check("mul_add of all, two", function(h) return (h * 2):mul_add(3, h * 5) end, x, c, c * 11)
  end
  check("mul_add of one element", function(h) return h:mul_add(h, h) end, factor, tensor{2},
    tensor{2 * (2 * 3 + 1)})
end

--- The gradient of slices is right for parts in front, in the middle, at the end, empty and whole,
-- and over several pieces of a loop.
function tests.test_parts()
  local n, k = 2000, 20
  local x = numbers(n, k)
  for _, range in ipairs{{1, 7}, {900, 1750}, {1999, 2000}, {1, n}} do
    local first, last = table.unpack(range)
    local rows = {}
    for r = first, last do rows[#rows + 1] = r end
    local c = numbers(#rows, k)
    check("slice", function(h) return h:slice(first, last) end, x, c, scattered(n, k, rows, c))
  end
  local c = numbers(n * k)
  check("reshape", function(h) return h:reshape(n * k) end, x, c, c)
  c = numbers(n, k)
  check("clone", function(h) return h:clone() end, x, c, c)
end

--- Two parts of one tensor get the right gradients: the first to come writes zeros where the other
-- is.
function tests.test_two_parts()
  local x, c = numbers(6, 2), numbers(3, 2)
  check("slices", function(h) return h:slice(1, 3) + h:slice(3, 5) end, x, c,
    scattered(6, 2, {1, 2, 3, 3, 4, 5}, c:rows(index{1, 2, 3, 1, 2, 3})))
end

function tests.test_sums()
  local x = numbers(5, 4)
  check("sum", function(h) return h:sum() end, x, tensor{3}, ladies.full(5, 4, 3))
  local rows, cols = numbers(5), numbers(4)
  check("row_sums", function(h) return h:row_sums() end, x, rows,
    ladies.ones(5, 4) * rows:reshape(5, 1))
  check("col_sums", function(h) return h:col_sums() end, x, cols, ladies.ones(5, 4) * cols)
  check("squares", function(h) return h:col_sums(2) end, x, cols, x * cols * 2)
  check("norm", function(h) return h:norm() end, x, tensor{2}, x * (2 / x:norm()), 1e-6)
  check("norm of zeros", function(h) return h:norm() end, x * 0, tensor{2}, x * 0)
end

function tests.test_rows_of_length_one()
  local x, c = numbers(5, 4), numbers(5, 4)
  local y = x:normalize_rows()
  local length = (x * x):row_sums():sqrt():reshape(5, 1)
  check("normalize_rows", function(h) return h:normalize_rows() end, x, c,
    (c - y * (c * y):row_sums():reshape(5, 1)) / length, 1e-5)
end

function tests.test_edge_softmax()
  local A = ladies.matrix{n_rows = 4, n_cols = 3, rows = index{1, 1, 2, 4, 4, 4},
    cols = index{1, 3, 2, 1, 2, 3}}
  local x, c = numbers(6), numbers(6)
  local y = A:edge_softmax(x)
  local row = index{1, 1, 2, 3, 3, 3}
  local sums = (y * c):scatter_add(row, 3):rows(row)
  check("edge_softmax", function(h) return A:edge_softmax(h) end, x, c, y * (c - sums), 1e-5)
end

return tests
