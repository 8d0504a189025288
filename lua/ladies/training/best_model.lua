--- The best model so far, as a copy of its parameters, frozen ones among them.

local module = require "ladies.nn.module"

local best_model = {}

local BestModel = {__name = "BestModel"}
BestModel.__index = BestModel

local function copy(from, to)
  for i, parameter in ipairs(from) do module.fill(to[i].tensor, parameter.tensor) end
end

--- best_model.new(parameters): room for a copy of them, an array of {name =, tensor =}. `exists` is
-- whether there is a best model yet; `copies` are its tensors.
function best_model.new(parameters)
  local copies = {}
  for i, parameter in ipairs(parameters) do
    copies[i] = {name = parameter.name, tensor = parameter.tensor:clone()}
  end
  return setmetatable({parameters = parameters, copies = copies, exists = false}, BestModel)
end

--- Keeps the model as it is now.
function BestModel:keep()
  copy(self.parameters, self.copies)
  self.exists = true
end

--- Puts the kept parameters into the model.
function BestModel:restore()
  copy(self.copies, self.parameters)
end

return best_model
