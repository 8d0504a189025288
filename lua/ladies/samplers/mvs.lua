--- The sampler MVS-GNN, which draws seeds by the norms of their gradients. Cong, Forsati, Kandemir
-- and Mahdavi, "Minimal Variance Sampling with Provable Guarantees for Fast Training of Graph
-- Neural Networks", KDD 2020.
--
-- Most samplers estimate embeddings; this one estimates the mean of the gradients over the N
-- training nodes. Of all ways to have B seeds in a batch, expected, the least variance has
--     p(i)  =  min(1, g(i) / mu),   sum of p(i) = B        g(i): norm of seed i's gradient
--     loss  =  sum over the seeds of  l(i) / (N p(i))      unbiased for any p > 0
-- with each seed in the batch or not on its own. g is measured on a large batch of training nodes
-- every so many steps, and the batches until the next time are drawn from these. What is below the
-- seeds is drawn by another sampler: in the paper, and here by default, that of VR-GCN.
--
-- g(i) is the norm of the gradient of seed i's loss in its logits. A constant times it bounds the
-- norm of the gradient in the weights (Katharopoulos and Fleuret, ICML 2018, section 3.2). The
-- authors' program takes the norms of the gradients in the weights instead, summed over all layers,
-- by hooks in its layers. A norm counts as at least `floor` times the mean norm: otherwise a seed
-- whose class was certain when it was measured would have a weight without bound once it is not any
-- more. A draw without any seed is made again; so the weights are multiplied by the probability
-- that a draw has a seed.

local core = require "ladies_core"
local arguments = require "ladies.sampling.arguments"
local declared = require "ladies.sampling.declared"
local errors = require "ladies.base.errors"
local fields = require "ladies.base.fields"
local label_kinds = require "ladies.data.labels"
local losses = require "ladies.nn.loss"
local options = require "ladies.base.options"
local sampling = require "ladies.sampling"
local tables = require "ladies.base.tables"

local WHERE = "ladies.samplers.mvs"

local SPEC = declared.spec("mvs", {
  {"train", "Index"},
  {"model", "table or nil"},
  {"data", "table or nil"},
  {"task", "table or nil"},
  {"norms", "callable or nil"},
  {"batch_size", "positive integer", default = 512},
  {"large", "positive integer or nil", follows = "10 batches, at most all",
    help = "training nodes whose gradients are measured, and drawn from"},
  {"refresh", "positive integer", default = 20, help = "batches between two measurements"},
  {"floor", "positive number", default = 0.1,
    help = "the least norm of a gradient, as a share of the mean"},
})

local Mvs = {__name = WHERE}
Mvs.__index = Mvs
fields.of_class(Mvs, "name adaptive batches_per_epoch P inner train norms large refresh floor size "
  .. "measured state parameters")

-- Returns a function norms(nodes, rng) -> Tensor, which computes the norm of the gradient of each
-- node's loss in its logits, by the model as it is at the time, without dropout.
local function gradient_norms(model, data, task, sampler)
  if not task then label_kinds.check_there(WHERE, data) end
  local loss = task and task.loss or losses.of(data.labels)
  local targets = task and task.targets or function(nodes) return data.labels[nodes] end
  return function(nodes, rng)
    local batch = sampler(nodes, rng)
    local logits = core.no_grad(model.forward, model, data.features, batch, false)
    logits = logits:clone():requires_grad_()
    do
      local _ <close> = core.step()
      loss(logits, targets(batch.output), core.ones(#batch.output)):backward()
    end
    return logits.grad:row_sums(2):sqrt()[sampling.find(batch.output, nodes)]
  end
end

-- Measures the norms of a large random batch of training nodes; those of all others become zero.
function Mvs:measure(rng)
  local positions = sampling.uniform(#self.train, self.large, {rng = rng:fork(1)})
  local norms = options.value(WHERE, "what norms returns", self.norms(self.train[positions],
    rng:fork(2)), "Tensor")
  local finite, value = norms:is_finite()
  if norms.ndim ~= 1 or #norms ~= #positions or not finite or norms:min() < 0 then
    errors.fail(("%s: norms must return a vector of %d finite numbers, none of them negative, got "
      .. "%s"):format(WHERE, #positions, finite and tostring(norms) or value))
  end
  local least = self.floor * norms:mean():item()
  if least == 0 then norms, least = core.ones(#norms), 1 end
  self.measured:fill_(0):copy_rows_(positions, norms:clamp(least, math.huge))
end

function Mvs:__call(seeds, rng, place)
  if not place then return self.inner(seeds, rng) end
  local number = (place.epoch - 1) * self.batches_per_epoch + place.index
  if (number - 1) % self.refresh == 0 then self:measure(rng:fork(1)) end
  local pick, w = sampling.poisson(self.measured, self.size, {rng = rng:fork(2)})
  local chosen = self.train[pick]
  local batch = self.inner(chosen, rng:fork(3))
  local places = sampling.find(batch.output, chosen)
  batch.loss_weight = (w / self.large):scatter_add(places, #batch.output)
  return batch
end

--- ladies.samplers.mvs(inner: function | table, {train =, model =, data =, ...}) -> Sampler: a
-- sampler that draws its own seeds, and what is below them by the sampler `inner`, which is given
-- seeds.
-- train        the training nodes
-- model, data  of these are the gradients: of the model's loss as it is when they are measured,
--              cross-entropy, or binary cross-entropy where a node may have several classes, over a
--              mini-batch of inner, without dropout
-- task         whose loss it is in place of these
-- norms        in place of model and data: norms(nodes, rng) -> Tensor, a number of 0 or more for
--              each node
-- batch_size   B, the number of seeds that is expected (512)
-- refresh      batches between two measurements of norms (20)
-- large        training nodes of which norms are measured, uniformly drawn (10 B, or all of them);
--              only these are drawn from until the next time
-- floor        the least norm, as a share of the mean (0.1)
-- It is `adaptive`, and has batches_per_epoch: N / B, at least 1. sampler.measured holds the norms,
-- one for each of `train`, and is in sampler.state for checkpoints. Without a place in an epoch
-- (the third argument that ladies.batches gives), sampler(seeds, rng) is inner's batch of the
-- seeds.
local function mvs(inner, given)
  options.value(WHERE, "the inner sampler", inner, "callable")
  local opts = options.check(WHERE, given, SPEC)
  arguments.check_train(WHERE, opts.train)
  if not opts.norms and not (opts.model and opts.data) then
    errors.fail(WHERE .. ": there must be model and data, or norms")
  end
  local known = type(inner) == "table" and inner or {}
  if known.batches_per_epoch then
    errors.fail(WHERE .. ": the inner sampler must be one that is given its seeds")
  end
  local measured = core.zeros(#opts.train)
  return setmetatable({
    name = WHERE, adaptive = true, batches_per_epoch = math.max(1, #opts.train // opts.batch_size),
    P = known.P, inner = inner, parameters = rawget(known, "parameters"), train = opts.train,
    norms = opts.norms or gradient_norms(opts.model, opts.data, opts.task, inner),
    large = math.min(opts.large or 10 * opts.batch_size, #opts.train), refresh = opts.refresh,
    floor = opts.floor, size = opts.batch_size, measured = measured,
    state = tables.append({{name = "norms", tensor = measured}}, known.state or {}),
  }, Mvs)
end

return mvs
