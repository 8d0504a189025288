--- Data sets into .safetensors files, which are used where they lie.

local array_file = require "ladies.base.array_file"
local by_runs = require "ladies.data.by_runs"
local complete = require "ladies.data.complete"
local errors = require "ladies.base.errors"
local from_files = require "ladies.data.formats.from_files"
local Graph = require "ladies.graph"
local machine = require "ladies.base.machine"
local npz_layout = require "ladies.data.formats.npz_layout"
local ogb = require "ladies.data.formats.ogb"
local ogb_to_file = require "ladies.data.formats.ogb_to_file"
local options = require "ladies.base.options"
local readers = require "ladies.data.formats.readers"
local tables = require "ladies.base.tables"
local tables_to_file = require "ladies.data.formats.tables_to_file"
local units = require "ladies.base.units"

local WHERE = "ladies.data.to_file"

local SPEC = tables.merged(complete.SPEC, {
  memory = "string or positive integer or nil", dtype = "float16|bfloat16|float32 or nil",
  self_loops = {"boolean", false},
})

-- The same data set, every node with an edge to itself.
local function looped(data)
  local copy = tables.merged(data)
  copy.graph = Graph.new(data.graph:normalize "none")
  return copy
end

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
return function(source, path, given)
  options.value(WHERE, "the source", source, "string or table")
  options.value(WHERE, "the path", path, "string")
  local opts = options.check(WHERE, given, SPEC)
  if not array_file.is_safetensors(path) then
    errors.fail(("%s: %s: the name of the file must end in .safetensors"):format(WHERE, path))
  end
  local memory = opts.memory and units.bytes(WHERE .. ": memory", opts.memory)
  local folder = type(source) == "string" and source:gsub("(.)/+$", "%1") or nil
  if folder and ogb.is_binary(folder) then
    return ogb_to_file(folder, path, {memory = memory or machine.memory() // 4,
      dtype = opts.dtype or "float32", self_loops = opts.self_loops, directed = opts.directed,
      split = opts.split})
  end
  local load, fields, context, edges = {}
  for key in pairs(complete.SPEC) do load[key] = opts[key] end
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
  local data = complete.dataset(WHERE, fields, context, load)
  npz_layout.write_large(path, opts.self_loops and looped(data) or data,
    opts.dtype ~= "float32" and opts.dtype or nil)
end
