--- Gathers what link prediction needs (ladies.links): splits of edges, negatives, edges that are
-- left out of propagation, ranks of edges among candidates, and the best pairs without an edge.

local Edges = require "ladies.links.edges"
local LeftOut = require "ladies.links.left_out"
local negatives = require "ladies.links.negatives"
local ranking = require "ladies.links.ranking"
local top = require "ladies.links.top"

return {
  split = Edges.split,
  negatives = negatives.new,
  distinct_negatives = negatives.distinct,
  left_out = LeftOut.of_batch,
  ranks = ranking,
  top = top,
}
