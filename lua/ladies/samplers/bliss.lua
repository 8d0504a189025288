--- The sampler BLISS, which draws the nodes of a layer by probabilities that bandits learn. "BLISS:
-- Bandit Layer Importance Sampling Strategy for Efficient Training of Graph Neural Networks", 2025
-- (authors' program: linhthi/BLISS-GNN).
--
-- As LADIES, or with independent draws PLADIES, each layer draws s nodes for all of the nodes S
-- above it together; but by probabilities that follow what the entries of P carry, not P alone. As
-- with samplers/bandit.lua every node v of S is the player of a bandit (sampling/edge_bandits.lua)
-- with probabilities q(v,u) for its neighbours u:
--     p(u)     =  sqrt(sum over v in S of q(v,u)^2)          s nodes are drawn in proportion to p
--     P~       =  P(S, drawn) diag(1 / pi(u))                pi(u): the probability that u is drawn
--     P~      <-  D^-1 P~,  D the row sums of P~             row-normalised
--     r(v,u)   =  P(v,u)^2 ||h(u)||^2 / (k(v) q(v,u)^2)      k(v): drawn neighbours of v
--     w(v,u)  <-  w(v,u) exp(min(cap, delta(v) r(v,u) / (d(v) pi(u))))       after the step
--     delta(v) =  sqrt((1 - eta) eta^4 k(v)^5 log(d(v) / k(v)) / (T d(v)^4))
-- h is what the layer is given in training, T the number of steps that the player expects.
--
-- The authors' program has q(v,u) in place of P(v,u) in P~, so that its layers average by q; its
-- delta is 0.01, with the formula (and in some of its versions the cap) commented out; and for GAT
-- it puts the attention of the step in the place of P in r. By the formula, players stay close to
-- uniform ones for as many steps as they expect (doc/followers.md).

local declared = require "ladies.sampling.declared"
local edge_bandits = require "ladies.sampling.edge_bandits"
local layerwise = require "ladies.sampling.layerwise"
local learning = require "ladies.sampling.learning"
local sampling = require "ladies.sampling"

local WHERE = "ladies.samplers.bliss"

local SPEC = declared.spec("bliss", {"samples", "layers", "debias", "self_nodes", "row_normalize",
  "eta", "cap",
  {"draw", default = "poisson"},
  {"steps", "positive integer", default = 1000, help = "that players expect"},
})

local Bliss = learning.class(WHERE, "samples players opts layers")

-- Returns the layer-wise sampler that draws the mini-batches, with p(u) computed from q. Its blocks
-- keep q for the entries that were drawn.
local function layers_of(P, players, opts)
  return layerwise.new(WHERE, P, {
    samples = opts.samples, layers = opts.layers, draw = opts.draw,
    weight = opts.debias and "debiased" or "design", self_nodes = opts.self_nodes,
    normalize = opts.row_normalize and "rows" or "none",
    probability = function(U, _, at)
      local q = players:probabilities(at.layer, U)
      return U:with_values(q):col_sums(2):sqrt(), q
    end,
    keep = function(drawn)
      local U, S = drawn.rows, drawn.adj
      return {drawn = S, degrees = U:degrees(), weight = drawn.weight,
        q = drawn.about[sampling.find(U.edge, S.edge)]}
    end,
  })
end

-- Returns delta(v) / d(v) of rows of which k of d entries were drawn; 0 where all or none were.
local function rates(k, d, eta, steps)
  k = k:clamp(1, math.huge)
  d = d:clamp(1, math.huge)
  local share = k / d
  local delta = (share:square():square() * k * (share:log() * (eta ^ 5 - eta ^ 4) / steps)):sqrt()
  return delta / d
end

-- Pays the players of a mini-batch for the nodes that were drawn, after the step.
function Bliss:learn(batch)
  local opts = self.opts
  for l, block in ipairs(batch.blocks) do
    local S = block.drawn
    local row, col, k = S:row_of(), S:col_of(), S:degrees()
    local norms = learning.input_of(WHERE, batch, l):row_sums(2) * block.weight  -- / pi(u)
    local rate = rates(k, block.degrees, opts.eta, opts.steps) / k:clamp(1, math.huge)
    local r = (S:entry_values() / block.q):square() * norms[col] * rate[row]
    self.players:pay(l, S.edge, r:clamp(0, opts.cap))
  end
end

function Bliss:draw(seeds, rng)
  return learning.after_step(self, self.layers(seeds, rng))
end

--- ladies.samplers.bliss(P, {samples = {s1, s2, ...}, ...}) -> Sampler: a sampler(seeds, rng) ->
-- mini-batch, for models whose forward calls batch.propagate, as nn.gcn's does.
-- samples        nodes drawn for each layer's input, the first of them nearest the features; or one
--                number for all of `layers`
-- draw           "poisson", or another of sampling.choice's; debias: see there. pi is one over the
--                design weight
-- self_nodes     nodes that are always included in a layer's input: "none"; "previous", its own
--                destinations, which then come first in src; "batch", the seeds
-- row_normalize  whether each row of a block is divided by its sum
-- eta            the share of the uniform distribution in q (0.4)
-- steps          T (1000)
-- cap            the bound of what a draw is paid (1)
-- It is `adaptive`: batch i needs the step of batch i - 1. Its weights, a float for every entry of
-- P and layer, are in sampler.state for checkpoints.
local function bliss(P, given)
  local opts, samples = learning.checked(WHERE, P, given, SPEC)
  local players = edge_bandits.new(P, #samples, opts.eta)
  return setmetatable({
    name = WHERE, adaptive = true, P = P, samples = samples, players = players, opts = opts,
    state = players.state, layers = layers_of(P, players, opts),
  }, Bliss)
end

return bliss
