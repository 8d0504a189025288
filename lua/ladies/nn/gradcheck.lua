--- Checks the gradients of any computation against central differences, (f(x + h) - f(x - h)) / 2h.
-- These are wrong by h^2/6 f''' and, by rounding, about e/h, where e is the error of f in float32,
-- 1e-7 to 1e-6 for values about 1: hence a step of 1/128 and a tolerance of 1e-3 for functions that
-- are smooth within a step of x.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local not_finite = require("ladies.base.units").not_finite
local options = require "ladies.base.options"

local gradcheck = {}

local WHERE = "ladies.gradcheck"
local WITHIN_A_STEP = 1e-5    -- how far what f gives may differ there, relative to 1 or to itself

-- Returns a result of f as a Tensor: a Matrix becomes the vector of its entries, a number a vector
-- of one element, except where operations are recorded, which give a Tensor.
local function as_tensor(value, is_recorded)
  if options.class_of(value) == "Matrix" then return value:entry_values() end
  if type(value) == "number" and not is_recorded then return core.tensor{value} end
  return options.value(WHERE, "what f returns", value, "Tensor or Matrix")
end

-- Returns an array of the elements of a Tensor, row by row.
local function flat(t)
  return t:reshape(t.n_rows * t.n_cols):to_table()
end

-- Returns how far a is from b, relative to 1 or to b; infinite where one of them is nan.
local function distance(a, b)
  local d = math.abs(a - b) / math.max(1, math.abs(b))
  return d == d and d or a == b and 0 or math.huge
end

-- Returns the weights by which the outputs are summed to one number: of both signs, none of them
-- zero.
local function weights_like(out)
  local weights = {}
  for i = 1, out.n_rows * out.n_cols do weights[i] = (i * 7 % 11 - 5.5) / 4 end
  return weights
end

-- Returns the weighted sum of the elements, computed in double precision.
local function weighted_sum(out, weights)
  local total = 0
  for i, value in ipairs(flat(out)) do total = total + value * weights[i] end
  return total
end

-- ---------------------------------------------------------------- the inputs

-- Sets the gradient of a parameter; nil removes it.
local function put_gradient(x, gradient)
  x:requires_grad_(false):requires_grad_(true)
  if gradient then x:set_grad_(gradient) end
end

-- Calls body(xs), where xs are the inputs that are parameters and, for the others, copies that are;
-- afterwards, also after an error, the gradients of parameters are what they were.
local function with_parameters(inputs, body)
  local xs, before = {}, {}
  for i, x in ipairs(inputs) do
    xs[i] = x.requires_grad and x or x:detach():clone():requires_grad_()
    before[i] = x.grad and x.grad:clone() or false
  end
  local _ <close> = setmetatable({}, {__close = function()
    for i, x in ipairs(xs) do put_gradient(x, before[i] or nil) end
  end})
  for _, x in ipairs(xs) do put_gradient(x, nil) end
  return body(xs)
end

-- Returns the central difference of f in element (row, column) of x, which is then reset to its
-- value, also after an error; and the values of f below and above it.
local function difference(f, x, row, column, step)
  local value = x:get(row, column)
  local _ <close> = setmetatable({}, {__close = function() x:set_(row, column, value) end})
  local above = f(x:set_(row, column, value + step))
  local below = f(x:set_(row, column, value - step))
  return (above - below) / (2 * step), below, above
end

-- ---------------------------------------------------------------- the check

-- Fails unless `again`, the result of a later call of f, is `out`, that of the first; `occasion`
-- says in the message which call it was.
local function check_same(out, again, tolerance, occasion)
  if again.ndim ~= out.ndim or again.n_rows ~= out.n_rows or again.n_cols ~= out.n_cols then
    errors.fail(("%s: f gives %s, and %s %s"):format(WHERE, out, again, occasion))
  end
  local first, second = flat(out), flat(again)
  for i, value in ipairs(first) do
    if distance(second[i], value) > tolerance then
      errors.fail(("%s: f gives %.9g as element %d, and %.9g %s; its draws must be the same, as "
        .. "with rng:at(k)"):format(WHERE, value, i, second[i], occasion))
    end
  end
end

-- Fails unless all elements of a result of f are finite.
local function check_finite(out)
  local finite, value, row, column = out:is_finite()
  if finite then return end
  errors.fail(("%s: f gives %s as element %d, of which there is no difference"):format(WHERE,
    not_finite(value), (row - 1) * out.n_cols + (column or 1)))
end

-- Calls f and runs backward from the weighted sum of its result, which must be `out` again.
local function go_backward(f, xs, out, weights)
  local _ <close> = core.step()
  local again = as_tensor(f(table.unpack(xs)), true)
  check_same(out, again:detach(), WITHIN_A_STEP, "within a step")
  local w = core.tensor(weights)
  if again.ndim == 2 then w = w:reshape(again.n_rows, again.n_cols) end
  local loss = (again * w):sum()
  loss:backward()
end

local Worst = {}
Worst.__index = Worst

function Worst:__tostring()
  if not self.input then return "there is no element to check" end
  return ("input %d (%d, %d): backward %.6g, differences %.6g%s"):format(self.input, self.row,
    self.column, self.backward, self.differences, self.kink or "")
end

-- Returns a text that f may have a kink in an element, if the differences to its left and right are
-- not the same and backward is between them; otherwise nil.
local function kink(backward, left, right, tolerance)
  if distance(left, right) <= tolerance or backward < math.min(left, right)
    or backward > math.max(left, right) then return nil end
  return ("; f may have a kink within the step: differences %.6g to the left, %.6g to the right")
    :format(left, right)
end

-- Returns the element in which backward and differences differ most, among at most opts.elements of
-- each input.
local function worst_of(xs, sum, opts)
  local worst, middle = setmetatable({error = -1, checked = 0}, Worst), sum()
  for i, x in ipairs(xs) do
    local gradient, n = x.grad and flat(x.grad) or {}, x.n_rows * x.n_cols
    local stride = math.max(1, n // (opts.elements or n))
    for at = 0, n - 1, stride do
      local row, column = at // x.n_cols + 1, at % x.n_cols + 1
      local backward = gradient[at + 1] or 0
      local expected, below, above = difference(sum, x, row, column, opts.step)
      local error = distance(backward, expected)
      worst.checked = worst.checked + 1
      if error > worst.error then
        worst.error, worst.input, worst.row, worst.column = error, i, row, column
        worst.backward, worst.differences = backward, expected
        worst.kink = error > opts.tolerance and kink(backward, (middle - below) / opts.step,
          (above - middle) / opts.step, opts.tolerance) or nil
      end
    end
  end
  return worst
end

--- ladies.gradcheck(f, inputs: Tensor[] [, {tolerance = 1e-3, step = 1/128, elements =}])
-- -> boolean, table: whether backward finds the gradients that central differences find, of a
-- weighted sum of what f(inputs...) gives, a Tensor or a Matrix, in float32 also within
-- ladies.in_bfloat16, whose roundings are more than the steps. `inputs` is an array of Tensors. f
-- is called with those that are parameters themselves, so it may read them by another name as a
-- model's forward does, and with copies of the others; all are left as they were, gradients too.
-- The two may differ by `tolerance`, or that times the derivative where it is larger than 1.
-- The table says where they differ most: input, row, column, backward, differences, error, and
-- checked, the number of elements looked at, about `elements` of each input, evenly spread, or all.
-- As a text it is one line, so that assert(ladies.gradcheck(f, {x})) tells it. Where f has a kink
-- within `step` of an element differences mean nothing; the text says where that may be. An error
-- where f gives other values each time, as it does when it draws from an rng without rng:at(k),
-- where they are not finite, and within a step.
function gradcheck.check(f, inputs, given)
  options.value(WHERE, "f", f, "callable")
  options.value(WHERE, "inputs", inputs, "table")
  local opts = options.check(WHERE, given, {
    tolerance = {"positive number", 1e-3},
    step = {"positive number", 1 / 128},
    elements = "positive integer or nil",
  })
  for i, x in ipairs(inputs) do options.value(WHERE, ("inputs[%d]"):format(i), x, "Tensor") end
  return core.in_float32(with_parameters, inputs, function(xs)
    local function unrecorded() return as_tensor(core.no_grad(f, table.unpack(xs))) end
    local out = unrecorded()
    check_finite(out)
    local weights = weights_like(out)
    check_same(out, unrecorded(), 0, "when it is called again")
    go_backward(f, xs, out, weights)
    local worst = worst_of(xs, function() return weighted_sum(unrecorded(), weights) end, opts)
    return worst.error <= opts.tolerance, worst
  end)
end

return gradcheck
