--- The two-layer network whose embeddings are estimated, Z = P H W2 with H = ReLU(P X W1 + b1), and
-- the activations that it had some steps of training ago, which are VR-GCN's history.

local core = require "ladies_core"
local full = require "ladies.samplers.full"
local losses = require "ladies.nn.loss"
local nn = require "ladies.nn"
local optim = require "ladies.optim"

local Network = {__name = "experiments.paper.variance.Network", n_layers = 2}
Network.__index = Network

local BATCH, LR = 512, 0.01   -- of the training that settles the weights

-- The stream of its draws, apart from those of measure.lua with the same seed.
local TRAINING = 3

--- Returns a network of given weights: P (N x N), the features' products X W1 (N x K, a Tensor),
-- the first bias b1 (a vector of K, or nil) and W2 (K x C). Linear maps before the first
-- propagation are taken once, since P~ (X W1) = (P~ X) W1. hidden is H, products H W2, exact Z, all
-- of all nodes; column_norms has the ||P(:,u)||^2.
function Network.new(P, first, bias, second)
  local self = setmetatable({P = P, features = first, bias = bias, second = second}, Network)
  self.hidden = self:layer(1, first, {adj = P})
  self.products = self.hidden:matmul(second)
  self.exact = P:matmul(self.products)
  self.column_norms = P:col_sums(2)
  return self
end

--- Layer i over block.adj, or with h propagated already, as models have it.
function Network:layer(i, h, block)
  if block.adj then h = block.adj:matmul(h) end
  if i == 2 then return h:matmul(self.second) end
  return (self.bias and h + self.bias or h):relu()
end

--- Returns the two-layer estimate of a mini-batch's embeddings, a row for each node of
-- batch.output.
function Network:estimate(batch)
  local h = self.features[batch.input]
  if batch.propagate then return batch.propagate(self, h, batch) end
  for i, block in ipairs(batch.blocks) do h = self:layer(i, h, block) end
  return h
end

--- Returns the one-layer estimate, above an exact H: batch has one block.
function Network:estimate_top(batch)
  return batch.blocks[1].adj:matmul(self.products[batch.input])
end

local function of_model(model, data, P)
  local first, second = model.layers[1].conv, model.layers[2].conv
  return core.no_grad(function()
    return Network.new(P, data.features:matmul(first.weight), first.bias:clone(),
      second.weight:clone())
  end)
end

-- One step of Adam on random training nodes, with their whole neighbourhoods.
local function step(model, data, sampler, optimizer, rng)
  local seeds = data.train[core.sampling.uniform(#data.train, math.min(BATCH, #data.train),
    {rng = rng})]
  local batch = sampler(seeds)
  local _ <close> = core.step()
  local logits = model:forward(data.features, batch, false)
  losses.of(data.labels)(logits, data.labels[batch.output]):backward()
  optimizer:step()
end

--- Returns the network of a data set after `steps` steps of training (Adam, rate 0.01, batches of
-- at most 512 training nodes with whole neighbourhoods; 0: the first weights), and `history`, the H
-- that it had `lag` steps before. P: "sym" or "row"; hidden: K; C is the number of classes.
function Network.train(data, opts)
  local P = data.graph:normalize(opts.normalize)
  local model = nn.gcn{
    inputs = data.features.n_cols, hidden = opts.hidden, outputs = data.classes, layers = 2,
    normalize = opts.normalize, seed = opts.seed,
  }
  local sampler, optimizer = full(P, {layers = 2}), optim.adam(model:parameters(), {lr = LR})
  local rng, history = core.rng(opts.seed):fork(TRAINING), nil
  for i = 0, opts.steps do
    if i > 0 then step(model, data, sampler, optimizer, rng:fork(i)) end
    if i == opts.steps - opts.lag then history = of_model(model, data, P).hidden end
  end
  local network = of_model(model, data, P)
  network.history, network.data = history, data
  return network
end

return Network
