--- Reads a data set from an .npz file that NumPy wrote with pickled SciPy matrices in it:
--
--   adj_matrix                the adjacency, a csr_matrix, csc_matrix or coo_matrix
--   node_attr                 the features, one of these or an array; may be absent
--   node_label                see ladies.data.formats.npz.labels
--   metadata                  a dict with class_names, node_names, attr_names; may be absent
--   idx_train, train_mask, ...     the split, see ladies.data.formats.npz.split; may be absent
--
-- Pickles are read as data: nothing in them is run.

local core = require "ladies_core"
local checks = require "ladies.data.checks"
local npz_arrays = require "ladies.data.formats.npz.arrays"
local npz_labels = require "ladies.data.formats.npz.labels"
local npz_split = require "ladies.data.formats.npz.split"
local options = require "ladies.base.options"

local layout = {}

local KEYS = {
  adjacency = "adj_matrix", features = "node_attr", labels = "node_label",
  class_names = "metadata.class_names", node_names = "metadata.node_names",
  feature_names = "metadata.attr_names",
}

local KNOWN = {adj_matrix = true, node_attr = true, node_label = true, metadata = true}

--- Tells whether an open npz file has this layout.
function layout.has_layout(file) return file:has "adj_matrix" end

local function require_key(context, file, key)
  if not file:has(key) then checks.fail(context, "%s is missing", key) end
end

local function read_matrix(context, file, key)
  require_key(context, file, key)
  local matrix = file:object(key)
  if options.class_of(matrix) ~= "Matrix" then
    checks.fail(context, "%s must be a csr_matrix, csc_matrix or coo_matrix, got a %s", key,
      options.class_of(matrix) or type(matrix))
  end
  return matrix
end

-- Returns a list of texts in the metadata, or nil.
local function texts(context, metadata, key)
  local value = metadata[key]
  if options.class_of(value) == "PickledArray" then value = value:strings() end
  if value == nil or value == core.pickle.none then return nil end
  if type(value) ~= "table" then checks.fail(context, "metadata.%s must be texts", key) end
  for i, text in ipairs(value) do
    if type(text) ~= "string" then
      checks.fail(context, "metadata.%s[%d] must be a text, got a %s", key, i - 1, type(text))
    end
  end
  return value
end

local function read_metadata(context, file)
  local metadata = file:has "metadata" and file:object "metadata" or {}
  if type(metadata) ~= "table" then checks.fail(context, "metadata must be a dict") end
  return metadata
end

local function read_features(context, file)
  if not file:has "node_attr" then return nil end
  return file:dtype "node_attr" == "object" and read_matrix(context, file, "node_attr")
    or file:tensor "node_attr"
end

--- Reads the fields of the data set in the open `file`, and the context of messages, as
-- ladies.data.complete takes them.
function layout.read(path, file, opts)
  local context = {where = path, shift = -1, keys = setmetatable({}, {__index = KEYS})}
  require_key(context, file, "node_label")
  local metadata = read_metadata(context, file)
  local node_names = texts(context, metadata, "node_names")
  local fields = {path = path, notes = {}, source = "npz with pickled SciPy matrices"}
  fields.adjacency, fields.from_rows = read_matrix(context, file, "adj_matrix"), true
  fields.features = read_features(context, file)
  npz_labels.read(context, fields, file, "node_label", opts.labels_as)
  fields.class_names = texts(context, metadata, "class_names") or fields.class_names
  fields.feature_names = texts(context, metadata, "attr_names")
  fields.node_names = node_names and table.concat(node_names, "\n")
  npz_split.read(context, file, fields, fields.adjacency.n_rows, opts.split)
  npz_arrays.tell_unused(context, fields.notes, file, KNOWN, npz_split.KNOWN)
  return fields, context
end

return layout
