--- Makes optimizers from a user's functions in Lua, which say how a step changes the parameters and
-- how the gradients are computed. An optimizer in C inside holds the parameters and sums of
-- gradients, and carries out all other methods.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local options = require "ladies.base.options"

local WHERE = "ladies.optim.own"

-- The class has the name of optimizers in C, so that functions that ask for an Optimizer take its
-- objects.
local Own = {__name = "ladies.Optimizer"}

-- Passes these methods on to the optimizer in C.
for _, name in ipairs{"accumulate", "sums", "set_mean", "has", "clear", "clip_norm", "set_lr",
  "group", "groups", "padded_values"} do
  Own[name] = function(self, ...)
    local inner = self.inner
    return inner[name](inner, ...)
  end
end

function Own:__index(key)
  if key == "lr" then return rawget(self, "inner").lr end
  return Own[key]
end

-- Fails unless the optimizer is of these parameters.
local function check_inner(inner, parameters)
  local count = 0
  for _, group in ipairs(inner:groups()) do count = count + #group.parameters end
  for i, parameter in ipairs(parameters) do
    if not inner:has(parameter) then
      errors.fail(("%s: the optimizer lacks parameter %d"):format(WHERE, i))
    end
  end
  if count ~= #parameters then
    errors.fail(("%s: the optimizer has %d parameters, %d are given"):format(WHERE, count,
      #parameters))
  end
end

--- ladies.optim.own(parameters: Tensor[], {update = function, differentiate = function,
-- state = string[], optimizer = Optimizer, lr = 0.001, weight_decay = 0, name = "Own"}) ->
-- Optimizer: an optimizer of one's own, which ladies.train takes, and loops by hand: its methods
-- are those of the others but for `part`, `keep` and `squares`, so that several processes have it
-- whole.
-- update   update(p, g, state, at) -> Tensor: the new values of a parameter p, a Tensor of its
--          shape, by its gradient g. state.NAME are the tensors that `state` names, of the shape of
--          p, at first zeros: what is assigned to them is kept, also by checkpoints. at has lr and
--          weight_decay, those of its group, and step, the number of updates that p has had with
--          this one. It is called for every parameter that has a gradient, which is within its
--          bounds; nothing is recorded. Without it `optimizer` makes the steps
-- differentiate   differentiate(compute, parameters), in place of one pass forward and backward
--          over a mini-batch: compute() makes one and leaves its gradients alone in the parameters;
--          it may be called several times, with other values of the parameters, which are to be as
--          they were in the end. What changes parameters belongs into ladies.no_grad. The loss that
--          is told is that of the first call. A loop by hand calls the method of this name with
--          compute
-- state    names of tensors that `update` remembers for each parameter
-- optimizer   one of the parameters, whose groups count: by default ladies.optim.sgd with lr and
--          weight_decay
-- name     what it is called; a run that goes on must have the same, and the same code
function Own.new(parameters, given)
  options.value(WHERE, "the parameters", parameters, "array of Tensors")
  local opts = options.check(WHERE, given, {
    update = "callable or nil", differentiate = "callable or nil",
    state = {"array of strings", {}}, optimizer = "Optimizer or nil",
    lr = "non-negative number or nil", weight_decay = "non-negative number or nil",
    name = {"string", "Own"},
  })
  local inner = opts.optimizer
  if inner and (opts.lr or opts.weight_decay) then
    errors.fail(WHERE .. ": lr and weight_decay are the optimizer's where one is given")
  elseif not opts.update and (not inner or not opts.differentiate) then
    errors.fail(WHERE .. ": give update, or differentiate and the optimizer that makes the steps")
  end
  inner = inner or core.sgd(parameters,
    {lr = opts.lr or 1e-3, weight_decay = opts.weight_decay or 0})
  check_inner(inner, parameters)
  local state, steps = {}, {}
  for i, parameter in ipairs(parameters) do
    steps[i], state[i] = 0, {}
    for _, name in ipairs(opts.state) do
      state[i][name] = core.no_grad(function() return parameter:detach() * 0 end)
      state[i][name]:fill_(0)
    end
  end
  return setmetatable({inner = inner, parameters = parameters, update = opts.update or false,
    hook = opts.differentiate or false, names = opts.state, kept = state, steps = steps,
    name = opts.name}, Own)
end

local function shape(t)
  return t.ndim == 1 and tostring(t.n_rows) or ("%d x %d"):format(t.n_rows, t.n_cols)
end

-- Copies what the user's function gives, which `what` names, into a tensor of the same shape.
local function take(where, what, tensor, value)
  options.value(where, what, value, "Tensor")
  if rawequal(value, tensor) then return end
  if shape(value) ~= shape(tensor) then
    errors.fail(("%s: %s must have the shape of the parameter, %s, got %s"):format(where, what,
      shape(tensor), shape(value)))
  end
  tensor:copy_(value)
end

-- Updates parameter i by the user's function.
local function update(self, i, group)
  local p, kept, now = self.parameters[i], self.kept[i], {}
  self.steps[i] = self.steps[i] + 1
  for _, name in ipairs(self.names) do now[name] = kept[name] end
  local values = self.update(p, p.grad, now, {lr = group.lr, weight_decay = group.weight_decay
    or group.decoupled_decay, step = self.steps[i]})
  local where = self.name .. ": update"
  for name in pairs(now) do
    if not kept[name] then
      errors.fail(("%s: state.%s is not kept, as state of ladies.optim.own does not name it")
        :format(where, tostring(name)))
    end
  end
  for _, name in ipairs(self.names) do take(where, "state." .. name, kept[name], now[name]) end
  take(where, "what it returns", p, values)
end

-- Clips the gradients if options ask for it; returns their joint norm before, if that was computed.
local function bound(self, given, groups)
  local wanted = given and (given.clip or 0) or nil
  for _, group in ipairs(groups) do wanted = wanted or group.clip > 0 and 0 or nil end
  if not wanted then return nil end
  local norm = self.inner:clip_norm(wanted ~= 0 and wanted or math.huge)
  return given and norm
end

--- step([{clip = number}]) -> number | nil: as that of the other optimizers.
function Own:step(given)
  if not self.update then return self.inner:step(given) end
  given = given and options.check("step", given, {clip = "non-negative number or nil"})
  if #self.inner:sums() > 0 then
    errors.fail "step: gradients of some mini-batches of the step wait for more of them"
  end
  local groups = self.inner:groups()
  local norm = bound(self, given, groups)
  core.no_grad(function()
    for _, group in ipairs(groups) do
      for _, i in ipairs(group.parameters) do
        if self.parameters[i].grad then update(self, i, group) end
      end
    end
  end)
  self.inner:clear()
  return norm
end

--- differentiate(compute: function): calls compute(), which makes a pass forward and
-- backward over a mini-batch in a step of its own, as often as the user's function says, each time
-- without the gradients of the time before.
function Own:differentiate(compute)
  if not self.hook then return compute() end
  local calls = 0
  self.hook(function()
    calls = calls + 1
    for _, parameter in ipairs(calls > 1 and self.parameters or {}) do
      if parameter.grad then parameter:set_grad_(core.no_grad(function()
        return parameter:detach() * 0
      end)) end
    end
    return compute()
  end, self.parameters)
  if calls == 0 then
    errors.fail(self.name .. ": differentiate has not called compute()")
  end
end

--- state() -> table: that of the optimizer in C, with the tensors that update keeps.
function Own:state()
  local state = self.inner:state()
  if self.update then state.steps = self.steps end
  for i, kept in ipairs(self.kept) do
    for name, tensor in pairs(kept) do state[("%s.%d"):format(name, i)] = tensor end
  end
  return state
end

--- load_state(state: table): takes over what state() gave.
function Own:load_state(state)
  options.value("load_state", "the state", state, "table")
  for i, kept in ipairs(self.kept) do
    for name, tensor in pairs(kept) do
      local key = ("%s.%d"):format(name, i)
      local given = options.value("load_state", key, state[key], "Tensor")
      if given.n_rows ~= tensor.n_rows or given.n_cols ~= tensor.n_cols then
        errors.fail(("load_state: %s is %d x %d, it must be %d x %d"):format(key, given.n_rows,
          given.n_cols, tensor.n_rows, tensor.n_cols))
      end
    end
  end
  self.inner:load_state(state)
  if self.update then
    for i, count in ipairs(state.steps) do self.steps[i] = math.tointeger(count) end
  end
  for i, kept in ipairs(self.kept) do
    for name, tensor in pairs(kept) do tensor:copy_(state[("%s.%d"):format(name, i)]) end
  end
end

--- functions() -> table: the user's functions, `update` and `differentiate`.
function Own:functions()
  return {update = self.update or nil, differentiate = self.hook or nil}
end

--- code(hash: function) -> string: the hashes of the user's functions, by hash(function):
-- a run that goes on must have the same.
function Own:code(hash)
  return (self.update and hash(self.update) or "-") .. " " .. (self.hook and hash(self.hook) or "-")
end

--- Fails: an optimizer in Lua needs the gradients of all parameters.
function Own:part()
  errors.fail(("%s, an optimizer in Lua, is not divided among processes: leave shard_optimizer out")
    :format(self.name))
end

function Own:__tostring()
  return ("%s of %d parameters, lr %g"):format(self.name, #self.parameters, self.lr)
end

return Own
