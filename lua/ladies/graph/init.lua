--- The class of graphs: a square adjacency matrix, and what is computed from it once and kept.
--
-- Rows are destinations, columns sources: entry (v, u) is the edge by which v receives from u. The
-- matrix is kept as it was given: it is not made symmetric, and no self-loop is added or dropped.

local errors = require "ladies.base.errors"
local fields = require "ladies.base.fields"
local options = require "ladies.base.options"
local partition = require "ladies.graph.partition"
local tables = require "ladies.base.tables"

local Graph = {__name = "ladies.Graph"}
Graph.__index = Graph
fields.of_class(Graph, "adjacency:Matrix n_nodes:integer n_edges:integer normalized:table "
  .. "row_degrees:Tensor relations:table")

--- ladies.graph.new(adjacency: Matrix) -> Graph: a graph over a square Matrix: `adjacency`,
-- `n_nodes` and `n_edges`, the stored entries (an undirected edge is two of them).
function Graph.new(adjacency)
  if options.class_of(adjacency) ~= "MatrixInParts" then
    options.value("ladies.graph", "the adjacency", adjacency, "Matrix")
  end
  if adjacency.n_rows ~= adjacency.n_cols then
    errors.fail(("ladies.graph: the adjacency must be square, got %s"):format(adjacency))
  end
  return setmetatable({
    adjacency = adjacency, n_nodes = adjacency.n_rows, n_edges = adjacency.nnz, normalized = {},
  }, Graph)
end

--- graph:normalize(kind: "sym" | "row" | "none" [, {self_loops = true, lambda = 0}]) -> Matrix: the
-- propagation matrix P as a Matrix: "sym" is D^-1/2 (A+I) D^-1/2, "row" is D^-1 (A+I), with D the
-- row sums, and "none" is A+I; {self_loops = false} leaves A as it is, and {lambda = x} gives P + x
-- diag(P) (Cluster-GCN's diagonal enhancement). Each kind is computed once and kept, unless A
-- carries a gradient: then it is made anew each time. Self-loops that A already has get weight 1.
-- Where ranks have parts of a graph (data.to_shards) P is in parts, too: samplers take its rows.
-- In a directed graph D holds in-degrees (row sums), on both sides of "sym" too, and P is not
-- symmetric; without self-loops, the column of a node without incoming edges is then zero, as its
-- row is.
function Graph:normalize(kind, opts)
  options.value("graph:normalize", "the graph", self, "Graph")
  kind = options.value("graph:normalize", "the kind", kind, "sym|row|none")
  opts = options.check("graph:normalize", opts, {
    self_loops = {"boolean", true}, lambda = {"number", 0},
  })
  local key = ("%s %s %.17g"):format(kind, opts.self_loops, opts.lambda)
  if self.normalized[key] then return self.normalized[key] end
  local P = self.adjacency:normalize(kind, {self_loops = opts.self_loops})
  if opts.lambda ~= 0 and options.class_of(P) == "MatrixInParts" then
    errors.fail "graph:normalize: lambda needs the whole graph, and this one is in shards"
  elseif opts.lambda ~= 0 then P = P:add_diag(P:diagonal_values() * opts.lambda) end
  if not self.adjacency.requires_grad then self.normalized[key] = P end
  return P
end

--- graph:name_of(P) -> table | nil: the arguments of graph:normalize that gave a P, {normalize =,
-- lambda =, self_loops =}; nil for a Matrix that it has not made.
function Graph:name_of(P)
  -- Two of them may be equal; sorted keys make the name always the same then.
  for _, key in ipairs(tables.sorted_keys(self.normalized)) do
    if self.normalized[key]:is_close(P, 0) then
      local kind, self_loops, lambda = key:match "(%S+) (%S+) (%S+)"
      return {normalize = kind, self_loops = self_loops == "true", lambda = tonumber(lambda)}
    end
  end
end

--- graph:degrees() -> Tensor: the number of entries in each row, a vector.
function Graph:degrees()
  self.row_degrees = self.row_degrees or self.adjacency:degrees()
  return self.row_degrees
end

--- graph:n_isolated() -> integer: the number of nodes without an edge from or to another one. (A
-- node of a directed graph that hears nobody may still be heard: adjacency:empty_rows() counts
-- those that hear nobody.)
function Graph:n_isolated()
  local adjacency = self.adjacency
  if options.class_of(adjacency) == "MatrixInParts" then return adjacency:isolated() end
  local ids, n = adjacency:components()
  local alone = 0
  for _, size in ipairs(ids:counts(n)) do
    if size == 1 then alone = alone + 1 end
  end
  return alone
end

--- graph:n_self_loops() -> integer: the number of nodes with an edge to themselves.
function Graph:n_self_loops()
  return self.adjacency:loops()
end

--- graph:components() -> Index, integer: the connected component of every node, an Index, and how
-- many there are; edges count both ways.
function Graph:components()
  return self.adjacency:components()
end

--- graph:partition(k [, {by = "metis", seed = 1, rng =, weighted = false, passes = 10, balanced =
-- Index}]) -> Index[], integer: the nodes in k parts, an array of Index, and the number of entries
-- between parts; the options (by = "metis", "ldg" or "random", and the others) are those of
-- ladies.partition.of.
function Graph:partition(k, given)
  return partition.of(self.adjacency, k, given)
end

--- graph:is_symmetric() -> boolean: whether every edge goes both ways with the same weight.
function Graph:is_symmetric()
  return self.adjacency:is_symmetric()
end

function Graph:__show()
  if self.n_nodes == 0 then return tostring(self) end
  local degrees = self:degrees()
  return ("%s\n  entries of a row: %d to %d, %.4g on average; empty: %d"):format(tostring(self),
    degrees:min(), degrees:max(), self.n_edges / self.n_nodes, self.adjacency:empty_rows())
end

Graph.__operators = {__len = "#graph -> integer\nThe number of nodes."}

function Graph:__len() return self.n_nodes end

function Graph:__tostring()
  return ("Graph %d nodes, %d entries"):format(self.n_nodes, self.n_edges)
end

return Graph
