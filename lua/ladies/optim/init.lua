--- Collects the optimizers, which are written in C (src/core/optim), and the learning-rate
-- schedules in one module.

local Average = require "ladies.optim.average"
local core = require "ladies_core"
local fields = require "ladies.base.fields"
local Own = require "ladies.optim.own"
local schedule = require "ladies.optim.schedule"

return {
  sgd = core.sgd,
  adam = core.adam,
  adamw = core.adamw,
  own = Own.new,
  average = Average.new,
  schedule = fields.of_module("ladies.schedule", schedule),
}
