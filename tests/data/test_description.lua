--- The whole text that `ladies info` prints for known data sets.
local lu = require "luaunit"
local description = require "ladies.data.about.description"
local ladies = require "ladies"

local index, tensor = ladies.index, ladies.tensor
local tests = {}

-- A matrix of n nodes with the entries {row, column, value}.
local function graph(n, entries)
  local rows, cols, values = {}, {}, {}
  for i, entry in ipairs(entries) do rows[i], cols[i], values[i] = table.unpack(entry) end
  return ladies.matrix{n_rows = n, n_cols = n, rows = index(rows), cols = index(cols),
    values = values[1] and tensor(values)}
end

function tests.test_weights_and_loops()
  local data = ladies.data.from_arrays{name = "one",
    graph = graph(6, {{1, 2, 0.5}, {2, 1, 0.5}, {2, 3, 2}, {3, 2, 2}, {4, 4, 1}}),
    features = ladies.sparse(tensor{{1, 0}, {0, 2}, {0, 0}, {3, 0}, {0, 0}, {1, 1}}),
    labels = index{1, 2, 3, 4, 0, 1}, class_names = {"a", "b", "c", "d"},
    train = index{1, 2}, val = index{3}, test = index{4}}
  lu.assertEquals(description.full(data, 40), [[
one
  nodes      6, 3 isolated
  edges      3, each stored both ways, weights 0.5 to 2, self-loops, stored once: 1
  entries    5
  components 4, the largest with 3 nodes (50.0 %)
  features   2, sparse: 5 entries, 41.67 %, values 1 to 3
  classes    4: a, b, c, d; unlabelled: 1
  split      2 train, 1 val, 1 test
  source     arrays of a script

classes
  a  2  ################################
  b  1  ################
  c  1  ################
  d  1  ################

degrees: mean 0.83, median 1, largest 2
    0  2  ####################
    1  3  ##############################
  2-3  1  ##########]])
end

function tests.test_many_classes()
  local data = ladies.data.from_arrays{name = "two",
    graph = graph(4, {{1, 2}, {2, 1}, {2, 3}, {3, 2}, {3, 4}, {4, 3}}),
    features = ladies.ones(4, 3), labels = index{1, 2, 3, 5},
    class_names = {"a", "b", "c", "d", "e"}}
  lu.assertEquals(description.short(data), [[
two
  nodes      4, 0 isolated
  edges      3, each stored both ways
  entries    6
  components 1: all nodes are connected
  features   3, dense, values 1 to 1
  classes    5: a, b, c, d, ...
  split      none (see ladies.data.split)
  source     arrays of a script]])
end

function tests.test_several_classes()
  local data = ladies.data.from_arrays{name = "three", graph = graph(3, {{1, 2}, {3, 1}}),
    features = ladies.sparse(tensor{{1, 0}, {0, 1}, {1, 1}}), directed = "keep",
    labels = tensor{{1, 1}, {0, 0}, {1, 0}}, train = index{1}}
  lu.assertEquals(description.short(data), [[
three
  nodes      3, 0 isolated
  edges      2, directed (kept as given)
  entries    2, nodes that hear nobody: 1
  components 1: all nodes are connected, whichever way edges go
  features   2, sparse: 4 ones, 66.67 %
  classes    2; 1.00 a node; in none: 1
  split      1 train
  source     arrays of a script]])
end

--- Of edges that are kept as they are a degree counts those to a node.
function tests.test_directed_degrees()
  local data = ladies.data.from_arrays{name = "star", edges = {{1, 2}, {1, 3}, {1, 4}},
    features = ladies.ones(4, 1), labels = index{1, 2, 1, 2}, directed = "keep"}
  lu.assertStrContains(description.full(data, 40), [[
degrees, edges to a node: mean 0.75, median 1, largest 1
]])
end

--- A text of any length is cut, whoever shows it: the name of a data set, of a class or of a node.
function tests.test_endless_names()
  local endless = ("x"):rep(10 ^ 7)
  local data = ladies.data.from_arrays{name = endless, source = endless, labels = {1, 2},
    edges = {{1, 2}, {2, 1}}, features = ladies.ones(2, 1), class_names = {endless, "b"},
    train = {1}, val = {2}}
  for name, text in pairs{describe = data:describe(), tostring = tostring(data),
    show = ladies.show(data), full = description.full(data, 80),
    missing = select(2, data:find_node(endless))} do
    for line in text:gmatch "[^\n]+" do
      lu.assertTrue(#line <= 1100, ("%s has a line of %d bytes"):format(name, #line))
    end
  end
  lu.assertEquals(utf8.len(description.name(("ü"):rep(10 ^ 6))), 500)
  lu.assertEquals(description.name("ü\27"), "ü\\x1b")
end

return tests
