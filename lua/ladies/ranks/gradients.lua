--- Computes the mean gradient of a step whose mini-batches are divided among ranks, by the
-- additions that one process alone would make, in the same order (see ladies.ranks.fold). The
-- gradients of all parameters lie one after the other in a vector, the slab. Every rank adds one
-- part of it for all, and gets the others' parts of the result.

local core = require "ladies_core"
local fold = require "ladies.ranks.fold"
local link = require "ladies.ranks.link"

local gradients = {}

local KIND = "gradients"

local LINE = 16     -- floats; parts begin at whole lines of a cache

--- Divides a slab of n elements into the parts that `size` ranks add: {first, last} at rank + 1,
-- the last less than the first where a rank has none.
function gradients.parts(n, size)
  local parts = {}
  for rank = 0, size - 1 do
    local first, last = fold.share(rank, size, (n + LINE - 1) // LINE)
    parts[rank + 1] = {(first - 1) * LINE + 1, math.min(last * LINE, n)}
  end
  return parts
end

-- Calls f(rank, first, last) for every other rank that has a part, first .. last, of the slab.
local function each_other(parts, f)
  for rank = 0, link.size - 1 do
    local first, last = table.unpack(parts[rank + 1])
    if rank ~= link.rank and first <= last then f(rank, first, last) end
  end
end

-- Sends this rank's sums to the other ranks, each of which gets its own part of the slab, and
-- receives their sums for this rank's part. Returns the sums of all ranks for this part, and the
-- tensors that were received, as {rank, Tensor}.
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

-- Computes this rank's part of the mean gradient from all ranks' sums and writes it into the slab.
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

--- Sends this rank's part of a vector to all ranks and receives theirs, so that all have the whole
-- vector.
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

--- gradients.cost(n, size, leaves [, parts]): returns the number of messages and bytes that `size`
-- ranks together send for a step of `leaves` mini-batches with a slab of n elements, divided into
-- `parts` (by default those of gradients.parts).
function gradients.cost(n, size, leaves, parts)
  local messages, elements = 0, 0
  for rank, part in ipairs(parts or gradients.parts(n, size)) do
    local length = math.max(0, part[2] - part[1] + 1)
    for other = 0, size - 1 do
      local from, to = fold.share(other, size, leaves)
      -- The other rank sends its sums of this part and receives the result.
      local copies = other ~= rank - 1 and length > 0 and #fold.nodes(from, to, leaves) + 1 or 0
      messages, elements = messages + copies, elements + copies * length
    end
  end
  return messages, 4 * elements
end

--- Gives this rank's optimizer the mean gradient of all `leaves` mini-batches of a step, but only
-- for the rank's own part of the slab; the optimizer has added the gradients of the rank's
-- mini-batches. `has` says which parameters have a gradient at any rank.
function gradients.share_part(optimizer, leaves, has, parts)
  local own, _, slab = optimizer:sums()
  core.no_grad(add, slab, own, parts, leaves)
  optimizer:set_mean(slab, has)
end

--- Gives this rank's optimizer the mean gradient of all `leaves` mini-batches of a step: each rank
-- adds its part of the slab and sends it to all others.
function gradients.share(optimizer, leaves, has)
  local own, _, slab = optimizer:sums()
  local parts = gradients.parts(slab.n_rows, link.size)
  core.no_grad(add, slab, own, parts, leaves)
  gradients.gather(slab, parts)
  optimizer:set_mean(slab, has)
end

return gradients
