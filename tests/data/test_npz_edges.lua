--- Tests data sets as .npz files with a list of edges: what each form of an array becomes, and the
-- errors for other forms.
local lu = require "luaunit"
local ladies = require "ladies"
local notes = require "ladies.data.notes"
local temporary = require "reference.temporary"

local npz, tensor, ones = ladies.npz, ladies.tensor, ladies.ones
local tests = {}

notes.tell = function() end      -- here they are read from data.notes

local path = temporary.path "edges.npz"
local RING = {{0, 1, 2}, {1, 2, 0}}

-- The data set of a ring of three nodes, whose arrays may be others or (false) left out.
local function load(own)
  local arrays = {edge_index = npz.int64(RING), y = npz.int64{0, 1, 0}, x = ones(3, 1),
    train_mask = npz.bool{1, 0, 0}}
  for name, value in pairs(own or {}) do arrays[name] = value or nil end
  npz.write(path, arrays)
  return ladies.data.load(path, {directed = "keep"})
end

local function dense(data) return data.graph.adjacency:to_dense():to_table() end

function tests.test_edges()
  local ring = {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}}               -- rows hear columns
  local weighted = {{0, 0, 4}, {2, 0, 0}, {0, 3, 0}}
  for _, own in ipairs{
    {}, {edge_index = npz.int64{{0, 1}, {1, 2}, {2, 0}}},
    {edge_index = false, edges = npz.int64(RING)}, {num_nodes = npz.int64{3}},
  } do
    lu.assertEquals(dense(load(own)), ring)
  end
  for _, name in ipairs{"edge_weight", "edge_weights", "weight", "weights"} do
    lu.assertEquals(dense(load{[name] = tensor{2, 3, 4}}), weighted, name)
  end
  lu.assertEquals(dense(load{weights = tensor{{2}, {3}, {4}}}), weighted)
end

function tests.test_labels()
  for _, case in ipairs{
    {npz.int64{0, 1, 0}, {1, 2, 1}}, {tensor{0, 0 / 0, 1}, {1, 0, 2}},
    {tensor{{0}, {1}, {-1}}, {1, 2, 0}}, {npz.bytes{"b", "", "a"}, {2, 0, 1}},
  } do
    local data = load{y = case[1]}
    lu.assertEquals({data.classes, data.labels:to_table()}, {2, case[2]})
  end
  lu.assertEquals(load{y = npz.bytes{"b", "", "a"}}.class_names, {"a", "b"})
  lu.assertEquals(load{y = false, node_labels = npz.int64{1, 0, 0}}.labels:to_table(), {2, 1, 1})
end

--- A mask may be one column, or one row.
function tests.test_masks()
  for _, mask in ipairs{npz.bool{1, 0, 1}, tensor{{1}, {0}, {1}}, tensor{{1, 0, 1}}} do
    lu.assertEquals(load{train_mask = mask}.train:to_table(), {1, 3})
  end
end

function tests.test_several_classes()
  local several = load{y = tensor{{0, 1}, {1, 1}, {0, 0}}}
  lu.assertTrue(several.multilabel)
  lu.assertEquals(several.labels:to_table(), {{0, 1}, {1, 1}, {0, 0}})
  local one = ": y has exactly one 1 in each row and is taken as several classes a node; for one "
    .. "class, give numbers (in Python, y.argmax(1))"
  local function said(cells) return load{y = tensor(cells)}.notes end
  lu.assertEquals(said{{0, 1}, {1, 0}, {0, 1}}, {path .. one})
  for _, cells in ipairs{{{0, 1}, {1, 1}, {0, 1}}, {{0, 1}, {0, 0}, {0, 1}},
    {{0, 1}, {-1, -1}, {0, 1}}} do
    lu.assertEquals(said(cells), {})
  end
end

function tests.test_what_is_not_used()
  lu.assertEquals(load{edge_attr = ones(3, 1), other = ones(1)}.notes,
    {path .. ": not used: other"})
end

function tests.test_numbers_that_may_be_types()
  lu.assertEquals(load{edge_attr = npz.int64{0, 1, 0}}.notes, {path .. ": edge_attr, one whole "
    .. "number for each edge, is a feature; what numbers types of edges is called edge_type"})
  for _, own in ipairs{{edge_attr = tensor{0, 1, 0}}, {edge_attr = npz.int64{{0}, {1}, {0}}},
    {edge_attr = npz.int64{0, 1, 0}, edge_type = npz.int64{0, 1, 0}}} do
    lu.assertEquals(load(own).notes, {})
  end
end

function tests.test_refused()
  for _, case in ipairs{
    {"edge_index is 3, must be 2 x edges", {edge_index = npz.int64{0, 1, 2}}},
    {"edge_index is 3 x 3, must be 2 x edges",
      {edge_index = npz.int64{{0, 1, 2}, {1, 2, 0}, {1, 1, 1}}}},
    {"edge_index[2] is 3, must be in 0..2", {edge_index = npz.int64{{0, 1, 3}, {1, 2, 0}}}},
    {"edge_index[2] is -1, must be in 0..2", {edge_index = npz.int64{{0, 1, -1}, {1, 2, 0}}}},
    {"edge_weight has length 2, must have 3, one for each edge", {edge_weight = tensor{1, 2}}},
    {"edge_weight must be finite numbers, got 2 NaN or infinite, the first at edge_weight[1]",
      {edge_weight = tensor{1, 0 / 0, 1 / 0}}},
    {"num_nodes is 4, but x has 3 rows", {num_nodes = npz.int64{4}}},
    {"num_nodes is 4, but y has 3 rows", {num_nodes = npz.int64{4}, x = false}},
    {"has edge_index but no labels: y, the class or the targets of each node, is missing",
      {y = false}},
    {"has edges but no labels: y, the class or the targets of each node, is missing",
      {y = false, edge_index = false, edges = npz.int64(RING)}},
    {"y[1] is -3.0, must be a class from 0 on, or -1 or nan for none", {y = tensor{0, -3, 0}}},
    {"y[1] is -2.0, must be a class from 0 on, or -1 or nan for none", {y = tensor{0, -2, 0}}},
    {"y[1, 1] is 2, must be 0 or 1, or all of the row -1 or NaN: a node without a label",
      {y = tensor{{0, 1}, {1, 2}, {0, 1}}}},
    {"edge_index[2] is 2, must be in 0..1", {x = ones(2, 1)}},
  } do
    local ok, message = pcall(load, case[2])
    lu.assertFalse(ok, case[1])
    lu.assertEquals(message:gsub("^[^\n]-%.lua:%d+: ", ""), path .. ": " .. case[1])
  end
end

return tests
