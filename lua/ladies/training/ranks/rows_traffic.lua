--- Computes, in one process, what ranks with features in shards send each other for the rows of
-- their mini-batches: it draws the mini-batches that they would draw, and counts what each lacks.

local core = require "ladies_core"
local batches = require "ladies.training.batches"
local fold = require "ladies.ranks.fold"
local places = require "ladies.training.batches.places"
local row_cache = require "ladies.training.ranks.row_cache"
local rows_ahead = require "ladies.training.ranks.rows_ahead"
local shards = require "ladies.data.formats.large.shards"
local units = require "ladies.base.units"

local rows_traffic = {}

local NUMBER = 4      -- bytes of an id, and of the count of rows that each tells each other

-- Returns the rank that has a row.
local function owner(bounds, row)
  local rank = 0
  while row > bounds[rank + 2] do rank = rank + 1 end
  return rank
end

-- Adds the cost of a rank's fetch of those rows `ids` that are not in the set `held`.
local function add_fetch(sum, ids, rank, bounds, held, size)
  local asked, rows, owners = {}, 0, 0
  for i = 1, #ids do
    local from = owner(bounds, ids[i])
    if from ~= rank and not held[ids[i]] then
      rows = rows + 1
      if not asked[from] then asked[from], owners = true, owners + 1 end
    end
  end
  local others = #bounds - 2
  sum.rows, sum.read = sum.rows + rows, sum.read + #ids
  sum.messages = sum.messages + others + 2 * owners
  sum.bytes = sum.bytes + NUMBER * others + rows * (NUMBER + size)
end

-- Returns the set of the ids of an Index.
local function set_of(ids)
  local set = {}
  for i = 1, #ids do set[ids[i]] = true end
  return set
end

-- The cache of a rank (see ladies.training.ranks.row_cache), of which this process has but the
-- numbers of its rows.
local Held = {}
Held.__index = Held

-- by_degree: all ids, those of the nodes with the most entries first.
local function new_held(rank, by_degree, bounds, size)
  local order = {}
  for i = 1, #by_degree do
    if owner(bounds, by_degree[i]) ~= rank then order[#order + 1] = by_degree[i] end
  end
  return setmetatable({order = core.index(order), size = math.min(size, #order), ids = core.index{},
    counts = core.zeros(#by_degree)}, Held)
end

-- Chooses the rows anew; returns those that are to be brought.
function Held:renew()
  local lacking
  self.ids, lacking = row_cache.chosen(self.order, self.counts, self.ids, self.size)
  self.set = set_of(self.ids)
  return lacking
end

function Held:note(ids)
  self.counts:add_at_(ids, 1)          -- those of this rank's own rows are never looked at
end

local function nothing() return {messages = 0, bytes = 0, rows = 0, read = 0} end

--- rows_traffic.of(opts, ranks, steps) -> {messages =, bytes =, rows =, read =}, {messages =,
-- bytes =, ...}: what so many ranks together send for the features in the first `steps` steps of a
-- run with these options of ladies.train (data, model, sampler, batch_size, seed, seeds_from,
-- accumulate, feature_cache), and their caches, before and during these; `rows` are those that come
-- from others, of all that are read.
function rows_traffic.of(opts, ranks, steps)
  local data, step = opts.data, opts.accumulate
  local bounds, size = shards.bounds(data, ranks), rows_ahead.row_bytes(data.features)
  local sum, of_caches, held = nothing(), nothing(), {}
  local cache = opts.feature_cache and units.bytes("feature_cache", opts.feature_cache) // size or 0
  local by_degree = (-data.graph.adjacency:degrees()):argsort()
  local function renew_all()
    for rank = 0, ranks - 1 do
      local lacking = held[rank]:renew()
      if opts.feature_cache then add_fetch(of_caches, lacking, rank, bounds, {}, size) end
    end
  end
  for rank = 0, ranks - 1 do held[rank] = new_held(rank, by_degree, bounds, cache) end
  renew_all()
  local given = {batch_size = opts.batch_size, sampler = opts.sampler, seed = opts.seed,
    parts = places.of(opts), epochs = steps * step}
  local renewed = rows_ahead.steps_of(batches.per_epoch(#data.train, given), step)
  local draw = batches.new(data.train, given)
  for number = 0, steps - 1 do
    local drawn = {}
    for i = 1, step do drawn[i] = draw() end
    if number == renewed then
      renew_all()
      renewed = 2 * renewed
    end
    for rank = 0, ranks - 1 do
      local first, last = fold.share(rank, ranks, step)
      for group = 0, rows_ahead.groups(ranks, step) - 1 do
        local from = first + group * rows_ahead.GROUP
        local own = table.move(drawn, from, math.min(last, from + rows_ahead.GROUP - 1), 1, {})
        local ids = rows_ahead.nodes_of(opts.model, own)
        held[rank]:note(ids)
        add_fetch(sum, ids, rank, bounds, held[rank].set, size)
      end
    end
  end
  draw:close()
  return sum, of_caches
end

return rows_traffic
