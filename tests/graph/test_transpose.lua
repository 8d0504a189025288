--- Transposes and symmetry of matrices with so many entries that threads share their columns out,
-- against the same entries given the other way round.
local lu = require "luaunit"
local ladies = require "ladies"

local index = ladies.index
local N = 700

local tests = {}

-- Calls f with several numbers of threads.
local function with_threads(f)
  for _, n in ipairs{1, 2, 5} do
    ladies.threads(n)
    f()
  end
end

-- Most entries of an n_rows x n_cols matrix, as coordinates.
local function coordinates(n_rows, n_cols, rng)
  local rows, cols = {}, {}
  for r = 1, n_rows do
    for c = 1, n_cols do
      if rng:below(7) > 1 then rows[#rows + 1], cols[#cols + 1] = r, c end
    end
  end
  return index(rows), index(cols)
end

function tests.test_transposes_of_many_entries()
  local rng = ladies.rng(1)
  local rows, cols = coordinates(N, N + 13, rng)
  local values = ladies.zeros(#rows):normal_(1, rng)
  local want = ladies.matrix{n_rows = N + 13, n_cols = N, rows = cols, cols = rows, values = values}
  with_threads(function()
    local A = ladies.matrix{n_rows = N, n_cols = N + 13, rows = rows, cols = cols, values = values}
    lu.assertTrue(A:transpose() == want)
    lu.assertTrue(A:transpose():transpose() == A)
  end)
end

-- The transpose of a slice is right although its rows are in no order.
function tests.test_transpose_of_a_slice()
  local rng = ladies.rng(2)
  local rows, cols = coordinates(N, N, rng)
  local A = ladies.matrix{n_rows = N, n_cols = N, rows = rows, cols = cols,
    values = ladies.zeros(#rows):normal_(1, rng)}
  local nodes = ladies.sampling.permutation(N, rng)
  local at = {}
  for i, v in ipairs(nodes:to_table()) do at[v] = i end
  local new_rows, new_cols = {}, {}
  for e, r in ipairs(rows:to_table()) do new_cols[e], new_rows[e] = at[r], at[cols[e]] end
  local want = ladies.matrix{n_rows = N, n_cols = N, rows = index(new_rows),
    cols = index(new_cols), values = A:entry_values()}
  with_threads(function() lu.assertTrue(A:induced(nodes):transpose() == want) end)
end

-- Returns a matrix made from the entries of A alone, without what A knows about its structure;
-- changed(rows, cols, values) may change them before.
local function rebuilt(A, changed)
  local rows, cols = A:row_of():to_table(), A:col_of():to_table()
  local values = A:entry_values():to_table()
  if changed then changed(rows, cols, values) end
  return ladies.matrix{n_rows = A.n_rows, n_cols = A.n_cols, rows = index(rows),
    cols = index(cols), values = ladies.tensor(values)}
end

local function assert_symmetry(n, ...)
  local rows, cols = coordinates(n, n, ladies.rng(3))
  local half = ladies.matrix{n_rows = n, n_cols = n, rows = rows, cols = cols,
    values = ladies.zeros(#rows):uniform_(1, 2, ladies.rng(4))}
  local A = half:symmetrize()
  local row_of, col_of, places = A:row_of(), A:col_of(), {...}
  with_threads(function()
    lu.assertTrue(rebuilt(A):is_symmetric())
    lu.assertTrue(rebuilt(A):scale_rows(ladies.full(n, 3)):is_symmetric())
    lu.assertFalse(rebuilt(half):is_symmetric())
    for _, e in ipairs(places) do
      while row_of[e] == col_of[e] do e = e + 1 end
      lu.assertFalse(rebuilt(A, function(_, _, values) values[e] = 9 end):is_symmetric())
      lu.assertFalse(rebuilt(A, function(list, others, values)
        for _, t in ipairs{list, others, values} do table.remove(t, e) end
      end):is_symmetric())
    end
  end)
end

function tests.test_symmetry_of_many_entries() assert_symmetry(N, 1, 200000, 440000) end

function tests.test_symmetry_of_few_entries() assert_symmetry(9, 1, 2, 5, 20, 40, 60) end

function tests.test_symmetry_of_a_known_structure()
  local w = ladies.tensor{1, 2, 3}
  local A = ladies.matrix{n_rows = 3, n_cols = 3, rows = index{1, 2}, cols = index{2, 3}}
  A = A:symmetrize()
  lu.assertTrue(A:is_symmetric())
  lu.assertTrue(A:scale_rows(w):scale_cols(w:clone()):is_symmetric())
  lu.assertFalse(A:scale_rows(w):is_symmetric())
  lu.assertFalse(A:scale_rows(w):scale_cols(w:square()):is_symmetric())
  lu.assertTrue(A:with_values(ladies.tensor{1, 1, 2, 2}):is_symmetric())
  lu.assertFalse(A:with_values(ladies.tensor{1, 2, 2, 1}):is_symmetric())
end

return tests
