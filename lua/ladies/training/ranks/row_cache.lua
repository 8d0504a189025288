--- Keeps rows of features that other ranks have, as many as fit into a number of bytes: at first
-- those of the nodes with the most entries, which are in most neighbourhoods, and then those that
-- this rank has asked for most often.
--
-- The rows that a rank asks for are counted from the beginning. After 1, 2, 4, 8, ... epochs the
-- rows are chosen anew by these counts; only rows that are not held already are brought. A row
-- takes the place of another one only where it was asked for at least twice more often, since it
-- has to be sent once and the other one has not.

local core = require "ladies_core"
local link = require "ladies.ranks.link"

local row_cache = {}

local RowCache = {__name = "RowCache"}
RowCache.__index = RowCache

-- Returns those ids of an ascending Index that are in another one, or, with `out`, those that are
-- not; n is the number of all rows.
local function among(ids, others, n, out)
  local there = core.zeros(n):add_at_(others, 1)[ids]
  return ids[out and 1 - there or there]
end

--- row_cache.chosen(order, counts, held, size) -> Index, Index: the `size` ids to hold, ascending,
-- and those of them that are not held yet. order: an Index of the ids that may be held, in which
-- earlier ids are preferred among equals; counts: how often each row was asked for, a vector; held:
-- the ids that are held now.
function row_cache.chosen(order, counts, held, size)
  local worth = counts:clone():add_at_(held, 1)
  local ids = order[(-worth[order]):argsort()]:slice(1, size):sort()
  return ids, among(ids, held, #counts, true)
end

--- row_cache.new(features, adjacency, size): makes a cache of `size` rows of Rows, or of as many as
-- other ranks have, for the graph of this Matrix. All ranks call it. Its field `features` are Rows
-- that hold this rank's rows and those of the cache.
function row_cache.new(features, adjacency, size)
  local order = features:missing((-adjacency:degrees()):argsort())
  local cache = setmetatable({
    own = features, features = features, order = order, size = math.min(size, #order),
    counts = core.zeros(features.n_rows), held = core.index{},
  }, RowCache)
  cache:renew()
  return cache
end

--- Counts rows, an Index, that this rank asks for.
function RowCache:note(ids)
  self.counts:add_at_(self.own:missing(ids), 1)
end

--- Chooses the rows anew, and brings those that are not here. All ranks call it.
function RowCache:renew()
  local ids, lacking = row_cache.chosen(self.order, self.counts, self.held, self.size)
  local kept = among(ids, self.held, #self.counts)
  self.features = link.fetched("features", link.fetch(link.kept(self.own, self.features, kept),
    lacking))
  self.held = ids
end

return row_cache
