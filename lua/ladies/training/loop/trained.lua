--- Collects the parameters that a run trains, those of the model and of a sampler that has some,
-- and makes their optimizer.

local errors = require "ladies.base.errors"
local groups = require "ladies.optim.groups"
local module = require "ladies.nn.module"
local optim = require "ladies.optim"
local options = require "ladies.base.options"
local tables = require "ladies.base.tables"

local trained = {}

local WHERE = "ladies.train"

-- Fails if an optimizer lacks some parameters of the model or the sampler, which would not be
-- trained and whose gradients would accumulate.
local function check_optimizer(optimizer, whose, parameters)
  local lacking, count = {}, 0
  for _, parameter in ipairs(parameters) do
    local tensor = parameter.tensor
    if tensor.requires_grad then
      count = count + 1
      if not optimizer:has(tensor) then lacking[#lacking + 1] = parameter.name end
    end
  end
  if #lacking == 0 then
    return
  elseif #lacking == count then
    errors.fail(("ladies.train: the optimizer has none of the %s's parameters"):format(whose))
  end
  errors.fail(("ladies.train: the optimizer lacks the %s's parameter %s; one that is not to be "
    .. "trained is frozen by :requires_grad_(false)"):format(whose, lacking[1]))
end

-- Makes the default optimizer, Adam, or AdamW if the options ask for decoupled weight decay.
local function make(opts, parameters)
  if not opts.decoupled_decay then
    return optim.adam(parameters, {lr = opts.lr, weight_decay = opts.weight_decay})
  elseif opts.weight_decay ~= 0 then
    errors.fail "ladies.train: weight_decay is Adam's and decoupled_decay AdamW's; give one of them"
  end
  return optim.adamw(parameters, {lr = opts.lr, decoupled_decay = opts.decoupled_decay})
end

--- trained.made(make, model, of_sampler, text): returns the optimizer that make(parameters) makes
-- of the trainable parameters of the model and the sampler, divided into the groups that `text`
-- describes, if it is not nil.
function trained.made(make_optimizer, model, of_sampler, text)
  local optimizer = make_optimizer(module.parameters{model, of_sampler})
  if text then
    groups.make("ladies.train: groups", optimizer, module.named_parameters(model), text)
  end
  return optimizer
end

--- trained.optimizer(opts, named, of_sampler): returns the optimizer of a run with these options of
-- ladies.train: opts.optimizer, or Adam for the trainable parameters of the model and the sampler,
-- `named` and `of_sampler`.
function trained.optimizer(opts, named, of_sampler)
  local parameters = module.parameters(opts.model)
  if #parameters == 0 then
    errors.fail(("ladies.train: the model has no parameters%s"):format(
      #named > 0 and " that require a gradient: all are frozen" or ""))
  end
  if opts.optimizer then
    check_optimizer(opts.optimizer, "model", named)
    check_optimizer(opts.optimizer, "sampler", of_sampler)
    return opts.optimizer
  end
  return trained.made(function(all) return make(opts, all) end, opts.model, of_sampler, opts.groups)
end

-- Returns the parameters of a sampler by name; fails where what it calls so has none.
local function parameters_of(sampler)
  local given = options.value(WHERE, "the sampler's parameters", rawget(sampler, "parameters"),
    "table or nil")
  local parameters = module.named_parameters(given or {})
  if given and next(given) ~= nil and #parameters == 0 then
    errors.fail(WHERE .. ": the sampler's parameters holds no Tensor that requires a gradient: "
      .. "those that are trained by requires_grad_(), in a table or a module")
  end
  return parameters
end

-- Returns the state of a sampler, an array of {name =, tensor =}, whose names are distinct.
local function state_of(sampler)
  local whose, seen = "the sampler's state", {}
  local state = options.value(WHERE, whose, sampler.state, "table or nil") or {}
  for key in pairs(state) do
    if math.type(key) ~= "integer" then
      errors.fail(("%s: %s must be an array of {name =, tensor =}, got a table with the field %s")
        :format(WHERE, whose, tostring(key)))
    end
  end
  for i, one in ipairs(state) do
    local place = ("%s[%d]"):format(whose, i)
    options.value(WHERE, place, one, "table")
    local name = options.value(WHERE, place .. ".name", one.name, "string")
    options.value(WHERE, place .. ".tensor", one.tensor, "Tensor")
    if seen[name] then
      errors.fail(('%s: %s.name is "%s", which %s[%d] has already'):format(WHERE, place, name,
        whose, seen[name]))
    end
    seen[name] = i
  end
  return state
end

--- Returns the sampler's parameters by name, and all of its tensors that a checkpoint holds.
function trained.of_sampler(sampler)
  if type(sampler) ~= "table" then return {}, {} end
  local parameters = parameters_of(sampler)
  return parameters, tables.append(tables.map(parameters, function(one)
    return {name = "parameter." .. one.name, tensor = one.tensor}
  end), state_of(sampler))
end

return trained
