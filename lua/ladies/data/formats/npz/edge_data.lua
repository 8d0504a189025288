--- Writes and reads what is known about edges as arrays of this program's .npz and .safetensors
-- files. They have a row or an element for each edge, in the order of the entries of the adjacency:
--
--   edge_attr, edge_feature_names     features of edges
--   edge_type, edge_type_names, edge_inverses     types, from 0; for each type that of the reverse,
--                                     -1 for none
--   edge_time, edge_time_origin       times, counted from the origin, which is a text
--   edge_weight                       weights, where entries stand for several edges
--   edge_counts                       how many edges each entry of the adjacency stands for; absent
--                                     where each is one
--   parallel                          "keep": these edges are entries of their own

local core = require "ladies_core"
local checks = require "ladies.data.checks"
local EdgeData = require "ladies.data.edges"
local list = require "ladies.data.edges.list"
local npz_arrays = require "ladies.data.formats.npz.arrays"

local stored = {}

--- The set of the names of these arrays.
stored.KNOWN = {}
for _, name in ipairs{"edge_attr", "edge_feature_names", "edge_type", "edge_type_names",
  "edge_inverses", "edge_time", "edge_time_origin", "edge_weight", "edge_counts", "parallel"} do
  stored.KNOWN[name] = true
end

-- Returns the adjacency with an entry for each pair of nodes, and how many edges each entry stands
-- for, or nil where each is one: parallel entries become one.
local function simple(edges)
  local A = edges.adjacency
  if edges.counts then return A, edges.counts end
  local merged = core.matrix{n_rows = A.n_rows, n_cols = A.n_cols, rows = A:row_of(),
    cols = A:col_of(), values = A.values}
  if merged.nnz == A.nnz then return A, nil end
  return merged, core.index(merged:find(A:row_of(), A:col_of()):counts(merged.nnz))
end

--- Returns the arrays about the edges of a data set, and the adjacency that goes with them in the
-- file.
function stored.arrays(data)
  local edges = data.edges
  if not edges then return {}, data.graph.adjacency end
  local adjacency, counts = simple(edges)
  return {
    edge_attr = edges.features, edge_feature_names = edges.feature_names,
    edge_type = edges.types, edge_type_names = edges.type_names, edge_inverses = edges.inverses,
    edge_time = edges.times and edges.times + 1,
    edge_time_origin = edges.times and {("%d"):format(edges.time_origin or 0)},
    edge_weight = counts and edges.weights, edge_counts = counts and counts + 1,
    parallel = counts and not edges.counts and {"keep"} or nil,
  }, adjacency
end

-- Reads the parts of the edges from a file.
local function parts_of(context, file)
  local function index(key) return file:has(key) and file:index(key) or nil end
  local function tensor(key) return file:has(key) and file:tensor(key) or nil end
  local origin = npz_arrays.texts(context, file, "edge_time_origin")
  local times = index "edge_time"
  return {
    features = tensor "edge_attr", types = index "edge_type", inverses = index "edge_inverses",
    feature_names = npz_arrays.texts(context, file, "edge_feature_names"),
    type_names = npz_arrays.texts(context, file, "edge_type_names"), times = times and times - 1,
    time_origin = times and math.tointeger(tonumber(origin and origin[1])) or nil,
    weights = tensor "edge_weight",
  }
end

--- Adds the edges in an open `file` to the fields of a data set whose adjacency was read. parallel:
-- the option of this name.
function stored.read(context, file, fields, parallel)
  local is_there = false
  for name in pairs(stored.KNOWN) do is_there = is_there or file:has(name) end
  if not is_there then return end
  local A, parts = fields.adjacency, parts_of(context, file)
  local entries = core.range(1, A.nnz)
  if file:has "edge_counts" then
    parts.counts = file:index "edge_counts" - 1
    checks.length(context, "edge_counts", #parts.counts, A.nnz, "one for each entry of the graph")
    if #parts.counts > 0 and parts.counts:min() < 1 then
      checks.fail(context, "edge_counts must be numbers from 1 on")
    end
    entries = parts.counts:repeated()
  end
  parts.targets, parts.sources = A:row_of()[entries], A:col_of()[entries]
  if parts.types and not (parts.type_names and parts.inverses
    and #parts.inverses == #parts.type_names) then
    checks.fail(context, "edge_type needs edge_type_names and edge_inverses, one for each type")
  end
  if not parts.weights then
    parts.weights = A.values and A:entry_values()[entries] or nil
  end
  context.keys.edges = {features = "edge_attr", types = "edge_type", times = "edge_time",
    weights = "edge_weight", feature_names = "edge_feature_names", type_names = "edge_type_names"}
  list.check(context, parts, A.n_rows)
  local words = npz_arrays.texts(context, file, "parallel")
  parallel = parallel or (words and words[1] == "keep" and "keep" or "merge")
  if parallel == "keep" and parts.counts then
    parts.counts = nil
    fields.adjacency, fields.edges = list.graph(parts, A.n_rows, "keep")
  else
    parts.adjacency = A
    fields.edges = EdgeData.new(parts)
  end
end

return stored
