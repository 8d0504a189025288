--- Draws the negatives of link prediction: for each positive, an edge, some pairs of nodes that are
-- no edges. A way of drawing is a function draw(from, to, relations, rng [, times]) -> from, to,
-- relations, positives, which can be copied to workers.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local in_time = require "ladies.links.in_time"
local options = require "ladies.base.options"
local other_ends = require "ladies.links.other_ends"

local sampling = core.sampling
local negatives = {}

local SPEC = {
  draw = {"uniform|degree|pairs or callable", "uniform"}, per_positive = {"positive integer", 1},
  corrupt = {"both|to|from", "both"}, positions = "Index or nil", loops = {"boolean", false},
  node_types = "Index or nil", in_time = {"boolean", false},
}

-- Divides k negatives for each of `n` positives by the end that is drawn: returns the positives
-- whose `to` is drawn anew, and those whose `from` is, as two Indexes.
local function sides(n, k, corrupt)
  local all = core.range(1, n * k) - 1
  local positive, draw = all // k, all % k
  if corrupt ~= "both" then
    local list = positive + 1
    return corrupt == "to" and list or core.index{}, corrupt == "from" and list or core.index{}
  end
  local is_from = ((positive + draw) % 2):above(0)
  return (positive + 1)[1 - is_from], (positive + 1)[is_from]
end

-- Returns how an end of positives is drawn anew: a function(fixed, own, relations, times, rng) that
-- gives for each a node which makes no edge with the end `fixed` that stays, in place of `own`.
local function drawing(edges, opts, which, others)
  local timed, rows_at = opts.in_time, nil
  if timed then others, rows_at = in_time.others(edges, which, opts.positions) end
  local weights = opts.draw == "degree" and others:col_sums() or nil
  local draw = other_ends(opts.node_types, weights)
  local n_nodes = edges.n_nodes
  local loops = not timed and edges.n_relations == 1 and opts.loops or nil
  return function(fixed, own, relations, times, rng)
    local rows
    if timed then
      rows = rows_at(fixed, relations, times)
    else
      rows = relations and (relations - 1) * n_nodes + fixed or fixed
    end
    return draw(others, rows, own, 1, {rng = rng, loops = loops, fixed = fixed})
  end
end

-- Makes the draw function that replaces one end of each positive by a node drawn uniformly or in
-- proportion to its degree.
local function by_other_end(edges, opts, others)
  local k, corrupt = opts.per_positive, opts.corrupt
  local draw_to, draw_from = drawing(edges, opts, "to", others.to),
    drawing(edges, opts, "from", others.from)
  return function(from, to, relations, rng, times)
    local at_to, at_from = sides(#from, k, corrupt)
    local function drawn(draw, fixed, own, at)
      return draw(fixed[at], own[at], relations and relations[at], times and times[at], rng)
    end
    local new_to, new_from = drawn(draw_to, from, to, at_to), drawn(draw_from, to, from, at_from)
    return sampling.concat{from[at_to], new_from}, sampling.concat{new_to, to[at_from]},
      relations and sampling.concat{relations[at_to], relations[at_from]},
      sampling.concat{at_to, at_from}
  end
end

local function by_pairs(opts, others)
  local k, loops = opts.per_positive, opts.loops
  return function(from, _, _, rng)
    local new_from, new_to = sampling.non_edges(others.to, #from * k, {rng = rng, loops = loops})
    return new_from, new_to, nil, (core.range(1, #from * k) - 1) // k + 1
  end
end

-- Fails unless each of an Index is 1 to `last`.
local function check_range(where, what, ids, last)
  local wrong = (ids:below(1) + ids:above(last)):positions()
  if #wrong == 0 then return end
  local at = wrong[1]
  errors.fail(("%s: %s[%d] is %d, must be 1 to %d"):format(where, what, at, ids[at], last))
end

-- Makes the draw function of a function of the user's own, from whose pairs edges and self-loops
-- are dropped.
local function by_function(edges, opts, others)
  local own, k, loops, n_nodes = opts.draw, opts.per_positive, opts.loops, edges.n_nodes
  local where = "ladies.links.negatives: what the function returns"
  return function(from, to, relations, rng, times)
    local new_from, new_to, of, positives = own(from, to, k, rng, relations, times)
    options.value(where, "from", new_from, "Index")
    options.value(where, "to", new_to, "Index")
    of = options.value(where, "relations", of, relations and "Index" or "Index or nil")
    options.value(where, "positives", positives, times and "Index" or "Index or nil")
    if #new_from ~= #new_to or (of and #of ~= #new_from)
      or positives and #positives ~= #new_from then
      errors.fail(("%s: %d and %d ends do not make pairs"):format(where, #new_from, #new_to))
    end
    check_range(where, "from", new_from, n_nodes)
    check_range(where, "to", new_to, n_nodes)
    if relations then check_range(where, "relations", of, edges.n_relations) end
    if positives then check_range(where, "positives", positives, #from) end
    local rows = relations and (of - 1) * n_nodes + new_from or new_from
    local kept = 1 - others.to:has(rows, new_to)
    if not loops then kept = kept * (1 - new_from:equals(new_to)) end
    return new_from[kept], new_to[kept], relations and of[kept], positives and positives[kept]
  end
end

--- links.negatives(edges: Edges, {draw = "uniform" | "degree" | "pairs" | function, per_positive =
-- 1, corrupt = "both" | "to" | "from", positions = Index, loops = false, node_types = Index,
-- in_time = false}) -> function: draw(from, to, relations, rng [, times]) -> from, to, relations,
-- positives: pairs that are no edges, for positives with these ends, and where there are several
-- relations with these; and for each the positive, of those given, that it is a negative of (nil
-- where a function of one's own does not say it).
-- draw         "uniform": one end of a positive stays and the other is any node; "degree": it is
--              drawn in proportion to the number of edges there; "pairs": both ends are any nodes,
--              without relations; or a function(from, to, k, rng, relations, times) -> from, to,
--              relations, positives of one's own, for hard ones: of its pairs those that are edges
--              are dropped
-- per_positive how many there are for each
-- corrupt      the end that is drawn: where an edge ends, where it begins, or one after the other
-- positions    the edges that a negative must not be, by default those for training, since others
--              must not be known
-- loops        whether a node and itself are a pair
-- node_types   the type of each node (data.node_types): an end is replaced by nodes of its own type
-- in_time      for edges with times: `times` are those of the positives, and a negative is no edge
--              at this time; at other times it may be one. Not for "pairs"
function negatives.new(edges, given)
  local where = "ladies.links.negatives"
  options.value(where, "the edges", edges, "Edges")
  local opts = options.check(where, given, SPEC)
  local positions = opts.positions or edges.train
  opts.positions = positions
  local others = {to = edges:others("to", positions)}
  others.from = edges.undirected and others.to or edges:others("from", positions)
  if type(opts.draw) ~= "string" then return by_function(edges, opts, others) end
  if opts.draw ~= "pairs" then return by_other_end(edges, opts, others) end
  if opts.in_time or opts.node_types then
    errors.fail(('%s: draw = "pairs" has %s; "uniform" keeps that of the positive'):format(where,
      opts.in_time and "no time" or "no types of nodes"))
  elseif edges.n_relations > 1 then
    errors.fail(where .. ': draw = "pairs" has no relation; "uniform" keeps that of the positive')
  end
  return by_pairs(opts, others)
end

-- Returns pairs of nodes with the smaller number first, so that their direction does not count.
local function ordered(from, to)
  local swapped = from:above(to)
  return sampling.concat{from[1 - swapped], to[swapped]},
    sampling.concat{to[1 - swapped], from[swapped]}
end

--- links.distinct_negatives(edges: Edges, n: integer, rng) -> Index, Index: n different pairs of
-- nodes that are no edges, of whatever part, nor self-loops, uniform among all sets of so many; of
-- an undirected graph no pair is there in both directions. They are what link prediction is tested
-- against as Kipf and Welling (2016) do.
function negatives.distinct(edges, n, rng)
  local where = "ladies.links.distinct_negatives"
  options.value(where, "the edges", edges, "Edges")
  n = options.value(where, "n", n, "non-negative integer")
  local all, N = edges:others "to", edges.n_nodes
  local ways = edges.undirected and 2 or 1
  local there_are = (N * (N - 1) - all.nnz) // ways
  if n > there_are then
    errors.fail(("%s: %d pairs are wanted and %d are no edges"):format(where, n, there_are))
  end
  local found = core.matrix{n_rows = N, n_cols = N, rows = core.index{}, cols = core.index{}}
  while found.nnz < n do
    local from, to = sampling.non_edges(all, n - found.nnz + 16, {rng = rng})
    if edges.undirected then from, to = ordered(from, to) end
    found = core.matrix{n_rows = N, n_cols = N, rows = sampling.concat{found:row_of(), from},
      cols = sampling.concat{found:col_of(), to}}
  end
  local pick = sampling.uniform(found.nnz, n, {rng = rng})
  return found:row_of()[pick], found:col_of()[pick]
end

return negatives
