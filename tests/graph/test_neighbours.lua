--- Rows of x that are put together, as neighbours of a node and as segments, against loops over
-- them; and their gradients, by differences, for every way to hold a matrix.
local lu = require "luaunit"
local ladies = require "ladies"
local compare = require "reference.compare"
local gradcheck = require "reference.gradcheck"

local fails, index, tensor = lu.assertErrorMsgContains, ladies.index, ladies.tensor
local tests = {}

-- Four rows of a 4 x 5 matrix: three columns, one, none, and all.
local function matrix()
  return ladies.matrix{n_rows = 4, n_cols = 5, rows = index{1, 1, 1, 2, 4, 4, 4, 4, 4},
    cols = index{1, 3, 5, 2, 1, 2, 3, 4, 5}, values = ladies.full(9, 7)}
end

local function features(n, k)
  return ladies.zeros(n, k):normal_(1, ladies.rng(3))
end

-- {mean, largest, smallest, deviation} of column j over the rows `ids` of x.
local function plain(x, ids, j)
  local mean, square, most, least = 0, 0, -math.huge, math.huge
  for _, u in ipairs(ids) do
    local v = x:get(u, j)
    mean, most, least = mean + v / #ids, math.max(most, v), math.min(least, v)
  end
  for _, u in ipairs(ids) do square = square + (x:get(u, j) - mean) ^ 2 / #ids end
  if #ids == 0 then most, least = 0, 0 end
  return {mean, most, least, math.sqrt(square)}
end

local function assert_plain(S, members, x)
  local got = {S:neighbour_mean(x), S:neighbour_max(x), -S:neighbour_max(-x), S:neighbour_std(x)}
  for i, t in ipairs(got) do
    lu.assertEquals({t.n_rows, t.n_cols}, {#members, x.n_cols})
    for r, ids in ipairs(members) do
      for j = 1, x.n_cols do
        lu.assertAlmostEquals(t:get(r, j), plain(x, ids, j)[i], 1e-5)
      end
    end
  end
end

function tests.test_neighbours()
  local A, members = matrix(), {{1, 3, 5}, {2}, {}, {1, 2, 3, 4, 5}}
  for _, k in ipairs{1, 3, 70} do
    local x = features(5, k)
    assert_plain(A, members, x)
    local U, src = A:slice(index{1, 4})                 -- whose second row is not sorted
    assert_plain(U, {{1, 2, 3}, {1, 4, 2, 5, 3}}, x[src])
    assert_plain(A:transpose(), {{1, 4}, {2, 4}, {1, 4}, {4}, {1, 4}}, features(4, k))
  end
end

function tests.test_segments()
  local of = index{2, 4, 2, 2, 1, 4}
  local S = ladies.segments(of, 5)
  lu.assertEquals({S.n_rows, S.n_cols, S.nnz}, {5, 6, 6})
  local x = features(6, 3)
  assert_plain(S, {{5}, {1, 3, 4}, {}, {2, 6}, {}}, x)
  compare.assert_close(S:matmul(x), x:scatter_add(of, 5), 1e-6, "sums")
  local scores = features(6, 1):reshape(6)
  local share = S:edge_softmax(scores[S:col_of()])
  compare.assert_close(S:with_values(share):row_sums(), {1, 1, 0, 1, 0}, 1e-6, "shares")
  lu.assertAlmostEquals(share[2] / share[3], math.exp(scores[1] - scores[3]), 1e-5)
  lu.assertEquals(ladies.segments(index{}, 2).nnz, 0)
  local A = matrix()
  local entries = ladies.segments(A:row_of(), A.n_rows)
  compare.assert_close(entries:matmul(A:entry_values():reshape(9, 1)), A:row_sums(), 1e-6, "rows")
end

--- A vector stays a vector, rows without entries are 0 and nan goes on.
function tests.test_edges_of_the_domain()
  local A = matrix()
  local v = tensor{1, 2, 3, 4, 5}
  lu.assertEquals(A:neighbour_mean(v):to_table(), {3, 2, 0, 3})
  lu.assertEquals(A:neighbour_std(v):to_table()[2], 0)
  lu.assertEquals(A:neighbour_std(v).ndim, 1)
  local nan = tensor{1, 2, 0 / 0, 4, 5}
  for _, name in ipairs{"neighbour_mean", "neighbour_std", "neighbour_max"} do
    local y = A[name](A, nan)
    lu.assertTrue(y[1] ~= y[1] and y[4] ~= y[4] and y[2] == y[2] and y[3] == 0, name)
    fails(name .. ": 4 for the columns of a 4 x 5 matrix", A[name], A, ladies.ones(4))
  end
  local large = tensor{1e4 + 1, 1e4, 1e4 + 2, 1e4, 1e4 + 3}     -- no digits are lost to the mean
  lu.assertAlmostEquals(A:neighbour_std(large)[1], math.sqrt(2 / 3), 1e-6)
  fails("segments: id 3 at position 2 is out of range 1..2", ladies.segments, index{1, 3}, 2)
  fails("segments: id 0 at position 1 is out of range 1..2", ladies.segments, index{0, 1}, 2)
end

function tests.test_gradients()
  local A, x = matrix(), features(5, 3)
  local U, src = A:slice(index{1, 4})
  local S = ladies.segments(index{2, 4, 2, 2, 4}, 5)
  for _, name in ipairs{"neighbour_mean", "neighbour_std", "neighbour_max"} do
    gradcheck.check(name, function(y) return A[name](A, y) end, {x})
    gradcheck.check(name .. " of a slice", function(y) return U[name](U, y[src]) end, {x})
    gradcheck.check(name .. " of segments", function(y) return S[name](S, y) end, {x})
    gradcheck.check(name .. " twice", function(y) return A[name](A, y) * y:slice(1, 4) end, {x})
  end
end

return tests
