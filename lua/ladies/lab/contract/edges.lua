--- Checks that every entry of a block is an edge: P must have an entry between the same two nodes,
-- whatever its weight.

local core = require "ladies_core"
local sampling = require "ladies.sampling"
local tables = require "ladies.base.tables"

local edges = {}

-- Returns the ids of the rows and columns of a block's entries (rows, cols), and those of its
-- nodes, each once (dst, src).
local function places_of(block)
  return {
    rows = block.dst[block.adj:row_of()], cols = block.src[block.adj:col_of()],
    dst = sampling.unique(block.dst), src = sampling.unique(block.src),
  }
end

-- Makes a matrix dst x src that has entries at the places (rows, cols), which are ids; repeated
-- places make one entry.
local function matrix(dst, src, rows, cols)
  return core.matrix{n_rows = #dst, n_cols = #src, rows = sampling.find(dst, rows),
    cols = sampling.find(src, cols)}
end

--- Puts two matrices into one, with the value 1 where only A has an entry, 2 where only B has, and
-- 3 where both have.
function edges.together(A, B)
  local values = core.ones(A.nnz + B.nnz)
  values:add_at_(core.range(A.nnz + 1, A.nnz + B.nnz), 1)
  return core.matrix{n_rows = A.n_rows, n_cols = A.n_cols, rows = A:row_of() .. B:row_of(),
    cols = A:col_of() .. B:col_of(), values = values}
end

-- Returns a matrix with one entry for all parallel ones.
local function simple(A)
  if A:is_simple() then return A end
  return core.matrix{n_rows = A.n_rows, n_cols = A.n_cols, rows = A:row_of(), cols = A:col_of()}
end

-- Returns the number of entries of A that B does not have.
local function surplus(A, B)
  return edges.together(A, B).nnz - B.nnz
end

-- Returns the row and column of the first entry of A that B does not have.
local function first_of_surplus(A, B)
  local both = edges.together(A, B)
  for e, value in ipairs(both:entry_values():to_table()) do
    if value == 1 then return both:row_of()[e], both:col_of()[e] end
  end
end

-- Returns an Index with its elements rotated by one place, forward (1) or back (-1).
local function turned(idx, by)
  if #idx < 2 then return idx end
  if by > 0 then return idx:slice(#idx, #idx) .. idx:slice(1, #idx - 1) end
  return idx:slice(2, #idx) .. idx:slice(1, 1)
end

-- Returns ids that are increased by `by`, within 1 .. n.
local function shifted(idx, by, n)
  return core.index(tables.map(idx:to_table(), function(id) return (id + by - 1) % n + 1 end))
end

-- The mistakes with ids that may explain a block whose entries are no edges.
local MOVES = {
  {"src", turned, 1, "columns and src are off by one place"},
  {"src", turned, -1, "columns and src are off by one place"},
  {"dst", turned, 1, "rows and dst are off by one place"},
  {"dst", turned, -1, "rows and dst are off by one place"},
  {"src", shifted, -1, "the ids of src are one too large"},
  {"src", shifted, 1, "the ids of src are one too small"},
}

-- Returns the number of entries of a block that P does not have, the matrices of both, and their
-- ids.
local function foreign(P, block)
  if block.adj.nnz == 0 then return 0 end
  local places = places_of(block)
  local A = matrix(places.dst, places.src, places.rows, places.cols)
  local B = simple(P:slice(places.dst, places.src))
  return surplus(A, B), A, B, places
end

-- Returns a text that names the mistake which was made with a block, if undoing it makes all its
-- entries edges; or nil.
local function reason_of(P, block)
  if #block.dst == #block.src
    and foreign(P, tables.merged(block, {adj = block.adj:transpose()})) == 0 then
    return "the block is transposed: its rows are sources, its columns destinations"
  end
  for _, move in ipairs(MOVES) do
    local field, change, by, text = table.unpack(move)
    local meant = tables.merged(block, {[field] = change(block[field], by, P.n_rows)})
    if foreign(P, meant) == 0 then return text end
  end
end

--- edges.foreign(P, block): returns the number of entries of a block that are no entries of P; if
-- there are any, also the ids of the first one's row and column, and the mistake that explains
-- them, a text or nil.
function edges.foreign(P, block)
  local count, A, B, places = foreign(P, block)
  if count == 0 then return 0 end
  local row, col = first_of_surplus(A, B)
  return count, places.dst[row], places.src[col], reason_of(P, block)
end

return edges
