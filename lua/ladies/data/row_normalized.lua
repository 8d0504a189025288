--- Features with rows of one size.

local in_memory = require "ladies.data.in_memory"
local options = require "ladies.base.options"
local tables = require "ladies.base.tables"

-- The sums of the absolute values of rows, for dividing by: those of zeros have a one.
local function divisors(features)
  if options.class_of(features) == "Matrix" then
    features = features:with_values(features:entry_values():square():sqrt())
  else
    features = features:square():sqrt()
  end
  local sums = features:row_sums()
  for i, sum in ipairs(sums:to_table()) do
    if sum == 0 then sums[i] = 1 end
  end
  return sums
end

--- ladies.data.row_normalized(data) -> Dataset: a copy of a data set in which each row of features
-- is divided by the sum of its absolute values, so that a node of many words weighs as much as one
-- of few. Rows of zeros stay as they are. All but the features is shared with `data`.
local function row_normalized(data)
  options.value("ladies.data.row_normalized", "the data set", data, "Dataset")
  local copy = tables.merged(data)
  local features = in_memory(data.features)
  local sums = divisors(features)
  copy.features = options.class_of(features) == "Matrix" and features:scale_rows(1 / sums)
    or features / sums:reshape(#sums, 1)
  return setmetatable(copy, getmetatable(data))
end

return row_normalized
