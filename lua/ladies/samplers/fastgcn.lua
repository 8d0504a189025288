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
-- (power = 1); nodes are drawn without replacement among the columns that S touches (method =
-- "wor", candidates = "touched"), and still weighted with the q of all nodes (weights = "global"),
-- which makes P~ too large: by one over the share of q that S touches. Only the top layer is
-- sampled there, the bottom one being P X, computed once. The LADIES authors' FastGCN draws without
-- replacement from all nodes and normalises the rows (method = "wor", row_normalize = true).

local core = require "ladies_core"
local options = require "ladies.base.options"
local sampling = require "ladies.sampling"
local seeds_of = require "ladies.sampling.seeds"
local square = require "ladies.sampling.square"

local SPEC = {
  sizes = "array of positive integers",
  power = {"integer in [0, 2]", 2},
  method = {"wor|wr|poisson", "wr"},
  debias = {"boolean", false},
  union = {"pre|post", "pre"},
  candidates = {"all|touched", "all"},
  weights = {"drawn|global", "drawn"},
  self_nodes = {"none|previous|batch", "none"},
  row_normalize = {"boolean", false},
}

local function check(given)
  local opts = options.check("ladies.samplers.fastgcn", given, SPEC)
  if #opts.sizes == 0 then options.fail "ladies.samplers.fastgcn: sizes must not be empty" end
  if opts.weights == "global" and (opts.method ~= "wor" or opts.self_nodes ~= "none") then
    options.fail 'ladies.samplers.fastgcn: weights = "global" is for method wor and self_nodes none'
  end
  return opts
end

--- ladies.samplers.fastgcn(P, {sizes = {t1, t2, ...}, ...}): a sampler(seeds, rng) -> mini-batch.
-- sizes          nodes drawn for each layer's input; sizes[1] is nearest the features
-- power          of the column norms in q: 2, or 1 as in the authors' program, or 0: uniform over
--                all nodes that have an entry, to measure what the norms are worth
-- method         "wr", "wor" or "poisson"; debias, union: see sampling.choice
-- candidates     "all" nodes, or those "touched" by the rows above, q renormalised among them
-- weights        by the probabilities of the draw, or by the "global" ones, see above
-- self_nodes     nodes that are in a layer's input for certain, with t others: "none"; "previous",
--                its own destinations; "batch", the seeds. They come first in src.
-- row_normalize  whether each row of a block is divided by its sum
local function fastgcn(P, given)
  square("ladies.samplers.fastgcn", P)
  local opts = check(given)
  local q = P:col_sums(2)
  if opts.power == 1 then q = q:sqrt() elseif opts.power == 0 then q = q:above(0) end
  local total = q:sum():item()
  if total == 0 then options.fail "ladies.samplers.fastgcn: all entries of P are zero" end
  local table_of_q = sampling.alias(q)
  return function(seeds, rng)
    local dst, blocks, isolated = seeds_of(seeds), {}, 0
    for l = #opts.sizes, 1, -1 do
      local size = opts.sizes[l]
      local keep = opts.self_nodes == "batch" and seeds
        or opts.self_nodes == "previous" and dst or nil
      local draw = {method = opts.method, debias = opts.debias, union = opts.union,
        always = keep, rng = rng}
      local adj, src, w
      if opts.candidates == "all" then
        src, w = sampling.at_layer(l, sampling.choice, table_of_q, size, draw)
        adj = sampling.at_layer(l, P.slice, P, dst, src)
      else
        local U, near = sampling.at_layer(l, P.slice, P, dst, {first = keep})
        draw.always = keep and core.range(1, #keep)
        local pick
        pick, w = sampling.at_layer(l, sampling.choice, q[near], size, draw)
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
