--- The sampler for graphs whose edges have times: it samples neighbours node by node, as GraphSAGE,
-- but only by edges from before the time of the seed.
--
-- Every seed has a time. From the output down, every node above is followed by k of its edges that
-- are earlier than the seed's time: any k of them, uniformly, or the k most recent ones. Deeper
-- layers keep the time of the seed, so that nothing later reaches it on whatever way. An edge of
-- the very same time is not earlier: events of one time do not know of each other. So a row of a
-- layer is a node at a time. A node that two seeds of different times have reached is there twice,
-- each with neighbours of its own; seeds of the same time share the rows that both have reached.
--
-- A layer computes the mean over v and its chosen neighbours, with the weights of edges; or with
-- normalize = "none" their sum, in which uniform draws weigh d / k, d being v's earlier edges.

local core = require "ladies_core"
local arguments = require "ladies.sampling.arguments"
local declared = require "ladies.sampling.declared"
local errors = require "ladies.base.errors"
local options = require "ladies.base.options"
local sampling = require "ladies.sampling"
local tables = require "ladies.base.tables"

local WHERE = "ladies.samplers.temporal"

local SPEC = declared.spec("temporal", {"samples", "layers",
  {"strategy", "uniform|recent", default = "uniform",
    help = "which of a node's earlier edges are taken: any, or the most recent ones"},
  {"normalize", "row|none", default = "row"},
  {"node_times", "Index or nil"},
})

-- Returns what the draws need of edges with times: the graph with a loop at each node; for each
-- entry its edge, 0 for a loop; and the order of entries by their times, with these. An edge from a
-- node to itself is left out, since the loop is in its place.
local function in_time(edges)
  local P, times = edges.adjacency:normalize "none", edges.times
  local edge = edges:positions(P) * (1 - P:row_of():equals(P:col_of())):to_index()
  local none = edge:equals(0):to_index()
  local keys = (times + 1 .. core.index{0})[edge + none * (#times + 1)]
  local order = core.edge_order{P:row_of(), keys}
  return P, edge, keys[order], order
end

-- Returns the times of the seeds of a call, one more each: draws take edges from before that.
local function times_of(seeds, place, node_times)
  local times = place and place.times or node_times and node_times[seeds]
  if not times then
    errors.fail(WHERE .. ": the seeds have no times; a task with times gives them, a script by "
      .. "sampler(seeds, rng, {times = Index}) or the option node_times")
  end
  options.value("sampler", "times", times, "Index")
  if #times ~= #seeds then
    errors.fail(("sampler: %d times for %d seeds"):format(#times, #seeds))
  end
  return times + 1
end

--- ladies.samplers.temporal(edges: EdgeData, {samples = {k1, k2, ...}, layers = 2, strategy =
-- "uniform" | "recent", normalize = "row" | "none", node_times = Index}) -> Sampler: a
-- sampler(seeds, rng, {times = Index}) -> mini-batch, with a time for each seed, for data.edges
-- with times. It takes the edges that are earlier than that, on all layers; those of the same time
-- are not. A node may be a seed at several times.
-- samples     edges taken of each node (fan-outs), those of the first layer, nearest the features,
--             first; or one number for all of `layers`. As many as the largest degree: all
-- strategy    "uniform", any of them; "recent", the last ones
-- normalize   "row": the mean over a node and its chosen neighbours; "none": their sum, in which an
--             edge that was drawn uniformly from d weighs d / k
-- node_times  an Index, the time of each node: of seeds for which a call gives none
-- Ids repeat in a layer where a node is there at several times: block.times has those of block.dst,
-- and block.own its places in block.src. batch.P names the P of the graph with all edges.
-- sampler.exact(seeds, rng, {times = Index}), which ladies.inference.in_time uses, draws nothing at
-- random: it takes all earlier edges of each node or, for "recent", the same ones as the sampler.
local function temporal(edges, given)
  options.value(WHERE, "the edges", edges, "EdgeData")
  if not edges.times then errors.fail(WHERE .. ": the edges have no times") end
  local opts = options.check(WHERE, given, SPEC)
  local samples, recent = arguments.samples(WHERE, opts), opts.strategy == "recent"
  local mean, node_times = opts.normalize == "row", opts.node_times
  local P, edge, times, order = in_time(edges)
  local function drawn(numbers, seeds, rng, place)
    local before = times_of(arguments.seeds(seeds), place, node_times)
    options.value("sampler", "rng", rng, "Rng")
    local batch = sampling.mini_batch(seeds, #numbers, function(l, dst)
      local adj, src, src_before, w = P:sample_before(dst, before, numbers[l], times, order,
        {recent = recent, rng = rng})
      adj = mean and adj:row_normalize() or adj:scale_entries(w)
      local more = {edge = edge[adj.edge], own = core.range(1, #dst), times = before - 1}
      before = src_before
      return adj, src, more
    end)
    batch.readout, batch.P = core.range(1, #seeds), {normalize = opts.normalize, times = true}
    return batch
  end
  local all = recent and samples or tables.repeated(math.max(1, P.nnz), #samples)
  return setmetatable({name = WHERE, takes_times = true,
    exact = function(...) return drawn(all, ...) end,
  }, {__call = function(_, ...) return drawn(samples, ...) end})
end

return temporal
