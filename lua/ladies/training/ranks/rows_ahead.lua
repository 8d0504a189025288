--- Brings rows of features in advance, for ranks that have a part of the features each (see
-- ladies.data.formats.large.shards): the rows that a rank lacks for its next mini-batches are
-- brought from the others while it trains on the present ones.
--
-- Each rank divides its mini-batches of a step into groups, and brings the rows of a group's inputs
-- in one fetch (src/plugins/ranks/fetch_features.h). The fetch of a group is begun when training on
-- the group before begins, so at most two groups of rows are held. Every rank goes through the same
-- number of groups of each step, empty ones too: all begin and end the same fetches in the same
-- order, whichever rank is ahead.
--
-- Rows that are often needed are kept (see ladies.training.ranks.row_cache).

local core = require "ladies_core"
local drawn_together = require "ladies.training.ranks.drawn_together"
local fold = require "ladies.ranks.fold"
local link = require "ladies.ranks.link"
local options = require "ladies.base.options"

local rows_ahead = {}

local KIND = "features"

--- The most mini-batches in a group.
rows_ahead.GROUP = 8

local RowsAhead = {__name = "RowsAhead"}
RowsAhead.__index = RowsAhead

--- Tells whether features are Rows of which other ranks have parts.
function rows_ahead.is_for(features)
  return options.class_of(features) == "Rows" and not features.whole
end

--- Returns the number of bytes of a row of features as shards have it: Rows as they are stored, a
-- Tensor or a Matrix as float32.
function rows_ahead.row_bytes(features)
  local dtype = options.class_of(features) == "Rows" and features.dtype
  return features.n_cols * ((dtype == "float16" or dtype == "bfloat16") and 2 or 4)
end

--- Returns the number of groups in a step of so many mini-batches, for `size` ranks.
function rows_ahead.groups(size, step)
  local most = (step + size - 1) // size
  return (most + rows_ahead.GROUP - 1) // rows_ahead.GROUP
end

--- Returns the number of steps, of `step` mini-batches, after which an epoch is over.
function rows_ahead.steps_of(per_epoch, step)
  return (per_epoch + step - 1) // step
end

--- Returns the nodes whose rows a model needs for mini-batches, except those that bring their own,
-- as an ascending Index. They are batch.input, or what model:feature_nodes(batch) returns if the
-- model has that method.
function rows_ahead.nodes_of(model, batches)
  local all, of_model = core.index{}, model and model.feature_nodes
  for _, batch in ipairs(batches) do
    if not batch.features then
      all = all .. (of_model and model:feature_nodes(batch) or batch.input)
    end
  end
  return core.sampling.unique(all):sort()
end

--- rows_ahead.new(batches, {features =, graph =, step =, steps = [, model =, cache =, epoch =]}):
-- makes an iterator over this rank's mini-batches of `batches`, for `steps` whole steps of `step`
-- mini-batches of all ranks. Each mini-batch gets the field `features`, with the rows of its nodes
-- (see nodes_of).
-- graph: the GraphInParts that the mini-batches are drawn from, or nil.
-- cache: a RowCache of the features, which is renewed after 1, 2, 4, ... times `epoch` steps
function rows_ahead.new(batches, given)
  local first, last = fold.share(link.rank, link.size, given.step)
  local ahead = setmetatable({
    batches = batches, features = given.cache and given.cache.features or given.features,
    model = given.model, own = last - first + 1,
    groups = rows_ahead.groups(link.size, given.step), steps = given.steps,
    drawn = given.graph and drawn_together.new(batches, given.graph),
    cache = given.cache, renewed = given.cache and given.epoch,   -- at that step the next time
    begun = 0, done = 0, finished = 0,       -- groups; whole steps
    queue = {}, next = {},     -- mini-batches of the present group, and of the next one
  }, RowsAhead)
  ahead:begin()
  return ahead
end

-- Draws the next n of this rank's mini-batches.
function RowsAhead:draw(n)
  if self.drawn then return self.drawn:group(n) end
  local group = {}
  for i = 1, n do group[i] = self.batches:draw() end
  return group
end

-- Notes what is asked for in a cache, if there is one, and lets it choose anew when it is time.
function RowsAhead:keep(ids)
  local cache = self.cache
  if not cache then return end
  if self.begun - 1 == self.renewed * self.groups then
    cache:renew()
    self.features, self.renewed = cache.features, 2 * self.renewed
  end
  cache:note(ids)
end

-- Draws the next group, and begins its fetch.
function RowsAhead:begin()
  if self.begun == self.groups * self.steps then return end
  local done = self.begun % self.groups * rows_ahead.GROUP      -- of the step
  self.begun = self.begun + 1
  self.next = self:draw(math.max(0, math.min(self.own - done, rows_ahead.GROUP)))
  local ids = rows_ahead.nodes_of(self.model, self.next)
  self:keep(ids)
  self.fetch = link.fetch(self.features, ids)
end

-- Waits for the rows of the group that was begun, and begins the one after it.
function RowsAhead:turn()
  local rows = link.fetched(KIND, self.fetch)
  self.fetch, self.queue, self.done = nil, self.next, self.done + 1
  for _, batch in ipairs(self.queue) do batch.features = batch.features or rows end
  self:begin()
end

--- Returns the next of this rank's mini-batches.
function RowsAhead:__call()
  self.batches:check_calls()
  if #self.queue == 0 then self:turn() end
  return self.batches:hand_over(table.remove(self.queue, 1))
end

--- Fails when the loop has left out a call for the mini-batch before.
function RowsAhead:check_calls()
  self.batches:check_calls()
end

--- Takes part in the exchanges of the groups that are left in the step, although this rank has no
-- mini-batch there, or does not train on it any more.
function RowsAhead:finish_step()
  self.queue, self.finished = {}, self.finished + 1
  while self.done < self.finished * self.groups do self:turn() end
end

--- Stops the workers, if there are any.
function RowsAhead:close()
  self.batches:close()
end

-- The class of iterators for a loop that takes all mini-batches in turn, without regard to steps.
local Loop = {__name = "RowsAheadLoop"}
Loop.__index = Loop

--- rows_ahead.loop(batches, given): makes the iterator for a loop that takes all mini-batches of
-- all steps in turn.
function rows_ahead.loop(batches, given)
  local ahead = rows_ahead.new(batches, given)
  return setmetatable({ahead = ahead, left = ahead.own * ahead.steps}, Loop)
end

--- Returns the next mini-batch, nil after the last. With the last one of a step it takes part in
-- the remaining exchanges of the step, since the ranks may wait for each other afterwards.
function Loop:__call()
  local ahead = self.ahead
  if self.left == 0 then
    ahead.batches:check_calls()
    return self:close()
  end
  local batch = ahead()
  self.left = self.left - 1
  if self.left % ahead.own == 0 then ahead:finish_step() end
  return batch
end

--- Stops the workers, if there are any. Rows that are under way come nevertheless, for others may
-- wait for theirs (src/plugins/ranks/fetch_features.h).
function Loop:close()
  self.left = 0
  self.ahead:close()
end

Loop.__close = Loop.close

return rows_ahead
