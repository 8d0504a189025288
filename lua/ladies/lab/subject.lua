--- Defines the subjects that the laboratory examines: samplers of the library or the user's, which
-- can be made again with other sample numbers and depths.

local configuration = require "ladies.experiment.configuration"
local errors = require "ladies.base.errors"
local experiment = require "ladies.experiment"
local methods = require "ladies.experiment.methods"
local numbered_batches = require "ladies.training.batches.numbered"
local own_code = require "ladies.experiment.own_code"
local problems = require "ladies.lab.problem"
local tables = require "ladies.base.tables"

local subject = {}

local Subject = {__name = "ladies.lab.Subject"}
Subject.__index = Subject

-- Returns the settings of a method: those of the options that it has, and its defaults.
local function configured(where, found, problem, opts)
  return configuration.of(tables.merged({
    layers = opts.layers, hidden = opts.hidden, seed = opts.seed, batch_size = opts.batch_size,
    dropout = opts.dropout,
  }, problem.given, methods.pick(found.method, problem.of_methods), found), where)
end

-- Makes the subject for the name of a method or of a file, or for {name =, sampler = function(P,
-- data, model)}.
local function of_method(where, given, problem, opts)
  local found = own_code.method(where, given)
  local config = configured(where, found, problem, opts)
  return setmetatable({
    name = found.method, title = methods.title(config), config = config,
    samples = config.samples, file = methods.by_name[config.method].file,
  }, Subject)
end

--- subject.of(where, given, data, opts): makes the subject for a method's name ("ladies",
-- "ladies:64"), for a file ("./mine.lua", "./mine.lua:64"), for {name =, sampler = function(P,
-- data, model) -> sampler}, or for a sampler itself, a function or callable table. opts: layers,
-- hidden, seed and batch_size, and what ladies.lab.problem takes, with settings of the methods.
-- Errors begin with `where`. Fields:
-- name; title, with its samples; P, the Matrix whose product it estimates (nil where only a sampler
-- is known, until its first mini-batch tells it); samples, where it has a number of them; file.
function subject.of(where, given, data, opts)
  local problem = problems.new(where, data, opts)
  local is_sampler = type(given) == "function"
    or type(given) == "table" and (getmetatable(given) or {}).__call
  local self
  if is_sampler then
    self = setmetatable({name = "sampler", title = numbered_batches.name_of(given), given = given},
      Subject)
  else
    self = of_method(where, given, problem, opts)
    experiment.resolve(self.config, data)
    self.P = problem.data.graph:normalize(self.config.normalize)
  end
  self.problem = problem
  return self
end

--- Makes a new sampler of the subject for a model, with other `samples` or `layers` if `over` has
-- them. For a sampler that was given itself, it is always that one.
function Subject:make(model, over)
  over = over or {}
  if self.given then
    if next(over) then
      errors.fail(("%s: a sampler that is made already has its samples and layers; give its "
        .. "method, or {name =, sampler = function(P, data, model) ... end}"):format(self.title))
    end
    return self.given
  end
  local config = setmetatable(over, {__index = self.config})
  return methods.by_name[config.method].make(self.P, config, self.problem.data, model,
    self.problem.task)
end

--- Returns a copy of the subject with another number of samples, a setting that its method must
-- have.
function Subject:with_samples(samples)
  local config = tables.merged(self.config, {samples = samples})
  return setmetatable(tables.merged(self, {
    config = config, samples = samples, title = methods.title(config),
  }), Subject)
end

--- Tells whether a sampler learns during training, so that it needs every step.
function subject.is_adaptive(sampler)
  return type(sampler) == "table" and sampler.adaptive == true
end

--- Tells whether the subject's method has a setting, such as "samples".
function Subject:takes(setting)
  return self.config ~= nil and methods.takes(self.config.method, setting)
end

return subject
