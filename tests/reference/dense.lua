--- Sparse matrices the slow and obvious way: a dense table of numbers, in which nil stands for "no
-- entry" (an entry may well be zero), with the operations that Matrix has.
local lu = require "luaunit"
local ladies = require "ladies"
local compare = require "reference.compare"

local M = {}

--- An n_rows x n_cols matrix without entries.
function M.new(n_rows, n_cols)
  local D = {n_rows = n_rows, n_cols = n_cols}
  for r = 1, n_rows do D[r] = {} end
  return D
end

--- The entry (r, c) of the result is f(entry, r, c).
function M.map(D, f)
  local result = M.new(D.n_rows, D.n_cols)
  for r = 1, D.n_rows do
    for c = 1, D.n_cols do result[r][c] = f(D[r][c], r, c) end
  end
  return result
end

--- Entries as ladies.matrix takes them, with duplicates; integers, so that sums are exact.
-- options: directed (default true), weighted, density, loops (default true).
function M.random_entries(random, n_rows, n_cols, options)
  local rows, cols, values = {}, {}, {}
  for r = 1, n_rows do
    for c = 1, n_cols do
      local allowed = options.loops ~= false or r ~= c
      for _ = 1, random() < 0.2 and 2 or 1 do                     -- some entries twice
        if allowed and r % 5 ~= 3 and c % 7 ~= 5 and random() < (options.density or 0.3) then
          local at = random(#rows + 1)                            -- in any order
          table.insert(rows, at, r)
          table.insert(cols, at, c)
          table.insert(values, at, options.weighted and random(9) or 1)
        end
      end
    end
  end
  return rows, cols, values
end

--- Makes a random matrix twice, as a Matrix and as a dense table.
function M.random_pair(random, n_rows, n_cols, options)
  local rows, cols, values = M.random_entries(random, n_rows, n_cols, options)
  local D = M.new(n_rows, n_cols)
  for i, r in ipairs(rows) do
    local c = cols[i]
    D[r][c] = options.weighted and (D[r][c] or 0) + values[i] or 1
  end
  local A = ladies.matrix{n_rows = n_rows, n_cols = n_cols, rows = ladies.index(rows),
    cols = ladies.index(cols), values = options.weighted and ladies.tensor(values) or nil}
  return A, D
end

--- Rows `rows` and columns `cols` (plain tables; nil: all).
function M.pick(D, rows, cols)
  local result = M.new(rows and #rows or D.n_rows, cols and #cols or D.n_cols)
  for i = 1, result.n_rows do
    for j = 1, result.n_cols do
      result[i][j] = D[rows and rows[i] or i][cols and cols[j] or j]
    end
  end
  return result
end

--- The columns with an entry in `rows`, in order of first touch, after those of `first`.
function M.touched(D, rows, first)
  local list, seen = {}, {}
  local function touch(c)
    if not seen[c] then list[#list + 1] = c end
    seen[c] = true
  end
  for _, c in ipairs(first or {}) do touch(c) end
  for _, r in ipairs(rows) do
    for c = 1, D.n_cols do
      if D[r][c] then touch(c) end
    end
  end
  return list
end

function M.row_sums(D, power)
  local sums = {}
  for r = 1, D.n_rows do
    sums[r] = 0
    for c = 1, D.n_cols do sums[r] = sums[r] + (D[r][c] or 0) ^ (power or 1) end
  end
  return sums
end

function M.transpose(D)
  local result = M.new(D.n_cols, D.n_rows)
  for r = 1, D.n_rows do
    for c = 1, D.n_cols do result[c][r] = D[r][c] end
  end
  return result
end

function M.col_sums(D, power) return M.row_sums(M.transpose(D), power) end

--- diag(rows) * D * diag(cols); either may be nil.
function M.scale(D, rows, cols)
  return M.map(D, function(v, r, c)
    return v and v * (rows and rows[r] or 1) * (cols and cols[c] or 1)
  end)
end

function M.row_normalize(D)
  local sums = M.row_sums(D)
  return M.map(D, function(v, r) return v and sums[r] ~= 0 and v / sums[r] or v end)
end

--- D^-1/2 A D^-1/2 ("sym") or D^-1 A ("row"), the diagonal set to ones first when self_loops.
function M.normalize(D, kind, self_loops)
  if self_loops then D = M.map(D, function(v, r, c) return r == c and 1 or v end) end
  local sums = M.row_sums(D)
  for r, sum in ipairs(sums) do
    sums[r] = sum == 0 and 0 or kind == "sym" and 1 / math.sqrt(sum) or 1 / sum
  end
  return M.scale(D, sums, kind == "sym" and sums or nil)
end

function M.symmetrize(D)
  return M.map(D, function(v, r, c)
    local w = D[c][r]
    return v and w and math.max(v, w) or v or w
  end)
end

--- D * x for a plain table of rows.
function M.matmul(D, x)
  local result = {}
  for r = 1, D.n_rows do
    result[r] = {}
    for j = 1, #(x[1] or {}) do
      local sum = 0
      for c = 1, D.n_cols do sum = sum + (D[r][c] or 0) * x[c][j] end
      result[r][j] = sum
    end
  end
  return result
end

--- The structure, order and values of D's entries: {row, column, value} by rows.
function M.entries(D)
  local list = {}
  for r = 1, D.n_rows do
    for c = 1, D.n_cols do
      if D[r][c] then list[#list + 1] = {r, c, D[r][c]} end
    end
  end
  return list
end

--- Lists the entries of a Matrix in the order of M.entries, whatever their order in it.
function M.entries_of(A)
  local rows, cols, values = A:row_of(), A:col_of(), A:entry_values()
  local list = {}
  for e = 1, A.nnz do list[e] = {rows[e], cols[e], values[e]} end
  table.sort(list, function(a, b)
    if a[1] ~= b[1] then return a[1] < b[1] end
    return a[2] < b[2]
  end)
  return list
end

-- ---------------------------------------------------------------- for the tests

local KINDS = {
  {}, {weighted = true}, {loops = false}, {weighted = true, density = 0.9}, {density = 0},
}

--- Calls f(A, D) for a matrix of each kind, n_rows x n_cols (default: square, 13 x 13).
function M.cases(f, n_rows, n_cols)
  math.randomseed(20, 4)
  for _, kind in ipairs(KINDS) do
    f(M.random_pair(math.random, n_rows or 13, n_cols or n_rows or 13, kind))
  end
end

--- Asserts that A is D: shape, structure and values.
function M.assert_is(A, D, tolerance)
  lu.assertEquals({A.n_rows, A.n_cols, #A}, {D.n_rows, D.n_cols, D.n_rows})
  local got, want = M.entries_of(A), M.entries(D)
  lu.assertEquals(A.nnz, #want)
  for e, entry in ipairs(want) do
    lu.assertEquals({got[e][1], got[e][2]}, {entry[1], entry[2]})
  end
  compare.assert_close(got, want, tolerance or 0, "entries")
  compare.assert_close(A:to_dense(), M.map(D, function(v) return v or 0 end), tolerance or 0,
    "to_dense")
end

--- k different numbers 1 .. n in random order, as an Index.
function M.some(n, k)
  return ladies.sampling.permutation(n, ladies.rng(math.random(1 << 30))):slice(1, k)
end

--- A vector of numbers between 0.5 and 2.
function M.random_vector(n)
  return ladies.zeros(n):uniform_(0.5, 2, ladies.rng(math.random(1 << 30)))
end

return M
