--- Tests the description of a data set: its facts, their words, and the components of graphs.
local lu = require "luaunit"
local ladies = require "ladies"
local facts = require "ladies.data.about.facts"
local shell = require "tools.shell"
local tables = require "ladies.base.tables"

local index = ladies.index

local tests = {}

-- ---------------------------------------------------------------- components

-- The components by spreading from each node in turn; the slow reference.
local function spread(A)
  local n, neighbours, component, count = A.n_rows, {}, {}, 0
  for i = 1, n do neighbours[i] = {} end
  local rows, columns = A:row_of():to_table(), A:col_of():to_table()
  for e = 1, #rows do
    table.insert(neighbours[rows[e]], columns[e])
    table.insert(neighbours[columns[e]], rows[e])
  end
  for i = 1, n do
    if not component[i] then
      count = count + 1
      local open = {i}
      component[i] = count
      while #open > 0 do
        for _, other in ipairs(neighbours[table.remove(open)]) do
          if not component[other] then
            component[other] = count
            open[#open + 1] = other
          end
        end
      end
    end
  end
  return component, count
end

function tests.test_components_against_the_reference()
  local rng = ladies.rng(1)
  for n = 1, 60 do
    for _, entries in ipairs{0, n // 3, n, 3 * n} do
      local rows, columns = {}, {}
      for e = 1, entries do rows[e], columns[e] = rng:below(n), rng:below(n) end
      local A = ladies.matrix{n_rows = n, n_cols = n, rows = index(rows), cols = index(columns)}
      local ids, count = A:components()
      lu.assertEquals({ids:to_table(), count}, {spread(A)})
    end
  end
end

--- Long paths, in an order that makes deep trees.
function tests.test_components_of_paths()
  local n = 20000
  local order = ladies.sampling.permutation(n, ladies.rng(3))
  for _, nodes in ipairs{ladies.range(1, n), order} do
    local A = ladies.matrix{n_rows = n, n_cols = n,
      rows = nodes:slice(1, n - 1), cols = nodes:slice(2, n)}
    local ids, count = A:components()
    lu.assertEquals({count, ids:min(), ids:max()}, {1, 1, 1})
  end
end

function tests.test_components_of_what_is_no_graph()
  local A = ladies.matrix{n_rows = 2, n_cols = 3, rows = index{1}, cols = index{3}}
  lu.assertErrorMsgContains("a square matrix expected, got 2 x 3", A.components, A)
  local empty = ladies.matrix{n_rows = 0, n_cols = 0, rows = index{}, cols = index{}}
  lu.assertEquals({#empty:components(), select(2, empty:components())}, {0, 0})
end

-- ---------------------------------------------------------------- symmetry and loops

function tests.test_symmetry_against_the_reference()
  local rng = ladies.rng(2)
  local symmetric = 0
  for trial = 1, 300 do
    local n, rows, columns, values = 3, {}, {}, {}
    for e = 1, 4 do rows[e], columns[e], values[e] = rng:below(n), rng:below(n), rng:below(2) end
    local A = ladies.matrix{n_rows = n, n_cols = n, rows = index(rows), cols = index(columns),
      values = trial % 2 == 0 and ladies.tensor(values) or nil}
    local dense, same, loops = A:to_dense():to_table(), true, 0
    for i = 1, n do
      loops = loops + (dense[i][i] ~= 0 and 1 or 0)
      for j = 1, n do same = same and dense[i][j] == dense[j][i] end
    end
    lu.assertEquals({A:is_symmetric(), A:loops()}, {same, loops})
    symmetric = symmetric + (same and 1 or 0)
  end
  lu.assertTrue(symmetric > 20 and symmetric < 280)
end

-- ---------------------------------------------------------------- facts

local function small(given)
  return ladies.data.from_arrays(tables.merged({edges = {{1, 2}, {2, 3}, {2, 3}, {4, 4}},
    labels = {1, 2, 1, 0, 1}, features = ladies.ones(5, 2), train = {1}, test = {2, 3}}, given))
end

function tests.test_facts()
  lu.assertEquals(small():facts(), {
    kept = false, nodes = 5, entries = 5, edges = 3, directed = false, self_loops = 1,
    isolated = 2, merged = 1,
    components = 3, largest = 3, class_sizes = {3, 1}, unlabelled = 1,
    split = {train = 1, test = 2},
    features = {columns = 2, sparse = false, stored = 10, density = 1, values = {1, 1}},
  })
  local known = small{directed = "keep", features = ladies.sparse(ladies.tensor{{2, 0}, {0, 0},
    {0, 0}, {0, 0}, {0, 4}})}:facts()
  lu.assertEquals({known.directed, known.entries, known.edges, known.isolated, known.empty_rows},
    {true, 3, 3, 2, 2})
  lu.assertEquals(known.features,
    {columns = 2, sparse = true, stored = 2, density = 0.2, values = {2, 4}})
end

--- Where there are no edges nothing is said of them, and equal edges of a list are not kept apart.
function tests.test_words_of_edges()
  local text = small{edges = {}}:describe()
  lu.assertStrContains(text, "\n  edges      0\n")
  lu.assertStrContains(text, "the largest with 1 node (20.0 %)")
  lu.assertStrContains(small{parallel = "keep"}:describe(), "\n  edge data  their ends alone; "
    .. "equal ones are one edge\n")
  lu.assertStrContains(small{parallel = "keep", edges = {{1, 2}, {2, 3}}}:describe(), "parallel "
    .. "edges are kept")
end

--- A node that hears nobody and is heard is not isolated; one with an edge to itself alone is.
function tests.test_isolated_nodes_of_a_directed_graph()
  local edges = {{1, 2}, {1, 3}, {4, 2}, {5, 5}}
  local kept = small{edges = edges, directed = "keep"}
  lu.assertEquals({kept.graph:n_isolated(), kept:facts().isolated, kept:facts().empty_rows},
    {1, 1, 2})
  lu.assertStrContains(kept:describe(), "\n  nodes      5, 1 isolated\n")
  lu.assertStrContains(kept:describe(), "\n  entries    4, nodes that hear nobody: 2\n")
  lu.assertEquals(small{edges = edges}.graph:n_isolated(), 1)
end

function tests.test_times_are_told()
  local data = small{edge_times = {7, -5, 3, 0}}
  lu.assertEquals(data:facts().edge_parts.times, {-5, 7})
  lu.assertStrContains(data:describe(), "\n  edge data  times: -5 to 7")
  lu.assertNil(small{edges = {}, edge_times = {}}:facts().edge_parts.times)
end

function tests.test_degree_bins()
  -- A star of 9 nodes and an isolated one: degrees 8, 1 (8 times), 0.
  local centre, rim = {}, {}
  for i = 1, 8 do centre[i], rim[i] = 1, i + 1 end
  local A = ladies.matrix{n_rows = 10, n_cols = 10, rows = index(centre), cols = index(rim)}
  local star = facts.degrees(ladies.graph.new(A:symmetrize()))
  lu.assertEquals(star, {mean = 1.6, median = 1, most = 8,
    bins = {{0, 0, 1}, {1, 1, 8}, {2, 3, 0}, {4, 7, 0}, {8, 15, 1}}})
  local none = ladies.matrix{n_rows = 2, n_cols = 2, rows = index{}, cols = index{}}
  lu.assertEquals(facts.degrees(ladies.graph.new(none)),
    {mean = 0, median = 0, most = 0, bins = {{0, 0, 2}}})
end

--- A drawing of a node has what is within one edge, or as many as are asked for.
function tests.test_drawing_of_a_node()
  lu.assertStrContains(small():draw(1):svg(), "1, 2 nodes within 1 edge<")
  lu.assertStrContains(small():draw(1, {hops = 2}):svg(), "1, 3 nodes within 2 edges<")
end

-- ---------------------------------------------------------------- the command

-- Numbers counted apart from our code, by a Python script over the same file.
local WORDNET = [[
wordnet
  nodes      117,659, 1,009 isolated
  edges      183,789, each stored both ways
  entries    367,578
  edge data  types: 31; 375,148 edges share the entries
  components 1,377, the largest with 115,426 nodes (98.1 %)
  features   1,000, sparse: 480,698 ones, 0.41 %
  classes    45: adj.all, adj.pert, adv.all, noun.Tops, ...
  split      11,766 train, 11,766 val, 94,127 test
  source     WordNet 3.0, Princeton University; made by scripts/make_wordnet.lua
  file       ]]

local DEGREES = [[
degrees: mean 3.12, median 2, largest 674
          0   1,009  #
          1  44,093  ######################################################
        2-3  48,333  ###########################################################
        4-7  16,677  ####################
       8-15   5,516  #######
      16-31   1,493  ##
      32-63     358  #
     64-127     115  #
    128-255      47  #
    256-511      15  #
  512-1,023       3  #
]]

function tests.test_wordnet()
  local out = shell.silent(shell.run_ladies{"info", "wordnet"})
  lu.assertEquals(out:sub(1, #WORDNET), WORDNET)
  lu.assertEquals(out:sub(-#DEGREES), DEGREES)
  lu.assertStrContains(out, "\n  noun.communication   5,607  ###################\n")
  for line in out:gmatch "[^\n]+" do lu.assertTrue(#line <= 80 or line:find "^  file" ~= nil) end
end

function tests.test_bars_fit_the_terminal()
  local description = require "ladies.data.about.description"
  for _, width in ipairs{1, 20, 40, 200} do
    local widest = 0
    for line in description.full(small(), width):match "classes\n(.*)":gmatch "[^\n]+" do
      if line:find "#$" then widest = math.max(widest, #line) end
    end
    lu.assertEquals(widest, math.max(width, 11))
  end
end

--- The folder where one is, by its name: ".", "..", and what is in it.
function tests.test_dots()
  local place <close> = shell.folder()
  local function info(folder, ...)
    local out, err, status = shell.run_ladies({"info", ...}, {folder = place.path .. folder})
    return status == 0 and out:gsub("  file [^\n]*", "") or err, status
  end
  ladies.folder.make(place.path .. "/triangle/below")
  local function write(name, text) ladies.file.write(place.path .. "/triangle/" .. name, text) end
  write("edges.csv", "0,1\n1,2\n2,0\n1,0\n2,1\n0,2\n")
  write("labels.csv", "0\n1\n1\n")
  write("features.csv", "0.5,1\n1,2\n2,1\n")
  local expected = info("", "./triangle")
  lu.assertStrContains(expected, "triangle\n  nodes      3, 0 isolated\n")
  lu.assertEquals(info("/triangle", "."), expected)
  lu.assertEquals(info("/triangle", "./"), expected)
  lu.assertEquals(info("/triangle/below", ".."), expected)
  lu.assertEquals(info("/triangle", "edges.csv"), expected)
  ladies.data.save(ladies.data.load(place.path .. "/triangle"), place.path .. "/graph.npz")
  local err, status = info("", ".")
  lu.assertEquals({err, status}, {"ladies info: ladies.data.load: . is a folder in no format that "
    .. "is known; of the files in it, ./graph.npz may be a data set\n", 1})
  lu.assertEquals(info("/triangle/below", "."), "ladies info: ladies.data.load: . is in no format "
    .. "that is known; see doc/data.md\n")
end

function tests.test_errors()
  local _, err, status = shell.run_ladies{"info"}
  lu.assertStrMatches(err, "ladies info: which data set%? ladies info NAME|PATH; [^\n]*\n")
  lu.assertEquals(status, 1)
  _, err, status = shell.run_ladies{"info", "wordnett"}
  lu.assertStrMatches(err,
    'ladies info: [^\n]*no data set "wordnett"; did you mean "wordnet"%?[^\n]*\n')
  lu.assertEquals(status, 1)
  _, err, status = shell.run_ladies{"info", "wordnet", "cora"}
  lu.assertStrMatches(err, 'ladies info: unexpected "cora"[^\n]*\n')
  lu.assertEquals(status, 2)
end

return tests
