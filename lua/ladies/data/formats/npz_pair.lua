--- Reddit as DGL publishes it (the posts of Hamilton, Ying and Leskovec, 2017), and other graphs in
-- the same two files:
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
local npz_labels = require "ladies.data.formats.npz_labels"
local npz_matrix = require "ladies.data.formats.npz_matrix"

local npz_pair = {}

local KEYS = {adjacency = "the graph", features = "feature", labels = "label",
  node_types = "node_types", train = "node_types", val = "node_types", test = "node_types"}

local KNOWN = {feature = true, label = true, node_types = true, node_ids = true}

-- What the names of both files begin with, or nil.
local function base_of(path)
  return file_pair.base(path, "_data.npz", "_graph.npz")
end

--- Whether the path is that of either file, what their names begin with, or a folder with one pair.
function npz_pair.fits(path) return base_of(path) ~= nil end

-- The nodes of each part. A type t of the file is t + 1 in the Index.
local function read_split(context, file, fields, n)
  local types = file:index "node_types"
  checks.length(context, "node_types", #types, n, "one for each node")
  checks.ids(context, "node_types", types, #checks.SPLIT + 1)
  local parts = {}
  for i = 1, #checks.SPLIT do parts[i] = {} end
  for node, type_of in ipairs(types:to_table()) do
    local part = parts[type_of - 1]
    if part then part[#part + 1] = node end
  end
  for i, part in ipairs(checks.SPLIT) do
    fields[part] = #parts[i] > 0 and core.index(parts[i]) or nil
  end
end

--- The fields of the data set, and the context of messages, as ladies.data.complete takes them.
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
  fields.labels, fields.class_names = npz_labels.read(context, fields.notes, file, "label")
  read_split(context, file, fields, fields.adjacency.n_rows)
  return fields, context
end

return npz_pair
