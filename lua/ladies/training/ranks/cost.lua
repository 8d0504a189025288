--- Counts the cost of training with several ranks between two moments of a run: the messages and
-- bytes that they sent, and the seconds that they waited, by the kind of data.

local Table = require "ladies.report.table"
local link = require "ladies.ranks.link"
local packed = require "ladies.ranks.packed"
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

-- Returns the counts of this rank between two moments; `busy` are the seconds in which it trained.
local function between(before, now)
  local own = {kinds = {}, busy = now.seconds - before.seconds}
  for kind, counts in pairs(now.kinds) do
    local changes = {}
    for name, count in pairs(counts) do changes[name] = count - before.kinds[kind][name] end
    own.kinds[kind] = changes
  end
  own.busy = own.busy - own.kinds.records.seconds - own.kinds.gradients.seconds
  return own
end

-- Returns the mean of a number over ranks, and the largest.
local function spread(values)
  return {mean = statistics.mean(values), largest = math.max(table.unpack(values))}
end

--- ranks_cost.since(before, timer, batches): returns at every rank what all ranks together have
-- counted since a moment, a result of ranks_cost.now: {ranks =, batches =, busy = {mean =, largest
-- =}, kinds = {gradients = {messages =, bytes = (of all ranks together), seconds = {mean =, largest
-- =}}, ...}}. `busy` are the seconds in which a rank trained on its mini-batches.
function ranks_cost.since(before, timer, batches)
  local own = packed.text(between(before, ranks_cost.now(timer)))
  local all = tables.map(link.gather("agreement", own), packed.value)
  local found = {ranks = link.size, batches = batches, kinds = {},
    busy = spread(tables.map(all, function(one) return one.busy end))}
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

--- Returns a result of ranks_cost.since as a table for readers.
function ranks_cost.text(found)
  local shown = Table.new{"sent", "messages", "MB", "waiting s", "largest / mean", "for"}
  local function ratio(x) return x.mean > 0 and ("%.2f"):format(x.largest / x.mean) or "-" end
  for _, kind in ipairs(KINDS) do
    local name, what = table.unpack(kind)
    local one = found.kinds[name]
    shown:add{name, ("%d"):format(one.messages), ("%.2f"):format(one.bytes / units.MIB),
      ("%.2f"):format(one.seconds.mean), ratio(one.seconds), what}
  end
  return ("%d ranks, %d batches: a rank trained for %.2f s, the one with most to do for %.2f times "
    .. "the mean\n\n%s"):format(found.ranks, found.batches, found.busy.mean,
      found.busy.largest / math.max(found.busy.mean, 1e-9), shown:markdown())
end

return ranks_cost
