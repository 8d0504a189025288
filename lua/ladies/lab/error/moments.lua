--- Estimates the error, bias and variance of an estimate from a few draws of it.
--
-- Draws i = 1 .. m have errors E_i = estimate - exact of the rows of nodes, or of a tensor as a
-- whole; n_v of them have one of node v, and S = sum_i E_i(v). Of these
--     error     mean of ||E_i(v)||^2, over draws and nodes
--     bias      mean of (||S||^2 - sum_i ||E_i(v)||^2) / (n_v (n_v - 1)), the mean product of two
--               different draws: unbiased for ||expected E(v)||^2, and so below 0 now and then
--     variance  error - bias
--     scale     1 + sum <E, exact> / sum <exact, exact>: of an unbiased estimate 1 on average

local core = require "ladies_core"
local sampling = require "ladies.sampling"

local moments = {}

-- A variance below this share of the error is only the rounding of error - bias, and counts as 0.
local ROUNDING = 1e-6

local function total(t) return t:sum():item() end

-- Returns the numbers of an estimate; the variance is 0 where all draws are alike.
local function numbers_of(error, bias, scale)
  if bias and math.abs(error - bias) < ROUNDING * error then bias = error end
  return {error = error, bias = bias, variance = bias and error - bias, scale = scale}
end

-- Computes for each node that is in any of the draws its S, the sum of its squared errors, and n_v.
local function by_node(draws)
  local all = draws[1].nodes
  for i = 2, #draws do all = all .. draws[i].nodes end
  local nodes = sampling.unique(all)
  local n = #nodes
  local sums, squares, counts = nil, core.zeros(n), core.zeros(n)
  for _, draw in ipairs(draws) do
    local place = sampling.find(nodes, draw.nodes)
    local part = draw.error:scatter_add(place, n)
    sums = sums and sums + part or part
    squares = squares + draw.error:square():row_sums():scatter_add(place, n)
    counts:add_at_(place, 1)
  end
  return sums, squares, counts
end

--- moments.of_rows(draws, values, signal): returns {error =, bias =, variance =, scale =} of draws
-- {nodes = Index, error = a row for each}; the first three are divided by `signal`, and bias and
-- variance are nil where no node was there twice. values: the exact rows of all nodes. Where the
-- signal is zero there are no numbers, and no scale where that of these nodes is.
function moments.of_rows(draws, values, signal)
  if signal == 0 then return {} end
  local sums, squares, counts = by_node(draws)
  -- A node that occurs only once has no pair of draws, and gets no weight.
  local again = counts:above(1)
  local products = (sums:square():row_sums() - squares) / (counts - 1):clamp(1, math.huge) * again
  local weight = total(counts * again)
  local rows, along, norm = 0, 0, 0
  for _, draw in ipairs(draws) do
    local exact = values:rows(draw.nodes)
    rows, along = rows + #draw.nodes, along + total(draw.error * exact)
    norm = norm + total(exact:square())
  end
  local error = total(squares) / rows / signal
  local bias = weight > 0 and total(products) / weight / signal or nil
  return numbers_of(error, bias, norm > 0 and 1 + along / norm or nil)
end

--- moments.of_tensors(draws, exact): returns the numbers of moments.of_rows for draws that are
-- lists of tensors, {tensor, ...}, taken as one vector. exact: an array of {tensor =, square = its
-- squared norm}; the sum of the squares is what all is divided by. Where that is zero there are no
-- numbers.
function moments.of_tensors(draws, exact)
  local m, squares, product, norm, along = #draws, 0, 0, 0, 0
  for k, one in ipairs(exact) do
    local sum
    for i = 1, m do
      local error = draws[i][k]
      sum = sum and sum + error or error
      squares = squares + total(error:square())
      along = along + total(error * one.tensor)
    end
    product, norm = product + total(sum:square()), norm + one.square
  end
  if norm == 0 then return {} end
  local error = squares / m / norm
  local bias = (product - squares) / (m * (m - 1)) / norm
  return numbers_of(error, bias, 1 + along / m / norm)
end

return moments
