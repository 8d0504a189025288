--- The exact values that a sampler's are set beside: those of a network over the whole graph.
--
-- Every product sums in double, and its result is rounded to single precision once; so an exact
-- value is off by about 1e-7 of itself, whatever the number of terms.

local core = require "ladies_core"
local in_memory = require "ladies.data.in_memory"
local losses = require "ladies.nn.loss"
local optim = require "ladies.optim"
local training_step = require "ladies.training.step"

local exact = {}

local Exact = {__name = "ladies.lab.Exact"}
Exact.__index = Exact

--- exact.of(data, P, model, path): the layers of a model of ladies.lab.network over all of P:
-- layers[l]     Z of layer l, N x its width; `embedding` is the last one, the logits
-- hidden[l]     H of layer l = ReLU(Z), for l below the last
-- products[l]   H W of layer l, of which `sums[l]` = P H W is what a block of the layer estimates
-- signal[l]     ||P H W||_F^2 / N of layer l, and signal.embedding: what an error is divided by
-- row_sums      of P's rows
-- Also data, P, model, n_layers, and path, the parameters on the way (see network.train).
function exact.of(data, P, model, path)
  local self = setmetatable({
    data = data, P = P, model = model, path = path, n_layers = model.n_layers, layers = {},
    hidden = {}, products = {}, sums = {}, signal = {}, row_sums = P:row_sums(), gradients = {},
  }, Exact)
  self.optimizer = optim.sgd(model:parameters(), {lr = 1})
  core.no_grad(function()
    local h = in_memory(data.features)
    for l, layer in ipairs(model.layers) do
      local mapped = h:matmul_precise(layer.conv.weight:detach())
      local sum = P:matmul_precise(mapped)
      self.products[l], self.sums[l] = mapped, sum
      self.layers[l] = sum + layer.conv.bias
      self.signal[l] = sum:square():sum():item() / P.n_rows
      if l < self.n_layers then
        h = self.layers[l]:relu()
        self.hidden[l] = h
      end
    end
  end)
  self.embedding = self.layers[self.n_layers]
  self.signal.embedding = self.embedding:square():sum():item() / P.n_rows
  self.step = training_step.new({data = data, model = model}, self.optimizer)
  return self
end

--- Calls f(loss) with the loss of a mini-batch as training has it, after its backward pass, within
-- the step; the parameters' gradients are cleared behind it.
function Exact:with_loss(batch, f)
  local _ <close> = core.step()
  local loss = self.step:objective(batch)
  loss:backward()
  f(loss)
  self.optimizer:clear()
end

-- dL/dZ of the last layer, #nodes x classes, of the mean loss over the nodes.
local function output_gradient(self, nodes)
  local logits = self.embedding:rows(nodes):clone()
  logits:requires_grad_()
  local _ <close> = core.step()
  losses.of(self.data.labels)(logits, self.data.labels[nodes]):backward()
  return logits.grad:clone()
end

--- The exact gradient of the mean loss over the nodes, an Index, by parameter: an array of {name =,
-- tensor =, square = ||tensor||^2} in the order of the model's. From the output down, over the rows
-- that matter to the nodes,
--     dL/d(HW) = P^T dL/dZ    dL/dW = H^T dL/d(HW)    dL/db = column sums of dL/dZ
--     dL/dZ of the layer below = dL/d(HW) W^T where its Z > 0
function Exact:gradient(nodes)
  local key = nodes:hash()
  if self.gradients[key] then return self.gradients[key] end
  local by_tensor, upper, dst = {}, output_gradient(self, nodes), nodes
  core.no_grad(function()
    for l = self.n_layers, 1, -1 do
      local conv = self.model.layers[l].conv
      local U, src = self.P:slice(dst)
      local near = U:matmul_t_precise(upper)
      local h = (l > 1 and self.hidden[l - 1] or self.data.features):rows(src)
      by_tensor[conv.weight], by_tensor[conv.bias] = h:matmul_t_precise(near), upper:col_sums()
      if l > 1 then
        upper = near:matmul_precise(conv.weight:detach(), {transpose_b = true})
          * self.layers[l - 1]:rows(src):above(0)
      end
      dst = src
    end
  end)
  local list = {}
  for i, parameter in ipairs(self.model:named_parameters()) do
    local tensor = by_tensor[parameter.tensor]
    list[i] = {name = parameter.name, tensor = tensor, square = tensor:square():sum():item()}
  end
  self.gradients[key] = list
  return list
end

return exact
