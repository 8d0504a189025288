--- What training by several ranks costs: what they sent each other, and for what they waited, from
-- one moment of a run to another.

local Table = require "ladies.report.table"
local link = require "ladies.ranks.link"
local packed = require "ladies.ranks.packed"
local tables = require "ladies.base.tables"
local units = require "ladies.base.units"

local ranks_cost = {}

-- What is sent, in the order in which it is shown, and what the wait for it is for besides.
local KINDS = {
  {"records", "losses and lines of the log; waits for the slowest rank of the step"},
  {"gradients", "the sums of the step"},
  {"features", "rows of features in shards, ahead of the mini-batches, and ids of these"},
  {"graph", "rows of a graph in shards, while mini-batches are drawn, and ids of these"},
  {"validation", "rows of inference; waits for those of others"},
  {"agreement", "whether to go on; waits while rank 0 saves a checkpoint"},
}

--- The counts so far: messages and bytes that this rank has sent and seconds that it has waited, by
-- kind; and `seconds` of the timer of a run.
function ranks_cost.now(timer)
  local now = {seconds = timer:seconds(), kinds = {}}
  for _, kind in ipairs(KINDS) do
    local counts = link.traffic[kind[1]] or {messages = 0, bytes = 0, seconds = 0}
    now.kinds[kind[1]] = tables.merged(counts)
  end
  return now
end

-- What this rank counted between two moments; `busy` are the seconds in which it trained.
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

-- The mean over ranks, and the largest.
local function spread(values)
  local sum, most = 0, 0
  for _, value in ipairs(values) do sum, most = sum + value, math.max(most, value) end
  return {mean = sum / #values, largest = most}
end

--- ranks_cost.since(before, timer, batches): what all ranks have counted since a moment that
-- ranks_cost.now told, at all of them: {ranks =, batches =, busy = {mean =, largest =}, kinds =
-- {gradients = {messages =, bytes = (of all ranks together), seconds = {mean =, largest =}}, ...}}.
-- `busy` are the seconds in which a rank trained on its mini-batches.
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

--- The table of what ranks_cost.since found, for people.
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
