--- Computes, in one process, what ranks with a graph in shards send each other for its rows while
-- they draw mini-batches: it notes the rows that each mini-batch asks for, one call after the
-- other, and goes through the exchanges of ladies.training.ranks.drawn_together.

local batches = require "ladies.training.batches"
local Batches = require "ladies.training.batches.iterator"
local fold = require "ladies.ranks.fold"
local Graph = require "ladies.graph"
local places = require "ladies.training.batches.places"
local rows_ahead = require "ladies.training.ranks.rows_ahead"
local sharded_graph = require "ladies.data.formats.large.sharded_graph"
local shards = require "ladies.data.formats.large.shards"
local tables = require "ladies.base.tables"

local graph_traffic = {}

local NUMBER = 4      -- bytes of an id, a length and a column, and half of a count with its flag

--- graph_traffic.noted(data) -> Dataset, asked: returns a copy of the data set, which one process
-- has, whose graph looks to samplers as if it were divided among ranks, and adds the ids of the
-- rows for which it is asked to the array `asked`.
function graph_traffic.noted(data)
  local adjacency, asked = sharded_graph.in_one_part(data.graph.adjacency), {}
  local graph = adjacency.graph
  local collect = graph.collect
  function graph.collect(...)
    asked[#asked + 1] = select(2, ...)
    return collect(...)
  end
  local copy = setmetatable(tables.merged(data), getmetatable(data))
  copy.graph = Graph.new(adjacency)
  return copy, asked
end

-- Returns the rows for which each of the first mini-batches of a run asks: arrays of tables of ids,
-- by number.
local function requests(opts, asked, count)
  local list = {}
  local drawn = batches.drawn(opts.data.train, {batch_size = opts.batch_size,
    sampler = opts.sampler, parts = places.of(opts), seed = opts.seed, epochs = count})
  for number = 1, count do
    for i = #asked, 1, -1 do asked[i] = nil end
    drawn.job(number)
    list[number] = tables.map(asked, function(ids) return ids:to_table() end)
  end
  return list
end

-- Lists a rank's mini-batches of a group, each with all rows that it asks for. Where the first one
-- is drawn once more to be checked, its rows are asked for again.
local function jobs_of(of, list, rank, step, group)
  local first, last = fold.share(rank, of.ranks, of.step)
  local jobs, begin = {}, first + group * rows_ahead.GROUP
  for place = begin, math.min(last, begin + rows_ahead.GROUP - 1) do
    local own = (step - 1) * (last - first + 1) + place - first       -- of the rank's, before it
    local asks = table.move(list[(step - 1) * of.step + place], 1,
      #list[(step - 1) * of.step + place], 1, {})
    if Batches.is_checked(own) then table.move(list[first], 1, #list[first], #asks + 1, asks) end
    jobs[#jobs + 1] = {asks = asks, at = 1}
  end
  return jobs
end

-- Lets the mini-batches of a rank go on; returns the set of the rows that they then lack.
local function advance(of, rank, jobs, brought)
  local wanted = {}
  for _, job in ipairs(jobs) do
    local lacks = false
    while job.at <= #job.asks and not lacks do
      for _, id in ipairs(job.asks[job.at]) do
        if not brought[id] and (id <= of.bounds[rank + 1] or id > of.bounds[rank + 2]) then
          wanted[id], lacks = true, true
        end
      end
      if not lacks then job.at = job.at + 1 end
    end
  end
  return wanted
end

-- Adds the cost of bringing the rows of a set to a rank, which has them from then on.
local function add_rows(of, sum, wanted, brought)
  local rows, entries = {}, {}
  for id in pairs(wanted) do
    local owner = 0
    while id > of.bounds[owner + 2] do owner = owner + 1 end
    rows[owner] = (rows[owner] or 0) + 1
    entries[owner] = (entries[owner] or 0) + math.tointeger(of.degrees[id])
    brought[id] = true
  end
  for owner, count in pairs(rows) do
    sum.messages = sum.messages + 2 + (entries[owner] > 0 and of.numbers or 0)
    sum.bytes = sum.bytes + NUMBER * (2 * count + of.numbers * entries[owner])
  end
end

-- Adds the cost of the exchanges of a group.
local function add_group(of, sum, list, step, group)
  local jobs, brought = {}, {}
  for rank = 0, of.ranks - 1 do
    jobs[rank], brought[rank] = jobs_of(of, list, rank, step, group), {}
  end
  local others = of.ranks * (of.ranks - 1)
  repeat
    local any = false
    for rank = 0, of.ranks - 1 do
      local wanted = advance(of, rank, jobs[rank], brought[rank])
      any = any or next(wanted) ~= nil
      add_rows(of, sum, wanted, brought[rank])
    end
    sum.messages, sum.bytes = sum.messages + others, sum.bytes + 2 * NUMBER * others
  until not any
end

--- graph_traffic.of(opts, asked, ranks, steps) -> {messages =, bytes =}: what so many ranks
-- together send for rows of the graph in the first `steps` steps of a run with these options of
-- ladies.train (data, sampler, batch_size, seed, accumulate), of whose data `asked` has the
-- notes.
function graph_traffic.of(opts, asked, ranks, steps)
  local of = {ranks = ranks, step = opts.accumulate, bounds = shards.bounds(opts.data, ranks),
    degrees = opts.data.graph:degrees(),
    numbers = opts.data.graph.adjacency.graph.sums and 2 or 1}      -- of an entry
  local sum, list = {messages = 0, bytes = 0}, requests(opts, asked, steps * of.step)
  for step = 1, steps do
    for group = 0, rows_ahead.groups(ranks, of.step) - 1 do
      add_group(of, sum, list, step, group)
    end
  end
  return sum
end

return graph_traffic
