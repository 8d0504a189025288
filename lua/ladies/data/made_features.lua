--- Makes features for graphs that have none, in one of three ways:
--
--   "identity"   a column for each node, with a one in its row (sparse): the first layer learns a
--                vector for every node, so a model is not inductive: new nodes have none
--   "degree"     one of the columns 0, 1, 2-3, 4-7, ... is one (sparse): that of the node's degree,
--                the number of entries in its row; {"degree", columns = 8} makes at least so many
--   "random"     normal numbers, rows of about length one, from a seed; 64 columns unless
--                {"random", columns = 128, seed = 1} says otherwise

local core = require "ladies_core"
local checks = require "ladies.data.checks"
local options = require "ladies.base.options"
local tables = require "ladies.base.tables"

local made_features = {}

--- The type of the option, for options.check.
made_features.OPTION = "identity|degree|random or table or nil"

local function identity(adjacency)
  local nodes = core.range(1, adjacency.n_rows)
  return core.matrix{n_rows = #nodes, n_cols = #nodes, rows = nodes, cols = nodes}
end

-- Makes features of the degrees, one column for each bin of degrees, at least `opts.columns`. The
-- bins double in width, so they tell as much of a node with many edges as of one with few, and are
-- few in any graph.
local function degree(adjacency, opts)
  local bins, most = {}, opts.columns or 1
  for node, count in ipairs(adjacency:degrees():to_table()) do
    local bin, rest = 1, math.tointeger(count)
    while rest > 0 do bin, rest = bin + 1, rest // 2 end
    bins[node], most = bin, math.max(most, bin)
  end
  local names = {"degree 0", "degree 1"}
  for bin = 3, most do names[bin] = ("degree %d-%d"):format(1 << bin - 2, (1 << bin - 1) - 1) end
  return core.matrix{n_rows = #bins, n_cols = most, rows = core.range(1, #bins),
    cols = core.index(bins)}, table.move(names, 1, most, 1, {})
end

local function random(adjacency, opts)
  return core.zeros(adjacency.n_rows, opts.columns):normal_(1 / math.sqrt(opts.columns),
    core.rng(opts.seed))
end

local KINDS = {identity = identity, degree = degree, random = random}

local SPECS = {identity = {}, degree = {columns = "positive integer or nil"},
  random = {columns = {"positive integer", 64}, seed = {"non-negative integer", 1}}}

--- Returns the option as it is kept with others: {"random", columns = 8} becomes {kind = "random",
-- columns = 8}, all of whose fields have names.
function made_features.plain(given)
  if type(given) ~= "table" then return given end
  local plain = tables.merged(given, {kind = given[1] or given.kind})
  plain[1] = nil
  return plain
end

-- Parses the option, such as "random" or {"random", columns = 8}, to a kind and its checked
-- options.
local function parse(where, given)
  local own = made_features.plain(type(given) == "table" and given or {given})
  local kind = options.value(where, "make_features", own.kind, "identity|degree|random")
  own.kind = nil
  return kind, options.check(where .. ": make_features", own, SPECS[kind])
end

--- Adds to the fields of a data set the features that the option `asked` describes, and to
-- `made_features` the same option as plain data, by which another graph gets as many columns. Fails
-- if the data set has no features and none are asked for, or if it has some and others are asked
-- for; errors begin with `where`.
function made_features.add(where, fields, asked, context)
  if not asked and not fields.features then
    checks.fail(context, 'there are no features; --make-features (in Lua make_features) '
      .. '"identity", "degree" or "random" makes some')
  end
  if not asked then return end
  local kind, opts = parse(where, asked)
  local has_them = kind == "degree" and fields.features_are_degrees
  if fields.features and not has_them then
    checks.fail(context, "there are features: %s; make_features is for graphs without",
      tostring(fields.features))
  elseif not has_them then
    local names
    fields.features, names = KINDS[kind](fields.adjacency, opts)
    fields.feature_names = fields.feature_names or names
    fields.features_are_degrees = kind == "degree" or nil
  end
  fields.made_features = tables.merged(opts, {kind = kind,
    columns = kind ~= "identity" and fields.features.n_cols or nil})
end

--- Returns the features of a data set for a graph that has some of its edges, or has them between
-- other nodes: those that are degrees (`features_are_degrees`) are counted in that graph, since
-- they would otherwise tell of edges that are not to be known; all others stay.
function made_features.of_part(data, graph)
  if not data.features_are_degrees then return data.features end
  return (degree(graph.adjacency, {columns = data.features.n_cols}))
end

return made_features
