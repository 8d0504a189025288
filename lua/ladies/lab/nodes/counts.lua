--- Counts the nodes and entries of a mini-batch.

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

--- Returns the largest distance of row sums from 1, over rows that are not empty: about 0 where all
-- rows are divided by their sums.
function counts.farthest_from_one(sums)
  return ((sums - 1) * sums:square():above(0)):abs():max()
end

return counts
