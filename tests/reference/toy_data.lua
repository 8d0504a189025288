--- A small data set on which training works: three communities whose nodes' features hint at their
-- class, with a few nodes that have no edge at all.
local ladies = require "ladies"

local M = {}

M.NODES, M.CLASSES, M.FEATURES = 180, 3, 12

-- An integer 0 .. n - 1 that looks random but is the same on every machine.
local function scramble(i, n)
  i = (i * 2654435761) & 0xffffffff
  i = ((i ~ (i >> 15)) * 2246822519) & 0xffffffff
  return ((i ~ (i >> 13)) & 0x7fffffff) % n
end

--- A new data set; sparse = true gives the features as a Matrix.
function M.new(sparse)
  local edges, features, labels = {}, {}, {}
  local parts = {{}, {}, {}}                        -- train, val, test
  for v = 1, M.NODES do
    labels[v] = (v - 1) % M.CLASSES + 1
    table.insert(parts[(v - 1) // M.CLASSES % 3 + 1], v)
    features[v] = {}
    for c = 1, M.FEATURES do
      local hint = (c - 1) % M.CLASSES + 1 == labels[v] and 5 or 2
      features[v][c] = scramble(v * 131 + c, 10) < hint and 1 or 0
    end
    if v % 30 ~= 0 then                             -- the others are isolated
      for k = 1, 3 do
        local u = scramble(v * 7 + k, M.NODES // M.CLASSES) * M.CLASSES + labels[v]
        if k == 3 then u = scramble(v * 17, M.NODES) + 1 end
        if u ~= v and u % 30 ~= 0 then
          edges[#edges + 1] = {v, u}
          edges[#edges + 1] = {u, v}
        end
      end
    end
  end
  local x = ladies.tensor(features)
  return ladies.data.from_arrays{
    name = "toy", edges = edges, features = sparse and ladies.sparse(x) or x, labels = labels,
    train = parts[1], val = parts[2], test = parts[3],
  }
end

--- The fields of a data set with its edges one by one, in one direction, as ladies.data.from_arrays
-- takes them: an edge within a class is of type "near", others are "far"; edge i has the time i and
-- the features i % 7 and the sum of its classes.
function M.with_edges(data)
  local A = data.graph.adjacency
  local rows, cols = A:row_of(), A:col_of()
  local one_way = rows:above(cols)
  local from, to = cols[one_way], rows[one_way]
  local types, times, features = {}, {}, {}
  for i = 1, #from do
    local a, b = data.labels[from[i]], data.labels[to[i]]
    types[i], times[i], features[i] = a == b and "near" or "far", i, {i % 7, a + b}
  end
  return {name = "edges", edges = {from, to}, features = data.features, labels = data.labels,
    train = data.train, val = data.val, test = data.test, edge_types = types, edge_times = times,
    edge_features = features}
end

--- Many graphs, rings of 4 to 9 nodes with two features: the fields of a data set, as
-- ladies.data.from_arrays takes them, but for labels or targets; and the mean of the first feature
-- of each ring.
function M.rings(count)
  local edges, graph_of, features, means = {}, {}, {}, {}
  for graph = 1, count do
    local size, sum = 4 + graph % 6, 0
    for i = 1, size do
      local node, x = #graph_of + 1, math.sin(7 * graph + 3 * i)
      edges[node] = {node, i < size and node + 1 or node + 1 - size}
      graph_of[node], features[node], sum = graph, {x, 1}, sum + x
    end
    means[graph] = sum / size
  end
  return {name = "rings", edges = edges, graph_of = graph_of, features = features,
    split = "60/20/20"}, means
end

--- A sampler over P: whole neighbourhoods, without any draw.
function M.neighbourhoods(P, layers)
  return function(seeds)
    return ladies.sampling.mini_batch(seeds, layers, function(_, dst) return P:slice(dst) end)
  end
end

return M
