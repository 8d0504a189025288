--- Converts the arrays of ogbn-papers100M and similar data sets (see
-- ladies.data.formats.ogb_binary) to one .safetensors file, in bounded memory: edges are sorted on
-- the disk (see ladies.data.by_runs), and features are copied a piece at a time.

local core = require "ladies_core"
local by_runs = require "ladies.data.by_runs"
local checks = require "ladies.data.checks"
local ogb = require "ladies.data.formats.ogb"
local ogb_binary = require "ladies.data.formats.ogb_binary"
local options = require "ladies.base.options"

local PIECE = 1 << 22       -- numbers of features that are read at a time

-- Reads the next n ids, each of which must be a node.
local function take(context, reader, n, n_nodes)
  local ids = reader:ids(n)
  if ids:min() < 1 or ids:max() > n_nodes then
    checks.fail(context, "%s: edge_index holds %d, must hold nodes 0..%d", ogb_binary.DATA,
      (ids:min() < 1 and ids:min() or ids:max()) - 1, n_nodes - 1)
  end
  return ids
end

-- Returns an iterator over pieces of the edges, rows and columns, which reads both rows of
-- edge_index at the same time.
local function edges_of(context, path, count, n_nodes, piece)
  local sources = core.npz.reader(path, "edge_index")
  local targets = core.npz.reader(path, "edge_index")
  for first = 1, count, piece do targets:ids(math.min(piece, count - first + 1)) end
  local done = 0
  return function()
    local n = math.min(piece, count - done)
    if n == 0 then
      sources:close()
      targets:close()
      return nil
    end
    done = done + n
    -- Rows are targets, which receive from their sources.
    return take(context, targets, n, n_nodes), take(context, sources, n, n_nodes)
  end
end

local function copy_features(writer, path, shape, dtype)
  local reader <close> = core.npz.reader(path, "node_feat")
  local n, cols = shape[1], shape[2]
  local rows = math.max(1, PIECE // math.max(1, cols))
  writer:rows("attr_matrix", dtype, n, cols)
  for first = 1, n, rows do writer:add_rows(reader:rows(math.min(rows, n - first + 1))) end
end

--- ogb_to_file(folder, path, opts): writes the data set of the folder to a .safetensors file at
-- `path`. Options: memory, in bytes; dtype of the features; self_loops = true gives each node a
-- loop, so that A + I needs no memory later; directed = "keep"; split and labels_as, as for
-- ladies.data.load.
return function(folder, path, opts)
  local context = {where = folder, shift = -1, keys = {}}
  local fields = {notes = {}}
  local found = ogb_binary.open(context, fields, opts.labels_as)
  if opts.directed == "keep" then fields.directed = "keep" end
  ogb.read_rest(context, fields, opts, {units = found.nodes, edges = found.edges,
    left = found.left})
  local data <const> = folder .. "/" .. ogb_binary.DATA
  local writer <close> = core.safetensors.writer(path)
  by_runs.write_edges(writer, "adj", found.nodes, edges_of(context, data, found.edges, found.nodes,
    by_runs.piece(opts.memory)), {memory = opts.memory, folder = by_runs.folder_of(path),
    both = not fields.directed, loops = opts.self_loops})
  if fields.targets then
    writer:put("targets", fields.targets)
  else
    local several = options.class_of(fields.labels) == "Tensor"
    writer:put("labels", several and core.npz.float32(fields.labels) or fields.labels)
  end
  for _, part in ipairs(checks.SPLIT) do
    if fields[part] then writer:put("idx_" .. part, fields[part]) end
  end
  if found.features then copy_features(writer, data, found.features, opts.dtype) end
  for _, key in ipairs{"class_names", "source", "directed"} do
    local text = fields[key]
    if text then writer:put(key, type(text) == "table" and table.concat(text, "\n") or text) end
  end
  writer:commit()
end
