--- Counts the multiplications and additions of a GCN that takes the cheaper order of each product.

local GcnConv = require "ladies.nn.gcn_conv"
local options = require "ladies.base.options"

local arithmetic = {}

-- Returns the operations of a layer's dense product and those of its propagation; `entries` is the
-- number of entries of sparse inputs.
local function of_layer(conv, adj, entries)
  if entries then return 2 * entries * conv.outputs, 2 * adj.nnz * conv.outputs end
  if GcnConv.transform_is_cheaper(adj, conv.inputs, conv.outputs) then
    return 2 * adj.n_cols * conv.inputs * conv.outputs, 2 * adj.nnz * conv.outputs
  end
  return 2 * adj.n_rows * conv.inputs * conv.outputs, 2 * adj.nnz * conv.inputs
end

-- Returns the number of entries of sparse features in the rows `ids`, nil for dense features.
local function entries_of(features, ids)
  if options.class_of(features) == "Tensor" then return nil end
  return ids and features:rows(ids).nnz or features.nnz
end

-- Returns the operations of the product of a linear head.
local function of_head(model, n_rows)
  local linear = model.head and model.head.linear
  return linear and 2 * n_rows * linear.inputs * linear.outputs or 0
end

--- Returns the operations of a training step of nn.gcn on a mini-batch, without those that go
-- element by element. The backward pass computes each product twice, for the gradients of the
-- weights and of the input; features have no gradient.
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

--- Returns the operations of the dense and sparse products in exact inference over the graph of P,
-- and the number of columns that all propagations have together.
function arithmetic.of_inference(model, features, P)
  local products, columns = of_head(model, P.n_rows), 0
  for i, layer in ipairs(model.layers) do
    local product, propagation = of_layer(layer.conv, P, i == 1 and entries_of(features) or nil)
    products, columns = products + product, columns + propagation // (2 * P.nnz)
  end
  return products, columns
end

return arithmetic
