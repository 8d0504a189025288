--- FastGCN: importance sampling with one distribution for all layers. Chen, Ma and Xiao, ICLR 2018,
-- section 3 and Proposition 4.
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

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local inputs = require "ladies.sampling.inputs"
local options = require "ladies.base.options"
local sampling = require "ladies.sampling"

local SPEC = {
  samples = inputs.SAMPLES, layers = inputs.LAYERS,
  probability = {"norms|uniform", "norms"},
  flat = {"boolean", false},
  draw = {"wor|wr|poisson", "wr"},
  debias = {"boolean", false},
  union = {"pre|post", "pre"},
  candidates = {"all|touched", "all"},
  weights = {"drawn|global", "drawn"},
  self_nodes = {"none|previous|batch", "none"},
  row_normalize = {"boolean", false},
}

local function check(given)
  local opts = options.check("ladies.samplers.fastgcn", given, SPEC)
  opts.samples = inputs.samples("ladies.samplers.fastgcn", opts)
  if opts.weights == "global" and (opts.draw ~= "wor" or opts.self_nodes ~= "none") then
    errors.fail 'ladies.samplers.fastgcn: weights = "global" is for draw wor and self_nodes none'
  end
  return opts
end

--- ladies.samplers.fastgcn(P, {samples = {t1, t2, ...}, ...}) -> Sampler: a sampler(seeds, rng) ->
-- mini-batch.
-- samples        nodes drawn for each layer's input, the first of them nearest the features; or one
--                number for all of `layers`
-- probability    "norms", the column norms of P, or "uniform" over all nodes that have an entry, to
--                measure what the norms are worth
-- flat           q in proportion to the norms, not squared, as in the authors' program
-- draw           "wr", "wor" or "poisson"; debias, union: see sampling.choice
-- candidates     "all" nodes, or those "touched" by the rows above, q renormalised among them
-- weights        by the probabilities of the draw, or by the "global" ones: the q of all nodes
-- self_nodes     nodes that are always included in a layer's input, with t others: "none";
--                "previous", its own destinations; "batch", the seeds. They come first in src.
-- row_normalize  whether each row of a block is divided by its sum
local function fastgcn(P, given)
  inputs.check_square("ladies.samplers.fastgcn", P)
  local opts = check(given)
  local q = P:col_sums(2)
  if opts.flat then q = q:sqrt() end
  if opts.probability == "uniform" then q = q:above(0) end
  local total = q:sum():item()
  if total == 0 then errors.fail "ladies.samplers.fastgcn: all entries of P are zero" end
  local table_of_q = sampling.alias(q)
  return function(seeds, rng)
    local dst, blocks, isolated = inputs.seeds(seeds), {}, 0
    for l = #opts.samples, 1, -1 do
      local size = opts.samples[l]
      local keep = inputs.kept(opts.self_nodes, seeds, dst)
      local how = {draw = opts.draw, debias = opts.debias, union = opts.union, always = keep,
        rng = rng}
      local adj, src, w
      if opts.candidates == "all" then
        src, w = sampling.at_layer(l, sampling.choice, table_of_q, size, how)
        adj = sampling.at_layer(l, P.slice, P, dst, src)
      else
        local U, near = sampling.at_layer(l, P.slice, P, dst, {first = keep})
        how.always = keep and core.range(1, #keep)
        local pick
        pick, w = sampling.at_layer(l, sampling.choice, q[near], size, how)
        adj, src = U:pick_cols(pick), near[pick]
        if opts.weights == "global" then w = total / (q[src] * size) end
      end
      adj = adj:scale_cols(w)
      if opts.row_normalize then adj = adj:row_normalize() end
      isolated = isolated + adj:empty_rows()
      blocks[l], dst = {adj = adj, dst = dst, src = src}, src
    end
    return {blocks = blocks, input = dst, output = seeds, stats = {isolated = isolated}}
  end
end

return fastgcn
