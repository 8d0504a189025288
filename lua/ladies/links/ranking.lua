--- Ranks edges among candidates by their scores: the candidates of an edge have one of its ends
-- replaced by all other nodes, or by some. Only some edges are ranked at a time, so that the memory
-- of scores is bounded.

local check_rows = require "ladies.links.check_rows"
local core = require "ladies_core"
local metrics = require "ladies.evaluation.metrics.ranking"
local options = require "ladies.base.options"
local other_ends = require "ladies.links.other_ends"

-- How many scores, or elements of the rows from which they are computed, are held at a time.
local CHUNK = 1 << 22

local SPEC = {
  candidates = "positive integer or nil", filtered = {"boolean", true},
  ends = {"both|to|from", "both"}, loops = {"boolean", false}, ties = "string or nil",
  seed = {"integer", 1}, others = "table or nil",
  node_types = "Index or nil",
}

local function one_hot(cols, n)
  return core.matrix{n_rows = #cols, n_cols = n, rows = core.range(1, #cols), cols = cols}
end

-- Returns the rank of each edge, with the ends `fixed` and `own`, among the edges that have any
-- node in place of `own`.
local function among_all(job, fixed, own, relations, rows)
  local scores = job.decoder:candidates(job.h[fixed], job.h, job.which, relations)
  local n = job.h.n_rows
  local is_own = one_hot(own, n):to_dense()
  local positive = (scores * is_own):row_sums()
  local left_out = is_own
  if job.filtered then left_out = left_out + job.others:rows(rows):to_dense() end
  if job.types then left_out = left_out + 1 - job.of_type[job.types[own]] end
  if not job.loops then left_out = left_out + one_hot(fixed, n):to_dense() end
  return metrics.ranks(positive, core.where(left_out:above(0), -math.huge, scores),
    {ties = job.ties})
end

-- Returns the rank of each edge among k candidates of its own, whose nodes are drawn at random.
local function among_some(job, fixed, own, relations, rows)
  local k, n = job.k, #fixed
  local candidates = job.draw(job.others, rows, own, k, {rng = job.rng, fixed = fixed,
    loops = job.others.n_rows == job.others.n_cols and job.loops or nil})
  local positive = job.decoder:candidates(job.h[fixed], job.h[own], job.which, relations, 1)
  local scores = job.decoder:candidates(job.h[fixed], job.h[candidates], job.which, relations, k)
  return metrics.ranks(positive:reshape(n), scores, {ties = job.ties})
end

--- links.ranks(edges: Edges, positions: Index, decoder: table, h: Tensor [, {candidates =, filtered
-- = true, ends = "both" | "to" | "from", loops = false, ties = "mean", seed = 1}]) -> Tensor: the
-- rank of each of the edges at `positions`, from 1, by the scores that a decoder gives with h, a
-- row for each node. With ends = "both" there are two of each: those among candidates for where it
-- ends, then those among candidates for where it begins.
-- decoder      an nn.link_decoder, or a table with its method candidates
-- candidates   so many nodes drawn for each end of each edge, of which none makes an edge; without
--              it all nodes are candidates
-- filtered     whether candidates that make another edge, of whatever part, do not count (of all
--              nodes)
-- loops        whether the end that stays is itself a candidate
-- ties         as for ladies.metrics.ranks
-- seed         of the candidates that are drawn
-- node_types   the type of each node (data.node_types): candidates are of that of the end itself
-- others       {to =, from =}, what edges:others gives, where it is at hand
-- metrics.mrr and metrics.hits are of such ranks: the mean of 1 / rank, and the share of rank <= k.
return function(edges, positions, decoder, h, given)
  local where = "ladies.links.ranks"
  options.value(where, "the edges", edges, "Edges")
  options.value(where, "positions", positions, "Index")
  options.value(where, "the decoder", decoder, "table")
  check_rows(where, edges, h)
  core.check_constant(where, h)
  local opts = options.check(where, given, SPEC)
  local from, to, relations = edges.from[positions], edges.to[positions],
    edges.relations and edges.relations[positions]
  local n, width = #positions, opts.candidates and opts.candidates * h.n_cols or h.n_rows
  local at_once = math.max(1, CHUNK // width)
  local both = opts.ends == "both"
  local found, types, draw = core.zeros(both and 2 * n or n), opts.node_types, nil
  if opts.candidates then draw = other_ends(types) end
  for side, which in ipairs(both and {"to", "from"} or {opts.ends}) do
    local job = {decoder = decoder, h = h, which = which, filtered = opts.filtered,
      loops = opts.loops, ties = opts.ties, k = opts.candidates, draw = draw, types = types,
      of_type = types and one_hot(types, types:max()):transpose():to_dense(),
      others = opts.others and opts.others[which] or edges:others(which),
      rng = core.rng(opts.seed):fork(side)}
    local fixed, own = from, to
    if which == "from" then fixed, own = to, from end
    for first = 1, n, at_once do
      local last = math.min(first + at_once - 1, n)
      local of = relations and relations:slice(first, last)
      local ends = fixed:slice(first, last)
      local ranks = (job.k and among_some or among_all)(job, ends, own:slice(first, last), of,
        edges:rows(ends, of))
      found:slice((side - 1) * n + first, (side - 1) * n + last):copy_(ranks)
    end
  end
  return found
end
