--- The multiplications and additions that a GCN needs, with the cheaper order of each product.

local GcnConv = require "ladies.nn.gcn_conv"
local options = require "ladies.base.options"

local arithmetic = {}

-- The operations of a layer: those of its dense product, and of its propagation. `entries` are
-- those of sparse inputs.
local function of_layer(conv, adj, entries)
  if entries then return 2 * entries * conv.outputs, 2 * adj.nnz * conv.outputs end
  if GcnConv.transform_is_cheaper(adj, conv.inputs, conv.outputs) then
    return 2 * adj.n_cols * conv.inputs * conv.outputs, 2 * adj.nnz * conv.outputs
  end
  return 2 * adj.n_rows * conv.inputs * conv.outputs, 2 * adj.nnz * conv.inputs
end

-- The entries of sparse features in the rows `ids`, nil for dense ones.
local function entries_of(features, ids)
  if options.class_of(features) == "Tensor" then return nil end
  return ids and features:rows(ids).nnz or features.nnz
end

-- A linear head's product.
local function of_head(model, n_rows)
  local linear = model.head and model.head.linear
  return linear and 2 * n_rows * linear.inputs * linear.outputs or 0
end

--- The operations of a training step of nn.gcn on a mini-batch, without those that go element by
-- element: backward has each product once for its weights and once for its input, but for the
-- features.
function arithmetic.of_step(model, features, batch)
  local sum = 3 * of_head(model, #batch.output)
  for i, layer in ipairs(model.layers) do
    local entries = i == 1 and entries_of(features, batch.input) or nil
    local product, propagation = of_layer(layer.conv, batch.blocks[i].adj, entries)
    local whole_backward = i > 1
    sum = sum + product * (whole_backward and 3 or 2)
      + propagation * ((whole_backward or entries) and 2 or 1)
  end
  return sum
end

--- The operations of exact inference over the graph of P: those of its dense and sparse products,
-- and the columns of all propagations together.
function arithmetic.of_inference(model, features, P)
  local products, columns = of_head(model, P.n_rows), 0
  for i, layer in ipairs(model.layers) do
    local product, propagation = of_layer(layer.conv, P, i == 1 and entries_of(features) or nil)
    products, columns = products + product, columns + propagation // (2 * P.nnz)
  end
  return products, columns
end

return arithmetic
