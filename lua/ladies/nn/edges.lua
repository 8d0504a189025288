--- Reads for layers the features, types and weights of the entries of a block. A block has
-- `edge_features`, a Tensor with a row for each entry of block.adj, and `edge_types`, an Index with
-- an element for each, where the data set has them; entries that are no edges of the graph, such as
-- the loops of A + I, have zeros there.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local options = require "ladies.base.options"
local own_nodes = require "ladies.nn.own_nodes"

local edges = {}

--- Returns block.edge_features. It fails, with a message that begins with `where`, unless the block
-- has them, with a row for each entry and `width` columns.
function edges.features(where, block, width)
  local x, n = block.edge_features, block.adj.nnz
  if options.class_of(x) ~= "Tensor" then
    errors.fail(("%s: the layer reads the features of edges, and the block has no edge_features"
      ):format(where))
  elseif x.n_rows ~= n or x.n_cols ~= width then
    errors.fail(("%s: block.edge_features must be %d x %d, a row for each entry, it is %d x %d")
      :format(where, n, width, x.n_rows, x.n_cols))
  end
  return x
end

--- Returns block.edge_types, numbers from 0 to `most`, with the checks of edges.features.
function edges.types(where, block, most)
  local types, n = block.edge_types, block.adj.nnz
  if options.class_of(types) ~= "Index" then
    errors.fail(("%s: the layer reads the types of edges, and the block has no edge_types"):format(
      where))
  elseif #types ~= n then
    errors.fail(("%s: block.edge_types must have %d elements, one for each entry, it has %d")
      :format(where, n, #types))
  elseif n > 0 and (types:min() < 0 or types:max() > most) then
    errors.fail(("%s: block.edge_types must be from 0 to %d, the relations of the model, they are "
      .. "from %d to %d"):format(where, most, types:min(), types:max()))
  end
  return types
end

--- Returns a number for each entry: 1 where its column is the node of its row, else 0.
function edges.are_loops(block)
  local adj = block.adj
  local own = own_nodes.places(block)
  local rows = adj:row_of()
  return adj:col_of():equals(own and own[rows] or rows)
end

--- Returns the sums of messages, a row for each entry of adj, over the entries of each row, times
-- their weights.
function edges.sum(adj, messages, weights)
  return core.segments(adj:row_of(), adj.n_rows):with_values(weights):matmul(messages)
end

--- Returns the logarithms of the entries of adj as a column, which attention adds to its scores:
-- with P = D^-1 (A + I) they are the same in a row and cancel; entries of a sample are weighted by
-- the inverse of the probability with which they were drawn. `where` begins the error for negative
-- ones.
function edges.log_weights(where, adj)
  local values = adj:entry_values()
  if #values > 0 and values:detach():min() < 0 then
    errors.fail(where .. ": the matrix has negative entries, which are no weights of attention")
  end
  return values:log():reshape(#values, 1)
end

return edges
