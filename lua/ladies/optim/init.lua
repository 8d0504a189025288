--- Optimizers (written in C: src/core/optim) and learning-rate schedules.

local core = require "ladies_core"

return {
  sgd = core.sgd,
  adam = core.adam,
  adamw = core.adamw,
  schedule = require "ladies.optim.schedule",
}
