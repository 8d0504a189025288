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

--- ladies.data.standardized(data [, by: Dataset]) -> Dataset: a copy of a data set in which each
-- column of features has mean 0 and standard deviation 1 over the training nodes: the mean is
-- subtracted, and what is left divided by the deviation, of which n (not n - 1) is the divisor.
-- Columns that are the same for all training nodes become 0 there, and are not divided. Mean and
-- deviation are those of the training nodes of `by`, by default of `data` itself: a model that was
-- trained on one data set reads another one by what it was trained with. Of data sets of many
-- graphs, training nodes are those of the training graphs; without a split, all nodes. The features
-- must be dense, and carry no gradient. All but them is shared with `data`.
function standardized.copy(data, by)
  options.value(WHERE, "the data set", data, "Dataset")
  by = options.value(WHERE, "by", by, "Dataset or nil") or data
  local features = dense(data)
  local measured = by == data and features or dense(by)
  if measured.n_cols ~= features.n_cols then
    errors.fail(("%s: %s has %d columns of features, %s has %d"):format(WHERE, data.name,
      features.n_cols, by.name, measured.n_cols))
  end
  local mean, deviation = column_statistics(measured, measured_nodes(by))
  if not deviation:is_finite() then
    errors.fail(("%s: features of %s are too large to be squared as 32-bit numbers"):format(WHERE,
      by.name))
  end
  local divisor = deviation:to_table()
  for i, value in ipairs(divisor) do
    if value == 0 then divisor[i] = 1 end
  end
  return copy_with(data, {features = (features - mean) / core.tensor(divisor)})
end

-- The values of a column are told when they spread this many times as far as those of the median
-- column and further than LARGE, as first weights are for values of about 1; and by how many nodes
-- that is measured.
local FAR, LARGE, MEASURED = 100, 10, 10000

--- standardized.widest(data) -> integer, number, number: the column of dense features in memory
-- whose values spread the furthest, if that is far more than those of the median column that is not
-- constant, and the standard deviations of the two; nothing where there is none.
function standardized.widest(data)
  if options.class_of(data.features) ~= "Tensor" then return nil end
  local nodes = measured_nodes(data)
  local _, deviation = column_statistics(data.features,
    nodes:slice(1, math.min(#nodes, MEASURED)))
  local spread, order = deviation:to_table(), {}
  for i, value in ipairs(spread) do
    if value > 0 then order[#order + 1] = i end
  end
  table.sort(order, function(a, b) return spread[a] < spread[b] end)
  local widest, median = order[#order], order[(#order + 1) // 2]
  if widest and spread[widest] > math.max(FAR * spread[median], LARGE) then
    return widest, spread[widest], spread[median]
  end
end

return standardized
