--- Optimizers (written in C: src/core/optim) and learning-rate schedules.

local core = require "ladies_core"
local fields = require "ladies.base.fields"
local schedule = require "ladies.optim.schedule"

return {
  sgd = core.sgd,
  adam = core.adam,
  adamw = core.adamw,
  schedule = fields.of_module("ladies.schedule", schedule),
}
