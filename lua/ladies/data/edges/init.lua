--- Holds what a data set knows about its edges besides their ends: features, types (relations),
-- times, and weights. By an edge its target receives from its source; each edge is a row of
-- `features` and an element of the other parts; edges are in the order of the graph's entries, by
-- target and then by source.
--
--   adjacency                 the Matrix whose entries they are
--   features, feature_names   Tensor, edges x features, and the names of these, or nil
--   types, type_names         Index, 1 .. types, and what the types are called, or nil
--   inverses                  Index: for each type that of the reverse of its edges, 0 where edges
--                             were kept as they are; nil without types
--   times, time_origin        Index, whole numbers counted from time_origin, 0 or more; or nil
--   weights                   Tensor, or nil where all are one
--   counts                    Index: how many edges each entry stands for; nil where each is one
--
-- Parallel edges, those of one pair of nodes, are an entry each, unless `parallel` was "merge":
-- then an entry stands for several, and `counts` says how many.

local core = require "ladies_core"
local counted = require("ladies.base.units").counted
local errors = require "ladies.base.errors"
local fields = require "ladies.base.fields"
local options = require "ladies.base.options"
local relations = require "ladies.data.edges.relations"

local EdgeData = {__name = "ladies.EdgeData"}
EdgeData.__index = EdgeData
fields.of_class(EdgeData, "adjacency:Matrix features:Tensor feature_names:string[] types:Index "
  .. "type_names:string[] inverses:Index times:Index time_origin:integer weights:Tensor "
  .. "counts:Index aligned:table padded:table is_simple:boolean relations:table")

-- The parts that have an element or a row for each edge.
EdgeData.PARTS = {"features", "types", "times", "weights"}

--- Makes the edges of a data set of these fields, which are checked (see ladies.data.edges.list).
function EdgeData.new(parts)
  local edges = setmetatable({
    adjacency = parts.adjacency, features = parts.features, feature_names = parts.feature_names,
    types = parts.types, type_names = parts.type_names, inverses = parts.inverses,
    times = parts.times, time_origin = parts.time_origin, weights = parts.weights,
    counts = parts.counts, aligned = {}, padded = {},
  }, EdgeData)
  edges.is_simple = parts.adjacency:is_simple()
  edges.relations = parts.types and relations.of(edges) or nil
  return edges
end

--- edges:entries() -> Index: for each edge the position of its entry in the graph.
function EdgeData:entries()
  if not self.counts then return core.range(1, self.adjacency.nnz) end
  return self.counts:repeated()
end

-- Fails if entries of the graph stand for several edges.
local function check_single(edges, where)
  if not edges.counts then return end
  errors.fail(("%s: the graph has %d edges in %d entries, so that an entry is not one edge; "
    .. '--parallel keep (in Lua parallel = "keep") gives each an entry of its own'):format(where,
    #edges, edges.adjacency.nnz))
end

-- Returns the position in the graph of each entry of P, 0 for loops that only P has. It is computed
-- once for each P.
local function alignment(edges, where, P)
  for _, known in ipairs(edges.aligned) do
    if known.P.nnz == P.nnz and known.P:is_close(P, 0) then return known.at end
  end
  local ok, at = errors.try(P.align, P, edges.adjacency)
  if not ok then
    errors.fail(("%s: the matrix is not made of the data set's graph: %s"):format(where,
      errors.message(at)))
  end
  table.insert(edges.aligned, {P = P, at = at})
  return at
end

--- edges:positions(adj: Matrix) -> Index: for each entry of a Matrix the edge that it is: adj is a
-- P of the graph (data.graph:normalize) or slices of one, as the blocks of mini-batches are. 0
-- stands for a loop that normalisation has put there and that is no edge.
function EdgeData:positions(adj)
  local where = "edges:positions"
  options.value(where, "adj", adj, "Matrix")
  check_single(self, where)
  return alignment(self, where, adj.root or adj)[adj.edge]
end

-- Finds the edge of each entry of adj by the nodes of its row and its column. Where entries follow
-- each other that have the same, they are parallel edges, in their order.
local function found(edges, where, adj, dst, src)
  local A = edges.adjacency
  local rows, cols = dst[adj:row_of()], src[adj:col_of()]
  local at = A:find(rows, cols)
  local missing = at:equals(0) * (1 - rows:equals(cols))
  if #at > 0 and missing:max() > 0 then
    local k = missing:positions()[1]
    errors.fail(("%s: the entry of nodes %d and %d is no edge of the data set"):format(where,
      rows[k], cols[k]))
  end
  if #at < 2 or edges.is_simple then return at end
  local list = at:to_table()
  for k = 2, #list do
    if rows[k] == rows[k - 1] and cols[k] == cols[k - 1] and list[k] > 0 then
      list[k] = list[k - 1] + 1
    end
  end
  return core.index(list)
end

-- Tells whether a block's rows and columns are all nodes of the graph in their order.
local function is_whole(edges, block)
  local n = edges.adjacency.n_rows
  if block.adj.n_rows ~= n or block.adj.n_cols ~= n then return false end
  local all = core.range(1, n)
  return (block.dst == nil or block.dst == all) and (block.src == nil or block.src == all)
end

-- Returns the edges of a block's entries: by the matrix of which it is a slice or, if it is not a
-- slice, by its nodes.
local function edges_of(edges, block)
  local where, root = "edges:attach", block.adj.root
  if root and root.n_rows == edges.adjacency.n_rows or not root and is_whole(edges, block) then
    return edges:positions(block.adj)
  end
  check_single(edges, where)
  options.value(where, "the block's dst", block.dst, "Index")
  options.value(where, "the block's src", block.src, "Index")
  return found(edges, where, block.adj, block.dst, block.src)
end

-- Returns the rows of the features, or the elements of another part, at positions; zeros where a
-- position is 0. An Index has a zero at its end for that, in a copy that is kept.
local function at_positions(edges, part, positions)
  local values = edges[part]
  if #positions == 0 or positions:min() > 0 then return values[positions] end
  if part == "features" then
    local there = positions:above(0):positions()
    return core.zeros(#positions, values.n_cols):copy_rows_(there, values[positions[there]])
  end
  edges.padded[part] = edges.padded[part] or values .. core.index{0}
  return edges.padded[part][positions + positions:equals(0):to_index() * (#values + 1)]
end

-- The fields that a block has of its edges, each made when it is first read: `edge`, the positions
-- of its entries among the edges, and their rows of the parts.
local FIELDS = {edge_features = "features", edge_types = "types", edge_times = "times"}

local function field_of(edges, block, key)
  if key == "edge" then return edges_of(edges, block) end
  local part = FIELDS[key]
  if not part or not edges[part] then return nil end
  return at_positions(edges, part, block.edge)
end

--- edges:attach(block: table) -> table: the block itself, {adj = Matrix, dst = Index, src = Index},
-- which then has the fields `edge`, an Index as edges:positions(block.adj), and where the data set
-- has them edge_features (a Tensor, a row for each entry of adj), edge_types and edge_times
-- (Indexes); loops that are no edges have zeros. Each is made when it is first read. Blocks of
-- ladies.batches with {edges =} and of ladies.train have them.
function EdgeData:attach(block)
  return setmetatable(block, {__index = function(own, key)
    local value = field_of(self, own, key)
    own[key] = value
    return value
  end})
end

--- edges:attach_all(batch: MiniBatch) -> MiniBatch: the mini-batch itself, each of whose blocks
-- then has these fields.
function EdgeData:attach_all(batch)
  for _, block in ipairs(batch.blocks) do self:attach(block) end
  return batch
end

--- edges:hash() -> string: hexadecimal digits that depend on all that is known of the edges.
function EdgeData:hash()
  local words = {}
  for _, part in ipairs(EdgeData.PARTS) do
    words[#words + 1] = self[part] and self[part]:hash() or "-"
  end
  words[#words + 1] = self.counts and self.counts:hash() or "-"
  words[#words + 1] = tostring(self.time_origin or 0)
  return table.concat(words, " ")
end

EdgeData.__operators = {__len = "#edges -> integer\nThe number of edges."}

function EdgeData:__len()
  for _, part in ipairs(EdgeData.PARTS) do
    if self[part] then return #self[part] end
  end
  return self.adjacency.nnz
end

function EdgeData:__tostring()
  local words = {("EdgeData %d"):format(#self)}
  if self.features then words[#words + 1] = counted(self.features.n_cols, "feature") end
  if self.types then words[#words + 1] = counted(#self.type_names, "type") end
  if self.times then words[#words + 1] = "times" end
  if self.weights then words[#words + 1] = "weights" end
  return table.concat(words, ", ")
end

return EdgeData
