--- The mean of the gradients of a step whose mini-batches several ranks have: the additions that
-- one process alone would make, in its order (see ladies.ranks.fold). Every rank adds a part of the
-- slab for all, and gets the others' parts of the result.

local core = require "ladies_core"
local fold = require "ladies.ranks.fold"
local link = require "ladies.ranks.link"

local gradients = {}

local KIND = "gradients"

local LINE = 16     -- floats; parts begin at whole lines of a cache

--- The parts of a slab of n elements of which each of `size` ranks adds one: {first, last} at
-- rank + 1, the last less than the first where it has none.
function gradients.parts(n, size)
  local parts = {}
  for rank = 0, size - 1 do
    local first, last = fold.share(rank, size, (n + LINE - 1) // LINE)
    parts[rank + 1] = {(first - 1) * LINE + 1, math.min(last * LINE, n)}
  end
  return parts
end

-- Calls f(rank, first, last) for every rank but this one that has a part.
local function each_other(parts, f)
  for rank = 0, link.size - 1 do
    local first, last = table.unpack(parts[rank + 1])
    if rank ~= link.rank and first <= last then f(rank, first, last) end
  end
end

-- The sums of all ranks, of this rank's part of the slab; others get those of theirs. Also what was
-- received, {rank, Tensor} each.
local function scatter(own, parts, leaves)
  local sends, receives, nodes = {}, {}, {}
  each_other(parts, function(rank, first, last)
    for _, node in ipairs(own) do
      sends[#sends + 1] = {rank, node.sum:slice(first, last)}
    end
  end)
  local first, last = table.unpack(parts[link.rank + 1])
  for rank = 0, first <= last and link.size - 1 or -1 do
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
  return nodes, receives
end

-- Writes the mean of this rank's part of the slab to it.
local function add(slab, own, parts, leaves)
  local first, last = table.unpack(parts[link.rank + 1])
  local nodes, received = scatter(own, parts, leaves)
  if first > last then return end
  local sum = fold.add(nodes, leaves)
  local mean = sum / leaves
  slab:slice(first, last):copy_(mean)
  mean:release()
  if #nodes > 1 then sum:release() end
  for _, one in ipairs(received) do one[2]:release() end
end

--- Brings the parts of a vector that each rank has to all.
function gradients.gather(slab, parts)
  local sends, receives = {}, {}
  local first, last = table.unpack(parts[link.rank + 1])
  for rank = 0, first <= last and link.size - 1 or -1 do
    if rank ~= link.rank then sends[#sends + 1] = {rank, slab:slice(first, last)} end
  end
  each_other(parts, function(rank, from, to)
    receives[#receives + 1] = {rank, slab:slice(from, to)}
  end)
  link.exchange(KIND, sends, receives)
end

--- gradients.cost(n, size, leaves [, parts]): the messages and bytes that `size` ranks send, all
-- together, for a step of so many mini-batches and a slab of n elements, of which they add these
-- parts (those of gradients.parts).
function gradients.cost(n, size, leaves, parts)
  local messages, elements = 0, 0
  for rank, part in ipairs(parts or gradients.parts(n, size)) do
    local length = math.max(0, part[2] - part[1] + 1)
    for other = 0, size - 1 do
      local from, to = fold.share(other, size, leaves)
      -- The other one sends its sums of this part, and gets the result.
      local copies = other ~= rank - 1 and length > 0 and #fold.nodes(from, to, leaves) + 1 or 0
      messages, elements = messages + copies, elements + copies * length
    end
  end
  return messages, 4 * elements
end

--- Gives this rank's optimizer the mean of the gradients of all `leaves` mini-batches of a step, of
-- which it has added its share, in its own one of the parts alone; `has` says which parameters have
-- a gradient at any rank.
function gradients.share_part(optimizer, leaves, has, parts)
  local own, _, slab = optimizer:sums()
  core.no_grad(add, slab, own, parts, leaves)
  optimizer:set_mean(slab, has)
end

--- The same, at every rank of all parts.
function gradients.share(optimizer, leaves, has)
  local own, _, slab = optimizer:sums()
  local parts = gradients.parts(slab.n_rows, link.size)
  core.no_grad(add, slab, own, parts, leaves)
  gradients.gather(slab, parts)
  optimizer:set_mean(slab, has)
end

return gradients
