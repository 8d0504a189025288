--- Tells what may surprise in a configuration beside its data set: what the run does not use, and
-- features whose columns are of very different scales.

local models = require "ladies.experiment.models"
local notes = require "ladies.data.notes"
local settings = require "ladies.experiment.settings"
local standardized = require "ladies.data.standardized"

local remarks = {}

--- remarks.tell(config, data, task): prints a line for a size of batches, where all training units
-- are one, for features of edges, where the network reads none, and for a column of features that
-- drowns the others.
function remarks.tell(config, data, task)
  local lines, context, size = {}, {where = data.name}, config.batch_size
  if config.method == "full" and size ~= settings.common.batch_size.default
    and size < #task.units.train then
    notes.add(context, lines, "batch_size %d is not used: the method full has all %d training %ss "
      .. "in a mini-batch; graphsage with as many samples as a node has neighbours has the whole "
      .. "neighbourhoods of %d", size, #task.units.train, task.unit, size)
  end
  local edges, model = rawget(data, "edges"), models.by_name[config.model]
  if edges and edges.features and model and not model.reads_edges then
    notes.add(context, lines, "its edges have features, which the network %s does not read; gine, "
      .. "pna, transformer and gatv2 do", config.model)
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
