--- Gradients of any computation against central differences.
local ladies = require "ladies"
local compare = require "reference.compare"
local differences = require "reference.finite_differences"

local M = {}

-- Weights of the outputs' sum: of both signs, none of them zero.
local function weights_like(out)
  local weights = {}
  for i = 1, #compare.flatten(out) do weights[i] = (i * 7 % 11 - 5.5) / 4 end
  return weights
end

local function shaped(flat, like)
  local t = ladies.tensor(flat)
  return like.ndim == 1 and t or t:reshape(like.n_rows, like.n_cols)
end

--- Asserts that backward finds the gradients that differences find, of a weighted sum of compute()
-- in each of `inputs`, the parameters that it reads. compute() gives a Tensor, the same (up to
-- rounding) within a step and where nothing is recorded.
function M.check(what, compute, inputs)
  local function unrecorded() return ladies.no_grad(compute) end
  local constant = unrecorded()
  local weights = weights_like(constant)
  for _, x in ipairs(inputs) do x:set_grad_(x * 0) end
  do
    local _ <close> = ladies.step()
    local out = compute()
    compare.assert_close(out, constant, 1e-5, what .. ": within a step")
    local loss = (out * shaped(weights, out)):sum()
    loss:backward()
  end
  for i, x in ipairs(inputs) do
    compare.assert_close(x.grad, differences.gradient(unrecorded, x, weights),
                         differences.tolerance, ("%s: gradient %d"):format(what, i))
  end
end

return M
