--- Defines the optimizers of `ladies train --optimizer`, in the table optimizers.by_name; an entry
-- that a program adds is an optimizer like the others. An entry:
--
--   settings      what it takes besides the settings of all: "weight_decay", "decoupled_decay", and
--                 settings of its own, written as those of ladies.experiment.settings
--   defaults      settings in which it differs from every preset
--   make(parameters, config, model)   the optimizer, one of ladies.optim, of an array of Tensors:
--                 the trainable parameters of the model, and of a sampler that has some

local optim = require "ladies.optim"
local settings = require "ladies.experiment.settings"

local optimizers = {}

-- Completes an entry by a function `make` that calls constructor(parameters, options), whose
-- options have the same names as settings: lr, and those that the entry names.
local function made_by(constructor, entry)
  function entry.make(parameters, config)
    local opts = {lr = config.lr}
    for _, name in ipairs(settings.names_of(entry)) do opts[name] = config[name] end
    return constructor(parameters, opts)
  end
  return entry
end

-- Defaults that are not those of the settings are those of the constructors.
local adam = made_by(optim.adam, {settings = {"weight_decay"}})
local adamw = made_by(optim.adamw, {
  settings = {"decoupled_decay"}, defaults = {decoupled_decay = 0.01},
})
local sgd = made_by(optim.sgd, {
  settings = {"weight_decay",
    {"momentum", "number in [0, 1)", default = 0, help = "the share of its last step in the next"},
  },
  defaults = {lr = 0.01},
})

--- The entries of all optimizers by name.
optimizers.by_name = {adam = adam, adamw = adamw, sgd = sgd}

--- The entry that stands for the optimizer of settings which name none: ladies.train makes one of
-- these two.
optimizers.undecided = settings.union{adam = adam, adamw = adamw}

return optimizers
