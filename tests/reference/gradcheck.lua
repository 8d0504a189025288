--- Gradients of any computation against central differences.
local lu = require "luaunit"
local ladies = require "ladies"

local M = {}

--- Asserts that backward finds the gradients that differences find, of a weighted sum of compute()
-- in each of `inputs`, the parameters that it reads. compute() gives a Tensor, the same (up to
-- rounding) within a step and where nothing is recorded. tests/gradients/test_gradcheck.lua
-- examines this.
function M.check(what, compute, inputs)
  local ok, worst = ladies.gradcheck(compute, inputs)
  if not ok then lu.fail(what .. ": " .. tostring(worst)) end
end

return M
