--- Stands for the propagation matrix P in exact inference in which each rank has the rows of its
-- own nodes alone, of P and of all activations. The layers of a model are computed on these rows;
-- only a product with P needs those of other ranks. They go round in pieces: each rank's pass
-- from rank to rank in a chain, of which all links work at once, and every rank adds what a piece
-- gives to its own rows, in the order of the columns, so that the sums have the bits of the whole
-- product. Beside its own rows a rank holds two pieces.

local core = require "ladies_core"
local link = require "ladies.ranks.link"
local options = require "ladies.base.options"

local OwnRows = {__name = "ladies.MatrixInParts"}
OwnRows.__index = OwnRows

local PIECES = 8          -- of a rank's rows, at most
local LEAST = 256         -- rows of a piece, unless a rank has fewer
local LARGE = 1 << 10     -- rows of a rank from which its own rows alone pay
local TILE = 192          -- rows that a dense product computes together (see core.by_rows)

-- Returns the bounds of equal parts of n rows, in whole tiles: rank r has rows bounds[r + 1] + 1 to
-- bounds[r + 2].
local function equal_bounds(n)
  local bounds, tiles = {}, (n + TILE - 1) // TILE
  for r = 0, link.size do bounds[r + 1] = math.min(n, tiles * r // link.size * TILE) end
  return bounds
end

--- OwnRows.are_in_parts(P, features): tells whether other ranks have some rows of either.
function OwnRows.are_in_parts(P, features)
  return options.class_of(P) == "MatrixInParts"
    or options.class_of(features) == "Rows" and not features.whole
end

--- OwnRows.pays(P, features): tells whether P or the features are in parts, or P is so large that
-- ranks are faster when each has its own rows.
function OwnRows.pays(P, features)
  return OwnRows.are_in_parts(P, features) or P.n_rows >= LARGE * link.size
end

--- OwnRows.new(P: Matrix | MatrixInParts, features): returns this rank's own rows of P, as a square
-- matrix that has no other method than matmul: those of its part of the graph or of the features,
-- or one of equal parts.
function OwnRows.new(P, features)
  local in_parts = options.class_of(P) == "MatrixInParts"
  local bounds = in_parts and P.graph.bounds
    or OwnRows.are_in_parts(P, features) and features.bounds or equal_bounds(P.n_rows)
  local first, last = bounds[link.rank + 1] + 1, bounds[link.rank + 2]
  local own = in_parts and P:own_rows() or P:rows(core.range(first, last))
  return setmetatable({own = own, bounds = bounds, first = first, last = last, n_rows = own.n_rows,
    n_cols = own.n_rows, nnz = own.nnz}, OwnRows)
end

--- OwnRows.without_edges(n): returns the same of n nodes that have no neighbour but themselves.
function OwnRows.without_edges(n)
  local nodes = core.range(1, n)
  local own = core.matrix{n_rows = n, n_cols = n, rows = nodes, cols = nodes}
  return setmetatable({first = 1, last = n, n_rows = n, n_cols = n, nnz = n,
    matmul = function(_, ...) return own:matmul(...) end}, OwnRows)
end

-- Returns the first and the last row of the j-th of m pieces of an owner's rows.
local function piece_of(bounds, owner, j, m)
  local before, count = bounds[owner + 1], bounds[owner + 2] - bounds[owner + 1]
  return before + count * (j - 1) // m + 1, before + count * j // m
end

-- Adds to y, the own rows of the product with X, what the rows of one owner give; x: this rank's
-- own rows of X. The owner is the first of the chain, and begins with piece j in step j; the rank
-- at distance d gets it in step j + d. Each passes a piece on in the step after.
local function add_rows_of(self, y, x, bias, owner)
  local size, bounds = link.size, self.bounds
  local count = bounds[owner + 2] - bounds[owner + 1]
  if count == 0 then return end
  local m, distance = math.min(PIECES, (count - 1) // LEAST + 1), (link.rank - owner) % size
  local next_rank, rank_before = (link.rank + 1) % size, (link.rank - 1) % size
  local had                                   -- the piece of the step before
  for step = 1, m + size - 1 do
    local j, sends, receives, piece = step - distance, {}, {}, nil
    local from, to = piece_of(bounds, owner, j, m)
    if had and distance < size - 1 then sends[1] = {next_rank, had} end
    if j >= 1 and j <= m then
      if distance == 0 then
        piece = x:slice(from - bounds[owner + 1], to - bounds[owner + 1])
      else
        piece = core.zeros(to - from + 1, x.n_cols)
        receives[1] = {rank_before, piece}
      end
    end
    link.exchange(nil, sends, receives)
    if piece then y:add_window_(self.own, piece, from, bias) end
    if had then had:release() end             -- not left to the collector, who would hold many
    had = piece
  end
  if had then had:release() end
end

--- Returns this rank's own rows of P X + bias; x has its own rows of X. All ranks call it together.
function OwnRows:matmul(x, bias)
  options.value("matmul", "the operand", x, "Tensor")
  local y = core.zeros(self.n_rows, x.n_cols)
  for owner = 0, link.size - 1 do add_rows_of(self, y, x, bias, owner) end
  return y
end

return OwnRows
