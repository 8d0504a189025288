--- Reads and writes a data set in an .npz or .safetensors file, in the layout of gnn-benchmark:
--
--   adj_indices, adj_indptr, adj_shape    the adjacency in CSR form; adj_data, its weights, may be
--                                         absent (all ones)
--   attr_indices, attr_indptr, attr_shape, attr_data     the features alike,
--   attr_matrix                           or dense
--   labels                                see ladies.data.formats.npz.labels; may be absent
--   targets                               a row of real targets for each node; may be absent
--   target_names                          strings; may be absent
--   idx_train, idx_val, idx_test          node ids, or masks: see ladies.data.formats.npz.split;
--                                         may be absent
--   directed                              "keep": edges stay as they are; see
--                                         ladies.data.direction; may be absent
--   class_names, feature_names            strings; may be absent
--   node_names                            strings, or uint8: a UTF-8 text with a name a line
--   edge_attr, edge_type, edge_time, ...  what is known of edges: see
-- ladies.data.formats.npz.edge_data; may
--                                         be absent, as
--   batch                                 the graph of each node, from 0, where there are many:
-- labels
--                                         and split are then of graphs
--   node_type, node_type_names            types of nodes, from 0, and their names
--   part_ends, former_ids                 of nodes in the order of parts of the graph: the last
--                                         node of each part, and the former id of each node
--   feature_steps, feature_mean, ...      how the features were made: see
--                                         ladies.data.formats.npz.prepared
--   source                                a string, or uint8: where the data came from
--   shards, graph_degrees, graph_loops, graph_sums       of a file without features, and perhaps
--                                         without adjacency: see ladies.data.formats.large.shards
--
-- Ids count from 0 here and from 1 in Lua; the npz functions convert. Versions of gnn-benchmark
-- have other names for some, which are read as well: adj_matrix.data, attr_matrix.data, ... or
-- node_attr, node_label, attr_names. A file with an array adj_matrix is in the layout of
-- ladies.data.formats.npz.pickled instead, one with edge_index in that of
-- ladies.data.formats.npz.edges.

local core = require "ladies_core"
local array_file = require "ladies.base.array_file"
local checks = require "ladies.data.checks"
local direction = require "ladies.data.direction"
local features_in_file = require "ladies.data.formats.npz.features"
local labels = require "ladies.data.labels"
local large_file = require "ladies.data.formats.large.file"
local npz_arrays = require "ladies.data.formats.npz.arrays"
local npz_edge_data = require "ladies.data.formats.npz.edge_data"
local npz_edges = require "ladies.data.formats.npz.edges"
local npz_labels = require "ladies.data.formats.npz.labels"
local npz_matrix = require "ladies.data.formats.npz.matrix"
local npz_pickled = require "ladies.data.formats.npz.pickled"
local npz_prepared = require "ladies.data.formats.npz.prepared"
local npz_split = require "ladies.data.formats.npz.split"
local npz_node_types = require "ladies.data.formats.npz.node_types"
local npz_parts = require "ladies.data.formats.npz.parts"
local options = require "ladies.base.options"
local tables = require "ladies.base.tables"

local layout = {named_splits = true}

local KEYS = {
  labels = "labels", class_names = "class_names", node_names = "node_names",
  feature_names = "feature_names", targets = "targets", target_names = "target_names",
}

-- The prefixes that the names of a matrix's arrays may have: first this program's, then those of
-- versions of gnn-benchmark.
local PREFIXES = {
  adjacency = {"adj_", "adj_matrix.", "adj_matrix_"},
  features = {"attr_", "attr_matrix.", "attr_matrix_", "node_attr."},
}

-- Other names for arrays in versions of gnn-benchmark.
local OTHER_KEYS = {labels = "node_label", feature_names = "attr_names"}

-- The names of arrays that are known, as a set.
local KNOWN = {batch = true, attr_matrix = true, node_attr = true, source = true,
  directed = true, shards = true,
  graph_degrees = true, graph_loops = true, graph_sums = true}
for _, names in ipairs{npz_split.KNOWN, npz_edge_data.KNOWN, npz_node_types.KNOWN,
    npz_parts.KNOWN, npz_prepared.KNOWN} do
  for name in pairs(names) do KNOWN[name] = true end
end
for _, names in ipairs{KEYS, OTHER_KEYS} do
  for _, key in pairs(names) do KNOWN[key] = true end
end
for _, prefixes in pairs(PREFIXES) do
  for _, prefix in ipairs(prefixes) do
    for _, key in ipairs(npz_matrix.keys(prefix)) do KNOWN[key] = true end
  end
end

-- Returns the prefix that the names of the matrix's arrays have in this file, or nil.
local function prefix_of(file, part)
  for _, prefix in ipairs(PREFIXES[part]) do
    for _, key in ipairs(npz_matrix.keys(prefix)) do
      if file:has(key) then return prefix end
    end
  end
end

-- Reads the features; returns nil if there are none.
local function read_features(context, list, file, opts)
  local key = npz_arrays.one_of(context, file, {"attr_matrix", "node_attr"})
  if key then
    context.keys.features = key
    return features_in_file(context, list, file, key, opts.features_in)
  end
  local prefix = prefix_of(file, "features")
  if prefix then
    context.keys.features = prefix .. "shape"
    return (npz_matrix.read(context, file, prefix, KNOWN))
  end
  if not opts.make_features and npz_matrix.nearest(file, "attr_matrix", KNOWN) then
    npz_matrix.require_key(context, file, "attr_matrix", KNOWN)
  end
end

-- Returns the name that a part has in the file: its usual one, unless only the other one is there.
local function key_of(context, file, part)
  local other = OTHER_KEYS[part]
  if not file:has(KEYS[part]) and other and file:has(other) then context.keys[part] = other end
  return context.keys[part]
end

--- Tells whether the path may be read: that of any file, since an .npz file may have any name, and
-- the name of an .npz file that is missing.
function layout.fits(path)
  return core.exists(path) == "file" or path:find "%.npz$" ~= nil
end

-- Fails unless the file may be in this layout.
local function check_layout(context, file)
  if npz_matrix.is_saved(file) then
    checks.fail(context, "is one matrix of SciPy's save_npz, not a data set; "
      .. "ladies.data.from_files{edges = ...} takes it, or a folder with it as edges.npz and "
      .. "labels.csv")
  elseif not prefix_of(file, "adjacency") and not npz_matrix.nearest(file, "adj_shape", KNOWN) then
    local names = file:names()
    checks.fail(context, "holds %s: no graph in a layout that is known (adj_indptr, adj_indices "
      .. "and adj_shape; adj_matrix; edge_index); doc/data.md has them", #names == 0 and "no arrays"
      or "the arrays " .. table.concat(names, ", ", 1, math.min(#names, 12)))
  end
end

-- Fails if the file has its edges in two layouts.
local function check_one_graph(context, file)
  local prefix = prefix_of(file, "adjacency")
  npz_arrays.one_of(context, file, {"adj_matrix", "edge_index", "edges",
    prefix and prefix .. "shape" or nil})
end

-- Reads the adjacency; returns it and how many of its entries were given more than once.
local function read_adjacency(context, file, large, prefix)
  check_layout(context, file)
  local matrix, merged = large:read_matrix(prefix)
  if matrix then return matrix, merged end
  return npz_matrix.read(context, file, prefix, KNOWN)
end

--- Reads the fields of the data set in the file at `path`, and the context of its messages, as
-- ladies.data.complete takes them. adjacency: the graph, where the file has none.
function layout.read(path, opts, adjacency)
  local context = {where = path, shift = -1, keys = setmetatable({}, {__index = KEYS})}
  local file <close> = array_file.open(path, {mapped = true})
  check_one_graph(context, file)
  if npz_pickled.has_layout(file) then return npz_pickled.read(path, file, opts) end
  if npz_edges.has_layout(file) then return npz_edges.read(path, file, opts) end
  local fields, prefix = {path = path, notes = {}}, prefix_of(file, "adjacency") or "adj_"
  context.keys.adjacency = prefix .. "shape"
  local large = large_file.new(context, file)
  fields.adjacency, fields.merged = adjacency, 0
  if not adjacency then
    fields.adjacency, fields.merged = read_adjacency(context, file, large, prefix)
  end
  fields.features = read_features(context, fields.notes, file, opts)
  large:settle(fields)
  local key = key_of(context, file, "labels")
  if file:has(key) then
    npz_labels.read(context, fields, file, key, opts.labels_as)
  elseif not file:has "targets" and npz_matrix.nearest(file, key, KNOWN) then
    npz_matrix.require_key(context, file, key, KNOWN)
  end
  npz_labels.read_targets(context, fields, file)
  if file:has "batch" then
    fields.graph_of, context.keys.graph_of = file:index "batch", "batch"
  end
  npz_split.read(context, file, fields,
    fields.graph_of and fields.graph_of:max() or fields.adjacency.n_rows, opts.split)
  fields.directed = direction.read(file)
  fields.from_rows = not fields.directed and not adjacency
  fields.class_names = npz_arrays.texts(context, file, "class_names") or fields.class_names
  fields.feature_names = npz_arrays.texts(context, file, key_of(context, file, "feature_names"))
  fields.target_names = npz_arrays.texts(context, file, "target_names")
  fields.node_names = npz_arrays.lines(context, file, "node_names")
  fields.source = npz_arrays.lines(context, file, "source")
  npz_edge_data.read(context, file, fields, opts.parallel)
  npz_node_types.read(context, file, fields)
  npz_parts.read(context, file, fields)
  npz_prepared.read(context, file, fields)
  npz_arrays.tell_unused(context, fields.notes, file, KNOWN)
  return fields, context
end

-- Converts an Index to the smallest type that holds its elements; returns other arrays as they are.
local function smallest(ids)
  if options.class_of(ids) ~= "Index" then return ids end
  local low, high = #ids > 0 and ids:min() or 1, #ids > 0 and ids:max() or 1
  if low >= 1 and high <= 256 then return core.npz.uint8(ids) end
  return high <= 32768 and core.npz.int16(ids) or ids
end

-- Tells whether all entries of a Matrix are 1. One without `values` may still have scaled rows or
-- columns.
local function is_pattern(matrix)
  if matrix.values then return false end
  local values = matrix:entry_values()
  return #values == 0 or values:min() == 1 and values:max() == 1
end

-- Adds the arrays of a matrix. In a file that is used where it lies (see
-- ladies.data.formats.large.file) they have the types of a Matrix, otherwise the smallest ones.
local function add_matrix(arrays, prefix, matrix, is_used_there)
  arrays[prefix .. "_indptr"] = is_used_there and core.npz.int64(matrix:offsets())
    or matrix:offsets()
  arrays[prefix .. "_indices"] = is_used_there and matrix:col_of() or smallest(matrix:col_of())
  arrays[prefix .. "_shape"] = {matrix.n_rows, matrix.n_cols}
  arrays[prefix .. "_data"] = not is_pattern(matrix) and matrix:entry_values() or nil
end

-- Returns the arrays that are the same in .npz and .safetensors files, and the adjacency for the
-- file.
local function common(data)
  local arrays, adjacency = npz_edge_data.arrays(data)
  for key, value in pairs(arrays) do arrays[key] = smallest(value) end
  arrays = tables.merged(arrays, npz_prepared.arrays(data), {
    labels = data.labels and smallest(labels.kind_of(data.labels).array(data.labels)),
    targets = data.targets, target_names = data.target_names, class_names = data.class_names,
    feature_names = data.feature_names, source = data.source and {data.source},
    node_names = data.node_names and data.node_names:lines(),
    directed = direction.array(data), node_type = data.node_types and smallest(data.node_types),
    node_type_names = data.node_type_names, batch = data.graph_of,
    part_ends = data.part_ends, former_ids = data.former_ids,
  })
  for _, part in ipairs(checks.SPLIT) do
    arrays["idx_" .. part] = data[part] and smallest(data[part])
  end
  return arrays, adjacency
end

--- Writes the data set `data` to an .npz file at `path`, with the options of npz.write; equal data
-- gives equal bytes.
function layout.write(path, data, opts)
  local arrays, adjacency = common(data)
  add_matrix(arrays, "adj", adjacency)
  if options.class_of(data.features) == "Matrix" then
    add_matrix(arrays, "attr", data.features)
  else
    arrays.attr_matrix = data.features
  end
  core.npz.write(path, arrays, opts)
end

-- Functions that convert dense features to numbers of two bytes.
local HALVES = {float16 = core.npz.float16, bfloat16 = core.safetensors.bfloat16}

-- Joins each array of texts to one text with a line for each, as .safetensors files have them.
local function texts_in_lines(arrays, adjacency)
  for key, value in pairs(arrays) do
    if type(value) == "table" and type(value[1]) == "string" then
      arrays[key] = table.concat(value, "\n")
    end
  end
  return arrays, adjacency
end

-- Returns the arrays of a .safetensors file, without those of the features.
local function large_common(data)
  local arrays, adjacency = texts_in_lines(common(data))
  add_matrix(arrays, "adj", adjacency, true)
  return arrays
end

--- Writes a data set without its features to a .safetensors file, with other arrays by name;
-- without_graph: the adjacency is left out, too.
function layout.write_common(path, data, others, without_graph)
  local arrays = without_graph and texts_in_lines(common(data)) or large_common(data)
  core.safetensors.write(path, tables.merged(arrays, others))
end

--- Puts a Matrix into a safetensors writer, as the adjacency of a file.
function layout.put_adjacency(writer, matrix)
  writer:put("adj_indptr", core.npz.int64(matrix:offsets()))
  writer:put("adj_shape", {matrix.n_rows, matrix.n_cols})
  writer:put("adj_indices", matrix:col_of())
  if matrix.values then writer:put("adj_data", matrix.values) end
end

--- Writes a data set to a .safetensors file, which is later mapped instead of read into memory.
-- Dense features are written as `dtype`, "float16" or "bfloat16", if that is given. Texts are
-- uint8, with a line each.
function layout.write_large(path, data, dtype)
  local arrays = large_common(data)
  if options.class_of(data.features) == "Matrix" then
    add_matrix(arrays, "attr", data.features, true)
  elseif options.class_of(data.features) == "Rows" and dtype and dtype ~= data.features.dtype then
    arrays.attr_matrix = HALVES[dtype](data.features:to_tensor())
  else
    local convert = options.class_of(data.features) == "Tensor" and HALVES[dtype]
    arrays.attr_matrix = convert and convert(data.features) or data.features
  end
  core.safetensors.write(path, arrays)
end

-- Groups the keys of arrays by the size of their elements: 8 bytes, 4 bytes, and others.
local function by_size(arrays)
  local groups = {{}, {}, {}}
  for _, key in ipairs(tables.sorted_keys(arrays)) do
    local class = options.class_of(arrays[key])
    local of_four = class == "Index" or class == "Tensor"
    local of_eight = key:find "_indptr$" or key:find "_shape$"
    table.insert(groups[of_eight and 1 or of_four and 2 or 3], key)
  end
  return groups
end

--- Writes a .safetensors file of a data set whose graph does not fit in memory: write_graph(writer)
-- writes the graph, as "adj", a piece at a time (see ladies.data.by_runs).
function layout.write_pieces(path, data, dtype, write_graph)
  local arrays, features = texts_in_lines(common(data)), data.features
  local dense = options.class_of(features) ~= "Matrix"
  if not dense then add_matrix(arrays, "attr", features, true) end
  for _, part in ipairs(checks.SPLIT) do arrays["idx_" .. part] = data[part] end
  arrays.labels = data.labels and labels.kind_of(data.labels).array(data.labels)
  local groups = by_size(arrays)
  local writer <close> = core.safetensors.writer(path)
  local function put(group)
    for _, key in ipairs(group) do writer:put(key, arrays[key]) end
  end
  put(groups[1])
  write_graph(writer)
  put(groups[2])
  if dense then
    writer:rows("attr_matrix", dtype or "float32", features.n_rows, features.n_cols)
    writer:add_rows(features)
  end
  put(groups[3])
  writer:commit()
end

return layout
