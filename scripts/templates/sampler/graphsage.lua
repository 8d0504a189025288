-- NAME.lua: a node-wise sampler.
--
-- Each node draws some of its own neighbours, whatever the others do. As it stands it is the
-- unbiased form of GraphSAGE (Hamilton et al., NeurIPS 2017): all neighbours are equally likely.
-- Options p and p_cols of P:sample_rows give them other probabilities.

local sampling = require("ladies").sampling

-- P: the propagation matrix of the graph. settings: of the run; `samples` and `layers` are used.
local function make(P, settings)
  -- seeds: the nodes that the mini-batch is for. rng: the only source of randomness, so that the
  -- same seed gives the same mini-batches again.
  return function(seeds, rng)
    -- From the output down: the layer l, whose nodes are dst, and the nodes that it reads.
    return sampling.mini_batch(seeds, settings.layers, function(_, dst)
      local S, src, w = P:sample_rows(dst, settings.samples, {first = dst, rng = rng})
      local adj = S:scale_entries(w)                              -- an estimate of P[dst, :]
      return adj, src                                             -- src: dst, then who was drawn
    end)
  end
end

-- Samples are of every node here: few are enough.
return {settings = {"samples"}, defaults = {samples = 5}, make = make}
