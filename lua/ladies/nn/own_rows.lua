--- The rows of a layer's input that are its destinations: what a layer reads of a node besides the
-- propagation, for residuals, concatenation or skip connections.

local options = require "ladies.base.options"
local own_places = require "ladies.nn.own_places"

--- nn.own_rows(h: Tensor | Matrix, block) -> Tensor | Matrix: of h, with a row for each node of
-- block.src, the rows of block.dst, in its order; h itself where both are the same nodes in the
-- same order, as in exact inference. h is a Tensor or a Matrix; gradients go through. Of a source
-- that repeats the first row counts. A destination that is not among the sources is an error:
-- layer-wise samplers hold them all with self_nodes = "previous".
local function own_rows(h, block)
  local in_place = options.class_of(h) == "InputRows"
  if not in_place then options.value("nn.own_rows", "h", h, "Tensor or Matrix") end
  local places = own_places("nn.own_rows", block)
  if places then return h:rows(places) end
  return in_place and h:to_tensor() or h
end

return own_rows
