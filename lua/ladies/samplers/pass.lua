--- The sampler PASS, which draws neighbours by an attention that is trained by the loss of the
-- task. Yoon, Gervet, Shi, Niu, He and Yang, "Performance-Adaptive Sampling Strategy Towards Fast
-- and Accurate Graph Neural Networks", KDD 2021, sections 4.2 and 4.3.
--
-- Every node v draws k neighbours u, with replacement, and averages them:
--     q(u|v)  in proportion to  relu(a . (W1 x(v) . W1 x(u),  W2 x(v) . W2 x(u),  P(v,u)))
--     z(v)    =  (1 / k) sum over the draws of h(u)                mean: sum over u of q(u|v) h(u)
-- x are the features, and a, a softmax of three numbers, weighs the three. W1, W2 and a are trained
-- by the gradients of the loss in z, which ask for other neighbours (the score function, eq. 8):
--     dL/dtheta  =  sum over v of  dL/dz(v) . (1/k) sum over its draws of h(u) d log q(u|v)/dtheta
-- That is what backward finds where an entry of the block is m(u) / k times q(u|v) / q(u|v), the
-- lower q a constant: 1, with the gradient of log q. So nothing else is needed.
--
-- The draws estimate the mean with the weights q instead of P: sampler:expectation() is the matrix
-- of q, which exact inference may take in place of P. In the authors' program (linkedin/PASS-GNN)
-- a neighbour that was drawn twice counts once, so that q is not the mean; the attention is trained
-- by the z of the first layer alone, and every node has at most so many candidates, chosen once.

local core = require "ladies_core"
local declared = require "ladies.sampling.declared"
local errors = require "ladies.base.errors"
local initialize = require "ladies.nn.initialize"
local learning = require "ladies.sampling.learning"
local options = require "ladies.base.options"
local sampling = require "ladies.sampling"

local WHERE = "ladies.samplers.pass"

local SPEC = declared.spec("pass", {"samples", "layers", "features", "seed",
  {"attention", "positive integer", default = 64, help = "columns of the attention's weights"},
})

-- The number that is added to every score, so that a node whose scores are all zero draws
-- uniformly.
local LEAST = 1e-9

local Pass = learning.class(WHERE, "samples features parameters")

-- Computes q for the entries of U, rows of P; x are the features of its columns, those of its rows'
-- nodes first.
function Pass:probabilities(U, x)
  local own = self.parameters
  local function alike(W)
    local y = x:matmul(W)
    return U:dot_edges(y:slice(1, U.n_rows), y):reshape(U.nnz, 1)
  end
  local three = alike(own.W1):concat(alike(own.W2)):concat(U:entry_values():reshape(U.nnz, 1))
  local score = three:matmul(own.a:softmax():reshape(3, 1)):reshape(U.nnz):relu() + LEAST
  return U:with_values(score):row_normalize():entry_values()
end

-- Draws a layer of k neighbours for each of dst: returns its matrix, its src, and what its gradient
-- is computed from.
function Pass:block(dst, k, rng)
  local U, near = self.P:slice(dst, {first = dst})
  local q, own = self:probabilities(U, self.features:rows(near)), core.range(1, #dst)
  local S, pick, m = U:sample_rows(own, k,
    {p = q, replace = true, count = true, first = own, rng = rng})
  return S:with_values(m / k), near[pick],
    {rows = U, near = near, drawn = sampling.find(U.edge, S.edge)}
end

-- Returns the block with values of the same size that carry the gradient of log q.
function Pass:with_gradient(block)
  if #block.drawn == 0 then return block end
  local x = self.features:rows(block.near)
  local q = self:probabilities(block.rows, x)[block.drawn]
  local adj = block.adj:with_values(block.adj:entry_values() * (q / q:detach()))
  return setmetatable({adj = adj}, {__index = block})     -- what is known of edges stays
end

function Pass:propagate(model, h, batch, rng)
  batch.is_propagated = true
  for l, block in ipairs(batch.blocks) do
    h = errors.within("layer %d", l, model.layer, model, l, h, self:with_gradient(block), rng)
  end
  return h
end

function Pass:draw(seeds, rng)
  local batch = sampling.mini_batch(seeds, #self.samples, function(l, dst)
    return self:block(dst, self.samples[l], rng)
  end)
  function batch.propagate(model, h, own, forks) return self:propagate(model, h, own, forks) end
  function batch.after_step(own) learning.check_propagated(WHERE, own.is_propagated) end
  return batch
end

local PIECE = 1 << 14      -- rows of features that are read from their file at a time

-- Returns an object whose method matmul multiplies all features: the features themselves or, where
-- they lie in a file, an object that reads them some rows at a time.
local function multiplier(features)
  if options.class_of(features) ~= "Rows" then return features end
  return {matmul = function(_, W)
    local product = core.zeros(features.n_rows, W.n_cols)
    for first = 1, features.n_rows, PIECE do
      local last = math.min(first + PIECE - 1, features.n_rows)
      product:slice(first, last):copy_(features:slice(first, last):matmul(W))
    end
    return product
  end}
end

--- sampler:expectation() -> Matrix: q for every entry of P, what layers average to by the
-- parameters as they are. Costs two products of the features, and memory for P's entries.
function Pass:expectation()
  return core.no_grad(function()
    return self.P:with_values(self:probabilities(self.P, multiplier(self.features)))
  end)
end

--- ladies.samplers.pass(P, {samples = {k1, k2, ...}, features =, ...}) -> Sampler: a sampler(seeds,
-- rng) -> mini-batch, for models whose forward calls batch.propagate, as nn.gcn's does: there its
-- blocks get their gradients. A layer's destinations come first in its src, drawn or not.
-- samples     k, the draws of each node, those of the first layer, nearest the features, first; or
--             one number for all of `layers`
-- features    of all nodes
-- attention   the columns of W1 and W2 (64)
-- seed        of the first W1 and W2
-- It is `adaptive`: batch i needs the step of batch i - 1. sampler.parameters has W1, W2 and a.
local function pass(P, given)
  local opts, samples, rng = learning.checked(WHERE, P, given, SPEC)
  local parameters = {}
  for i, name in ipairs{"W1", "W2"} do
    local W = core.zeros(opts.features.n_cols, opts.attention)
    parameters[name] = initialize.glorot_uniform(W, rng:fork(i)):requires_grad_()
  end
  parameters.a = core.tensor{{0.01, 0.01, 1}}:requires_grad_()
  return setmetatable({
    name = WHERE, adaptive = true, P = P, samples = samples, features = opts.features,
    parameters = parameters,
  }, Pass)
end

return pass
