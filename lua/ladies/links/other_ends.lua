--- Draws nodes that take the place of one end of an edge: of all nodes, or where nodes have types
-- of those of the type of the end itself.

local core = require "ladies_core"
local sampling = core.sampling

--- other_ends(types: Index | nil [, weights: Tensor]) -> function: draw(others, rows, own, k,
-- given) -> Index: for each i, k nodes without an entry in row rows[i] of the Matrix `others`, of
-- the type of the node own[i], one after the other; uniformly, or in proportion to the weights.
-- given: the options of sampling.negatives besides p. It can be copied to workers.
return function(types, weights)
  if not types then
    local p = weights and sampling.alias(weights) or nil
    return function(others, rows, _, k, given)
      return sampling.negatives(others, rows, k, {rng = given.rng, loops = given.loops, p = p})
    end
  end
  local of_type, last = {}, types:max()
  for kind = 1, last do
    local chosen = types:equals(kind)
    if weights then chosen = chosen * weights end
    if chosen:max() > 0 then of_type[kind] = sampling.alias(chosen) end
  end
  return function(others, rows, own, k, given)
    local drawn, places, own_types = {}, {}, types[own]
    for kind = 1, last do                        -- in order, since each call takes a stream of rng
      local p, at = of_type[kind], own_types:equals(kind):positions()
      if #at > 0 then
        local all = core.range(1, #at * k) - 1
        places[#places + 1] = (at[all // k + 1] - 1) * k + all % k + 1
        drawn[#drawn + 1] = sampling.negatives(others, rows[at], k,
          {rng = given.rng, loops = given.loops, p = p})
      end
    end
    if #drawn < 2 then return drawn[1] or core.index{} end
    return sampling.concat(drawn)[sampling.find(sampling.concat(places),
      core.range(1, #rows * k))]
  end
end
