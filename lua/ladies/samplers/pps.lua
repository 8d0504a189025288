--- The sampler PPS: nodes are drawn with probabilities proportional to size, systematically, for a
-- ratio estimate of P's rows. It is of this program: `ladies lab search` found it among 246
-- samplers (doc/gallery.md), by the error of the gradient and the time that it costs.
--
-- From the output down, the nodes S above a layer are in the layer below for certain, and s others
-- are drawn, u with a chance in proportion to the sum of its column in the rows of S:
--     pi(u)    =  min(1, c sum over v in S of P(v,u)),  c such that these add up to s
--     P~(v,u)  =  R(v) (P(v,u) / pi(u)) / sum over the drawn w of P(v,w) / pi(w)
-- R(v) is the sum of P's row v, so what all of a row's inputs have in common has no error (Hajek
-- 1971). Systematic draws (Madow 1949) take exactly s nodes, evenly from a list. That has the nodes
-- in the order in which the rows of S touch them first, so that each row gets its share of them.
-- doc/samplers.md has the variance.

local arguments = require "ladies.sampling.arguments"
local declared = require "ladies.sampling.declared"
local layerwise = require "ladies.sampling.layerwise"
local options = require "ladies.base.options"

local WHERE = "ladies.samplers.pps"

local SPEC = declared.spec("pps", {"samples", "layers", {"draw", default = "systematic"},
  {"self_nodes", default = "previous"}})

--- ladies.samplers.pps(P, {samples = {s1, s2, ...}, ...}) -> Sampler: a sampler(seeds, rng) ->
-- mini-batch.
-- samples     nodes drawn for each layer's input, the first of them nearest the features; or one
--             number for all of `layers`
-- draw        by which rule: "systematic", or another one of sampling.choice. With "wor" pi is not
--             the chance of a node but s times its share
-- self_nodes  nodes that are always in a layer's input besides: "previous", its destinations, which
--             then come first in src; "batch", the seeds; or "none"
-- P must have no entries below 0.
local function pps(P, given)
  arguments.check_square(WHERE, P)
  local opts = options.check(WHERE, given, SPEC)
  return layerwise.new(WHERE, P, {
    samples = opts.samples, layers = opts.layers, draw = opts.draw, self_nodes = opts.self_nodes,
    probability = "sums", normalize = "sums",
  })
end

return pps
