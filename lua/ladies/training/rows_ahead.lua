--- Mini-batches of several ranks that have a part of the features each (see
-- ladies.data.formats.shards): the rows that a rank lacks for the next mini-batches come from the
-- others while it trains on these.
--
-- Of its mini-batches of a step each rank takes so many at a time, a group, and brings the rows of
-- their inputs in one fetch: its rows go on from mini-batch to mini-batch (src/ranks/fetch.h). The
-- fetch of a group is begun when training on the group before begins, so at most two groups of
-- rows are held. Every rank goes through the same number of groups of each step, empty ones too:
-- all begin and end the same fetches in the same order, whoever is ahead.
--
-- Rows that are drawn often need not come often: the cache has those of the nodes of most edges,
-- which are in most neighbourhoods, fetched once.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local fold = require "ladies.ranks.fold"
local link = require "ladies.ranks.link"
local numbered_batches = require "ladies.training.numbered_batches"
local options = require "ladies.base.options"

local rows_ahead = {}

local KIND = "features"

--- Mini-batches of a group, at most.
rows_ahead.GROUP = 8

local RowsAhead = {__name = "RowsAhead"}
RowsAhead.__index = RowsAhead

--- Whether Rows, or features of another kind, are in parts that other ranks have.
function rows_ahead.is_for(features)
  return options.class_of(features) == "Rows" and not features.whole
end

--- The nodes whose rows a cache of so many bytes holds beside those that are here: of those that
-- are elsewhere, the ones of most entries in the Matrix `adjacency`, as an ascending Index.
function rows_ahead.cached(features, adjacency, bytes)
  local row = features.n_cols * (features.dtype == "float32" and 4 or 2)
  local by_degree = features:missing((-adjacency:degrees()):argsort())
  return by_degree:slice(1, math.min(#by_degree, bytes // row)):sort()
end

--- The groups of a step of so many mini-batches, of `size` ranks.
function rows_ahead.groups(size, step)
  local most = (step + size - 1) // size
  return (most + rows_ahead.GROUP - 1) // rows_ahead.GROUP
end

--- The nodes whose rows a model needs for mini-batches, but for those that bring their own: an
-- ascending Index.
function rows_ahead.nodes_of(model, batches)
  local all = core.index{}
  for _, batch in ipairs(batches) do
    if not batch.features then
      all = all .. (model.feature_nodes and model:feature_nodes(batch) or batch.input)
    end
  end
  return core.sampling.unique(all):sort()
end

--- rows_ahead.new{batches =, features =, adjacency =, cache =, step =, steps =, sampler =,
-- model =}: an iterator as `batches`, this rank's of so many whole steps of `step` mini-batches,
-- which has in each batch.features the rows of its nodes. cache: bytes, or nil. The nodes are
-- batch.input, or those that model:feature_nodes(batch) returns, where there is such a method.
function rows_ahead.new(given)
  local first, last = fold.share(link.rank, link.size, given.step)
  local ahead = setmetatable({
    batches = given.batches, sampler = given.sampler, model = given.model, own = last - first + 1,
    groups = rows_ahead.groups(link.size, given.step), steps = given.steps,
    features = given.features,
    begun = 0, done = 0, finished = 0,       -- groups; whole steps
    queue = {}, next = {},     -- mini-batches of the group in hand, and of the one that comes
  }, RowsAhead)
  if given.cache then
    ahead.features = link.fetched(KIND, link.fetch(given.features,
      rows_ahead.cached(given.features, given.adjacency, given.cache)))
  end
  ahead:begin()
  return ahead
end

local MUST_CALL = {"penalty", "after_step"}

-- The next of this rank's mini-batches.
function RowsAhead:draw()
  local batch = self.batches()
  for _, name in ipairs(MUST_CALL) do
    if batch[name] then
      errors.fail(("ladies.train: mini-batches of %s have %s, and several are drawn before the "
        .. "loop has called it, for their features are in shards"):format(
          numbered_batches.name_of(self.sampler), name))
    end
  end
  return batch
end

-- Draws the next group, and begins its fetch.
function RowsAhead:begin()
  if self.begun == self.groups * self.steps then return end
  local done = self.begun % self.groups * rows_ahead.GROUP      -- of the step
  self.begun, self.next = self.begun + 1, {}
  for _ = done + 1, math.min(self.own, done + rows_ahead.GROUP) do
    table.insert(self.next, self:draw())
  end
  self.fetch = link.fetch(self.features, rows_ahead.nodes_of(self.model, self.next))
end

-- Waits for the rows of the group that was begun, and begins the one after it.
function RowsAhead:turn()
  local rows = link.fetched(KIND, self.fetch)
  self.fetch, self.queue, self.done = nil, self.next, self.done + 1
  for _, batch in ipairs(self.queue) do batch.features = batch.features or rows end
  self:begin()
end

--- The next of this rank's mini-batches.
function RowsAhead:__call()
  if #self.queue == 0 then self:turn() elseif self.fetch then link.go_on(self.fetch) end
  return table.remove(self.queue, 1)
end

--- Goes through what is left of the step's groups, though this rank has no mini-batch there, or
-- does not train on it any more.
function RowsAhead:finish_step()
  self.queue, self.finished = {}, self.finished + 1
  while self.done < self.finished * self.groups do self:turn() end
end

--- Ends the fetch that is under way, which the other ranks end too: no step follows.
function RowsAhead:finish()
  if self.fetch then link.fetched(KIND, self.fetch) end
  self.fetch, self.steps = nil, 0
end

--- Stops the workers, if there are any.
function RowsAhead:close()
  self.batches:close()
end

return rows_ahead
