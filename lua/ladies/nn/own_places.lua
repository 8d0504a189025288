--- Where a layer finds its own nodes, the destinations of its block, in its input.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local options = require "ladies.base.options"

local find = core.sampling.find

--- The positions of block.dst in block.src, or nil where both are the same nodes in the same order.
-- Of a source that repeats the first counts. Errors begin with `where`.
local function own_places(where, block)
  options.value(where, "the block", block, "table")
  if not block.src then
    errors.fail("the layer reads the rows of its own nodes, and its input comes propagated already "
      .. "(as that of VR-GCN's layers does)")
  elseif block.dst == block.src then
    return nil
  end
  local places = find(block.src, block.dst)
  if #places < #block.dst then
    errors.fail(('the layer reads the rows of its own nodes, and %d of %d were not sampled; '
      .. 'self_nodes = "previous" makes a sampler keep them'):format(#block.dst - #places,
      #block.dst))
  end
  return places
end

return own_places
