--- The disjoint union of ego graphs, one seed after the other: A:ego_graphs in other operations.
local ladies = require "ladies"

local sampling = ladies.sampling

-- The nodes of a seed's ego graph, itself first.
local function ego(A, seed, k, depth, rng)
  local nodes, frontier = seed, seed
  for _ = 1, depth do
    local _, near = A:sample_rows(frontier, k, {rng = rng})
    local known = #nodes
    nodes = sampling.union(nodes, near)
    if #nodes == known then break end
    frontier = nodes:slice(known + 1, #nodes)
  end
  return nodes
end

--- ego_graphs(A, seeds, k, depth, rng) -> Matrix, Index: as A:ego_graphs, bit for bit, for one seed
-- at least.
return function(A, seeds, k, depth, rng)
  local parts, roots, at = {}, {}, 1
  for i = 1, #seeds do
    local nodes = ego(A, seeds:slice(i, i), k, depth, rng)
    parts[i] = {adj = A:induced(nodes), dst = nodes, src = nodes}
    roots[i], at = at, at + #nodes
  end
  local all = sampling.disjoint_union(parts)
  local order = sampling.union(ladies.index(roots), ladies.range(1, #all.src))
  return all.adj:induced(order), all.src[order]
end
