--- Leading eigenvectors against SciPy's (fixtures/make_eigenvectors.py) and against those known by
-- hand, also of repeated eigenvalues.
local lu = require "luaunit"
local ladies = require "ladies"
local fixture = require "reference.fixture"

local fails, index, range = lu.assertErrorMsgContains, ladies.index, ladies.range
local eigenvectors = ladies.eigenvectors
local fixtures = fixture.open "eigenvectors"
local tests = {}

-- Asserts that the columns of X are orthonormal, with their largest numbers positive, and
-- eigenvectors of A for the values.
local function assert_solves(A, values, X, tolerance)
  local G = X:transpose():matmul(X)
  for i = 1, G.n_rows do
    for j = 1, G.n_cols do lu.assertAlmostEquals(G:get(i, j), i == j and 1 or 0, 1e-5) end
  end
  lu.assertTrue((A:matmul(X) - X * values):col_sums(2):sqrt():max()
    <= tolerance * values:abs():max() + 1e-6)
  lu.assertTrue((X:max(1) + X:min(1)):min() > -1e-5)
end

-- A cycle of n nodes, whose eigenvalues are 2 cos(2 pi i / n).
local function cycle(n)
  return ladies.matrix{n_rows = n, n_cols = n, rows = range(1, n), cols = range(1, n) % n + 1}
    :symmetrize()
end

function tests.test_scipy()
  for _, name in ipairs{"weighted", "graph"} do
    local function array(what) return fixtures:tensor(name .. "/" .. what) end
    local function ids(what) return fixtures:index(name .. "/" .. what) end
    local n = math.tointeger(array("n"):item())
    local A = ladies.matrix{n_rows = n, n_cols = n, rows = ids "rows", cols = ids "cols",
      values = array "values"}
    for _, which in ipairs{"largest", "smallest"} do
      local want, vectors = array(which), array(which .. "_vectors")
      for _, k in ipairs{1, 3, 6} do
        local values, X = eigenvectors(A, k, {which = which})
        assert_solves(A, values, X, 1e-5)
        for i = 1, k do
          lu.assertAlmostEquals(values[i], want[i], 1e-5)
          local cosine = (X:slice_cols(i, i) * vectors:slice_cols(i, i)):sum():item()
          lu.assertAlmostEquals(math.abs(cosine), 1, 1e-4)
        end
      end
    end
  end
end

--- In a graph of many parts each part has the eigenvalue 2, and a cycle all but two eigenvalues
-- twice.
function tests.test_several_times()
  local parts = {}
  for i = 1, 30 do parts[i] = cycle(3 + i % 5) end
  local A = ladies.block_diagonal(parts)
  local values, X = eigenvectors(A, 12)
  lu.assertAlmostEquals(values:to_table(), ladies.full(12, 2):to_table(), 1e-5)
  assert_solves(A, values, X, 1e-5)
  values = eigenvectors(cycle(40), 5)
  for i = 1, 5 do
    lu.assertAlmostEquals(values[i], 2 * math.cos(2 * math.pi * (i // 2) / 40), 1e-5)
  end
end

--- All eigenvectors of a small matrix, of one without entries, and of a single node.
function tests.test_all()
  local A = cycle(6):add_diag(ladies.tensor{1, -2, 3, 0.5, 0, 4})
  local values, X = eigenvectors(A, 6, {which = "smallest"})
  assert_solves(A, values, X, 1e-5)
  lu.assertAlmostEquals((X * values):matmul(X:transpose()):to_table(), A:to_dense():to_table(),
    1e-5)
  local empty = ladies.matrix{n_rows = 5, n_cols = 5, rows = index{}, cols = index{}}
  values, X = eigenvectors(empty, 2)
  lu.assertEquals(values:to_table(), {0, 0})
  assert_solves(empty, values, X, 1e-5)
  values, X = eigenvectors(cycle(1) + cycle(1), 1)
  lu.assertEquals({values:to_table(), X:to_table()}, {{2}, {{1}}})
end

--- The vectors have the same bits with any number of threads; another generator gives other vectors
-- of the same eigenspace.
function tests.test_draws()
  local A = ladies.block_diagonal{cycle(30), cycle(30)}
  local function hash(rng)
    local _, X = eigenvectors(A, 2, {rng = rng})
    return X:hash()
  end
  local first = hash(ladies.rng(5))
  ladies.threads(3)
  lu.assertEquals(hash(ladies.rng(5)), first)
  lu.assertNotEquals(hash(ladies.rng(6)), first)
  lu.assertEquals(hash(), hash())
end

function tests.test_refused()
  local A = cycle(5)
  fails("A must be square", eigenvectors, A:rows(index{1, 2}), 1)
  fails("A must be symmetric", eigenvectors, A:scale_rows(range(1, 5):to_tensor()), 1)
  fails("k must be an integer in [1, 5], got 6", eigenvectors, A, 6)
  fails("A must be a Matrix", eigenvectors, ladies.ones(2, 2), 1)
  fails("which must be one of largest, smallest", eigenvectors, A, 1, {which = "middle"})
end

return tests
