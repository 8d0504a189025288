--- Stands for a graph that is divided among the ranks: each has the rows of its own shards of the
-- adjacency (see ladies.data.formats.large.shards). Rows that other ranks have are brought for some
-- mini-batches that are drawn at the same time (ladies.training.ranks.drawn_together), and
-- forgotten after these.
--
-- Every rank knows, of all nodes, what the entries of P are computed from: their degrees, whether
-- they have a self-loop and, in a graph with weights, the sums of their rows.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local fields = require "ladies.base.fields"
local link = require "ladies.ranks.link"

local GraphInParts = {__name = "ladies.GraphInParts"}
GraphInParts.__index = GraphInParts
fields.of_class(GraphInParts, "n_nodes n_entries n_loops hash symmetric degrees loops sums "
  .. "looped_sums parts bounds rows brought is_drawn asked")

--- Maps features (Rows) that are read from shards to the graph in parts of the same shards.
GraphInParts.beside = setmetatable({}, {__mode = "k"})

local KIND = "graph"

-- Texts for the error that a row is at another rank and cannot be brought now.
local WITHIN = "a sampler cannot wait for them within a function in C that calls it, as table.sort"
local ELSEWHERE = "they are brought for the mini-batches of ladies.train and of ladies.batches, "
  .. "with step and features, and within ladies.comm.together"

--- GraphInParts.new{n_nodes =, n_entries =, hash =, symmetric =, degrees =, loops =, sums =,
-- looped_sums =, parts =, bounds =}: makes the graph from this rank's rows, `parts` and `bounds` as
-- core.graph_rows takes them. degrees: a Tensor with those of all nodes; loops: the Index of the
-- nodes with a self-loop; hash, symmetric: of the whole graph; sums, looped_sums: of the rows of
-- one with weights, as they are and with loops of 1, Tensors.
function GraphInParts.new(given)
  local graph = setmetatable({
    n_nodes = given.n_nodes, n_entries = given.n_entries, n_loops = #given.loops,
    hash = given.hash, symmetric = given.symmetric, degrees = given.degrees, loops = given.loops,
    sums = given.sums, looped_sums = given.looped_sums,
    parts = given.parts, bounds = given.bounds, is_drawn = false,
  }, GraphInParts)
  graph:forget()
  return graph
end

-- Makes self.rows of the rows that this process has now, its own and those that were brought.
function GraphInParts:settle()
  local parts = table.move(self.parts, 1, #self.parts, 1, {})
  table.move(self.brought, 1, #self.brought, #parts + 1, parts)
  self.rows = core.graph_rows{n_nodes = self.n_nodes, parts = parts, bounds = self.bounds,
    weighted = self.sums ~= nil}
end

--- Drops the rows that were brought from other ranks.
function GraphInParts:forget()
  self.brought = {}
  self:settle()
end

--- Brings those of the rows `ids` (ascending) that this rank lacks, and sends other ranks the rows
-- that they want. All ranks call it, also those that want none. Returns whether any of them wanted
-- some.
function GraphInParts:bring(ids)
  local rows = link.fetch_graph(KIND, self.rows, ids)
  if not rows then return false end
  if #ids > 0 then
    table.insert(self.brought, {ids = ids, rows = rows})
    self:settle()
  end
  return true
end

-- Returns the rows of an Index, which is the same at all ranks, as a Matrix; all ranks call this
-- together.
function GraphInParts:collect_together(ids, opts)
  self:bring(self.rows:missing(ids))
  local rows = self.rows:collect(ids, opts)
  self:forget()
  return rows
end

--- Returns the rows of an Index as a Matrix, with the options of core's collect. Rows of other
-- ranks are brought where the ranks draw mini-batches together, and within link.shared, where all
-- ranks call this for the same rows; elsewhere they are an error.
function GraphInParts:collect(ids, opts)
  if link.is_sharing() then return self:collect_together(ids, opts) end
  local missing = self.rows:missing(ids)
  if #missing > 0 and self.is_drawn and coroutine.isyieldable() then
    coroutine.yield(self, missing)
  elseif #missing > 0 then
    errors.fail(("%d rows of the graph, which is in shards, are at other ranks, the first of them "
      .. "row %d; %s"):format(#missing, missing[1], self.is_drawn and WITHIN or ELSEWHERE))
  end
  return self.rows:collect(ids, opts)
end

--- Returns the first and the last of this rank's own rows; the last is less where it has none.
function GraphInParts:own()
  return self.bounds[link.rank + 1] + 1, self.bounds[link.rank + 2]
end

return GraphInParts
