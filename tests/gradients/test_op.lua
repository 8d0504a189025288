--- ladies.op: differentiable operations written in Lua.
local lu = require "luaunit"
local ladies = require "ladies"
local compare = require "reference.compare"
local no_memory = require "tools.no_memory"

local fails = lu.assertErrorMsgContains
local tensor = ladies.tensor

local tests = {}

local function parameter(values) return tensor(values):requires_grad_() end

-- Runs f within a step, so that an error closes it.
local function in_step(f)
  return function()
    local step <close> = ladies.step()
    return f(step)
  end
end

local function pass(x) return x * 1 end

local product = ladies.op{
  name = "product",
  forward = function(x, y) return x * y end,
  backward = function(gradient, x, y) return gradient * y, gradient * x end,
}

function tests.test_gradient_equals_the_built_in()
  local a, b = {{1, -2, 3}, {0.5, 4, -1}}, {{2, 5, -3}, {1, 1, 7}}
  local function gradients(multiply)
    local x, y = parameter(a), parameter(b)
    local _ <close> = ladies.step()
    local h = multiply(x:square(), y)
    local loss = multiply(h, h:tanh()):sum()              -- h is used twice
    loss:backward()
    return {x.grad:to_table(), y.grad:to_table(), loss:item()}
  end
  compare.assert_close(gradients(product), gradients(function(x, y) return x * y end), 1e-6, "both")
end

function tests.test_outside_of_a_step()
  local x = parameter{1, 2}
  lu.assertEquals(product(x, x):to_table(), {1, 4})
  lu.assertFalse(product(x, x).in_step)
  local step <close> = ladies.step()
  lu.assertFalse(ladies.no_grad(product, x, x).in_step)
  lu.assertEquals(tostring(step), "Step, 0 operations recorded")
  lu.assertTrue(product(x, x).in_step)
  lu.assertEquals(tostring(step), "Step, 1 operations recorded")
  product(tensor{1}, tensor{2})                           -- constants are not recorded
  lu.assertEquals(tostring(step), "Step, 1 operations recorded")
end

--- Other arguments than tensors come back in backward as they were; there may be more of them than
-- a Lua stack has room for at first.
function tests.test_other_arguments()
  local seen
  local scale = ladies.op{
    name = "scale",
    forward = function(x, factor, options, _, ...)
      lu.assertEquals({factor, options.name, select("#", ...)}, {3, "options", 100})
      return x * factor
    end,
    backward = function(gradient, _, factor, ...)
      seen = table.pack(...)
      return gradient * factor
    end,
  }
  local x, many = parameter{1, 2}, table.move(table.pack(("x"):rep(100):byte(1, -1)), 1, 100, 1, {})
  local _ <close> = ladies.step()
  local options = {name = "options"}
  scale(x, 3, options, nil, table.unpack(many)):sum():backward()
  lu.assertEquals(x.grad:to_table(), {3, 3})
  lu.assertEquals(seen.n, 102)
  lu.assertIs(seen[1], options)
  lu.assertEquals({seen[2], seen[102]}, {nil, 120})
end

function tests.test_three_tensors()
  local function backward(g, ...) return g * 1, g * 2, g * 3, ... end
  local three = ladies.op{name = "three", forward = function(x, y, z) return x + y + z end,
    backward = backward}
  local x, y, z = parameter{1}, tensor{2}, parameter{3}
  in_step(function() three(x, y, z):backward() end)()
  lu.assertEquals({x.grad:item(), y.grad, z.grad:item()}, {1, nil, 3})
  local late = ladies.op{forward = function(_, y1) return y1 * 1 end, backward = pass}
  local w = parameter{4}
  in_step(function() late("not a tensor", w):backward() end)()
  lu.assertEquals(w.grad:item(), 1)
end

function tests.test_six_tensors()
  local six = ladies.op{name = "six",
    forward = function(...)
      local sum = tensor{0}
      for i, x in ipairs{...} do sum = sum + x * i end
      return sum
    end,
    backward = function(g) return g * 1, g * 2, g * 3, g * 4, g * 5, g * 6 end}
  local x = {}
  for i = 1, 6 do x[i] = parameter{i} end
  in_step(function() six(table.unpack(x)):backward() end)()
  for i = 1, 6 do lu.assertEquals(x[i].grad:item(), i) end
  x[7] = tensor{7}
  fails("op six: at most 6 tensor arguments", in_step(function() six(table.unpack(x)) end))
  fails("op six: at most 6 tensor arguments", six, table.unpack(x))
end

--- Backward knows which of six it has read, and that none has changed since.
function tests.test_the_last_of_six_changed()
  local six = ladies.op{name = "six", forward = function(x) return x * 1 end,
    backward = function(g) return g end}
  local x, last = parameter{1}, tensor{6}
  fails("an input of six was changed in place after it was used", in_step(function()
    local loss = six(x, tensor{2}, tensor{3}, tensor{4}, tensor{5}, last)
    last:fill_(0)
    loss:backward()
  end))
end

--- Inputs that carry a gradient must get one from backward; nil is for constants alone.
function tests.test_gradients_left_out()
  for _, backward in ipairs{function() end, function() return nil end,
    function(g) return nil, g end} do
    local x = parameter{1}
    local f = ladies.op{name = "f", forward = pass, backward = backward}
    fails("op f: backward gave no gradient 1, a Tensor of 1 expected; where there is none, call it "
          .. "with :detach()", in_step(function() f(x):backward() end))
    lu.assertNil(x.grad)
  end
  local second = ladies.op{name = "f", forward = function(x, y) return x + y end,
                           backward = function(g) return nil, g end}
  local x, y = parameter{1}, parameter{2}
  in_step(function() second(x:detach(), y):backward() end)()
  lu.assertEquals({x.grad, y.grad:item()}, {nil, 1})
end

--- backward gives gradients of Tensors that are arguments; others may not carry one.
function tests.test_gradients_without_a_way_out()
  local f = ladies.op{name = "f", forward = function(x) return x * 1 end, backward = pass}
  local x, w = parameter{1}, parameter{1}
  local A = ladies.matrix{n_rows = 1, n_cols = 1, rows = ladies.index{1}, cols = ladies.index{1}}
  local message = "carries a gradient, which op f does not pass on; use :detach()"
  for _, other in ipairs{A:with_values(w), {w}, {values = A:with_values(w)}} do
    fails(message, in_step(function() f(x, other) end))
  end
  in_step(function() f(x, {w:detach(), A}):backward() end)()
  lu.assertEquals(x.grad:item(), 1)
end

--- The inputs of an operation must be in backward as they were in forward.
function tests.test_changes_before_backward()
  local A = ladies.matrix{n_rows = 1, n_cols = 1, rows = ladies.index{1}, cols = ladies.index{1}}
  local f = ladies.op{name = "f", forward = function(x, B) return B:matmul(x) end,
                      backward = function(g, _, B) return B:matmul_t(g) end}
  local x, y, values = parameter{1}, parameter{1}, tensor{2}
  local function run(change)
    return in_step(function()
      local loss = f(x, A:with_values(values))
      change()
      loss:backward()
    end)
  end
  fails("op f: a Matrix was changed in place after it was used", run(function()
    values:fill_(9)
  end))
  fails("backward: an input of product was changed in place after it", in_step(function()
    local loss = product(x, y)
    y:detach():fill_(9)
    loss:backward()
  end))
  lu.assertNil(x.grad)
  run(function() end)()
  lu.assertEquals(x.grad:item(), 9)
end

function tests.test_wrong_returns()
  local x = parameter{1, 2}
  local function op(forward, backward)
    local f = ladies.op{name = "f", forward = forward, backward = backward}
    return in_step(function() f(x):sum():backward() end)
  end
  fails("op f: forward must return a Tensor, it returned a number",
    op(function() return 1 end, pass))
  fails("op f: forward must return a Tensor, it returned a nil", op(function() end, pass))
  fails("op f: backward gave 3 as gradient 1, a Tensor of 2 expected",
    op(pass, function() return ladies.ones(3) end))
  fails("op f: backward gave number as gradient 1, a Tensor of 2 expected",
    op(pass, function() return 1 end))
  local released = ladies.ones(2)
  released:release()
  fails("the tensor has been released", op(pass, function() return released end))
  lu.assertNil(x.grad)
end

function tests.test_errors_carry_their_message()
  local x = parameter{1, 2}
  local function failing() error "went wrong" end
  local forward = ladies.op{name = "f", forward = failing, backward = pass}
  local backward = ladies.op{name = "f", forward = pass, backward = failing}
  fails("test_op.lua", in_step(function() forward(x) end))
  fails("went wrong", in_step(function() forward(x) end))
  fails("op f: ", in_step(function() backward(x):sum():backward() end))
  fails("went wrong", in_step(function() backward(x):sum():backward() end))
  fails("op ?: ", in_step(function()
    ladies.op{forward = pass, backward = failing}(x):sum():backward()
  end))
  in_step(function() lu.assertTrue((x * 2).in_step) end)()  -- recording goes on after all that
end

--- Where memory ends in a backward that fails, the step is closed, so that another can be opened.
function tests.test_no_memory()
  no_memory[[
    local f = ladies.op{forward = function(x) return x * 1 end, backward = function()
      error(setmetatable({}, {__tostring = function() return ("y"):rep(100) end}))
    end}
    local x = ladies.ones(3):requires_grad_()
    local step <close> = ladies.step()
    local loss = f(x):sum()
    assert(not pcall(loss.backward, loss))
  ]]
end

--- A backward that fails half-way leaves no half sums behind.
function tests.test_failed_backward_leaves_no_gradients()
  local x, y = parameter{1, 2}, parameter{3, 4}
  local f = ladies.op{name = "f", forward = pass, backward = function() error "went wrong" end}
  fails("went wrong", in_step(function() (f(x) * y):sum():backward() end))
  lu.assertEquals({x.grad, y.grad}, {nil, nil})
  in_step(function() (x * y):sum():backward() end)()
  lu.assertEquals({x.grad:to_table(), y.grad:to_table()}, {{3, 4}, {1, 2}})
end

function tests.test_forward_may_return_its_argument()
  local x = parameter{1, 2}
  local identity = ladies.op{name = "identity", forward = function(a) return a end, backward = pass}
  in_step(function()
    local y = identity(x)
    lu.assertTrue(y.in_step)
    y:square():sum():backward()
  end)()
  lu.assertEquals(x.grad:to_table(), {2, 4})
  lu.assertFalse(x.in_step)
end

function tests.test_nothing_in_it_is_recorded()
  local x = parameter{1, 2}
  local inner
  local f = ladies.op{
    name = "f",
    forward = function(a)
      inner = a * 5
      return inner * 2
    end,
    backward = function(gradient, a)
      inner = a * 3
      return gradient * 10
    end,
  }
  in_step(function(step)
    local y = f(x)
    lu.assertFalse(inner.in_step)
    lu.assertEquals(tostring(step), "Step, 1 operations recorded")
    y:sum():backward()
    lu.assertFalse(inner.in_step)
  end)()
  lu.assertEquals(x.grad:to_table(), {10, 10})
end

--- A backward that closes its own step gets its way only afterwards.
function tests.test_closing_the_step_in_backward()
  local x = parameter{1, 2}
  local f, h
  in_step(function(step)
    f = ladies.op{name = "f", forward = pass, backward = function(gradient)
      step:close()
      collectgarbage()
      return gradient
    end}
    h = x:square()
    f(h):sum():backward()
    fails("closed step", h.sum, h)
  end)()
  lu.assertEquals(x.grad:to_table(), {2, 4})
  ladies.step():close()
end

function tests.test_backward_in_a_coroutine()
  local x = parameter{1, 2}
  lu.assertTrue(coroutine.wrap(function()
    local step <close> = ladies.step()
    product(x, x):sum():backward()
    return step ~= nil
  end)())
  lu.assertEquals(x.grad:to_table(), {2, 4})
end

function tests.test_definitions()
  fails("op: forward and backward must be functions", ladies.op, {forward = pass})
  fails("op: forward and backward must be functions", ladies.op, {forward = pass, backward = 1})
  fails('op: unknown option "foward"; did you mean "forward"?', ladies.op, {foward = pass})
  fails("name must be a string", ladies.op, {forward = pass, backward = pass, name = 3})
  fails("table expected, got function", ladies.op, pass)
end

return tests
