--- Data sets: by name, from a file, or from a script's own arrays.

local core = require "ladies_core"
local options = require "ladies.options"
local checks = require "ladies.data.checks"
local complete = require "ladies.data.complete"
local cache = require "ladies.data.cache"
local collection = require "ladies.data.collection"
local fetch = require "ladies.data.fetch"
local npz_layout = require "ladies.data.npz_layout"
local readers = require "ladies.data.readers"
local registry = require "ladies.data.registry"
local splits = require "ladies.data.splits"

local data = {
  from_files = require("ladies.data.from_files").load,
  export = require "ladies.data.export",
  random_split = splits.random_split,
  class_split = splits.class_split,
  split = splits.of,
  shuffled = require "ladies.data.shuffled",
  row_normalized = require "ladies.data.row_normalized",
}

--- The names that `ladies.data.load` finds here, each once; `ladies fetch` lists those that it
-- would fetch.
data.names = collection.names

-- The path of what is called `name`, fetched if need be.
local function find(name)
  local path, cached = collection.find(name)
  if path then return path, cached end
  if fetch.is_allowed(name) then return fetch.run(name), true end
  local known = registry.find(name)
  options.fail(('ladies.data.load: no data set "%s"%s (looked in %s)'):format(name,
    known and " here, and LADIES_OFFLINE forbids to fetch it"
      or core.exists(name) and ("; what is called so here has the path ./%s"):format(name)
      or options.hint(name, data.names(), "there are"),
    table.concat(collection.folders(), " and ")))
end

-- The data set in the cache. A file that is not what was written is fetched again, or refused.
local function load_cached(name, path, opts)
  local results = table.pack(pcall(readers.load, path, opts))
  if results[1] then return results[2] end
  if cache.is_whole(name) then error(results[2], 0) end
  local message = ("%s is damaged"):format(path)
  if not fetch.is_allowed(name) then
    options.fail(("ladies.data.load: %s; fetch or import it again"):format(message))
  end
  io.stderr:write(("ladies.data.load: %s; fetching it again\n"):format(message))
  return readers.load(fetch.run(name, {again = true}), opts)
end

--- The data set of this name, or the one at this path (with a slash, or the name of a file here),
-- all of it checked. A path is one of
--
--   FILE.npz               arrays, which ladies.data.npz_layout, npz_pickled and npz_edges list
--   FOLDER/NAME_data.npz   DGL's Reddit, beside NAME_graph.npz; or the folder of such a pair
--   FOLDER/ind.NAME        what the names of Planetoid's files begin with
--   FOLDER/NAME.content    papers, beside NAME.cites; or the folder of such a pair
--   FOLDER                 one of OGB, with raw/ and split/; or one with tables, edges.csv and
--                          labels.csv at least, as ladies.data.export writes it; FOLDER/edges.csv
--                          is the same
--
-- A name is looked for beside the program, in the folder LADIES_DATA and in the cache, and fetched
-- on first use when `ladies fetch` knows it and LADIES_OFFLINE is not set.
--
-- directed        "symmetrize" (the default): edges go both ways; or "keep": as they are listed. A
--                 line tells when that changes something
-- make_features   for a graph without features: "identity", "degree" or "random", as
--                 ladies.data.made_features tells
-- split           how to split the nodes, in place of the split that the source may have: see
--                 ladies.data.split; or which one of the source's, where there are several
-- split_seed      of that (1)
-- max_ids         how many nodes, columns or classes a file may ask for by a number alone, where
--                 that is far more than there are lines or values in it
function data.load(name, opts)
  options.value("ladies.data.load", "the name", name, "string")
  if name == "" then options.fail "ladies.data.load: the name is empty" end
  if readers.is_path(name) then return readers.load(name, opts) end
  local path, cached = find(name)
  if cached then return load_cached(name, path, opts) end
  return readers.load(path, opts)
end

--- Writes a data set to an .npz file, which `ladies.data.load` and NumPy can read. With
-- {compress = false} the file is larger and much sooner written.
function data.save(dataset, path, opts)
  options.value("ladies.data.save", "the data set", dataset, "Dataset")
  options.value("ladies.data.save", "the path", path, "string")
  opts = options.check("ladies.data.save", opts, {compress = {"boolean", true}})
  npz_layout.write(path, dataset, opts)
end

local WHERE = "ladies.data.from_arrays"

-- {{1, 2}, {2, 3}} as two Indexes; {Index, Index} stays.
local function edge_ends(edges)
  if options.class_of(edges[1]) == "Index" then return edges[1], edges[2] end
  local sources, targets = {}, {}
  for i, edge in ipairs(edges) do
    options.value(WHERE, ("edges[%d]"):format(i), edge, "array of positive integers")
    if #edge ~= 2 then
      options.fail(("%s: edges[%d] must be two nodes, got %d"):format(WHERE, i, #edge))
    end
    sources[i], targets[i] = edge[1], edge[2]
  end
  return core.index(sources), core.index(targets)
end

-- The adjacency, and how many edges were given more than once.
local function adjacency_of(opts, n)
  if opts.graph then return opts.graph end
  local sources, targets = edge_ends(opts.edges)
  local context = {where = WHERE, shift = 0, keys = {sources = "edges", targets = "edges"}}
  checks.length(context, "targets", #targets, #sources, "as many targets as sources")
  checks.ids(context, "sources", sources, n)
  checks.ids(context, "targets", targets, n)
  -- A target hears its source: rows are destinations.
  local matrix = core.matrix{n_rows = n, n_cols = n, rows = targets, cols = sources}
  return matrix, #targets - matrix.nnz
end

local function as_index(ids)
  return type(ids) == "table" and core.index(ids) or ids
end

--- A data set of a script's own arrays, checked as those of a file are.
--
--   ladies.data.from_arrays{
--     edges    = {{1, 2}, {2, 3}},     -- or {Index, Index}, or graph = Matrix
--     features = Tensor or Matrix,
--     labels   = {1, 2, 1},            -- or Index; 0 = unlabelled. Where a node may have several
--                                      -- classes: Tensor or Matrix of 0 and 1, nodes x classes;
--                                      -- a row of NaN = unlabelled
--     train = {1}, val = {2}, test = {3},
--   }
--
-- Optional: name, source, class_names, feature_names, node_names (tables of strings), and directed
-- ("keep": an edge goes from its first node to its second), make_features, split and split_seed as
-- for ladies.data.load.
function data.from_arrays(arrays)
  local opts = options.check(WHERE, arrays, {
    graph = "Matrix or nil", edges = "array of tables or array of Indexes or nil",
    directed = complete.SPEC.directed, split = complete.SPEC.split,
    split_seed = complete.SPEC.split_seed,
    features = "Tensor or Matrix or nil", make_features = complete.SPEC.make_features,
    labels = "Index or array of non-negative integers or Tensor or Matrix",
    train = "Index or array of positive integers or nil",
    val = "Index or array of positive integers or nil",
    test = "Index or array of positive integers or nil",
    name = {"string", "arrays"}, source = {"string", "arrays of a script"},
    class_names = "array of strings or nil", feature_names = "array of strings or nil",
    node_names = "array of strings or nil",
  })
  if (opts.graph == nil) == (opts.edges == nil) then
    options.fail(WHERE .. ": give either edges or graph")
  end
  local labels = as_index(opts.labels)
  local adjacency, merged = adjacency_of(opts, opts.features and opts.features.n_rows
    or options.class_of(labels) == "Index" and #labels or labels.n_rows)
  local fields = {
    name = opts.name, source = opts.source, features = opts.features,
    adjacency = adjacency, merged = merged, labels = labels,
    train = as_index(opts.train), val = as_index(opts.val), test = as_index(opts.test),
    class_names = opts.class_names, feature_names = opts.feature_names,
    node_names = opts.node_names and table.concat(opts.node_names, "\n"),
  }
  local keys = setmetatable({adjacency = "graph"}, {__index = function(_, part) return part end})
  local context = {where = WHERE, shift = 0, keys = keys}
  opts.max_ids = math.maxinteger      -- what a script has made is there already
  return complete.dataset(WHERE, fields, context, opts)
end

return data
