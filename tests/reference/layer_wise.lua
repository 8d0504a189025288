--- Samplers of two layers for the lab, as users write them.
local ladies = require "ladies"

local M = {}

--- One whose layers draw(P, dst, rng) gives.
function M.new(name, draw)
  return {name = name, sampler = function(P)
    return function(seeds, rng)
      return ladies.sampling.mini_batch(seeds, 2, function(_, dst) return draw(P, dst, rng) end)
    end
  end}
end

--- Makes a sampler with 60 columns and LADIES' probabilities, drawn as `how` says, with the weights
-- weigh(w, rng).
function M.weighted(name, how, weigh)
  return M.new(name, function(P, dst, rng)
    local U, near = P:slice(dst)
    local pick, w = ladies.sampling.choice(U:col_sums(2), 60, {rng = rng, draw = how})
    return U:pick_cols(pick):scale_cols(weigh(w, rng)), near[pick]
  end)
end

return M
