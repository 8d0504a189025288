--- The bandit sampler, which draws neighbours by probabilities that every node learns for itself.
-- Liu, Wu, Zhang, Zhou, Yang, Song and Qi, "Bandit Samplers for Training Graph Neural Networks",
-- NeurIPS 2020 (GNN-BS), section 4 and Algorithm 1.
--
-- The estimate of row v of P H from k draws u with probabilities q(v,u) has a variance that goes
-- with the sum of P(v,u)^2 ||h(u)||^2 / q(v,u): least for q as |P(v,u)| ||h(u)||, which changes
-- while the network learns, and is known of drawn neighbours only. So each node is the player of a
-- bandit (sampling/edge_bandits.lua), paid by how much its draws lower that variance:
--     P~(v,u)  =  c(v,u) P(v,u)           c: design weights, m / (k q) of m draws with replacement
--     r(v,u)   =  P(v,u)^2 ||h(u)||^2 / (k q(v,u)^2)         what one more draw of u is worth
--     w(v,u)  <-  w(v,u) exp(min(cap, delta c(v,u) r(v,u)) / d(v))      if drawn, after the step
-- P~ is unbiased for any q > 0, and so is c r, 0 for those not drawn, for r. That is EXP3; players
-- are paid alike for all their neighbours, and stay where they are, at q as |P(v,u)| ||h(u)||.
-- h is what the layer is given in training. Every layer has weights of its own.
--
-- The authors' program (xavierzw/gnn-bs) pays r alone, so that its players would end at the
-- squares of these, where the variance is that of uniform draws; and divides delta (0.01) by d(v)^2
-- anew for every entry that it goes through, so that all but the first are paid next to nothing. It
-- draws without replacement, and still divides by k q, which is biased; here c are the unbiased
-- weights of such draws (sampling.choice's debias). As there, nodes with no more than k neighbours
-- have them all. It takes attention in place of P(v,u) ||h(u)||, and has one set of weights for all
-- layers.

local core = require "ladies_core"
local declared = require "ladies.sampling.declared"
local edge_bandits = require "ladies.sampling.edge_bandits"
local learning = require "ladies.sampling.learning"
local sampling = require "ladies.sampling"

local WHERE = "ladies.samplers.bandit"

local SPEC = declared.spec("bandit", {"samples", "layers", "eta", "cap",
  {"delta", "positive number", default = 0.001, help = "how fast players learn"},
  {"replace", "boolean", default = false, help = "neighbours are drawn with replacement"},
  {"row_normalize", default = false},
})

local Bandit = learning.class(WHERE, "samples players delta cap replace row_normalize")

-- Draws layer l for the destinations dst: returns its matrix, its src, and what the block keeps for
-- learning.
function Bandit:block(l, dst, rng)
  local U, near = self.P:slice(dst, {first = dst})
  local q, own = self.players:probabilities(l, U), core.range(1, #dst)
  local S, pick, w = U:sample_rows(own, self.samples[l],
    {p = q, replace = self.replace, debias = not self.replace, first = own, rng = rng})
  local adj = S:scale_entries(w)
  if self.row_normalize then adj = adj:row_normalize() end
  return adj, near[pick], {
    drawn = S, weight = w, degrees = U:degrees(),
    q = q[sampling.find(U.edge, S.edge)],
  }
end

-- Pays the players of a mini-batch for the neighbours that they drew, after the step.
function Bandit:learn(batch)
  for l, block in ipairs(batch.blocks) do
    local S = block.drawn
    local norms = learning.input_of(WHERE, batch, l):row_sums(2)[S:col_of()]
    local gain = (S:entry_values() / block.q):square() * norms
    local r = gain * block.weight * (self.delta / self.samples[l])
    self.players:pay(l, S.edge, r:clamp(0, self.cap) / block.degrees[S:row_of()])
  end
end

function Bandit:draw(seeds, rng)
  return learning.after_step(self, sampling.mini_batch(seeds, #self.samples, function(l, dst)
    return self:block(l, dst, rng)
  end))
end

--- ladies.samplers.bandit(P, {samples = {k1, k2, ...}, ...}) -> Sampler: a sampler(seeds, rng) ->
-- mini-batch, for models whose forward calls batch.propagate, as nn.gcn's does. A layer's
-- destinations come first in its src, sampled or not.
-- samples        k, the neighbours drawn for each node, those of the first layer, nearest the
--                features, first; or one number for all of `layers`
-- eta            the share of the uniform distribution in q (0.4)
-- delta, cap     the step of learning (0.001), and the bound of what a draw is paid (1)
-- replace        whether neighbours are drawn with replacement: k draws even where there are fewer
-- row_normalize  whether each row of a block is divided by its sum
-- It is `adaptive`: batch i needs the step of batch i - 1. Its weights, a float for every entry of
-- P and layer, are in sampler.state for checkpoints.
local function bandit(P, given)
  local opts, samples = learning.checked(WHERE, P, given, SPEC)
  local players = edge_bandits.new(P, #samples, opts.eta)
  return setmetatable({
    name = WHERE, adaptive = true, P = P, samples = samples, players = players,
    delta = opts.delta, cap = opts.cap, replace = opts.replace,
    row_normalize = opts.row_normalize, state = players.state,
  }, Bandit)
end

return bandit
