--- The data set: a graph, what is known of its nodes, and where it came from.
--
--   name, source, path            text; path is nil for a user's own arrays
--   graph                         Graph
--   features                      Tensor or sparse Matrix, a row for each node
--   labels                        Index, 1 .. classes, 0 = unlabelled
--   classes, class_names          their number, and their names or nil
--   train, val, test              Index, or nil where the source has no split
--   node_names, feature_names     NodeNames (data.node_names[i]) and a table, or nil

local core = require "ladies_core"
local options = require "ladies.options"
local checks = require "ladies.data.checks"
local Graph = require "ladies.graph"
local NodeNames = require "ladies.data.node_names"

local Dataset = {__name = "ladies.Dataset"}
Dataset.__index = Dataset

-- Weights that are all one say nothing: without them a matrix is smaller and faster.
local function without_ones(matrix)
  local values = matrix.values
  if not values or #values == 0 or values:min() ~= 1 or values:max() ~= 1 then return matrix end
  return core.csr{n_rows = matrix.n_rows, n_cols = matrix.n_cols,
    offsets = matrix:offsets(), columns = matrix:col_of()}
end

--- A data set of `fields`, after all checks. The fields are those above, but `adjacency`, a Matrix,
-- stands for the graph, and the node names are one text, a name a line; for `context` see
-- ladies.data.checks.
function Dataset.new(fields, context)
  local adjacency, features, labels = fields.adjacency, fields.features, fields.labels
  local n = adjacency.n_rows
  if n ~= adjacency.n_cols then
    checks.fail(context, "%s must be square, got %d x %d", context.keys.adjacency, n,
      adjacency.n_cols)
  elseif n == 0 then
    checks.fail(context, "%s is the graph of no nodes", context.keys.adjacency)
  end
  checks.finite(context, "adjacency", adjacency)
  if options.class_of(features) == "Tensor" and features.ndim ~= 2 then
    checks.fail(context, "%s must be a matrix, got a vector of %d", context.keys.features,
      #features)
  elseif features.n_rows ~= n then
    checks.fail(context, "%s has %d rows, must have %d, one for each node", context.keys.features,
      features.n_rows, n)
  end
  checks.finite(context, "features", features)
  checks.length(context, "labels", #labels, n, "one for each node")
  local classes = fields.class_names and #fields.class_names or labels:max()
  if labels:max() < 1 then checks.fail(context, "%s: no node has one", context.keys.labels) end
  checks.ids(context, "labels", labels, classes, "a node without a label")
  checks.split(context, fields, labels)

  local names = fields.node_names and NodeNames.new(fields.node_names)
  if names then checks.length(context, "node_names", #names, n, "one for each node") end
  if fields.feature_names then
    checks.length(context, "feature_names", #fields.feature_names, features.n_cols,
      "one for each column of the features")
  end
  if options.class_of(features) == "Matrix" then features = without_ones(features) end
  return setmetatable({
    name = fields.name, source = fields.source, path = fields.path,
    graph = Graph.new(without_ones(adjacency)), features = features, labels = labels,
    classes = classes, class_names = fields.class_names, node_names = names,
    feature_names = fields.feature_names,
    train = fields.train, val = fields.val, test = fields.test,
  }, Dataset)
end

--- The number of the node of this name; nil and a message when there is none.
function Dataset:find_node(name)
  if not self.node_names then return nil, self.name .. " has no node names" end
  local id = self.node_names:find(name)
  if id then return id end
  return nil, ('%s has no node called "%s"'):format(self.name, name)
end

-- 117659 -> 117,659
local function grouped(n)
  return (("%d"):format(n):reverse():gsub("%d%d%d", "%0,"):reverse():gsub("^,", ""))
end

local function describe_edges(graph)
  local loops = graph:n_self_loops()
  local note = loops > 0 and (", self-loops: %s"):format(grouped(loops)) or ""
  if graph:is_symmetric() then
    local pairs_and_loops = (graph.n_edges - loops) // 2 + loops
    return ("%s, each stored both ways%s"):format(grouped(pairs_and_loops), note)
  end
  return ("%s, directed (kept as given)%s"):format(grouped(graph.n_edges), note)
end

local function describe_features(features)
  if options.class_of(features) == "Tensor" then
    return ("%s, dense"):format(grouped(features.n_cols))
  end
  return ("%s, sparse: %s %s, %.2f %%"):format(grouped(features.n_cols), grouped(features.nnz),
    features.values and "entries" or "ones", 100 * features.nnz / features.n_rows / features.n_cols)
end

local function describe_split(data)
  local parts = {}
  for _, part in ipairs(checks.SPLIT) do
    if data[part] then parts[#parts + 1] = ("%s %s"):format(grouped(#data[part]), part) end
  end
  return #parts > 0 and table.concat(parts, ", ") or "none (see ladies.data.random_split)"
end

local function describe_classes(data)
  local unlabelled = #data.labels
  for _, count in ipairs(data.labels:counts(data.classes)) do unlabelled = unlabelled - count end
  local names, more = data.class_names or {}, ""
  if #names > 4 then names, more = table.move(names, 1, 4, 1, {}), ", ..." end
  return ("%d%s%s%s%s"):format(data.classes, #names > 0 and ": " or "", table.concat(names, ", "),
    more, unlabelled > 0 and ("; unlabelled: %s"):format(grouped(unlabelled)) or "")
end

--- A short table of what the data set holds, as text.
function Dataset:describe()
  local rows = {
    {"nodes", ("%s, %s isolated"):format(grouped(self.graph.n_nodes),
      grouped(self.graph:n_isolated()))},
    {"edges", describe_edges(self.graph)},
    {"features", describe_features(self.features)},
    {"classes", describe_classes(self)},
    {"split", describe_split(self)},
    {"source", self.source or "not stated"},
    {"file", self.path},
  }
  local lines = {self.name}
  for _, row in ipairs(rows) do
    if row[2] then lines[#lines + 1] = ("  %-9s %s"):format(row[1], row[2]) end
  end
  return table.concat(lines, "\n")
end

function Dataset:__tostring()
  return ("Dataset %s: %d nodes, %d entries, %d features, %d classes"):format(self.name,
    self.graph.n_nodes, self.graph.n_edges, self.features.n_cols, self.classes)
end

return Dataset
