--- Makes the graph of a list of edges that have features, types or times, and brings these into the
-- order of its entries. Which way edges go is settled here, as ladies.data.direction does it for
-- edges that have none of these:
--
--   * An edge without its reverse gets one, unless edges are kept as they are: with the same
--     features, weight and time. The reverse of an edge has its ends the other way round, and the
--     same type and time.
--   * With types: where all edges of a type have their reverse, it is left alone. Any other type
--     gets an inverse, "inverse NAME", which has the reverses of all of its edges.
--   * Edges that have the same ends, type and time, and neither features nor weights, are one edge.
--   * Other edges of one pair of nodes are parallel. With `parallel` = "keep", the default, each is
--     an entry of the graph; with "merge" they share one, whose weight is the sum of theirs.

local core = require "ladies_core"
local checks = require "ladies.data.checks"
local EdgeData = require "ladies.data.edges"
local grouped = require("ladies.base.units").grouped
local notes = require "ladies.data.notes"
local options = require "ladies.base.options"
local tables = require "ladies.base.tables"

local list = {}

local HOW = '--directed keep (in Lua directed = "keep") leaves them as they are'

-- Returns the arrays by which edges of a list are compared: their ends, and the parts that are the
-- same in an edge and its reverse.
local function keys_of(edges)
  local keys = {edges.targets, edges.sources}
  for _, part in ipairs{"types", "times"} do keys[#keys + 1] = edges[part] end
  return keys
end

local ALL = {"sources", "targets", table.unpack(EdgeData.PARTS)}

-- Returns a list of the edges at these positions.
local function picked(edges, positions)
  local own = tables.merged(edges)
  for _, part in ipairs(ALL) do own[part] = edges[part] and edges[part][positions] end
  return own
end

-- Adds the edges of `more`, a list, behind those of `edges`.
local function joined(edges, more)
  local all = tables.merged(edges)
  for _, part in ipairs(ALL) do all[part] = edges[part] and edges[part] .. more[part] end
  return all
end

-- ---------------------------------------------------------------- checks

local function check_part(context, edges, part)
  local n, values = #edges.sources, edges[part]
  if not values then return end
  checks.length(context, part, #values, n, "one for each edge")
  if options.class_of(values) == "Tensor" then checks.finite(context, part, values) end
end

--- Fails unless the parts of a list of edges of n nodes fit each other. In the context, `keys` has
-- names for sources, targets, features, types, times and weights of edges in a table `edges`.
function list.check(context, edges, n)
  local own = tables.merged(context, {keys = setmetatable(context.keys.edges or {},
    {__index = function(_, part) return "edge " .. part end})})
  checks.length(own, "targets", #edges.targets, #edges.sources, "as many targets as sources")
  checks.ids(own, "sources", edges.sources, n)
  checks.ids(own, "targets", edges.targets, n)
  for _, part in ipairs(EdgeData.PARTS) do check_part(own, edges, part) end
  if edges.feature_names then
    checks.length(own, "feature_names", #edges.feature_names, edges.features.n_cols,
      "one for each column of the edges' features")
  end
  if edges.types then
    local names = edges.type_names
    if names then checks.different(own, "type_names", names) end
    checks.ids(own, "types", edges.types, names and #names or math.maxinteger)
  end
end

-- ---------------------------------------------------------------- both ways

-- Returns the types of the edges at some positions, as a set and in ascending order.
local function types_among(edges, positions)
  local found, ascending = {}, {}
  for _, number in ipairs(edges.types[positions]:to_table()) do
    if not found[number] then
      found[number], ascending[#ascending + 1] = true, number
    end
  end
  table.sort(ascending)
  return found, ascending
end

-- Adds an inverse for each type of which some edges, those at one_way, have no reverse. Returns the
-- list, the names of these types, and how many edges were added.
local function with_inverses(edges, one_way)
  local lacking, ascending = types_among(edges, one_way)
  local inverse, names, all = {}, {}, table.move(edges.type_names, 1, #edges.type_names, 1, {})
  local taken = {}
  for _, name in ipairs(all) do taken[name] = true end
  for i, number in ipairs(ascending) do
    local name = "inverse " .. all[number]
    while taken[name] do name = "inverse " .. name end
    names[i], all[#all + 1], taken[name] = all[number], name, true
    inverse[number], inverse[#all] = #all, number
  end
  local of, positions, types = edges.types:to_table(), {}, {}
  local loops = edges.sources:equals(edges.targets):to_table()
  for i, number in ipairs(of) do
    if lacking[number] and loops[i] == 0 then
      positions[#positions + 1], types[#types + 1] = i, inverse[number]
    end
  end
  local more = picked(edges, core.index(positions))
  more.sources, more.targets, more.types = more.targets, more.sources, core.index(types)
  local both, inverses = joined(edges, more), {}
  both.type_names = all
  for number = 1, #all do inverses[number] = inverse[number] or number end
  both.inverses = core.index(inverses)
  return both, names, #positions
end

local function reversed(edges, one_way)
  local more = picked(edges, one_way)
  more.sources, more.targets = more.targets, more.sources
  return joined(edges, more)
end

-- Adds the reverses of edges that have none to the list, with notes about it.
local function both_ways(context, fields, edges)
  local one_way = core.edge_one_way(keys_of(edges))
  if #one_way == 0 then
    if edges.types then edges.inverses = core.range(1, #edges.type_names) end
    return edges
  end
  if not edges.types then
    local loops = edges.sources:equals(edges.targets):sum():item()
    notes.add(context, fields.notes, "%s of %s edges had no reverse and now go both ways; %s",
      grouped(#one_way), grouped(#edges.sources - loops), HOW)
    return reversed(edges, one_way)
  end
  local both, names, added = with_inverses(edges, one_way)
  notes.add(context, fields.notes, '%s edges of %d of %d types have an inverse now, such as '
    .. '"inverse %s"; %s', grouped(added), #names, #edges.type_names, names[1], HOW)
  return both
end

-- ---------------------------------------------------------------- the graph

-- Sorts the list in the order of the graph's entries and removes repeated edges; returns it and how
-- many were removed.
local function in_order(edges)
  local keys = keys_of(edges)
  local sorted = picked(edges, core.edge_order(keys))
  local n = #sorted.sources
  if n < 2 or sorted.features or sorted.weights then return sorted, 0 end
  local same = core.ones(n - 1)
  for _, key in ipairs(keys_of(sorted)) do
    same = same * key:slice(2, n):equals(key:slice(1, n - 1))
  end
  local others = (1 - same):positions() + 1
  if #others == n - 1 then return sorted, 0 end
  return picked(sorted, core.index{1} .. others), n - 1 - #others
end

local function without_ones(weights)
  if weights and weights:min() == 1 and weights:max() == 1 then return nil end
  return weights
end

--- Makes the graph's Matrix and its EdgeData from a sorted list.
function list.graph(edges, n, parallel)
  local given = {n_rows = n, n_cols = n, rows = edges.targets, cols = edges.sources,
    values = edges.weights}
  local own = tables.merged(edges)
  if parallel == "merge" then
    own.adjacency = core.matrix(given)
    if own.adjacency.nnz < #edges.sources then
      local entries = own.adjacency:find(edges.targets, edges.sources)
      own.counts = core.index(entries:counts(own.adjacency.nnz))
    end
  else
    own.adjacency = core.edge_matrix(given)
  end
  return own.adjacency, EdgeData.new(own)
end

--- list.part(edges: EdgeData, positions: Index) -> EdgeData: makes the EdgeData of some edges
-- alone, at ascending positions; its adjacency is their graph, in which parallel edges are entries
-- of their own or share one as they did.
function list.part(edges, positions)
  local A, entries = edges.adjacency, edges:entries()[positions]
  local own = {sources = A:col_of()[entries], targets = A:row_of()[entries],
    feature_names = edges.feature_names, type_names = edges.type_names, inverses = edges.inverses,
    time_origin = edges.time_origin}
  for _, name in ipairs(EdgeData.PARTS) do own[name] = edges[name] and edges[name][positions] end
  return select(2, list.graph(own, A.n_rows, edges.counts and "merge" or "keep"))
end

--- Replaces the field `edge_list` of a data set's fields by the graph made of it: {n = nodes,
-- sources =, targets =, ...} with parts as in ladies.data.edges: sets `adjacency`, `edges`,
-- `merged` and `directed`. asked: the option `directed`; parallel: the option of this name.
function list.settle(context, fields, asked, parallel)
  local n = fields.edge_list.n
  local edges = tables.merged(fields.edge_list)
  if edges.features and edges.features.ndim == 1 then
    edges.features = edges.features:reshape(#edges.features, 1)
  end
  list.check(context, edges, n)
  if edges.types and not edges.type_names then
    local names = {}
    for i = 1, #edges.types > 0 and edges.types:max() or 1 do names[i] = ("%d"):format(i - 1) end
    edges.type_names = names
  end
  local keep = (asked or fields.directed) == "keep"
  if keep and edges.types then
    local none = {}
    for i = 1, #edges.type_names do none[i] = 0 end
    edges.inverses = core.index(none)
  end
  local merged
  if not keep then
    merged = select(2, in_order(edges))        -- as listed, before each is there in both directions
    edges = both_ways(context, fields, edges)
  end
  edges, fields.merged = in_order(edges)
  fields.merged = merged or fields.merged
  edges.weights = without_ones(edges.weights)  -- not before: edges of weight 1 are parallel, too
  fields.adjacency, fields.edges = list.graph(edges, n, parallel)
  fields.directed = keep and not fields.adjacency:is_symmetric()
end

return list
