--- Data sets with a part of their meaning taken away, to see where a model's F1 comes from.

local core = require "ladies_core"
local Graph = require "ladies.graph"
local label_kinds = require "ladies.data.labels"
local options = require "ladies.base.options"
local tables = require "ladies.base.tables"

--- ladies.data.shuffled(data, {what =, seed = 1}) -> Dataset: a copy of a data set in which chance
-- decides
--   what = "labels"   which label a labelled node has: a model can learn how frequent the classes
--                     are, and no more
--   what = "edges"    which node has which place in the graph: the graph is the same, degrees and
--                     all, and says nothing of the nodes; what is left is in their features
-- or "both". The rest is shared with `data`.
local function shuffled(data, given)
  options.value("ladies.data.shuffled", "the data set", data, "Dataset")
  local opts = options.check("ladies.data.shuffled", given, {
    what = "labels|edges|both", seed = {"integer", 1},
  })
  local copy, rng = tables.merged(data), core.rng(opts.seed)
  if opts.what ~= "edges" then
    local labelled, from = label_kinds.labelled(data.labels), {}
    for v = 1, data.graph.n_nodes do from[v] = v end
    local order = labelled[core.sampling.permutation(#labelled, rng:fork(1))]
    for i, v in ipairs(labelled:to_table()) do from[v] = order[i] end
    copy.labels = data.labels[core.index(from)]
  end
  if opts.what ~= "labels" then
    local A = data.graph.adjacency
    copy.graph = Graph.new(A:induced(core.sampling.permutation(A.n_rows, rng:fork(2))))
  end
  return setmetatable(copy, getmetatable(data))
end

return shuffled
