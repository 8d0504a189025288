--- What the trainings of this package have in common.

local methods = require "ladies.experiment.methods"
local models = require "ladies.experiment.models"
local settings = require "ladies.experiment.settings"
local tables = require "ladies.base.tables"

local protocol = {}

-- By validation F1 on Cora as good as the 256 columns of the preset with its learning rate of
-- 0.001, in a fifth of the time.
local NETWORK = {hidden = 64, lr = 3e-3}

--- Batches without a gain before training ends; and at most, on a large graph.
protocol.PATIENCE, protocol.LARGE = 100, 500

--- Validations of a training for so many seconds, as many for every method.
protocol.LOOKS = 20

--- How wide the networks are and how fast they learn, in words.
protocol.NETWORK_TEXT = ("%d hidden columns, learning rate %g"):format(NETWORK.hidden, NETWORK.lr)

--- How wide the networks are, and how fast they learn: settings of ladies.experiment.
function protocol.network() return tables.merged(NETWORK) end

--- How long is trained on the data set of this name: settings of ladies.experiment. With patience
-- on the small graphs, so many batches at most on a large one, which is validated seldom.
function protocol.length(dataset)
  return dataset == "wordnet" and {max_batches = protocol.LARGE}
    or {patience = protocol.PATIENCE}
end

--- Of the settings `common` those that a method and a model have, also those that all have.
function protocol.pick(common, method, model)
  local found = methods.pick(method, common)
  for key in pairs(found) do
    if #settings.owners(models.by_name, key) > 0
      and not settings.takes(models.by_name[model], key) then
      found[key] = nil
    end
  end
  return found
end

return protocol
