--- Where the entries of a sparse matrix lie: how many there are in each field of a coarse grid.

local core = require "ladies_core"

local MOST_READ = 50000                     -- entries that are counted, about

-- Some rows of A evenly over all, so many that their entries can be counted at once; their ids.
local function some_rows(A)
  local n = math.min(A.n_rows, math.max(1, MOST_READ * A.n_rows // math.max(1, A.nnz)))
  local ids = {}
  for i = 1, n do ids[i] = 1 + (i - 1) * A.n_rows // n end
  local picked = A:rows(core.index(ids))
  return picked.nnz <= 10 * MOST_READ and picked or nil, ids
end

--- spy(A, n_rows, n_cols) -> counts, n: an array of n_rows rows of n_cols numbers, the entries of
-- the Matrix A in each part of it, of n of its rows, evenly spaced, where it has many; nil where
-- even these are too many.
return function(A, n_rows, n_cols)
  local picked, ids = some_rows(A)
  if not picked then return nil end
  local counts = {}
  for i = 1, n_rows do
    counts[i] = {}
    for j = 1, n_cols do counts[i][j] = 0 end
  end
  local rows, columns = picked:row_of():to_table(), picked:col_of():to_table()
  for k, row in ipairs(rows) do
    local fields = counts[(ids[row] - 1) * n_rows // A.n_rows + 1]
    local j = (columns[k] - 1) * n_cols // A.n_cols + 1
    fields[j] = fields[j] + 1
  end
  return counts, #ids
end
