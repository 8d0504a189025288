--- Computes, in one process, what ranks with features in shards send each other for the rows of
-- their mini-batches: it draws the mini-batches that they would draw, and counts what each lacks.

local batches = require "ladies.training.batches"
local fold = require "ladies.ranks.fold"
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
  sum.messages = sum.messages + others + 2 * owners
  sum.bytes = sum.bytes + NUMBER * others + rows * (NUMBER + size)
end

-- Returns the set of ids in a rank's cache of so many rows: the nodes with the most entries among
-- other ranks' rows.
local function held_by(rank, order, bounds, rows)
  local held, ids = {}, {}
  for i = 1, #order do
    if #ids == rows then break end
    if owner(bounds, order[i]) ~= rank then
      held[order[i]] = true
      ids[#ids + 1] = order[i]
    end
  end
  return held, ids
end

--- rows_traffic.of(opts, ranks, steps) -> {messages =, bytes =}, {messages =, bytes =}: what so
-- many ranks together send for the features in the first `steps` steps of a run with these options
-- of ladies.train (data, model, sampler, batch_size, seed, accumulate, feature_cache), and for
-- their caches before.
function rows_traffic.of(opts, ranks, steps)
  local data, step = opts.data, opts.accumulate
  local bounds, size = shards.bounds(data, ranks), rows_ahead.row_bytes(data.features)
  local sum, of_caches, held = {messages = 0, bytes = 0}, {messages = 0, bytes = 0}, {}
  local cache = opts.feature_cache and units.bytes("feature_cache", opts.feature_cache) // size or 0
  local order = (-data.graph.adjacency:degrees()):argsort()
  for rank = 0, ranks - 1 do
    local ids
    held[rank], ids = held_by(rank, order, bounds, cache)
    if opts.feature_cache then add_fetch(of_caches, ids, rank, bounds, {}, size) end
  end
  local draw = batches.new(data.train, {batch_size = opts.batch_size, sampler = opts.sampler,
    seed = opts.seed, epochs = steps * step})
  for _ = 1, steps do
    local drawn = {}
    for i = 1, step do drawn[i] = draw() end
    for rank = 0, ranks - 1 do
      local first, last = fold.share(rank, ranks, step)
      for group = 0, rows_ahead.groups(ranks, step) - 1 do
        local from = first + group * rows_ahead.GROUP
        local own = table.move(drawn, from, math.min(last, from + rows_ahead.GROUP - 1), 1, {})
        add_fetch(sum, rows_ahead.nodes_of(opts.model, own), rank, bounds, held[rank], size)
      end
    end
  end
  draw:close()
  return sum, of_caches
end

return rows_traffic
