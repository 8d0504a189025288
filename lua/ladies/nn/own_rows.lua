--- The rows of a layer's input that are its destinations: what a layer reads of a node besides the
-- propagation, for residuals, concatenation or skip connections.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local options = require "ladies.base.options"

local find = core.sampling.find

--- nn.own_rows(h: Tensor | Matrix, block) -> Tensor | Matrix: of h, with a row for each node of
-- block.src, the rows of block.dst, in its order; h itself where both are the same nodes in the
-- same order, as in exact inference. h is a Tensor or a Matrix; gradients go through. Of a source
-- that repeats the first row counts. A destination that is not among the sources is an error:
-- layer-wise samplers hold them all with self_nodes = "previous".
local function own_rows(h, block)
  options.value("nn.own_rows", "h", h, "Tensor or Matrix")
  options.value("nn.own_rows", "the block", block, "table")
  if not block.src then
    errors.fail("the layer reads the rows of its own nodes, and its input comes propagated already "
      .. "(as that of VR-GCN's layers does)")
  elseif block.dst == block.src then
    return h
  end
  local places = find(block.src, block.dst)
  if #places < #block.dst then
    errors.fail(('the layer reads the rows of its own nodes, and %d of %d were not sampled; '
      .. 'self_nodes = "previous" makes a sampler keep them'):format(#block.dst - #places,
      #block.dst))
  end
  return h:rows(places)
end

return own_rows
