--- Parts of a graph that ranks work on: puts the nodes of a data set in the order of the parts, so
-- that those of a part lie in one shard, and divides the training nodes among the mini-batches of a
-- step, each of which takes its seeds from a part of its own.

local core = require "ladies_core"
local checks = require "ladies.data.checks"
local EdgeData = require "ladies.data.edges"
local errors = require "ladies.base.errors"
local Graph = require "ladies.graph"
local NodeNames = require "ladies.data.node_names"
local options = require "ladies.base.options"
local partition = require "ladies.graph.partition"
local tables = require "ladies.base.tables"

local parts = {}

-- ---------------------------------------------------------------- the order of nodes

-- Fails for a data set whose nodes cannot be put in another order.
local function check_order(where, data)
  if data.graph_of or data.edges and not data.edges.is_simple then
    errors.fail(("%s: parts: %s %s: its nodes are not put in another order"):format(where,
      data.name, data.graph_of and "is many graphs" or "has parallel edges"))
  elseif options.class_of(data.graph.adjacency) ~= "Matrix" then
    errors.fail(("%s: parts: this rank has a part of the graph of %s alone; one process has all")
      :format(where, data.name))
  end
end

-- Returns the elements of a list of names by line, in another order, as one text.
local function names_in(order, names)
  local lines = tables.map(order:to_table(), function(id) return names[id] end)
  return table.concat(lines, "\n")
end

-- Returns the graph of a Matrix whose rows and columns are put in another order.
local function graph_in(order, A)
  local B = A:induced(order)                     -- its rows are not sorted
  return Graph.new(core.csr{n_rows = B.n_rows, n_cols = B.n_cols, offsets = B:offsets(),
    columns = B:col_of(), values = A.values and B:entry_values() or nil})
end

-- Returns the edges of a graph that was put in another order, B.
local function edges_in(order, edges, B)
  local n, at = B.nnz, edges.adjacency:find(order[B:row_of()], order[B:col_of()])
  local rows = core.sampling.find(at, core.range(1, n))[edges:entries()]:group(n)
  local own = {adjacency = B, counts = edges.counts and edges.counts[at]}
  for _, part in ipairs(EdgeData.PARTS) do own[part] = edges[part] and edges[part][rows] end
  return EdgeData.new(tables.merged(edges, own))
end

--- parts.in_order(where, data, {parts =, by =, seed =}) -> Dataset, Index: a copy of a data set
-- whose nodes are in the order of so many parts of its graph (see ladies.partition.of), but with
-- its features as they were; and for each node the number that it has in `data`.
function parts.in_order(where, data, given)
  check_order(where, data)
  local A = data.graph.adjacency
  local list = partition.of(A, given.parts, {by = given.by, seed = given.seed,
    balanced = data.train})
  local order, ends = core.index{}, {}
  for i, part in ipairs(list) do
    if #part == 0 then
      errors.fail(("%s: part %d of %d would have no node: fewer parts are expected"):format(where,
        i, given.parts))
    end
    order = order .. part
    ends[i] = #order
  end
  local place = core.sampling.find(order, core.range(1, A.n_rows))
  local graph = graph_in(order, A)
  local copy = setmetatable(tables.merged(data, {
    graph = graph, edges = data.edges and edges_in(order, data.edges, graph.adjacency),
    part_ends = core.index(ends),
    former_ids = data.former_ids and data.former_ids[order] or order,
    labels = data.labels and data.labels[order], targets = data.targets and data.targets[order],
    node_types = data.node_types and data.node_types[order],
  }), getmetatable(data))
  for _, part in ipairs(checks.SPLIT) do copy[part] = data[part] and place[data[part]]:sort() end
  copy.node_names = data.node_names and NodeNames.new(names_in(order, data.node_names))
  copy.known_hashes = nil
  return copy, order
end

-- ---------------------------------------------------------------- seeds

-- Returns how many of some ascending nodes are at most `last`.
local function count_to(nodes, last)
  local low, high = 0, #nodes
  while low < high do
    local middle = (low + high + 1) // 2
    if nodes[middle] <= last then low = middle else high = middle - 1 end
  end
  return low
end

-- Divides nodes among n places by the parts of the graph in whose order they are: a place has
-- those of several parts, or several places share a part.
local function in_given_parts(where, data, nodes, n)
  local ends, list = data.part_ends, {}
  local k = #ends
  if n % k ~= 0 and k % n ~= 0 then
    errors.fail(("%s: %s is in %d parts: %d mini-batches of a step are neither a multiple nor a "
      .. "divisor of them"):format(where, data.name, k, n))
  end
  local groups, before = math.min(n, k), 0
  for i = 1, groups do
    local own = nodes:slice(before + 1, count_to(nodes, ends[i * k // groups]))
    local size = #own * groups // n
    for j = 1, n // groups do
      list[#list + 1] = own:slice((j - 1) * size + 1, j == n // groups and #own or j * size)
    end
    before = before + #own
  end
  return list
end

-- Divides nodes among n places by parts of the graph that METIS makes.
local function in_new_parts(where, data, nodes, n, seed)
  local A, list = data.graph and data.graph.adjacency, {}
  if not A then
    errors.fail(where .. ": parts are of a graph, and the data set has none")
  elseif options.class_of(A) ~= "Matrix" then
    errors.fail(("%s: parts need the whole graph, and that of %s is in shards: write these with "
      .. "its nodes in the order of parts (ladies import --shards N --shard-graph --parts K)")
      :format(where, data.name))
  end
  local part_of = partition.part_of(where, partition.of(A, n, {seed = seed, balanced = nodes}),
    A.n_rows)
  local order, ends = part_of[nodes]:group(n)
  for i = 1, n do list[i] = nodes[order:slice(ends[i], ends[i + 1] - 1)] end
  return list
end

-- Moves nodes from places that have too many of n to those that have too few; then they differ by
-- at most one.
local function level(list, n)
  local function due(i) return i * n // #list - (i - 1) * n // #list end
  local spare, used = core.index{}, 0
  for i, nodes in ipairs(list) do
    if #nodes > due(i) then
      list[i], spare = nodes:slice(1, due(i)), spare .. nodes:slice(due(i) + 1, #nodes)
    end
  end
  for i, nodes in ipairs(list) do
    local lacking = due(i) - #nodes
    if lacking > 0 then
      list[i], used = nodes .. spare:slice(used + 1, used + lacking), used + lacking
    end
  end
  return list
end

--- data.seed_parts(data: Dataset, n: integer [, {seed = 1, nodes = data.train}]) -> Index[]:
-- divides training nodes among the n mini-batches of a step, for ladies.batches{parts =}: the i-th
-- Index has the seeds of the i-th mini-batch, those of a part of the graph of its own, so that
-- mini-batches have few nodes in common. METIS makes the n parts, from the seed, and shares the
-- nodes out almost evenly (ladies.partition.of with `balanced`); where data.to_shards{parts =} has
-- put the nodes in the order of parts, they are these, whose number must be a multiple or a divisor
-- of n. Nodes that a part has in excess go to others, so that the numbers differ by at most one and
-- each node counts the same.
function parts.seeds(data, n, given)
  local where = "ladies.data.seed_parts"
  options.value(where, "the data set", data, "Dataset or table")
  n = options.value(where, "the number of mini-batches", n, "positive integer")
  local opts = options.check(where, given, {seed = {"integer", 1}, nodes = "Index or nil"})
  local nodes = opts.nodes or data.train
  if not nodes or #nodes < n then
    errors.fail(("%s: %d parts for %d training nodes"):format(where, n, nodes and #nodes or 0))
  end
  nodes = nodes:sort()
  local list = data.part_ends and in_given_parts(where, data, nodes, n)
    or in_new_parts(where, data, nodes, n, opts.seed)
  return level(list, #nodes)
end

return parts
