--- Writes data sets as files that are later mapped instead of read into memory: as one .safetensors
-- file, or as a folder of shards.

local by_runs = require "ladies.data.by_runs"
local complete = require "ladies.data.complete"
local copies = require "ladies.data.copies"
local from_files = require "ladies.data.formats.tables.from_files"
local npz_layout = require "ladies.data.formats.npz.layout"
local ogb = require "ladies.data.formats.ogb"
local ogb_to_file = require "ladies.data.formats.large.ogb_to_file"
local options = require "ladies.base.options"
local readers = require "ladies.data.formats.readers"
local shards = require "ladies.data.formats.large.shards"
local tables = require "ladies.base.tables"
local tables_to_file = require "ladies.data.formats.large.tables_to_file"

local to_file = {}

local FILE = tables.merged(complete.SPEC, {
  memory = "string or positive integer or nil", dtype = "float16|bfloat16|float32 or nil",
  self_loops = {"boolean", false},
})

local SHARDS = tables.merged(complete.SPEC, {
  shards = "positive integer", dtype = "float16|bfloat16|float32 or nil",
  shard_graph = {"boolean", false}, parts = "positive integer or nil", by = "metis|ldg or nil",
})

--- data.to_file(source: string | table, path [, {memory =, dtype =, self_loops = false, ...}]):
-- writes the data set at the path `source` to a .safetensors file at `path`, which ladies.data.load
-- then uses where it lies. A table in place of a path has the options of ladies.data.from_files.
-- memory        a number of bytes, or a text such as "4G" (by default a quarter of the machine's):
--               what is in memory meanwhile, beside 20 bytes for each node. For the arrays of
--               ogbn-papers100M and their like, and for edges without weights in a table of text,
--               where it is given; features and labels of tables, and other sources, are read whole
-- dtype         of dense features: "float16" or "bfloat16" take half the bytes of "float32"
-- self_loops    gives every node an edge to itself, so that A + I is the file itself
-- The other options are those of ladies.data.load.
function to_file.file(source, path, given)
  local where = "ladies.data.to_file"
  options.value(where, "the source", source, "string or table")
  options.value(where, "the path", path, "string")
  local opts = options.check(where, given, FILE)
  by_runs.check_path(where, path)
  local memory = opts.memory and by_runs.memory(where, opts.memory)
  local folder = type(source) == "string" and source:gsub("(.)/+$", "%1") or nil
  if folder and ogb.is_binary(folder) then
    return ogb_to_file(folder, path, {memory = memory or by_runs.memory(where),
      dtype = opts.dtype or "float32", self_loops = opts.self_loops, directed = opts.directed,
      split = opts.split, labels_as = opts.labels_as})
  end
  local load = complete.options_of(opts)
  local fields, context, edges
  local piece = memory and by_runs.piece(memory)
  if folder then
    fields, context, edges = readers.read(folder, load, piece)
  else
    fields, context, load, edges = from_files.read(tables.merged(source, load), piece)
  end
  if edges then
    return tables_to_file(path, fields, context, edges, load,
      {memory = memory, dtype = opts.dtype, self_loops = opts.self_loops})
  end
  local data = complete.dataset(where, fields, context, load)
  npz_layout.write_large(path, opts.self_loops and copies.with_loops(data) or data,
    opts.dtype ~= "float32" and opts.dtype or nil)
end

--- data.to_shards(source: Dataset | string, folder: string, {shards = integer, dtype = string,
-- shard_graph = false, parts = integer, by = "metis", ...}): writes a data set, or that at the path
-- `source`, as so many shards, files that have a part of the rows of the features each, and
-- common.safetensors, which has all else. With shard_graph they have these rows of the graph as
-- well, whose weights must be positive. With `parts`, a multiple of the shards, the nodes are first
-- put in the order of so many parts of the graph, which ladies.partition.of makes (by = "metis" or
-- "ldg"), and a shard has as many of them: so ranks need few rows of others where each mini-batch
-- has its seeds from a part (ladies.data.seed_parts). The data set then has `former_ids`, the
-- number that each node had before. Where mpirun has started several ranks,
-- ladies.data.load(folder) opens the common file and this rank's own shards alone. The features
-- become `dtype`, where it is given: "float16" and "bfloat16" take half the bytes of "float32";
-- sparse ones become dense, which a line tells. The folder is new, empty or one of an earlier call,
-- whose shards are replaced, which a line tells, too. The other options, for a path, are those of
-- ladies.data.load.
function to_file.shards(source, folder, given)
  local where = "ladies.data.to_shards"
  options.value(where, "the source", source, "Dataset or string")
  options.value(where, "the folder", folder, "string")
  local opts = options.check(where, given, SHARDS)
  local data = type(source) == "string" and readers.load(source, complete.options_of(opts))
    or source
  shards.write(where, data, folder, opts)
end

return to_file
