--- Validation: how good the model is now, by ladies.train's `validate` or by exact inference, and
-- which of its numbers is monitored.

local check_numbers = require "ladies.training.check_numbers"
local errors = require "ladies.base.errors"
local inference = require "ladies.evaluation.inference"
local label_kinds = require "ladies.data.labels"
local link = require "ladies.ranks.link"
local metrics = require "ladies.evaluation.metrics"
local not_finite = require "ladies.training.not_finite"
local options = require "ladies.base.options"

local validation = {}

local Validation = {__name = "Validation"}
Validation.__index = Validation

--- validation.way(opts [, nodes]) -> Way: how a run with these options of ladies.train computes the
-- logits of `nodes`, by default all; its files are in the run's folder.
function validation.way(opts, nodes)
  local folder = not os.getenv "TMPDIR" and link.rank == 0 and opts.out or nil
  return inference.way{nodes = nodes, memory = opts.memory, folder = folder}
end

-- From this many nodes on exact inference costs as much as tens of batches.
local LARGE = 20000

--- validation.interval(data): the batches between two validations where nobody says: 10 as in the
-- paper, or 100 on a large graph.
function validation.interval(data)
  local nodes = data.graph and data.graph.n_nodes or data.features.n_rows
  return (nodes or 0) < LARGE and 10 or 100      -- whether data is what it must be, others say
end

--- validation.logits(opts, way): the logits by the model of a run with these options of
-- ladies.train, without sampling.
function validation.logits(opts, way)
  if not opts.sampler then
    local logits = inference.without_graph(opts.model, opts.data.features)
    return way.nodes and logits:rows(way.nodes) or logits
  end
  return inference.exact(opts.model, opts.data, {P = opts.P, way = way})
end

-- Micro-F1 on the validation nodes by exact inference; and, where `way` is of all nodes, the
-- predictions for them that it comes from.
local function exact(opts, way)
  local data = opts.data
  return function()
    local logits = validation.logits(opts, way)
    label_kinds.check_outputs("ladies.train", logits, data)
    local finite, value = logits:is_finite()
    if not finite then return value end
    local predicted = label_kinds.kind_of(data.labels).predict(logits)
    logits:release()
    if way.nodes then return metrics.micro_f1(predicted, data.labels[data.val]) end
    return metrics.micro_f1(predicted, data.labels, data.val), predicted
  end
end

--- validation.monitor(opts): the name and the mode of what a run with these options of ladies.train
-- goes by, as {name =, mode =}.
function validation.monitor(opts)
  return options.check("ladies.train: monitor", opts.monitor, {
    name = {"string", opts.validate and "score" or "micro-F1"},
    mode = {"max|min", "max"},
  })
end

--- validation.new(opts): the validation of ladies.train with these options; nil when there are
-- neither validation nodes nor `validate`. `name` and `mode` are those of the monitor; `way` is
-- that of exact inference, where it is by this: for the validation nodes alone where nobody is told
-- the predictions.
function validation.new(opts)
  local monitor = validation.monitor(opts)
  if not opts.validate and opts.monitor and monitor.name ~= "micro-F1" then
    errors.fail(('ladies.train: monitor: "%s" is no number of the default validation, which is '
      .. 'micro-F1; give validate'):format(monitor.name))
  end
  local way = not opts.validate and opts.data.val
    and validation.way(opts, not opts.on_validation and opts.data.val or nil) or nil
  local validate = opts.validate or way and exact(opts, way)
  return validate and setmetatable({
    validate = validate, way = way, labels = opts.data.labels, name = monitor.name,
    mode = monitor.mode,
  }, Validation)
end

--- In a line how exact inference went about the validations, or nil where there were none.
function Validation:how()
  return self.way and self.way.room and tostring(self.way) or nil
end

-- The numbers by name that validate found.
function Validation:numbers(found)
  if type(found) == "number" then return {[self.name] = found} end
  if type(found) ~= "table" then
    errors.fail("ladies.train: validate must return a number or a table of numbers, got a "
      .. type(found))
  end
  check_numbers("validate", found)
  if not found[self.name] then
    errors.fail(('ladies.train: validate returned no number "%s", which is monitored; monitor = '
      .. '{name =} says which one is'):format(self.name))
  end
  return found
end

--- Validates the model after `number` batches. Returns the monitored value, all numbers by name,
-- and the predictions for all nodes, where there are such; or nil and what is not finite.
function Validation:measure(model, number)
  local found, predicted = self.validate(model, number)
  local numbers = self:numbers(found)
  local value = numbers[self.name]
  local wrong = not_finite(value)
  if wrong then return nil, ("the validation %s is %s"):format(self.name, wrong) end
  if predicted ~= nil then
    label_kinds.check_predictions("ladies.train: validate", predicted, self.labels)
  end
  return value, numbers, predicted
end

return validation
