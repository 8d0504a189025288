--- Makes copies of a data set in which one part is changed; every other part is shared with the
-- original.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local Graph = require "ladies.graph"
local in_memory = require "ladies.data.in_memory"
local label_kinds = require "ladies.data.labels"
local made_features = require "ladies.data.made_features"
local options = require "ladies.base.options"
local tables = require "ladies.base.tables"
local targets = require "ladies.data.labels.targets"

local copies = {}

--- Returns a copy of a data set with these fields in place of its own. step: how they were made,
-- where that can be done to another data set (see ladies.data.preparation).
function copies.with(data, fields, step)
  local copy = setmetatable(tables.merged(data, fields), getmetatable(data))
  if step then
    copy.preparation = tables.merged(data.preparation,
      {steps = tables.append(tables.merged(data.preparation.steps), {step})})
  end
  return copy
end

local with = copies.with

--- Returns a copy of a data set in whose graph every node has an edge to itself.
function copies.with_loops(data)
  return with(data, {graph = Graph.new(data.graph:normalize "none")})
end

--- Returns a copy of a data set with a graph that was made of its own, and with what is known of
-- the edges of that graph, an EdgeData or nil, for tasks that are asked for it. It is told from
-- others by the hashes of the whole data set. Features that are degrees become those of that graph.
function copies.with_graph(data, graph, edges)
  local known = tables.merged(data.known_hashes,
    {edges = {of = graph.adjacency, hash = data.graph.adjacency:hash()}})
  known.edge_parts = data.edges and {of = edges, hash = data.edges:hash(),
    type_names = data.edges.type_names, feature_names = data.edges.feature_names} or nil
  local features = made_features.of_part(data, graph)
  if features ~= data.features then
    known.features = {of = features, hash = data.features:hash()}
  end
  local copy = with(data, {graph = graph, features = features, known_hashes = known})
  copy.edges = edges
  return copy
end

-- Returns for each of the names its place in the list `order`; nil where each is in its place
-- already, and where one is not in the list or is given twice.
local function places_of(names, order)
  local place, places, moved = {}, {}, #names ~= #order
  for i, name in ipairs(order) do place[name] = i end
  for i, name in ipairs(names) do
    places[i], place[name] = place[name], nil
    if not places[i] then return nil end
    moved = moved or places[i] ~= i
  end
  return moved and places or nil
end

--- Returns a copy of a data set with labels whose classes have the numbers of their names in
-- `class_names`; `data` itself where they have them already, or not all are among these names.
function copies.with_classes(data, class_names)
  local places = data.labels and data.class_names and places_of(data.class_names, class_names)
  if not places then return data end
  return with(data, {classes = #class_names, class_names = class_names,
    labels = label_kinds.kind_of(data.labels).renumbered(data.labels, places, #class_names)})
end

-- Returns the sum of the absolute values of each row; 1 for rows of zeros, so that rows can be
-- divided by it.
local function divisors(features)
  if options.class_of(features) == "Matrix" then
    features = features:with_values(features:entry_values():square():sqrt())
  else
    features = features:square():sqrt()
  end
  local sums = features:row_sums()
  for i, sum in ipairs(sums:to_table()) do
    if sum == 0 then sums[i] = 1 end
  end
  return sums
end

--- ladies.data.row_normalized(data) -> Dataset: a copy of a data set in which each row of features
-- is divided by the sum of its absolute values, so that a node of many words weighs as much as one
-- of few. Rows of zeros stay as they are. All but the features is shared with `data`.
function copies.row_normalized(data)
  options.value("ladies.data.row_normalized", "the data set", data, "Dataset")
  local features = in_memory(data.features)
  local sums = divisors(features)
  local copy = with(data, {features = options.class_of(features) == "Matrix"
    and features:scale_rows(1 / sums) or features / sums:reshape(#sums, 1)},
    {call = "row_normalized"})
  copy.feature_scale = nil                 -- which is not all that makes these features any more
  return copy
end

-- Returns the labels or targets of n nodes, randomly permuted among the nodes `known`.
local function dealt(values, n, known, rng)
  local from = {}
  for v = 1, n do from[v] = v end
  local order = known[core.sampling.permutation(#known, rng)]
  for i, v in ipairs(known:to_table()) do from[v] = order[i] end
  return values[core.index(from)]
end

--- ladies.data.shuffled(data, {what =, seed = 1}) -> Dataset: a copy of a data set in which chance
-- decides
--   what = "labels"   which label a labelled node has, and which targets a node with a known one: a
--                     model can learn how frequent they are, and no more
--   what = "edges"    which node has which place in the graph: the graph is the same, degrees and
--                     all, and says nothing of the nodes; what is left is in their features, of
--                     which those that are degrees become those in that place
-- or "both". The rest is shared with `data`.
function copies.shuffled(data, given)
  options.value("ladies.data.shuffled", "the data set", data, "Dataset")
  local opts = options.check("ladies.data.shuffled", given, {
    what = "labels|edges|both", seed = {"integer", 1},
  })
  local changed, rng = {}, core.rng(opts.seed)
  if opts.what ~= "edges" then
    local n = data.n_graphs or data.graph.n_nodes
    changed.labels = data.labels
      and dealt(data.labels, n, label_kinds.labelled(data.labels), rng:fork(1))
    changed.targets = data.targets
      and dealt(data.targets, n, targets.known(data.targets), rng:fork(3))
  end
  if opts.what ~= "labels" and (data.edges or data.n_graphs) then
    errors.fail(('ladies.data.shuffled: what = "%s": %s are not shuffled; what = "labels" is')
      :format(opts.what, data.n_graphs and "nodes of many graphs"
        or "edges that have features, types or times"))
  end
  if opts.what ~= "labels" then
    local A = data.graph.adjacency
    changed.graph = Graph.new(A:induced(core.sampling.permutation(A.n_rows, rng:fork(2))))
    changed.features = made_features.of_part(data, changed.graph)
  end
  return with(data, changed, {call = "shuffled", what = opts.what, seed = opts.seed})
end

return copies
