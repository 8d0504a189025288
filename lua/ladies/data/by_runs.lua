--- A graph that does not fit in memory, written to a file: its edges are taken in one pass into
-- runs on the disk of that file, and from these the rows are brought together, so many ranges of
-- them at a time as fit.

local core = require "ladies_core"
local errors = require "ladies.base.errors"

local BYTES = 24            -- an edge of a range: see EdgeRuns:matrix, and what is written of it
local SHARE = 1 / 2         -- of the memory for ranges; the rest is for pieces of the source

local by_runs = {}

-- Groups of ranges of rows, {first =, last =}, which fit in `memory`.
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

--- The folder that a file is in, on whose disk there must be room for it anyway.
function by_runs.folder_of(path)
  return path:match "^(.+)/[^/]*$" or path:sub(1, 1) == "/" and "/" or "."
end

--- Writes the square matrix of EdgeRuns of n nodes, without the entries of the EdgeRuns `without`
-- (nil for none), by a safetensors writer. memory: in bytes. loops = true adds an edge of every
-- node to itself. Returns how many groups of ranges that took.
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

--- The same for a matrix of n nodes with a one for each edge, by way of runs in the folder
-- opts.folder. `edges` is an iterator over pieces of
-- all edges, rows and columns, two Indexes; with both = true they are also added the other way.
function by_runs.write_edges(writer, prefix, n, edges, opts)
  local runs <close> = core.edge_runs(opts.folder, n, n)
  for rows, cols in edges do runs:add(rows, cols, opts.both) end
  return by_runs.write(writer, prefix, n, runs, opts)
end

--- How many edges are to be in a piece, for so many bytes of memory.
function by_runs.piece(memory)
  return math.max(1 << 12, math.min(1 << 22, memory // 64))
end

return by_runs
