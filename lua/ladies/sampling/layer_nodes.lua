--- The nodes of a layer: drawn, and never none.

local sampling = require "ladies.sampling"

--- layer_nodes(p, k, how) -> pick, w: sampling.choice(p, k, how), whose independent draws (draw =
-- "poisson") of no position are made again, as sampling.poisson does: a layer without nodes would
-- have no layer below.
return function(p, k, how)
  if how.draw == "poisson" and not how.always then
    return sampling.poisson(p, k, {rng = how.rng})
  end
  return sampling.choice(p, k, how)
end
