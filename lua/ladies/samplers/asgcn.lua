--- AS-GCN: layers drawn by probabilities that are trained with the network. Huang, Zhang, Rong and
-- Huang, "Adaptive Sampling Towards Fast Graph Representation Learning", NeurIPS 2018, section 4.
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
-- ||P(S,u)|| is here: it is that of the authors' program (huangwb/AS-GCN), but for an attention.
-- The paper's skip connections, by which a layer also hears nodes two layers down, are not here;
-- the program has them commented out.
--
-- Besides, the program multiplies P(v,u) by a trained attention, so that its networks are no longer
-- those of P, and q by another; its penalty is the variance of the last layer's mean over S; and
-- gradients of loss and penalty pass through 1 / q(u) of the nodes drawn as if these did not depend
-- on q. That is not the gradient of the mean: for a loss that is linear in P~ H this is zero. One w
-- serves all layers there; here each has its own.

local core = require "ladies_core"
local fields = require "ladies.base.fields"
local initialize = require "ladies.nn.initialize"
local inputs = require "ladies.sampling.inputs"
local layer_inputs = require "ladies.sampling.layer_inputs"
local options = require "ladies.base.options"
local sampling = require "ladies.sampling"

local WHERE = "ladies.samplers.asgcn"

local SPEC = {
  samples = inputs.SAMPLES, layers = inputs.LAYERS,
  features = "Tensor or Matrix or Rows",
  penalty = {"non-negative number", 0.5},
  self_nodes = {"none|previous|batch", "none"},
  row_normalize = {"boolean", false},
  seed = {"integer", 1},
}

-- The stream of the first weights, apart from those of batches with the same seed.
local FIRST_WEIGHTS = -3

local Asgcn = {__name = WHERE}
Asgcn.__index = Asgcn
fields.of_class(Asgcn, "name adaptive batches_per_epoch P samples features opts parameters state")

-- What the probabilities of layer l are in proportion to, for nodes whose columns have these norms.
function Asgcn:proportions(l, nodes, norms)
  local score = self.features:rows(nodes):matmul(self.parameters[l])
  return norms * (score:reshape(#nodes):relu() + 1)
end

-- A block of layer l for dst; the nodes `keep` are always in it, the others drawn.
function Asgcn:block(l, dst, keep, rng)
  local U, near = self.P:slice(dst, {first = keep})
  local always = core.range(1, keep and #keep or 0)
  local squares = U:col_sums(2):copy_rows_(always, core.zeros(#always))
  local p = self:proportions(l, near, squares:sqrt())
  local pick, w = sampling.choice(p, self.samples[l], {draw = "wr", always = always, rng = rng})
  local adj = U:pick_cols(pick):scale_cols(w)
  if self.opts.row_normalize then adj = adj:row_normalize() end
  return {
    adj = adj, dst = dst, src = near[pick],
    near = near, squares = squares, drawn = pick:slice(#always + 1, #pick), weight = w,
  }
end

-- lambda times the first term of layer l's V, estimated from the nodes that were drawn.
function Asgcn:variance(l, block, h)
  local p = self:proportions(l, block.near, block.squares:sqrt())
  local last = #block.src
  local own = core.range(last - #block.drawn + 1, last)          -- of src, those that were drawn
  local gain = block.squares[block.drawn] * h:row_sums(2)[own] * block.weight[own]
  local scale = self.samples[l] * #block.dst * h.n_cols
  return (gain * p:sum() / p[block.drawn]):sum() * (self.opts.penalty / scale)
end

-- What a batch adds to the loss.
function Asgcn:penalty(batch)
  local total
  for l, block in ipairs(batch.blocks) do
    local h = layer_inputs.of(WHERE, batch, l)
    if #block.drawn > 0 then
      local one = self:variance(l, block, h)
      total = total and total + one or one
    end
  end
  return total or core.zeros(1)
end

function Asgcn:draw(seeds, rng)
  local dst, blocks, isolated = inputs.seeds(seeds), {}, 0
  for l = #self.samples, 1, -1 do
    local keep = inputs.kept(self.opts.self_nodes, seeds, dst)
    blocks[l] = sampling.at_layer(l, self.block, self, l, dst, keep, rng)
    isolated, dst = isolated + blocks[l].adj:empty_rows(), blocks[l].src
  end
  return {
    blocks = blocks, input = dst, output = seeds, stats = {isolated = isolated},
    propagate = layer_inputs.propagate, penalty = function(batch) return self:penalty(batch) end,
  }
end

--- ladies.samplers.asgcn(P, {samples = {s1, s2, ...}, features =, ...}) -> Sampler: a
-- sampler(seeds, rng) -> mini-batch, for models whose forward calls batch.propagate, as nn.gcn's
-- does. Its parameters are trained with the model's, by the penalty that its mini-batches add to
-- the loss. Nodes are drawn in proportion to ||P(S,u)|| (relu(x(u) w) + 1), as in the authors'
-- program, not by equation 9 of the paper; there are no skip connections.
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
  inputs.check_square(WHERE, P)
  local opts = options.check(WHERE, given, SPEC)
  inputs.check_features(WHERE, P, opts.features)
  local samples, parameters = inputs.samples(WHERE, opts), {}
  local rng = core.rng(opts.seed):fork(FIRST_WEIGHTS)
  for l = 1, #samples do
    local w = core.zeros(opts.features.n_cols, 1)
    parameters[l] = initialize.glorot_uniform(w, rng:fork(l)):requires_grad_()
  end
  return setmetatable({
    name = WHERE, adaptive = true, P = P, samples = samples, features = opts.features, opts = opts,
    parameters = parameters,
  }, Asgcn)
end

function Asgcn:__call(seeds, rng)
  core.check_constant(WHERE, self.P)
  return core.no_grad(self.draw, self, seeds, rng)
end

return asgcn
