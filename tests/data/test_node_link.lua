--- Graphs of NetworkX as JSON: one that it wrote (fixtures/make_networkx.py), small ones by hand,
-- and what is said of those that are wrong.
local here = os.getenv "LADIES_SOURCE" .. "/tests"

local lu = require "luaunit"
local ladies = require "ladies"
local files = require "tools.files"
local message_of = require "tools.message_of"

local tests = {}
local scratch = os.tmpname()
local PATH = scratch .. ".json"

function tests.tearDown()
  os.remove(scratch)
  os.remove(PATH)
end

--- Zachary's club: 78 friendships of 34 members, those of 0 and 1 of weight 4.
function tests.test_what_networkx_wrote()
  local data = ladies.data.load(here .. "/fixtures/karate.json")
  local adjacency = data.graph.adjacency
  lu.assertEquals({data.name, data.graph.n_nodes, adjacency.nnz}, {"karate", 34, 156})
  lu.assertTrue(adjacency:is_symmetric())
  lu.assertEquals(adjacency:entry_values():sum():item(), 2 * 231)       -- all encounters, twice
  lu.assertEquals(#data.notes, 0)
  lu.assertEquals(data.class_names, {"Mr. Hi", "Officer"})
  lu.assertEquals({data.labels[1], data.labels[34], data.labels[32]}, {1, 2, 0})
  lu.assertEquals(data.features[8]:to_table(), {7, 0.5})
  lu.assertEquals(data.val:to_table(), {2, 6, 10, 14, 18, 22, 26, 30, 34})
  lu.assertNil(data.node_names)
end

local function load(text, opts)
  files.write(PATH, text)
  return ladies.data.load(PATH, opts)
end

function tests.test_directions_names_and_weights()
  local text = [[{"directed": true, "links": [{"source": "a", "target": 7, "weight": 2},
    {"source": 7, "target": "é"}, {"source": "a", "target": 7}],
    "nodes": [{"id": "a", "y": 0}, {"id": 7, "y": 1}, {"id": "é", "y": null}]}]]
  local data = load(text, {directed = "keep", make_features = "identity"})
  lu.assertEquals(data.graph.adjacency:to_dense():to_table(), {{0, 0, 0}, {3, 0, 0}, {0, 1, 0}})
  lu.assertEquals(data.labels:to_table(), {1, 2, 0})
  lu.assertEquals({data.node_names[1], data.node_names[2], data.node_names[3]}, {"a", "7", "é"})
end

function tests.test_what_is_refused()
  local function graph(nodes, edges)
    return ('{"nodes": [%s], "edges": [%s]}'):format(nodes, edges or "")
  end
  for text, message in pairs{
    ["{"] = "is not valid JSON", ["3"] = "must be an object",
    ["{}"] = "has no array nodes: it is no graph of networkx.node_link_data",
    [graph ""] = "has no nodes", [graph "1"] = "nodes[0] must be an object",
    ['{"nodes": [{"id": 1}]}'] = "has no array edges or links",
    [graph '{"y": 1}'] = "nodes[0].id must be a number or a text",
    [graph '{"id": NaN}'] = "nodes[0].id must be a number or a text",
    [graph '{"id": 1}, null, {"id": 2}'] = "nodes[1] must be an object",
    [graph 'null, {"id": 1}'] = "nodes[0] must be an object",
    ['{"nodes": {"a": 1}}'] = "nodes[0] must be an object",
    [graph '{"id": [1, 2]}'] = "nodes[0].id must be a number or a text",
    [graph '{"id": "a\\nb"}'] = "nodes[0].id has control characters",
    [graph '{"id": 1}, {"id": 1}'] = "nodes[0] and nodes[1] have the same id, 1",
    [graph '{"id": 1}'] = "no node has a class: the attribute y (or label, class) is missing",
    [graph '{"id": 1, "y": 1}, {"id": 2, "label": 1}'] = "nodes have both y and label",
    [graph '{"id": 1, "y": 1}, {"id": 2, "y": "b"}'] = "nodes[0].y must be a text, as others are",
    [graph '{"id": 1, "y": true}'] = "nodes[0].y must be a number",
    [graph '{"id": 1, "y": -3}'] = "y[0] is -3, must be a class from 0 on",
    [graph '{"id": 1, "y": [1, 2]}, {"id": 2, "y": [1]}'] =
      "nodes[1].y must be a list of 2 numbers",
    [graph '{"id": 1, "y": [0.5]}, {"id": 2, "y": 1}'] = "nodes[1].y must be a list of 1 numbers",
    [graph '{"id": 1, "y": [0.5, "a"]}'] = "nodes[0].y[1] must be a number",
    [graph '{"id": 1, "y": 1, "x": []}'] = "nodes[0].x must be a list of 1 numbers",
    [graph '{"id": 1, "y": 1, "x": [1]}, {"id": 2, "x": [1, 2]}'] = "nodes[1].x must be a list of",
    [graph '{"id": 1, "y": 1, "x": [1, "a"]}'] = "nodes[0].x[1] must be a number",
    [graph('{"id": 1, "y": 1}', '{"source": 1}')] = "edges[0].target is nil, which no node has",
    [graph('{"id": 1, "y": 1}', '{"source": 2, "target": 1}')] = "edges[0].source is 2, which no",
    [graph('{"id": 1, "y": 1}', '{"source": 1, "target": 1, "weight": "a"}')] =
      "edges[0].weight must be a number",
    [graph('{"id": 1, "y": 1}', "5")] = "edges[0] must be an object",
  } do
    local found = message_of(load, text)
    lu.assertStrContains(found, PATH)
    lu.assertStrContains(found, message)
  end
end

return tests
