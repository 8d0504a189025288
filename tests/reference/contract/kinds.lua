--- Makes the entries in the list of the gradient contract, and the arguments that they are called
-- with; see tests/gradients/test_gradient_contract.lua.
local ladies = require "ladies"
local temporary = require "reference.temporary"

local index = ladies.index

local M = {}

--- Passes gradients on: f(context, inputs...) gives a Tensor, a Matrix or, where nothing is
-- recorded, a number; each input is made by a function and carries a gradient.
function M.passes(inputs, f) return {kind = "passes", inputs = inputs, f = f} end

--- Raises, naming :detach(), when what it takes from the context carries gradients, and works when
-- it does not.
function M.refuses(f) return {kind = "refuses", f = f} end

--- Gives no Tensor and no Matrix.
function M.reads(f) return {kind = "reads", f = f} end

--- Gives constants, and its documentation says so by this text: a way out of the tape.
function M.constant(text, f) return {kind = "constant", text = text, f = f} end

-- ---------------------------------------------------------------- what they are called with

--- Elements that differ from each other, from zero and from -0.5 and 0.5 by more than a step of the
-- differences.
function M.element(i) return i * 7 % 23 / 8 - 1.3 end

--- f, whose results belong to no step.
function M.outside(f)
  return function(...) return ladies.no_grad(f, ...) end
end

function M.vector(n)
  return M.outside(function()
    local x = ladies.zeros(n)
    for i = 1, n do x[i] = M.element(i) end
    return x
  end)
end

function M.dense(n, k)
  return M.outside(function() return M.vector(n * k)():reshape(n, k):clone() end)
end

function M.positive(make)
  return M.outside(function() return make():square() + 0.5 end)
end

M.ENTRIES = 9

--- A square matrix with a value or two off the diagonal.
function M.square_matrix()
  return ladies.csr{
    n_rows = 4, n_cols = 4, offsets = index{1, 4, 6, 8, 10},
    columns = index{1, 2, 4, 1, 2, 3, 4, 1, 4}, values = M.positive(M.vector(M.ENTRIES))(),
  }
end

function M.rng() return ladies.rng(1) end

--- Makes the values that entries take their arguments from. When wanted, its parameters and the
-- matrix A over one of them carry gradients; `plain` and `constant` never do.
function M.context(with_gradients)
  local c = {
    v = M.vector(6)(), v4 = M.positive(M.vector(4))(), e = M.positive(M.vector(M.ENTRIES))(),
    m = M.dense(4, 3)(), probabilities = ladies.full(3, 3, 0.25), one = M.vector(1)(),
    plain = M.square_matrix(), constant = M.dense(4, 3)(),
  }
  if with_gradients then
    for _, x in ipairs{c.v, c.v4, c.e, c.m, c.probabilities, c.one} do x:requires_grad_() end
  end
  c.A = c.plain:with_values(c.e)
  return c
end

-- ---------------------------------------------------------------- frequent entries

--- A method of tensors by its name, with the arguments that follow the first.
function M.method(name, ...)
  local arguments = table.pack(...)
  return function(_, x, ...)
    if select("#", ...) > 0 then return x[name](x, ...) end
    return x[name](x, table.unpack(arguments, 1, arguments.n))
  end
end

--- An operator between tensors, and between a tensor and a number.
function M.both(f)
  local m = M.dense(4, 3)
  return {
    M.passes({m, m}, function(_, x, y) return f(x, y) end),
    M.passes({M.positive(M.vector(6)), M.vector(1)}, function(_, x, y) return f(x, y) end),
    M.passes({m}, function(_, x) return f(x, 2) end),
    M.passes({M.positive(m)}, function(_, x) return f(2, x) end),
  }
end

--- A function of a matrix whose values carry a gradient, and of further inputs.
function M.of_matrix(f, ...)
  return M.passes({M.positive(M.vector(M.ENTRIES)), ...}, function(c, w, ...)
    return f(c.plain:with_values(w), ...)
  end)
end

--- Makes an entry for a function of a constant matrix, and of further inputs.
function M.of_structure(f, ...)
  return M.passes({...}, function(c, ...) return f(c.plain, ...) end)
end

--- A file of the test's own.
function M.file(name) return temporary.path("contract-" .. name) end

M.LABELS = index{1, 2, 3, 1}

return M
