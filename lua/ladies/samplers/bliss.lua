--- BLISS: the nodes of a layer, drawn by probabilities that bandits learn. "BLISS: Bandit Layer
-- Importance Sampling Strategy for Efficient Training of Graph Neural Networks", 2025 (authors'
-- program: linhthi/BLISS-GNN).
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

local core = require "ladies_core"
local edge_bandits = require "ladies.sampling.edge_bandits"
local fields = require "ladies.base.fields"
local inputs = require "ladies.sampling.inputs"
local layer_inputs = require "ladies.sampling.layer_inputs"
local layer_nodes = require "ladies.sampling.layer_nodes"
local options = require "ladies.base.options"
local sampling = require "ladies.sampling"

local WHERE = "ladies.samplers.bliss"

local SPEC = {
  samples = inputs.SAMPLES, layers = inputs.LAYERS,
  draw = {"wor|wr|poisson", "poisson"},
  debias = {"boolean", false},
  self_nodes = {"none|previous|batch", "none"},
  row_normalize = {"boolean", true},
  eta = {"number in [0, 1]", 0.4},
  cap = {"positive number", 1},
  steps = {"positive integer", 1000},
}

local Bliss = {__name = WHERE}
Bliss.__index = Bliss
fields.of_class(Bliss, "name adaptive batches_per_epoch P samples players opts state")

-- A block of layer l for dst; the nodes `keep` are always in it.
function Bliss:block(l, dst, keep, rng)
  local opts = self.opts
  local U, near = self.P:slice(dst, {first = keep})
  local q = self.players:probabilities(l, U)
  local p = U:with_values(q):col_sums(2):sqrt()
  local pick, w = layer_nodes(p, self.samples[l], {draw = opts.draw, debias = opts.debias,
    always = keep and core.range(1, #keep), rng = rng})
  local S = U:pick_cols(pick)
  local adj = S:scale_cols(w)
  if opts.row_normalize then adj = adj:row_normalize() end
  return {
    adj = adj, dst = dst, src = near[pick], drawn = S, degrees = U:degrees(), weight = w,
    q = q[sampling.find(U.edge, S.edge)],
  }
end

-- delta(v) / d(v) of rows with k of their d entries drawn; 0 where all were, or none.
local function rates(k, d, eta, steps)
  k = k:clamp(1, math.huge)
  d = d:clamp(1, math.huge)
  local share = k / d
  local delta = (share:square():square() * k * (share:log() * (eta ^ 5 - eta ^ 4) / steps)):sqrt()
  return delta / d
end

-- Pays the players of a batch for what was drawn.
function Bliss:learn(batch)
  local opts = self.opts
  for l, block in ipairs(batch.blocks) do
    local S = block.drawn
    local row, col, k = S:row_of(), S:col_of(), S:degrees()
    local norms = layer_inputs.of(WHERE, batch, l):row_sums(2) * block.weight  -- / pi(u)
    local rate = rates(k, block.degrees, opts.eta, opts.steps) / k:clamp(1, math.huge)
    local r = (S:entry_values() / block.q):square() * norms[col] * rate[row]
    self.players:pay(l, S.edge, r:clamp(0, opts.cap))
  end
end

function Bliss:draw(seeds, rng)
  local dst, blocks, isolated = inputs.seeds(seeds), {}, 0
  for l = #self.samples, 1, -1 do
    local keep = inputs.kept(self.opts.self_nodes, seeds, dst)
    blocks[l] = sampling.at_layer(l, self.block, self, l, dst, keep, rng)
    isolated, dst = isolated + blocks[l].adj:empty_rows(), blocks[l].src
  end
  return {
    blocks = blocks, input = dst, output = seeds, stats = {isolated = isolated},
    propagate = layer_inputs.propagate,
    after_step = function(batch) core.no_grad(self.learn, self, batch) end,
  }
end

--- ladies.samplers.bliss(P, {samples = {s1, s2, ...}, ...}) -> Sampler: a sampler(seeds, rng) ->
-- mini-batch, for models whose forward calls batch.propagate, as nn.gcn's does.
-- samples        nodes drawn for each layer's input, the first of them nearest the features; or one
--                number for all of `layers`
-- draw           "poisson", "wor" or "wr"; debias: see sampling.choice. pi is one over the design
--                weight
-- self_nodes     nodes that are always included in a layer's input: "none"; "previous", its own
--                destinations, which then come first in src; "batch", the seeds
-- row_normalize  whether each row of a block is divided by its sum
-- eta            the share of the uniform distribution in q (0.4)
-- steps          T (1000)
-- cap            the bound of what a draw is paid (1)
-- It is `adaptive`: batch i needs the step of batch i - 1. Its weights, a float for every entry of
-- P and layer, are in sampler.state for checkpoints.
local function bliss(P, given)
  inputs.check_square(WHERE, P)
  local opts = options.check(WHERE, given, SPEC)
  local samples = inputs.samples(WHERE, opts)
  local players = edge_bandits.new(P, #samples, opts.eta)
  return setmetatable({
    name = WHERE, adaptive = true, P = P, samples = samples, players = players, opts = opts,
    state = players.state,
  }, Bliss)
end

function Bliss:__call(seeds, rng)
  core.check_constant(WHERE, self.P)
  return core.no_grad(self.draw, self, seeds, rng)
end

return bliss
