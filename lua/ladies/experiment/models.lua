--- The models that experiments train, in the table models.by_name; an entry that a program adds is
-- a model like the others. An entry:
--
--   settings              what the model takes: names of settings whose place is "model" in
--                         ladies.experiment.settings, and settings of its own, written as there
--   defaults              settings in which it differs from every preset
--   make(config, data)    the model, with its first weights

local nn = require "ladies.nn"
local settings = require "ladies.experiment.settings"

local models = {}

--- The models by name.
models.by_name = {
  gcn = {
    settings = {"activation", "dropout", "head", "head_dropout", "order"},
    make = function(config, data)
      return nn.gcn{
        inputs = data.features.n_cols, hidden = config.hidden, outputs = data.classes,
        layers = config.layers, activation = config.activation, dropout = config.dropout,
        head = config.head, head_dropout = config.head_dropout, order = config.order,
        normalize = config.normalize, lambda = config.lambda, seed = config.seed,
      }
    end,
  },
}

--- Their names, as a type of ladies.options.
function models.names()
  return settings.one_of(models.by_name)
end

return models
