--- Projections: principal components against planted ones, t-SNE against loops over all pairs.
local lu = require "luaunit"
local ladies = require "ladies"

local tests = {}

-- Rows around some centres, `each` of them one after the other, and the numbers of these.
local function groups(centres, each, columns, deviation)
  local rng = ladies.rng(3)
  local X, classes = ladies.zeros(#centres * each, columns):normal_(deviation, rng), {}
  for i = 1, X.n_rows do
    local class = (i - 1) // each + 1
    X:set_(i, 1, X:get(i, 1) + centres[class])
    X:set_(i, 2, X:get(i, 2) + centres[class] ^ 2)
    classes[i] = class
  end
  return X, classes
end

--- Principal components lie along planted directions, however these lie in space, from the mean,
-- with their shares of the variance.
function tests.test_pca()
  local n, directions = 400, {{3, 4, 0, 0}, {4, -3, 0, 0}, {0, 0, 0, 5}}
  local S = ladies.zeros(n, 3):normal_(1, ladies.rng(1))
  -- Uncorrelated by construction: each row comes with all combinations of signs.
  local rows, deviations = {}, {5, 2, 0.5}
  for i = 1, n do
    local k = (i - 1) // 8 * 8 + 1
    local sign = {(i & 1) * 2 - 1, (i >> 1 & 1) * 2 - 1, (i >> 2 & 1) * 2 - 1}
    rows[i] = {10, 20, 30, 40}
    for d = 1, 3 do
      for j = 1, 4 do
        rows[i][j] = rows[i][j] + sign[d] * deviations[d] * math.abs(S:get(k, d))
          * directions[d][j] / 5
      end
    end
  end
  local Y, shares = ladies.projection.pca(ladies.tensor(rows), 3)
  lu.assertEquals({Y.n_rows, Y.n_cols, #shares}, {n, 3, 3})
  for i = 1, n, 7 do
    for d = 1, 3 do
      local along = 0
      for j = 1, 4 do along = along + (rows[i][j] - 10 * j) * directions[d][j] / 5 end
      lu.assertAlmostEquals(math.abs(Y:get(i, d)), math.abs(along), 2e-3)
    end
  end
  lu.assertAlmostEquals(shares[1] + shares[2] + shares[3], 1, 1e-5)
  lu.assertTrue(shares[1] > shares[2] and shares[2] > shares[3])
  lu.assertEquals(ladies.projection.pca(ladies.tensor(rows)), Y:slice_cols(1, 2))
end

--- Rows that vary in fewer directions have fewer components; equal ones none.
function tests.test_pca_of_few_directions()
  local line = ladies.tensor{{1, 2}, {2, 4}, {3, 6}}
  local Y, shares = ladies.projection.pca(line)
  lu.assertEquals({Y.n_rows, Y.n_cols, #shares}, {3, 1, 1})
  lu.assertAlmostEquals(shares[1], 1, 1e-5)
  lu.assertAlmostEquals(Y:get(3, 1) - Y:get(1, 1), math.sqrt(20), 1e-4)
  local noise = ladies.zeros(200, 16):normal_(1e-3, ladies.rng(1))
  local first = ladies.zeros(200, 1):normal_(1, ladies.rng(2)):matmul(ladies.ones(1, 16))
  Y, shares = ladies.projection.pca(first + noise)
  local a, b = Y:slice_cols(1, 1), Y:slice_cols(2, 2)
  lu.assertAlmostEquals((a * b):sum():item() / (a:norm() * b:norm()), 0, 0.02)
  lu.assertTrue(shares[2] < 1e-6, shares[2])
  Y, shares = ladies.projection.pca(ladies.ones(3, 2))
  lu.assertEquals({Y, shares}, {ladies.zeros(3, 1), {}})
end

-- Computes t-SNE's probabilities p for all rows in plain loops.
local function plain_p(X, perplexity)
  local n, P = #X, {}
  local function distance(a, b)
    local sum = 0
    for j = 1, #a do sum = sum + (a[j] - b[j]) ^ 2 end
    return sum
  end
  for i = 1, n do
    local low, high, b = 0, math.huge, 1
    for _ = 1, 200 do
      local sum, weighted = 0, 0
      P[i] = {}
      for j = 1, n do
        P[i][j] = i == j and 0 or math.exp(-b * distance(X[i], X[j]))
        sum, weighted = sum + P[i][j], weighted + P[i][j] * distance(X[i], X[j])
      end
      for j = 1, n do P[i][j] = P[i][j] / sum end
      if math.log(sum) + b * weighted / sum > math.log(perplexity) then low = b else high = b end
      b = high == math.huge and 2 * b or (low + high) / 2
    end
  end
  local joint = {}
  for i = 1, n do
    joint[i] = {}
    for j = 1, n do joint[i][j] = (P[i][j] + P[j][i]) / (2 * n) end
  end
  return joint
end

local function plain_gradient(P, Y, exaggeration)
  local n, W, sum, G = #Y, {}, 0, {}
  for i = 1, n do
    W[i] = {}
    for j = 1, n do
      W[i][j] = i == j and 0 or 1 / (1 + (Y[i][1] - Y[j][1]) ^ 2 + (Y[i][2] - Y[j][2]) ^ 2)
      sum = sum + W[i][j]
    end
  end
  for i = 1, n do
    G[i] = {0, 0}
    for j = 1, n do
      for d = 1, 2 do
        G[i][d] = G[i][d] + 4 * (exaggeration * P[i][j] - W[i][j] / sum) * W[i][j]
          * (Y[i][d] - Y[j][d])
      end
    end
  end
  return G
end

--- The first steps, with and without exaggeration, are those of plain loops in double.
function tests.test_tsne_step_by_step()
  local X = groups({0, 2}, 6, 3, 0.8)
  local n, steps = 12, 8
  local P = plain_p(X:to_table(), 3)
  local Y, V = ladies.zeros(n, 2):normal_(1e-4, ladies.rng(5)):to_table(), {}
  for i = 1, n do V[i] = {0, 0} end
  for step = 1, steps do
    local is_early = step <= steps // 4
    local G, mean = plain_gradient(P, Y, is_early and 12 or 1), {0, 0}
    for i = 1, n do
      for d = 1, 2 do
        V[i][d] = (is_early and 0.5 or 0.8) * V[i][d] - 50 * G[i][d]
        Y[i][d] = Y[i][d] + V[i][d]
        mean[d] = mean[d] + Y[i][d] / n
      end
    end
    for i = 1, n do
      for d = 1, 2 do Y[i][d] = Y[i][d] - mean[d] end
    end
  end
  local found = ladies.projection.tsne(X, {perplexity = 3, steps = steps, seed = 5})
  local size = found:norm()
  for i = 1, n do
    for d = 1, 2 do lu.assertAlmostEquals(found:get(i, d) / size, Y[i][d] / size, 1e-3) end
  end
end

--- Groups stay together: the nearest point of each is of its own; and again the same.
function tests.test_tsne_keeps_neighbours()
  local X, classes = groups({0, 4, 8}, 40, 10, 0.5)
  local Y = ladies.projection.tsne(X, {perplexity = 10})
  lu.assertEquals(ladies.projection.tsne(X, {perplexity = 10}), Y)
  local places = Y:to_table()
  for i, a in ipairs(places) do
    local nearest, least = nil, math.huge
    for j, b in ipairs(places) do
      local distance = (a[1] - b[1]) ^ 2 + (a[2] - b[2]) ^ 2
      if i ~= j and distance < least then nearest, least = j, distance end
    end
    lu.assertEquals(classes[nearest], classes[i])
  end
end

--- Rows that are all the same have places all the same.
function tests.test_tsne_of_equal_rows()
  lu.assertTrue(ladies.projection.tsne(ladies.ones(9, 3), {perplexity = 3, steps = 20}):is_finite())
end

function tests.test_wrong_input()
  local projection = ladies.projection
  lu.assertErrorMsgContains("at least 2 rows", projection.pca, ladies.ones(1, 3))
  lu.assertErrorMsgContains("k must be an integer in [1, 3]", projection.pca, ladies.ones(2, 3), 4)
  lu.assertErrorMsgContains("numbers that are not finite", projection.tsne,
    ladies.tensor{{0 / 0, 1}, {1, 2}})
  lu.assertErrorMsgContains("at most a third of the 30 rows, got 30", projection.tsne,
    ladies.ones(30, 2))
  lu.assertErrorMsgContains("at most 5000 rows, got 5001", projection.tsne, ladies.ones(5001, 1))
end

return tests
