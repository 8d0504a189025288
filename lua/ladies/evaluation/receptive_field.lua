--- What exact inference computes in each layer where the logits of some nodes alone are wanted:
-- these nodes in the last layer, they and their neighbours in the layer before, and so on, as the
-- blocks of a mini-batch of whole neighbourhoods; and all nodes in the layers below, once that is
-- not much more.
--
-- What is counted are the entries of P in the rows that a layer computes. A layer has the same
-- columns in either way, so the work is in proportion to the entries, but for copying the rows and
-- renaming their columns: so all nodes are taken from half of P's entries on.

local options = require "ladies.base.options"

local receptive_field = {}

local MOST = 1 / 2        -- of the entries of P

--- receptive_field.of(P, nodes, n_layers) -> table: dst[i], the Index of the nodes of layer i, nil
-- for all of them, as in the layers below `first`; src, the nodes whose features are read, nil for
-- all; entries, the number of those that are gone over in all layers; P and n_layers. nodes may be
-- nil, all.
function receptive_field.of(P, nodes, n_layers)
  local field = {P = P, n_layers = n_layers, dst = {}, first = n_layers + 1, entries = 0}
  -- Of a P in parts each rank has its own rows, all of which it multiplies.
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

--- The block of layer i, which is not below field.first; all: the Index of all nodes. block.whole
-- is P, by which a layer decides what it may do in one way or another.
function receptive_field.block(field, i, all)
  local P, dst = field.P, field.dst[i]
  if i == field.first and not field.src then
    return {adj = P:rows(dst), dst = dst, src = all, whole = P}
  end
  return {adj = P:slice(dst, {first = dst}), dst = dst, src = field.dst[i - 1] or field.src,
    whole = P}
end

return receptive_field
