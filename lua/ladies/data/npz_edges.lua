--- The arrays of a data set in an .npz file with a list of edges, as those who use PyTorch
-- Geometric save theirs:
--
--   edge_index     2 x edges (or edges x 2): sources, and targets; also `edges`
--   edge_weight    a number for each edge; may be absent
--   x              a row for each node; also node_features, features; may be absent
--   y              the class of each node; also node_labels, labels: see ladies.data.npz_labels
--   train_mask, val_mask, test_mask       see ladies.data.npz_split; may be absent

local core = require "ladies_core"
local checks = require "ladies.data.checks"
local notes = require "ladies.data.notes"
local npz_labels = require "ladies.data.npz_labels"
local npz_split = require "ladies.data.npz_split"

local layout = {}

local NAMES = {
  edges = {"edge_index", "edges"}, weights = {"edge_weight"},
  features = {"x", "node_features", "features"}, labels = {"y", "node_labels", "labels"},
}

local function name_of(file, part)
  for _, name in ipairs(NAMES[part]) do
    if file:has(name) then return name end
  end
end

--- Whether an open npz file has this layout.
function layout.has_layout(file) return name_of(file, "edges") ~= nil end

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
  local key, weight_key = name_of(file, "edges"), name_of(file, "weights")
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

--- The fields of the data set in the open `file`, and the context of messages, as
-- ladies.data.complete takes them.
function layout.read(path, file, opts)
  local context = {where = path, shift = -1, keys = {}}
  local features, labels = name_of(file, "features"), name_of(file, "labels")
  if not labels then
    checks.fail(context, "has %s but no labels: y, the class of each node, is missing",
      name_of(file, "edges"))
  end
  context.keys.labels, context.keys.features = labels, features
  context.keys.class_names = labels
  local fields = {path = path, notes = {}, source = "npz with a list of edges"}
  fields.labels, fields.class_names = npz_labels.read(context, fields.notes, file, labels)
  fields.features = features and file:tensor(features)
  local n = fields.features and fields.features.n_rows or file:shape(labels)[1]
  fields.adjacency, fields.merged = read_adjacency(context, file, n)
  npz_split.read(context, file, fields, n, opts.split)
  if file:has "edge_attr" then
    notes.add(context, fields.notes, "edge_attr, features of edges, is not read")
  end
  return fields, context
end

return layout
