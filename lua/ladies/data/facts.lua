--- What there is to know about a data set, as numbers; ladies.data.description puts them in words.

local core = require "ladies_core"
local checks = require "ladies.data.checks"
local labels = require "ladies.data.labels"
local options = require "ladies.base.options"

local facts = {}

-- The least and the greatest number of a Tensor, or of a Matrix that has numbers; or nil.
local function limits(values)
  if options.class_of(values) == "Tensor" then
    return #values > 0 and {values:detach():min(), values:detach():max()} or nil
  end
  local least, greatest = core.value_range(values)
  return least and {least, greatest} or nil
end

local function features_of(features)
  local cells = features.n_rows * features.n_cols
  if options.class_of(features) == "Tensor" then
    return {columns = features.n_cols, sparse = false, stored = cells, density = 1,
      values = cells > 0 and limits(features) or nil}
  end
  if options.class_of(features) == "Rows" then
    return {columns = features.n_cols, sparse = false, stored = cells, density = 1,
      dtype = features.dtype}
  end
  return {columns = features.n_cols, sparse = true, values = limits(features),
    stored = features.nnz, density = cells > 0 and features.nnz / cells or 0}
end

local function largest(counts)
  local most = 0
  for _, count in ipairs(counts) do most = math.max(most, count) end
  return most
end

--- The facts of a data set:
--
--   nodes, entries           the graph's nodes and stored entries
--   directed                 whether some entry lacks its mirror image
--   edges                    entries; pairs of them (and self-loops) when not directed
--   self_loops               entries on the diagonal
--   isolated                 nodes without an edge from or to another one
--   empty_rows               where directed: nodes that hear nobody, isolated or not; else nil
--   weights                  nil, or {least, greatest}
--   merged                   edges given more than once, or nil where that is not known
--   components, largest      connected components (entries taken both ways); nodes of the largest
--   features                 {columns =, sparse =, stored =, density =, values =, dtype =}: values
--                            is {least, greatest}, or nil (all ones); dtype of Rows alone
--   class_sizes, unlabelled  an array with an element for each class; a number
--   mean_classes, no_class   where nodes have several: how many a labelled node has on average, and
--                            how many have none
--   split                    {train =, val =, test =}, nil for parts that there are not
function facts.of(data)
  local graph, known = data.graph, facts.quick(data)
  known.directed = not graph:is_symmetric()
  known.self_loops, known.isolated = graph:n_self_loops(), graph:n_isolated()
  known.empty_rows = known.directed and graph.adjacency:empty_rows() or nil
  known.edges = known.directed and known.entries
    or (known.entries - known.self_loops) // 2 + known.self_loops
  known.weights = limits(graph.adjacency)
  known.merged = data.merged

  local ids, components = graph:components()
  known.components, known.largest = components, largest(ids:counts(components))
  return known
end

--- Those of the facts that need no look at the graph's entries: nodes, entries, features, classes
-- and split.
function facts.quick(data)
  local known = {nodes = data.graph.n_nodes, entries = data.graph.n_edges}
  known.features = features_of(data.features)
  local counted = labels.kind_of(data.labels).count(data.labels, data.classes)
  known.class_sizes, known.unlabelled = counted.sizes, counted.unlabelled
  known.mean_classes, known.no_class = counted.mean, counted.without
  known.split = {}
  for _, part in ipairs(checks.SPLIT) do known.split[part] = data[part] and #data[part] end
  return known
end

--- The degrees of a graph (stored entries of a row): {mean =, median =, most =, bins =}, with bins
-- an array of {low, high, count} for the degrees 0, 1, 2..3, 4..7, ... up to the largest.
function facts.degrees(graph)
  local degrees = graph:degrees():to_table()
  table.sort(degrees)
  local n = #degrees
  local bins, at, low, high = {}, 1, 0, 0
  while at <= n do
    local from = at
    while at <= n and degrees[at] <= high do at = at + 1 end
    bins[#bins + 1] = {low, high, at - from}
    low, high = high + 1, 2 * high + 1
  end
  return {mean = graph.n_edges / n, median = (degrees[(n + 1) // 2] + degrees[n // 2 + 1]) / 2,
    most = math.tointeger(degrees[n]), bins = bins}
end

return facts
