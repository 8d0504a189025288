--- Decides which edges of a data set are examples of link prediction: one of each edge and its
-- reverse, and, where a type of edges has an inverse type, only the edges of the type itself.

local core = require "ladies_core"

--- is_example(edges: EdgeData, from: Index, to: Index) -> Tensor: returns for each edge, with its
-- ends in `from` and `to`, 1 where it is an example, otherwise 0.
return function(edges, from, to)
  local downward = from:above(to)
  if not edges.types then
    return edges.adjacency:is_symmetric() and 1 - downward or core.ones(#from)
  end
  local all, half = {}, {}
  for number, inverse in ipairs(edges.inverses:to_table()) do
    all[number] = (inverse == 0 or number < inverse) and 1 or 0
    half[number] = number == inverse and 1 or 0
  end
  return core.tensor(all)[edges.types] + core.tensor(half)[edges.types] * (1 - downward)
end
