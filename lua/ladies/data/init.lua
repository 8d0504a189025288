--- Loads and saves data sets: by name, from a file, or from a script's own arrays.

local core = require "ladies_core"
local array_file = require "ladies.base.array_file"
local cache = require "ladies.data.store.cache"
local collection = require "ladies.data.store.collection"
local copies = require "ladies.data.copies"
local errors = require "ladies.base.errors"
local fetch = require "ladies.data.store.fetch"
local mapped_files = require "ladies.base.mapped_files"
local npz_layout = require "ladies.data.formats.npz.layout"
local options = require "ladies.base.options"
local parts = require "ladies.data.parts"
local paths = require "ladies.base.paths"
local readers = require "ladies.data.formats.readers"
local registry = require "ladies.data.store.registry"
local splits = require "ladies.data.splits"
local standardized = require "ladies.data.standardized"
local tables = require "ladies.base.tables"
local tell = require "ladies.base.tell"
local to_file = require "ladies.data.formats.large.to_file"

local data = {
  from_arrays = require "ladies.data.from_arrays",
  from_files = require("ladies.data.formats.tables.from_files").load,
  check_files = mapped_files.check,
  export = require "ladies.data.formats.export",
  to_file = to_file.file,
  to_shards = to_file.shards,
  seed_parts = parts.seeds,
  random_split = splits.random_split,
  class_split = splits.class_split,
  split = splits.of,
  shuffled = copies.shuffled,
  row_normalized = copies.row_normalized,
  standardized = standardized.copy,
}

--- The names that `ladies.data.load` finds here, each once; `ladies fetch` lists those that it
-- would fetch.
data.names = collection.names

-- A hint for a data set that cannot be fetched.
local INSTEAD = "; wordnet comes with the program: --dataset wordnet"

-- Downloads a data set that is not here yet, and returns its path.
local function fetched(name)
  local ok, result = errors.try(fetch.run, name)
  if ok then return result end
  errors.pass_on(errors.is_internal(result) and result or result .. INSTEAD)
end

-- Returns the path of the data set called `name`, which is downloaded if necessary, and whether it
-- is in the cache.
local function find(name)
  local path, cached = collection.find(name)
  if path then return path, cached end
  if fetch.is_allowed(name) then return fetched(name), true end
  local known = registry.find(name)
  errors.fail(('ladies.data.load: no data set "%s"%s (looked in %s)%s'):format(name,
    known and " here, and LADIES_OFFLINE forbids to fetch it"
      or core.exists(name) and ("; what is called so here has the path ./%s"):format(name)
      or options.hint(name, data.names(), "there are"),
    table.concat(collection.folders(), " and "), known and INSTEAD or ""))
end

-- Loads a data set from the cache. A damaged file is downloaded again, or refused.
local function load_cached(name, path, opts)
  local results = table.pack(errors.try(readers.load, path, opts))
  if results[1] then return results[2] end
  if cache.is_whole(name) then error(results[2], 0) end
  local message = ("%s is damaged"):format(path)
  if not fetch.is_allowed(name) then
    errors.fail(("ladies.data.load: %s; fetch or import it again"):format(message))
  end
  tell("ladies.data.load: %s; fetching it again", message)
  return readers.load(fetch.run(name, {again = true}), opts)
end

--- data.load(name [, opts]) -> Dataset: loads the data set of this name, or the one at this path
-- (with a slash, "." or the name of a file here), and checks all of it. A path is one of
--
--   FILE.npz               arrays, as doc/data.md lists them; FILE.safetensors has the same
--   FOLDER/NAME_data.npz   DGL's Reddit, beside NAME_graph.npz; or the folder of such a pair
--   FOLDER/ind.NAME        what the names of Planetoid's files begin with
--   FOLDER/NAME.content    papers, beside NAME.cites; or the folder of such a pair
--   FOLDER                 one of OGB, with raw/ and split/; or one with tables, edges.csv and
--                          labels.csv, targets.csv or features.csv, as ladies.data.export writes
--                          it (FOLDER/edges.csv is the same); or one of ladies.data.to_shards
--
-- A name is looked for beside the program, in the folder LADIES_DATA and in the cache, and fetched
-- on first use when `ladies fetch` knows it and LADIES_OFFLINE is not set.
--
-- directed        "symmetrize" (the default): edges go both ways; or "keep": as they are listed. A
--                 line tells when that changes something
-- parallel        "keep" or "merge": whether edges of one pair of nodes are an entry of the graph
--                 each, or share one. Not given, they are kept where edges have features, types or
--                 times, and are merged elsewhere
-- make_features   for a graph without features: "identity", a column for each node; "degree", one
--                 for each power of two of the degree ({"degree", columns = 8}: at least so many);
--                 or "random", 64 columns of normal numbers unless {"random", columns = 128,
--                 seed = 1} says otherwise
-- split           how to split the nodes, in place of the split that the source may have: see
--                 ladies.data.split; or which one of the source's, where there are several
-- split_seed      of that (1)
-- max_ids         how many nodes, columns or classes a file may ask for by a number alone, where
--                 that is far more than there are lines or values in it
-- ids, classes    of a folder of tables, how they name nodes and classes: as for
--                 ladies.data.from_files
-- labels_as       "classes" or "targets": what numbers are that a source has for its nodes; not
--                 given, they are targets where some are not whole, and classes otherwise
-- features_in     "memory" or "file": whether dense features of an .npz or a .safetensors file are
--                 read, as a Tensor, or stay there, as Rows; not given, they stay where they would
--                 take more than a quarter of the memory
function data.load(name, opts)
  options.value("ladies.data.load", "the name", name, "string")
  if name == "" then errors.fail "ladies.data.load: the name is empty" end
  local is_path, path, cached = readers.is_path(name), name, false
  if not is_path then path, cached = find(name) end
  local dataset = cached and load_cached(name, path, opts) or readers.load(path, opts)
  dataset.preparation = tables.merged(opts, dataset.preparation,
    {path = is_path and paths.from_root(name) or name})
  return dataset
end

--- ladies.data.save(data, path [, {compress = true, dtype =}]): writes a data set to an .npz file,
-- which `ladies.data.load` and NumPy can read. The file also says what was done to the features.
-- With {compress = false} it is larger and much sooner written. A file whose name ends in
-- .safetensors is not read into memory but used where it lies (see doc/data.md); {dtype =
-- "float16"} or "bfloat16" writes dense features in half the bytes, as the nearest such numbers.
function data.save(dataset, path, opts)
  local where = "ladies.data.save"
  options.value(where, "the data set", dataset, "Dataset")
  options.value(where, "the path", path, "string")
  opts = options.check(where, opts, {compress = "boolean or nil",
    dtype = "float16|bfloat16 or nil"})
  if array_file.is_safetensors(path) then
    if opts.compress then errors.fail(where .. ": a .safetensors file is never compressed") end
    return npz_layout.write_large(path, dataset, opts.dtype)
  elseif opts.dtype then
    errors.fail(where .. ": dtype is for .safetensors files")
  end
  npz_layout.write(path, dataset, {compress = opts.compress ~= false})
end

return data
