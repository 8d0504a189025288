--- Writes and reads a data set whose features are divided into several files (shards), for
-- processes on machines none of which has memory for all of them. It is a folder of
--
--   common.safetensors        all but the features, as ladies.data.formats.npz.layout has it, and
--                             in `shards`, a JSON text, what the others are: {"rows":, "columns":,
--                             "dtype":, "shards": [{"rows":, "hash":}, ...]}
--   shard-K-of-N.safetensors  attr_matrix: the rows of features that follow those of shard K - 1
--
-- The graph may be in the shards as well: see ladies.data.formats.large.sharded_graph.
--
-- A process opens the common file and its own shards: of the N shards, rank r of P has those of
-- fold.share(r, P, N), and a process that runs alone has all. So a machine only needs the shards of
-- its ranks. A shard is checked when it is first opened (see ladies.data.formats.large.checked) and
-- compared with the common file.

local core = require "ladies_core"
local array_file = require "ladies.base.array_file"
local checked = require "ladies.data.formats.large.checked"
local checks = require "ladies.data.checks"
local errors = require "ladies.base.errors"
local fold = require "ladies.ranks.fold"
local json = require "ladies.base.json"
local link = require "ladies.ranks.link"
local npz_layout = require "ladies.data.formats.npz.layout"
local options = require "ladies.base.options"
local own_folder = require "ladies.base.own_folder"
local node_order = require "ladies.data.parts"
local sharded_graph = require "ladies.data.formats.large.sharded_graph"
local tables = require "ladies.base.tables"
local tell = require "ladies.base.tell"

local shards = {named_splits = true}

local COMMON, ROWS = "common.safetensors", "attr_matrix"
local SHARD = "^shard%-%d+%-of%-%d+%.safetensors$"      -- the names of shards

-- The number of rows of a tile of a dense product (core/kernel/gemm.c). Shards consist of whole
-- tiles, so that their products are the same, to the bit, as rows of the product of all features.
local TILE = 192

local PIECE = 64 * TILE      -- rows that are written at a time

-- Returns the last row of each of n shards, of nearly equal size or, where the nodes are in the
-- order of parts whose last nodes `ends` has, of as many parts each, if they can, to the nearest
-- tile.
local function last_rows(n, n_rows, ends)
  local tiles, list, before = (n_rows + TILE - 1) // TILE, {}, 0
  local in_parts = ends and #ends % n == 0
  for k = 1, n do
    local _, last = fold.share(k - 1, n, tiles)
    if in_parts and k < n then last = (ends[k * #ends // n] + TILE // 2) // TILE end
    before = math.max(before + 1, math.min(last, tiles - (n - k)))
    list[k] = math.min(before * TILE, n_rows)
  end
  return list
end

local function name_of(k, n) return ("shard-%d-of-%d.safetensors"):format(k, n) end

-- ---------------------------------------------------------------- writing

-- Returns rows first .. last of the features, or those that `order` has there, as a Tensor.
local function piece(features, order, first, last)
  local is_sparse = options.class_of(features) == "Matrix"
  if not is_sparse and not order then return features:slice(first, last) end
  local rows = features:rows(order and order:slice(first, last) or core.range(first, last))
  return is_sparse and rows:to_dense() or rows
end

-- Writes rows first .. last of `graph`, if there is one, and of the features, which `order` puts in
-- order, if there is one; returns their entry for the common file.
local function write_shard(path, graph, features, order, dtype, first, last)
  local writer <close> = core.safetensors.writer(path)
  local edges = graph and sharded_graph.write_rows(writer, graph, first, last)
  writer:rows(ROWS, dtype, last - first + 1, features.n_cols)
  for from = first, last, PIECE do
    writer:add_rows(piece(features, order, from, math.min(from + PIECE - 1, last)))
  end
  writer:commit()
  local file <close> = core.safetensors.open(path, {mapped = true})
  return {rows = last - first + 1, hash = file:rows(ROWS):hash(), edges = edges}
end

-- Tells whether a file's name is that of a shard or of the common file.
local function is_part(name) return name == COMMON or name:find(SHARD) ~= nil end

-- Removes the shards of an earlier call from a folder of this program, and prints a line about it.
local function remove_old(where, folder)
  local count = 0
  for _, file in ipairs(core.files(folder.path)) do
    if is_part(file) then
      core.folder.remove(folder:file(file))
      count = count + (file == COMMON and 0 or 1)
    end
  end
  if count == 0 then return end
  tell("%s: %s had a data set in %d shards, which is replaced", where, folder, count)
end

-- Prints a line which tells that sparse features are written as dense ones, and how many bytes
-- these have.
local function tell_dense(where, features, dtype)
  local bytes = features.n_rows * features.n_cols * (dtype == "float32" and 4 or 2)
  tell("%s: the features are sparse, and dense in shards: %.3g GB", where, bytes / 1e9)
end

-- Fails unless each shard can have as many parts of the graph.
local function check_parts(where, opts)
  if opts.parts and opts.parts % opts.shards ~= 0 then
    errors.fail(("%s: %d parts for %d shards: a multiple of the shards is expected"):format(where,
      opts.parts, opts.shards))
  elseif opts.by and not opts.parts then
    errors.fail(where .. ": by is how parts are made: give their number, too")
  end
end

--- shards.write(where, data, path, {shards =, dtype =, shard_graph =, parts =, by =}): writes a
-- data set as so many shards of nearly equal size and a common file into a folder; the common file,
-- without which the folder is no data set, is written last. Errors begin with `where`. The features
-- become `dtype`, by default what they are; sparse ones are dense in shards, which a line tells.
-- With shard_graph the shards have the graph, too; with `parts` the nodes are first put in the
-- order of so many parts (see ladies.data.parts), of which each shard has as many. The folder that
-- the data set was loaded from is left as it is; shards of an earlier call are replaced, which a
-- line tells.
function shards.write(where, data, path, opts)
  local features, n = data.features, opts.shards
  local tiles = (features.n_rows + TILE - 1) // TILE
  if n > tiles then
    errors.fail(("%s: %d shards: %s has %d nodes, and a shard at least %d, so %d are the most")
      :format(where, n, data.name, features.n_rows, TILE, tiles))
  end
  if data.path and core.same_file(data.path, path) then
    errors.fail(("%s: %s is the folder that the data set is read from; choose another"):format(
      where, path))
  end
  check_parts(where, opts)
  local order
  if opts.parts then data, order = node_order.in_order(where, data, opts) end
  local graph = opts.shard_graph and sharded_graph.checked(where, data) or nil
  local dtype = opts.dtype or options.class_of(features) == "Rows" and features.dtype or "float32"
  if options.class_of(features) == "Matrix" then tell_dense(where, features, dtype) end
  local folder = own_folder.at(path)
  local _ <close> = folder:take "data set in shards"
  remove_old(where, folder)
  local list, before = {}, 0
  for k, last in ipairs(last_rows(n, features.n_rows, data.part_ends)) do
    list[k] = write_shard(folder:file(name_of(k, n)), graph, features, order, dtype, before + 1,
      last)
    before = last
  end
  local told = {rows = features.n_rows, columns = features.n_cols, dtype = dtype, shards = list}
  local arrays = graph and sharded_graph.common(graph, told) or {}
  arrays.shards = json.encode(told)
  npz_layout.write_common(folder:file(COMMON), data, arrays, graph ~= nil)
end

-- ---------------------------------------------------------------- reading

local SPEC = {
  rows = "non-negative integer", columns = "non-negative integer",
  dtype = "float16|bfloat16|float32", shards = "table", graph = "table or nil",
}

-- Reads, decodes and checks the text `shards` of the common file.
local function read_list(context)
  local file <close> = array_file.open(context.where)
  local ok, list = errors.try(function()
    local found = options.check("shards", json.decode(file:text "shards"), SPEC)
    local rows = 0
    for _, one in ipairs(found.shards) do
      options.check("shards", one, {rows = "non-negative integer", hash = "string",
        edges = found.graph and "string" or "string or nil"})
      rows = rows + one.rows
    end
    return rows == found.rows and found or errors.fail "their rows are not all"
  end)
  if not ok then checks.fail(context, "is damaged: %s", errors.message(list)) end
  return list
end

-- Returns the words of a message that say who needs the shards first .. last.
local function who(first, last, n)
  if link.size == 1 then return ("one process alone needs all %d"):format(n) end
  return ("rank %d of %d needs %d to %d of %d"):format(link.rank, link.size, first, last, n)
end

-- Reads the features in the file of shard k, and its rows of the graph where there are some; both
-- must have the hashes that the common file has.
local function read_shard(path, list, k)
  local context = {where = path, shift = -1, keys = {features = ROWS}}
  local file <close> = array_file.open(path, {mapped = true})
  if not file:has(ROWS) then checks.fail(context, "is no shard: it has no %s", ROWS) end
  local rows, identity, told = file:rows(ROWS), file:identity(), list.shards[k]
  local known = checked.read(identity)
  local edges = list.graph and sharded_graph.read_rows(context, file, told.rows, list.rows,
    known.edges ~= nil)
  if not known.shard or edges and not known.edges then
    checks.finite(context, "features", rows)
    known = {shard = rows:hash(), edges = edges and edges:hash()}
    checked.write(path, identity, known)
  end
  if known.shard ~= told.hash or edges and known.edges ~= told.edges then
    checks.fail(context, "is a shard of another data set than %s: its hash is %s, and not %s",
      COMMON, edges and known.shard .. " " .. known.edges or known.shard,
      edges and told.hash .. " " .. told.edges or told.hash)
  elseif rows.n_rows ~= told.rows or rows.n_cols ~= list.columns or rows.dtype ~= list.dtype then
    checks.fail(context, "has %s, and %s says %d x %d, %s: it is damaged", rows, COMMON, told.rows,
      list.columns, list.dtype)
  end
  return rows, edges or nil
end

-- Returns the number of rows before those of each rank, and last the number of all rows, for shards
-- of these sizes.
local function bounds_of(sizes, ranks)
  local bounds = {0}
  for rank = 0, ranks - 1 do
    local rows = bounds[rank + 1]
    local first, last = fold.share(rank, ranks, #sizes)
    for k = first, last do rows = rows + sizes[k] end
    bounds[rank + 2] = rows
  end
  return bounds
end

local function sizes_of(list) return tables.map(list.shards, function(one) return one.rows end) end

-- Reads this process's own shards: the features, the rows of the graph as an array of {first =,
-- rows =}, and the number of rows before those of each rank.
local function read_parts(folder, list)
  local n, bounds, parts, edges = #list.shards, bounds_of(sizes_of(list), link.size), {}, {}
  local first, last = fold.share(link.rank, link.size, n)
  local before = bounds[link.rank + 1]
  for k = first, last do
    local path = ("%s/%s"):format(folder, name_of(k, n))
    if core.exists(path) ~= "file" then
      errors.fail(("%s is missing; %s"):format(path, who(first, last, n)))
    end
    local rows, of_graph = read_shard(path, list, k)
    parts[#parts + 1] = {first = before + 1, rows = rows}
    edges[#edges + 1] = {first = before + 1, rows = of_graph}
    before = before + list.shards[k].rows
  end
  return core.rows_in_parts{dtype = list.dtype, n_rows = list.rows, n_cols = list.columns,
    parts = parts, bounds = link.size > 1 and bounds or nil}, edges, bounds
end

-- Returns the hash of all features, computed from the hashes of the shards.
local function hash_of(list)
  return "shards " .. table.concat(tables.map(list.shards, function(one) return one.hash end), " ")
end

--- shards.bounds(data, ranks): returns how the rows of a data set are divided among so many ranks:
-- rank r has the rows bounds[r + 1] + 1 to bounds[r + 2]. A data set that is not in shards counts
-- as if it had one for each rank.
function shards.bounds(data, ranks)
  if data.path and shards.fits(data.path) then
    return bounds_of(sizes_of(read_list{where = ("%s/%s"):format(data.path, COMMON)}), ranks)
  end
  return table.move(last_rows(ranks, data.features.n_rows, data.part_ends), 1, ranks, 2, {0})
end

--- Tells whether the shards of a data set have its graph as well.
function shards.have_graph(data)
  return data.path ~= nil and shards.fits(data.path)
    and read_list{where = ("%s/%s"):format(data.path, COMMON)}.graph ~= nil
end

--- Tells whether the path is that of a folder of shards.
function shards.fits(path)
  return core.exists(("%s/%s"):format(path, COMMON)) == "file"
end

--- Returns the folder of shards to which the file at `path` belongs; nil for other files.
function shards.folder_of(path)
  local folder, name = path:match "^(.*)/([^/]*)$"
  folder = folder or "."
  return is_part(name or path) and shards.fits(folder) and folder or nil
end

--- Says what is missing in a folder that has shards but no common file; nil for other folders.
function shards.missing(path)
  for _, file in ipairs(core.files(path)) do
    if file:find(SHARD) then
      return ("has %s, and not the %s that goes with it"):format(file, COMMON)
    end
  end
end

--- Reads the fields of the data set in the folder at `path`, and the context of messages, as
-- ladies.data.complete takes them. At every rank the hash of the features is that of all features.
function shards.read(path, opts)
  local context = {where = ("%s/%s"):format(path, COMMON), shift = -1, keys = {}}
  local list = read_list(context)
  if opts.features_in == "memory" and link.size > 1 and not link.is_sharing() then
    checks.fail(context, 'features_in = "memory" is for one process alone: here each rank has the '
      .. "features of its own shards; leave it out (--features-in), or load the data set within "
      .. "ladies.comm.together, which brings all features to all ranks")
  end
  local features, edges, bounds = read_parts(path, list)
  local adjacency = list.graph and sharded_graph.read(context, list, edges, bounds, features)
    or nil
  local fields
  fields, context = npz_layout.read(context.where, opts, adjacency)
  local remember = fields.remember
  fields.path, fields.name = path, array_file.base_name(path)
  fields.features, fields.known_finite = features, true
  context.keys.features = "shards"
  function fields.remember(data)
    if remember then remember(data) end
    data.known_hashes = tables.merged(data.known_hashes or {},
      {features = {of = features, hash = hash_of(list)},
        edges = adjacency and {of = adjacency, hash = list.graph.hash} or nil})
  end
  if opts.features_in == "memory" then fields.features = features:to_tensor() end
  return fields, context
end

return shards
