--- How ranks share a step of S mini-batches, and add its gradients in the one tree over all S
-- (src/core/optim/accumulate.c): the same additions in the same order, whoever makes them.
--
-- Rank r of P has the mini-batches share(r, P, S), which follow one another. What of the tree lies
-- within them it adds alone; that leaves a few sums, whose places follow from r, P and S. Of these
-- every rank gets its own part of the slab, adds them on up the tree, and gives the result back to
-- all: a reduce-scatter and an all-gather, in which no element is added twice. It takes (P - 1) / P
-- slabs each way, whatever P is, where the sums of a rank are one: S / P a power of two.

local fold = {}

--- Which of n things rank r (from 0) of `size` has: the first and the last, of which the last is
-- less where it has none. Rank 0 has one wherever there is one.
function fold.share(rank, size, n)
  local function before(r) return (r * n + size - 1) // size end
  return before(rank) + 1, before(rank + 1)
end

-- Whether two sums, the right one of the leaves after those of the left one, are the halves of a
-- node of the tree over n leaves.
local function are_halves(left, right, n)
  local size, begins = left.last - left.first + 1, left.first - 1
  return size & (size - 1) == 0 and begins % (2 * size) == 0
    and right.last == math.min(begins + 2 * size, n)
end

-- Puts a sum on a stack of those that wait, after it is added, by add(left, right) -> sum, to
-- those that it makes a node with.
local function push(stack, node, n, add)
  while #stack > 0 and are_halves(stack[#stack], node, n) do
    local left = table.remove(stack)
    node = {first = left.first, last = node.last, sum = add(left.sum, node.sum)}
  end
  stack[#stack + 1] = node
end

--- The nodes {first =, last =} of the tree over n leaves that first .. last come to, as few as
-- there can be, in their order.
function fold.nodes(first, last, n)
  local stack = {}
  for leaf = first, last do push(stack, {first = leaf, last = leaf}, n, function() end) end
  return stack
end

--- The sum of n leaves: of sums of parts of them, {first =, last =, sum = Tensor}, in order.
function fold.add(nodes, n)
  local stack, made = {}, {}
  local function add(left, right)
    local sum = left + right
    for _, half in ipairs{left, right} do
      if made[half] and not half.in_step then half:release() end
    end
    made[sum] = true
    return sum
  end
  for _, node in ipairs(nodes) do push(stack, node, n, add) end
  return stack[1].sum
end

return fold
