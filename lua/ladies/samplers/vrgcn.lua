--- The sampler VR-GCN, neighbour sampling with control variates. Chen, Zhu and Song, "Stochastic
-- Training of Graph Convolutional Networks with Variance Reduction", ICML 2018.
--
-- For the input of every layer but the first the sampler keeps a table H', the last value of every
-- node's row that was computed in training. A layer is
--     Z  =  (P^ (H - H') + P H') W        P^ has k entries of each row, P all of them
-- P^, k' = min(k, d) of a row's d entries drawn without replacement, times d / k', has mean P. So Z
-- is unbiased for a constant H', with the variance of H - H', which falls as the weights settle. H'
-- is a constant for the gradient. Only the k drawn neighbours are computed further down; the first
-- layer needs none of this, since P X is known.
--
-- To the model a block's `adj` is P^ and `control` = P H' - P^ H', so that Z = (adj H + control) W.
-- After the optimizer's step, H' takes over the H of the nodes that the batch computed.
--
-- With dropout, H' of "CV" is the H with elements dropped. "CVD" (section 5.1) keeps the mean mu
-- instead, what the network gives without dropout, and scales the noise H - mu apart, so that its
-- variance is right too: Z = (P^ sqrt(k'/d) (H - mu) + P^ (mu - mu') + P mu') W. It computes every
-- layer twice. (The authors' program, thu-ml/stochastic_gcn, lets no gradient flow through mu; here
-- it is that of the formula. Their sampled sets hold the destinations too; here a node is computed
-- when it was drawn.)

local core = require "ladies_core"
local arguments = require "ladies.sampling.arguments"
local declared = require "ladies.sampling.declared"
local errors = require "ladies.base.errors"
local inference = require "ladies.evaluation.inference"
local learning = require "ladies.sampling.learning"
local options = require "ladies.base.options"
local sampling = require "ladies.sampling"

local WHERE = "ladies.samplers.vrgcn"

local SPEC = declared.spec("vrgcn", {
  {"layers", "positive integer"},
  {"hidden", "positive integer"},
  {"samples", default = 2},
  {"cvd", "boolean", default = false},
  {"features", "Tensor or Matrix or nil"},
})

local VrGcn = learning.class(WHERE, "layers samples cvd features history")

-- An empty block: without an adj, a model's layer takes its input to be propagated already.
local PROPAGATED = {}

-- Samples layer l for dst: returns its matrix, its src, and the other fields of its block.
function VrGcn:estimate(l, dst, rng)
  local P, h = self.P, self.history[l - 1]                                -- H'
  local S, src = P:sample_rows(dst, self.samples[l], {rng = rng})
  local times = P:degrees(dst) / S:degrees():clamp(1, math.huge)          -- d / k'
  local adj = S:scale_rows(times)                                         -- P^
  return adj, src, {
    control = P:rows(dst):matmul(h) - adj:matmul(h[src]),
    noise = self.cvd and S:scale_rows(times:sqrt()) or nil,               -- P^ sqrt(k'/d)
  }
end

local function identity(n)
  return core.csr{
    n_rows = n, n_cols = n, offsets = core.range(1, n + 1), columns = core.range(1, n),
  }
end

-- Makes the first layer, which is exact.
function VrGcn:first(dst)
  if self.features then return identity(#dst), dst end
  return self.P:slice(dst)
end

-- Runs the layers of the model over a mini-batch, as batch.propagate, which model:forward calls
-- with the gathered features. Stores in batch.hidden[l] what the history of layer l + 1's input
-- will become.
local function propagate(model, h, batch, rng)
  local mean                                               -- mu of CVD
  batch.hidden = {}
  for l, block in ipairs(batch.blocks) do
    local near, mean_near, inner = h, h, block
    if block.control then
      inner = PROPAGATED
      mean_near = block.adj:matmul(mean or h) + block.control
      near = mean and mean_near + block.noise:matmul(h - mean) or mean_near
    elseif batch.features then
      inner = PROPAGATED
    end
    h = options.value(WHERE, ("what layer %d returns"):format(l),
      errors.within("layer %d", l, model.layer, model, l, near, inner, rng), "Tensor")
    mean = batch.cvd and model:layer(l, mean_near, inner) or nil
    batch.hidden[l] = mean or h
  end
  return h
end

function VrGcn:draw(seeds, rng)
  local batch = sampling.mini_batch(seeds, self.layers, function(l, dst)
    if l == 1 then return self:first(dst) end
    return self:estimate(l, dst, rng)
  end)
  batch.features, batch.cvd, batch.propagate = self.features, self.cvd, propagate
  function batch.after_step(own) self:update(own) end
  return batch
end

-- Writes the activations that training on the batch has computed into the history of its nodes.
function VrGcn:update(batch)
  learning.check_propagated(WHERE, batch.hidden)
  for l = 1, self.layers - 1 do
    self.history[l]:copy_rows_(batch.blocks[l].dst, batch.hidden[l])
  end
end

--- sampler:fill(model, features): the history becomes what the model gives now, by one exact
-- inference (DGL's example begins so; the authors begin with zeros).
function VrGcn:fill(model, features)
  if not inference.possible(model) then
    errors.fail(WHERE .. ": the model must have layer(i, h, block) and n_layers")
  end
  core.check_constant(WHERE, features)
  core.no_grad(function()
    local nodes = core.range(1, self.P.n_rows)
    local h = options.class_of(features) == "Rows" and features:to_tensor() or features
    for l = 1, self.layers - 1 do
      local block = {adj = self.P, dst = nodes, src = nodes}
      h = errors.within("layer %d", l, model.layer, model, l, h, block)
      self.history[l]:copy_(h)
    end
  end)
end

--- ladies.samplers.vrgcn(P, {layers =, hidden =, ...}) -> Sampler: a sampler(seeds, rng) ->
-- mini-batch, for models of `layers` layers whose inputs but the first are `hidden` wide, with
-- layer(l, h, block, rng) and a forward that calls batch.propagate: nn.gcn.
-- samples      k, the entries drawn of each row (2), neighbours of a node; one number for all
--              layers, or an array, whose first element is of no use: that layer is exact
-- cvd          whether noise of dropout is kept apart, see the file's header
-- features     the data set's, in memory, to compute P X once (N x features, dense) instead of
--              gathering whole neighbourhoods in the first layer of every batch
-- It is `adaptive`: batch i needs the step of batch i - 1. sampler.history[l], N x hidden, is H'
-- for the input of layer l + 1: (layers - 1) N hidden floats in all. They are zero at first (see
-- sampler:fill), and in sampler.state, which checkpoints hold, so that a run that is taken up again
-- has the same bits.
local function vrgcn(P, given)
  arguments.check_square(WHERE, P)
  local opts = options.check(WHERE, given, SPEC)
  local history, state = {}, {}
  for l = 1, opts.layers - 1 do
    history[l] = core.zeros(P.n_rows, opts.hidden)
    state[l] = {name = ("history.%d"):format(l), tensor = history[l]}
  end
  local features = opts.features
  if features then
    arguments.check_features(WHERE, P, features)
    features = P:matmul(options.class_of(features) == "Matrix" and features:to_dense() or features)
  end
  return setmetatable({
    name = WHERE, adaptive = true, P = P, layers = opts.layers,
    samples = arguments.samples(WHERE, opts), cvd = opts.cvd, features = features,
    history = history, state = state,
  }, VrGcn)
end

return vrgcn
