--- Matrices of some entries of a Matrix, and dropout, which draws the entries: against dense
-- tables.
local lu = require "luaunit"
local ladies = require "ladies"
local compare = require "reference.compare"
local dense = require "reference.dense"

local fails = lu.assertErrorMsgContains
local index, tensor = ladies.index, ladies.tensor
local tests = {}

-- A matrix with scales whose values differ, a part of a larger one and that one.
local function pair()
  math.randomseed(7)
  local whole, D = dense.random_pair(math.random, 12, 9, {weighted = true, density = 0.5})
  local rows, cols = {2, 7, 1, 12, 5, 9}, {1, 4, 9, 2, 3}
  local scale = {1, 2, 0.5, 4, 1, 2}
  local A = whole:slice(index(rows), index(cols)):scale_rows(tensor(scale))
  return A, dense.scale(dense.pick(D, rows, cols), scale), whole
end

--- Every subset of the entries of a small matrix.
function tests.test_every_subset()
  local A = ladies.sparse(tensor{{0, 1, 2}, {0, 0, 0}, {3, 0, 4}}):scale_cols(tensor{1, 10, 100})
  for bits = 0, 15 do
    local at, expected = {}, {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}
    for e, place in ipairs{{1, 2, 10}, {1, 3, 200}, {3, 1, 3}, {3, 3, 400}} do
      if bits >> (e - 1) & 1 == 1 then
        at[#at + 1] = e
        expected[place[1]][place[2]] = place[3]
      end
    end
    local S = A:pick_entries(index(at))
    lu.assertEquals({S.nnz, S:to_dense():to_table()}, {#at, expected})
  end
end

function tests.test_of_a_slice()
  local A, D, whole = pair()
  local values = A:entry_values()
  local S = A:pick_entries(values:above(5))
  lu.assertTrue(S.nnz > 2 and S.nnz < A.nnz)
  lu.assertTrue(S:entry_values() == values[values:above(5)])
  dense.assert_is(S, dense.map(D, function(v) return v and v > 5 and v or nil end))
  lu.assertTrue(rawequal(S.root, whole) or S.root == whole)
  lu.assertTrue(S.edge == A.edge[values:above(5)])
end

function tests.test_refused()
  local A = ladies.sparse(tensor{{1, 2}, {3, 4}})
  fails("pick_entries: position 5 at position 2 is out of range 1..4", A.pick_entries, A,
        index{1, 5})
  for _, bad in ipairs{index{2, 2}, index{3, 2}} do
    fails("ascending ones expected", A.pick_entries, A, bad)
  end
  fails("a mask of 3 for 4 elements or rows", A.pick_entries, A, tensor{1, 0, 1})
  for _, p in ipairs{-0.1, 1, 0 / 0, 0.999999} do
    fails("dropout: the probability must be in [0, 1 - 2^-17)", A.dropout, A, p, ladies.rng(1))
  end
end

--- The draws are those of a vector with an element for each entry.
function tests.test_dropout()
  local A = pair()
  for _, p in ipairs{0, 0.25, 0.75} do
    local kept = A:entry_values():dropout(p, ladies.rng(5))
    local S = A:dropout(p, ladies.rng(5))
    compare.assert_close(S:to_dense(), A:with_values(kept):to_dense(), 1e-6, "p = " .. p)
    lu.assertEquals(S.nnz, #kept:positions())
    lu.assertTrue(p == 0 or S.nnz < A.nnz)
  end
end

function tests.test_dropout_of_many_entries()
  local A = ladies.sparse(ladies.ones(300, 400))
  local S = A:dropout(0.3, ladies.rng(1))
  lu.assertEquals({S.n_rows, S.n_cols}, {300, 400})
  lu.assertAlmostEquals(S.nnz / A.nnz, 0.7, 5 * math.sqrt(0.21 / A.nnz))   -- 5 deviations: 6e-7
  lu.assertAlmostEquals(S:entry_values():min(), 1 / 0.7, 1e-4)
  lu.assertEquals(A:dropout(0.3, ladies.rng(1)):hash(), S:hash())
  lu.assertNotEquals(A:dropout(0.3, ladies.rng(2)):hash(), S:hash())
  lu.assertEquals(ladies.sparse(ladies.zeros(3, 4)):dropout(0.5, ladies.rng(1)).nnz, 0)
end

return tests
