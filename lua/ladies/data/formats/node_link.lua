--- A graph of NetworkX as JSON, as json.dump(networkx.node_link_data(G), file) writes it:
--
--   nodes      an array of objects: "id", a number or a text, and the node's attributes
--   edges      (or links) an array of objects: "source" and "target", ids; "weight", 1 if absent
--   directed   false: each edge goes both ways
--
-- Of the attributes of nodes are read, each under one of its names:
--
--   y, label, class    the class, a number from 0 on or a text; a node without it is unlabelled
--   x, features        a list of as many numbers for each node
--   split              "train", "val" or "test"

local core = require "ladies_core"
local checks = require "ladies.data.checks"
local json = require "ladies.base.json"
local npz_labels = require "ladies.data.formats.npz_labels"

local node_link = {}

local NAMES = {labels = {"y", "label", "class"}, features = {"x", "features"}, split = {"split"}}

--- Whether the path is that of a JSON file, by its name.
function node_link.fits(path)
  return path:find "%.json$" ~= nil and core.exists(path) == "file"
end

-- The array of objects that the document has under one of the names, and that name.
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

-- The names of nodes -> their numbers, and whether these names are more than numbers.
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

-- The name under which nodes have this attribute, or nil.
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

local function read_labels(context, nodes)
  local key, values, texts = key_of(context, nodes, "labels"), {}, false
  if not key then
    checks.fail(context, "no node has a class: the attribute y (or label, class) is missing")
  end
  for _, node in ipairs(nodes) do texts = texts or type(node[key]) == "string" end
  for i, node in ipairs(nodes) do
    local value = node[key]
    if value == nil then value = texts and "" or -1 end
    if type(value) ~= (texts and "string" or "number") then
      checks.fail(context, "nodes[%d].%s must be a %s, as others are", i - 1, key,
        texts and "text" or "number")
    end
    values[i] = value
  end
  return npz_labels.of_values(context, key, values)
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
  local key, ids = key_of(context, nodes, "split"), {train = {}, val = {}, test = {}}
  if not key then return end
  for i, node in ipairs(nodes) do
    local list = ids[node[key]]
    if list then list[#list + 1] = i end
  end
  for part, list in pairs(ids) do
    fields[part], context.keys[part] = #list > 0 and core.index(list) or nil, key
  end
end

-- The adjacency, where a target hears its source, and how many edges were given more than once.
local function read_adjacency(context, document, number_of, n)
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
  local matrix = core.matrix{n_rows = n, n_cols = n, rows = core.index(ends.target),
    cols = core.index(ends.source), values = weighted and core.tensor(weights) or nil}
  return document.directed and matrix or matrix:symmetrize(), #edges - matrix.nnz
end

--- The fields of the data set in the file at `path`, and the context of messages, as
-- ladies.data.complete takes them.
function node_link.read(path)
  local context = {where = path, shift = -1, keys = {}}
  local document = json.decode(core.file.read(path), path)
  if type(document) ~= "table" then checks.fail(context, "must be an object") end
  local nodes = list_of(context, document, "nodes")
  if #nodes == 0 then checks.fail(context, "has no nodes") end
  local fields = {name = path:match "([^/]*)%.json$", path = path, notes = {},
    source = "NetworkX, node-link JSON"}
  local number_of, texts = number_nodes(context, nodes)
  if texts then
    local names = {}
    for i, node in ipairs(nodes) do names[i] = tostring(node.id) end
    fields.node_names = table.concat(names, "\n")
  end
  fields.adjacency, fields.merged = read_adjacency(context, document, number_of, #nodes)
  fields.labels, fields.class_names = read_labels(context, nodes)
  fields.features = read_features(context, nodes)
  read_split(context, nodes, fields)
  context.keys.class_names, context.keys.node_names = context.keys.labels, "nodes.id"
  return fields, context
end

return node_link
