--- Pairs of nodes: has, find and common_neighbours against dense tables, for every kind of matrix.
local lu = require "luaunit"
local ladies = require "ladies"
local dense = require "reference.dense"

local fails, index, tensor = lu.assertErrorMsgContains, ladies.index, ladies.tensor
local tests = {}

-- Every pair of a row and a column, as two Indexes.
local function every_pair(n_rows, n_cols)
  local at = ladies.range(1, n_rows * n_cols) - 1
  return at // n_cols + 1, at % n_cols + 1
end

local function assert_pairs(A, D)
  local rows, cols = every_pair(A.n_rows, A.n_cols)
  local at, has, values = A:find(rows, cols), A:has(rows, cols), A:entry_values()
  for i = 1, #rows do
    local want = D[rows[i]][cols[i]]
    lu.assertEquals(has[i], want and 1 or 0)
    lu.assertEquals(at[i] > 0 and values[at[i]] or nil, want)
  end
end

function tests.test_find_and_has()
  dense.cases(function(A, D)
    assert_pairs(A, D)
    assert_pairs(A:transpose(), dense.transpose(D))
    local rows = index{5, 2, 9}
    local U, src = A:slice(rows)                        -- its rows are not sorted
    assert_pairs(U, dense.pick(D, rows:to_table(), src:to_table()))
  end)
  dense.cases(assert_pairs, 4, 30)
end

function tests.test_common_neighbours()
  dense.cases(function(A, D)
    local a, b = every_pair(A.n_rows, A.n_rows)
    local w = dense.random_vector(A.n_cols)
    local U = A:slice(ladies.range(1, A.n_rows))
    local got, weighted = A:common_neighbours(a, b), A:common_neighbours(a, b, w)
    lu.assertEquals(U:common_neighbours(a, b), got)
    for i = 1, #a do
      local count, sum = 0, 0
      for c = 1, A.n_cols do
        if D[a[i]][c] and D[b[i]][c] then count, sum = count + 1, sum + w[c] end
      end
      lu.assertEquals(got[i], count)
      lu.assertAlmostEquals(weighted[i], sum, 1e-5)
    end
  end, 9, 20)
end

--- The scores of a small graph, by hand: 1 and 2 share 3 (of degree 3) and 4 (of degree 2).
function tests.test_adamic_adar()
  local A = ladies.matrix{n_rows = 5, n_cols = 5, rows = index{1, 1, 2, 2, 3},
    cols = index{3, 4, 3, 4, 5}}:symmetrize()
  local score = A:common_neighbours(index{1, 1}, index{2, 5}, 1 / A:degrees():log())
  lu.assertAlmostEquals(score[1], 1 / math.log(3) + 1 / math.log(2), 1e-6)
  lu.assertAlmostEquals(score[2], 1 / math.log(3), 1e-6)
end

function tests.test_refused()
  local A = ladies.matrix{n_rows = 2, n_cols = 3, rows = index{1}, cols = index{3}}
  lu.assertEquals(A:has(index{}, index{}).n_rows, 0)
  fails("has: 2 and 1 ids do not make pairs", A.has, A, index{1, 2}, index{1})
  fails("has: row 3", A.has, A, index{3}, index{1})
  fails("find: column 4", A.find, A, index{1}, index{4})
  fails("find: row 0", A.find, A, index{0}, index{1})
  fails("common_neighbours: row 3", A.common_neighbours, A, index{1}, index{3})
  fails("common_neighbours: weights of 2 for 3 columns", A.common_neighbours, A, index{1}, index{2},
    tensor{1, 2})
end

return tests
