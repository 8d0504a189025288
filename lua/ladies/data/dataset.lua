--- The data set: a graph, what is known of its nodes, and where it came from.
--
--   name, source, path            text; path is nil for a user's own arrays
--   graph                         Graph
--   features                      Tensor or sparse Matrix, a row for each node; or Rows, which stay
--                                 in their file
--   labels                        Index, 1 .. classes, 0 = unlabelled; or Tensor of 0 and 1, nodes
--                                 x classes, with rows of NaN = unlabelled (see ladies.data.labels)
--   multilabel                    whether they are such a Tensor
--   classes, class_names          their number, and their names or nil
--   train, val, test              Index, or nil where the source has no split
--   merged                        edges given more than once, or nil where that is not known
--   directed                      whether edges were kept that do not go both ways
--   notes                         what reading it has changed or chosen, a line each
--   known_hashes                  those of parts that are too large to be hashed each time, or nil
--   node_names, feature_names     NodeNames (data.node_names[i]) and a table, or nil

local core = require "ladies_core"
local checks = require "ladies.data.checks"
local description = require "ladies.data.description"
local drawn = require "ladies.data.drawn"
local facts = require "ladies.data.facts"
local fitted = require "ladies.base.fitted"
local Graph = require "ladies.graph"
local label_kinds = require "ladies.data.labels"
local NodeNames = require "ladies.data.node_names"
local of_class = require("ladies.base.fields").of_class
local neighbourhood = require "ladies.data.neighbourhood"
local options = require "ladies.base.options"
local show = require "ladies.show"
local splits = require "ladies.data.splits"

local Dataset = {__name = "ladies.Dataset"}
Dataset.__index = Dataset
of_class(Dataset, "name source:string path graph:Graph features:Tensor|Matrix|Rows "
  .. "labels:Index|Tensor|Matrix multilabel:boolean classes:integer class_names:string[] "
  .. "train val test merged:integer directed:boolean notes:string[] node_names:string[] "
  .. "feature_names:string[] known_hashes:table", {num_nodes = "graph.n_nodes is their number"})

-- Weights that are all one say nothing: without them a matrix is smaller and faster.
local function without_ones(matrix)
  if options.class_of(matrix) ~= "Matrix" then return matrix end       -- in parts, without weights
  local least, greatest = core.value_range(matrix)
  if least ~= 1 or greatest ~= 1 then return matrix end
  return core.csr{n_rows = matrix.n_rows, n_cols = matrix.n_cols,
    offsets = matrix:offsets(), columns = matrix:col_of()}
end

--- A data set of `fields`, after all checks but that of the adjacency (ladies.data.complete). The
-- fields are those above, but `adjacency`, a Matrix, stands for the graph, and the node names are
-- one text, a name a line; for `context` see ladies.data.checks.
function Dataset.new(fields, context)
  local adjacency, features = fields.adjacency, fields.features
  local n = adjacency.n_rows
  if options.class_of(features) == "Tensor" and features.ndim ~= 2 then
    checks.fail(context, "%s must be a matrix, got a vector of %d", context.keys.features,
      #features)
  elseif features.n_rows ~= n then
    checks.fail(context, "%s has %d rows, must have %d, one for each node", context.keys.features,
      features.n_rows, n)
  end
  if not fields.known_finite then checks.finite(context, "features", features) end
  local labels = fields.labels
  local kind = label_kinds.kind_of(labels)
  local classes = kind.check(context, labels, n, fields.class_names)
  checks.split(context, fields, n, function(ids) return kind.first_unlabelled(labels, ids) end)

  local names = fields.node_names and NodeNames.new(fields.node_names)
  if names then checks.length(context, "node_names", #names, n, "one for each node") end
  if fields.feature_names then
    checks.length(context, "feature_names", #fields.feature_names, features.n_cols,
      "one for each column of the features")
  end
  if options.class_of(features) == "Matrix" then features = without_ones(features) end
  return setmetatable({
    name = fields.name, source = fields.source, path = fields.path,
    graph = Graph.new(without_ones(adjacency)), features = features,
    labels = labels, multilabel = kind.multilabel, classes = classes,
    class_names = fields.class_names, node_names = names, feature_names = fields.feature_names,
    train = fields.train, val = fields.val, test = fields.test, merged = fields.merged,
    directed = fields.directed, notes = fields.notes,
  }, Dataset)
end

--- data:find_node(name) -> integer | nil [, string]: the number of the node of this name; nil and a
-- message when there is none.
function Dataset:find_node(name)
  local own = core.printable(self.name)
  if not self.node_names then return nil, own .. " has no node names" end
  local id = self.node_names:find(name)
  if id then return id end
  return nil, ('%s has no node called "%s"'):format(own, core.printable(name))
end

--- data:split(how: string [, {seed = 1}]) -> Dataset: splits the labelled nodes anew: `train`,
-- `val` and `test` become what ladies.data.split returns for `how` and the options. Returns the
-- data set.
--
--   data:split("20-per-class", {seed = 3})
function Dataset:split(how, opts)
  local parts = table.pack(splits.of(self, how, opts))
  for i, part in ipairs(checks.SPLIT) do
    self[part] = parts[i] and #parts[i] > 0 and parts[i] or nil
  end
  return self
end

--- data:facts() -> table: what there is to know about the data set, as a table of numbers: nodes,
-- edges, isolated, components, class_sizes, split, features and others that `ladies info` shows.
function Dataset:facts()
  return facts.of(self)
end

--- data:describe() -> string: a short table of what the data set holds, as text.
function Dataset:describe()
  return description.short(self)
end

--- data:show(node: integer | string [, most = 20]): prints a node, given by its number or its name,
-- and its neighbours: names, classes, parts of the split and weights of edges. At most `most`
-- neighbours (20) are listed.
--
--   data:show "dog.n"
function Dataset:show(node, most)
  print(fitted(neighbourhood(self, node, most), show.width()))
end

--- data:draw(node: integer | string [, {hops = 1, most = 40, title =}]) -> Figure: a node, given by
-- its number or its name, and the nodes within `hops` edges of it, the nearest `most`, drawn with
-- the edges between them (ladies.plot.network). Classes have colours and marks.
--
--   data:draw("dog.n", {hops = 2}):save "dog.svg"
function Dataset:draw(node, opts)
  return drawn(self, node, opts)
end

function Dataset:__show(width)
  return description.card(self, width or show.width())
end

function Dataset:__html()
  return description.html(self)
end

Dataset.__operators = {__len = "#data -> integer\nThe number of nodes."}

function Dataset:__len() return self.graph.n_nodes end

function Dataset:__tostring()
  local name = core.printable(self.name)
  return ("Dataset %s: %d nodes, %d entries, %d features, %d classes"):format(name,
    self.graph.n_nodes, self.graph.n_edges, self.features.n_cols, self.classes)
end

return Dataset
