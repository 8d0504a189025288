--- Makes data sets from a script's own arrays.

local core = require "ladies_core"
local checks = require "ladies.data.checks"
local columns = require "ladies.data.edges.columns"
local complete = require "ladies.data.complete"
local direction = require "ladies.data.direction"
local errors = require "ladies.base.errors"
local options = require "ladies.base.options"
local real_targets = require "ladies.data.labels.targets"
local tables = require "ladies.base.tables"

local WHERE = "ladies.data.from_arrays"

-- Returns edges as two Indexes, the sources and the targets, from {{1, 2}, {2, 3}} or from {Index,
-- Index}.
local function edge_ends(edges)
  if options.class_of(edges[1]) == "Index" then
    if #edges ~= 2 then
      errors.fail(("%s: edges must be two Indexes, the sources and the targets, got %d"):format(
        WHERE, #edges))
    end
    return edges[1], edges[2]
  end
  local sources, targets = {}, {}
  for i, edge in ipairs(edges) do
    for j = 1, type(edge) == "table" and 2 or 0 do
      if edge[j] == 0 then
        errors.fail(("%s: edges[%d][%d] is 0; nodes count from 1"):format(WHERE, i, j))
      end
    end
    options.value(WHERE, ("edges[%d]"):format(i), edge, "array of positive integers")
    if #edge ~= 2 then
      errors.fail(("%s: edges[%d] must be two nodes, got %d"):format(WHERE, i, #edge))
    end
    sources[i], targets[i] = edge[1], edge[2]
  end
  return core.index(sources), core.index(targets)
end

local function as_index(ids)
  return type(ids) == "table" and core.index(ids) or ids
end

-- Returns the option of this name, an array of numbers or of rows as a tensor.
local function as_tensor(opts, name)
  local values = opts[name]
  if type(values) ~= "table" then return values end
  local ok, made = errors.try(core.tensor, values)
  if not ok then errors.pass_on(made, WHERE .. ": " .. name) end
  return made
end

-- The options about edges, and what they are called there.
local EDGE_PARTS = {features = "edge_features", types = "edge_types", times = "edge_times",
  weights = "edge_weights", feature_names = "edge_feature_names", type_names = "edge_type_names"}

-- The options that name what is in another one.
local NAMES = {
  feature_names = "features", target_names = "targets", edge_feature_names = "edge_features",
  edge_type_names = "edge_types", node_type_names = "node_types",
}

-- Fails for names of nothing.
local function check_names(opts)
  for _, names in ipairs(tables.sorted_keys(NAMES)) do
    local part = NAMES[names]
    if opts[names] and not opts[part] and not (part == "features" and opts.make_features) then
      errors.fail(("%s: there is %s without %s"):format(WHERE, names, part))
    end
  end
end

-- Adds the types in an option, an Index or an array of numbers from 1 or of texts, to `own`.
local function add_types(own, context, key, types, names)
  own.type_names = names
  if type(types) == "table" and type(types[1]) == "string" then
    own.types, own.type_names = columns.types_of_texts(context, key, types, names)
  else
    own.types = as_index(types)
  end
end

-- Adds the edges to the fields of a data set of n nodes: the adjacency, or a list of edges where
-- there is more to them.
local function add_edges(fields, context, opts, n)
  local has_parts = opts.parallel == "keep"
  for _, key in pairs(EDGE_PARTS) do has_parts = has_parts or opts[key] ~= nil end
  if opts.graph then
    if has_parts then
      errors.fail(WHERE .. ": features, types, times and weights of edges, and parallel edges, are "
        .. "of edges and not of a graph, whose entries have an order of their own; give edges")
    end
    fields.adjacency = opts.graph
    return
  end
  local sources, targets = edge_ends(opts.edges)
  if not has_parts then
    local own = {where = WHERE, shift = 0, keys = {sources = "edges", targets = "edges"}}
    checks.length(own, "targets", #targets, #sources, "as many targets as sources")
    checks.ids(own, "sources", sources, n)
    checks.ids(own, "targets", targets, n)
    fields.adjacency, fields.merged = direction.matrix(n, sources, targets)
    fields.tells_merged = true                  -- the script that made them knows
    return
  end
  context.keys.edges = tables.merged({sources = "edges", targets = "edges"}, EDGE_PARTS)
  local list = {n = n, sources = sources, targets = targets,
    features = as_tensor(opts, "edge_features"), feature_names = opts.edge_feature_names,
    weights = as_tensor(opts, "edge_weights"), times = opts.edge_times}
  if opts.edge_types then
    add_types(list, context, "edge_types", opts.edge_types, opts.edge_type_names)
  end
  if type(opts.edge_times) == "table" then
    list.times, list.time_origin = columns.times(context, "edge_times", opts.edge_times)
  end
  fields.edge_list = list
end

--- ladies.data.from_arrays{edges =, features =, labels =, ...} -> Dataset: a data set of a script's
-- own arrays, checked as those of a file are.
--
--   ladies.data.from_arrays{
--     edges    = {{1, 2}, {2, 3}},     -- or {Index, Index}, or graph = Matrix
--     features = ladies.ones(3, 2),    -- or Matrix, or a table of rows
--     labels   = {1, 2, 1},            -- or Index; 0 = unlabelled. Where a node may have several
--                                      -- classes: Tensor or Matrix of 0 and 1, nodes x classes;
--                                      -- a row of NaN = unlabelled
--     train = {1}, val = {2}, test = {3},
--   }
--
-- targets, beside labels or instead of them: real numbers, a Tensor or a table of rows (one target:
-- a vector), with NaN for those that are not known.
-- edge_features (a row for each edge), edge_types (numbers from 1 or names), edge_times (whole
-- numbers, or dates as texts) and edge_weights, each with one for each edge, become data.edges;
-- edge_feature_names and edge_type_names name the first two. parallel = "merge" has edges of one
-- pair of nodes share an entry of the graph. node_types are numbers from 1, which node_type_names
-- names, or names. Types given as names are numbered in the order of edge_type_names and
-- node_type_names, without these alphabetically.
-- graph_of, the number of each node's graph from 1 on, makes the data set one of many graphs:
-- labels, targets, train, val and test are then of graphs.
-- Optional: name, source, class_names, feature_names, target_names, node_names (tables of strings),
-- and directed ("keep": an edge goes from its first node to its second), make_features, split and
-- split_seed as for ladies.data.load.
return function(arrays)
  if type(arrays) == "table" and type(arrays.split) == "table" then
    errors.fail(WHERE .. ": split is a way to split, such as 10/10/80; the nodes of its parts are "
      .. "the options train, val and test")
  end
  local opts = options.check(WHERE, arrays, {
    graph = "Matrix or nil", edges = "array of tables or array of Indexes or nil",
    directed = complete.SPEC.directed, split = complete.SPEC.split,
    split_seed = complete.SPEC.split_seed,
    features = "Tensor or Matrix or array of tables or nil",
    make_features = complete.SPEC.make_features,
    labels = "Index or array of non-negative integers or Tensor or Matrix or nil",
    targets = "Tensor or array of tables or table or nil", target_names = "array of strings or nil",
    train = "Index or array of positive integers or nil",
    val = "Index or array of positive integers or nil",
    test = "Index or array of positive integers or nil",
    edge_features = "Tensor or array of tables or nil",
    edge_types = "Index or array of positive integers or array of strings or nil",
    edge_times = "Index or array of numbers or array of strings or nil",
    edge_weights = "Tensor or array of numbers or nil",
    edge_feature_names = "array of strings or nil", edge_type_names = "array of strings or nil",
    node_types = "Index or array of positive integers or array of strings or nil",
    node_type_names = "array of strings or nil",
    graph_of = "Index or array of positive integers or nil", parallel = complete.SPEC.parallel,
    name = {"string", "arrays"}, source = {"string", "arrays of a script"},
    class_names = "array of strings or nil", feature_names = "array of strings or nil",
    node_names = "array of strings or nil",
  })
  if (opts.graph == nil) == (opts.edges == nil) then
    errors.fail(WHERE .. ": give either edges or graph")
  end
  if not opts.labels and not opts.targets and not opts.features then
    errors.fail(WHERE .. ": there are no labels; each node has a class from 1 on, or 0 for none; "
      .. "or targets; or features alone, for tasks of edges")
  end
  check_names(opts)
  local labels = as_index(opts.labels)
  for _, part in ipairs{"features", "targets"} do
    opts[part] = as_tensor(opts, part)
  end
  local fields = {
    name = opts.name, source = opts.source, features = opts.features,
    labels = labels,
    targets = opts.targets and real_targets.columns(opts.targets), target_names = opts.target_names,
    train = as_index(opts.train), val = as_index(opts.val), test = as_index(opts.test),
    class_names = opts.class_names, feature_names = opts.feature_names,
    node_names = opts.node_names and table.concat(opts.node_names, "\n"),
  }
  local keys = setmetatable({adjacency = opts.graph and "graph" or "edges"},
    {__index = function(_, part) return part end})
  local context = {where = WHERE, shift = 0, keys = keys}
  fields.graph_of = as_index(opts.graph_of)
  add_edges(fields, context, opts, opts.features and opts.features.n_rows
    or #(fields.graph_of or labels or opts.targets))
  if opts.node_types then
    local own = {}
    add_types(own, context, "node_types", opts.node_types, opts.node_type_names)
    fields.node_types, fields.node_type_names = own.types, own.type_names
  end
  opts.max_ids = math.maxinteger      -- what a script has made is there already
  return complete.dataset(WHERE, fields, context, opts)
end
