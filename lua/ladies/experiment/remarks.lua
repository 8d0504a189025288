--- Tells what may surprise in a configuration beside its data set: what the run does not use, and
-- features whose columns are of very different scales.

local methods = require "ladies.experiment.methods"
local models = require "ladies.experiment.models"
local notes = require "ladies.data.notes"
local settings = require "ladies.experiment.settings"
local standardized = require "ladies.data.standardized"
local tables = require "ladies.base.tables"

local remarks = {}

-- Adds a note about a size of batches that the method does not use.
local function add_size(lines, context, config, task)
  local size, method = config.batch_size, config.method
  if size == settings.common.batch_size.default then return end
  if methods.by_name[method].own_size then
    notes.add(context, lines, "batch_size %d is not used: the method %s draws its own seeds", size,
      method)
  elseif method == "full" and size < #task.units.train then
    notes.add(context, lines, "batch_size %d is not used: the method full has all %d training %ss "
      .. "in a mini-batch; graphsage with as many samples as a node has neighbours has the whole "
      .. "neighbourhoods of %d", size, #task.units.train, task.unit, size)
  end
end

-- Returns the names of the networks that are known to read features of edges.
local function readers_of_edges()
  local names = {}
  for _, name in ipairs(tables.sorted_keys(models.by_name)) do
    if models.by_name[name].reads_edges then names[#names + 1] = name end
  end
  return names
end

--- remarks.tell(config, data, task): prints a line for a size of batches that the method does not
-- use, for features of edges, where the network reads none and is not the user's own, which may,
-- and for a column of features that drowns the others.
function remarks.tell(config, data, task)
  local lines, context = {}, {where = data.name}
  add_size(lines, context, config, task)
  local edges, model = rawget(data, "edges"), models.by_name[config.model]
  if edges and edges.features and model and not model.reads_edges and not model.code then
    notes.add(context, lines, "its edges have features, which the network %s does not read; these "
      .. "do: %s", config.model, table.concat(readers_of_edges(), ", "))
  end
  local column, largest, median
  if config.features == "as_given" then column, largest, median = standardized.largest(data) end
  if column then
    local name = data.feature_names and (" (%s)"):format(data.feature_names[column])
      or (" %d (from 1)"):format(column)
    notes.add(context, lines, "the column%s of its features has values of about %.3g (root mean "
      .. "square), the median column of %.3g: --features standardized (in Lua features) brings all "
      .. "to 1", name, largest, median)
  end
  notes.tell(lines)
end

return remarks
