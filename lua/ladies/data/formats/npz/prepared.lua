--- Writes and reads what this program's .npz and .safetensors files say of how the features in them
-- were made:
--
--   feature_steps                 what was done to them, in order: "row_normalized", "standardized"
--                                 (see ladies.data.preparation)
--   feature_mean, feature_deviation   of each column before it was standardized
--   features_are_degrees          true where they were made of the graph's degrees

local core = require "ladies_core"
local checks = require "ladies.data.checks"
local npz_arrays = require "ladies.data.formats.npz.arrays"
local standardized = require "ladies.data.standardized"
local tables = require "ladies.base.tables"

local prepared = {}

local STEPS = {row_normalized = true, standardized = true}

--- The names of these arrays, as a set.
prepared.KNOWN = {feature_steps = true, feature_mean = true, feature_deviation = true,
  features_are_degrees = true}

--- Returns the arrays for the features of a data set. Steps that changed something else are not
-- among them: what they have made is in the file itself.
function prepared.arrays(data)
  local names, scale = {}, standardized.scale_of(data) or {}
  for _, step in ipairs(data.preparation.steps) do
    if STEPS[step.call] then names[#names + 1] = step.call end
  end
  return {
    feature_steps = names[1] and names, feature_mean = scale.mean,
    feature_deviation = scale.deviation,
    features_are_degrees = data.features_are_degrees and core.npz.bool{1} or nil,
  }
end

-- Reads the scale of the features, which are nil where they lie in shards.
local function read_scale(context, file, features)
  local scale = {}
  for _, name in ipairs{"mean", "deviation"} do
    local key = "feature_" .. name
    if not file:has(key) then
      checks.fail(context, "has standardized features, but no %s", key)
    end
    local vector = file:tensor(key)
    context.keys[key], scale[name] = key, vector
    checks.length(context, key, vector.ndim == 1 and #vector or -1,
      features and features.n_cols or #vector, "one for each column of the features")
    checks.finite(context, key, vector)
  end
  if #scale.deviation > 0 and scale.deviation:min() <= 0 then
    checks.fail(context, "feature_deviation must be positive numbers")
  end
  return scale
end

--- Adds what an open `file` says of its features, which were read, to the fields of a data set.
function prepared.read(context, file, fields)
  local names = npz_arrays.texts(context, file, "feature_steps") or {}
  for i, name in ipairs(names) do
    if not STEPS[name] then
      checks.fail(context, 'feature_steps[%d] is "%s", must be %s', i - 1, name,
        table.concat(tables.sorted_keys(STEPS), " or "))
    end
  end
  fields.feature_steps = tables.map(names, function(name)
    return {call = name, scale = name == "standardized"
      and read_scale(context, file, fields.features) or nil}
  end)
  fields.features_are_degrees = file:has "features_are_degrees" or nil
end

return prepared
