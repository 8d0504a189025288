--- GRAPES: a network that learns which nodes to draw for another. Younesian, Daza, van Krieken,
-- Thanapalasingam and Bloem, "GRAPES: Learning to Sample Graphs for Scalable Graph Neural
-- Networks", TMLR 2024.
--
-- From the output down, a policy gives each node u next to the nodes S above it a number, and s of
-- them are drawn, one after the other, without replacement, in proportion to it:
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
local fields = require "ladies.base.fields"
local initialize = require "ladies.nn.initialize"
local inputs = require "ladies.sampling.inputs"
local options = require "ladies.base.options"
local sampling = require "ladies.sampling"

local WHERE = "ladies.samplers.grapes"

local SPEC = {
  samples = inputs.SAMPLES, layers = inputs.LAYERS,
  features = "Tensor or Matrix or Rows",
  objective = {"balance|reinforce", "balance"},
  reward_scale = {"positive number", 1e4},
  policy = {"positive integer", 64},
  self_nodes = {"none|previous|batch", "previous"},
  row_normalize = {"boolean", true},
  seed = {"integer", 1},
}

-- The stream of the first weights, apart from those of batches with the same seed.
local FIRST_WEIGHTS = -3

-- p stays above this, so that every node can be drawn.
local LEAST = 1e-6

local Grapes = {__name = WHERE}
Grapes.__index = Grapes
fields.of_class(Grapes, "name adaptive batches_per_epoch P samples features opts parameters state")

-- p for the columns of U = P(dst, near), the input of layer l.
function Grapes:proportions(l, U, dst, near)
  local own = self.parameters
  local from_above = U:matmul_t(self.features:rows(dst):matmul(own.W2))
  local hidden = (self.features:rows(near):matmul(own.W1) + from_above + own.b[l]):relu()
  return hidden:matmul(own.w):reshape(#near):sigmoid():clamp(LEAST, 1)
end

-- A block of layer l for dst; the nodes `keep` are always in it, the others drawn.
function Grapes:block(l, dst, keep, rng)
  local U, near = self.P:slice(dst, {first = keep})
  local always = core.range(1, keep and #keep or 0)
  local p = self:proportions(l, U, dst, near)
  local pick = sampling.choice(p, self.samples[l], {always = always, rng = rng})
  local adj = U:pick_cols(pick)
  if self.opts.row_normalize then adj = adj:row_normalize() end
  return {
    adj = adj, dst = dst, src = near[pick],
    rows = U, near = near, always = always, drawn = pick:slice(#always + 1, #pick),
  }
end

-- log q of layer l's draws; nil where nothing was left to chance.
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

-- What a batch of loss L adds to the loss.
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
  local dst, blocks, isolated = inputs.seeds(seeds), {}, 0
  for l = #self.samples, 1, -1 do
    local keep = inputs.kept(self.opts.self_nodes, seeds, dst)
    blocks[l] = sampling.at_layer(l, self.block, self, l, dst, keep, rng)
    isolated, dst = isolated + blocks[l].adj:empty_rows(), blocks[l].src
  end
  return {
    blocks = blocks, input = dst, output = seeds, stats = {isolated = isolated},
    penalty = function(batch, _, loss) return self:penalty(batch, loss) end,
  }
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
  inputs.check_square(WHERE, P)
  local opts = options.check(WHERE, given, SPEC)
  inputs.check_features(WHERE, P, opts.features)
  local samples, rng = inputs.samples(WHERE, opts), core.rng(opts.seed):fork(FIRST_WEIGHTS)
  local parameters = {b = {}}
  for name, shape in pairs{W1 = {opts.features.n_cols, opts.policy, 1},
    W2 = {opts.features.n_cols, opts.policy, 2}, w = {opts.policy, 1, 3}} do
    local weight = core.zeros(shape[1], shape[2])
    parameters[name] = initialize.glorot_uniform(weight, rng:fork(shape[3])):requires_grad_()
  end
  for l = 1, #samples do parameters.b[l] = core.zeros(opts.policy):requires_grad_() end
  if opts.objective == "balance" then parameters.log_z = core.zeros(1):requires_grad_() end
  return setmetatable({
    name = WHERE, adaptive = true, P = P, samples = samples, features = opts.features, opts = opts,
    parameters = parameters,
  }, Grapes)
end

function Grapes:__call(seeds, rng)
  core.check_constant(WHERE, self.P)
  return core.no_grad(self.draw, self, seeds, rng)
end

return grapes
