--- A data set as the arrays that PyTorch Geometric's Data has, in an .npz or .safetensors file:
-- what ladies.data.formats.npz_edges reads.

local core = require "ladies_core"
local array_file = require "ladies.base.array_file"
local checks = require "ladies.data.checks"
local in_memory = require "ladies.data.in_memory"
local labels = require "ladies.data.labels"
local options = require "ladies.base.options"

-- A node's own number in the mask is true.
local function mask_of(nodes, n)
  local mask = {}
  for node = 1, n do mask[node] = 0 end
  for _, node in ipairs(nodes:to_table()) do mask[node] = 1 end
  return core.npz.bool(mask)
end

-- Sources and targets, 2 x edges: rows of the adjacency are targets.
local function edge_index(adjacency)
  local ends = core.sampling.concat{adjacency:col_of(), adjacency:row_of()}
  return core.npz.int64(ends, {shape = {2, adjacency.nnz}})
end

--- Writes `data` to the file at `path`: edge_index, x, y, the masks of its split, edge_weight where
-- the weights are not all one. Names are left out.
return function(path, data)
  local adjacency, features = data.graph.adjacency, in_memory(data.features)
  local weights = adjacency:entry_values()
  local y = labels.kind_of(data.labels).array(data.labels)
  local arrays = {
    edge_index = edge_index(adjacency),
    x = options.class_of(features) == "Matrix" and features:to_dense() or features,
    y = options.class_of(y) == "Index" and core.npz.int64(y) or y,
  }
  if #weights > 0 and (weights:min() ~= 1 or weights:max() ~= 1) then
    arrays.edge_weight = weights
  end
  for _, part in ipairs(checks.SPLIT) do
    if data[part] then arrays[part .. "_mask"] = mask_of(data[part], data.graph.n_nodes) end
  end
  local write = (array_file.is_safetensors(path) and core.safetensors or core.npz).write
  write(path, arrays)
end
