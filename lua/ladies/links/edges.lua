--- Makes the examples of link prediction: a list of a graph's edges, each once, divided into
-- training, validation and test edges, and the graph of the training edges, the only ones that
-- propagation may use, with what the data set knows of these (EdgeData).

local by_chance = require "ladies.links.by_chance"
local core = require "ladies_core"
local errors = require "ladies.base.errors"
local fields = require "ladies.base.fields"
local Graph = require "ladies.graph"
local in_time = require "ladies.links.in_time"
local is_example = require "ladies.links.is_example"
local edge_list = require "ladies.data.edges.list"
local options = require "ladies.base.options"

local Edges = {__name = "ladies.Edges"}
Edges.__index = Edges
fields.of_class(Edges, "n_nodes:integer undirected:boolean from:Index to:Index relations:Index "
  .. "n_relations:integer symmetric:Tensor both_ways:boolean train:Index val:Index test:Index "
  .. "graph:Graph edge_data:EdgeData weights:Tensor times:Index "
  .. "time_origin:integer")

local concat = core.sampling.concat

-- Returns the row of edges:others for each node and relation: (relation - 1) n_nodes + node.
local function rows_of(edges, nodes, relations)
  if not relations then return nodes end
  return (relations - 1) * edges.n_nodes + nodes
end

--- edges:rows(ends: Index, relations: Index | nil) -> Index: returns the rows of edges:others that
-- hold the other ends of edges with these ends and relations.
function Edges:rows(ends, relations) return rows_of(self, ends, relations) end

--- edges:incident(which: string [, positions: Index]) -> Index, Index, Index: returns the entries
-- of edges:others one by one, also those that are there several times: their rows, their columns,
-- and the edge of each.
function Edges:incident(which, positions)
  options.value("edges:incident", "which", which, "to|from")
  local at = options.value("edges:incident", "positions", positions, "Index or nil")
    or core.range(1, #self.from)
  local from, to, relations = self.from[at], self.to[at], self.relations and self.relations[at]
  if which == "from" then from, to = to, from end
  local rows, cols, of = rows_of(self, from, relations), to, at
  if self.undirected then
    rows, cols = concat{rows, rows_of(self, to, relations)}, concat{cols, from}
    of = concat{at, at}
  end
  if self.symmetric then
    local too = self.symmetric[relations]
    rows, cols = concat{rows, rows_of(self, to[too], relations[too])}, concat{cols, from[too]}
    of = concat{at, at[too]}
  end
  return rows, cols, of
end

--- edges:others(which: string [, positions: Index]) -> Matrix: returns a matrix of the nodes to or
-- from which each node has edges. For which = "to" row v has an entry for each node that an edge
-- from v ends at, for "from" row v has one for each node that an edge to v begins at; an undirected
-- edge does both. Where there are several relations, row (r - 1) n_nodes + v has the edges of
-- relation r. Only the edges at `positions` are counted, by default all.
function Edges:others(which, positions)
  local rows, cols = self:incident(which, positions)
  return core.matrix{n_rows = self.n_nodes * self.n_relations, n_cols = self.n_nodes, rows = rows,
    cols = cols}
end

-- Returns an adjacency with one entry for each pair of nodes that has any, of the sum of their
-- weights: parallel edges would be in several parts of the split.
local function simple(A)
  if A:is_simple() then return A end
  return core.matrix{n_rows = A.n_rows, n_cols = A.n_cols, rows = A:row_of(), cols = A:col_of(),
    values = A.values and A:entry_values() or nil}
end

-- Returns the entries of an adjacency that are examples: for an undirected graph those below the
-- diagonal, for a directed one all; without self-loops.
local function listed(A)
  local undirected = A:is_symmetric()
  local rows, cols = A:row_of(), A:col_of()
  local chosen = undirected and rows:above(cols) or 1 - rows:equals(cols)
  local edges = {n_nodes = A.n_rows, n_relations = 1, undirected = undirected,
    both_ways = undirected,
    from = cols[chosen], to = rows[chosen]}
  if A.values then edges.weights = A:entry_values()[chosen] end
  return edges, rows, cols
end

-- Returns an Index with the elements of `b` where the Index `which` is 1, and of `a` where it is 0.
local function choice(which, a, b) return a * (1 - which) + b * which end

-- Returns for each edge of a data set where it begins and ends, and its relation, as an example: an
-- undirected edge leads to the larger number, and one of an inverse type is the edge of the type
-- itself, the other way round.
local function as_examples(edge_data, undirected, typed)
  local A, entries = edge_data.adjacency, edge_data:entries()
  local from, to = A:col_of()[entries], A:row_of()[entries]
  local turned, relations = undirected and from:above(to):to_index() or from * 0, nil
  if typed then
    local types = edge_data.types
    local inverse = edge_data.inverses[types]
    local is_inverse = (types:above(inverse) * inverse:above(0)):to_index()
    turned = is_inverse + (types:equals(inverse) * from:above(to)):to_index()
    relations = choice(is_inverse, types, inverse)
  end
  return choice(turned, from, to), choice(turned, to, from), relations
end

-- Returns the examples of a data set's edges, of which equal ones (parallel edges, an edge and its
-- reverse or inverse) are one, and for each edge the number of its example, 0 for self-loops that
-- are none.
local function listed_of(edge_data, undirected, typed)
  local A = edge_data.adjacency
  local n, from, to, relations = A.n_rows, as_examples(edge_data, undirected, typed)
  local n_relations = relations and relations:max() or 1
  local rows = relations and (relations - 1) * n + to or to
  local kept = relations and core.range(1, #rows) or (1 - from:equals(to)):positions()
  local all = core.matrix{n_rows = n * n_relations, n_cols = n, rows = rows[kept],
    cols = from[kept]}
  local edges = {n_nodes = n, n_relations = n_relations, undirected = not typed and undirected,
    both_ways = undirected, from = all:col_of(), to = (all:row_of() - 1) % n + 1}
  if relations then
    edges.relations = (all:row_of() - 1) // n + 1
    edges.symmetric = edge_data.inverses:slice(1, n_relations):equals(core.range(1, n_relations))
  end
  return edges, all:find(rows, from)
end

-- Returns the examples of a data set's edges that are divided by their times: each edge at its time
-- is one, and an edge and its reverse or inverse at one time are one.
local function listed_in_time(edge_data, undirected, typed)
  local A, entries = edge_data.adjacency, edge_data:entries()
  local from, to = A:col_of()[entries], A:row_of()[entries]
  local chosen = is_example(edge_data, from, to)
  if not typed then chosen = chosen * (1 - from:equals(to)) end
  local edges = {n_nodes = A.n_rows, n_relations = 1, undirected = not typed and undirected,
    both_ways = undirected, from = from[chosen], to = to[chosen],
    times = edge_data.times[chosen], time_origin = edge_data.time_origin or 0}
  if typed then
    local relations = edge_data.types[chosen]
    edges.relations, edges.n_relations = relations, relations:max()
    edges.symmetric = edge_data.inverses:slice(1, edges.n_relations)
      :equals(core.range(1, edges.n_relations))
  end
  return edges
end

-- Returns the EdgeData of the graph that has the edges of the examples at `positions` and those
-- that are no examples.
local function edge_data_of(edges, edge_data, example_of, positions)
  local n = #edges.from
  local has = core.ones(#positions + 1):scatter_add(positions .. core.index{n + 1}, n + 1)
  local there = has[example_of + example_of:equals(0):to_index() * (n + 1)]:positions()
  return edge_list.part(edge_data, there)
end

-- Returns the graph that has the edges at `positions`, and all self-loops of the whole graph.
local function graph_of(edges, A, rows, cols, positions)
  local from, to = edges.from[positions], edges.to[positions]
  local weights = edges.weights and edges.weights[positions]
  local loops = #rows > 0 and rows:equals(cols) or core.zeros(1)
  local ends, beginnings, values = {to}, {from}, weights and {weights}
  local function add(more_rows, more_cols, more_values)
    ends[#ends + 1], beginnings[#beginnings + 1] = more_rows, more_cols
    if values then values[#values + 1] = more_values end
  end
  if edges.both_ways then add(from, to, weights) end
  if loops:max() > 0 then add(rows[loops], cols[loops], values and A:entry_values()[loops]) end
  return Graph.new(core.matrix{n_rows = edges.n_nodes, n_cols = edges.n_nodes, rows = concat(ends),
    cols = concat(beginnings), values = values and core.concat_rows(values)})
end

local SPLIT = {
  val = {"number in [0, 1)", 0.05}, test = {"number in [0, 1)", 0.1}, seed = {"integer", 1},
  edges = "EdgeData or nil", relations = {"boolean", false}, by = {"chance|time", "chance"},
  node_types = "Index or nil",
}

-- Fails unless the EdgeData is of the graph with this adjacency and has what is asked for.
local function check_edges(where, opts, A)
  if opts.relations and not (opts.edges and opts.edges.types) then
    errors.fail(where .. ": relations = true asks for edges with types, data.edges")
  elseif opts.edges and opts.edges.adjacency ~= A then
    errors.fail(where .. ": the edges are of another graph")
  elseif opts.by == "time" and not (opts.edges and opts.edges.times) then
    errors.fail(where .. ": a split by time asks for edges with times, data.edges")
  end
end

-- Orders the ends of undirected examples by the types of nodes: from the lower one to the higher.
local function by_node_types(edges, types)
  local from, to = edges.from, edges.to
  local turned = types[from]:above(types[to]):to_index()
  edges.from, edges.to = choice(turned, from, to), choice(turned, to, from)
end

--- links.split(graph: Graph [, {val = 0.05, test = 0.1, seed = 1, edges = EdgeData, relations =
-- false, by = "chance" | "time", node_types = Index}]) -> Edges: the edges of a graph as examples.
-- These shares of them, rounded down and drawn by the seed, are for validation and test; all others
-- are for training. The nodes where edge i begins and ends are edges.from[i] and edges.to[i]: entry
-- (v, u) of the adjacency is the edge from u to v. An undirected graph, one whose adjacency is
-- symmetric, has each edge once; self-loops are no examples, and parallel edges are one.
-- edges.train, edges.val and edges.test are positions of edges, ascending; edges.graph is the Graph
-- of those for training alone, both ways if edges.undirected, with weights and self-loops as they
-- were.
-- edges       what is known of the graph's edges, data.edges: edges.edge_data is then what is known
--             of those of edges.graph, in which parallel edges stay as they are
-- relations   whether the types of edges are relations: an example is a triple, of which
--             edges.relations has the type. An edge and its inverse are one example, of the type
--             that the inverse was made of; and so are an edge and its reverse, of a type that is
--             its own inverse
-- by          "time": the last edges by time (data.edges.times) are for test, those before them for
--             validation. Each edge at its time is then an example, also where a pair of nodes has
--             several, and edges.times has their times. Edges of one time are never divided: all of
--             them are in the later part, so that those for training are before all others
-- node_types  the type of each node, data.node_types: an undirected edge leads from the lower type
--             to the higher
function Edges.split(graph, given)
  local where = "ladies.links.split"
  options.value(where, "the graph", graph, "Graph")
  local opts = options.check(where, given, SPLIT)
  local A = options.value(where, "the adjacency", graph.adjacency, "Matrix")
  core.check_constant(where, A)
  check_edges(where, opts, A)
  A = simple(A)
  local edges, rows, cols, example_of
  if opts.by == "time" then
    edges = listed_in_time(opts.edges, A:is_symmetric(), opts.relations)
  elseif opts.edges then
    edges, example_of = listed_of(opts.edges, A:is_symmetric(), opts.relations)
  else
    edges, rows, cols = listed(A)
  end
  if opts.node_types and edges.undirected then by_node_types(edges, opts.node_types) end
  local parts = edges.times and in_time.parts(where, edges.times, opts.val, opts.test)
    or by_chance(where, #edges.from, opts.seed, opts.val, opts.test)
  edges.train, edges.val, edges.test = parts.train, parts.val, parts.test
  if edges.times then
    local past = parts.cut and opts.edges.times:below(parts.cut) or core.ones(#opts.edges.times)
    edges.edge_data = edge_list.part(opts.edges, past:positions())
  elseif opts.edges then
    edges.edge_data = edge_data_of(edges, opts.edges, example_of, edges.train)
  else
    edges.graph = graph_of(edges, A, rows, cols, edges.train)
  end
  if edges.edge_data then
    edges.graph = Graph.new(edges.edge_data.adjacency)
    edges.graph.relations = edges.edge_data.relations
  end
  return setmetatable(edges, Edges)
end

Edges.__operators = {__len = "#edges -> integer\nThe number of edges."}

function Edges:__len() return #self.from end

function Edges:__tostring()
  return ("Edges %d: %d for training, %d for validation, %d for test, %s"):format(#self,
    #self.train, self.val and #self.val or 0, self.test and #self.test or 0,
    self.undirected and "undirected" or "directed")
end

return Edges
