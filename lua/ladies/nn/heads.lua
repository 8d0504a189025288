--- Makes the constant matrices by which layers with several heads of attention sum over the columns
-- of each head, or average over the heads. They are stored here and not in the models, so that
-- files do not hold them.

local core = require "ladies_core"

local heads = {}

-- Makes a dense matrix whose row i is 1 in column cols[i] and 0 elsewhere.
local function one_in_each_row(cols, n_cols)
  local rows = core.range(1, #cols)
  return core.matrix{n_rows = #cols, n_cols = n_cols, rows = rows, cols = cols}:to_dense()
end

local made = {}

-- Returns the matrix of this kind, which is made at its first use: often within a step, at the end
-- of which results of operations are freed, so it is detached.
local function kept(kind, columns, count, make)
  local key = ("%s %d %d"):format(kind, columns, count)
  if not made[key] then made[key] = make(core.range(1, columns) - 1):detach() end
  return made[key]
end

--- Returns a matrix, columns x count; x times it has the sum of each head's columns of x.
function heads.sums(columns, count)
  return kept("sums", columns, count, function(before)
    return one_in_each_row(before // (columns // count) + 1, count)
  end)
end

--- Returns a matrix, columns x (columns / count); x times it is the mean of the heads.
function heads.mean(columns, count)
  local each = columns // count
  return kept("mean", columns, count, function(before)
    return one_in_each_row(before % each + 1, each) / count
  end)
end

return heads
