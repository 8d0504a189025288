--- Data sets into folders of shards.

local complete = require "ladies.data.complete"
local options = require "ladies.base.options"
local readers = require "ladies.data.formats.readers"
local shards = require "ladies.data.formats.shards"
local tables = require "ladies.base.tables"

local WHERE = "ladies.data.to_shards"

local SPEC = tables.merged(complete.SPEC, {
  shards = "positive integer", dtype = "float16|bfloat16|float32 or nil",
  shard_graph = {"boolean", false},
})

--- data.to_shards(source: Dataset | string, folder: string, {shards = integer, dtype = string,
-- shard_graph = false, ...}): writes a data set, or that at the path `source`, as so many shards,
-- files that have a part of the rows of the features each, and common.safetensors, which has all
-- else. With shard_graph they have these rows of the graph as well, whose weights must be positive.
-- Where mpirun has started several ranks, ladies.data.load(folder) opens the common file and this
-- rank's own shards alone. The features become `dtype`, where it is given: "float16" and "bfloat16"
-- take half the bytes of "float32"; sparse ones become dense, which a line tells. The folder is
-- new, empty or one of an earlier call, whose shards are replaced, which a line tells, too. The
-- other options, for a path, are those of ladies.data.load.
return function(source, folder, given)
  options.value(WHERE, "the source", source, "Dataset or string")
  options.value(WHERE, "the folder", folder, "string")
  local opts, load = options.check(WHERE, given, SPEC), {}
  for key in pairs(complete.SPEC) do load[key] = opts[key] end
  local data = type(source) == "string" and readers.load(source, load) or source
  shards.write(WHERE, data, folder, opts)
end
