--- Converts a data set whose edges are a table of text to a .safetensors file, in bounded memory:
-- the edges are read a piece at a time and sorted on the disk (see ladies.data.by_runs), and the
-- graph is then mapped from a file; all other parts are handled as for a data set in memory.

local core = require "ladies_core"
local by_runs = require "ladies.data.by_runs"
local complete = require "ladies.data.complete"
local npz_layout = require "ladies.data.formats.npz.layout"

-- Makes a Matrix of EdgeRuns, mapped from a temporary file whose name is already deleted, so that
-- it disappears with the Matrix; a small Matrix is made in memory.
local function mapped(runs, n, path, memory)
  local place = ("%s.graph%d"):format(path, math.random(1 << 40))
  local _ <close> = setmetatable({}, {__close = function() os.remove(place) end})
  local writer <close> = core.safetensors.writer(place)
  by_runs.write(writer, "adj", n, runs, {memory = memory})
  writer:commit()
  local file <close> = core.safetensors.open(place, {mapped = true})
  return file:csr{offsets = "adj_indptr", columns = "adj_indices", n_rows = n, n_cols = n}
    or runs:matrix(1, #runs:counts())
end

--- tables_to_file(path, fields, context, edges, load, opts): writes to a .safetensors file at
-- `path` the data set of these fields, context of messages and options, as ladies.data.complete
-- takes them, and edges, as ladies.data.formats.tables.from_files gives them. Options: memory, in
-- bytes; dtype of dense features, or nil; self_loops.
return function(path, fields, context, edges, load, opts)
  local n, folder, count = edges.n, by_runs.folder_of(path), 0
  local listed <close> = by_runs.new(folder, n)
  local both <close> = by_runs.new(folder, n)
  local runs = listed
  for rows, cols in edges.pieces do
    listed:add(rows, cols)
    if load.directed ~= "keep" then both:add(rows, cols, true) end
    count = count + #rows
  end
  fields.adjacency = mapped(listed, n, path, opts.memory)
  fields.merged = count - fields.adjacency.nnz
  function fields.symmetrize()
    runs = both
    return mapped(both, n, path, opts.memory)
  end
  local data = complete.dataset("ladies.data.to_file", fields, context, load)
  npz_layout.write_pieces(path, data, opts.dtype, function(writer)
    by_runs.write(writer, "adj", n, runs, {memory = opts.memory, loops = opts.self_loops})
  end)
end
