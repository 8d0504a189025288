--- Divides the S mini-batches of a step among ranks, and adds their gradients in a binary tree over
-- all S (src/core/optim/accumulate.c). The additions are the same in the same order whatever the
-- number of ranks, so that the sum is the same to the bit.
--
-- Rank r of P has the mini-batches share(r, P, S), which follow one another. It adds alone those
-- nodes of the tree whose leaves it has all; that leaves a few sums, whose places follow from r, P
-- and S. Of all ranks' sums every rank gets its own part of the slab (the vector of all gradients),
-- adds them on up the tree, and gives the result back to all: a reduce-scatter and an all-gather,
-- in which no element is added twice. It takes (P - 1) / P slabs each way, whatever P is, where the
-- sums of a rank are one: S / P a power of two.

local fold = {}

--- Returns which of n mini-batches (or other things) rank r (from 0) of `size` has: the first and
-- the last. The last is less than the first where it has none; rank 0 has one if n > 0.
function fold.share(rank, size, n)
  local function before(r) return (r * n + size - 1) // size end
  return before(rank) + 1, before(rank + 1)
end

-- Tells whether two neighbouring sums, the right one of the leaves after those of the left one, are
-- the two children of a node of the tree over n leaves.
local function are_halves(left, right, n)
  local size, begins = left.last - left.first + 1, left.first - 1
  return size & (size - 1) == 0 and begins % (2 * size) == 0
    and right.last == math.min(begins + 2 * size, n)
end

-- Pushes a sum of leaves on a stack; as long as it and the top of the stack are the two children of
-- a node of the tree, these are first added by add(left, right) -> sum.
local function push(stack, node, n, add)
  while #stack > 0 and are_halves(stack[#stack], node, n) do
    local left = table.remove(stack)
    node = {first = left.first, last = node.last, sum = add(left.sum, node.sum)}
  end
  stack[#stack + 1] = node
end

--- Returns the fewest nodes {first =, last =} of the tree over n leaves that together have the
-- leaves first .. last, in their order.
function fold.nodes(first, last, n)
  local stack = {}
  for leaf = first, last do push(stack, {first = leaf, last = leaf}, n, function() end) end
  return stack
end

--- Adds the sums of some nodes, {first =, last =, sum = Tensor} in their order, on up the tree, and
-- returns the sum of all n leaves.
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
