--- Writes a graph that does not fit in memory to a file, by an external sort: a first pass sorts
-- its edges by ranges of rows into temporary files (runs) on the disk of that file; then the rows
-- are made from the runs, as many ranges at a time as fit in memory.

local core = require "ladies_core"
local array_file = require "ladies.base.array_file"
local errors = require "ladies.base.errors"
local machine = require "ladies.base.machine"
local units = require "ladies.base.units"

local BYTES = 24            -- an edge of a range: see EdgeRuns:matrix, and what is written of it
local SHARE = 1 / 2         -- of the memory for ranges; the rest is for pieces of the source

local by_runs = {}

-- Divides the ranges of rows into groups {first =, last =}, each of which fits in `memory`.
local function groups_of(runs, memory)
  local groups, most, room, width = {}, memory * SHARE // BYTES, 0, runs:width()
  for k, entries in ipairs(runs:counts()) do
    local group = groups[#groups]
    if entries > most then
      errors.fail(("nodes %d to %d have %d edges, for which %d bytes of memory are too few; about "
        .. "%d are needed"):format((k - 1) * width, k * width - 1, entries, memory,
        entries * BYTES // SHARE))
    elseif not group or room + entries > most then
      group, room = {first = k}, 0
      groups[#groups + 1] = group
    end
    group.last, room = k, room + entries
  end
  return groups
end

--- Fails, with an error that begins with `where`, unless the name of a file ends in .safetensors.
function by_runs.check_path(where, path)
  if not array_file.is_safetensors(path) then
    errors.fail(("%s: %s: the name of the file must end in .safetensors"):format(where, path))
  end
end

--- Returns the option `memory` in bytes, from a number or a text such as "4G"; without it a quarter
-- of the machine's memory. Errors begin with `where`.
function by_runs.memory(where, given)
  return given and units.bytes(where .. ": memory", given) or machine.memory() // 4
end

--- Returns the folder of a file, where its runs are put too, since its disk must have room for the
-- file anyway.
function by_runs.folder_of(path)
  return path:match "^(.+)/[^/]*$" or path:sub(1, 1) == "/" and "/" or "."
end

--- Fails if the program was built without the plugin that has EdgeRuns.
function by_runs.check()
  if not core.edge_runs then
    errors.fail("this program was built without the plugin that makes graphs larger than "
      .. "memory (cmake -DLADIES_LARGE=ON)")
  end
end

--- Makes empty EdgeRuns of n nodes on the disk of a folder.
function by_runs.new(folder, n)
  by_runs.check()
  return core.edge_runs(folder, n, n)
end

--- Writes the adjacency of n nodes whose edges are in EdgeRuns, by a safetensors writer. Edges that
-- are also in the EdgeRuns opts.without, if given, are left out. memory: in bytes. loops = true
-- adds an edge of every node to itself. Returns how many groups of ranges that took.
function by_runs.write(writer, prefix, n, runs, opts)
  if opts.loops then
    for first = 1, n, 1 << 16 do
      local own = core.range(first, math.min(n, first + (1 << 16) - 1))
      runs:add(own, own)
    end
  end
  local groups = groups_of(runs, opts.memory)
  writer:csr(prefix, n, n)
  for _, group in ipairs(groups) do
    writer:add_csr(runs:matrix(group.first, group.last, opts.without))
  end
  return #groups
end

--- Writes a matrix of n nodes with a one for each edge, as by_runs.write does, by way of runs in
-- the folder opts.folder. `edges` is an iterator over pieces of all edges, rows and columns, two
-- Indexes; with both = true they are also added the other way.
function by_runs.write_edges(writer, prefix, n, edges, opts)
  local runs <close> = by_runs.new(opts.folder, n)
  for rows, cols in edges do runs:add(rows, cols, opts.both) end
  return by_runs.write(writer, prefix, n, runs, opts)
end

--- Returns how many edges are read from a source at a time, for so many bytes of memory.
function by_runs.piece(memory)
  return math.max(1 << 12, math.min(1 << 22, memory // 64))
end

return by_runs
