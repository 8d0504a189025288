--- Batch normalisation (Ioffe and Szegedy, ICML 2015): scales each column to mean 0 and variance 1,
-- then applies a gain and a shift per column. In training (algorithm 1) mean and variance are those
-- of the rows of the mini-batch, and gradients go through them; evaluation (algorithm 2) uses
-- running averages of both, so that the logits of a node do not depend on the other nodes of its
-- batch.

local core = require "ladies_core"
local module = require "ladies.nn.module"
local options = require "ladies.base.options"

local BatchNorm = module.class("BatchNorm",
  "width:integer momentum:number eps:number gain:Tensor bias:Tensor mean:Tensor variance:Tensor")

--- nn.batch_norm{width =, momentum = 0.1, eps = 1e-5} -> BatchNorm: for tensors of n x width.
-- Gains begin at one, shifts at zero; the running mean at zero and the variance at one. These two
-- are frozen parameters: files, checkpoints and the best model have them, and no optimizer takes
-- them.
function BatchNorm.new(given)
  local opts = options.check("ladies.nn.batch_norm", given, {
    width = "positive integer",
    momentum = {"number in [0, 1]", 0.1},
    eps = {"positive number", 1e-5},
  })
  return setmetatable({
    width = opts.width, momentum = opts.momentum, eps = opts.eps,
    gain = core.ones(opts.width):requires_grad_(), bias = core.zeros(opts.width):requires_grad_(),
    mean = core.zeros(opts.width):requires_grad_(false),
    variance = core.ones(opts.width):requires_grad_(false),
  }, BatchNorm)
end

local function move(running, now, momentum)
  running:copy_(running * (1 - momentum) + now * momentum)
end

-- Moves the running averages towards the mean and variance of n rows. The variance is the unbiased
-- one, over n - 1, which a single row does not have.
local function follow(self, mean, variance, n)
  move(self.mean, mean, self.momentum)
  if n > 1 then move(self.variance, variance * (n / (n - 1)), self.momentum) end
end

--- norm:forward(x [, rng]) -> Tensor: the normalised rows, n x width. A generator `rng` only says
-- that this is training, as for nn.dropout; nothing is drawn. Rows are then normalised by their own
-- mean and variance, towards which the running ones move by `momentum`, otherwise by the running
-- ones.
function BatchNorm:forward(x, rng)
  options.value("ladies.nn.batch_norm", "x", x, "Tensor")
  if rng then
    local y, mean, variance = x:batch_norm(self.gain, self.bias, self.eps)
    follow(self, mean, variance, x.n_rows)
    return y
  end
  local scale = self.gain / (self.variance + self.eps):sqrt()
  local scaled = x * scale
  return module.free_after(scaled, scaled + (self.bias - self.mean * scale))
end

function BatchNorm:__tostring()
  return ("BatchNorm %d"):format(self.width)
end

return BatchNorm
