--- Writes and reads the graph of a data set in shards, which is divided among the shards as the
-- features are (ladies.data.formats.large.shards): a shard has the rows of the adjacency of its
-- nodes,
--
--   adj_indptr, adj_indices, adj_shape    rows x nodes, sorted
--   adj_data                              its weights, where it has some
--
-- and the common file, in place of them,
--
--   graph_degrees    the entries of every row, F32
--   graph_loops      the nodes with an edge to themselves
--   graph_sums       where it has weights the sums of rows as they are, and with loops of 1, F32:
--                    2 x nodes
--   graph            in `shards`: {"hash":, "symmetric":, "entries":}, of the whole adjacency, and
--                    "nodes":, the hashes of these arrays
--
-- A process that runs alone joins the parts in memory; of several ranks each has only its own
-- parts, as a MatrixInParts.

local core = require "ladies_core"
local array_file = require "ladies.base.array_file"
local checks = require "ladies.data.checks"
local errors = require "ladies.base.errors"
local GraphInParts = require "ladies.ranks.graph_in_parts"
local link = require "ladies.ranks.link"
local MatrixInParts = require "ladies.ranks.matrix_in_parts"
local npz_layout = require "ladies.data.formats.npz.layout"
local npz_matrix = require "ladies.data.formats.npz.matrix"
local options = require "ladies.base.options"

local sharded_graph = {}

local DEGREES, LOOPS, SUMS = "graph_degrees", "graph_loops", "graph_sums"

-- The range of allowed weights. With others the square of an entry of P would leave the range of
-- float32, and draws from rows would depend on which other rows are there.
local LEAST, MOST = 1e-19, 1e19

-- ---------------------------------------------------------------- writing

--- Returns the adjacency of a data set, after checking that it can be stored in shards; errors
-- begin with `where`.
function sharded_graph.checked(where, data)
  local A = data.graph.adjacency
  if options.class_of(A) ~= "Matrix" then
    errors.fail(("%s: this rank has a part of the graph of %s alone; one process has all"):format(
      where, data.name))
  end
  local least, greatest = core.value_range(A)
  if not least then return A end
  local sums = A:normalize "none":row_sums()
  local low = math.min(least, 1)
  if least <= 0 or low / sums:max() < LEAST or greatest / low > MOST then
    errors.fail(("%s: the weights of the graph of %s are %g to %g; in shards they must be "
      .. "positive, and the least of them and 1 at least %g of the others and of a row's sum; "
      .. "without shard_graph (--shard-graph) the features alone are in shards"):format(where,
        data.name, least, greatest, LEAST))
  end
  return A
end

--- Adds rows first .. last of the adjacency to the writer of a shard; returns their hash.
function sharded_graph.write_rows(writer, A, first, last)
  local part = A:rows(core.range(first, last))
  npz_layout.put_adjacency(writer, part)
  return part:hash()
end

-- Returns the nodes with an edge to themselves, in ascending order.
local function loops_of(A)
  local count = A:loops()
  if count == 0 or count == A.n_rows then return core.range(1, count) end
  return (-A:diagonal():to_tensor()):argsort():slice(1, count):sort()
end

-- Returns a matrix of two rows: the sums of the rows of A, and their sums with self-loops of 1; nil
-- for an A without weights.
local function sums_of(A)
  if not A.values then return nil end
  local sums = core.zeros(2, A.n_rows)
  for i, matrix in ipairs{A, A:normalize "none"} do
    sums:slice(i, i):copy_(matrix:row_sums():reshape(1, A.n_rows))
  end
  return sums
end

-- Returns the hashes of the arrays in the common file, as one text.
local function hashes_of(degrees, loops, sums)
  return ("%s %s %s"):format(degrees:hash(), loops:hash(), sums and sums:hash() or "none")
end

--- Returns the graph's arrays for the common file; sets told.graph, the entry `graph` of its
-- `shards`.
function sharded_graph.common(A, told)
  local degrees, loops, sums = A:degrees(), loops_of(A), sums_of(A)
  told.graph = {hash = A:hash(), symmetric = A:is_symmetric(), entries = A.nnz,
    nodes = hashes_of(degrees, loops, sums)}
  return {[DEGREES] = degrees, [LOOPS] = loops, [SUMS] = sums}
end

-- ---------------------------------------------------------------- reading

--- Reads the rows of the graph, n_rows of n_nodes, from the open file of a shard; known: whether
-- they were checked before.
function sharded_graph.read_rows(context, file, n_rows, n_nodes, known)
  local prefix = "adj_"
  if not file:has(prefix .. "indptr") then
    checks.fail(context, "is no shard with a part of the graph: it has no %sindptr", prefix)
  end
  local rows, columns = npz_matrix.read_shape(context, file, prefix .. "shape")
  if rows ~= n_rows or columns ~= n_nodes then
    checks.fail(context, "has %d x %d of the graph, must have %d x %d", rows, columns, n_rows,
      n_nodes)
  end
  if file:has(prefix .. "data") then return (npz_matrix.read(context, file, prefix, {})) end
  local ok, matrix = errors.try(file.csr, file, {offsets = prefix .. "indptr",
    columns = prefix .. "indices", n_rows = n_rows, n_cols = n_nodes, checked = known})
  if not ok then checks.fail(context, "%s*: %s", prefix, errors.message(matrix)) end
  return matrix or (npz_matrix.read(context, file, prefix, {}))
end

local SPEC = {
  hash = "string", symmetric = "boolean", entries = "non-negative integer", nodes = "string",
}

-- Reads the graph's arrays in the common file: the degrees of all nodes, the nodes with a self-loop
-- and, for a graph with weights, both sums of each row.
local function read_common(context, hashes)
  local file <close> = array_file.open(context.where)
  for _, key in ipairs{DEGREES, LOOPS} do
    if not file:has(key) then checks.fail(context, "is damaged: it has no %s", key) end
  end
  local degrees, loops = file:tensor(DEGREES), file:index(LOOPS)
  local sums = file:has(SUMS) and file:tensor(SUMS) or nil
  if hashes_of(degrees, loops, sums) ~= hashes then
    checks.fail(context, "is damaged: %s, %s or %s is not what was written", DEGREES, LOOPS, SUMS)
  elseif not sums then
    return degrees, loops
  end
  local n = #degrees
  return degrees, loops, sums:slice(1, 1):reshape(n), sums:slice(2, 2):reshape(n)
end

local function has_weights(parts)
  return #parts > 0 and parts[1].rows.values ~= nil
end

--- Makes the adjacency of a data set with these features from the parts, {first =, rows =}, that
-- this process has; the rows of rank r begin with bounds[r + 1] + 1.
function sharded_graph.read(context, list, parts, bounds, features)
  local ok, told = errors.try(options.check, "shards: graph", list.graph, SPEC)
  if not ok then checks.fail(context, "is damaged: %s", errors.message(told)) end
  if link.size == 1 then
    return core.graph_rows{n_nodes = list.rows, parts = parts, weighted = has_weights(parts)}
      :collect(core.range(1, list.rows), {joined = true})
  end
  local degrees, loops, sums, looped_sums = read_common(context, told.nodes)
  local graph = GraphInParts.new{
    n_nodes = list.rows, n_entries = told.entries, hash = told.hash, symmetric = told.symmetric,
    degrees = degrees, loops = loops, sums = sums, looped_sums = looped_sums,
    parts = parts, bounds = bounds,
  }
  GraphInParts.beside[features] = graph
  return MatrixInParts.new(graph)
end

--- Makes a MatrixInParts from a Matrix, with one part, which this process has.
function sharded_graph.in_one_part(A)
  local sums = sums_of(A)
  return MatrixInParts.new(GraphInParts.new{
    n_nodes = A.n_rows, n_entries = A.nnz, hash = A:hash(), symmetric = A:is_symmetric(),
    degrees = A:degrees(), loops = loops_of(A), parts = {{first = 1, rows = A}},
    sums = sums and sums[1], looped_sums = sums and sums[2],
    bounds = {0, A.n_rows},
  })
end

return sharded_graph
