--- Exact inference by blocks of nodes, for graphs and features that stay in their files: of each
-- layer the rows of some nodes at a time, from the rows of all their neighbours. Held are the
-- outputs of two layers for all nodes, 2 N K floats for N nodes and K columns, and what one block
-- takes, however many columns the features have.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local options = require "ladies.base.options"

local BLOCK = 1 << 13                       -- nodes

-- What a layer gives a block is a tree of tables: Tensors with a row for each of its nodes, or each
-- of its sources, which begin with its nodes; the Index of these; and what is the same for all.
-- NODES stands for the Index in what is kept.
local NODES = {}

-- The tree for `src` nodes, of what is kept for all.
local function gather(kept, src)
  local class = options.class_of(kept)
  if kept == NODES then return src end
  if class == "Rows" then kept:prefetch(src) end
  if class == "Tensor" or class == "Rows" or class == "Matrix" then return kept:rows(src) end
  if type(kept) ~= "table" then return kept end
  local part = {}
  for key, value in pairs(kept) do part[key] = gather(value, src) end
  return part
end

-- Puts the tree that a layer gave for a block, whose nodes begin with `first` of n, into what is
-- kept, and returns that.
local function put(kept, part, block, first, n)
  local class, size = options.class_of(part), #block.dst
  if class == "Tensor" and (part.n_rows == size or part.n_rows == #block.src) then
    kept = kept or (part.ndim == 2 and core.zeros(n, part.n_cols) or core.zeros(n))
    kept:slice(first, first + size - 1):copy_(part:slice(1, size))
    return kept
  elseif class == "Index" and (part == block.dst or part == block.src) then
    return NODES
  elseif class == "Tensor" or class == "Index" then
    errors.fail(("returned %s, not a row for each of the %d nodes of the block"):format(part, size))
  elseif type(part) ~= "table" then
    return part
  end
  kept = kept or {}
  for key, value in pairs(part) do kept[key] = put(kept[key], value, block, first, n) end
  return kept
end

--- by_blocks(model, P, features): what model:layer gives for all nodes, layer after layer. Results
-- are those of whole layers, but for the rounding of products that blocks take in another order.
return function(model, P, features)
  local kept, n = features, P.n_rows
  for i = 1, model.n_layers do
    local input = kept
    kept = nil
    for first = 1, n, BLOCK do
      local dst = core.range(first, math.min(first + BLOCK - 1, n))
      local adj, src = P:slice(dst, {first = dst})
      local block = {adj = adj, dst = dst, src = src}
      kept = errors.within("layer %d", i, function()
        return put(kept, model:layer(i, gather(input, src), block), block, first, n)
      end)
    end
  end
  return kept
end
