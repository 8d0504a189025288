--- Gathers what link prediction needs (ladies.links): splits of edges, negatives, edges that are
-- left out of propagation, and ranks of edges among candidates.

local Edges = require "ladies.links.edges"
local LeftOut = require "ladies.links.left_out"
local negatives = require "ladies.links.negatives"
local ranking = require "ladies.links.ranking"

return {
  split = Edges.split,
  negatives = negatives.new,
  distinct_negatives = negatives.distinct,
  left_out = LeftOut.of_batch,
  ranks = ranking,
}
