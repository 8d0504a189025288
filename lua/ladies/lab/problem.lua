--- Defines what samplers are examined for: a task, whose units become the seeds of mini-batches and
-- whose loss has the gradient that these estimate, and the kind of network.
--
-- Edges that a mini-batch of link prediction asks for stay in propagation here. Without them each
-- mini-batch would have a P of its own, and exact values would have to be computed for each.

local configuration = require "ladies.experiment.configuration"
local errors = require "ladies.base.errors"
local experiment = require "ladies.experiment"
local inference = require "ladies.evaluation.inference"
local models = require "ladies.experiment.models"
local nn = require "ladies.nn"
local own_code = require "ladies.experiment.own_code"
local settings = require "ladies.experiment.settings"
local tables = require "ladies.base.tables"
local task_name = require("ladies.task").default_name
local tasks = require "ladies.experiment.tasks"

local problem = {}

local Problem = {__name = "ladies.lab.Problem"}
Problem.__index = Problem

local NOTE = "the edges that a mini-batch asks for are left in propagation here, so that all have "
  .. "one P; training leaves them out (exclude = \"%s\")"

-- Returns the settings of opts.settings that are the task's, and the others.
local function divided(name, given)
  local own, others = {}, {}
  for key, value in pairs(given) do
    local part = settings.takes(tasks.by_name[name], key) and own or others
    part[key] = value
  end
  return own, others
end

-- Fails for a task whose loss has no one exact value for given seeds.
local function check(where, config)
  if config.variational then
    errors.fail(where .. ": variational rows are drawn anew in every step, so that there is no one "
      .. "exact value for estimates to be compared with; leave out variational")
  end
end

--- problem.new(where, data, opts): makes the problem for a data set; opts are those of ladies.lab:
-- task, model, settings, layers, hidden, batch_size, seed, and perhaps `problem`, one that is made
-- already, which is returned. Fields: task; data, which samplers see;
-- units, those for training; given, the settings of experiments that name task and model;
-- of_methods, those of opts.settings that are left for methods; is_plain, whether the network is a
-- GCN and each unit a node that is its own seed; note, or nil.
function problem.new(where, data, opts)
  if opts.problem then return opts.problem end
  local given = own_code.settings{task = opts.task, model = opts.model}
  local name = given.task or task_name(data)
  local of_task, of_methods = divided(name, opts.settings or {})
  if next(of_task) then given = tables.merged(given, of_task, {task = name}) end
  local config = configuration.of(tables.merged(given, {layers = opts.layers, hidden = opts.hidden,
    batch_size = opts.batch_size, seed = opts.seed}), where)
  check(where, config)
  local note = config.exclude and config.exclude ~= "none" and NOTE:format(config.exclude) or nil
  config.exclude = config.exclude and "none"
  config.dropout = config.dropout and 0
  local task = experiment.task(config, data)
  local is_gcn = (given.model or "gcn") == "gcn"
  return setmetatable({
    where = where, config = config, task = task, data = task.data, units = task.units.train,
    given = given, of_methods = of_methods, note = note, is_gcn = is_gcn,
    is_plain = is_gcn and not task.draw and not task.read,
  }, Problem)
end

--- Makes the network, without dropout, of `layers` layers over P, with its first weights.
function Problem:model(P, layers)
  local config, task, data = self.config, self.task, self.data
  local model
  if self.is_gcn then
    model = nn.gcn{inputs = data.features.n_cols, hidden = config.hidden,
      outputs = task.outputs or config.hidden, layers = layers, P = P, seed = config.seed}
  else
    model = models.by_name[config.model].make(tables.merged(config, {layers = layers}), data, task)
    model.P = P
  end
  local lacking = inference.lacking(model)
  if lacking then
    errors.fail(("%s: the model %s has no %s, by which its exact values are computed"):format(
      self.where, config.model, lacking))
  end
  return task:equip(model)
end

--- Returns what a report says of the problem: {model = its name, task = its name, unit =}, and nil
-- for what goes without saying, a GCN and mini-batches of nodes.
function Problem:words()
  local task = self.task
  return {model = not self.is_gcn and self.config.model or nil,
    task = task.draw and task.name or nil, unit = task.draw and task.unit or nil}
end

return problem
