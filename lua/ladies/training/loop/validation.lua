--- Validates the model during training, by a function that the user gives or by exact inference and
-- a metric of the task, and picks the number that is monitored.

local core = require "ladies_core"
local callbacks = require "ladies.training.loop.callbacks"
local errors = require "ladies.base.errors"
local inference = require "ladies.evaluation.inference"
local label_kinds = require "ladies.data.labels"
local link = require "ladies.ranks.link"
local not_finite = require("ladies.base.units").not_finite
local options = require "ladies.base.options"

local validation = {}

local Validation = {__name = "Validation"}
Validation.__index = Validation

--- validation.way(opts [, nodes]) -> Way: returns the way in which a run with these options of
-- ladies.train computes the logits of `nodes`, by default all; temporary files are in the run's
-- folder.
function validation.way(opts, nodes)
  local folder = not os.getenv "TMPDIR" and link.rank == 0 and opts.out or nil
  return inference.way{nodes = nodes, memory = opts.memory, folder = folder,
    ranks_infer = opts.ranks_infer}
end

-- The number of nodes from which on exact inference takes as long as tens of batches.
local LARGE = 20000

--- validation.interval(data): returns the default number of batches between two validations: 10 as
-- in the paper, or 100 on a large graph.
function validation.interval(data)
  local nodes = data.graph and data.graph.n_nodes or data.features.n_rows
  return (nodes or 0) < LARGE and 10 or 100      -- data is checked elsewhere
end

--- validation.logits(opts, way): computes the logits, without sampling, by the model of a run with
-- these options of ladies.train.
function validation.logits(opts, way)
  if not opts.sampler then
    local logits = inference.without_graph(opts.model, opts.data.features)
    return way.nodes and logits:rows(way.nodes) or logits
  end
  return inference.exact(opts.model, opts.data, {P = opts.P, way = way})
end

-- Returns the rows that a task needs for some units, of h, which has one for each node.
local function rows_for(task, h, units)
  local nodes = task.nodes and task.nodes(units)
  if not nodes or #nodes == h.n_rows and nodes == core.range(1, #nodes) then return h end
  return h:rows(nodes)
end

-- Returns of(units) and, where there are more, of(more); nil and the number where one of these is
-- not finite, of which `of` returns nil and the number.
local function of_both(of, units, more)
  local out, wrong = of(units)
  if not out or not more then return out, wrong end
  local of_more, also = of(more)
  if not of_more then return nil, also end
  return out, of_more
end

--- validation.scores(opts, way, units [, more]) -> out | nil, out | number: computes the output of
-- a run's model for some units of its task by exact inference, which the way does for their nodes
-- or for all, and from the same inference that for `more` units; nil and the number where something
-- is not finite.
function validation.scores(opts, way, units, more)
  local task = opts.task
  if task.infer then
    return of_both(function(some)
      return task:inferred("ladies.train", some, opts.model, opts.sampler)
    end, units, more)
  end
  local h = validation.logits(opts, way)
  task:check_outputs("ladies.train", h)
  local finite, value = h:is_finite()
  if not finite then return nil, value end
  return of_both(function(some)
    local rows = way.nodes and h or rows_for(task, h, some)
    return core.no_grad(task.scored, task, rows, some, opts.model)
  end, units, more)
end

-- Returns a function that computes the metric of this name on the validation units by exact
-- inference and, where `all` units are inferred, the predictions for them from the same inference.
local function exact(opts, way, name, all)
  local task, val = opts.task, opts.task.units.val
  return function()
    local out, of_all = validation.scores(opts, way, val, all)
    if not out then return of_all end
    local of_val, predicted = task.predict(out, val), all and task.predict(of_all, all)
    local found = task:values(of_val, out, val, {name})
    for _, used in ipairs{out, of_all} do
      if options.class_of(used) == "Tensor" and not rawequal(used, of_val)
        and not rawequal(used, predicted) then
        used:release()
      end
    end
    return found, predicted
  end
end

--- validation.own(opts): returns the user's function by which a run with these options of
-- ladies.train validates; nil where it validates by exact inference.
function validation.own(opts)
  if opts.validation == "sampled" then
    errors.fail('ladies.train: validation = "sampled" is for methods by name; give a function, or '
      .. '"exact"')
  end
  return opts.validation ~= "exact" and opts.validation or nil
end

--- validation.looks_ahead(opts): tells whether inference would see edges from after the times that
-- the seeds of a run with these options of ladies.train have.
function validation.looks_ahead(opts)
  if opts.task.infer then return false end
  return type(opts.sampler) == "table" and rawget(opts.sampler, "takes_times") or false
end

--- validation.monitor(opts): returns the number that a run with these options of ladies.train
-- monitors, as {name =, mode =, relative = whether gains are shares of the value}: a metric of its
-- task, or a number of the function by which it validates.
function validation.monitor(opts)
  local given = opts.monitor
  if type(given) == "string" then given = {name = given} end
  local monitor = options.check("ladies.train: monitor", given, {
    name = "string or nil", mode = "max|min or nil", relative = "boolean or nil",
  })
  if validation.own(opts) then
    return {name = monitor.name or "score", mode = monitor.mode or "max",
      relative = monitor.relative or false}
  end
  local metric, relative = opts.task:metric(monitor.name, "ladies.train"), monitor.relative
  if relative == nil then relative = not metric.percent end
  return {name = metric.name, mode = monitor.mode or metric.mode, relative = relative}
end

--- validation.new(opts): makes the validation of ladies.train with these options; nil when there
-- are neither validation nodes nor a function for it. `name` and `mode` are those of the monitor;
-- `way` is the way of exact inference (see validation.way), nil where the user's function
-- validates; it is for the validation nodes alone, unless a callback gets the predictions for all
-- nodes.
function validation.new(opts)
  local monitor, own, task = validation.monitor(opts), validation.own(opts), opts.task
  local val, way = task.units.val, nil
  local all = opts.on_validation and task.all or nil
  if not own and val then
    way = validation.way(opts, not all and task.nodes and task.nodes(val) or nil)
  end
  local validate = own or way and exact(opts, way, monitor.name, all)
  return validate and setmetatable({
    validate = validate, way = way, task = task, name = monitor.name, mode = monitor.mode,
  }, Validation)
end

--- Returns a line that says how exact inference was computed in the validations; nil where there
-- were none.
function Validation:how()
  return self.way and self.way.room:was_used() and tostring(self.way) or nil
end

-- Returns the numbers that a validation found, by name.
function Validation:numbers(found)
  if type(found) == "number" then return {[self.name] = found} end
  if type(found) ~= "table" then
    errors.fail("ladies.train: validation must return a number or a table of numbers, got a "
      .. type(found))
  end
  callbacks.check_numbers("validation", found)
  if not found[self.name] then
    errors.fail(('ladies.train: validation returned no number "%s", which is monitored; monitor = '
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
  if predicted then
    label_kinds.check_predictions("ladies.train: validation", predicted,
      self.task.targets(self.task.all))
  end
  return value, numbers, predicted
end

return validation
