--- A graph that does not fit in memory, written to a file: its nodes are taken in ranges whose
-- edges fit, and all edges are gone over once for each range, and once before that to find the
-- ranges. So the memory is bounded by what is given, and nothing is written but the file itself.

local core = require "ladies_core"
local errors = require "ladies.base.errors"

local BUCKETS = 1 << 16     -- of neighbouring nodes; a range is some of them
local BYTES = 10            -- an edge: its row and column, and what sorting takes besides
local SHARE = 1 / 2         -- of the memory for a range; the rest is for pieces of the source

-- How many entries the rows of each bucket of `width` nodes have, at most.
local function count(n_buckets, width, edges, both, loops)
  local counts = {}
  for i = 1, n_buckets do counts[i] = loops and width or 0 end
  local function add(ids)
    local found = ((ids + (width - 1)) // width):counts(n_buckets)
    for i = 1, n_buckets do counts[i] = counts[i] + found[i] end
  end
  for rows, cols in edges() do
    add(rows)
    if both then add(cols) end
  end
  return counts
end

-- The ranges, {first =, last =, room =}, of buckets with these counts, for so many bytes.
local function cut(counts, width, n, memory)
  local ranges, most = {}, memory * SHARE // BYTES
  for i, entries in ipairs(counts) do
    local range = ranges[#ranges]
    if not range or range.room + entries > most then
      range = {first = (i - 1) * width + 1, room = 0}
      ranges[#ranges + 1] = range
    end
    range.last, range.room = math.min(i * width, n), range.room + entries
    if range.room > most then
      errors.fail(("nodes %d to %d have %d edges, for which %d bytes of memory are too few; about "
        .. "%d are needed"):format(range.first, range.last, range.room, memory,
        range.room * BYTES // SHARE))
    end
  end
  return ranges
end

--- by_ranges(writer, prefix, n, edges, opts): writes the matrix of n nodes, with a one for each
-- edge, by a safetensors writer. `edges` is called for each pass and gives an iterator over pieces
-- of all edges, rows and cols, two Indexes. Options: memory, in bytes; both = true adds the edges
-- the other way, loops = true an edge of every node to itself. Returns the number of passes.
return function(writer, prefix, n, edges, opts)
  local width = (n + BUCKETS - 1) // BUCKETS
  local counts = count((n + width - 1) // width, width, edges, opts.both, opts.loops)
  local ranges = cut(counts, width, n, opts.memory)
  writer:csr(prefix, n, n)
  for _, range in ipairs(ranges) do
    local part <close> = core.edge_range(n, range.first, range.last, math.tointeger(range.room))
    for rows, cols in edges() do part:add(rows, cols, opts.both) end
    if opts.loops then
      local own = core.range(range.first, range.last)
      part:add(own, own)
    end
    writer:add_csr(part:matrix())
  end
  return #ranges + 1
end
