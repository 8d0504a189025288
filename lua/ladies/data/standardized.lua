--- Brings columns of features to one scale, and tells where they are not.

local core = require "ladies_core"
local copy_with = require("ladies.data.copies").with
local errors = require "ladies.base.errors"
local in_memory = require "ladies.data.in_memory"
local options = require "ladies.base.options"

local standardized = {}

local WHERE = "ladies.data.standardized"

-- Returns the nodes by which columns are measured: the training nodes, or the nodes of the training
-- graphs; all nodes where the data set has no split, as that of a task of edges.
local function measured_nodes(data)
  if not data.train then return core.range(1, data.graph.n_nodes) end
  if not data.n_graphs then return data.train end
  local is_train, nodes = {}, {}
  for _, graph in ipairs(data.train:to_table()) do is_train[graph] = true end
  for v, graph in ipairs(data.graph_of:to_table()) do
    if is_train[graph] then nodes[#nodes + 1] = v end
  end
  return core.index(nodes)
end

-- Returns the mean and the standard deviation of each column over these rows, as vectors.
local function column_statistics(features, nodes)
  local rows = features:rows(nodes)
  local mean = rows:mean(1)
  return mean, (rows - mean):square():mean(1):sqrt()
end

-- Returns the features of a data set as a Tensor; sparse ones are an error.
local function dense(data)
  local features = in_memory(data.features)
  if options.class_of(features) == "Matrix" then
    errors.fail(("%s: the features of %s are sparse, and no column would stay so; row_normalized "
      .. "is for such"):format(WHERE, data.name))
  end
  core.check_constant(WHERE, features)
  return features
end

-- Returns mean and deviation of the columns of a data set over its training nodes, as vectors, the
-- deviation of columns that are the same for all of them as 1.
local function measured(data, features)
  local mean, deviation = column_statistics(features, measured_nodes(data))
  if not deviation:is_finite() then
    errors.fail(("%s: features of %s are too large to be squared as 32-bit numbers"):format(WHERE,
      data.name))
  end
  local divisor = deviation:to_table()
  for i, value in ipairs(divisor) do
    if value == 0 then divisor[i] = 1 end
  end
  return {mean = mean, deviation = core.tensor(divisor)}
end

--- ladies.data.standardized(data [, by: Dataset]) -> Dataset: a copy of a data set in which each
-- column of features has mean 0 and standard deviation 1 over the training nodes: the mean is
-- subtracted, and what is left divided by the deviation, of which n (not n - 1) is the divisor.
-- Columns that are the same for all training nodes become 0 there, and are divided by 1. Mean and
-- deviation are those of the training nodes of `by`, by default of `data` itself: a model that was
-- trained on one data set reads another one by what it was trained with. The copy has them as
-- feature_scale = {mean =, deviation =}, two vectors, which its runs keep; a `by` that is such a
-- copy, as saved_run.data, gives its own. Of data sets of many graphs, training nodes are those of
-- the training graphs; without a split, all nodes. The features must be dense, and carry no
-- gradient. All but them is shared with `data`, which must not have been standardized before.
function standardized.copy(data, by)
  options.value(WHERE, "the data set", data, "Dataset")
  by = options.value(WHERE, "by", by, "Dataset or nil") or data
  if standardized.scale_of(data) then
    errors.fail(("%s: the features of %s are standardized already"):format(WHERE, data.name))
  end
  local features = dense(data)
  local scale = standardized.scale_of(by) or measured(by, by == data and features or dense(by))
  return standardized.by_scale(data, scale, by.name)
end

--- standardized.by_scale(data, scale: table, of: string) -> Dataset: the same by mean and deviation
-- that are known, those of the data set `of`.
function standardized.by_scale(data, scale, of)
  local features, n_cols = dense(data), #scale.mean
  if n_cols ~= features.n_cols then
    errors.fail(("%s: %s has %d columns of features, %s has %d"):format(WHERE, data.name,
      features.n_cols, of, n_cols))
  end
  return copy_with(data, {feature_scale = scale,
    features = (features - scale.mean) / scale.deviation}, {call = "standardized", scale = scale})
end

--- Returns the mean and the deviation by which the features of a data set were standardized,
-- whatever was done to them afterwards; nil where they were not.
function standardized.scale_of(data)
  for _, step in ipairs(data.preparation and data.preparation.steps or {}) do
    if step.scale then return step.scale end
  end
end

-- A warning names a column whose values are this many times as large as those of the median column
-- and larger than LARGE, as first weights are for values of about 1; so many nodes are measured.
local FAR, LARGE, MEASURED = 100, 10, 10000

--- standardized.largest(data) -> integer, number, number: the column of dense features in memory
-- that has the largest values, if they are far larger than those of the median column that is not
-- zero, and the root mean squares of the two; nothing where there is none.
function standardized.largest(data)
  if options.class_of(data.features) ~= "Tensor" then return nil end
  local nodes = measured_nodes(data)
  local rows = data.features:rows(nodes:slice(1, math.min(#nodes, MEASURED)))
  local size, order = rows:square():mean(1):sqrt():to_table(), {}
  for i, value in ipairs(size) do
    if value > 0 then order[#order + 1] = i end
  end
  table.sort(order, function(a, b) return size[a] < size[b] end)
  local largest, median = order[#order], order[(#order + 1) // 2]
  if largest and size[largest] > math.max(FAR * size[median], LARGE) then
    return largest, size[largest], size[median]
  end
end

return standardized
