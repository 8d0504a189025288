--- The sampler AS-GCN, which draws layers by probabilities that are trained with the network.
-- Huang, Zhang, Rong and Huang, "Adaptive Sampling Towards Fast Graph Representation Learning",
-- NeurIPS 2018, section 4.
--
-- From the output down, each layer draws s nodes, independently, for the nodes S above it:
--     q(u)  in proportion to  ||P(S,u)|| g(x(u)),   g(x) = relu(x w) + 1       w: trained
--     P~    =  P(S, drawn) diag(m(u) / (s q(u)))    m(u) = how often u was drawn
-- an unbiased estimate of P(S,:) for any w. What w is trained for is the variance of P~ H, H what
-- the layer is given in training: its mean over the |S| x d elements is
--     V  =  (sum over u of b(u) / q(u)  -  ||P(S,:) H||^2) / (s |S| d)
--     b(u)  =  ||P(S,u)||^2 ||h(u)||^2
-- and the loss gets lambda times the sum of the layers' V besides. Only the first term of V depends
-- on w; it is estimated from the nodes drawn, unbiased, and so is its gradient:
--     penalty  =  lambda / (s |S| d)  sum over drawn u of  (m(u) / (s q(u))) b(u) / q(u)
-- where the q in the brackets, a weight of the draw, is a constant. So is H: the network is trained
-- by its own loss, not to have small activations.
--
-- q is not that of the paper's equation 9, which has the sum of P(v,u) over the v in S where
-- ||P(S,u)|| is here: it is that of the authors' program (huangwb/AS-GCN), but for its attention.
-- The paper's skip connections, by which a layer also hears nodes two layers down, are not here;
-- the program has them commented out.
--
-- Besides, the program multiplies P(v,u) by a trained attention, so that its networks are no longer
-- those of P, and q by another; its penalty is the variance of the last layer's mean over S; and
-- gradients of loss and penalty pass through 1 / q(u) of the nodes drawn as if these did not depend
-- on q. That is not the gradient of the mean: for a loss that is linear in P~ H this is zero. One w
-- serves all layers there; here each has its own.

local core = require "ladies_core"
local declared = require "ladies.sampling.declared"
local initialize = require "ladies.nn.initialize"
local layerwise = require "ladies.sampling.layerwise"
local learning = require "ladies.sampling.learning"

local WHERE = "ladies.samplers.asgcn"

local SPEC = declared.spec("asgcn", {"samples", "layers", "features", "self_nodes", "seed",
  {"penalty", "non-negative number", default = 0.5,
    help = "of the variance of sampled layers, in the loss"},
  {"row_normalize", default = false},
})

local Asgcn = learning.class(WHERE, "samples features opts parameters layers")

-- Computes ||P(S,u)|| g(x(u)), to which the probabilities of layer l are in proportion, from the
-- norms of the nodes' columns.
function Asgcn:proportions(l, nodes, norms)
  local score = self.features:rows(nodes):matmul(self.parameters[l])
  return norms * (score:reshape(#nodes):relu() + 1)
end

-- Returns the layer-wise sampler that draws the mini-batches. Its blocks keep what the penalty is
-- computed from, such as ||P(S,u)||^2 of the nodes that may be drawn.
local function layers_of(self)
  local opts = self.opts
  return layerwise.new(WHERE, self.P, {
    samples = opts.samples, layers = opts.layers, draw = "wr", self_nodes = opts.self_nodes,
    normalize = opts.row_normalize and "rows" or "none",
    probability = function(U, near, at)
      local always = core.range(1, at.always)
      local squares = U:col_sums(2):copy_rows_(always, core.zeros(#always))
      return self:proportions(at.layer, near, squares:sqrt()), squares
    end,
    keep = function(drawn)
      return {near = drawn.near, squares = drawn.about, weight = drawn.weight,
        drawn = drawn.pick:slice(drawn.always + 1, #drawn.pick)}
    end,
  })
end

-- Returns lambda times the first term of layer l's V, estimated from the nodes that were drawn.
function Asgcn:variance(l, block, h)
  local p = self:proportions(l, block.near, block.squares:sqrt())
  local last = #block.src
  local own = core.range(last - #block.drawn + 1, last)          -- of src, those that were drawn
  local gain = block.squares[block.drawn] * h:row_sums(2)[own] * block.weight[own]
  local scale = self.samples[l] * #block.dst * h.n_cols
  return (gain * p:sum() / p[block.drawn]):sum() * (self.opts.penalty / scale)
end

-- Returns the sum of the layers' estimated variances, the term that a batch adds to the loss.
function Asgcn:penalty(batch)
  local total
  for l, block in ipairs(batch.blocks) do
    local h = learning.input_of(WHERE, batch, l)
    if #block.drawn > 0 then
      local one = self:variance(l, block, h)
      total = total and total + one or one
    end
  end
  return total or core.zeros(1)
end

function Asgcn:draw(seeds, rng)
  local batch = self.layers(seeds, rng)
  batch.propagate = learning.propagate
  function batch.penalty(own) return self:penalty(own) end
  return batch
end

--- ladies.samplers.asgcn(P, {samples = {s1, s2, ...}, features =, ...}) -> Sampler: the sampler
-- AS-GCN, sampler(seeds, rng) -> mini-batch, for models whose forward calls batch.propagate, as
-- nn.gcn's does. Its parameters are trained with the model's, by the penalty that its mini-batches
-- add to the loss. Nodes are drawn in proportion to ||P(S,u)|| (relu(x(u) w) + 1), as in the
-- authors' program, not by equation 9 of the paper; there are no skip connections.
-- samples        nodes drawn for each layer's input, the first of them nearest the features; or one
--                number for all of `layers`
-- features       of all nodes: what w is multiplied with
-- penalty        lambda (0.5)
-- self_nodes     nodes that are always included in a layer's input, besides those drawn: "none";
--                "previous", its own destinations, which then come first in src; "batch", the seeds
-- row_normalize  whether each row of a block is divided by its sum
-- seed           of the first w
-- It is `adaptive`: batch i needs the step of batch i - 1. sampler.parameters[l] is layer l's w, a
-- column of as many rows as features have columns.
local function asgcn(P, given)
  local opts, samples, rng = learning.checked(WHERE, P, given, SPEC)
  local parameters = {}
  for l = 1, #samples do
    local w = core.zeros(opts.features.n_cols, 1)
    parameters[l] = initialize.glorot_uniform(w, rng:fork(l)):requires_grad_()
  end
  local self = setmetatable({
    name = WHERE, adaptive = true, P = P, samples = samples, features = opts.features, opts = opts,
    parameters = parameters,
  }, Asgcn)
  self.layers = layers_of(self)
  return self
end

return asgcn
