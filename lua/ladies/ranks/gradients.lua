--- The mean of the gradients of a step whose mini-batches several ranks have: the additions that
-- one process alone would make, in its order (see ladies.ranks.fold). Every rank adds a part of the
-- slab for all, and gets the others' parts of the result.

local core = require "ladies_core"
local fold = require "ladies.ranks.fold"
local link = require "ladies.ranks.link"

local gradients = {}

local KIND = "gradients"

local LINE = 16     -- floats; parts begin at whole lines of a cache

-- Which part of a slab of n elements a rank of `size` adds: its first and its last, of which the
-- last is less where it has none.
local function part_of(rank, size, n)
  local first, last = fold.share(rank, size, (n + LINE - 1) // LINE)
  return (first - 1) * LINE + 1, math.min(last * LINE, n)
end

local function part(rank, n) return part_of(rank, link.size, n) end

-- Calls f(rank, first, last) for every rank but this one that has a part of a slab of n elements.
local function each_other(n, f)
  for rank = 0, link.size - 1 do
    local first, last = part(rank, n)
    if rank ~= link.rank and first <= last then f(rank, first, last) end
  end
end

-- The sums of all ranks, of this rank's part of the slab; the others get theirs of its own.
local function scatter(own, n, leaves)
  local sends, receives, nodes = {}, {}, {}
  each_other(n, function(rank, first, last)
    for _, node in ipairs(own) do
      sends[#sends + 1] = {rank, node.sum:slice(first, last)}
    end
  end)
  local first, last = part(link.rank, n)
  if first > last then
    link.exchange(KIND, sends, receives)
    return nil
  end
  for rank = 0, link.size - 1 do
    local from, to = fold.share(rank, link.size, leaves)
    local theirs = rank == link.rank and own or fold.nodes(from, to, leaves)
    for _, node in ipairs(theirs) do
      local sum
      if rank == link.rank then
        sum = node.sum:slice(first, last)
      else
        sum = core.zeros(last - first + 1)
        receives[#receives + 1] = {rank, sum}
      end
      nodes[#nodes + 1] = {first = node.first, last = node.last, sum = sum}
    end
  end
  link.exchange(KIND, sends, receives)
  return fold.add(nodes, leaves)
end

-- The whole slab, of the parts that all ranks have; `own` is this rank's, or nil.
local function gather(own, n)
  local whole, sends, receives = core.zeros(n), {}, {}
  if own then
    local first, last = part(link.rank, n)
    whole:slice(first, last):copy_(own)
    for rank = 0, link.size - 1 do
      if rank ~= link.rank then sends[#sends + 1] = {rank, own} end
    end
  end
  each_other(n, function(rank, first, last)
    receives[#receives + 1] = {rank, whole:slice(first, last)}
  end)
  link.exchange(KIND, sends, receives)
  return whole
end

--- gradients.cost(n, size, leaves): the messages and bytes that `size` ranks send, all together,
-- for a step of so many mini-batches and a slab of n elements.
function gradients.cost(n, size, leaves)
  local messages, elements = 0, 0
  for rank = 0, size - 1 do
    local first, last = part_of(rank, size, n)
    local length = math.max(0, last - first + 1)
    for other = 0, size - 1 do
      local from, to = fold.share(other, size, leaves)
      -- The other one sends its sums of this part, and gets the result.
      local copies = other ~= rank and length > 0 and #fold.nodes(from, to, leaves) + 1 or 0
      messages, elements = messages + copies, elements + copies * length
    end
  end
  return messages, 4 * elements
end

--- Gives every rank's optimizer the mean of the gradients of all `leaves` mini-batches of a step,
-- of which it has added its share; `has` says which parameters have a gradient at any rank.
function gradients.share(optimizer, leaves, has)
  local own, _, n = optimizer:sums()
  local sum = scatter(own, n, leaves)
  optimizer:set_mean(gather(sum and sum / leaves, n), has)
end

return gradients
