--- Data sets of a script's own arrays.

local core = require "ladies_core"
local checks = require "ladies.data.checks"
local complete = require "ladies.data.complete"
local errors = require "ladies.base.errors"
local options = require "ladies.base.options"

local WHERE = "ladies.data.from_arrays"

-- {{1, 2}, {2, 3}} as two Indexes; {Index, Index} stays.
local function edge_ends(edges)
  if options.class_of(edges[1]) == "Index" then return edges[1], edges[2] end
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

-- The adjacency, and how many edges were given more than once.
local function adjacency_of(opts, n)
  if opts.graph then return opts.graph end
  local sources, targets = edge_ends(opts.edges)
  local context = {where = WHERE, shift = 0, keys = {sources = "edges", targets = "edges"}}
  checks.length(context, "targets", #targets, #sources, "as many targets as sources")
  checks.ids(context, "sources", sources, n)
  checks.ids(context, "targets", targets, n)
  -- A target hears its source: rows are destinations.
  local matrix = core.matrix{n_rows = n, n_cols = n, rows = targets, cols = sources}
  return matrix, #targets - matrix.nnz
end

local function as_index(ids)
  return type(ids) == "table" and core.index(ids) or ids
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
-- Optional: name, source, class_names, feature_names, node_names (tables of strings), and directed
-- ("keep": an edge goes from its first node to its second), make_features, split and split_seed as
-- for ladies.data.load.
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
    train = "Index or array of positive integers or nil",
    val = "Index or array of positive integers or nil",
    test = "Index or array of positive integers or nil",
    name = {"string", "arrays"}, source = {"string", "arrays of a script"},
    class_names = "array of strings or nil", feature_names = "array of strings or nil",
    node_names = "array of strings or nil",
  })
  if (opts.graph == nil) == (opts.edges == nil) then
    errors.fail(WHERE .. ": give either edges or graph")
  end
  if not opts.labels then
    errors.fail(WHERE .. ": there are no labels; each node has a class from 1 on, or 0 for none")
  end
  local labels = as_index(opts.labels)
  if type(opts.features) == "table" then opts.features = core.tensor(opts.features) end
  local adjacency, merged = adjacency_of(opts, opts.features and opts.features.n_rows
    or options.class_of(labels) == "Index" and #labels or labels.n_rows)
  local fields = {
    name = opts.name, source = opts.source, features = opts.features,
    adjacency = adjacency, merged = merged, labels = labels,
    train = as_index(opts.train), val = as_index(opts.val), test = as_index(opts.test),
    class_names = opts.class_names, feature_names = opts.feature_names,
    node_names = opts.node_names and table.concat(opts.node_names, "\n"),
  }
  local keys = setmetatable({adjacency = "graph"}, {__index = function(_, part) return part end})
  local context = {where = WHERE, shift = 0, keys = keys}
  opts.max_ids = math.maxinteger      -- what a script has made is there already
  return complete.dataset(WHERE, fields, context, opts)
end
