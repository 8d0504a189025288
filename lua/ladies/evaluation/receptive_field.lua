--- Finds which nodes exact inference must compute in each layer when only the logits of some nodes
-- are wanted: these nodes in the last layer, they and their neighbours in the layer before, and so
-- on, as in a mini-batch of whole neighbourhoods. From the layer on at which this is most of the
-- graph, all nodes are computed.
--
-- The work of a layer is in proportion to the number of entries of P in the rows that it computes,
-- but rows that are picked must also be copied and their columns renumbered: so all nodes are taken
-- once the picked rows have half of P's entries.

local options = require "ladies.base.options"

local receptive_field = {}

local MOST = 1 / 2        -- of the entries of P

--- receptive_field.of(P, nodes, n_layers) -> table: computes the nodes of each layer: dst[i] is the
-- Index of the nodes of layer i, nil for all, as in the layers below `first`; src, the nodes whose
-- features are read, nil for all; entries, the number of entries of P that all layers together
-- read; P and n_layers. nodes may be nil, for all.
function receptive_field.of(P, nodes, n_layers)
  local field = {P = P, n_layers = n_layers, dst = {}, first = n_layers + 1, entries = 0}
  -- Where P is divided among ranks, each rank multiplies all rows that it has.
  local dst = options.class_of(P) == "Matrix" and nodes or nil
  for i = n_layers, 1, -1 do
    local entries = dst and P:degrees(dst):sum():item() or P.nnz
    if not dst or entries > MOST * P.nnz then
      field.entries = field.entries + i * P.nnz
      return field
    end
    field.dst[i], field.first, field.entries = dst, i, field.entries + math.floor(entries)
    dst = select(2, P:slice(dst, {first = dst}))
  end
  field.src = dst
  return field
end

--- Returns the block of layer i, which is not below field.first; all: the Index of all nodes.
-- block.whole is P, by whose size a layer decides between equivalent orders of its products. Where
-- a field has `blocks`, it is one of these.
function receptive_field.block(field, i, all)
  if field.blocks then return field.blocks[i] end
  local P, dst = field.P, field.dst[i]
  if i == field.first and not field.src then
    return {adj = P:rows(dst), dst = dst, src = all, whole = P}
  end
  return {adj = P:slice(dst, {first = dst}), dst = dst, src = field.dst[i - 1] or field.src,
    whole = P}
end

return receptive_field
