--- Reads the data set Reddit (posts; Hamilton, Ying and Leskovec, 2017) as DGL publishes it, and
-- other graphs in two files of this form:
--
--   NAME_graph.npz    the adjacency, a matrix of SciPy's save_npz
--   NAME_data.npz     feature       a row for each node
--                     label         0 .. classes - 1, -1 = unlabelled; or a matrix of 0 and 1
--                     node_types    1 train, 2 val, 3 test, 0 none of them
--                     node_ids      what the nodes are called elsewhere; not read
--
-- The split is that of node_types: of Reddit, the posts of the first 20 days are for training.
-- Nodes without an edge stay: they are as many rows as any in the features.

local core = require "ladies_core"
local checks = require "ladies.data.checks"
local file_pair = require "ladies.data.formats.file_pair"
local npz_labels = require "ladies.data.formats.npz.labels"
local npz_matrix = require "ladies.data.formats.npz.matrix"
local splits = require "ladies.data.splits"
local tables = require "ladies.base.tables"

local npz_pair = {}

local KEYS = {adjacency = "the graph", features = "feature", labels = "label",
  node_types = "node_types", train = "node_types", val = "node_types", test = "node_types"}

local KNOWN = {feature = true, label = true, node_types = true, node_ids = true}

-- Returns the common beginning of the names of both files, or nil.
local function base_of(path)
  return file_pair.base(path, "_data.npz", "_graph.npz")
end

--- Tells whether the path is that of either file, the common beginning of their names, or a folder
-- with one pair.
function npz_pair.fits(path) return base_of(path) ~= nil end

-- Reads the parts of the split. A type t in the file is t + 1 in the Index.
local function read_split(context, file, n)
  local types = file:index "node_types"
  checks.length(context, "node_types", #types, n, "one for each node")
  checks.ids(context, "node_types", types, #checks.SPLIT + 1)
  return splits.by_node((types - 1):to_table())
end

--- Reads the fields of the data set, and the context of messages, as ladies.data.complete takes
-- them.
function npz_pair.read(path, opts)
  local base = base_of(path)
  local context = {where = base .. "_data.npz", shift = -1,
    keys = setmetatable({}, {__index = KEYS})}
  local name = base:match "[^/]*$"
  local fields = {path = context.where, name = name,
    source = ("%s_data.npz and %s_graph.npz"):format(name, name)}
  fields.adjacency, fields.merged = npz_matrix.load(base .. "_graph.npz")
  fields.from_rows = true
  local file <close> = core.npz.open(context.where)
  for _, key in ipairs{"label", "node_types"} do
    npz_matrix.require_key(context, file, key, KNOWN)
  end
  if not opts.make_features then npz_matrix.require_key(context, file, "feature", KNOWN) end
  fields.features = file:has "feature" and file:tensor "feature" or nil
  fields.notes = {}
  npz_labels.read(context, fields, file, "label", opts.labels_as)
  return tables.merged(fields, read_split(context, file, fields.adjacency.n_rows)), context
end

return npz_pair
