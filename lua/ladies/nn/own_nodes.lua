--- Finds where the destination nodes of a block are among its sources: a layer that reads a node's
-- own input, as residual connections do, needs the rows there.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local module = require "ladies.nn.module"
local options = require "ladies.base.options"

local find = core.sampling.find
local own_nodes = {}

-- Returns the positions of block.dst in block.src, or nil where both are the same nodes in the same
-- order. Of a node that is in src several times the first place is taken, unless block.own has the
-- positions. Errors begin with `where`.
local function places_of(where, block)
  options.value(where, "the block", block, "table")
  if not block.src then
    errors.fail("the layer reads the rows of its own nodes, and its input comes propagated already "
      .. "(as that of VR-GCN's layers does)")
  elseif block.own or block.dst == block.src then
    return block.own
  end
  local places = find(block.src, block.dst)
  if #places < #block.dst then
    errors.fail(('the layer reads the rows of its own nodes, and %d of %d were not sampled; '
      .. 'self_nodes = "previous" makes a sampler keep them; one of your own puts each '
      .. "layer's dst first among its src, by P:slice(dst, {first = dst}), and always picks it")
      :format(#block.dst - #places, #block.dst))
  end
  return places
end

--- Returns the positions of block.dst in block.src, or nil where both are the same nodes in the
-- same order.
function own_nodes.places(block) return places_of("nn.own_rows", block) end

--- nn.own_rows(h: Tensor | Matrix, block) -> Tensor | Matrix: of h, with a row for each node of
-- block.src, the rows of block.dst, in its order; h itself where both are the same nodes in the
-- same order, as in exact inference. h is a Tensor or a Matrix; gradients go through. Of a source
-- that repeats the first row counts, unless block.own, an Index, has the places of block.dst. A
-- destination that is not among the sources is an error: layer-wise samplers hold them all with
-- self_nodes = "previous".
function own_nodes.rows(h, block)
  local in_place = options.class_of(h) == "InputRows"
  if not in_place then options.value("nn.own_rows", "h", h, "Tensor or Matrix") end
  local places = places_of("nn.own_rows", block)
  if places then return h:rows(places) end
  return in_place and h:to_tensor() or h
end

--- Returns z * factor plus the rows of h that belong to block.dst (see own_nodes.rows), for
-- residual connections, initial residuals and teleports. factor is a number or a tensor of one
-- element. z, which nobody else may use any more, is given back as by free_after.
function own_nodes.residual(z, factor, h, block)
  local places = places_of("nn.residual", block)
  if z.in_step then return z:mul_add(factor, h, places, true) end
  return module.free_after(z, z:mul_add(factor, h, places))
end

return own_nodes
