--- Computes a few leading eigenvectors of a symmetric sparse matrix by the block Lanczos method,
-- with restarts. From k random vectors on, A's products with the vectors of a basis become further
-- ones, once they are orthogonal to all that are there. The largest eigenvalues of the small matrix
-- T = V A V^T and their vectors approximate those of A; the best of them are what the next basis
-- begins with. A block of k vectors finds eigenvalues of any multiplicity up to k, such as those of
-- a graph in many parts, of which methods with a single vector find one each.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local options = require "ladies.base.options"

local eigenvectors = {}

local GUARDS, BLOCKS, MOST_RESTARTS, SEED = 8, 5, 500, 1

-- Diagonalises a symmetric table of n rows in place, by Jacobi's rotations; returns the rows u of
-- eigenvectors, T = sum of T[i][i] u[i] u[i]^T.
local function diagonalize(T, n)
  local U = {}
  for i = 1, n do
    U[i] = {}
    for j = 1, n do U[i][j] = i == j and 1 or 0 end
  end
  for _ = 1, 60 do
    local off, all = 0, 0
    for i = 1, n do
      for j = 1, n do
        all = all + T[i][j] ^ 2
        if i ~= j then off = off + T[i][j] ^ 2 end
      end
    end
    if off <= 1e-24 * all then break end
    for p = 1, n - 1 do
      for q = p + 1, n do
        local x = T[p][q]
        if x ^ 2 > 1e-30 * all / n ^ 2 then
          local half = (T[q][q] - T[p][p]) / (2 * x)
          local t = (half >= 0 and 1 or -1) / (math.abs(half) + math.sqrt(half ^ 2 + 1))
          local c = 1 / math.sqrt(t ^ 2 + 1)
          local s = t * c
          for r = 1, n do
            local row = T[r]
            row[p], row[q] = c * row[p] - s * row[q], s * row[p] + c * row[q]
          end
          local P, Q, u, v = T[p], T[q], U[p], U[q]
          for r = 1, n do
            P[r], Q[r] = c * P[r] - s * Q[r], s * P[r] + c * Q[r]
            u[r], v[r] = c * u[r] - s * v[r], s * u[r] + c * v[r]
          end
        end
      end
    end
  end
  return U
end

-- Makes a basis for at most `room` rows of n numbers, orthonormal; T is V A V^T.
local function new_basis(n, room)
  return {V = core.zeros(room, n), T = {}, room = room, count = 0}
end

-- Takes from the rows W what lies in the rows V.
local function without(W, V) return W - W:matmul(V:transpose()):matmul(V) end

-- Adds to the basis what is new in the rows W, unless a row has less of it than `least`. What is
-- taken away is taken away twice, since once leaves a rest where a row is nearly in the basis.
local function add(basis, W, least)
  local first = basis.count
  if first > 0 then
    local V = basis.V:slice(1, first)
    W = without(without(W, V), V)
  end
  for i = 1, W.n_rows do
    local w = W:slice(i, i)
    if basis.count > first then w = without(w, basis.V:slice(first + 1, basis.count)) end
    local length = w:norm()
    if length > least and basis.count < basis.room then
      w = w * (1 / length)
      if basis.count > 0 then w = without(w, basis.V:slice(1, basis.count)) end
      basis.count = basis.count + 1
      basis.V:copy_rows_(core.index{basis.count}, w * (1 / w:norm()))
    end
  end
end

-- Multiplies the rows of the basis by A, block by block, and adds what is new, until it is full or
-- nothing new comes. T has the products of each row with those before it, which is all of it.
local function fill(basis, multiply, block)
  local done, scale = 0, 0
  while done < basis.count do
    local last = math.min(done + block, basis.count)
    local W = multiply(basis.V:slice(done + 1, last):transpose()):transpose()
    local products = W:matmul_precise(basis.V:slice(1, last), {transpose_b = true})
    for i = done + 1, last do
      basis.T[i] = {}
      for j = 1, i do
        basis.T[i][j] = products:get(i - done, j)
        basis.T[j][i] = basis.T[i][j]
      end
    end
    scale = math.max(scale, W:norm())
    if basis.count < basis.room then add(basis, W, 1e-5 * scale) end
    done = last
  end
end

-- Returns the `count` largest eigenvalues of T, descending, and the vectors of A that they stand
-- for, as rows.
local function leading(basis, count)
  local U, order, values, rows = diagonalize(basis.T, basis.count), {}, {}, {}
  for i = 1, basis.count do order[i] = i end
  table.sort(order, function(i, j) return basis.T[i][i] > basis.T[j][j] end)
  for i = 1, math.min(count, basis.count) do
    values[i], rows[i] = basis.T[order[i]][order[i]], U[order[i]]
  end
  return values, core.tensor(rows):matmul(basis.V:slice(1, basis.count))
end

-- Returns how far the first k rows of X are from eigenvectors: the largest |A x - value x|.
local function residual(multiply, values, X, k)
  local first = X:slice(1, k):transpose()
  local wanted = core.tensor{table.unpack(values, 1, k)}
  return (multiply(first) - first * wanted):col_sums(2):max() ^ 0.5
end

-- Returns the k largest eigenvalues of what `multiply` multiplies by, and their vectors as rows.
local function solve(multiply, n, k, tolerance, rng)
  local kept = math.min(n, k + GUARDS)
  local room = math.min(n, kept + BLOCKS * k + 16)
  local start, error = core.zeros(k, n):normal_(1, rng), nil
  for _ = 1, MOST_RESTARTS do
    local basis = new_basis(n, room)
    add(basis, start, 0)
    fill(basis, multiply, k)
    local values
    values, start = leading(basis, kept)
    error = residual(multiply, values, start, k)
    local scale = math.max(math.abs(values[1]), math.abs(values[k]), 1e-30)
    if error <= tolerance * scale then return values, start end
  end
  errors.fail(("ladies.eigenvectors: not found within %d restarts: |A x - value x| is still %.3g; "
    .. "a larger k or tolerance may help"):format(MOST_RESTARTS, error))
end

-- Makes the largest number of each column positive.
local function with_signs(X)
  local signs = (X:max(1) + X:min(1)):below(0) * -2 + 1
  return X * signs
end

--- ladies.eigenvectors(A, k: integer [, {which = "largest", tolerance = 1e-5, rng = Rng}])
-- -> Tensor, Tensor: the k largest eigenvalues of a symmetric matrix, descending, or with which =
-- "smallest" the k smallest, ascending, and unit eigenvectors of them as the columns of an n x k
-- matrix, whose largest numbers are positive. |A x - value x| is at most the tolerance times the
-- largest |value|. Of P = graph:normalize("sym", {self_loops = false}) the largest are 1 less the
-- smallest of the normalised Laplacian I - P: positional encodings of nodes. An eigenvalue that is
-- there several times is found as often, with some basis of its space. Block Lanczos (Golub and
-- Underwood 1977) with restarts, in float32. Where many eigenvalues lie close to those that are
-- wanted it takes long; a larger tolerance shortens it.
function eigenvectors.of(A, k, given)
  local where = "ladies.eigenvectors"
  options.value(where, "A", A, "Matrix")
  if A.n_rows ~= A.n_cols then errors.fail(("%s: A must be square, got %s"):format(where, A)) end
  options.value(where, "k", k, ("integer in [1, %d]"):format(math.max(1, A.n_rows)))
  local opts = options.check(where, given or {}, {
    which = {"largest|smallest", "largest"}, tolerance = {"positive number", 1e-5},
    rng = "Rng or nil",
  })
  core.check_constant(where, A)
  if not A:is_close(A:transpose()) then errors.fail(where .. ": A must be symmetric") end
  local sign = opts.which == "largest" and 1 or -1
  return core.no_grad(function()
    local values, X = solve(function(x) return A:matmul(x) * sign end, A.n_rows, k, opts.tolerance,
      opts.rng or core.rng(SEED))
    return core.tensor{table.unpack(values, 1, k)} * sign, with_signs(X:slice(1, k):transpose())
  end)
end

return eigenvectors
