--- The settings that the trainings of this package have in common.

local methods = require "ladies.experiment.methods"
local models = require "ladies.experiment.models"
local settings = require "ladies.experiment.settings"
local tables = require "ladies.base.tables"

local protocol = {}

-- Narrower than the paper's 256 columns with a learning rate of 0.001: on Cora a batch takes a
-- quarter (LADIES) to a seventh (full batch) of the CPU seconds. Validation F1 is half a point
-- lower there, in the mean of 73 pairs of runs of 16 methods, with half the patience.
local NETWORK = {hidden = 64, lr = 3e-3}

--- Batches without a gain before training ends; and on a large graph, all batches.
protocol.PATIENCE, protocol.LARGE = 100, 200

--- Validations of a training for so many seconds, as many for every method; and of any training on
-- a large graph, whose exact inference takes longer than many batches.
protocol.LOOKS, protocol.LARGE_LOOKS = 20, 5

--- The width of the networks and their learning rate, in words.
protocol.NETWORK_TEXT = ("%d hidden columns, learning rate %g"):format(NETWORK.hidden, NETWORK.lr)

--- Returns the width of the networks and their learning rate, as settings of ladies.experiment.
function protocol.network() return tables.merged(NETWORK) end

local function is_large(dataset) return dataset == "wordnet" end

--- Returns the length of a training on the data set of this name, as settings of ladies.experiment:
-- with patience on the small graphs, for so many batches on a large one.
function protocol.length(dataset)
  if not is_large(dataset) then return {patience = protocol.PATIENCE} end
  return {max_batches = protocol.LARGE, eval_every = protocol.LARGE // protocol.LARGE_LOOKS}
end

--- Returns how often a training for so many seconds is validated on the data set of this name.
function protocol.looks(dataset)
  return is_large(dataset) and protocol.LARGE_LOOKS or protocol.LOOKS
end

--- Returns the settings among `common` that a method and a model take, those that all take among
-- them.
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
