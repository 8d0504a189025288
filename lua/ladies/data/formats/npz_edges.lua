--- The arrays of a data set in an .npz or .safetensors file with a list of edges, as those who use
-- PyTorch Geometric save theirs:
--
--   edge_index     2 x edges (or edges x 2): sources, and targets; also `edges`
--   edge_weight    a number for each edge; also edge_weights, weight, weights; may be absent
--   x              a row for each node; also node_features, features; may be absent
--   y              the class of each node; also node_labels, labels: see formats/npz_labels
--   num_nodes      how many nodes there are, as the rows of the others say, too; may be absent
--   train_mask, val_mask, test_mask       see formats/npz_split; may be absent
--   class_names, feature_names, node_names, directed      see formats/npz_layout; may be absent

local core = require "ladies_core"
local array_file = require "ladies.base.array_file"
local checks = require "ladies.data.checks"
local direction = require "ladies.data.direction"
local notes = require "ladies.data.notes"
local npz_arrays = require "ladies.data.formats.npz_arrays"
local npz_labels = require "ladies.data.formats.npz_labels"
local npz_split = require "ladies.data.formats.npz_split"

local layout = {}

local NAMES = {
  edges = {"edge_index", "edges"},
  weights = {"edge_weight", "edge_weights", "weight", "weights"},
  features = {"x", "node_features", "features"}, labels = {"y", "node_labels", "labels"},
}

-- The names that mean something.
local KNOWN = {edge_attr = true, num_nodes = true, class_names = true, feature_names = true,
  node_names = true, directed = true}
for _, names in pairs(NAMES) do
  for _, name in ipairs(names) do KNOWN[name] = true end
end

--- Whether an open npz file has this layout.
function layout.has_layout(file) return file:has "edge_index" or file:has "edges" end

-- Every second element, from the first or the second on.
local function every_second(ids, first)
  local positions = {}
  for i = first, #ids, 2 do positions[#positions + 1] = i end
  return ids[core.index(positions)]
end

-- Sources and targets, two Indexes.
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

local function read_adjacency(context, file, n)
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
  if weights and #weights ~= #sources then
    checks.fail(context, "%s has length %d, must have %d, one for each edge", weight_key, #weights,
      #sources)
  end
  -- A target hears its source: rows are destinations.
  local matrix = core.matrix{n_rows = n, n_cols = n, rows = targets, cols = sources,
    values = weights}
  return matrix, #sources - matrix.nnz
end

-- The number of nodes, which features or labels have; an error if the file says another.
local function count_nodes(context, file)
  local key = context.keys.features or context.keys.labels
  local n = file:shape(key)[1]
  local said = file:has "num_nodes" and file:numbers "num_nodes" or n
  if type(said) == "table" then said = said[1] end
  if said ~= n then
    checks.fail(context, "num_nodes is %s, but %s has %d rows", tostring(said), key, n)
  end
  return n
end

--- The fields of the data set in the open `file`, and the context of messages, as
-- ladies.data.complete takes them.
function layout.read(path, file, opts)
  local context = {where = path, shift = -1, keys = {}}
  local features = npz_arrays.one_of(context, file, NAMES.features)
  local labels = npz_arrays.one_of(context, file, NAMES.labels)
  if not labels then
    checks.fail(context, "has %s but no labels: y, the class of each node, is missing",
      file:has "edge_index" and "edge_index" or "edges")
  end
  local fields = {path = path, notes = {}, source = array_file.is_safetensors(path)
    and "safetensors with a list of edges" or "npz with a list of edges"}
  context.keys = {labels = labels, features = features, feature_names = "feature_names",
    node_names = "node_names", class_names = file:has "class_names" and "class_names" or labels}
  fields.labels, fields.class_names = npz_labels.read(context, fields.notes, file, labels)
  fields.features = features and file:tensor(features)
  local n = count_nodes(context, file)
  fields.adjacency, fields.merged = read_adjacency(context, file, n)
  npz_split.read(context, file, fields, n, opts.split)
  fields.directed = direction.read(file)
  fields.class_names = npz_arrays.texts(context, file, "class_names") or fields.class_names
  fields.feature_names = npz_arrays.texts(context, file, "feature_names")
  fields.node_names = npz_arrays.lines(context, file, "node_names")
  if file:has "edge_attr" then
    notes.add(context, fields.notes, "edge_attr, features of edges, is not read")
  end
  npz_arrays.tell_unused(context, fields.notes, file, KNOWN, npz_split.KNOWN)
  return fields, context
end

return layout
