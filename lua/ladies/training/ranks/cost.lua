--- Counts the cost of training with several ranks between two moments of a run: the messages and
-- bytes that they sent, and the seconds that they waited, by the kind of data; and what each of
-- them has worked and waited, by which a slow one is named.

local Table = require "ladies.report.table"
local link = require "ladies.ranks.link"
local medians = require "ladies.statistics.medians"
local shares = require "ladies.ranks.shares"
local statistics = require "ladies.statistics"
local tables = require "ladies.base.tables"
local units = require "ladies.base.units"

local ranks_cost = {}

-- The kinds of data that are sent, in the order in which they are shown, and what else is waited
-- for with them.
local KINDS = {
  {"records", "losses and lines of the log; waits for the slowest rank of the step"},
  {"gradients", "the sums of the step"},
  {"features", "rows of features in shards, ahead of the mini-batches, and ids of these"},
  {"graph", "rows of a graph in shards, while mini-batches are drawn, and ids of these"},
  {"validation", "rows of inference; waits for those of others"},
  {"agreement", "whether to go on; waits while rank 0 saves a checkpoint"},
}

--- Returns the counts so far: messages and bytes that this rank has sent and seconds that it has
-- waited, by kind; and `seconds` of the timer of a run.
function ranks_cost.now(timer)
  local now = {seconds = timer:seconds(), kinds = {}}
  for _, kind in ipairs(KINDS) do
    local counts = link.traffic[kind[1]] or {messages = 0, bytes = 0, seconds = 0}
    now.kinds[kind[1]] = tables.merged(counts)
  end
  return now
end

-- The kinds for which a rank waits within the time of a run's timer.
local WITHIN = {"records", "gradients", "features", "graph"}

-- Returns the counts of this rank between two moments; `busy` are the seconds in which it worked
-- without waiting, `waited` those in which it waited for other ranks, for any reason.
local function between(before, now)
  local own = {kinds = {}, busy = now.seconds - before.seconds, waited = 0}
  for kind, counts in pairs(now.kinds) do
    local changes = {}
    for name, count in pairs(counts) do changes[name] = count - before.kinds[kind][name] end
    own.kinds[kind], own.waited = changes, own.waited + changes.seconds
  end
  for _, kind in ipairs(WITHIN) do own.busy = own.busy - own.kinds[kind].seconds end
  own.busy = math.max(0, own.busy)       -- a cache of features is filled outside of that time
  return own
end

-- Returns the mean of a number over ranks, and the largest.
local function spread(values)
  return {mean = statistics.mean(values), largest = math.max(table.unpack(values))}
end

--- ranks_cost.since(before, timer, batches, numerics): returns at every rank what all ranks
-- together have counted since a moment, a result of ranks_cost.now: {ranks =, batches =, busy =
-- {mean =, largest =}, kinds = {gradients = {messages =, bytes = (of all ranks together), seconds =
-- {mean =, largest =}}, ...}, each = {{rank =, host =, busy =, waited =, numerics =}, ...}}. `busy`
-- are the seconds in which a rank worked on its mini-batches, `waited` those in which it waited for
-- others; `numerics` is what this rank computes by (see machine.numerics).
function ranks_cost.since(before, timer, batches, numerics)
  local own = between(before, ranks_cost.now(timer))
  own.host, own.numerics = link.host, numerics
  local all = shares.gather("agreement", own)
  local found = {ranks = link.size, batches = batches, kinds = {}, each = {},
    busy = spread(tables.map(all, function(one) return one.busy end))}
  for i, one in ipairs(all) do
    found.each[i] = {rank = i - 1, host = one.host, busy = one.busy, waited = one.waited,
      numerics = one.numerics}
  end
  for _, kind in ipairs(KINDS) do
    local sum, seconds = {messages = 0, bytes = 0}, {}
    for i, one in ipairs(all) do
      local counts = one.kinds[kind[1]]
      sum.messages, sum.bytes = sum.messages + counts.messages, sum.bytes + counts.bytes
      seconds[i] = counts.seconds
    end
    sum.seconds = spread(seconds)
    found.kinds[kind[1]] = sum
  end
  return found
end

local SLOW = 1.3        -- times as long as the other ranks work, from which on one is called slow
local NOTICED = 5       -- seconds longer than the others: a line tells of no less

--- ranks_cost.slowest(found) -> {rank =, host =, busy =, others =, times =} | nil: the rank that
-- has worked longest, where that is more than 1.3 times as long as the others did, by their median.
-- found: a result of ranks_cost.since.
function ranks_cost.slowest(found)
  local longest
  for _, one in ipairs(found.each or {}) do
    if not longest or one.busy > longest.busy then longest = one end
  end
  local others = {}
  for _, one in ipairs(found.each or {}) do
    if one ~= longest then others[#others + 1] = one.busy end
  end
  local median = medians.of(others)
  if not median or longest.busy <= SLOW * median then return nil end
  return {rank = longest.rank, host = longest.host, busy = longest.busy, others = median,
    times = longest.busy / math.max(median, 1e-9)}
end

--- Returns a line that names the rank for which the others have waited, or nil where they have
-- not waited for one in particular, or for a few seconds only.
function ranks_cost.slow_line(found)
  local slow = ranks_cost.slowest(found)
  if not slow or slow.busy - slow.others < NOTICED then return nil end
  return ("rank %d on %s worked for %.1f s, %.2f times as long as the others (%.1f s, their "
    .. "median), which waited for it: its host may be slower or busy, or its part of it smaller")
    :format(slow.rank, slow.host, slow.busy, slow.times, slow.others)
end

--- Groups the ranks by the instructions and libraries with which they compute: {{numerics =, ranks
-- = {0, 2}}, ...}; nil where these are the same for all.
function ranks_cost.numerics(found)
  local groups, by_text = {}, {}
  for _, one in ipairs(found.each or {}) do
    local group = by_text[one.numerics]
    if not group then
      group = {numerics = one.numerics, ranks = {}}
      by_text[one.numerics], groups[#groups + 1] = group, group
    end
    table.insert(group.ranks, one.rank)
  end
  return groups[2] and groups or nil
end

--- Returns a result of ranks_cost.since as two tables for readers: what was sent, and what each
-- rank did.
function ranks_cost.text(found)
  local shown = Table.new{"sent", "messages", "MB", "waiting s", "largest / mean", "for"}
  local function ratio(x) return x.mean > 0 and ("%.2f"):format(x.largest / x.mean) or "-" end
  for _, kind in ipairs(KINDS) do
    local name, what = table.unpack(kind)
    local one = found.kinds[name]
    shown:add{name, ("%d"):format(one.messages), ("%.2f"):format(one.bytes / units.MIB),
      ("%.2f"):format(one.seconds.mean), ratio(one.seconds), what}
  end
  local ranks = Table.new{"rank", "host", "worked s", "waited s", "computed by"}
  for _, one in ipairs(found.each) do
    ranks:add{one.rank, one.host, ("%.2f"):format(one.busy), ("%.2f"):format(one.waited),
      one.numerics}
  end
  return ("%d ranks, %d batches: a rank trained for %.2f s, the one with most to do for %.2f times "
    .. "the mean\n\n%s\n%s"):format(found.ranks, found.batches, found.busy.mean,
      found.busy.largest / math.max(found.busy.mean, 1e-9), shown:markdown(), ranks:markdown())
end

return ranks_cost
