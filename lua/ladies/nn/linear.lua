--- The linear layer, x W + b.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local initialize = require "ladies.nn.initialize"
local module = require "ladies.nn.module"
local options = require "ladies.base.options"

local Linear = module.class("Linear",
  "inputs:integer outputs:integer weight:Tensor bias:Tensor")

--- The options of all layers with weights.
Linear.OPTIONS = {
  inputs = "positive integer", outputs = "positive integer", bias = {"boolean", true},
  init = {initialize.names, "glorot_uniform"}, rng = "Rng",
}

--- nn.linear{inputs =, outputs =, bias = true, init = "glorot_uniform", rng = Rng} -> Linear:
-- x -> x W + b for x of n x inputs, a Tensor or a sparse Matrix. The bias begins at zero.
function Linear.new(given)
  local opts = options.check("ladies.nn.linear", given, Linear.OPTIONS)
  local weight = core.zeros(opts.inputs, opts.outputs)
  initialize.by_name(opts.init)(weight, opts.rng)
  weight:requires_grad_()
  local bias
  if opts.bias then
    bias = core.zeros(opts.outputs)
    bias:requires_grad_()
  end
  return setmetatable({
    inputs = opts.inputs, outputs = opts.outputs, weight = weight, bias = bias,
  }, Linear)
end

--- linear:forward(x: Tensor | Matrix) -> Tensor: x W + b: n x outputs.
function Linear:forward(x)
  options.value("ladies.nn.linear", "x", x, "Tensor or Matrix")
  if x.n_cols ~= self.weight.n_rows then
    errors.fail(("nn.linear: x has %d columns, its weight %d rows"):format(x.n_cols,
      self.weight.n_rows))
  end
  if options.class_of(x) == "Tensor" then return x:linear(self.weight, self.bias) end
  return x:matmul(self.weight, self.bias)
end

function Linear:__tostring()
  return ("Linear %d -> %d%s"):format(self.inputs, self.outputs, self.bias and "" or ", no bias")
end

return Linear
