--- Reads a graph of NetworkX in JSON, as json.dump(networkx.node_link_data(G), file) writes it:
--
--   nodes      an array of objects: "id", a number or a text, and the node's attributes
--   edges      (or links) an array of objects: "source" and "target", ids; "weight", 1 if absent
--   directed   false: each edge goes both ways
--
-- Edges may have these attributes, too, which become data.edges: type (or relation, edge_type), a
-- text or a number from 0 on; time (or timestamp), a whole number; edge_attr (or features), a list
-- of as many numbers for each.
--
-- These attributes of nodes are read, each under one of its names:
--
--   y, label, class    the class, a number from 0 on or a text; a node without it is unlabelled. Or
--                      a target, where these numbers are not all whole, or a list of them
--   x, features        a list of as many numbers for each node
--   split              "train", "val" or "test"

local core = require "ladies_core"
local checks = require "ladies.data.checks"
local columns = require "ladies.data.edges.columns"
local direction = require "ladies.data.direction"
local json = require "ladies.base.json"
local npz_labels = require "ladies.data.formats.npz.labels"
local splits = require "ladies.data.splits"
local tables = require "ladies.base.tables"

local node_link = {}

local NAMES = {labels = {"y", "label", "class"}, features = {"x", "features"}, split = {"split"}}

--- Tells whether the path is that of a JSON file, by its name.
function node_link.fits(path)
  return path:find "%.json$" ~= nil and core.exists(path) == "file"
end

-- Returns the array of objects that the document has under one of these names, and that name.
local function list_of(context, document, ...)
  for _, name in ipairs{...} do
    local list = document[name]
    if type(list) == "table" then
      local count = 0
      for _ in pairs(list) do count = count + 1 end               -- nulls are left out
      for i = 1, math.max(#list, count) do
        if type(list[i]) ~= "table" then
          checks.fail(context, "%s[%d] must be an object", name, i - 1)
        end
      end
      return list, name
    end
  end
  checks.fail(context, "has no array %s: it is no graph of networkx.node_link_data",
    table.concat({...}, " or "))
end

-- Numbers the nodes: returns a table from their ids to their numbers, and whether some ids are
-- texts.
local function number_nodes(context, nodes)
  local number_of, texts = {}, false
  for i, node in ipairs(nodes) do
    local id = node.id
    if type(id) ~= "string" and (type(id) ~= "number" or id ~= id) then
      checks.fail(context, "nodes[%d].id must be a number or a text", i - 1)
    elseif type(id) == "string" and id:find "%c" then
      checks.fail(context, "nodes[%d].id has control characters", i - 1)
    elseif number_of[id] then
      checks.fail(context, "nodes[%d] and nodes[%d] have the same id, %s", number_of[id] - 1,
        i - 1, core.printable(tostring(id)))
    end
    number_of[id], texts = i, texts or type(id) == "string"
  end
  return number_of, texts
end

-- Returns the name that the nodes use for an attribute, one of those in NAMES, or nil.
local function key_of(context, nodes, part)
  local found
  for _, name in ipairs(NAMES[part]) do
    for _, node in ipairs(nodes) do
      if node[name] ~= nil then
        if found then
          checks.fail(context, "nodes have both %s and %s, which are names for the same; keep one "
            .. "of them", found, name)
        end
        found = name
        break
      end
    end
  end
  context.keys[part] = found
  return found
end

-- Adds labels or targets that are lists, equally long for all nodes, in which null is an unknown
-- one.
local function read_lists(context, fields, nodes, key, asked)
  local width, rows = 0, {}
  for _, node in ipairs(nodes) do
    width = math.max(width, type(node[key]) == "table" and #node[key] or 0)
  end
  for i, node in ipairs(nodes) do
    local list, row = node[key], {}
    if list ~= nil and (type(list) ~= "table" or #list ~= width or width == 0) then
      checks.fail(context, "nodes[%d].%s must be a list of %d numbers, as others are", i - 1, key,
        width)
    end
    for j = 1, width do
      row[j] = list and list[j] or 0 / 0
      if type(row[j]) ~= "number" then
        checks.fail(context, "nodes[%d].%s[%d] must be a number", i - 1, key, j - 1)
      end
    end
    rows[i] = row
  end
  npz_labels.add_matrix(context, fields, key, core.tensor(rows), asked)
end

-- Adds the labels or the targets of the nodes to the fields.
local function read_labels(context, fields, nodes, asked)
  local key, values, texts = key_of(context, nodes, "labels"), {}, false
  if not key then
    checks.fail(context, "no node has a class: the attribute y (or label, class) is missing")
  end
  for _, node in ipairs(nodes) do
    texts = texts or type(node[key]) == "string"
    if type(node[key]) == "table" then return read_lists(context, fields, nodes, key, asked) end
  end
  for i, node in ipairs(nodes) do
    local value = node[key]
    if value == nil then value = texts and "" or 0 / 0 end
    if type(value) ~= (texts and "string" or "number") then
      checks.fail(context, "nodes[%d].%s must be a %s, as others are", i - 1, key,
        texts and "text" or "number")
    end
    values[i] = value
  end
  npz_labels.add(context, fields, key, values, asked)
end

local function read_features(context, nodes)
  local key = key_of(context, nodes, "features")
  if not key then return nil end
  local width = type(nodes[1][key]) == "table" and #nodes[1][key] or 0
  local rows = {}
  for i, node in ipairs(nodes) do
    local row = node[key]
    if type(row) ~= "table" or #row ~= width or width == 0 then
      checks.fail(context, "nodes[%d].%s must be a list of %d numbers", i - 1, key,
        math.max(width, 1))
    end
    for j = 1, width do
      if type(row[j]) ~= "number" then
        checks.fail(context, "nodes[%d].%s[%d] must be a number", i - 1, key, j - 1)
      end
    end
    rows[i] = row
  end
  return core.tensor(rows)
end

local function read_split(context, nodes, fields)
  local key, number = key_of(context, nodes, "split"), {}
  if not key then return end
  for i, part in ipairs(checks.SPLIT) do number[part], context.keys[part] = i, key end
  local parts = splits.by_node(tables.map(nodes, function(node)
    return node[key] ~= nil and number[node[key]] or 0
  end))
  for part, ids in pairs(parts) do fields[part] = ids end
end

-- The names of attributes of edges.
local EDGE_NAMES = {types = {"type", "relation", "edge_type"}, times = {"time", "timestamp"},
  features = {"edge_attr", "features"}}

-- Returns the name that edges use for one of these attributes, which all of them must have, or nil.
local function edge_key(context, edges, name, part)
  for _, key in ipairs(EDGE_NAMES[part]) do
    for _, edge in ipairs(edges) do
      if edge[key] ~= nil then
        for i, other in ipairs(edges) do
          if other[key] == nil then
            checks.fail(context, "%s[%d] has no %s, as others have", name, i - 1, key)
          end
        end
        return key
      end
    end
  end
end

-- Returns the list of the edges with their attributes, or nil where there are none and parallel
-- edges are not to be kept. In a graph that is not directed the reverse of each edge is in it, too.
local function list_of_edges(context, document, edges, name, ends, weights, n, parallel)
  local keys, list = {}, {n = n, weights = weights}
  for part in pairs(EDGE_NAMES) do keys[part] = edge_key(context, edges, name, part) end
  if not next(keys) and parallel ~= "keep" then return nil end
  local function values(part)
    return tables.map(edges, function(edge) return edge[keys[part]] end)
  end
  if keys.types and type(edges[1][keys.types]) == "string" then
    list.types, list.type_names = columns.types_of_texts(context, keys.types, values "types")
  elseif keys.types then
    list.types = columns.types_of_numbers(context, keys.types, values "types")
  end
  if keys.times then
    list.times, list.time_origin = columns.times(context, keys.times, values "times")
  end
  if keys.features then
    local rows = values "features"
    for i, row in ipairs(rows) do
      if type(row) ~= "table" or #row == 0 or #row ~= #rows[1] then
        checks.fail(context, "%s[%d].%s must be a list of as many numbers as others have", name,
          i - 1, keys.features)
      end
      for j, x in ipairs(row) do
        if type(x) ~= "number" then
          checks.fail(context, "%s[%d].%s[%d] must be a number", name, i - 1, keys.features, j - 1)
        end
      end
    end
    list.features = core.tensor(rows)
  end
  list.sources, list.targets = core.index(ends.source), core.index(ends.target)
  context.keys.edges = tables.merged(keys, {sources = name, targets = name})
  if document.directed then return list end
  local there, back = {}, {}
  for i = 1, #edges do
    there[i] = i
    if ends.source[i] ~= ends.target[i] then back[#back + 1] = i end
  end
  local both, turned = core.index(there) .. core.index(back), core.index(back)
  for _, part in ipairs{"types", "times", "features", "weights"} do
    list[part] = list[part] and list[part][both]
  end
  list.sources, list.targets = list.sources .. list.targets[turned],
    list.targets .. list.sources[turned]
  return list
end

-- Reads the adjacency; returns it and how many edges were given more than once. Where edges have
-- more than weights it returns their list, third, instead.
local function read_adjacency(context, document, number_of, n, parallel)
  local edges, name = list_of(context, document, "edges", "links")
  local ends, weights, weighted = {source = {}, target = {}}, {}, false
  context.keys.adjacency = name
  for i, edge in ipairs(edges) do
    for _, which in ipairs{"source", "target"} do
      ends[which][i] = number_of[edge[which]]
      if not ends[which][i] then
        checks.fail(context, "%s[%d].%s is %s, which no node has as its id", name, i - 1, which,
          core.printable(tostring(edge[which])))
      end
    end
    weights[i] = edge.weight or 1
    if type(weights[i]) ~= "number" then
      checks.fail(context, "%s[%d].weight must be a number", name, i - 1)
    end
    weighted = weighted or weights[i] ~= 1
  end
  local list = list_of_edges(context, document, edges, name, ends,
    weighted and core.tensor(weights) or nil, n, parallel)
  if list then return nil, nil, list end
  local matrix, merged = direction.matrix(n, core.index(ends.source), core.index(ends.target),
    weighted and core.tensor(weights) or nil)
  return document.directed and matrix or matrix:symmetrize(), merged
end

--- Reads the fields of the data set in the file at `path`, and the context of messages, as
-- ladies.data.complete takes them.
function node_link.read(path, opts)
  local context = {where = path, shift = -1, keys = {}}
  local document = json.decode(core.file.read(path), path)
  if type(document) ~= "table" then checks.fail(context, "must be an object") end
  local nodes = list_of(context, document, "nodes")
  if #nodes == 0 then checks.fail(context, "has no nodes") end
  local fields = {name = path:match "([^/]*)%.json$", path = path, notes = {},
    source = "NetworkX, node-link JSON"}
  local number_of, texts = number_nodes(context, nodes)
  if texts then
    local names = tables.map(nodes, function(node) return tostring(node.id) end)
    fields.node_names = table.concat(names, "\n")
  end
  fields.adjacency, fields.merged, fields.edge_list = read_adjacency(context, document, number_of,
    #nodes, opts.parallel)
  read_labels(context, fields, nodes, opts.labels_as)
  fields.features = read_features(context, nodes)
  read_split(context, nodes, fields)
  context.keys.class_names, context.keys.node_names = context.keys.labels, "nodes.id"
  return fields, context
end

return node_link
