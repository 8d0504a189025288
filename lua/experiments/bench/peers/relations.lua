--- The data set of the cases whose layers read edges: WordNet with its relations, each edge an
-- entry of its own, and eight random features for each edge. relations(columns) has dense features
-- of so many columns, the words of the nodes times a random matrix: the words themselves, 1000
-- columns, would take the peers more memory than a small machine has.

local core = require "ladies_core"
local copies = require "ladies.data.copies"
local EdgeData = require "ladies.data.edges"
local ladies = require "ladies"
local tables = require "ladies.base.tables"

local FEATURES = 8

local function random(n_rows, n_cols, stream)
  return core.zeros(n_rows, n_cols):normal_(1, core.rng(1):fork(stream))
end

return function(columns)
  local data = ladies.data.load("wordnet", {parallel = "keep"})
  local edges = EdgeData.new(tables.merged(data.edges,
    {features = random(#data.edges, FEATURES, 1)}))
  local copy = copies.with_graph(data, data.graph, edges)
  if columns then copy.features = data.features:matmul(random(data.features.n_cols, columns, 2)) end
  return copy
end
