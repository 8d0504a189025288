--- Dense products whose gradient is mostly rows of zeros.
local lu = require "luaunit"
local ladies = require "ladies"
local compare = require "reference.compare"

local tests = {}

--- The gradients are those of the product of the other rows alone: some, more than are taken at
-- once, none.
function tests.test_gradients()
  local rng = ladies.rng(8)
  local function gradients(n, rows, product)
    local x = ladies.zeros(n, 37):normal_(1, rng:fork(1)):requires_grad_()
    local w = ladies.zeros(37, 19):normal_(1, rng:fork(2)):requires_grad_()
    local b = ladies.zeros(19):normal_(1, rng:fork(3)):requires_grad_()
    local times = ladies.zeros(#rows, 19):normal_(1, rng:fork(4))
    local _ <close> = ladies.step()
    local loss = (product(x, w, b, rows) * times):sum() + x:sum() + w:sum()
    loss:backward()
    return {x.grad, w.grad, b.grad}
  end
  local function linear_first(x, w, b, rows) return x:linear(w, b)[rows] end
  local function rows_first(x, w, b, rows) return x[rows]:linear(w, b) end
  for name, case in pairs{
    few = {400, ladies.index{3, 17, 400, 1}}, many = {3500, ladies.range(700, 2350)},
    none = {50, ladies.index{}},
  } do
    local n, rows = table.unpack(case)
    ladies.threads(3)
    local found, expected = gradients(n, rows, linear_first), gradients(n, rows, rows_first)
    for i, grad in ipairs(found) do
      compare.assert_close(grad, compare.flatten(expected[i]), 1e-4, name .. i)
    end
    ladies.threads(1)
    for i, grad in ipairs(gradients(n, rows, linear_first)) do
      lu.assertEquals(grad:to_table(), found[i]:to_table(), name .. i)
    end
  end
end

--- A row that is left out for its zeros makes no NaN, and one with a NaN is not left out.
function tests.test_no_numbers()
  local x = ladies.ones(10, 2)
  x:set_(4, 1, math.huge)
  local function gradient(factor)
    local w = ladies.ones(2, 1):requires_grad_()
    local _ <close> = ladies.step()
    local loss = (x:matmul(w)[ladies.index{2, 9}] * factor):sum()
    loss:backward()
    return w.grad:to_table()
  end
  lu.assertEquals(gradient(1), {{2}, {2}})
  lu.assertNaN(gradient(0 / 0)[1][1])
end

--- The gradients are right for any number of rows of zeros: none, fewer than half, more, all.
function tests.test_no_numbers_beside_zeros()
  local n = 40
  for _, zeros in ipairs{1, 5, 19, 21, 39, 40} do
    for _, bad in ipairs{math.huge, 0 / 0} do
      local x, c = ladies.ones(n, 3):requires_grad_(), ladies.ones(n, 2)
      for i = 1, zeros do
        c:slice(i, i):fill_(0)
        x:set_(i, 2, bad)
      end
      local w = ladies.ones(3, 2):requires_grad_()
      local _ <close> = ladies.step();
      (x:matmul(w) * c):sum():backward()
      local what, left = ("%d rows of zeros, %g"):format(zeros, bad), n - zeros
      lu.assertEquals(w.grad:to_table(), {{left, left}, {left, left}, {left, left}}, what)
      lu.assertEquals(x.grad[1]:to_table(), {0, 0, 0}, what)
    end
  end
  for _, zeros in ipairs{1, 39} do                -- and where the weights are no numbers
    local x, w, c = ladies.ones(n, 1):requires_grad_(), ladies.ones(1, 1), ladies.ones(n, 1)
    w:set_(1, 1, math.huge)
    c:slice(1, zeros):fill_(0)
    local _ <close> = ladies.step();
    (x:matmul(w) * c):sum():backward()
    lu.assertEquals(x.grad:slice(1, zeros):sum():item(), 0)
    lu.assertEquals(x.grad:slice(zeros + 1, n):min(), math.huge)
  end
end

return tests
