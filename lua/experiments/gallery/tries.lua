-- Samplers that were tried for doc/gallery.md and are not shown there: {name =, what =, samples =,
-- make = function(P, settings, data) -> sampler} each. Almost all go layer by layer; `layered` has
-- what these share.

local ladies = require "ladies"

local choice = ladies.sampling.choice
local probabilities = ladies.sampling.poisson_probabilities

-- Makes a try whose layers come from prepared(P, settings, data) -> layer(dst, samples, rng, l) ->
-- block matrix, src.
local function layered(name, what, samples, prepared)
  local function make(P, settings, data)
    local layer = prepared(P, settings, data)
    return function(seeds, rng)
      local dst, blocks = seeds, {}
      for l = settings.layers, 1, -1 do
        local adj, src = layer(dst, settings.samples, rng, l)
        blocks[l], dst = {adj = adj, dst = dst, src = src}, src
      end
      return {blocks = blocks, input = dst, output = seeds}
    end
  end
  return {name = name, what = what, samples = samples, make = make}
end

-- Returns the columns `pick` of U, weighted by w and then scaled so that rows have U's row sums.
local function kept(U, pick, w)
  return U:pick_cols(pick):scale_cols(w):row_normalize():scale_rows(U:row_sums())
end

-- Makes a try that draws among the touched columns with the probabilities p(U, near, l), one by one
-- where `draw` is "poisson", and keeps row sums.
local function by(name, what, p, draw)
  return layered(name, what, 256, function(P)
    return function(dst, samples, rng)
      local U, near = P:slice(dst)
      local pick, w = choice(p(U), samples, {rng = rng, draw = draw, debias = draw == nil})
      return kept(U, pick, w), near[pick]
    end
  end)
end

-- Makes a try that draws every column in its turn, as in_turn.lua of doc/gallery.md does, after the
-- columns were put in an order.
local function in_turn(name, what, prepared)
  return layered(name, what, 256, function(P, settings, data)
    local order = prepared(P, settings, data)
    return function(dst, samples, rng)
      local U, near = P:slice(dst)
      local places = order(near)
      U, near = U:pick_cols(places), near[places]
      local pi = probabilities(U:row_normalize():col_sums(), samples)
      local x = pi:cumsum() + rng:uniform()
      local pick = (pi - x + (x - 0.5 + 2^23 - 2^23)):above(0):positions()
      return kept(U, pick, 1 / pi[pick]), near[pick]
    end
  end)
end

-- Returns log(1 - q) at every entry, from the probability q with which the row draws that entry:
-- sums of it are the logarithms of the probability that no row draws a column.
local function missed(P, q) return P:with_values((1 - q):clamp(1e-30, 1):log()) end

-- Returns for each entry the probability that its row draws it, where a row draws k of its entries
-- with equal chances.
local function alike(P, k) return (k / P:degrees())[P:row_of()]:clamp(0, 1) end

-- Makes the block of pooled_draws.lua in doc/gallery.md, whose columns src are those that some row
-- has drawn; M has the logarithms from `missed`.
local function pooled_block(P, M, sums, dst, src)
  local pi = 1 - M:slice(dst, src):col_sums():exp()
  return P:slice(dst, src):scale_cols(1 / pi):row_normalize():scale_rows(sums[dst])
end

-- Returns 1 for the entries of U on the diagonal, since its rows are its first columns, else 0.
local function on_diagonal(U) return U:row_of():to_tensor():equals(U:col_of():to_tensor()) end

local function self_exact()
  return layered("self_exact", "LADIES, but a node itself is exact: only its neighbours are drawn",
    128, function(P)
      return function(dst, samples, rng)
        local U, near = P:slice(dst, {first = dst})
        local own = on_diagonal(U)
        local others = U:with_values(U:entry_values() * (1 - own))
        local pick, w = choice(others:col_sums(2), samples, {rng = rng, debias = true,
          always = ladies.range(1, #dst)})
        local A = U:pick_cols(pick):scale_cols(w)
        own = on_diagonal(A)
        local drawn = A:with_values(A:entry_values() * (1 - own)):row_sums()
        local times = others:row_sums() / (drawn + drawn:equals(0))
        return A:scale_entries(own + (1 - own) * times[A:row_of()]), near[pick]
      end
    end)
end

local function rescued()
  return layered("rescued", "LADIES; a row that is left empty then draws a neighbour of its own",
    128, function(P)
      return function(dst, samples, rng)
        local U, near = P:slice(dst)
        local pick, w = choice(U:col_sums(2), samples, {rng = rng, debias = true})
        local weights = ladies.zeros(#near)
        weights:add_at_(pick, w)
        local empty = U:pick_cols(pick):degrees():equals(0):positions()
        if #empty > 0 then
          local _, more = U:sample_rows(empty, 1, {p = U:entry_values(), replace = true, rng = rng})
          weights:add_at_(more, 1)
          pick = ladies.sampling.union(pick, more)
        end
        return kept(U, pick, weights[pick]), near[pick]
      end
    end)
end

local function calibrated()
  return layered("calibrated", "LADIES, its nodes' weights changed until row sums are those of P, "
    .. "nearly", 256, function(P)
      return function(dst, samples, rng)
        local U, near = P:slice(dst)
        local pick, w = choice(U:col_sums(2), samples, {rng = rng, debias = true})
        local A, sums = U:pick_cols(pick), U:row_sums()
        for _ = 1, 5 do                                   -- raking: Deville and Sarndal, 1992
          local off = sums / A:scale_cols(w):row_sums():clamp(1e-6, math.huge)
          w = w * A:scale_rows(off):col_sums() / A:col_sums()
        end
        return A:scale_cols(w), near[pick]
      end
    end)
end

local function opposite_numbers()
  return layered("opposite_numbers", "as same_numbers, but every other layer takes 1 - r for r",
    256, function(P)
      return function(dst, samples, rng, l)
        local U, near = P:slice(dst)
        local pi = probabilities(U:col_sums(2), samples)
        local r = rng:at(0):uniform_of(near)
        if l % 2 == 1 then r = 1 - r end
        local pick = (pi - r):above(0):positions()
        return U:pick_cols(pick):scale_cols(1 / pi[pick]), near[pick]
      end
    end)
end

local function largest()
  return layered("largest", "no draw at all: the columns with the largest norms", 256, function(P)
    return function(dst, samples)
      local U, near = P:slice(dst)
      local p = U:col_sums(2)
      local _, pick = p:topk(math.min(samples, #near))
      return kept(U, pick, ladies.ones(#pick)), near[pick]
    end
  end)
end

local function whole_top()
  return layered("whole_top", "the layer of the output has all neighbours, the others LADIES", 256,
    function(P, settings)
      return function(dst, samples, rng, l)
        local U, near = P:slice(dst)
        if l == settings.layers then return U, near end
        local pick, w = choice(U:col_sums(2), samples, {rng = rng, debias = true})
        return kept(U, pick, w), near[pick]
      end
    end)
end

local function sized()
  return layered("sized", "LADIES with a quarter of the nodes that a layer touches", 256,
    function(P)
      return function(dst, _, rng)
        local U, near = P:slice(dst)
        local pick, w = choice(U:col_sums(2), (#near + 3) // 4, {rng = rng, debias = true})
        return kept(U, pick, w), near[pick]
      end
    end)
end

local function pooled_apart()
  return layered("pooled_apart", "nodes with the probabilities of pooled, each on its own", 2,
    function(P, settings)
      local M, sums = missed(P, alike(P, settings.samples)), P:row_sums()
      return function(dst, _, rng)
        local U, near = M:slice(dst)
        local pi = 1 - U:col_sums():exp()
        local src = near[(pi - rng:uniform_of(near)):above(0):positions()]
        return pooled_block(P, M, sums, dst, src), src
      end
    end)
end

local function pooled_thinned()
  return layered("pooled_thinned", "pooled with 4, of which 256 nodes are kept, by their norms",
    256, function(P)
      local M, sums = missed(P, alike(P, 4)), P:row_sums()
      return function(dst, samples, rng)
        local _, src = P:sample_rows(dst, 4, {rng = rng})
        local pi, A = 1 - M:slice(dst, src):col_sums():exp(), P:slice(dst, src)
        local pick, w = choice(A:col_sums(2) / pi:square(), samples, {rng = rng, draw = "poisson"})
        return A:pick_cols(pick):scale_cols(w / pi[pick]):row_normalize():scale_rows(sums[dst]),
          src[pick]
      end
    end)
end

local function pooled_by_norms()
  return layered("pooled_by_norms", "pooled, but rows draw in proportion to the squares of P's "
    .. "entries, with replacement", 2, function(P, settings)
      local q = P:with_values(P:entry_values():square()):row_normalize():entry_values()
      local M, sums = missed(P, 1 - (1 - q) ^ settings.samples), P:row_sums()
      return function(dst, samples, rng)
        local _, src = P:sample_rows(dst, samples, {p = q, replace = true, rng = rng})
        return pooled_block(P, M, sums, dst, src), src
      end
    end)
end

local function pooled_self()
  return layered("pooled_self", "pooled, and every node has itself for certain", 1,
    function(P, settings)
      local own, loops, sums = on_diagonal(P), P:diagonal(), P:row_sums()
      local others = (P:degrees() - 1):clamp(1, math.huge)
      local q = (settings.samples / others)[P:row_of()]:clamp(0, 1)
      local M = missed(P, own + (1 - own) * q)
      return function(dst, samples, rng)
        local _, src = P:sample_rows(dst, samples, {always = loops, first = dst, rng = rng})
        return pooled_block(P, M, sums, dst, src), src
      end
    end)
end

-- Makes a try that adds to P~ H, in each row, the part of P's row sum that P~ lacks, times a
-- running mean of the rows of H.
local function mean_row()
  local function propagate(model, h, batch, rng)
    for l, block in ipairs(batch.blocks) do
      batch.inputs[l] = h
      local sum = block.mean and block.adj:matmul(h) + block.lacks:matmul(block.mean)
      h = model:layer(l, sum or h, sum and {} or block, rng)
    end
    return h
  end
  local function make(P, settings)
    local sums, means = P:row_sums(), {}
    local function after_step(batch)
      for l = 2, settings.layers do
        local h = batch.inputs[l]:detach()
        local mean = (h:col_sums() / h.n_rows):reshape(1, h.n_cols)
        means[l] = (means[l] and means[l] * 0.9 + mean * 0.1 or mean):detach()
      end
    end
    local function draw(_, seeds, rng)
      local dst, blocks = seeds, {}
      for l = settings.layers, 1, -1 do
        local U, near = P:slice(dst)
        local pick, w = choice(U:col_sums(2), settings.samples, {rng = rng, debias = true})
        local adj, src = U:pick_cols(pick):scale_cols(w), near[pick]
        local lacks = (sums[dst] - adj:row_sums()):reshape(#dst, 1)
        blocks[l], dst = {adj = adj, dst = dst, src = src, lacks = lacks, mean = means[l]}, src
      end
      return {blocks = blocks, input = dst, output = seeds, inputs = {}, propagate = propagate,
        after_step = after_step}
    end
    return setmetatable({name = "mean_row", adaptive = true}, {__call = draw})
  end
  return {name = "mean_row", samples = 256, make = make, what = "a mean row of each layer is "
    .. "remembered, and stands for what a row's weights lack of its sum"}
end

return {
  by("fair", "p(u) has every row of P divided by its sum: each has the same say",
    function(U) return U:row_normalize():col_sums() end),
  by("largest_share", "p(u) by the largest share that u has in a row, one by one",
    function(U) return U:row_normalize():col_max() end, "poisson"),
  calibrated(), self_exact(), rescued(), sized(), whole_top(), largest(), mean_row(),
  opposite_numbers(),
  in_turn("in_turn_by_degree", "in_turn, the columns by their degree", function(P)
    return function(near) return P:degrees(near):argsort() end
  end),
  in_turn("in_turn_by_part", "in_turn, the columns by 64 parts of the graph", function(P, _, data)
    local part_of = ladies.zeros(P.n_rows)
    for i, part in ipairs(data.graph:partition(64, {rng = ladies.rng(1)})) do
      part_of:add_at_(part, i)
    end
    return function(near) return part_of[near]:argsort() end
  end),
  pooled_apart(), pooled_by_norms(), pooled_self(), pooled_thinned(),
}
