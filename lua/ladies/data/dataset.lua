--- The class of data sets: a graph, the features, labels and names of its nodes, a split, and where
-- these came from.
--
--   name, source, path            text; path is nil for a user's own arrays
--   graph                         Graph
--   features                      Tensor or sparse Matrix, a row for each node; or Rows, which stay
--                                 in their file
--   labels                        Index, 1 .. classes, 0 = unlabelled; or Tensor of 0 and 1, nodes
--                                 x classes, with rows of NaN = unlabelled (see
--                                 ladies.data.labels); or nil, where there are targets
--   multilabel                    whether they are such a Tensor
--   classes, class_names          their number, and their names; each may be nil
--   targets, target_names         Tensor, nodes x targets, NaN = unknown (see
--                                 ladies.data.labels.targets), and their names; each may be nil
--   train, val, test              Index, or nil where the source has no split
--   edges                         EdgeData: what is known of the edges, their features, types,
--                                 times and weights (see ladies.data.edges); nil without these
--   node_types, node_type_names   Index, 1 .. types, and what these are called, or nil
--   graph_of, n_graphs            Index, the graph of each node, and how many there are, where a
--                                 data set is many graphs (see ladies.data.many_graphs); or nil
--   part_ends, former_ids         Index, the last node of each part of the graph, and the number
--                                 that each node had before, where nodes are in the order of parts
--                                 (see ladies.data.parts); or nil
--   unit                          "node", or "graph" with graph_of: what labels, targets and the
--                                 parts of the split are of
--   merged                        edges given more than once, or nil where that is not known
--   directed                      whether edges were kept that do not go both ways
--   notes                         what reading it has changed or chosen, a line each
--   known_hashes                  those of parts that are too large to be hashed each time, or nil
--   node_names, feature_names     NodeNames (data.node_names[i]) and a table, or nil
--   features_are_degrees          true where the features were made of the graph's degrees (see
--                                 ladies.data.made_features), else nil
--   feature_scale                 {mean =, deviation =}, Tensors, of the columns of the features
--                                 before these were standardized (see ladies.data.standardized), or
--                                 nil
--   preparation                   what was done to make it, by which another data set can be
--                                 prepared alike: see ladies.data.preparation

local core = require "ladies_core"
local checks = require "ladies.data.checks"
local description = require "ladies.data.about.description"
local facts = require "ladies.data.about.facts"
local Graph = require "ladies.graph"
local label_kinds = require "ladies.data.labels"
local many_graphs = require "ladies.data.many_graphs"
local NodeNames = require "ladies.data.node_names"
local of_class = require("ladies.base.fields").of_class
local node_of = require "ladies.data.about.node"
local notes = require "ladies.data.notes"
local options = require "ladies.base.options"
local plain = require("ladies.base.units").plain
local show = require "ladies.show"
local splits = require "ladies.data.splits"
local tables = require "ladies.base.tables"
local targets = require "ladies.data.labels.targets"
local wrap_paragraphs = require "ladies.base.wrap_paragraphs"

local Dataset = {__name = "ladies.Dataset"}
Dataset.__index = Dataset
of_class(Dataset, "name source:string path graph:Graph features:Tensor|Matrix|Rows "
  .. "labels:Index|Tensor|Matrix multilabel:boolean classes:integer class_names:string[] "
  .. "targets:Tensor target_names:string[] edges:EdgeData node_types:Index "
  .. "node_type_names:string[] graph_of:Index n_graphs:integer part_ends:Index "
  .. "former_ids:Index unit:string "
  .. "train val test merged:integer directed:boolean notes:string[] node_names:string[] "
  .. "feature_names:string[] features_are_degrees:boolean "
  .. "feature_scale:table preparation:table known_hashes:table",
  {num_nodes = "graph.n_nodes is their number"})

-- Returns a matrix without its weights if these are all one, which makes it smaller and faster.
local function without_ones(matrix)
  if options.class_of(matrix) ~= "Matrix" then return matrix end       -- in parts, without weights
  local least, greatest = core.value_range(matrix)
  if least ~= 1 or greatest ~= 1 then return matrix end
  return core.csr{n_rows = matrix.n_rows, n_cols = matrix.n_cols,
    offsets = matrix:offsets(), columns = matrix:col_of()}
end

-- Fails unless the types of nodes, where there are any, fit.
local function check_node_types(context, fields, n)
  local types = fields.node_types
  if not types then return end
  local names = fields.node_type_names
  checks.length(context, "node_types", #types, n, "one for each node")
  if names then checks.different(context, "node_type_names", names) end
  checks.ids(context, "node_types", types, names and #names or math.maxinteger)
end

-- Leaves out labels or targets that no unit has, and their names.
local function leave_out(context, fields, part, names)
  notes.add(context, fields.notes, "%s: no %s has any: the data set counts as one without %s",
    context.keys[part], context.unit, part)
  fields[part], fields[names] = nil, nil
end

--- Makes a data set of `fields`, which are checked but for the adjacency (ladies.data.complete has
-- checked that). The fields are those above, but with `adjacency`, a Matrix, in place of the graph,
-- and the node names as one text with a name a line; for `context` see ladies.data.checks.
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
  local units, unit = many_graphs.units(context, fields, n)
  context.unit = unit
  local kind, classes = label_kinds.kind_of(fields.labels), nil
  if fields.labels then
    classes = kind.check(context, fields.labels, units, fields.class_names)
    if not classes then leave_out(context, fields, "labels", "class_names") end
  end
  if fields.targets and not targets.check(context, fields.targets, units, fields.target_names) then
    leave_out(context, fields, "targets", "target_names")
  end
  local labels = fields.labels
  check_node_types(context, fields, n)
  local function first_unknown(ids) return label_kinds.first_unknown(fields, ids) end
  checks.split(context, fields, units, first_unknown, labels and "label" or "target that is known")

  local names = fields.node_names and NodeNames.new(fields.node_names)
  if names then checks.length(context, "node_names", #names, n, "one for each node") end
  if fields.feature_names then
    checks.length(context, "feature_names", #fields.feature_names, features.n_cols,
      "one for each column of the features")
  end
  if options.class_of(features) == "Matrix" then features = without_ones(features) end
  local graph = Graph.new(without_ones(adjacency))
  graph.relations = fields.edges and fields.edges.relations or nil
  local steps = fields.feature_steps or {}
  return setmetatable({
    name = fields.name, source = fields.source, path = fields.path,
    graph = graph, edges = fields.edges, features = features,
    graph_of = fields.graph_of, n_graphs = fields.graph_of and units, unit = unit,
    node_types = fields.node_types, node_type_names = fields.node_type_names,
    part_ends = fields.part_ends, former_ids = fields.former_ids,
    labels = labels, multilabel = labels and kind.multilabel, classes = classes,
    targets = fields.targets, target_names = fields.target_names, class_names = fields.class_names,
    node_names = names, feature_names = fields.feature_names,
    features_are_degrees = fields.features_are_degrees,
    feature_scale = steps[1] and steps[#steps].scale, preparation = {steps = steps,
      directed = fields.directed and "keep" or nil, make_features = fields.made_features},
    train = fields.train, val = fields.val, test = fields.test, merged = fields.merged,
    directed = fields.directed, notes = fields.notes,
  }, Dataset)
end

--- data:find_node(name) -> integer | nil [, string]: the number of the node of this name; nil and a
-- message when there is none.
function Dataset:find_node(name)
  options.value("data:find_node", "the name", name, "string")
  local own = description.name(self.name)
  if not self.node_names then return nil, own .. " has no node names" end
  local id = self.node_names:find(name)
  if id then return id end
  return nil, ('%s has no node called "%s"'):format(own, description.name(name))
end

--- data:split(how: string [, {seed = 1}]) -> Dataset: splits the labelled nodes (those with a known
-- target where there are no labels) anew: `train`, `val` and `test` become what ladies.data.split
-- returns for `how` and the options. Returns the data set.
--
--   data:split("20-per-class", {seed = 3})
function Dataset:split(how, opts)
  local parts = table.pack(splits.of(self, how, opts))
  for i, part in ipairs(checks.SPLIT) do
    self[part] = parts[i] and #parts[i] > 0 and parts[i] or nil
  end
  self.preparation = tables.merged(self.preparation,
    {split = splits.from_root(how or splits.default(self)), split_seed = opts and opts.seed or 1})
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
  print(wrap_paragraphs(node_of.text(self, node, most), show.width()))
end

--- data:draw(node: integer | string [, {hops = 1, most = 40, title =}]) -> Figure: a node, given by
-- its number or its name, and the nodes within `hops` edges of it, the nearest `most`, drawn with
-- the edges between them (ladies.plot.network). Classes have colours and marks.
--
--   data:draw("dog.n", {hops = 2}):save "dog.svg"
function Dataset:draw(node, opts)
  return node_of.figure(self, node, opts)
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
  local name = description.name(self.name)
  return ("Dataset %s: %s, %s, %s, %s"):format(name, plain(self.graph.n_nodes, "node"),
    plain(self.graph.n_edges, "entry", "entries"), plain(self.features.n_cols, "feature"),
    self.classes and plain(self.classes, "class", "classes")
      or self.targets and plain(self.targets.n_cols, "target") or "no labels")
end

return Dataset
