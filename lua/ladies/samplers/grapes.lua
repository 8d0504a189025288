--- The sampler GRAPES, in which a second network (the policy) learns which nodes to draw.
-- Younesian, Daza, van Krieken, Thanapalasingam and Bloem, "GRAPES: Learning to Sample Graphs for
-- Scalable Graph Neural Networks", TMLR 2024.
--
-- From the output down, the policy computes a number for each neighbour u of the nodes S above a
-- layer, and s of these are drawn, one after the other, without replacement, in proportion to it:
--     p(u)  =  sigmoid(relu(x(u) W1 + P(S,u)^T x(S) W2 + b_l) w)               l: the layer
--     q     =  product over the draws of  p(u) / (sum of p over u and all that is not drawn before)
-- The block is P(S, drawn), row-normalised, without weights: the policy is there to find nodes that
-- help, not to estimate a mean. It is trained by the loss L of the batch, a constant here:
--     balance     (log Z + log q + alpha L)^2 / alpha^2         trajectory balance of a GFlowNet,
--                 whose optimum draws in proportion to exp(-alpha L); Z is trained as well
--     reinforce   L log q                                       the gradient of the mean of L
-- with log q summed over the layers.
--
-- The authors' program (dfdazac/grapes) draws the same way (by Gumbel noise), but counts log q as
-- that of independent coins, log p(u) for what was drawn and log(1 - p(u)) for the rest, which is
-- another distribution. Its policy is a GCN of two layers that also reads in which layers a node
-- was drawn already. It does not divide by alpha^2, which Adam does not notice.

local core = require "ladies_core"
local declared = require "ladies.sampling.declared"
local initialize = require "ladies.nn.initialize"
local layerwise = require "ladies.sampling.layerwise"
local learning = require "ladies.sampling.learning"

local WHERE = "ladies.samplers.grapes"

local SPEC = declared.spec("grapes", {"samples", "layers", "features", "row_normalize", "seed",
  {"objective", "balance|reinforce", default = "balance",
    help = "of the policy: trajectory balance of a GFlowNet, or the score function"},
  {"reward_scale", "positive number", default = 1e4, help = "of the loss, in trajectory balance"},
  {"policy", "positive integer", default = 64, help = "hidden columns of the policy"},
  {"self_nodes", default = "previous"},
})

-- The least p, so that every node can be drawn.
local LEAST = 1e-6

local Grapes = learning.class(WHERE, "samples features opts parameters layers")

-- Computes p for the columns of U = P(dst, near), the candidates for the input of layer l.
function Grapes:proportions(l, U, dst, near)
  local own = self.parameters
  local from_above = U:matmul_t(self.features:rows(dst):matmul(own.W2))
  local hidden = (self.features:rows(near):matmul(own.W1) + from_above + own.b[l]):relu()
  return hidden:matmul(own.w):reshape(#near):sigmoid():clamp(LEAST, 1)
end

-- Returns the layer-wise sampler that draws the mini-batches. Its blocks keep what log q is
-- computed from.
local function layers_of(self)
  local opts = self.opts
  return layerwise.new(WHERE, self.P, {
    samples = opts.samples, layers = opts.layers, weight = "none", self_nodes = opts.self_nodes,
    normalize = opts.row_normalize and "rows" or "none",
    probability = function(U, near, at) return self:proportions(at.layer, U, at.dst, near) end,
    keep = function(drawn)
      return {rows = drawn.rows, near = drawn.near, always = core.range(1, drawn.always),
        drawn = drawn.pick:slice(drawn.always + 1, #drawn.pick)}
    end,
  })
end

-- Returns log q of layer l's draws; nil where all candidates were taken, so that nothing was
-- random.
function Grapes:log_probability(l, block)
  local k, n = #block.drawn, #block.near
  if k == 0 or k == n - #block.always then return nil end
  local p = self:proportions(l, block.rows, block.dst, block.near)
  local taken = core.ones(k + #block.always):scatter_add(block.always .. block.drawn, n)
  local never = (p * (1 - taken)):sum()
  local backwards = block.drawn[k + 1 - core.range(1, k)]
  local after = p[backwards]:cumsum()
  return (p[backwards]:log() - (after + never):log()):sum()
end

-- Returns the policy's own loss on a batch of loss L, which is added to L.
function Grapes:penalty(batch, loss)
  local opts, log_q = self.opts, nil
  for l, block in ipairs(batch.blocks) do
    local one = self:log_probability(l, block)
    log_q = log_q and one and log_q + one or log_q or one
  end
  if not log_q then return core.zeros(1) end
  if opts.objective == "reinforce" then
    return (log_q - log_q:detach()) * loss:item()
  end
  local alpha = opts.reward_scale
  return ((self.parameters.log_z + log_q) / alpha + loss:item()):square()
end

function Grapes:draw(seeds, rng)
  local batch = self.layers(seeds, rng)
  function batch.penalty(own, _, loss) return self:penalty(own, loss) end
  return batch
end

--- ladies.samplers.grapes(P, {samples = {s1, s2, ...}, features =, ...}) -> Sampler: a
-- sampler(seeds, rng) -> mini-batch. Its parameters are trained with the model's, by the penalty
-- that its mini-batches add to the loss.
-- samples        nodes drawn for each layer's input, the first of them nearest the features; or one
--                number for all of `layers`
-- features       of all nodes: what the policy reads
-- objective      "balance" or "reinforce", see the file's header
-- reward_scale   alpha of "balance" (1e4)
-- policy         the policy's hidden columns (64)
-- self_nodes     nodes that are always included in a layer's input, besides those drawn: "none";
--                "previous" (default), its own destinations, which then come first in src; "batch",
--                the seeds
-- row_normalize  whether each row of a block is divided by its sum
-- seed           of the policy's first weights
-- It is `adaptive`: batch i needs the step of batch i - 1. sampler.parameters has W1, W2, b (one
-- for each layer), w and log_z.
local function grapes(P, given)
  local opts, samples, rng = learning.checked(WHERE, P, given, SPEC)
  local parameters = {b = {}}
  for name, shape in pairs{W1 = {opts.features.n_cols, opts.policy, 1},
    W2 = {opts.features.n_cols, opts.policy, 2}, w = {opts.policy, 1, 3}} do
    local weight = core.zeros(shape[1], shape[2])
    parameters[name] = initialize.glorot_uniform(weight, rng:fork(shape[3])):requires_grad_()
  end
  for l = 1, #samples do parameters.b[l] = core.zeros(opts.policy):requires_grad_() end
  if opts.objective == "balance" then parameters.log_z = core.zeros(1):requires_grad_() end
  local self = setmetatable({
    name = WHERE, adaptive = true, P = P, samples = samples, features = opts.features, opts = opts,
    parameters = parameters,
  }, Grapes)
  self.layers = layers_of(self)
  return self
end

return grapes
