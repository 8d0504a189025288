--- Small graphs of every odd kind, for tests of samplers. All but one are square matrices.
local ladies = require "ladies"

local M = {}

--- A square matrix from {row, column, value} triples.
function M.matrix(n, entries)
  local rows, cols, values = {}, {}, {}
  for i, e in ipairs(entries) do rows[i], cols[i], values[i] = e[1], e[2], e[3] or 1 end
  return ladies.matrix{n_rows = n, n_cols = n, rows = ladies.index(rows), cols = ladies.index(cols),
    values = ladies.tensor(values)}
end

--- A 5 x 6 matrix: rows of 3, 0, 1, 4 and 2 entries.
function M.five_by_six()
  return ladies.matrix{n_rows = 5, n_cols = 6,
    rows = ladies.index{1, 1, 1, 3, 4, 4, 4, 4, 5, 5},
    cols = ladies.index{1, 3, 6, 2, 1, 2, 4, 5, 3, 4}}
end

function M.random(n, degree, seed)
  local rng, entries = ladies.rng(seed), {}
  for v = 1, n do
    for _ = 1, degree do
      local u = rng:below(n)
      entries[#entries + 1] = {v, u}
      entries[#entries + 1] = {u, v}
    end
  end
  return M.matrix(n, entries)
end

function M.directed()
  local entries = {}
  for v = 1, 12 do
    for step = 1, v % 4 do entries[#entries + 1] = {v, (v + step * step) % 12 + 1, v / step} end
  end
  return M.matrix(12, entries)
end

function M.star()
  local entries = {}
  for leaf = 2, 20 do
    entries[#entries + 1] = {1, leaf}
    entries[#entries + 1] = {leaf, 1}
  end
  return M.matrix(20, entries)
end

function M.self_loops()
  local entries = {}
  for v = 1, 10 do entries[v] = {v, v, v} end
  entries[11] = {1, 2}
  return M.matrix(10, entries)
end

--- Two triangles and a path, without an edge between them.
function M.disconnected()
  local entries = {}
  for _, e in ipairs{{1, 2}, {2, 3}, {3, 1}, {4, 5}, {5, 6}, {6, 4}, {7, 8}, {8, 9}} do
    entries[#entries + 1] = e
    entries[#entries + 1] = {e[2], e[1]}
  end
  return M.matrix(9, entries)
end

--- Edges with weights between 1/4 and 3.
function M.weighted()
  local entries = {}
  for v = 1, 14 do
    for step = 1, 3 do
      local u = (v * step + step) % 14 + 1
      if u ~= v then entries[#entries + 1] = {v, u, (v + step) % 12 / 4 + 0.25} end
    end
  end
  return M.matrix(14, entries)
end

--- Nodes 2, 4 and 8 have no entry, neither in their rows nor in their columns.
function M.isolated()
  return M.matrix(8, {{1, 3}, {3, 1}, {3, 5}, {5, 3}, {6, 7}, {7, 6}, {1, 7}})
end

--- A data set of n nodes with so many random edges, parallel ones and self-loops among them, at
-- times from 0 to last - 1; `more` has further options of ladies.data.from_arrays.
function M.in_time(n, edges, last, seed, more)
  local rng, from, to, times = ladies.rng(seed), {}, {}, {}
  for e = 1, edges do from[e], to[e], times[e] = rng:below(n), rng:below(n), rng:below(last) - 1 end
  local given = {edges = {ladies.index(from), ladies.index(to)}, edge_times = times,
    features = ladies.zeros(n, 3):uniform_(-1, 1, rng)}
  for key, value in pairs(more or {directed = "keep"}) do given[key] = value end
  return ladies.data.from_arrays(given)
end

return M
