--- The models that experiments train. An entry of models.by_name:
--
--   settings              what the model takes: names of settings whose place is "model" in
--                         ladies.experiment.settings, and settings of its own, written as there
--   make(config, data)    the model, with its first weights

local nn = require "ladies.nn"

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

return models
