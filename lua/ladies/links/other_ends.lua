--- Draws nodes that take the place of one end of an edge: of all nodes, or where nodes have types
-- of those of the type of the end itself.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local sampling = core.sampling

-- Draws as sampling.negatives; an error names a node of `fixed` that has an edge to all others.
local function draw_for(fixed, others, rows, k, given)
  local ok, found = errors.try(sampling.negatives, others, rows, k, given)
  if ok then return found end
  local row = errors.message(found):match "^negatives: row (%d+) has an entry in every column"
  if not row then errors.pass_on(found) end
  local node = fixed[rows:equals(math.tointeger(row)):positions()[1]] - 1
  errors.fail(("links: node %d (from 0) has an edge to every node that could be drawn for its "
    .. 'other end; candidates = "all" or "pairs" and negatives = "pairs" draw none for it')
    :format(node))
end

--- other_ends(types: Index | nil [, weights: Tensor]) -> function: draw(others, rows, own, k,
-- given) -> Index: for each i, k nodes without an entry in row rows[i] of the Matrix `others`, of
-- the type of the node own[i], one after the other; uniformly, or in proportion to the weights.
-- given: the options of sampling.negatives besides p, and fixed, the end that stays of each i. It
-- can be copied to workers.
return function(types, weights)
  if not types then
    local p = weights and sampling.alias(weights) or nil
    return function(others, rows, _, k, given)
      return draw_for(given.fixed, others, rows, k, {rng = given.rng, loops = given.loops, p = p})
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
        drawn[#drawn + 1] = draw_for(given.fixed[at], others, rows[at], k,
          {rng = given.rng, loops = given.loops, p = p})
      end
    end
    if #drawn < 2 then return drawn[1] or core.index{} end
    return sampling.concat(drawn)[sampling.find(sampling.concat(places),
      core.range(1, #rows * k))]
  end
end
