--- Computes the exact values with which a sampler's estimates are compared: those of a network over
-- the whole graph.
--
-- Every product sums in double, and its result is rounded to single precision once; so an exact
-- value is off by about 1e-7 of itself, whatever the number of terms.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local full = require "ladies.samplers.full"
local in_memory = require "ladies.data.in_memory"
local options = require "ladies.base.options"
local optim = require "ladies.optim"
local training_step = require "ladies.training.loop.step"

local exact = {}

local Exact = {__name = "ladies.lab.Exact"}
Exact.__index = Exact

-- Adds layer l: what a block of it multiplies, and the product with all of P.
local function add_products(self, l, mapped)
  local sum = self.P:matmul_precise(mapped)
  self.products[l], self.sums[l] = mapped, sum
  self.signal[l] = sum:square():sum():item() / self.P.n_rows
  return sum
end

-- Computes the layers of a GCN.
local function layers_of_gcn(self)
  local h = in_memory(self.data.features)
  for l, layer in ipairs(self.model.layers) do
    local sum = add_products(self, l, h:matmul_precise(layer.conv.weight:detach()))
    self.layers[l] = sum + layer.conv.bias
    if l < self.n_layers then
      h = self.layers[l]:relu()
      self.hidden[l] = h
    end
  end
end

-- Returns the rows of nodes in what a layer hands to the next one.
local function rows_of(self, h)
  if type(h) == "table" then h = h.last end
  if options.class_of(h) == "Matrix" then return h:to_dense() end
  if options.class_of(h) == "Tensor" then return h end
  errors.fail(("%s: a layer of the model %s hands on what has no rows of nodes, as a Tensor or in "
    .. "a field `last`"):format(self.problem.where, self.problem.config.model))
end

-- Computes the layers of any model by its function `layer`.
local function layers_of_model(self)
  local P, edges = self.P, rawget(self.data, "edges")
  local all = core.range(1, P.n_rows)
  local block = {adj = P, dst = all, src = all}
  if edges then edges:attach(block) end
  local h = in_memory(self.data.features)
  for l = 1, self.n_layers do
    add_products(self, l, rows_of(self, h))
    h = self.model:layer(l, h, block)
    self.layers[l] = rows_of(self, h)
    self.hidden[l] = l < self.n_layers and self.layers[l] or nil
  end
end

--- exact.of(problem, P, model, path): computes the layers of a model of ladies.lab.error.network
-- over all of P; problem: see ladies.lab.problem:
-- layers[l]     Z of layer l, N x its width; `embedding` is the last one, what the loss reads
-- hidden[l]     H of layer l = ReLU(Z), for l below the last
-- products[l]   H W of layer l, of which `sums[l]` = P H W is what a block of the layer estimates
-- signal[l]     ||P H W||_F^2 / N of layer l, and signal.embedding: what an error is divided by
-- row_sums      of P's rows
-- Also data, P, model, n_layers, and path, the parameters on the way (see network.train). A model
-- that is no GCN may do anything with a node's neighbours: layers[l] and hidden[l] are then what
-- layer l gives, and the products are H, the rows that it is given, without a W.
function exact.of(problem, P, model, path)
  local self = setmetatable({
    problem = problem, data = problem.data, P = P, model = model, path = path,
    n_layers = model.n_layers, layers = {}, hidden = {}, products = {}, sums = {}, signal = {},
    row_sums = P:row_sums(), gradients = {}, task = problem.task,
  }, Exact)
  self.optimizer = optim.sgd(model:parameters(), {lr = 1})
  core.no_grad(problem.is_gcn and layers_of_gcn or layers_of_model, self)
  self.embedding = self.layers[self.n_layers]
  self.signal.embedding = self.embedding:square():sum():item() / P.n_rows
  self.step = training_step.new({data = self.data, task = self.task, model = model},
    self.optimizer)
  return self
end

--- Returns what layer l makes of rows before they are summed over neighbours: x W in a GCN, and
-- otherwise x.
function Exact:mapped(l, x)
  if self.problem.is_gcn then return x:matmul(self.model.layers[l].conv.weight) end
  return options.class_of(x) == "Matrix" and x:to_dense() or x
end

--- Calls f(loss) with the loss of a mini-batch as in training, after its backward pass and within
-- the step; the parameters' gradients are cleared afterwards.
function Exact:with_loss(batch, f)
  local _ <close> = core.step()
  local loss = self.step:objective(batch)
  loss:backward()
  f(loss)
  self.optimizer:clear()
end

-- Returns dL/dZ of the last layer, #nodes x classes, for the mean loss over the nodes.
local function output_gradient(self, nodes)
  local logits = self.embedding:rows(nodes):clone()
  logits:requires_grad_()
  local _ <close> = core.step()
  local batch = {output = nodes, units = nodes}
  self.task.loss(logits, self.task.targets(nodes), nil, batch, self.model):backward()
  return logits.grad:clone()
end

-- Returns gradients by parameter as an array of {name =, tensor =, square = ||tensor||^2} in the
-- order of the model's; of(tensor) gives that of a parameter.
local function listed(self, of)
  local list = {}
  for i, parameter in ipairs(self.model:named_parameters()) do
    local tensor = of(parameter.tensor)
    list[i] = {name = parameter.name, tensor = tensor, square = tensor:square():sum():item()}
  end
  return list
end

--- Returns the exact gradient of the loss of the mini-batch that draw(sampler) makes by a sampler
-- of whole neighbourhoods, as `gradient` does; it is kept under a key.
function Exact:gradient_of(key, draw)
  if not self.gradients[key] then
    local batch = draw(full(self.P, {layers = self.n_layers}))
    self:with_loss(batch, function()
      self.gradients[key] = listed(self, function(parameter) return parameter.grad:clone() end)
    end)
  end
  return self.gradients[key]
end

-- Returns the gradient of a loss over nodes for any model, by a mini-batch of whole neighbourhoods.
local function gradient_of_nodes(self, key, nodes)
  if self.task.draw then
    errors.fail(("%s: gradient(nodes) is of nodes, and the task %s is of %ss"):format(
      self.problem.where, self.task.name, self.task.unit))
  end
  return self:gradient_of(key, function(sampler)
    local batch, edges = sampler(nodes), rawget(self.data, "edges")
    return edges and edges:attach_all(batch) or batch
  end)
end

--- Returns the exact gradient of the mean loss over the nodes, an Index, by parameter: an array of
-- {name =, tensor =, square = ||tensor||^2} in the order of the model's. In a GCN, from the output
-- down, over the rows that matter to the nodes,
--     dL/d(HW) = P^T dL/dZ    dL/dW = H^T dL/d(HW)    dL/db = column sums of dL/dZ
--     dL/dZ of the layer below = dL/d(HW) W^T where its Z > 0
function Exact:gradient(nodes)
  local key = nodes:hash()
  if self.gradients[key] then return self.gradients[key] end
  if not self.problem.is_plain then return gradient_of_nodes(self, key, nodes) end
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
  self.gradients[key] = listed(self, function(parameter) return by_tensor[parameter] end)
  return self.gradients[key]
end

return exact
