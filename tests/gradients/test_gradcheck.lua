--- ladies.gradcheck: it finds wrong gradients and where they are, agrees with the differences of
-- tests/reference, and leaves what it was given as it was.
local lu = require "luaunit"
local ladies = require "ladies"
local compare = require "reference.compare"
local differences = require "reference.finite_differences"

local fails, tensor = lu.assertErrorMsgContains, ladies.tensor
local tests = {}

-- A test that fails may leave its step open.
function tests.tearDown() collectgarbage() end

--- Twice x, with a backward that adds `wrong` to the gradient.
local function twice(wrong)
  return ladies.op{
    name = "twice",
    forward = function(x) return x * 2 end,
    backward = function(g) return g * 2 + wrong end,
  }
end

function tests.test_right_gradients()
  local x, y = tensor{{0.5, -1, 2}, {3, 0.25, -0.5}}, tensor{1, 2, 3}
  local ok, worst = ladies.gradcheck(function(a, b) return (a * b):tanh() end, {x, y})
  lu.assertTrue(ok)
  lu.assertEquals(worst.checked, 9)
  lu.assertTrue(worst.error > 0 and worst.error < 1e-3)
  for _, f in ipairs{
    function(a) return a:max() end,                           -- a number where nothing is recorded
    function(a) return ladies.sparse(ladies.ones(2, 3)):scale_rows(a:row_sums()) end,
  } do
    lu.assertTrue((ladies.gradcheck(f, {x})))
  end
end

function tests.test_a_wrong_element_is_named()
  local x, y = tensor{{1, 2}, {3, 4}}, tensor{{1, 2}, {3, 4}}
  local ok, worst = ladies.gradcheck(function(a, b)
    return a * 3 + twice(tensor{{0, 0}, {0.5, 0}})(b)
  end, {x, y})
  lu.assertFalse(ok)
  lu.assertEquals({worst.input, worst.row, worst.column}, {2, 2, 1})
  lu.assertAlmostEquals(worst.backward - worst.differences, 0.5, 1e-4)
  lu.assertStrMatches(tostring(worst), "input 2 %(2, 1%): backward %-?[%d.]+, "
    .. "differences %-?[%d.]+")
  lu.assertEquals(worst.checked, 8)
  local message = select(2, pcall(function()
    assert(ladies.gradcheck(twice(tensor{1, 0}), {tensor{1, 2}}))
  end))
  lu.assertStrContains(tostring(message), "input 1 (1, 1): ")
end

--- Where differences on both sides are not the same and backward is between them it says so.
function tests.test_a_kink()
  local _, worst = ladies.gradcheck(function(a) return a:relu() end, {tensor{0, 1}})
  lu.assertStrContains(tostring(worst), "input 1 (1, 1): backward 0, differences 0.1875; f may "
    .. "have a kink within the step: differences 0 to the left, 0.375 to the right")
  _, worst = ladies.gradcheck(twice(tensor{1, 0}), {tensor{1, 2}})
  lu.assertNil(worst.kink)
end

--- The check fails where backward leaves out a part of the gradient, and where it gives NaN.
function tests.test_missing_and_undefined_gradients()
  local function dropped(a) return a + a:detach() * 2 end
  lu.assertFalse((ladies.gradcheck(dropped, {tensor{1, 2}})))
  local undefined = ladies.op{forward = function(x) return x * 2 end,
    backward = function(g) return g * (0 / 0) end}
  local ok, worst = ladies.gradcheck(undefined, {tensor{1, 2}})
  lu.assertEquals({ok, worst.error}, {false, math.huge})
end

function tests.test_tolerance()
  local function off(a) return twice(0.01)(a) end
  lu.assertFalse((ladies.gradcheck(off, {tensor{1}})))
  lu.assertTrue((ladies.gradcheck(off, {tensor{1}}, {tolerance = 0.02})))
  local function large(a) return twice(0)(a) * 1e4 end              -- relative to the derivative
  lu.assertTrue((ladies.gradcheck(large, {tensor{1}})))
  local function cube(a) return a ^ 3 end
  local _, wide = ladies.gradcheck(cube, {tensor{1}}, {step = 0.25})
  local _, narrow = ladies.gradcheck(cube, {tensor{1}}, {step = 0.0625})
  lu.assertAlmostEquals(wide.error / narrow.error, 16, 1)           -- h^2
end

function tests.test_some_elements()
  local x = ladies.zeros(50, 4):uniform_(1, 2, ladies.rng(1))
  local _, worst = ladies.gradcheck(function(a) return a:log() end, {x}, {elements = 20})
  lu.assertEquals(worst.checked, 20)
  _, worst = ladies.gradcheck(function(a) return a:log() end, {ladies.ones(3)}, {elements = 20})
  lu.assertEquals(worst.checked, 3)
end

--- The numbers are those of the reference.
function tests.test_differences()
  local x = ladies.zeros(3, 2):uniform_(0.5, 2, ladies.rng(1)):requires_grad_()
  local wrong = ladies.op{forward = function(a) return a:log() end,
    backward = function(g) return g * 0 end}
  local function reference() return wrong(x) end
  local weights = {}
  for i = 1, 6 do weights[i] = (i * 7 % 11 - 5.5) / 4 end
  local expected = differences.gradient(function()
    return ladies.no_grad(reference)
  end, x, weights)
  local _, worst = ladies.gradcheck(wrong, {x})
  local largest, at = 0, nil
  for i, value in ipairs(expected) do
    if math.abs(value) / math.max(1, math.abs(value)) > largest then
      largest, at = math.abs(value) / math.max(1, math.abs(value)), i
    end
  end
  lu.assertEquals({(worst.row - 1) * 2 + worst.column, worst.differences}, {at, expected[at]})
end

--- The check leaves values and gradients of parameters as they were; tensors of other kinds are not
-- touched.
function tests.test_inputs_are_left_as_they_were()
  local w, fresh, constant = tensor{1, 2}, tensor{3, 4}, tensor{5, 6}
  w:requires_grad_()
  fresh:requires_grad_()
  w:set_grad_(tensor{7, 8})
  local function f() return w * fresh end
  local function check()
    lu.assertEquals({w:to_table(), fresh:to_table(), constant:to_table()}, {{1, 2}, {3, 4}, {5, 6}})
    lu.assertEquals(w.grad:to_table(), {7, 8})
    lu.assertNil(fresh.grad)
    lu.assertEquals({w.requires_grad, constant.is_parameter}, {true, false})
  end
  lu.assertTrue((ladies.gradcheck(function(_, _, c) return f() * c end, {w, fresh, constant})))
  check()
  for failing = 1, 6 do                       -- in every phase
    local calls = 0
    fails("on purpose", ladies.gradcheck, function(_, _, c)
      calls = calls + 1
      if calls == failing then error "on purpose" end
      return f() * c
    end, {w, fresh, constant})
    check()
  end
  local step <close> = ladies.step()   -- none is left open
  step:close()
end

function tests.test_refused()
  local x, rng = tensor{1, 2, 3}, ladies.rng(1)
  fails("ladies.gradcheck: f gives", ladies.gradcheck, function(a)
    return a:dropout(0.5, rng) end, {ladies.ones(64)})
  lu.assertTrue((ladies.gradcheck(function(a) return a:dropout(0.5, rng:at(1)) end, {x})))
  local other = false
  fails("f gives Tensor 3: 1 2 3, and Tensor 2: 1 2 when it is called again", ladies.gradcheck,
    function(a)
      other = not other
      return other and a or a:slice(1, 2)
    end, {x})
  fails("f gives nan as element 2, of which there is no difference", ladies.gradcheck,
    function(a) return a:log() end, {tensor{{1, -1}, {2, 3}}})
  fails("what f returns must be a Tensor or a Matrix, got 3", ladies.gradcheck,
    function() return 3 end, {x})
  fails("inputs[2] must be a Tensor, got 3", ladies.gradcheck, x.exp, {x, 3})
  fails("what f returns must be a Tensor or a Matrix", ladies.gradcheck, function() return "x" end,
    {x})
  fails("depends on no parameter", ladies.gradcheck, function() return x * 2 end, {x})
  fails("unknown option", ladies.gradcheck, x.exp, {x}, {steps = 1})
  local _ <close> = ladies.step()
  fails("another step is open", ladies.gradcheck, function(a) return a * 2 end, {x})
end

--- The check may be of a module's parameters, which f reads by its own names.
function tests.test_a_module()
  local linear = ladies.nn.linear{inputs = 3, outputs = 2, rng = ladies.rng(1)}
  local x = ladies.zeros(4, 3):normal_(1, ladies.rng(2))
  lu.assertTrue((ladies.gradcheck(function() return linear:forward(x):tanh() end,
    linear:parameters())))
  compare.assert_close(x, ladies.zeros(4, 3):normal_(1, ladies.rng(2)), 0, "x")
end

return tests
