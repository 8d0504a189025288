--- Finds the pairs without an edge that a decoder gives the highest scores. Only some nodes are
-- looked at at a time, so that the memory of scores is bounded, and who asks for it gets what is
-- found of these before the next ones are looked at.

local check_rows = require "ladies.links.check_rows"
local core = require "ladies_core"
local free_after = require("ladies.nn.module").free_after
local options = require "ladies.base.options"
local tables = require "ladies.base.tables"

-- How many scores are held at a time.
local CHUNK = 1 << 22

local SPEC = {ends = {"to|from", "to"}, node_types = "Index or nil", nodes = "Index or nil",
  each = "callable or nil"}

-- Returns which types of nodes edges lead to from nodes of each type: [type][other] = true.
local function types_beside(edges, which, types)
  local given, other, beside = edges.from, edges.to, {}
  if which == "from" then given, other = other, given end
  local n = types:max()
  local seen = core.matrix{n_rows = n, n_cols = n, rows = types[given], cols = types[other]}
  for kind = 1, n do beside[kind] = {} end
  local rows, cols = seen:row_of():to_table(), seen:col_of():to_table()
  for i, kind in ipairs(rows) do beside[kind][cols[i]] = true end
  return beside
end

-- Returns groups of nodes that have the same candidates: {nodes = Index, among = Index | nil}, the
-- candidates, nil for all nodes. Without types all nodes are one group; nodes of a type from which
-- no edge leads are in none.
local function groups_of(edges, opts)
  local nodes, types = opts.nodes or core.range(1, edges.n_nodes), opts.node_types
  if not types then return {{nodes = nodes}} end
  local groups = {}
  for kind, others in ipairs(types_beside(edges, opts.ends, types)) do
    local among = core.index{}
    for other in pairs(others) do among = among .. types:equals(other):positions() end
    local own = nodes[types[nodes]:equals(kind):positions()]
    if #among > 0 and #own > 0 then
      groups[#groups + 1] = {nodes = own, among = among:sort()}
    end
  end
  return groups
end

-- Returns the best k pairs of each of `nodes`, as links.top does.
local function best_of(job, nodes, among, k)
  local h, n = job.h, #nodes
  local known = job.others:rows(nodes)
  local left_out = core.matrix{n_rows = n, n_cols = h.n_rows,      -- known pairs, and a node's own
    rows = known:row_of() .. core.range(1, n), cols = known:col_of() .. nodes}
  if among then left_out = left_out:pick_cols(among) end
  local mask = left_out:to_dense()
  local scores = job.decoder:candidates(h[nodes], among and h[among] or h, job.which)
  scores = free_after(mask, core.where(mask, -math.huge, scores))
  local values, places = scores:topk(k)
  scores:release()
  values = values:reshape(n * k)
  local there = values:above(-math.huge):positions()
  local at = core.range(1, n * k) - 1
  return {given = nodes[at // k + 1][there], other = (among and among[places] or places)[there],
    rank = (at % k + 1)[there], scores = values[there]}
end

-- Returns tables of pairs as one.
local function joined_pairs(pieces)
  local all = {}
  for _, name in ipairs{"given", "other", "rank", "scores"} do
    local parts = tables.map(pieces, function(one) return one[name] end)
    all[name] = name == "scores" and core.concat_rows(tables.append({core.zeros(0)}, parts))
      or core.sampling.concat(parts)
  end
  return all
end

--- links.top(edges: Edges, decoder: table, h: Tensor, k: integer [, {ends = "to" | "from",
-- node_types = Index, nodes = Index, each = function}]) -> table | nil: for each node the k nodes
-- with which it has no edge, of whatever part, and to which one has the highest score: {given =
-- Index, other = Index, rank = Index, scores = Tensor}, node by node, the highest first, rank 1;
-- fewer where there are no more. h has a row for each node, and the decoder (nn.link_decoder, or a
-- table with its method candidates) scores pairs. Nothing is recorded.
-- ends         "to": where an edge from the node would end; "from": where one to it would begin
-- node_types   the type of each node (data.node_types): candidates are of those types to which
--              edges lead from nodes of its type, and nodes of types from which none leads are left
--              out
-- nodes        for these nodes, by default all
-- each         is called with such a table for some nodes at a time, which is then all that is in
--              memory of what was found, in place of a result
-- A node is no candidate for itself. Edges with relations are an error.
return function(edges, decoder, h, k, given)
  local where = "ladies.links.top"
  options.value(where, "the edges", edges, "Edges")
  options.value(where, "the decoder", decoder, "table")
  check_rows(where, edges, h)
  options.value(where, "k", k, "positive integer")
  core.check_constant(where, h)
  local opts = options.check(where, given, SPEC)
  if edges.relations then
    options.value(where, "edges.relations (of which one a pair would be is not known)",
      edges.relations, "nil")
  end
  local job = {decoder = decoder, h = h, which = opts.ends, others = edges:others(opts.ends)}
  local pieces = {}
  local each = opts.each or function(found) pieces[#pieces + 1] = found end
  for _, group in ipairs(groups_of(edges, opts)) do
    local n, width = #group.nodes, group.among and #group.among or h.n_rows
    local at_once = math.max(1, CHUNK // h.n_rows)
    for first = 1, n, at_once do
      local nodes = group.nodes:slice(first, math.min(first + at_once - 1, n))
      each(core.no_grad(best_of, job, nodes, group.among, math.min(k, width)))
      collectgarbage()                                   -- what these have left behind
    end
  end
  return not opts.each and joined_pairs(pieces) or nil
end
