--- Defines what the edges of link prediction are tested against: as many pairs that are no edges,
-- or candidates for the ends of each. Where the edges are divided by time, these are no edges at
-- the time of the edge, and the rows of nodes that score them may be those at that time.

local blind = require "ladies.task.blind"
local core = require "ladies_core"
local edge_cells = require "ladies.task.edge_cells"
local errors = require "ladies.base.errors"
local in_time = require "ladies.links.in_time"
local links = require "ladies.links"
local metrics = require "ladies.evaluation.metrics"
local other_ends = require "ladies.links.other_ends"
local tables = require "ladies.base.tables"

local sampling = core.sampling
local link_tests = {}

-- The bound on the logarithm of a standard deviation in variational rows, so that its exponential
-- stays usable.
local LARGEST_LOG = 10

-- How many elements of the rows of candidates are held at a time.
local CHUNK = 1 << 22

--- Returns a vector of n ones, for the positives, followed by zeros.
function link_tests.is_edge(n, all) return core.range(1, all):below(n + 1) end

--- Splits variational rows into means and logarithms of standard deviations.
function link_tests.halves(h)
  local width = h.n_cols // 2
  return h:slice_cols(1, width), h:slice_cols(width + 1, h.n_cols):clamp(-math.huge, LARGEST_LOG)
end

-- Returns the rows that a decoder reads of what the model gives.
local function means(h, opts) return opts.variational and (link_tests.halves(h)) or h end

-- Draws a pair that is no edge for every edge, (from[i], to[i]) for edge i. The pairs for
-- validation and test are all different.
local function distinct_pairs(edges, opts)
  local rng = core.rng(opts.edge_split_seed):fork(2)
  local tested = sampling.concat{edges.val or core.index{}, edges.test or core.index{}}
  local from, to = links.distinct_negatives(edges, #tested, rng)
  local more_from, more_to = sampling.non_edges(edges:others "to", #edges.train, {rng = rng})
  local at = sampling.find(sampling.concat{tested, edges.train}, core.range(1, #edges))
  return sampling.concat{from, more_from}[at], sampling.concat{to, more_to}[at]
end

-- Draws a pair for every edge that has one of its ends in common with it, and a node of the same
-- type at the other; of edges with times it is no edge at the time of the edge.
local function pairs_of_ends(edges, opts, node_types)
  local all = core.range(1, #edges)
  local draw = links.negatives(edges, {corrupt = opts.corrupt, positions = all,
    node_types = node_types, in_time = edges.times ~= nil})
  local from, to, _, positives = draw(edges.from, edges.to, nil,
    core.rng(opts.edge_split_seed):fork(2), edges.times)
  local at = sampling.find(positives, all)
  return from[at], to[at]
end

-- Returns the score of pairs by rows(nodes, times), the model's rows of nodes at times.
local function scores_at(edges, opts, units, model, rows, from, to)
  local times = edges.times[units]
  times = times .. times
  local nodes, at, places = in_time.distinct(from .. to, times .. times, edges.n_nodes)
  local h = means(rows(nodes, at), opts)
  return model.decoder:forward(h[places(from, times)], h[places(to, times)])
end

--- link_tests.pairs(edges, opts, data) -> table: the fields of a task (ladies.task.new) in
-- which edges are tested against as many pairs that are no edges.
function link_tests.pairs(edges, opts, data)
  local node_types = data.node_types
  local other_from, other_to
  local function ends(units)
    if not other_from then
      if edges.times or node_types then
        other_from, other_to = pairs_of_ends(edges, opts, node_types)
      else
        other_from, other_to = distinct_pairs(edges, opts)
      end
    end
    return sampling.concat{edges.from[units], other_from[units]},
      sampling.concat{edges.to[units], other_to[units]}
  end
  local function nodes(units)
    local from, to = ends(units)
    return sampling.unique(sampling.concat{from, to})
  end
  return {
    nodes = nodes,
    score = function(h, units, model)
      local from, to = ends(units)
      local rows = sampling.unique(sampling.concat{from, to})
      h = means(h, opts)
      return model.decoder:forward(h[sampling.find(rows, from)], h[sampling.find(rows, to)])
    end,
    infer = function(units, model, rows)
      return scores_at(edges, opts, units, model, rows, ends(units))
    end,
    targets = function(units, batch)
      local at = batch and batch.pairs
      return at and link_tests.is_edge(at.positives, #at.from)
        or link_tests.is_edge(#units, 2 * #units)
    end,
    metrics = {
      {name = "AUC", of = metrics.roc_auc, percent = true},
      {name = "AP", of = metrics.average_precision, percent = true},
    },
    arrays = function(out, units)
      local n = #units
      local against_from, against_to = ends(units)
      return {predicted = out:slice(1, n), from = edges.from[units], to = edges.to[units],
        predicted_of_pairs = out:slice(n + 1, 2 * n), pairs_from = against_from:slice(n + 1, 2 * n),
        pairs_to = against_to:slice(n + 1, 2 * n), times = edges.times and edges.times[units]}
    end,
    columns = function(out, units)
      local head, ends_at = edge_cells(edges, data)
      return head .. ",score", function(i)
        return ("%s,%.6g"):format(ends_at(units[i]), out[i])
      end
    end,
  }
end

-- Ranks edges at their times among k candidates for one end, which make no edge with the other at
-- that time, by rows(nodes, times). `job` has what is the same for all edges.
local function ranks_at(job, model, rows, fixed, own, relations, times)
  local n, k = #times, job.k
  local candidates = job.draw(job.others, job.rows_at(fixed, relations, times), own, k,
    {rng = job.rng, fixed = fixed})
  local of = times[(core.range(1, n * k) - 1) // k + 1]
  local nodes, at, places = in_time.distinct(sampling.concat{fixed, own, candidates},
    sampling.concat{times, times, of}, job.n_nodes)
  local h, decoder = means(rows(nodes, at), job.opts), model.decoder
  local given = h[places(fixed, times)]
  local positive = decoder:candidates(given, h[places(own, times)], job.which, relations, 1)
  local scores = decoder:candidates(given, h[places(candidates, of)], job.which, relations, k)
  return metrics.ranks(positive:reshape(n), scores)
end

-- Returns a function that ranks edges divided by time among k candidates for each end.
local function ranking_at(edges, opts, k, sides, node_types)
  local draw, others = other_ends(node_types), {}
  return function(units, model, rows)
    local n, all = #units, core.range(1, #edges)
    local found, at_once = core.zeros(#sides * n), math.max(1, CHUNK // (k * opts.embedding))
    for side, which in ipairs(sides) do
      others[which] = others[which] or table.pack(in_time.others(edges, which, all))
      local job = {k = k, opts = opts, which = which, draw = draw, n_nodes = edges.n_nodes,
        others = others[which][1], rows_at = others[which][2],
        rng = core.rng(opts.edge_split_seed):fork(side)}
      for first = 1, n, at_once do
        local last = math.min(first + at_once - 1, n)
        local some = units:slice(first, last)
        local fixed, own = edges.from[some], edges.to[some]
        if which == "from" then fixed, own = own, fixed end
        found:slice((side - 1) * n + first, (side - 1) * n + last):copy_(ranks_at(job, model, rows,
          fixed, own, edges.relations and edges.relations[some], edges.times[some]))
      end
    end
    return found
  end
end

local function hits(n)
  return {name = "Hits@" .. n, percent = true, of = function(ranks)
    return #ranks:below(n + 0.25):positions() / #ranks
  end}
end

-- Returns how many nodes there are for an end that is replaced: all, or with types those of the
-- rarest type that such ends have.
local function fewest_ends(edges, sides, node_types)
  local fewest = edges.n_nodes
  for _, side in ipairs(node_types and sides or {}) do
    local of_type, ends = node_types:counts(node_types:max()), node_types[edges[side]]
    for _, kind in ipairs(sampling.unique(ends):to_table()) do
      fewest = math.min(fewest, of_type[kind])
    end
  end
  return fewest
end

-- Fails unless there are more nodes for each end than candidates are drawn.
local function check_candidates(edges, sides, k, node_types)
  local fewest = fewest_ends(edges, sides, node_types)
  if k < fewest then return end
  errors.fail(('ladies.task.link_prediction: candidates = %d, and an end can be one of %d nodes%s; '
    .. '"all" tests against each of them'):format(k, fewest, node_types and " of its type" or ""))
end

-- Returns a function counts(units) for blind.ranks: a side's candidates are all nodes but those
-- that make an edge, and without relations the end that stays. known() gives what edges:others does
-- for each side.
local function all_candidates(edges, sides, known)
  return function(units)
    local list = {}
    for _, side in ipairs(sides) do
      local fixed = edges[side == "to" and "from" or "to"][units]
      local rows = edges:rows(fixed, edges.relations and edges.relations[units])
      local degrees = known()[side]:degrees():to_table()
      for _, row in ipairs(rows:to_table()) do
        local others = math.tointeger(edges.n_nodes - degrees[row])
        list[#list + 1] = edges.relations and others or others - 1
      end
    end
    return list
  end
end

-- Returns the guess for edges that are ranked. It is exact for all nodes, and near for a few of
-- them; for many, which are drawn with repetitions, there is none.
local function blind_ranks(edges, sides, k, node_types, known)
  if not k and node_types then return nil end
  if not k then return blind.ranks(all_candidates(edges, sides, known), "all") end
  if 10 * k > fewest_ends(edges, sides, node_types) then return nil end
  return blind.ranks(function(units) return tables.repeated(k, #units) end, tostring(k))
end

--- link_tests.candidates(edges, opts, k, data) -> table: the fields of a task in which edges
-- are ranked among candidates, all nodes or k for each end that training replaces (opts.corrupt).
function link_tests.candidates(edges, opts, k, data)
  local node_types = data.node_types
  local others = {}
  local sides = opts.corrupt == "both" and {"to", "from"} or {opts.corrupt}
  if k and not opts.in_time then check_candidates(edges, sides, k, node_types) end
  local function known()
    for _, side in ipairs(sides) do others[side] = others[side] or edges:others(side) end
    return others
  end
  local infer = edges.times and k and ranking_at(edges, opts, k, sides, node_types) or nil
  local function score(h, units, model)
    if infer then return infer(units, model, function(nodes) return h[nodes] end) end
    h = means(h, opts)
    return links.ranks(edges, units, model.decoder, h, {candidates = k, others = known(),
      ends = opts.corrupt, node_types = node_types, seed = opts.edge_split_seed,
      loops = edges.relations ~= nil})
  end
  return {
    nodes = function() return nil end, score = score, infer = infer,
    targets = function(_, batch)
      return batch and link_tests.is_edge(batch.pairs.positives, #batch.pairs.from) or nil
    end,
    metrics = {
      {name = "MRR", of = function(ranks) return (1 / ranks):mean():item() end},
      hits(1), hits(3), hits(10),
    },
    blind = blind_ranks(edges, sides, k, node_types, known),
    arrays = function(ranks, units)
      local n = #units
      return {predicted = ranks:slice(1, n),
        predicted_from = #sides == 2 and ranks:slice(n + 1, 2 * n) or nil,
        from = edges.from[units], to = edges.to[units], times = edges.times and edges.times[units]}
    end,
    columns = function(ranks, units)
      local head, ends_at = edge_cells(edges, data)
      return ("%s,rank_of_%s"):format(head, table.concat(sides, ",rank_of_")), function(i)
        local cells = ("%s,%.10g"):format(ends_at(units[i]), ranks[i])
        return sides[2] and ("%s,%.10g"):format(cells, ranks[#units + i]) or cells
      end
    end,
  }
end

return link_tests
