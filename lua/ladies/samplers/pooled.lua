--- The sampler of pooled draws: every row draws k of its entries, and all rows use every node that
-- any of them drew. It is of this program; doc/gallery.md tells how it was found.
--
-- From the output down, every node v above draws k of its d entries in P, uniformly without
-- replacement and independently of the other nodes. The layer below is D, all that was drawn. A
-- node is missing from it where each row that has an entry for it missed it, so its probability is
-- known exactly:
--     pi_u  =  1 - product over the rows v with an entry for u of (1 - min(1, k / d_v))
-- What a layer computes has two forms:
--     unbiased   P~_vu = P_vu / pi_u for u in D: the estimate of Horvitz and Thompson
--     mean       the mean over D with these weights, times the sum of P's row: the ratio estimate
--                of Hajek, which is slightly biased and has much less variance
-- A row has at least min(k, d) entries, so none is lost. doc/samplers.md has the variance.

local core = require "ladies_core"
local arguments = require "ladies.sampling.arguments"
local declared = require "ladies.sampling.declared"
local options = require "ladies.base.options"
local sampling = require "ladies.sampling"

local WHERE = "ladies.samplers.pooled"

local SPEC = declared.spec("pooled", {"samples", "layers", "self_nodes", "form"})

-- The largest number below 1 in single precision.
local BELOW_ONE = 1 - 2^-24

-- Returns a Matrix like P with log(1 - q) for the entries of each row v, where q = min(1, k / d_v)
-- is the probability that v draws the entry, and d_v how many there are to draw from. As small a q
-- as that of a hub is rounded in 1 - q; the quotient takes this rounding out again (Kahan). In
-- place of log(0) it has a number whose exponential is zero beside 1.
local function log_missed(P, k, d)
  local q = (k / d:clamp(1, math.huge)):clamp(0, 1)[P:row_of()]
  local missed = (1 - q):clamp(1e-30, BELOW_ONE)
  return P:with_values(missed:log() * (q / (1 - missed)))
end

-- Computes pi from the columns' sums x of log(1 - q): 1 - exp(x), by elu, which is exp(x) - 1 below
-- zero and loses no digits there. The first `certain` columns are there whoever draws.
local function probabilities(x, certain)
  local pi = -x:elu()
  return certain == 0 and pi or core.ones(certain) .. pi:slice(certain + 1, #pi)
end

-- Returns a function missed_by(k), which makes each matrix once.
local function matrices(P, d)
  local made = {}
  return function(k)
    made[k] = made[k] or log_missed(P, k, d)
    return made[k]
  end
end

--- ladies.samplers.pooled(P, {samples = {k1, k2, ...}, ...}) -> Sampler: a sampler(seeds, rng) ->
-- mini-batch.
-- samples     entries that each row draws, those of the first layer, nearest the features, first;
--             or one number for all of `layers`. A row with no more has them all
-- form        "mean" or "unbiased", see the file's header
-- self_nodes  "none": a node draws its self-loop like its other entries; "previous": a layer's
--             destinations are always in its src, where they come first, and a node draws k
--             entries besides its self-loop; "batch": the seeds are always in src and come first
local function pooled(P, given)
  arguments.check_square(WHERE, P)
  local opts = options.check(WHERE, given, SPEC)
  opts.samples = arguments.samples(WHERE, opts)
  local loops = opts.self_nodes == "previous" and P:diagonal() or nil
  local sums, d = P:row_sums(), P:degrees()
  if loops then d = d - loops:to_tensor():above(0) end
  local missed_by = matrices(P, d)
  for _, k in ipairs(opts.samples) do missed_by(k) end

  return function(seeds, rng)
    return sampling.mini_batch(seeds, #opts.samples, function(l, dst)
      local k, keep = opts.samples[l], arguments.kept(opts.self_nodes, seeds, dst)
      local _, src = P:sample_rows(dst, k, {always = loops, first = keep, rng = rng})
      local pi = probabilities(missed_by(k):slice(dst, src):col_sums(), keep and #keep or 0)
      local adj = P:slice(dst, src):scale_cols(1 / pi)
      if opts.form == "mean" then adj = adj:row_normalize():scale_rows(sums[dst]) end
      return adj, src
    end)
  end
end

return pooled
