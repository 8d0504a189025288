--- Counts the nodes and entries of a mini-batch.

local core = require "ladies_core"
local sampling = require "ladies.sampling"

local counts = {}

--- Returns the distinct nodes in all layers of a mini-batch, as an Index.
function counts.distinct(batch)
  local all = batch.output
  for _, block in ipairs(batch.blocks) do all = all .. block.src end
  return sampling.unique(all)
end

--- Returns the number of distinct nodes of a mini-batch.
function counts.nodes(batch) return #counts.distinct(batch) end

--- Returns the number of entries of all blocks, which is the number of multiply-adds for each
-- column of the features.
function counts.entries(batch)
  local n = 0
  for _, block in ipairs(batch.blocks) do n = n + block.adj.nnz end
  return n
end

-- The most by which a row sum of 1 is off in single precision, and the least by which the rows of
-- a P must be off 1 for a division by their sums to change them.
local ROUNDING, UNLIKE = 1e-4, 1e-3

-- Returns the largest distance of row sums from 1, over rows whose sum is not 0.
local function farthest_from_one(sums)
  return ((sums - 1) * sums:square():above(0)):abs():max()
end

--- Tells whether the rows of P that have these sums, zeros aside, sum to one.
function counts.sum_to_one(sums) return farthest_from_one(sums) <= UNLIKE end

--- Tells whether the rows of a block's matrix are divided by their sums: no row sums to anything
-- but 1 or 0, and most rows with an entry to 1. nil where no row has an entry, which tells neither.
function counts.is_divided(adj)
  local sums = adj:row_sums()
  local filled = core.ones(adj.nnz):scatter_add(adj:row_of(), adj.n_rows):above(0):sum():item()
  if filled == 0 then return nil end
  return farthest_from_one(sums) < ROUNDING and sums:above(0.5):sum():item() > filled / 2
end

return counts
