--- The sampler LADIES, layer-dependent importance sampling. Zou, Hu, Wang, Jiang, Sun and Gu,
-- NeurIPS 2019, Algorithm 1.
--
-- From the output down, each layer draws s nodes from the neighbourhood of the nodes S above it:
--     p(u)  =  ||P(S,u)||^2 / ||P(S,:)||_F^2          squared column norms of P's rows S
--     P~    =  P(S, drawn) diag(1 / (s p(u)))         an estimate of P(S,:)
--     P~   <-  D^-1 P~,  D the row sums of P~         row-normalised
-- p depends on the layer above, so every drawn node is a neighbour of S, which FastGCN, with one p
-- for all layers, does not have. Normalising makes P~ a ratio estimate: bounded, biased by O(1/s).
-- A row none of whose neighbours was drawn is zero; stats.isolated counts them. P:draw_cols is the
-- first two lines. Unless rows are short it needs p of the drawn nodes alone: with probability
-- ||P(v,:)||^2 / ||P(S,:)||_F^2 a row v of S, then u in that row with P(v,u)^2 / ||P(v,:)||^2.
--
-- The authors' program differs from their paper: P is row-normalised instead of symmetric; nodes
-- are drawn without replacement, where their analysis has independent draws; the weight is 1/p
-- without the 1/s, which the row-normalisation cancels; and the seeds are united into every layer
-- (draw = "wor", self_nodes = "batch", union = "post").
--
-- Variants: PLADIES (Balin and Catalyurek, NeurIPS 2023) takes each node on its own, with a
-- probability in proportion to p (draw = "poisson"; a draw of none is made again). Chen, Xu, Hao
-- and Rakshit, "Calibrate and Debias Layer-wise Sampling for Graph Convolutional Networks", TMLR
-- 2023, have p follow the norms instead of their squares (flat), ||P(S,u)|| ||(H W)_u||, which
-- makes the variance least (sketch), and weights that are unbiased without replacement (debias).

local arguments = require "ladies.sampling.arguments"
local declared = require "ladies.sampling.declared"
local errors = require "ladies.base.errors"
local layerwise = require "ladies.sampling.layerwise"
local options = require "ladies.base.options"
local row_norms = require "ladies.sampling.row_norms"

local WHERE = "ladies.samplers.ladies"

local SPEC = declared.spec("ladies", {"samples", "layers", "draw", "debias", "union", "self_nodes",
  "row_normalize", "flat", "probability",
  {"sketch", "boolean", default = false},
})

-- Returns the option `probability` of sampling.layerwise for the options of this sampler.
local function probability_of(opts, norms)
  if norms then
    return function(U, near, at) return U:col_sums(2):sqrt() * norms:of(at.layer, near) end
  end
  return opts.probability == "uniform" and "uniform" or opts.flat and "norms" or "squared_norms"
end

--- ladies.samplers.ladies(P, {samples = {s1, s2, ...}, ...}) -> Sampler: a sampler(seeds, rng) ->
-- mini-batch.
-- samples        nodes drawn for each layer's input, the first of them nearest the features; or one
--                number for all of `layers`
-- draw           "wor", "wr", "poisson", "systematic", "pivotal" or "sampford"; debias: see
--                sampling.choice
-- self_nodes     nodes that are always included in a layer's input: "none"; "previous",
--                its own destinations, which then come first in src; "batch", the seeds
-- union          "pre": samples[l] further nodes are drawn; "post": samples[l] in all, then
--                united with self_nodes, as in the authors' program
-- row_normalize  whether each row of a block is divided by its sum
-- flat           p(u) in proportion to ||P(S,u)||, not squared
-- sketch         p(u) in proportion to ||P(S,u)|| ||(H W)_u||, with the norms that nodes had when
--                they were last computed: see ladies.sampling.row_norms. It makes the sampler
--                `adaptive`, for models whose layers are convolutions as nn.gcn's
-- probability    "norms" of the columns of P(S,:), or "uniform" over the neighbourhood of S, to
--                measure what the norms are worth
local function ladies(P, given)
  arguments.check_square(WHERE, P, true)
  local opts = options.check(WHERE, given, SPEC)
  if (opts.sketch or opts.flat) and opts.probability == "uniform" then
    errors.fail(('%s: %s is for probability = "norms"'):format(WHERE,
      opts.sketch and "sketch" or "flat"))
  elseif opts.sketch and opts.flat then
    errors.fail(WHERE .. ": sketch has norms that are not squared; leave flat out")
  end
  local norms = opts.sketch and row_norms.new(P.n_rows, #arguments.samples(WHERE, opts)) or nil
  local sample = layerwise.new(WHERE, P, {
    samples = opts.samples, layers = opts.layers, probability = probability_of(opts, norms),
    draw = opts.draw, weight = opts.debias and "debiased" or "design", union = opts.union,
    normalize = opts.row_normalize and "rows" or "none", self_nodes = opts.self_nodes,
  })
  if not norms then return sample end
  return setmetatable({name = WHERE, adaptive = true, state = norms.state}, {
    __call = function(_, seeds, rng) return norms:watch(sample(seeds, rng)) end,
  })
end

return ladies
