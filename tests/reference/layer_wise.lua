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

--- One of 60 columns as LADIES has them, drawn as `how` says, with weights of weigh(w, rng).
function M.weighted(name, how, weigh)
  return M.new(name, function(P, dst, rng)
    local U, near = P:slice(dst)
    local pick, w = ladies.sampling.choice(U:col_sums(2), 60, {rng = rng, draw = how})
    return U:pick_cols(pick):scale_cols(weigh(w, rng)), near[pick]
  end)
end

return M
