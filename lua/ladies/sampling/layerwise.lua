--- The general layer-wise sampler, of which LADIES, FastGCN and others are special cases. All of
-- them estimate the rows P(S,:) of the nodes S above a layer by some of P's columns, which are the
-- same for all rows of S:
--     P~  =  N( P(S, drawn) diag(w) )
-- They differ in four choices, each an option of sampling.layerwise:
--     probability   p(u), what the chance of a node is in proportion to
--     draw          how nodes are drawn by p: without replacement, with it, or each on its own
--     weight        w(u), what makes a sum over the drawn nodes an estimate of one over all
--     normalize     N, what is done to the rows after that
-- Samplers that have a name combine such choices, each in a file of lua/ladies/samplers:
-- ladies.lua, fastgcn.lua, and those that learn p, asgcn.lua, bliss.lua and grapes.lua.

local core = require "ladies_core"
local arguments = require "ladies.sampling.arguments"
local declared = require "ladies.sampling.declared"
local errors = require "ladies.base.errors"
local mini_batch = require "ladies.sampling.mini_batch"
local options = require "ladies.base.options"
local poisson = require "ladies.sampling.poisson"

local sampling = core.sampling

local layerwise = {}

local SPEC = declared.spec("layerwise", {"samples", "layers", "self_nodes", "union",
  {"probability", "squared_norms|norms|sums|uniform or callable", default = "squared_norms"},
  {"columns", "layer|graph|touched", default = "layer"},
  {"draw", "wor|wr|poisson|systematic|pivotal|sampford or callable", default = "wor"},
  {"weight", "design|debiased|graph|none or callable", default = "design"},
  {"normalize", "rows|sums|none or callable", default = "rows"},
  {"keep", "callable or nil"},
})

-- The named probabilities of columns: each is a function of the columns' sums of P(v,u)^power.
local PROBABILITIES = {
  squared_norms = {power = 2, of = function(sums) return sums end},
  norms = {power = 2, of = function(sums) return sums:sqrt() end},
  sums = {power = 1, of = function(sums) return sums end},
  uniform = {power = 2, of = function(sums) return sums:above(0) end},
}

-- Returns a text that says which options contradict each other, or nil.
local function contradiction(opts)
  local by_function = type(opts.probability) ~= "string"
  local own_draw = type(opts.draw) ~= "string"
  if by_function and opts.columns ~= "layer" then
    return 'a function for probability is for columns = "layer"'
  elseif own_draw and (opts.weight == "debiased" or opts.weight == "graph") then
    return ('weight = "%s" is not for a draw of one\'s own, which returns its weights'):format(
      opts.weight)
  elseif own_draw and opts.columns == "graph" then
    return 'a function for draw is for columns = "layer" or "touched"'
  elseif opts.weight == "graph" and (opts.columns ~= "touched" or opts.draw ~= "wor"
    or opts.self_nodes ~= "none") then
    return 'weight = "graph" is for columns = "touched", draw = "wor" and self_nodes = "none"'
  elseif opts.union == "post" and opts.weight ~= "design" then
    return 'union = "post" has weights of its own, with neither debias nor another weight'
  end
end

local function check(where, given)
  local opts = options.check(where, given, SPEC)
  opts.samples = arguments.samples(where, opts)
  local wrong = contradiction(opts)
  if wrong then errors.fail(("%s: %s"):format(where, wrong)) end
  opts.debias = opts.weight == "debiased"
  opts.tells = opts.keep ~= nil or type(opts.weight) ~= "string"
  if type(opts.draw) == "string" then      -- what choice would refuse in the first batch
    local ok, reason = errors.try(sampling.choice, core.ones(1), 0, {
      draw = opts.draw, debias = opts.debias, union = opts.union, rng = core.rng(1),
    })
    if not ok then errors.pass_on(reason, where) end
  end
  return opts
end

-- Draws `size` positions of the vector p (or of its alias table) in the way of opts.draw; the
-- positions in the Index `always`, if there is one, are always among them. Independent draws that
-- select nothing are repeated, since without a node there would be no layer below.
local function positions(opts, p, size, always, rng, ids)
  if type(opts.draw) ~= "string" then
    local pick, w = opts.draw(p, size, {always = always, rng = rng, ids = ids})
    return options.value("sampling.layerwise", "what draw returns first", pick, "Index"),
      options.value("sampling.layerwise", "what draw returns second", w, "Tensor")
  elseif opts.draw == "poisson" and not always and options.class_of(p) == "Tensor" then
    return poisson.draw(p, size, {rng = rng})
  end
  return sampling.choice(p, size, {draw = opts.draw, debias = opts.debias, union = opts.union,
    always = always, rng = rng})
end

-- Each of the functions below makes a way of drawing a layer: way(l, size, dst, keep, rng) -> adj =
-- P(dst, src), src, weight [, drawn]. The nodes in `keep`, an Index or nil, are always in src.
-- `drawn` is the table that a user's functions are given; it is made only if there are such
-- functions, to save garbage.

-- Draws among the nodes that the rows dst touch, with p from the columns of P(dst, touched) or from
-- those of the whole P. proportions(U, near, at) computes p, and may also return a value that is
-- passed to the option `keep`.
local function among_touched(P, opts, proportions)
  return function(l, size, dst, keep, rng)
    local U, near = P:slice(dst, {first = keep})                           -- P(S, touched)
    local n = keep and #keep or 0
    local p, about = proportions(U, near, {layer = l, dst = dst, always = n})
    local pick, w = positions(opts, p, size, keep and core.range(1, n), rng, near)
    local adj, src = U:pick_cols(pick), near[pick]
    return adj, src, w, opts.tells and {adj = adj, src = src, weight = w, pick = pick, always = n,
      rows = U, near = near, about = about}
  end
end

-- Draws among all nodes, with one p, that of the columns of the whole P.
local function among_all(P, opts, p)
  local table_of_p = opts.draw ~= "poisson" and sampling.alias(p) or p
  return function(_, size, dst, keep, rng)
    local src, w = positions(opts, table_of_p, size, keep, rng)
    local adj = P:slice(dst, src)
    return adj, src, w, opts.tells and {adj = adj, src = src, weight = w}
  end
end

-- From this expected number on, independent draws are taken to select something: they select
-- nothing with a probability below e^-64.
local MANY = 64

-- Draws as among_touched does, for those p for which P:draw_cols can draw without reading all of
-- the rows dst.
local function by_draw_cols(P, opts, power, steps)
  return function(l, size, dst, keep, rng)
    if opts.draw == "poisson" and not keep and size < MANY then
      return steps(l, size, dst, keep, rng)
    end
    return P:draw_cols(dst, size, {power = power, draw = opts.draw, debias = opts.debias,
      union = opts.union, always = keep, rng = rng})
  end
end

-- Wraps a user's function for p with a check of what it returns, since a p that is too short would
-- silently leave columns out.
local function checked(f)
  return function(U, near, at)
    local p, about = f(U, near, at)
    options.value("sampling.layerwise", "what probability returns", p, "Tensor")
    if p.ndim ~= 1 or #p ~= #near then
      errors.fail(("sampling.layerwise: probability must return a vector of %d numbers, one for "
        .. "each node of near, got %s"):format(#near, p))
    end
    return p, about
  end
end

-- Returns the way of drawing a layer that the options ask for.
local function way_of(where, P, opts)
  local named = PROBABILITIES[opts.probability]
  if opts.columns == "layer" then
    local steps = among_touched(P, opts, named
      and function(U) return named.of(U:col_sums(named.power)) end or checked(opts.probability))
    local is_known = opts.probability == "squared_norms" or opts.probability == "sums"
    local is_plain = type(opts.draw) == "string" and not opts.tells
    return is_known and is_plain and by_draw_cols(P, opts, named.power, steps) or steps
  end
  local p = named.of(P:col_sums(named.power))
  local total = p:sum():item()
  if total == 0 then errors.fail(where .. ": all entries of P are zero") end
  if opts.columns == "graph" then return among_all(P, opts, p), p, total end
  return among_touched(P, opts, function(_, near) return p[near] end), p, total
end

-- Fails where p are sums of columns and P has negative entries, since such sums do not tell how
-- large the entries are.
local function check_entries(where, P, opts)
  if opts.probability ~= "sums" or options.class_of(P) ~= "Matrix" or P.nnz == 0 then return end
  local least = P:entry_values():detach():min()
  if least < 0 then
    errors.fail(('%s: probability = "sums" is for entries of 0 or more, P has %g'):format(where,
      least))
  end
end

-- Returns a function that computes the weights of a layer, by the options, from its size and what
-- its way of drawing returned; nil for weights of 1.
local function weights_of(opts, p, total)
  if opts.weight == "none" then return nil end
  if opts.weight == "graph" then
    return function(size, _, src) return total / (p[src] * size) end
  end
  if type(opts.weight) == "string" then return function(_, _, _, weight) return weight end end
  return function(_, _, _, _, drawn)
    return options.value("sampling.layerwise", "what weight returns", opts.weight(drawn), "Tensor")
  end
end

-- Returns the function N(adj, dst) that normalises the rows of a layer, by the option `normalize`.
local function normalization_of(P, normalize)
  if type(normalize) ~= "string" then return normalize end
  if normalize == "none" then return function(adj) return adj end end
  if normalize == "sums" then
    local sums = P:row_sums()
    return function(adj, dst) return adj:row_normalize():scale_rows(sums[dst]) end
  end
  return function(adj) return adj:row_normalize() end
end

--- layerwise.new(where, P, given): makes the sampler of sampling.layerwise(P, given), with `where`
-- as its name, with which errors begin.
function layerwise.new(where, P, given)
  local opts = check(where, given)
  arguments.check_square(where, P, opts.columns == "layer" and opts.normalize ~= "sums")
  check_entries(where, P, opts)
  local draw, p, total = way_of(where, P, opts)
  local weigh, normalize = weights_of(opts, p, total), normalization_of(P, opts.normalize)

  local function sample(_, seeds, rng)
    return mini_batch(seeds, #opts.samples, function(l, dst)
      local size, keep = opts.samples[l], arguments.kept(opts.self_nodes, seeds, dst)
      local adj, src, weight, drawn = draw(l, size, dst, keep, rng)
      if weigh then
        local w = weigh(size, adj, src, weight, drawn)
        adj = adj:scale_cols(w)
      end
      adj = normalize(adj, dst)
      return adj, src, opts.keep and opts.keep(drawn)
    end)
  end
  return setmetatable({name = where}, {__call = sample})
end

--- sampling.layerwise(P: Matrix, {samples = {s1, s2, ...}, ...}) -> Sampler: makes a layer-wise
-- sampler from the four choices in which such samplers differ. A layer estimates the rows P(S,:) of
-- the nodes S above it by P~ = N(P(S, drawn) diag(w)): s nodes u are drawn, with probabilities in
-- proportion to p(u); their columns are weighted with w(u); and rows are normalised by N.
--
-- samples      nodes drawn for each layer's input, the first of them nearest the features; or one
--              number for all of `layers`
-- probability  "squared_norms", ||P(S,u)||^2 (default), "norms", ||P(S,u)||, "sums", the sum of
--              P(v,u) over S (entries of 0 or more), or "uniform", 1 where a column has an entry
--              that is not zero; or a function p(U, near, at) -> Tensor: a number of 0 or more for
--              each of the nodes near, which the rows S touch; U = P(S, near), at = {layer =,
--              dst =, always = (how many of the first of near are there for certain)}
-- columns      the matrix whose columns have these norms or sums: "layer", P(S,:); "graph", the
--              whole P, so that all nodes may be drawn and all layers have one p; "touched", the
--              whole P, but only nodes that S touches are drawn
-- draw         "wor", one after the other without replacement (default), "wr", with it, or
--              "poisson", each on its own, s of them expected, never none; "systematic", "pivotal"
--              or "sampford", exactly s with the chances of poisson: see sampling.choice; or
--              a function draw(p, s, {rng =, always =, ids =}) -> pick, w: distinct positions in p,
--              whose nodes are `ids`, and their design weights; those of the Index `always`, if
--              there is one, first, with weight 1
-- weight       "design", the rule's own: 1/(s p) for wor, m/(s p) of m draws for wr, 1/pi for
--              the others (p sums to one); "debiased", for wor, those of Chen et al., TMLR 2023;
--              "graph", for columns "touched" and wor, 1/(s p) with the p of all nodes; "none"; or
--              a function w(drawn) -> Tensor, of drawn = {adj = P(S, drawn), src =, weight = (the
--              rule's), rows = P(S, near), near =, pick = (positions of src in near), always = (how
--              many of them were certain), about = (what a `probability` returned besides)}; with
--              columns "graph" the first three alone
-- normalize    "rows", each row divided by its sum (default); "sums", its sum made that of P's row
--              (Hajek's ratio estimate); "none"; or a function N(adj, dst) -> Matrix
-- self_nodes   nodes that are always there, with s others: "none", "previous", S itself, or
--              "batch", the seeds; they come first in src
-- union        "pre", or "post": with wor s nodes are drawn in all, self_nodes that are missing are
--              added, and weights are 1/p, as in the LADIES authors' program
-- keep         for samplers that learn: keep(drawn) -> table gives a block further fields
--
-- Named points, by what differs from the defaults (which are LADIES):
--     LADIES       Zou et al., NeurIPS 2019                 (draw = "wr" in their analysis)
--     PLADIES      Balin and Catalyurek, NeurIPS 2023       draw = "poisson"
--     flat         Chen et al., TMLR 2023                   probability = "norms"
--     debiased     the same                                 weight = "debiased"
--     sketch       the same               p = ||P(S,u)|| ||(H W)_u||, noted in training
--     FastGCN      Chen, Ma and Xiao, ICLR 2018  columns = "graph", draw = "wr", normalize = "none"
--     its program  probability = "norms", columns = "touched", weight = "graph", normalize = "none"
--     AS-GCN       Huang et al., NeurIPS 2018     p = ||P(S,u)|| g(x(u)), g trained; draw = "wr",
--                                                 normalize = "none"
--     BLISS        2025                           p from bandits on P's entries; draw = "poisson"
--     GRAPES       Younesian et al., TMLR 2024    p from a policy network; weight = "none"
--     PPS          of this program   probability and normalize = "sums", draw = "systematic",
--                                                 self_nodes = "previous"
--
-- Unbiased: the mean of P~ over the draws is P(S,:), exactly, with normalize = "none" for weight
-- "design" with any draw but "wor", and for weight "debiased", whatever the named probability,
-- the columns and the self_nodes are, with union = "pre". (A p of one's own must not be zero for a
-- column that has entries.) Biased are the weights "design" of "wor", unless p is uniform, "graph"
-- and "none", and union = "post"; normalize = "rows" and "sums" are ratio estimates, whose bias
-- falls as 1/s.
--
--     local sampler = ladies.sampling.layerwise(P, {samples = 512, layers = 2,
--       probability = "norms", weight = "debiased", normalize = "sums"})
function layerwise.public(P, given) return layerwise.new("sampling.layerwise", P, given) end

return layerwise
