--- Finds activation functions by name; each maps a Tensor to one of the same shape.

local options = require "ladies.base.options"

local activation = {}

local BY_NAME = {
  none = function(x) return x end,
  relu = function(x) return x:relu() end,
  elu = function(x) return x:elu(1) end,
  leaky_relu = function(x) return x:leaky_relu(0.01) end,
  sigmoid = function(x) return x:sigmoid() end,
  tanh = function(x) return x:tanh() end,
}

--- The names of the functions, as a type of ladies.options.
activation.names = "none|relu|elu|leaky_relu|sigmoid|tanh"

--- nn.activation(name) -> function: returns the function with this name: none, relu, elu (alpha 1),
-- leaky_relu (slope 0.01), sigmoid, tanh.
function activation.by_name(name)
  return BY_NAME[options.value("ladies.nn.activation", "the name", name, activation.names)]
end

return activation
