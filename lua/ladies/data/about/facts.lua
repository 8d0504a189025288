--- Computes the facts about a data set, such as numbers of nodes, edges and classes;
-- ladies.data.about.description puts them in words.

local core = require "ladies_core"
local checks = require "ladies.data.checks"
local labels = require "ladies.data.labels"
local medians = require "ladies.statistics.medians"
local options = require "ladies.base.options"
local tables = require "ladies.base.tables"
local targets = require "ladies.data.labels.targets"

local facts = {}

-- Returns the least and the greatest number of a Tensor, or of a Matrix with values; otherwise nil.
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

-- How many elements of an Index of types each type has: {{name, count}, ...}.
local function named_counts(types, names)
  return tables.map(types:counts(names and #names or types:max()), function(count, i)
    return {names and names[i] or tostring(i), count}
  end)
end

local function edge_parts(edges)
  local known = {count = #edges, features = edges.features and edges.features.n_cols}
  if edges.types then known.types = named_counts(edges.types, edges.type_names) end
  if edges.times and #edges.times > 0 then
    local origin = edges.time_origin or 0
    known.times = {edges.times:min() + origin, edges.times:max() + origin}
  end
  return known
end

--- Returns the facts of a data set, a table of
--
--   graphs                   {count =, least =, most =}: how many, and the nodes of the smallest
--                            and of the largest; nil for one graph
--   nodes, entries           the graph's nodes and stored entries
--   directed                 whether some entry lacks its mirror image, of the same weight
--   kept                     whether edges were kept as they are, which is why
--   edges                    entries; pairs of them (and self-loops) when not directed
--   self_loops               entries on the diagonal
--   isolated                 nodes without an edge from or to another one
--   empty_rows               where directed: nodes that hear nobody, isolated or not; else nil
--   weights                  nil, or {least, greatest}
--   merged                   edges given more than once, or nil where that is not known
--   components, largest      connected components (entries taken both ways); nodes of the largest
--   features                 {columns =, sparse =, stored =, density =, values =, dtype =}: values
--                            is {least, greatest}, or nil (all ones); dtype of Rows alone
--   class_sizes, unlabelled  an array with an element for each class; a number; nil without labels
--   mean_classes, no_class   where nodes have several: how many a labelled node has on average, and
--                            how many have none
--   edge_parts               of a data set whose edges have more than their ends, else nil: {count
--                            =, features = columns, types = {{name, edges}, ...}, times = {first,
--                            last}}, those that there are
--   node_types               {{name, nodes}, ...}, or nil
--   targets                  for each target {known =, least =, mean =, greatest =}, see
--                            ladies.data.labels.targets; nil without them
--   split                    {train =, val =, test =}, nil for parts that there are not
function facts.of(data)
  local graph, known = data.graph, facts.quick(data)
  known.directed, known.kept = not graph:is_symmetric(), data.directed
  known.self_loops, known.isolated = graph:n_self_loops(), graph:n_isolated()
  known.empty_rows = known.directed and graph.adjacency:empty_rows() or nil
  known.edges = known.directed and known.entries
    or (known.entries - known.self_loops) // 2 + known.self_loops
  known.weights = limits(graph.adjacency)

  local ids, components = graph:components()
  known.components, known.largest = components, largest(ids:counts(components))
  return known
end

--- Returns those facts that are known without reading the graph's entries: nodes, entries,
-- merged edges, features, classes and split.
function facts.quick(data)
  local known = {nodes = data.graph.n_nodes, entries = data.graph.n_edges, merged = data.merged}
  if data.graph_of then
    local sizes = data.graph_of:counts(data.n_graphs)
    table.sort(sizes)
    known.graphs = {count = #sizes, least = sizes[1], most = sizes[#sizes]}
  end
  known.features = features_of(data.features)
  local counted = data.labels and labels.kind_of(data.labels).count(data.labels, data.classes) or {}
  known.class_sizes, known.unlabelled = counted.sizes, counted.unlabelled
  known.mean_classes, known.no_class = counted.mean, counted.without
  known.targets = data.targets and targets.count(data.targets)
  known.edge_parts = data.edges and edge_parts(data.edges)
  known.node_types = data.node_types and named_counts(data.node_types, data.node_type_names)
  known.split = {}
  for _, part in ipairs(checks.SPLIT) do known.split[part] = data[part] and #data[part] end
  return known
end

--- Returns statistics of a graph's degrees (stored entries of a row): {mean =, median =, most =,
-- bins =}, with bins an array of {low, high, count} for the degrees 0, 1, 2..3, 4..7, ... up to the
-- largest.
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
  return {mean = graph.n_edges / n, median = medians.of(degrees),
    most = math.tointeger(degrees[n]), bins = bins}
end

return facts
