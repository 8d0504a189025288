--- Keeps the best model so far, a copy of its parameters, including frozen ones, and of its
-- buffers.

local module = require "ladies.nn.module"

local best_model = {}

local BestModel = {__name = "BestModel"}
BestModel.__index = BestModel

local function copy(from, to)
  for i, parameter in ipairs(from) do module.fill(to[i].tensor, parameter.tensor) end
end

--- best_model.new(parameters, buffers): makes an object with memory for a copy of the parameters,
-- an array of {name =, tensor =}, and of the model's Buffers. `exists` is whether there is a best
-- model yet; `copies` and, as an array of that kind, `buffer_copies` are its tensors.
function best_model.new(parameters, buffers)
  local copies = {}
  for i, parameter in ipairs(parameters) do
    copies[i] = {name = parameter.name, tensor = parameter.tensor:clone()}
  end
  return setmetatable({parameters = parameters, copies = copies, buffers = buffers,
    buffer_copies = {}, exists = false}, BestModel)
end

--- Copies the model as it is now.
function BestModel:keep()
  copy(self.parameters, self.copies)
  self.buffer_copies = self.buffers:copies()
  self.exists = true
end

--- Copies the parameters and buffers that were kept back into the model.
function BestModel:restore()
  copy(self.copies, self.parameters)
  self.buffers:restore(self.buffer_copies, "the best model")
end

return best_model
