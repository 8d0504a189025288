-- NAME.lua: a layer-wise sampler.
--
-- Each layer draws its nodes together, from all neighbours of the nodes above it. As it stands it
-- is LADIES (Zou et al., NeurIPS 2019); p is what to change first.

local sampling = require("ladies").sampling

-- Returns numbers to which the probabilities of drawing nodes are in proportion, for a layer whose
-- nodes are dst: one for each of near, the nodes that have an entry in U = P[dst, near].
local function probability(U)
  return U:col_sums(2)                                            -- p(u) ~ ||P[dst, u]||^2
end

-- P: the propagation matrix of the graph. settings: of the run; `samples` and `layers` are used.
return function(P, settings)
  return sampling.layerwise(P, {
    samples = settings.samples, layers = settings.layers,
    probability = probability,    -- or a name: "squared_norms" is this one, but draws faster
    draw = "wor",                 -- without replacement; "wr": with it; "poisson": each on its own
    weight = "design",            -- 1 / (samples p), which makes sums estimates; or "debiased", ...
    normalize = "rows",           -- rows are divided by their sums; or "sums", "none"
  })
end
