--- The sampler LABOR, which samples neighbours node by node with random numbers that all nodes
-- share, so that they often draw the same neighbours. Balin and Catalyurek, "Layer-Neighbor
-- Sampling: Defusing Neighborhood Explosion in GNNs", NeurIPS 2023.
--
-- From the output down, every node v above keeps each of its d neighbours u on its own, where the
-- random number of u, which all v share, is small enough:
--     r_u  <=  c_v pi_u                                           r_u uniform in (0, 1)
--     sum over u of 1 / min(1, c_v pi_u)  =  d^2 / k              which gives c_v
-- With the weights 1 / min(1, c_v pi_u) the mean over the neighbours is unbiased. If the
-- neighbours' numbers are independent with equal variances, the variance of that mean is the one
-- that k neighbours drawn without replacement give, whatever pi is. Since nodes share r, they draw
-- fewer distinct neighbours than with draws of their own.
--     LABOR-0    pi_u = 1, so that c_v = k / d
--     LABOR-i    pi_u <- pi_u max over v of c_v, i times: each step makes the expected number of
--                distinct nodes, the sum of min(1, pi_u max c_v), smaller
--     LABOR-*    until that number falls by less than 1 part in 10,000
-- A node with no more than k neighbours has them all.
--
-- A layer has one of two forms: P~ = P at the entries that are kept, times these weights, an
-- unbiased estimate of P's rows; or D^-1 P~, its rows divided by their sums, a ratio estimate as
-- that of LADIES. On a row-normalised P without self-loops the latter is the paper's estimator.

local core = require "ladies_core"
local arguments = require "ladies.sampling.arguments"
local declared = require "ladies.sampling.declared"
local options = require "ladies.base.options"
local sampling = require "ladies.sampling"

local WHERE = "ladies.samplers.labor"

local SPEC = declared.spec("labor", {"samples", "layers", "form",
  {"iterations", "non-negative integer or converge|", default = 0,
    help = "that lower the number of distinct nodes, or until it falls no more"},
  {"self_nodes", "none|previous", default = "previous"},
  {"layer_dependency", "boolean", default = false,
    help = "the same random numbers in all layers"},
  {"batch_dependency", "positive integer", default = 1,
    help = "batches over which random numbers of nodes move to others; 1: new ones each"},
})

-- The iterations of "converge" end when the expected number of nodes falls by no more than this
-- share.
local LEAST_GAIN = 1e-4

-- Returns a matrix with a 1 for each entry of U; with without_loops, entries of the diagonal are 0.
local function neighbours_of(U, without_loops)
  return U:with_values(without_loops and 1 - U:row_of():equals(U:col_of()) or core.ones(U.nnz))
end

-- Computes pi of U's columns after the given number of iterations; dst are the nodes of U's rows.
local function iterated(U, dst, k, loops, iterations)
  local neighbours, pi = neighbours_of(U, loops), core.ones(U.n_cols)
  local expected, i = math.huge, 0
  while i ~= iterations do
    local c = U:poisson_factors(dst, k, {pi = pi, always = loops})
    pi, i = pi * neighbours:scale_rows(c):col_max(), i + 1
    local now = pi:clamp(0, 1):sum():item()
    if iterations == "converge" and now >= expected * (1 - LEAST_GAIN) then break end
    expected = now
  end
  return pi
end

-- Returns the two generators between which the numbers r are interpolated, and the share of the way
-- from the first to the second: with batch_dependency r moves on by 1 / period with each batch of
-- an epoch. Layers either fork these generators or, with layer_dependency, take them as they are.
local function numbers(rng, place, period)
  if period == 1 or not place then
    local own = rng:fork(rng:below(1 << 53))
    return own, own, 0
  end
  local group, step = (place.index - 1) // period, (place.index - 1) % period
  return place.rng:fork(group), place.rng:fork(group + 1), step / period
end

-- Draws a layer: returns the entries of P's rows dst that are kept, their columns and their
-- weights.
local function layer(P, dst, k, opts, from, to, t)
  local own = arguments.kept(opts.self_nodes, nil, dst)
  if opts.iterations == 0 and t == 0 then
    local c = P:poisson_factors(dst, k, {always = opts.loops})
    return P:poisson_rows(dst, c, {shared = true, always = opts.loops, first = own, rng = from})
  end
  local U, near = P:slice(dst, {first = own})
  local rows, loops = core.range(1, #dst), opts.loops and U:diagonal()
  local pi = iterated(U, rows, k, loops, opts.iterations)
  local c = U:poisson_factors(rows, k, {pi = pi, always = loops})
  local adj, src, w = U:poisson_rows(rows, c, {pi = pi, r = sampling.drift(near, t, from, to),
    always = loops, first = own and rows, rng = from})
  return adj, near[src], w
end

--- ladies.samplers.labor(P, {samples = {k1, k2, ...}, ...}) -> Sampler: a sampler(seeds, rng) ->
-- mini-batch.
-- samples           k of each layer, those of the first layer, nearest the features, first; or one
--                   number for all of `layers`. A node keeps k neighbours on average in LABOR-0
-- iterations        of pi: 0, 1, 2, ...; or "converge", LABOR-*
-- form              "mean" (rows divided by their sums) or "unbiased", see the file's header
-- self_nodes        "previous": a layer's destinations are always in its src, where they come
--                   first, and a node's self-loop, if P has it, is always included and none of the
--                   neighbours; "none": a self-loop is an entry like the others, and src has only
--                   the nodes that are drawn
-- layer_dependency  r is the same in all layers, whose nodes then overlap more
-- batch_dependency  kappa: r moves from one mini-batch of an epoch to the next, so slowly that
--                   consecutive ones share many nodes, and those 2 kappa apart are independent
--                   (Balin, LaSalle and Catalyurek, "Cooperative Minibatching in Graph Neural
--                   Networks", 2023); see sampling.drift. 1: each batch has its own. So has each
--                   without a place in an epoch (the third argument that ladies.batches gives)
local function labor(P, given)
  arguments.check_square(WHERE, P, true)
  local opts = options.check(WHERE, given, SPEC)
  opts.samples = arguments.samples(WHERE, opts)
  opts.loops = opts.self_nodes == "previous" and P:diagonal() or nil
  return function(seeds, rng, place)
    local from, to, t = numbers(options.value(WHERE, "rng", rng, "Rng"), place,
      opts.batch_dependency)
    return sampling.mini_batch(seeds, #opts.samples, function(l, dst)
      local stream = opts.layer_dependency and 0 or l
      local adj, src, w = layer(P, dst, opts.samples[l], opts, from:at(stream), to:at(stream), t)
      adj = adj:scale_entries(w)                                          -- P~
      if opts.form == "mean" then adj = adj:row_normalize() end
      return adj, src
    end)
  end
end

return labor
