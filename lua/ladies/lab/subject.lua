--- What the laboratory examines: a sampler of ours or the user's, which can be made again with
-- other sample numbers and depths.

local configuration = require "ladies.experiment.configuration"
local errors = require "ladies.base.errors"
local experiment = require "ladies.experiment"
local methods = require "ladies.experiment.methods"
local numbered_batches = require "ladies.training.numbered_batches"
local own_code = require "ladies.experiment.own_code"
local tables = require "ladies.base.tables"

local subject = {}

local Subject = {__name = "ladies.lab.Subject"}
Subject.__index = Subject

-- The settings of a method: those that were asked for as far as it has them.
local function configured(where, found, opts)
  return configuration.of(tables.merged({
    layers = opts.layers, hidden = opts.hidden, seed = opts.seed, batch_size = opts.batch_size,
    dropout = opts.dropout,
  }, methods.pick(found.method, opts.settings or {}), found), where)
end

-- The subject of a method's name, a file's, or {name =, sampler = function(P, data, model)}.
local function of_method(where, given, opts)
  local found = own_code.method(where, given)
  local config = configured(where, found, opts)
  return setmetatable({
    name = found.method, title = methods.title(config), config = config,
    samples = config.samples, file = own_code.paths(config),
  }, Subject)
end

--- subject.of(where, given, data, opts): the subject of a method's name ("ladies", "ladies:64"), of
-- a file ("./mine.lua", "./mine.lua:64"), of {name =, sampler = function(P, data, model) ->
-- sampler}, or of a sampler as it is, a function or callable table. opts: layers, hidden, seed,
-- batch_size, and `settings`, of the methods. Errors begin with `where`.
-- Fields: name; title, with its samples; P, the Matrix whose product it estimates (nil where only a
-- sampler is known, until its first mini-batch tells it); samples, where it has a number of them;
-- file.
function subject.of(where, given, data, opts)
  local is_sampler = type(given) == "function"
    or type(given) == "table" and (getmetatable(given) or {}).__call
  local self
  if is_sampler then
    self = setmetatable({name = "sampler", title = numbered_batches.name_of(given), given = given},
      Subject)
  else
    self = of_method(where, given, opts)
    experiment.resolve(self.config, data)
    self.P = data.graph:normalize(self.config.normalize)
  end
  self.data = data
  return self
end

--- A new sampler of the subject for a model, with other `samples` or `layers` where `over` has
-- them. A sampler that was given as it is stays that one.
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
  return methods.by_name[config.method].make(self.P, config, self.data, model)
end

--- The same subject with another number of samples, which it must take.
function Subject:with_samples(samples)
  local config = tables.merged(self.config, {samples = samples})
  return setmetatable(tables.merged(self, {
    config = config, samples = samples, title = methods.title(config),
  }), Subject)
end

--- Whether a sampler goes in step with training.
function subject.is_adaptive(sampler)
  return type(sampler) == "table" and sampler.adaptive == true
end

--- Whether a setting of its method can be chosen, such as "samples".
function Subject:takes(setting)
  return self.config ~= nil and methods.takes(self.config.method, setting)
end

return subject
