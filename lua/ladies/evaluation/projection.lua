--- Reduces the number of columns of a matrix (PCA, t-SNE), for example to turn embeddings of nodes
-- into points that ladies.plot.scatter draws.
--
--   local H = ladies.inference.exact(model, data)[nodes]
--   ladies.plot.scatter(ladies.projection.tsne(H),
--     {classes = data.labels[nodes], class_names = data.class_names})

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local options = require "ladies.base.options"
local tsne = require "ladies.evaluation.tsne"

local projection = {}

local MOST_ITERATIONS, TOLERANCE = 1000, 1e-6

-- The share of the variance below which a direction is the rounding of float32, and none.
local LEAST_SHARE = 1e-11
local MOST_ROWS, SEED = 5000, 1

local function rows_of(where, X)
  options.value(where, "X", X, "Tensor")
  core.check_constant(where, X)
  if X.ndim ~= 2 or X.n_rows < 2 then
    errors.fail(("%s: X must have at least 2 rows of numbers, got %s"):format(where, tostring(X)))
  elseif not X:is_finite() then
    errors.fail(where .. ": X has numbers that are not finite")
  end
  return X
end

-- Returns the eigenvector of the largest eigenvalue of a symmetric matrix, by power iteration, with
-- the sign that makes its largest element positive. Nil where that eigenvalue is not above `least`.
local function leading(C, rng, least)
  local v = core.zeros(C.n_rows, 1):normal_(1, rng)
  for _ = 1, MOST_ITERATIONS do
    local w = C:matmul(v)
    local length = w:norm()
    if length <= least then return nil end
    w = w * (1 / length)
    local change = (w - v):norm()
    v = w
    if change < TOLERANCE then break end
  end
  local sign = v:max() >= -v:min() and 1 or -1
  return v * sign
end

--- projection.pca(X: Tensor [, k = 2]) -> Tensor, table: the principal components of the rows of X:
-- for each row its k coordinates along the directions in which the rows vary most, from their mean;
-- and the share of the variance of each. No more columns than there are directions in which they
-- vary.
function projection.pca(X, k)
  local where = "ladies.projection.pca"
  rows_of(where, X)
  k = options.value(where, "k", k, ("integer in [1, %d] or nil"):format(X.n_cols))
    or math.min(2, X.n_cols)
  return core.no_grad(function()
    local centred = X - X:col_sums() * (1 / X.n_rows)
    local total, rng = centred:square():sum():item(), core.rng(SEED)
    local found, shares = nil, {}
    for i = 1, k do
      local v = leading(centred:transpose():matmul(centred), rng, LEAST_SHARE * total)
      if not v then break end
      local column = centred:matmul(v)
      found, shares[i] = found and found:concat(column) or column,
        column:square():sum():item() / total
      -- What was found is taken out of the rows: out of their products it would leave rounding that
      -- is as large as what a lesser direction has.
      centred = centred - column:matmul(v:transpose())
    end
    return found or core.zeros(X.n_rows, 1), shares
  end)
end

--- projection.tsne(X: Tensor [, {perplexity = 30.0, steps = 500, seed = 1}]) -> Tensor: the rows of
-- X (at most 5000, for all pairs are looked at) as points in two dimensions in which the neighbours
-- of a row are near it (van der Maaten and Hinton, JMLR 2008); distances between groups mean
-- little.
-- perplexity   about how many neighbours a row has, below the number of rows / 3
-- steps        of gradient descent
-- seed         of where the points begin
function projection.tsne(X, given)
  local where = "ladies.projection.tsne"
  rows_of(where, X)
  local opts = options.check(where, given or {}, {perplexity = {"positive number", 30},
    steps = {"positive integer", 500}, seed = {"integer", SEED}})
  if X.n_rows > MOST_ROWS then
    errors.fail(("%s: it looks at all pairs of at most %d rows, got %d; X[ladies.index{...}] takes "
      .. "some of them"):format(where, MOST_ROWS, X.n_rows))
  elseif 3 * opts.perplexity > X.n_rows then
    errors.fail(("%s: perplexity must be at most a third of the %d rows, got %g"):format(where,
      X.n_rows, opts.perplexity))
  end
  return core.no_grad(tsne, X, opts.perplexity, opts.steps, core.rng(opts.seed))
end

return projection
