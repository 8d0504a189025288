--- Reads a data set from an .npz or .safetensors file with a list of edges, as users of PyTorch
-- Geometric save it:
--
--   edge_index     2 x edges (or edges x 2): sources, and targets; also `edges`
--   edge_weight    a number for each edge; also edge_weights, weight, weights; may be absent
--   batch          the graph of each node, from 0, where there are many: y has a row for each then,
--                  and the split is of graphs; may be absent, as the next
--   edge_attr      a row of features for each edge; also edge_features; may be absent, as the next
--   edge_type      the type of each edge, from 0 or a text; edge_type_names: names of all
--   time           a whole number for each edge; also edge_time, edge_times, timestamps
--   node_type, node_type_names     the type of each node alike
--   x              a row for each node; also node_features, features; may be absent
--   y              the class of each node, or its targets; also node_labels, labels: see
--                  ladies.data.formats.npz.labels
--   targets, target_names    a row of real targets for each node, and what they are called
--   num_nodes      how many nodes there are, as the rows of the others say, too; may be absent
--   train_mask, val_mask, test_mask       see formats/npz_split; may be absent
--   class_names, feature_names, node_names, directed      see formats/npz_layout; may be absent

local core = require "ladies_core"
local array_file = require "ladies.base.array_file"
local checks = require "ladies.data.checks"
local columns = require "ladies.data.edges.columns"
local direction = require "ladies.data.direction"
local notes = require "ladies.data.notes"
local npz_arrays = require "ladies.data.formats.npz.arrays"
local npz_labels = require "ladies.data.formats.npz.labels"
local npz_node_types = require "ladies.data.formats.npz.node_types"
local npz_split = require "ladies.data.formats.npz.split"

local layout = {}

local NAMES = {
  edges = {"edge_index", "edges"},
  weights = {"edge_weight", "edge_weights", "weight", "weights"},
  edge_features = {"edge_attr", "edge_features"}, types = {"edge_type", "edge_types"},
  times = {"time", "edge_time", "edge_times", "timestamps"},
  features = {"x", "node_features", "features"}, labels = {"y", "node_labels", "labels"},
}

-- The names of arrays that are known, as a set.
local KNOWN = {batch = true, edge_type_names = true, edge_feature_names = true, num_nodes = true,
  targets = true, target_names = true,
  class_names = true, feature_names = true, node_names = true, directed = true}
for _, names in pairs(NAMES) do
  for _, name in ipairs(names) do KNOWN[name] = true end
end

--- Tells whether an open npz file has this layout.
function layout.has_layout(file) return file:has "edge_index" or file:has "edges" end

-- Returns every second element of an Index, beginning with the element `first`.
local function every_second(ids, first)
  local positions = {}
  for i = first, #ids, 2 do positions[#positions + 1] = i end
  return ids[core.index(positions)]
end

-- Reads sources and targets, two Indexes.
local function read_ends(context, file, key)
  local shape = file:shape(key)
  local ids = file:index(key)
  if shape[1] == 2 and shape[2] then
    return ids:slice(1, shape[2]), ids:slice(shape[2] + 1, 2 * shape[2])
  elseif shape[2] == 2 then
    return every_second(ids, 1), every_second(ids, 2)
  end
  checks.fail(context, "%s is %s, must be 2 x edges", key, table.concat(shape, " x "))
end

-- Tells of features of edges that may be meant as types: one whole number for each edge, as bonds
-- or relations are numbered.
local function tell_of_types(context, fields, file, key)
  if #file:shape(key) > 1 or not file:dtype(key):find "int" then return end
  notes.add(context, fields.notes, "%s, one whole number for each edge, is a feature; what numbers "
    .. "types of edges is called edge_type", key)
end

-- Adds the adjacency of n nodes to the fields, or a list of edges where there is more to them.
local function read_edges(context, fields, file, n, parallel)
  local key = npz_arrays.one_of(context, file, NAMES.edges)
  local weight_key = npz_arrays.one_of(context, file, NAMES.weights)
  context.keys.adjacency = key
  local sources, targets = read_ends(context, file, key)
  checks.ids(context, "adjacency", sources, n)
  checks.ids(context, "adjacency", targets, n)
  local weights = weight_key and file:tensor(weight_key)
  if weights and weights.ndim == 2 and weights.n_cols == 1 then
    weights = weights:reshape(weights.n_rows)
  end
  local keys = {sources = key, targets = key, weights = weight_key,
    type_names = "edge_type_names"}
  for part, name in pairs{features = "edge_features", types = "types", times = "times"} do
    keys[part] = npz_arrays.one_of(context, file, NAMES[name])
  end
  if keys.features and not keys.types then tell_of_types(context, fields, file, keys.features) end
  if keys.features or keys.types or keys.times or parallel == "keep" then
    context.keys.edges = keys
    fields.edge_list = {n = n, sources = sources, targets = targets, weights = weights,
      features = keys.features and file:tensor(keys.features),
      feature_names = npz_arrays.texts(context, file, "edge_feature_names")}
    local list = fields.edge_list
    if keys.types then
      list.types, list.type_names = columns.read_types(context, file, keys.types,
        npz_arrays.texts(context, file, "edge_type_names"))
    end
    if keys.times then
      list.times, list.time_origin = columns.read_times(context, file, keys.times)
    end
    return
  end
  if weights and #weights ~= #sources then
    checks.fail(context, "%s has length %d, must have %d, one for each edge", weight_key, #weights,
      #sources)
  end
  if weights then
    context.keys.weights = weight_key
    checks.finite(context, "weights", weights)
  end
  fields.adjacency, fields.merged = direction.matrix(n, sources, targets, weights)
end

-- Returns the number of nodes, that of the rows of features or labels; fails if num_nodes differs
-- from it.
local function count_nodes(context, file)
  local key = context.keys.features or file:has "batch" and "batch" or context.keys.labels
    or "targets"
  local n = file:shape(key)[1]
  local said = file:has "num_nodes" and file:numbers "num_nodes" or n
  if type(said) == "table" then said = said[1] end
  if said ~= n then
    checks.fail(context, "num_nodes is %s, but %s has %d rows", tostring(said), key, n)
  end
  return n
end

--- Reads the fields of the data set in the open `file`, and the context of messages, as
-- ladies.data.complete takes them.
function layout.read(path, file, opts)
  local context = {where = path, shift = -1, keys = {}}
  local features = npz_arrays.one_of(context, file, NAMES.features)
  local labels = npz_arrays.one_of(context, file, NAMES.labels)
  if not labels and not file:has "targets" then
    checks.fail(context, "has %s but no labels: y, the class or the targets of each node, is "
      .. "missing", file:has "edge_index" and "edge_index" or "edges")
  end
  local fields = {path = path, notes = {}, source = array_file.is_safetensors(path)
    and "safetensors with a list of edges" or "npz with a list of edges"}
  context.keys = {labels = labels, features = features, feature_names = "feature_names",
    node_names = "node_names", class_names = file:has "class_names" and "class_names" or labels}
  if labels then npz_labels.read(context, fields, file, labels, opts.labels_as) end
  npz_labels.read_targets(context, fields, file)
  fields.features = features and file:tensor(features)
  local n = count_nodes(context, file)
  read_edges(context, fields, file, n, opts.parallel)
  npz_node_types.read(context, file, fields)
  if file:has "batch" then
    fields.graph_of, context.keys.graph_of = file:index "batch", "batch"
  end
  npz_split.read(context, file, fields, fields.graph_of and fields.graph_of:max() or n, opts.split)
  fields.directed = direction.read(file)
  fields.class_names = npz_arrays.texts(context, file, "class_names") or fields.class_names
  fields.target_names = npz_arrays.texts(context, file, "target_names")
  fields.feature_names = npz_arrays.texts(context, file, "feature_names")
  fields.node_names = npz_arrays.lines(context, file, "node_names")
  npz_arrays.tell_unused(context, fields.notes, file, KNOWN, npz_split.KNOWN, npz_node_types.KNOWN)
  return fields, context
end

return layout
