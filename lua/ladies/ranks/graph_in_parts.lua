--- A graph of which each rank has the rows of its own shards (see ladies.data.formats.shards), and
-- others as long as they are needed: they are brought for some mini-batches that are drawn at the
-- same time (ladies.training.drawn_together).
--
-- What every rank knows of all nodes are their degrees, who has a self-loop, and the sums of rows
-- where there are weights: by these the factors of P are made.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local fields = require "ladies.base.fields"
local link = require "ladies.ranks.link"

local GraphInParts = {__name = "ladies.GraphInParts"}
GraphInParts.__index = GraphInParts
fields.of_class(GraphInParts, "n_nodes n_entries n_loops hash symmetric degrees loops sums "
  .. "looped_sums parts bounds rows brought is_drawn asked")

--- The graph in parts that is in the same shards as features, by these Rows.
GraphInParts.beside = setmetatable({}, {__mode = "k"})

local KIND = "graph"

-- Where rows are not brought.
local WITHIN = "a sampler cannot wait for them within a function in C that calls it, as table.sort"
local ELSEWHERE = "they are brought for the mini-batches of ladies.train and of ladies.batches, "
  .. "with step and features, and within ladies.comm.together"

--- GraphInParts.new{n_nodes =, n_entries =, hash =, symmetric =, degrees =, loops =, sums =,
-- looped_sums =, parts =, bounds =}: the rows of the parts are here, as core.graph_rows takes these
-- and the bounds. degrees: a Tensor of those of all nodes; loops: the Index of the nodes with a
-- self-loop; hash, symmetric: of the whole graph; sums, looped_sums: of the rows of one with
-- weights, as they are and with loops of 1, Tensors.
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

-- The rows that are here now.
function GraphInParts:settle()
  local parts = table.move(self.parts, 1, #self.parts, 1, {})
  table.move(self.brought, 1, #self.brought, #parts + 1, parts)
  self.rows = core.graph_rows{n_nodes = self.n_nodes, parts = parts, bounds = self.bounds,
    weighted = self.sums ~= nil}
end

--- Forgets all rows but this rank's own.
function GraphInParts:forget()
  self.brought = {}
  self:settle()
end

--- Brings the rows `ids`, ascending, that are not here, and gives others theirs: all ranks call it,
-- also those that want none. Returns whether any of them wanted some.
function GraphInParts:bring(ids)
  local rows = link.fetch_graph(KIND, self.rows, ids)
  if not rows then return false end
  if #ids > 0 then
    table.insert(self.brought, {ids = ids, rows = rows})
    self:settle()
  end
  return true
end

-- The rows of an Index, the same at all ranks, which all call this.
function GraphInParts:collect_together(ids, opts)
  self:bring(self.rows:missing(ids))
  local rows = self.rows:collect(ids, opts)
  self:forget()
  return rows
end

--- The rows of an Index as a Matrix, with the options of core's collect: where some are at other
-- ranks, those who draw mini-batches together bring them meanwhile; so do all ranks within
-- link.shared, which call this for the same rows.
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

--- The first and the last row of this rank; the last is less where it has none.
function GraphInParts:own()
  return self.bounds[link.rank + 1] + 1, self.bounds[link.rank + 2]
end

return GraphInParts
