--- Reads the arrays of OGB's largest graphs, such as ogbn-papers100M, in the folder raw/ of an
-- archive:
--
--   data.npz          edge_index, 2 x edges: sources, then targets; node_feat, a row for each node,
--                     may be absent; num_nodes_list, the number of nodes
--   node-label.npz    node_label: the class of each node, nan for none; or several columns of 0, 1
--
-- Other arrays are not read.

local core = require "ladies_core"
local checks = require "ladies.data.checks"
local direction = require "ladies.data.direction"
local errors = require "ladies.base.errors"
local features_in_file = require "ladies.data.formats.npz.features"
local npz_labels = require "ladies.data.formats.npz.labels"
local targets = require "ladies.data.labels.targets"

local ogb_binary = {}

local DATA, LABELS = "raw/data.npz", "raw/node-label.npz"
local READ = {edge_index = true, node_feat = true, num_nodes_list = true, num_edges_list = true}

--- Tells whether the folder of a data set holds these files.
function ogb_binary.fits(folder)
  return core.exists(folder .. "/" .. DATA) == "file"
end

local function require_array(context, file, path, name)
  if not file:has(name) then checks.fail(context, "%s has no array %s", path, name) end
end

local function read_n_nodes(context, file)
  require_array(context, file, DATA, "num_nodes_list")
  local numbers = file:numbers "num_nodes_list"
  local n = type(numbers) == "table" and #numbers == 1 and math.tointeger(numbers[1])
  if not n or n < 1 then
    checks.fail(context, "%s: num_nodes_list must be the number of nodes of one graph", DATA)
  end
  return n
end

-- Converts a column of integers to classes, with -1 or nan for no class; returns nil and a message
-- for others.
local function classes_of(cells)
  local column = cells:reshape(cells.n_rows)
  local known = column:equals(column)                     -- nan equals nothing
  local ok, labels = errors.try(function()
    return core.where(known, column + 1, core.zeros(#column)):to_index()
  end)
  if ok then return labels end
  return nil, errors.message(labels)
end

-- Adds the labels of n nodes to the fields, or their targets; asked: the option labels_as.
local function read_labels(context, fields, n, asked)
  if core.exists(context.where .. "/" .. LABELS) ~= "file" then
    checks.fail(context, "%s is missing", LABELS)
  end
  local file <close> = core.npz.open(context.where .. "/" .. LABELS)
  require_array(context, file, LABELS, "node_label")
  context.keys.labels = LABELS .. ": node_label"
  local shape = file:shape "node_label"
  checks.length(context, "labels", shape[1] or 0, n, "one for each node")
  local cells = file:tensor "node_label"
  local message
  if cells.n_cols == 1 and asked ~= "targets" then
    fields.labels, message = classes_of(cells)
    if fields.labels then return end
  end
  if message and (asked or not targets.has_fractions(cells)) then
    checks.fail(context, "%s: node_label must be classes from 0 on, or nan for none: %s", LABELS,
      message)
  end
  npz_labels.add_matrix(context, fields, context.keys.labels, cells, asked)
end

-- Returns the number of edges.
local function count_edges(context, file)
  require_array(context, file, DATA, "edge_index")
  local shape = file:shape "edge_index"
  if #shape ~= 2 or shape[1] ~= 2 then
    checks.fail(context, "%s: edge_index must have two rows, sources and targets", DATA)
  end
  context.keys.adjacency = DATA .. ": edge_index"
  return shape[2]
end

local function read_adjacency(context, file, n, count)
  local ends = file:index "edge_index"
  checks.ids(context, "adjacency", ends, n)
  return direction.matrix(n, ends:slice(1, count), ends:slice(count + 1, 2 * count))
end

-- Returns the names of the arrays that are not read.
local function others(file)
  local left = {}
  for _, name in ipairs(file:names()) do
    if not READ[name] then left[#left + 1] = name end
  end
  return left
end

--- Adds labels, features and adjacency to the fields of the data set, and returns the number of
-- nodes, the number of edges listed, and the names of the arrays that were not read.
function ogb_binary.read(context, fields, opts)
  local file <close> = core.npz.open(context.where .. "/" .. DATA, {mapped = true})
  local n, count = read_n_nodes(context, file), count_edges(context, file)
  read_labels(context, fields, n, opts.labels_as)
  fields.adjacency, fields.merged = read_adjacency(context, file, n, count)
  if file:has "node_feat" then
    context.keys.features = DATA .. ": node_feat"
    fields.features = features_in_file(context, fields.notes, file, "node_feat", opts.features_in)
  end
  return n, count, others(file)
end

--- The path of the arrays in the folder of a data set.
ogb_binary.DATA = DATA

--- Adds only the labels or targets to the fields (asked: the option labels_as), and returns the
-- sizes of the other parts: {nodes =, edges =, features = their shape or nil, left = the names of
-- the arrays that are not read}.
function ogb_binary.open(context, fields, asked)
  local file <close> = core.npz.open(context.where .. "/" .. DATA)
  local n = read_n_nodes(context, file)
  read_labels(context, fields, n, asked)
  local found = {nodes = n, edges = count_edges(context, file), left = others(file)}
  if not file:has "node_feat" then return found end
  found.features, context.keys.features = file:shape "node_feat", DATA .. ": node_feat"
  if #found.features ~= 2 then
    checks.fail(context, "%s: node_feat must have two dimensions", DATA)
  end
  checks.length(context, "features", found.features[1], n, "one row for each node")
  return found
end

return ogb_binary
