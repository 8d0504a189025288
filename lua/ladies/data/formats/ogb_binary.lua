--- The arrays of OGB's largest graphs, such as ogbn-papers100M, in the folder raw/ of an archive:
--
--   data.npz          edge_index, 2 x edges: sources, then targets; node_feat, a row for each node,
--                     may be absent; num_nodes_list, the number of nodes
--   node-label.npz    node_label: the class of each node, nan for none; or several columns of 0, 1
--
-- Other arrays are not read.

local core = require "ladies_core"
local checks = require "ladies.data.checks"
local errors = require "ladies.base.errors"
local features_in_file = require "ladies.data.formats.features_in_file"

local ogb_binary = {}

local DATA, LABELS = "raw/data.npz", "raw/node-label.npz"
local READ = {edge_index = true, node_feat = true, num_nodes_list = true, num_edges_list = true}

--- Whether the folder of a data set holds these files.
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

-- The classes of one column: whole numbers, -1 or nan for none.
local function classes_of(context, cells)
  local column = cells:reshape(cells.n_rows)
  local known = column:equals(column)                     -- nan equals nothing
  local ok, labels = errors.try(function()
    return core.where(known, column + 1, core.zeros(#column)):to_index()
  end)
  if not ok then
    checks.fail(context, "%s: node_label must be classes from 0 on, or nan for none: %s", LABELS,
      errors.message(labels))
  end
  return labels
end

local function read_labels(context, n)
  if core.exists(context.where .. "/" .. LABELS) ~= "file" then
    checks.fail(context, "%s is missing", LABELS)
  end
  local file <close> = core.npz.open(context.where .. "/" .. LABELS)
  require_array(context, file, LABELS, "node_label")
  context.keys.labels = LABELS .. ": node_label"
  local shape = file:shape "node_label"
  checks.length(context, "labels", shape[1] or 0, n, "one for each node")
  local cells = file:tensor "node_label"
  return cells.n_cols > 1 and cells or classes_of(context, cells)
end

-- The number of edges.
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
  -- A target hears its source: rows are destinations.
  return core.matrix{n_rows = n, n_cols = n, rows = ends:slice(count + 1, 2 * count),
    cols = ends:slice(1, count)}
end

-- The names of the arrays that are left alone.
local function others(file)
  local left = {}
  for _, name in ipairs(file:names()) do
    if not READ[name] then left[#left + 1] = name end
  end
  return left
end

--- Adds labels, features and adjacency to the fields of the data set, and returns the number of
-- nodes, that of the edges listed, and the names of the arrays that were left alone.
function ogb_binary.read(context, fields, opts)
  local file <close> = core.npz.open(context.where .. "/" .. DATA, {mapped = true})
  local n, count = read_n_nodes(context, file), count_edges(context, file)
  fields.labels = read_labels(context, n)
  fields.adjacency = read_adjacency(context, file, n, count)
  if file:has "node_feat" then
    context.keys.features = DATA .. ": node_feat"
    fields.features = features_in_file(context, fields.notes, file, "node_feat", opts.features_in)
  end
  return n, count, others(file)
end

--- The path of the arrays in the folder of a data set.
ogb_binary.DATA = DATA

--- Adds the labels alone to the fields, and returns what there is besides: `nodes`, `edges`, the
-- shape of the `features`, or nil, and `left`, the names of the arrays that are left alone.
function ogb_binary.open(context, fields)
  local file <close> = core.npz.open(context.where .. "/" .. DATA)
  local n = read_n_nodes(context, file)
  fields.labels = read_labels(context, n)
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
