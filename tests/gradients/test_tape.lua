--- Steps, gradients and what must not be done with them; ladies.op.
local lu = require "luaunit"
local ladies = require "ladies"

local fails = lu.assertErrorMsgContains
local index, tensor = ladies.index, ladies.tensor
local CLOSED = "belongs to a closed step; use :detach() to keep it"

local tests = {}

local function parameter(values) return tensor(values):requires_grad_() end

-- A test that fails may leave its step open.
function tests.tearDown() collectgarbage() end

-- ---------------------------------------------------------------- lifetimes

function tests.test_tensors_end_with_their_step()
  local w, constant = parameter{1, 2}, tensor{3, 4}
  local product, unrelated, view, kept, inner
  do
    local step <close> = ladies.step()
    product, unrelated, view = w * constant, constant + 1, constant:slice(1, 1)
    inner = product:get(1, 1)
    lu.assertTrue(product.in_step and unrelated.in_step and view.in_step)
    kept = product:detach()
    lu.assertEquals({kept.in_step, kept.requires_grad}, {false, false})
    lu.assertStrContains(tostring(step), "Step, 1 operations recorded")
  end
  lu.assertEquals(inner, 3)
  for _, t in ipairs{product, unrelated, view} do
    fails(CLOSED, t.sum, t)
    fails(CLOSED, function() return t + 1 end)
    fails(CLOSED, function() return 1 + t end)
    fails(CLOSED, function() return t[1] end)
    fails(CLOSED, function() return t.n_rows end)
    fails(CLOSED, function() return #t end)
    fails(CLOSED, function() t[1] = 3 end)
    fails(CLOSED, t.detach, t)
    fails(CLOSED, t.clone, t)
    fails(CLOSED, t.backward, t)
    lu.assertStrMatches(tostring(t), "Tensor %d+ of a closed step")
  end
  lu.assertEquals(kept:to_table(), {3, 8})
  lu.assertEquals(w:to_table(), {1, 2})
  lu.assertFalse((w * constant).in_step)
end

function tests.test_one_step_at_a_time()
  local step = ladies.step()
  fails("step: another step is open; close it first", ladies.step)
  step:close()
  step:close()                                            -- no harm
  lu.assertEquals(tostring(step), "Step (closed)")
  ladies.step():close()
  fails('step: unknown option "recrod"; did you mean "record"?', ladies.step, {recrod = true})
  fails('Step has no field or method "clsoe"; did you mean "close"?', function()
    return step.clsoe
  end)
end

--- The collector may find a forgotten step while its tensors are in use; only the next one ends it.
function tests.test_forgotten_step()
  local w = parameter{1, 2}
  local h
  do
    ladies.step()
    h = w * 2
  end
  collectgarbage()
  collectgarbage()
  lu.assertEquals((h + 1):to_table(), {3, 5})
  local step <close> = ladies.step()
  fails(CLOSED, h.sum, h)
  local x = w * 3
  collectgarbage()
  x:sum():backward()
  lu.assertEquals(w.grad:to_table(), {3, 3})
  lu.assertStrContains(tostring(step), "2 operations")
end

function tests.test_error_within_a_step()
  local w = parameter{1, 2}
  local h
  fails("my own error", function()
    local step <close> = ladies.step()
    h = w * 2
    error(("my own error in %s"):format(step))
  end)
  fails(CLOSED, h.sum, h)
  ladies.step():close()
  local thread = coroutine.create(function()
    local step <close> = ladies.step()
    coroutine.yield(w * 2, step)
  end)
  local _, k = coroutine.resume(thread)
  coroutine.close(thread)
  fails(CLOSED, k.sum, k)
end

function tests.test_matrix_with_values_of_a_closed_step()
  local A = ladies.matrix{n_rows = 2, n_cols = 2, rows = index{1, 2}, cols = index{2, 1}}
  local B
  do
    local _ <close> = ladies.step()
    B = A:with_values(parameter{1, 2} * 2)
    lu.assertEquals(B:matmul(tensor{1, 10}):to_table(), {20, 4})
  end
  fails(CLOSED, B.matmul, B, tensor{1, 2})
  fails(CLOSED, B.col_sums, B)
  fails(CLOSED, B.slice, B, index{1})
  fails(CLOSED, function() return B.values end)
  lu.assertEquals(tostring(B), "Matrix 2 x 2, 2 entries")
  lu.assertEquals(A:matmul(tensor{1, 10}):to_table(), {10, 1})
end

-- ---------------------------------------------------------------- backward

function tests.test_refused_backward()
  local w = parameter{1, 2}
  fails("backward: no step is open; step = ladies.step() opens one before forward", w.backward, w)
  local outside = w:sum()
  local _ <close> = ladies.step()
  fails("backward: the loss was not computed in the open step", outside.backward, outside)
  fails("backward: the loss was not computed in the open step", w.backward, w)
  local h, constant = w * 2, tensor{1}:sum()
  fails("backward: the loss must have one element, it is 2", h.backward, h)
  fails("backward: the loss depends on no parameter", constant.backward, constant)
  local loss = h:sum()
  loss:backward()
  fails("backward: called twice in one step", loss.backward, loss)
  lu.assertEquals(w.grad:to_table(), {2, 2})
end

function tests.test_gradients_accumulate_until_the_optimizer_steps()
  local w, unused = tensor{1, 2}, tensor{5}
  local sgd = ladies.optim.sgd({w, unused}, {lr = 0.5})
  for i = 1, 2 do
    local _ <close> = ladies.step()
    local loss = (w * tensor{1, 10}):sum()
    loss:backward()
    lu.assertEquals(w.grad:to_table(), {i, 10 * i})
  end
  sgd:step()
  lu.assertEquals(w:to_table(), {0, -8})
  lu.assertEquals(unused:to_table(), {5})
  lu.assertNil(w.grad)
  sgd:step()                                              -- nothing to do
  lu.assertEquals(w:to_table(), {0, -8})
  do
    local _ <close> = ladies.step()
    sgd:step()                                            -- nor is there anything to go back over
    local loss = (w * tensor{1, 10}):sum()
    fails("step: no parameter has a gradient; loss:backward() comes before", sgd.step, sgd)
    ladies.no_grad(sgd.step, sgd)
    loss:backward()
    sgd:clear()
    sgd:step()                                            -- it has gone back
    lu.assertEquals(w:to_table(), {0, -8})
  end
  w:set_grad_(tensor{4, 4})
  sgd:clear()
  lu.assertNil(w.grad)
end

function tests.test_a_tensor_used_often()
  local w = parameter{3}
  local _ <close> = ladies.step()
  local h = w * w                                         -- w^2
  local loss = (h * w + h + w):sum()                      -- w^3 + w^2 + w
  loss:backward()
  lu.assertEquals(w.grad:item(), 3 * 9 + 2 * 3 + 1)
end

function tests.test_gradients_of_intermediates()
  local w = parameter{1, 2}
  local step = ladies.step()
  local kept, lost = w * 3, w * 5
  lu.assertIs(kept:keep_grad_(), kept)
  local loss = (kept * kept):sum() + lost:sum()
  loss:backward()
  lu.assertEquals(kept.grad:to_table(), {6, 12})
  lu.assertNil(lost.grad)
  lu.assertEquals(w.grad:to_table(), {23, 41})
  local gradient = kept.grad
  step:close()
  fails(CLOSED, function() return kept.grad end)
  lu.assertEquals(gradient:to_table(), {6, 12})
end

function tests.test_requires_grad()
  local w = tensor{1, 2}
  lu.assertIs(w:requires_grad_(), w)
  lu.assertTrue(w.requires_grad)
  lu.assertFalse(w:requires_grad_(false).requires_grad)
  local _ <close> = ladies.step()
  local h = w * 2
  fails("requires_grad_: the tensor was computed in a step; :detach() it first",
    h.requires_grad_, h)
  lu.assertErrorMsgContains("depends on no parameter", function() h:sum():backward() end)
  local leaf = h:detach():requires_grad_()
  leaf:square():sum():backward()
  lu.assertEquals(leaf.grad:to_table(), {4, 8})
  lu.assertNil(w.grad)
  w:requires_grad_()
  fails("set_grad_: a gradient of 3 for a tensor of 2", w.set_grad_, w, tensor{1, 2, 3})
  fails("set_grad_: the tensor was computed in a step", h.set_grad_, h, tensor{1, 2})
  local constant, frozen = tensor{1, 2}, tensor{1, 2}:requires_grad_(false)
  fails("set_grad_: the tensor is no parameter", constant.set_grad_, constant, tensor{1, 2})
  fails("set_grad_: the tensor is a frozen parameter", frozen.set_grad_, frozen, tensor{1, 2})
end

function tests.test_tracked_tensors_are_not_changed_in_place()
  local w = parameter{1, 2}
  local refused = "a tensor that a loss may depend on cannot be changed in place; "
    .. "use :detach() or :clone()"
  local _ <close> = ladies.step()
  local h, constant = w * 2, tensor{1, 2} * 2
  fails(refused, h.fill_, h, 0)
  fails(refused, h.copy_, h, constant)
  fails(refused, h.add_at_, h, index{1}, 1)
  fails(refused, h.mul_at_, h, index{1}, 1)
  fails(refused, h.copy_rows_, h, index{1}, tensor{1})
  fails(refused, h.set_, h, 1, 1, 0)
  fails(refused, h.normal_, h, 1, ladies.rng(1))
  fails(refused, h.uniform_, h, 0, 1, ladies.rng(1))
  fails(refused, function() h[1] = 0 end)
  lu.assertEquals(constant:fill_(7):to_table(), {7, 7})
  lu.assertEquals(h:detach():clone():fill_(7):to_table(), {7, 7})
  lu.assertEquals(h:to_table(), {2, 4})
  fails("fill_: the tensor carries a gradient, which fill_ does not pass on; use :detach()",
        w.fill_, w, 0)
  lu.assertEquals(w:detach():fill_(0):to_table(), {0, 0})
end

--- Tensors that backward needs must not have changed since the operation was recorded.
function tests.test_changes_between_forward_and_backward()
  local function refused(of, compute, change)
    local w, c = parameter{1, 2}, tensor{3, 4}
    local optimizer = ladies.optim.sgd({w}, {lr = 1})
    do                                                    -- a gradient, for a step to take
      local step <close> = ladies.step()
      lu.assertNotNil(step)
      w:sum():backward()
    end
    local _ <close> = ladies.step()
    local y = compute(w, c)
    local loss = y:sum()
    change(w, c, y, optimizer)
    local message = ("backward: %s was changed in place after it was used; change a :clone(), or "
                     .. "change it after backward"):format(of)
    fails(message, loss.backward, loss)
    lu.assertNil(w.grad)
  end
  local function product(w, c) return w * c end
  refused("an input of mul", product, function(_, c) c:fill_(9) end)
  refused("an input of mul", product, function(_, c) c[1] = 9 end)
  refused("an input of mul", product, function(_, c) c:slice(1, 1):fill_(9) end)
  refused("an input of mul", product, function(w) w:detach():fill_(9) end)
  refused("an input of mul", product, function(w) ladies.no_grad(w.fill_, w, 9) end)
  refused("an input of mul", product, function(_, _, _, optimizer) optimizer:step() end)
  refused("the result of exp", function(w) return w:exp() end,
          function(_, _, y) y:detach():fill_(9) end)
  local A = ladies.matrix{n_rows = 1, n_cols = 2, rows = index{1, 1}, cols = index{1, 2}}
  refused("an input of matmul", function(w, c) return A:with_values(c):matmul(w) end,
          function(_, c) c:fill_(9) end)
  refused("an input of matmul", function(w, c) return A:with_values(w):matmul(c) end,
          function(w) w:detach():fill_(9) end)
  local h
  refused("an input of square", function(w) h = w * 2 return h:square() end,
          function() h:detach():fill_(9) end)
end

--- A loss that uses w's gradient as a constant cannot go backward, which would add to that same
-- gradient before it is needed.
function tests.test_own_gradient_as_a_constant()
  local w = parameter{1, 2}
  do
    local step <close> = ladies.step()
    lu.assertNotNil(step)
    w:square():sum():backward()
  end
  local _ <close> = ladies.step()
  local loss = (w * w.grad):sum()
  fails("backward: an input of mul was changed in place", loss.backward, loss)
end

function tests.test_changes_that_do_not_matter()
  local w, c = parameter{1, 2}, tensor{3, 4}
  local _ <close> = ladies.step()
  local loss = (w + c):square():sum()                     -- the sum needs c no more
  c:fill_(9)
  loss:backward()
  lu.assertEquals(w.grad:to_table(), {8, 12})
end

function tests.test_no_grad()
  local w = parameter{1, 2}
  local step <close> = ladies.step()
  local h = w * 2
  local a, b, c = ladies.no_grad(function(x, y)
    lu.assertFalse((x * 2).in_step)
    return x * 2, y, nil
  end, h, "y")
  lu.assertEquals({a:to_table(), b, c}, {{4, 8}, "y", nil})
  lu.assertFalse(a.in_step)
  fails("wrong in here", ladies.no_grad, function() error "wrong in here" end)
  lu.assertTrue((w * 2).in_step)                          -- after the error
  ladies.no_grad(function()
    pcall(ladies.no_grad, error)
    lu.assertFalse((w * 2).in_step)                       -- nested
  end)
  fails("the loss was not computed in the open step", function()
    ladies.no_grad(function() return w:sum() end):backward()
  end)
  fails("function expected", ladies.no_grad)
  step:close()
  lu.assertEquals(a:to_table(), {4, 8})
end

--- A coroutine that fails in no_grad is over, though nobody has closed it.
function tests.test_no_grad_ends_with_its_coroutine()
  local w = parameter{1, 2}
  local failed = coroutine.create(function() ladies.no_grad(error, "wrong in here") end)
  lu.assertStrContains(select(2, coroutine.resume(failed)), "wrong in here")
  lu.assertEquals(coroutine.status(failed), "dead")
  local step <close> = ladies.step()
  lu.assertNotNil(step)
  w:sum():backward()
  lu.assertEquals(w.grad:to_table(), {1, 1})
end

--- While a coroutine within no_grad waits, others record. When it goes on it still records nothing,
-- and neither does a coroutine that it resumes.
function tests.test_no_grad_in_a_coroutine()
  local w = parameter{1, 2}
  local function records() return (w * 2).in_step end
  local function body(...)
    local first, got = records(), coroutine.yield(...)
    local inner = coroutine.wrap(function() return records() end)
    return first, got, records(), inner()
  end
  local co = coroutine.create(function(...)
    local result = table.pack(ladies.no_grad(body, ...))
    return records(), table.unpack(result, 1, result.n)
  end)
  local abandoned = {}
  for i = 1, 5 do
    abandoned[i] = coroutine.wrap(function() ladies.no_grad(coroutine.yield) end)
    abandoned[i]()
  end
  local step <close> = ladies.step()
  lu.assertNotNil(step)
  lu.assertEquals({coroutine.resume(co, "a", "b")}, {true, "a", "b"})
  lu.assertTrue(records())
  abandoned[2]()                                          -- in another order than they began
  abandoned[4] = nil
  collectgarbage()
  lu.assertEquals({coroutine.resume(co, "c")}, {true, true, false, "c", false, false})
  ladies.no_grad(function() lu.assertFalse(records()) end)
  abandoned = {}
  collectgarbage()
  lu.assertEquals({records(), #abandoned}, {true, 0})
end

function tests.test_step_without_recording()
  local w = parameter{1, 2}
  local step <close> = ladies.step{record = false}
  local loss = w:sum()
  lu.assertTrue(loss.in_step)
  lu.assertStrContains(tostring(step), "0 operations")
  fails("depends on no parameter", loss.backward, loss)
end

--- The gradient of an input may be the memory of the result's gradient. Neither code that keeps a
-- gradient nor code that uses a tensor twice must notice.
function tests.test_gradients_that_are_passed_on()
  local x = parameter{1, -2, 3}
  do
    local _ <close> = ladies.step()
    local h = (x * 2):keep_grad_()
    local y = h:relu():keep_grad_()
    local square, sum = h * h, y + h
    local z = (sum * 3):keep_grad_();
    (z + square + z):sum():backward()
    lu.assertEquals(z.grad:to_table(), {2, 2, 2})
    lu.assertEquals(y.grad:to_table(), {6, 6, 6})
    lu.assertEquals(h.grad:to_table(), {16, -2, 24})       -- 6 + 6 [h > 0] + 2 h
  end
  lu.assertEquals(x.grad:to_table(), {32, -4, 48})
end

-- ---------------------------------------------------------------- denormal numbers

local SMALL = 1e-30       -- its products with numbers below 1e-8 are denormal

-- The gradient of a vector of n ones that goes back through two factors, and the least number of
-- their product, which is made after it in the same step.
local function through(n, factor)
  local w = ladies.ones(n):requires_grad_()
  local forward
  do
    local _ <close> = ladies.step();
    ((w * SMALL) * factor):sum():backward()
    forward = (ladies.full(n, SMALL) * factor):min()
  end
  return w.grad, forward
end

--- Backward takes denormal numbers for zeros, in every thread. All other code keeps them.
function tests.test_denormal_gradients_are_zeros()
  for _, threads in ipairs{1, 4} do
    ladies.threads(threads)
    for _, n in ipairs{3, 1 << 20} do
      local gradient, forward = through(n, 1e-12)
      lu.assertEquals({gradient:max(), gradient:min()}, {0, 0})
      lu.assertTrue(forward > 0)
      lu.assertTrue((ladies.full(n, SMALL) * 1e-12):min() > 0)
      gradient = through(n, 1e-7)
      lu.assertAlmostEquals(gradient:min(), 1e-37, 1e-43)
    end
    local tiny = 2.0 ^ -1060                              -- Lua's own numbers
    lu.assertTrue(tiny / 2 > 0)
  end
end

function tests.test_denormal_numbers_after_an_error()
  local wrong = ladies.op{name = "wrong", forward = function(x) return x:clone() end,
    backward = function() error "no gradient" end}
  local step <close> = ladies.step()
  fails("no gradient", function() wrong(parameter{1, 2}):sum():backward() end)
  lu.assertTrue(2.0 ^ -1060 / #step > 0)
  lu.assertTrue((tensor{SMALL} * 1e-12)[1] > 0)
end

-- ---------------------------------------------------------------- steady state

function tests.test_memory_stays_flat()
  local w, b = ladies.ones(20, 8), ladies.zeros(8)
  local adam = ladies.optim.adam{w, b}
  local x, rng = ladies.ones(50, 20), ladies.rng(1)
  local expected
  for i = 1, 1000 do
    do
      local _ <close> = ladies.step()
      local h = x:dropout(0.5, rng):linear(w, b):relu()
      h:square():mean():backward()
      adam:clip_norm(1)
      adam:step()
    end
    collectgarbage()
    local total = ladies.memory().total
    if i > 2 then lu.assertEquals(total, expected or total, "after step " .. i) end
    expected = total
  end
end

return tests
