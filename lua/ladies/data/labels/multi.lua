--- Labels with any number of classes a node: a Tensor, nodes x classes, of 0 and 1. A row of zeros
-- is a node known to have none of the classes; a row of NaN is a node without a label.
-- ladies.data.labels documents the functions.

local core = require "ladies_core"
local checks = require "ladies.data.checks"
local errors = require "ladies.base.errors"
local options = require "ladies.base.options"

local multi = {multilabel = true}

-- Returns true if every element is 0 or 1.
local function is_binary(x)
  return (x - x:above(0)):norm() == 0
end

-- Returns true if every element is NaN.
local function is_nan(x)
  return x:above(-math.huge):max() == 0 and (-x):above(-math.huge):max() == 0
end

-- Returns a Lua table with true for each row without a label; nil when all rows have one.
local function missing(labels)
  if labels:is_finite() then return nil end
  local rows = labels:row_sums():to_table()
  for i, sum in ipairs(rows) do rows[i] = sum ~= sum end
  return rows
end

-- Returns the labels of the nodes that have one, an Index of these nodes, and an Index of the
-- others.
local function known_rows(labels)
  local known, unknown = {}, {}
  for i, none in ipairs(missing(labels) or {}) do
    table.insert(none and unknown or known, i)
  end
  if #unknown == 0 then return labels, core.range(1, labels.n_rows), core.index{} end
  return labels[core.index(known)], core.index(known), core.index(unknown)
end

-- Raises the error for an element that is neither 0 nor 1.
local function fail_value(context, labels)
  local shift = context.shift
  for i = 1, labels.n_rows do
    local row, nans = labels[i]:to_table(), 0
    for _, x in ipairs(row) do nans = nans + (x ~= x and 1 or 0) end
    for j, x in ipairs(row) do
      if x ~= 0 and x ~= 1 and nans < #row then
        checks.fail(context, "%s[%d, %d] is %s, must be 0 or 1, or all of the row %s: a node "
          .. "without a label", context.keys.labels, i + shift, j + shift,
          x ~= x and "nan" or ("%g"):format(x), shift == 0 and "NaN" or "-1 or NaN")
      end
    end
  end
end

function multi.check(context, labels, n, class_names)
  local key = context.keys.labels
  if labels.ndim ~= 2 then
    checks.fail(context, "%s must be whole numbers or a matrix of 0 and 1, got a vector of %d", key,
      #labels)
  elseif labels.n_rows ~= n then
    checks.fail(context, "%s has %d rows, must have %d, one for each %s", key, labels.n_rows, n,
      context.unit or "node")
  elseif labels.n_cols == 0 then
    checks.fail(context, "%s has no columns, must have one for each class", key)
  end
  if class_names then
    checks.length(context, "class_names", #class_names, labels.n_cols,
      ("one for each column of %s"):format(key))
  end
  local known, _, others = known_rows(labels)
  if not is_binary(known) or (#others > 0 and not is_nan(labels[others])) then
    fail_value(context, labels)
  end
  if known.n_rows == 0 then return nil end
  if known:max() < 1 then checks.fail(context, "%s: no node has one", key) end
  return labels.n_cols
end

function multi.labelled(labels)
  local _, ids = known_rows(labels)
  return ids
end

function multi.first_unlabelled(labels, ids)
  for i, none in ipairs(missing(labels[ids]) or {}) do
    if none then return i end
  end
end

function multi.count(labels, classes)
  local known = known_rows(labels)
  local sizes, all = known:col_sums():to_table(), 0
  for class = 1, classes do
    sizes[class] = math.tointeger(sizes[class])
    all = all + sizes[class]
  end
  return {sizes = sizes, unlabelled = labels.n_rows - known.n_rows, mean = all / known.n_rows,
    without = known.n_rows - math.tointeger(known:row_sums():above(0):sum():item())}
end

function multi.targets(labels) return labels end

function multi.probabilities(logits) return logits:sigmoid() end

function multi.logits(probabilities)
  local p = probabilities:clamp(1e-6, 1 - 1e-6)
  return (p / (1 - p)):log()
end

--- Predicts a class where its logit is above 0, which means a probability above 1/2.
function multi.predict(logits) return logits:above(0) end

function multi.predictions(logits)
  return {predicted = core.npz.uint8(multi.predict(logits)), probabilities = logits:sigmoid()}
end

function multi.tally(where, predicted, labels, idx)
  options.value(where, "the predictions", predicted, "Tensor")
  if predicted.n_rows ~= labels.n_rows or predicted.n_cols ~= labels.n_cols then
    errors.fail(("%s: predictions of %d x %d for labels of %d x %d"):format(where,
      predicted.n_rows, predicted.n_cols, labels.n_rows, labels.n_cols))
  end
  if idx then predicted, labels = predicted[idx], labels[idx] end
  local known, ids = known_rows(labels)
  if #ids < labels.n_rows then predicted, labels = predicted[ids], known end
  if labels.n_rows == 0 then errors.fail(where .. ": none of the nodes has a label") end
  if not is_binary(predicted) then
    errors.fail(where .. ": predictions must be 0 or 1, as logits:above(0) gives them")
  end
  local wrong, n = (predicted - labels):square():row_sums():above(0):sum():item(), labels.n_rows
  return {correct = (predicted * labels):col_sums():to_table(),
    given = predicted:col_sums():to_table(), truth = labels:col_sums():to_table(),
    exact = n - math.tointeger(wrong), n = n}
end

function multi.renumbered(labels, places, n)
  return labels:matmul(core.matrix{n_rows = #places, n_cols = n, rows = core.range(1, #places),
    cols = core.index(places)}:to_dense())
end

-- Returns a copy of the matrix with `value` throughout some rows; the matrix itself where there are
-- none.
local function with_rows(matrix, rows, value)
  if #rows == 0 then return matrix end
  return matrix:clone():copy_rows_(rows, core.full(#rows, matrix.n_cols, value))
end

--- Converts the matrix of a file to labels: rows of -1 become NaN.
function multi.from_cells(cells)
  local rows = {}
  if cells.n_cols > 0 and cells.n_rows > 0 and cells:above(-0.5):min() == 0 then
    -- A row of -1 is found by its sum; the few other rows with the same sum are compared element by
    -- element.
    for i, sum in ipairs(cells:row_sums():to_table()) do
      if sum == -cells.n_cols and cells[i]:min() == -1 and cells[i]:max() == -1 then
        rows[#rows + 1] = i
      end
    end
  end
  return with_rows(cells, core.index(rows), 0 / 0)
end

-- Converts labels to the matrix of a file: rows of NaN become -1.
local function to_cells(labels)
  local _, _, others = known_rows(labels)
  return with_rows(labels, others, -1)
end

function multi.array(labels)
  return labels:is_finite() and core.npz.uint8(labels) or core.npz.int8(to_cells(labels))
end

--- Writes labels as a table of text whose first column is the node, so that a table of two classes
-- is not read as one of nodes and classes.
function multi.write(path, labels)
  local cells, lines = to_cells(labels), {"node"}
  for class = 1, labels.n_cols do lines[1] = ("%s,class_%d"):format(lines[1], class - 1) end
  for node = 1, labels.n_rows do
    local row = cells[node]:to_table()
    for class, x in ipairs(row) do row[class] = ("%d"):format(x) end
    lines[node + 1] = ("%d,%s"):format(node - 1, table.concat(row, ","))
  end
  core.file.write(path, table.concat(lines, "\n") .. "\n")
end

return multi
