--- What modules have in common: a module is a plain table with a metatable, and its parameters are
-- the tensors in it and in the modules and arrays it holds. Any table of tensors with a `forward`
-- is a model as good as ours.

local options = require "ladies.options"

local module = {}

local function in_order(a, b)
  if type(a) == type(b) then return a < b end
  return type(a) == "number"
end

local function collect(t, prefix, list, seen)
  if seen[t] then return end
  seen[t] = true
  local keys = {}
  for key, value in pairs(t) do
    local kind = type(key)
    if (kind == "string" or kind == "number") and
       (type(value) == "table" or options.class_of(value) == "Tensor") then
      keys[#keys + 1] = key
    end
  end
  table.sort(keys, in_order)
  for _, key in ipairs(keys) do
    local value, name = t[key], prefix .. tostring(key)
    if type(value) == "table" then
      collect(value, name .. ".", list, seen)
    elseif value.requires_grad then
      list[#list + 1] = {name = name, tensor = value}
    end
  end
end

--- The parameters in a table, however deep: an array of {name =, tensor =}, for tensors that
-- require a gradient. A name is the path of keys, such as "layers.2.weight". The order is that of
-- the keys, numbers before strings, so it is the same in every run.
function module.named_parameters(t)
  local list = {}
  collect(t, "", list, {})
  return list
end

--- The same tensors in the same order, without their names.
function module.parameters(t)
  local list = module.named_parameters(t)
  for i, parameter in ipairs(list) do list[i] = parameter.tensor end
  return list
end

--- The number of elements of all parameters in a table.
function module.size(t)
  local size = 0
  for _, tensor in ipairs(module.parameters(t)) do size = size + tensor.n_rows * tensor.n_cols end
  return size
end

--- Returns `new`, after giving back at once the memory of the intermediate `old` that it was
-- computed from, unless a step owns it: so inference over a whole graph holds few layers at a time.
function module.free_after(old, new)
  if not rawequal(old, new) and not old.in_step then old:release() end
  return new
end

--- A metatable for a new kind of module: methods go into it, `parameters` and `named_parameters`
-- are there. Make objects with setmetatable({...}, class).
function module.class(name)
  options.value("ladies.nn.class", "the name", name, "string")
  local class = {
    __name = "ladies.nn." .. name,
    parameters = module.parameters,
    named_parameters = module.named_parameters,
  }
  class.__index = class
  return class
end

return module
