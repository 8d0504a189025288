--- The sampler FastGCN, importance sampling with one distribution for all layers. Chen, Ma and
-- Xiao, ICLR 2018, section 3 and Proposition 4.
--
-- From the output down, each layer draws t nodes, independently, from all nodes of the graph:
--     q(u)  =  ||P(:,u)||^2 / ||P||_F^2                squared column norms of the whole P
--     P~    =  P(S, drawn) diag(m(u) / (t q(u)))       m(u) = how often u was drawn
-- an unbiased estimate of the rows P(S,:). q does not know S, so on a sparse graph most drawn nodes
-- have no edge to it and many rows stay zero (stats.isolated counts them): what LADIES mends.
--
-- The authors' program differs from their paper: q has the norms themselves, not their squares
-- (flat = true); nodes are drawn without replacement among the columns that S touches (draw =
-- "wor", candidates = "touched"), and still weighted with the q of all nodes (weights = "global"),
-- which makes P~ too large: by one over the share of q that S touches. Only the top layer is
-- sampled there, the bottom one being P X, computed once. The LADIES authors' FastGCN draws without
-- replacement from all nodes and normalises the rows (draw = "wor", row_normalize = true).

local arguments = require "ladies.sampling.arguments"
local declared = require "ladies.sampling.declared"
local errors = require "ladies.base.errors"
local layerwise = require "ladies.sampling.layerwise"
local options = require "ladies.base.options"

local WHERE = "ladies.samplers.fastgcn"

local SPEC = declared.spec("fastgcn", {"samples", "layers", "probability", "flat", "debias",
  "union", "self_nodes",
  {"draw", default = "wr"},
  {"row_normalize", default = false},
  {"candidates", "all|touched", default = "all"},
  {"weights", "drawn|global", default = "drawn"},
})

--- ladies.samplers.fastgcn(P, {samples = {t1, t2, ...}, ...}) -> Sampler: a sampler(seeds, rng) ->
-- mini-batch.
-- samples        nodes drawn for each layer's input, the first of them nearest the features; or one
--                number for all of `layers`
-- probability    "norms", the column norms of P, or "uniform" over all nodes that have an entry, to
--                measure what the norms are worth
-- flat           q in proportion to the norms, not squared, as in the authors' program
-- draw           "wr", or another of sampling.choice's; debias, union: see sampling.choice
-- candidates     "all" nodes, or those "touched" by the rows above, q renormalised among them
-- weights        by the probabilities of the draw, or by the "global" ones: the q of all nodes
-- self_nodes     nodes that are always included in a layer's input, with t others: "none";
--                "previous", its own destinations; "batch", the seeds. They come first in src.
-- row_normalize  whether each row of a block is divided by its sum
local function fastgcn(P, given)
  arguments.check_square(WHERE, P)
  local opts = options.check(WHERE, given, SPEC)
  local touched, global = opts.candidates == "touched", opts.weights == "global"
  if global and (opts.draw ~= "wor" or opts.self_nodes ~= "none" or opts.debias) then
    errors.fail(WHERE .. ': weights = "global" is for draw wor, self_nodes none and no debias')
  elseif opts.flat and opts.probability == "uniform" then
    errors.fail(WHERE .. ': flat is for probability = "norms"')
  end
  return layerwise.new(WHERE, P, {
    samples = opts.samples, layers = opts.layers,
    probability = opts.probability == "uniform" and "uniform" or opts.flat and "norms"
      or "squared_norms",
    columns = touched and "touched" or "graph", draw = opts.draw, union = opts.union,
    weight = opts.debias and "debiased" or touched and global and "graph" or "design",
    normalize = opts.row_normalize and "rows" or "none", self_nodes = opts.self_nodes,
  })
end

return fastgcn
