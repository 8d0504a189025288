--- Layer normalisation: scales each row to mean 0 and variance 1, then applies a gain and a shift
-- per column (Ba et al., 2016, eq. 4).

local core = require "ladies_core"
local module = require "ladies.nn.module"
local options = require "ladies.base.options"

local LayerNorm = module.class("LayerNorm", "width:integer gain:Tensor bias:Tensor")

--- nn.layer_norm{width =} -> LayerNorm: for tensors of n x width; gains begin at one, shifts at
-- zero.
function LayerNorm.new(given)
  local opts = options.check("ladies.nn.layer_norm", given, {width = "positive integer"})
  local gain, bias = core.ones(opts.width), core.zeros(opts.width)
  gain:requires_grad_()
  bias:requires_grad_()
  return setmetatable({width = opts.width, gain = gain, bias = bias}, LayerNorm)
end

--- norm:forward(x) -> Tensor: the normalised rows, n x width.
function LayerNorm:forward(x)
  options.value("ladies.nn.layer_norm", "x", x, "Tensor")
  return x:layer_norm(self.gain, self.bias)
end

function LayerNorm:__tostring()
  return ("LayerNorm %d"):format(self.width)
end

return LayerNorm
