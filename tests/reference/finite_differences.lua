--- Gradients by central differences: slow, obvious, and independent of the tape.
--
-- (f(x + h) - f(x - h)) / 2h is off by h^2/6 f''' for want of a smaller h, and by about e/h for
-- rounding, where e is what f loses in float32. With values about 1, e is 1e-7 to 1e-6: the two
-- meet near h = 1e-2, where they leave some 1e-4, or less. Hence the step, a power of two so that
-- x + h loses little, and a tolerance of 1e-3 for whatever is smooth within h of x. (The sum over
-- the outputs is not taken in float32 but here, in double.)
local compare = require "reference.compare"

local M = {step = 1 / 128, tolerance = 1e-3}

--- sum(out * weights) in double.
local function weighted_sum(out, weights)
  local total = 0
  for i, value in ipairs(compare.flatten(out)) do total = total + value * weights[i] end
  return total
end

--- The gradient of sum(f() * weights) with respect to tensor x, as a flat array. f takes no
-- arguments: it reads x, which is changed in place and put back. `weights` is a flat array.
function M.gradient(f, x, weights)
  local gradient = {}
  local function difference(value, set)
    set(value + M.step)
    local above = weighted_sum(f(), weights)
    set(value - M.step)
    local below = weighted_sum(f(), weights)
    set(value)
    gradient[#gradient + 1] = (above - below) / (2 * M.step)
  end
  for i = 1, x.n_rows do
    if x.ndim == 1 then
      difference(x[i], function(value) x[i] = value end)
    else
      for j = 1, x.n_cols do
        difference(x:get(i, j), function(value) x:set_(i, j, value) end)
      end
    end
  end
  return gradient
end

return M
