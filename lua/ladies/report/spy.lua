--- Counts the entries of a sparse matrix in each field of a coarse grid, for pictures of where they
-- lie (spy plots).

local core = require "ladies_core"

local MOST_READ = 50000                     -- entries that are counted, about

-- Picks evenly spaced rows of A, few enough that their entries can be counted fast. Returns them as
-- a Matrix and their numbers.
local function some_rows(A)
  local n = math.min(A.n_rows, math.max(1, MOST_READ * A.n_rows // math.max(1, A.nnz)))
  local ids = {}
  for i = 1, n do ids[i] = 1 + (i - 1) * A.n_rows // n end
  local picked = A:rows(core.index(ids))
  return picked.nnz <= 10 * MOST_READ and picked or nil, ids
end

--- spy(A, n_rows, n_cols) -> counts, n: divides the Matrix A into n_rows x n_cols fields and
-- returns how many entries lie in each, as an array of rows. Of a large matrix only n evenly spaced
-- rows are counted; nil where even these have too many entries.
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
