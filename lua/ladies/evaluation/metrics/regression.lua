--- Measures how far predicted numbers are from true ones. Both are Tensors of one shape: a vector,
-- or a row for each example and a column for each number of it; then a metric is the mean over the
-- columns, as scikit-learn has it. Targets of nan are not known and do not count. Sums are in
-- double.

local errors = require "ladies.base.errors"
local options = require "ladies.base.options"

local metrics = {}

-- Returns the mean over the columns of of_column(predicted, targets, n), whose arguments are Lua
-- tables of n numbers.
local function over_columns(where, predicted, targets, idx, of_column)
  options.value(where, "the predictions", predicted, "Tensor")
  options.value(where, "the targets", targets, "Tensor")
  options.value(where, "idx", idx, "Index or nil")
  local n, columns = targets.n_rows, targets.n_cols
  if predicted.n_rows ~= n or predicted.n_cols ~= columns then
    errors.fail(("%s: predictions of %d x %d for targets of %d x %d"):format(where,
      predicted.n_rows, predicted.n_cols, n, columns))
  end
  if idx then predicted, targets, n = predicted[idx], targets[idx], #idx end
  predicted, targets = predicted:detach():reshape(n, columns), targets:detach():reshape(n, columns)
  local sum, counted = 0, 0
  for column = 1, columns do
    local all = predicted:slice_cols(column, column):reshape(n):to_table()
    local truth, known = targets:slice_cols(column, column):reshape(n):to_table(), 0
    for i = 1, n do
      if truth[i] == truth[i] then
        known = known + 1
        all[known], truth[known] = all[i], truth[i]
      end
    end
    if known > 0 then sum, counted = sum + of_column(all, truth, known), counted + 1 end
  end
  if counted == 0 then errors.fail(where .. ": no target is known") end
  return sum / counted
end

--- metrics.mse(predicted: Tensor, targets: Tensor [, idx]) -> number: the mean squared error.
function metrics.mse(predicted, targets, idx)
  return over_columns("ladies.metrics.mse", predicted, targets, idx, function(got, want, n)
    local sum = 0
    for i = 1, n do sum = sum + (got[i] - want[i]) ^ 2 end
    return sum / n
  end)
end

--- metrics.mae(predicted: Tensor, targets: Tensor [, idx]) -> number: the mean absolute error.
function metrics.mae(predicted, targets, idx)
  return over_columns("ladies.metrics.mae", predicted, targets, idx, function(got, want, n)
    local sum = 0
    for i = 1, n do sum = sum + math.abs(got[i] - want[i]) end
    return sum / n
  end)
end

--- metrics.r2(predicted: Tensor, targets: Tensor [, idx]) -> number: the coefficient of
-- determination, 1 - (sum of squared errors) / (sum of squared distances of the targets from their
-- mean). Targets that are all the same give 1 where they are predicted without an error and 0
-- otherwise, as scikit-learn's r2_score does; a column with one target is nan.
function metrics.r2(predicted, targets, idx)
  return over_columns("ladies.metrics.r2", predicted, targets, idx, function(got, want, n)
    if n < 2 then return 0 / 0 end
    local sum, off, spread = 0, 0, 0
    for i = 1, n do sum = sum + want[i] end
    local mean = sum / n                          -- exactly the target where all are the same
    for i = 1, n do
      off, spread = off + (got[i] - want[i]) ^ 2, spread + (want[i] - mean) ^ 2
    end
    if spread == 0 then return off == 0 and 1 or 0 end
    return 1 - off / spread
  end)
end

return metrics
