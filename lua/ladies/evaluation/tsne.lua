--- Computes t-SNE, points in two dimensions that have the same neighbours as rows of many columns
-- (van der Maaten and Hinton, "Visualizing Data using t-SNE", JMLR 2008), exactly, over all pairs.
-- With the distances d of the rows of X and D of those of Y
--     p(j|i)  in proportion to exp(-b_i d_ij^2), b_i so that its perplexity 2^H is the same for all
--     p_ij    = (p(j|i) + p(i|j)) / 2n
--     q_ij    in proportion to w_ij = 1 / (1 + D_ij^2)
--     dC/dy_i = 4 sum_j (p_ij - q_ij) w_ij (y_i - y_j)                                   (eq. 5)
-- The p are exaggerated 12 times for the first quarter of the steps, and a step is n / 12 times the
-- gradient in it, at least 50 (Belkina et al., Nature Communications 2019; there are no gains).

local core = require "ladies_core"

local EXAGGERATION, HALVINGS, LEAST_STEP = 12, 60, 50
local LARGEST = 1e30     -- b, where rows are the same

-- Returns the squared distances of all pairs of rows.
local function squared_distances(X)
  local n = X.n_rows
  local squares = X:square():row_sums()
  local products = X:matmul(X:transpose())
  local D = (products * -2 + squares:reshape(n, 1) + squares):clamp(0, math.huge)
  products:release()
  return D
end

-- Computes the p(j|i): for each row the b for which the entropy is log(perplexity), by bisection.
local function conditional(D, perplexity)
  local n, target = D.n_rows, math.log(perplexity)
  local others = 1 - core.sparse(core.zeros(n, n)):add_diag(1):to_dense()
  local low, high = core.zeros(n, 1), core.full(n, 1, math.huge)
  local b = (n / D:row_sums():reshape(n, 1)):clamp(0, LARGEST)
  local P
  for _ = 1, HALVINGS do
    P = (D * -b):exp() * others
    local sums = P:row_sums():reshape(n, 1):clamp(1e-30, math.huge)
    local entropy = sums:log() + b * (D * P):row_sums():reshape(n, 1) / sums
    P = P / sums
    local is_wide = entropy:above(target)
    low, high = core.where(is_wide, b, low), core.where(is_wide, high, b)
    local middle = (low + core.where(high:equals(math.huge), 0, high)) / 2
    b = core.where(high:equals(math.huge), b * 2, middle):clamp(0, LARGEST)
  end
  return P
end

-- Returns the gradient at Y, for p times `exaggeration`.
local function gradient(P, Y, exaggeration)
  local n = Y.n_rows
  local W = 1 / (squared_distances(Y) + 1)
  local sum = W:sum():item() - n                     -- no point is its own neighbour
  local M = (P * exaggeration - W * (1 / sum)) * W
  return (Y * M:row_sums():reshape(n, 1) - M:matmul(Y)) * 4
end

--- tsne(X, perplexity, steps, rng) -> Tensor: a row of two numbers for each row of X.
return function(X, perplexity, steps, rng)
  local n = X.n_rows
  local P = conditional(squared_distances(X), perplexity)
  P = (P + P:transpose()) * (1 / (2 * n))
  local Y = core.zeros(n, 2):normal_(1e-4, rng)
  local velocity, rate = core.zeros(n, 2), math.max(LEAST_STEP, n / EXAGGERATION)
  for step = 1, steps do
    local is_early = step <= steps // 4
    velocity = velocity * (is_early and 0.5 or 0.8)
      - gradient(P, Y, is_early and EXAGGERATION or 1) * rate
    Y = Y + velocity
    Y = Y - Y:col_sums() * (1 / n)
  end
  return Y
end
