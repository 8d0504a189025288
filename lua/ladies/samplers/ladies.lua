--- LADIES: layer-dependent importance sampling. Zou, Hu, Wang, Jiang, Sun and Gu, NeurIPS 2019,
-- Algorithm 1.
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

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local inputs = require "ladies.sampling.inputs"
local layer_nodes = require "ladies.sampling.layer_nodes"
local options = require "ladies.base.options"
local row_norms = require "ladies.sampling.row_norms"
local sampling = require "ladies.sampling"

local SPEC = {
  samples = inputs.SAMPLES, layers = inputs.LAYERS,
  draw = {"wor|wr|poisson", "wor"},
  debias = {"boolean", false},
  union = {"pre|post", "pre"},
  self_nodes = {"none|previous|batch", "none"},
  row_normalize = {"boolean", true},
  flat = {"boolean", false},
  sketch = {"boolean", false},
  probability = {"norms|uniform", "norms"},
}

-- Fails for options that choice would refuse in the first batch.
local function check(given)
  local opts = options.check("ladies.samplers.ladies", given, SPEC)
  opts.samples = inputs.samples("ladies.samplers.ladies", opts)
  if opts.sketch and opts.probability == "uniform" then
    errors.fail 'ladies.samplers.ladies: sketch is for probability = "norms"'
  end
  local ok, reason = errors.try(sampling.choice, core.ones(1), 0, {
    draw = opts.draw, debias = opts.debias, union = opts.union, rng = core.rng(1),
  })
  if not ok then errors.pass_on(reason, "ladies.samplers.ladies") end
  return opts
end

-- So many independent draws are none with a probability below e^-64: never.
local MANY = 64

-- Draws the columns of layer l in steps, for a p that draw_cols does not know: P(S, drawn), its
-- nodes and their weights. draw_cols does the same, but need not read all of P(S,:).
local function in_steps(opts, norms)
  return function(P, dst, size, how, l)
    local U, near = P:slice(dst, {first = how.always})                     -- P(S, touched)
    local p = U:col_sums(2)                                                -- ||P(S,u)||^2
    if opts.flat or opts.sketch then p = p:sqrt() end
    if norms then p = p * norms:of(l, near) end
    if opts.probability == "uniform" then p = p:above(0) end
    local pick, w = layer_nodes(p, size, {draw = how.draw, debias = how.debias, union = how.union,
      always = how.always and core.range(1, #how.always), rng = how.rng})
    return U:pick_cols(pick), near[pick], w
  end
end

local function by_draw_cols(P, dst, size, how) return P:draw_cols(dst, size, how) end

--- ladies.samplers.ladies(P, {samples = {s1, s2, ...}, ...}) -> Sampler: a sampler(seeds, rng) ->
-- mini-batch.
-- samples        nodes drawn for each layer's input, the first of them nearest the features; or one
--                number for all of `layers`
-- draw           "wor", "wr" or "poisson"; debias: see sampling.choice
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
  inputs.check_square("ladies.samplers.ladies", P, true)
  local opts = check(given)
  local norms = opts.sketch and row_norms.new(P.n_rows, #opts.samples) or nil
  local known = opts.probability == "norms" and not opts.flat and not norms
  local steps = in_steps(opts, norms)

  local function draw_of(size)
    local some = opts.draw ~= "poisson" or opts.self_nodes ~= "none" or size >= MANY
    return known and some and by_draw_cols or steps
  end

  local function sample(seeds, rng)
    local dst, blocks, isolated = inputs.seeds(seeds), {}, 0
    for l = #opts.samples, 1, -1 do
      local keep = inputs.kept(opts.self_nodes, seeds, dst)
      local size = opts.samples[l]
      local U, src, w = sampling.at_layer(l, draw_of(size), P, dst, size, {
        draw = opts.draw, debias = opts.debias, union = opts.union, always = keep, rng = rng,
      }, l)
      local adj = U:scale_cols(w)                       -- P~ = P(S, drawn) times design weights
      if opts.row_normalize then adj = adj:row_normalize() end
      isolated = isolated + adj:empty_rows()
      blocks[l], dst = {adj = adj, dst = dst, src = src}, src
    end
    return {blocks = blocks, input = dst, output = seeds, stats = {isolated = isolated}}
  end

  if not norms then return sample end
  return setmetatable({name = "ladies.samplers.ladies", adaptive = true, state = norms.state}, {
    __call = function(_, seeds, rng) return norms:watch(sample(seeds, rng)) end,
  })
end

return ladies
