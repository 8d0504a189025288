--- Tells what a configuration or a data set has and the run does not use.

local models = require "ladies.experiment.models"
local notes = require "ladies.data.notes"
local settings = require "ladies.experiment.settings"

local unused = {}

--- unused.tell(config, data, task): prints a line for a size of batches, where all training units
-- are one, and for features of edges, where the network reads none.
function unused.tell(config, data, task)
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
  notes.tell(lines)
end

return unused
