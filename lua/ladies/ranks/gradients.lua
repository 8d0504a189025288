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

-- The sums of all ranks, of this rank's part of the slab; others get those of theirs. Also what was
-- received, {rank, Tensor} each.
local function scatter(own, n, leaves)
  local sends, receives, nodes = {}, {}, {}
  each_other(n, function(rank, first, last)
    for _, node in ipairs(own) do
      sends[#sends + 1] = {rank, node.sum:slice(first, last)}
    end
  end)
  local first, last = part(link.rank, n)
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
local function add(slab, own, leaves)
  local first, last = part(link.rank, slab.n_rows)
  local nodes, received = scatter(own, slab.n_rows, leaves)
  if first > last then return end
  local sum = fold.add(nodes, leaves)
  local mean = sum / leaves
  slab:slice(first, last):copy_(mean)
  mean:release()
  if #nodes > 1 then sum:release() end
  for _, one in ipairs(received) do one[2]:release() end
end

-- Brings the parts of the slab that each rank has to all.
local function gather(slab)
  local sends, receives = {}, {}
  local first, last = part(link.rank, slab.n_rows)
  for rank = 0, first <= last and link.size - 1 or -1 do
    if rank ~= link.rank then sends[#sends + 1] = {rank, slab:slice(first, last)} end
  end
  each_other(slab.n_rows, function(rank, from, to)
    receives[#receives + 1] = {rank, slab:slice(from, to)}
  end)
  link.exchange(KIND, sends, receives)
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
  local own, _, slab = optimizer:sums()
  core.no_grad(add, slab, own, leaves)
  gather(slab)
  optimizer:set_mean(slab, has)
end

return gradients
