--- Generated graphs: their shape, their statistics, and that they depend on their options alone.
local lu = require "luaunit"
local ladies = require "ladies"
local shell = require "tools.shell"

local generate, rng = ladies.generate, ladies.rng

local tests = {}

-- Labels 1 .. k in turn, and weights 1, 2, 4, 8 in long runs, so that the two are unrelated.
local function cyclic_labels(n, k)
  local labels = {}
  for i = 1, n do labels[i] = (i - 1) % k + 1 end
  return ladies.index(labels)
end

local function run_weights(n)
  local weights = {}
  for i = 1, n do weights[i] = 1 << ((i - 1) * 4 // n) end
  return ladies.tensor(weights)
end

--- Asserts that `found` of n independent trials is what probability p gives, within four standard
-- errors.
local function assert_share(found, n, p)
  local error_of_share = math.sqrt(p * (1 - p) / n)
  lu.assertTrue(math.abs(found / n - p) <= 4 * error_of_share + 1e-12,
    ("%d of %d, expected %.4f +- %.4f"):format(found, n, p, error_of_share))
end

--- Asserts that a matrix is a simple undirected graph with sorted rows; looks at every entry.
local function assert_simple(A, n, entries)
  lu.assertEquals({A.n_rows, A.n_cols, A.nnz}, {n, n, entries})
  lu.assertNil(A.values)
  local rows, columns, seen = A:row_of():to_table(), A:col_of():to_table(), {}
  for e = 1, #rows do
    if e > 1 and rows[e] == rows[e - 1] then lu.assertTrue(columns[e] > columns[e - 1]) end
    lu.assertNotEquals(rows[e], columns[e])
    seen[rows[e] * (n + 1) + columns[e]] = true
  end
  for e = 1, #rows do lu.assertTrue(seen[columns[e] * (n + 1) + rows[e]]) end
  lu.assertTrue(A:is_symmetric())
end

-- Counts the entries that join two nodes of one class.
local function count_inside(A, labels)
  local a, b, inside = labels[A:row_of()]:to_table(), labels[A:col_of()]:to_table(), 0
  for e = 1, #a do inside = inside + (a[e] == b[e] and 1 or 0) end
  return inside
end

-- ---------------------------------------------------------------- nodes

function tests.test_labels()
  local labels = generate.labels(1000, ladies.tensor{1, 3, 6}, rng(1))
  lu.assertEquals(labels:counts(3), {100, 300, 600})
  lu.assertNotEquals(labels:hash(), labels:sort():hash())
  lu.assertNotEquals(labels:hash(), generate.labels(1000, ladies.tensor{1, 3, 6}, rng(2)):hash())
  -- A class has at least one node, however small its share is.
  local function counts(n, ...)
    return generate.labels(n, ladies.tensor{...}, rng(1)):counts(select("#", ...))
  end
  lu.assertEquals(counts(5, 1e-6, 1, 1e-6, 1e-6), {1, 2, 1, 1})
  lu.assertEquals(counts(3, 1, 1e-6, 1e-6), {1, 1, 1})
  lu.assertErrorMsgContains("4 classes for 3 nodes", generate.labels, 3, ladies.ones(4), rng(1))
  lu.assertErrorMsgContains("[2] is -1", generate.labels, 3, ladies.tensor{1, -1}, rng(1))
  lu.assertErrorMsgContains("[1] is 0", generate.labels, 3, ladies.tensor{0, 1}, rng(1))
end

function tests.test_weights()
  local n = 40000
  local weights = generate.weights(n, 2.3, rng(1)):to_table()
  local least, most, above = math.huge, 0, {[2] = 0, [10] = 0}
  for _, w in ipairs(weights) do
    least, most = math.min(least, w), math.max(most, w)
    for bound, count in pairs(above) do above[bound] = count + (w > bound and 1 or 0) end
  end
  lu.assertTrue(least >= 1)
  lu.assertEquals(most, 50)  -- sqrt(n) / 4
  for bound, count in pairs(above) do assert_share(count, n, bound ^ -1.3) end
  lu.assertEquals(generate.weights(9, 2, rng(1)):to_table(), ladies.ones(9):to_table())
  lu.assertErrorMsgContains("the exponent must be above 1, got 1", generate.weights, 9, 1, rng(1))
end

function tests.test_features()
  local n, labels = 8000, cyclic_labels(8000, 2)
  local means = ladies.tensor{{1, 2, 3, 4, 5}, {-1, 0, 0, 0, 10}}
  local features = generate.features(labels, means, rng(1))
  local noise = features - means:gather(labels)
  for class = 1, 2 do
    local ids = {}
    for i = class, n, 2 do ids[#ids + 1] = i end
    local own = noise[ladies.index(ids)]
    for _, sum in ipairs(own:col_sums():to_table()) do
      lu.assertTrue(math.abs(sum) <= 4 * math.sqrt(#ids))
    end
  end
  -- The noise has variance 1, and fourth moment 3, as the normal distribution has.
  local cells = n * 5
  local square = noise:square()
  lu.assertTrue(math.abs(square:sum():item() / cells - 1) <= 4 * math.sqrt(2 / cells))
  lu.assertTrue(math.abs(square:square():sum():item() / cells - 3) <= 4 * math.sqrt(96 / cells))
  -- Neighbouring numbers, two of which come from one draw, are unrelated.
  local product = 0
  for i = 1, n do product = product + noise:get(i, 1) * noise:get(i, 2) end
  lu.assertTrue(math.abs(product) <= 4 * math.sqrt(n))
  lu.assertErrorMsgContains("label", generate.features, ladies.index{3}, means, rng(1))
  lu.assertErrorMsgContains("means must be a matrix", generate.features, labels, ladies.ones(2),
    rng(1))
end

-- ---------------------------------------------------------------- power law

function tests.test_power_law_graph_is_simple()
  for seed = 1, 3 do
    local A = generate.chung_lu(generate.weights(500, 2.1, rng(seed)), cyclic_labels(500, 7), 12346,
      0.8, rng(seed))
    assert_simple(A, 500, 12346)
  end
  for _, labels in ipairs{{1, 2}, {2, 1}, {5, 1}} do
    assert_simple(generate.chung_lu(ladies.ones(2), ladies.index(labels), 2, 0, rng(1)), 2, 2)
  end
  assert_simple(generate.chung_lu(ladies.ones(3), ladies.index{1, 2, 1}, 0, 0, rng(1)), 3, 0)
  assert_simple(generate.chung_lu(ladies.zeros(0), ladies.index{}, 0, 0, rng(1)), 0, 0)
end

--- A complete graph is found, however many rounds it takes: the rounds after the first add to the
-- edges that are there.
function tests.test_complete_graphs()
  for n = 2, 40, 19 do
    local A = generate.chung_lu(ladies.ones(n), cyclic_labels(n, 2), n * (n - 1), 0.5, rng(n))
    assert_simple(A, n, n * (n - 1))
  end
end

function tests.test_degrees_follow_the_weights()
  local n, entries = 20000, 50000
  local A = generate.chung_lu(run_weights(n), cyclic_labels(n, 4), entries, 0.7, rng(1))
  local degrees, sums = A:degrees():to_table(), {0, 0, 0, 0}
  for i, degree in ipairs(degrees) do
    local run = (i - 1) * 4 // n + 1
    sums[run] = sums[run] + degree
  end
  for run, sum in ipairs(sums) do assert_share(sum, entries, (1 << run - 1) / 15) end
end

function tests.test_share_of_edges_inside_classes()
  local n, entries = 20000, 50000
  for seed, inside in ipairs{0, 0.3, 0.9, 1} do
    local labels = generate.labels(n, ladies.tensor{1, 2, 5}, rng(seed))
    local A = generate.chung_lu(ladies.ones(n), labels, entries, inside, rng(seed))
    local by_chance = 0.125 ^ 2 + 0.25 ^ 2 + 0.625 ^ 2
    assert_share(count_inside(A, labels) / 2, entries / 2, inside + (1 - inside) * by_chance)
  end
end

--- The graphs are so large that there are several draws, chunks of rows and rounds.
function tests.test_same_bits_for_any_number_of_threads()
  local function hashes()
    local labels = cyclic_labels(5000, 10)
    local weights = generate.weights(5000, 2.3, rng(1))
    return {generate.chung_lu(weights, labels, 600000, 0.75, rng(1)):hash(),
      generate.blocks(labels, ladies.full(10, 10, 0.01), rng(1)):hash(),
      generate.features(labels, ladies.ones(10, 7), rng(1)):hash()}
  end
  ladies.threads(1)
  local want = hashes()
  for _, n in ipairs{2, 4} do
    ladies.threads(n)
    lu.assertEquals(hashes(), want, n .. " threads")
  end
end

function tests.test_same_graph_on_every_machine()
  local A = generate.chung_lu(run_weights(400), cyclic_labels(400, 4), 4000, 0.5, rng(7))
  lu.assertEquals(A:hash(), "f8f18125f44bdb93")
  local other = generate.chung_lu(run_weights(400), cyclic_labels(400, 4), 4000, 0.5, rng(8))
  lu.assertNotEquals(A:hash(), other:hash())
end

function tests.test_memory_at_the_peak()
  local n, entries = 20000, 4000000
  local labels, weights = cyclic_labels(n, 10), generate.weights(n, 2.3, rng(1))
  collectgarbage()
  ladies.memory_trim()
  local before = ladies.memory().total
  local A = generate.chung_lu(weights, labels, entries, 0.75, rng(1))
  lu.assertEquals(A.nnz, entries)
  lu.assertTrue(ladies.memory().peak - before <= 2 * 4 * entries + 64 * n)
end

function tests.test_errors()
  local function fails(message, weights, labels, ...)
    lu.assertErrorMsgContains(message, generate.chung_lu, ladies.tensor(weights),
      ladies.index(labels), ...)
  end
  fails("weights of 2 for 3 labels", {1, 1}, {1, 1, 1}, 2, 0, rng(1))
  fails("inside must be in [0, 1], got 1.5", {1, 1}, {1, 1}, 2, 1.5, rng(1))
  fails("inside must be in [0, 1], got", {1, 1}, {1, 1}, 2, 0 / 0, rng(1))
  fails("entries must be even", {1, 1}, {1, 1}, 1, 0, rng(1))
  fails("entries must be even, two for each edge, got -2", {1, 1}, {1, 1}, -2, 0, rng(1))
  fails("a graph of 3 nodes has at most 6 entries, got 8", {1, 1, 1}, {1, 1, 1}, 8, 0, rng(1))
  fails("the one of node 2 is 0", {1, 0}, {1, 1}, 2, 0, rng(1))
  fails("label", {1, 1}, {1, 0}, 2, 0, rng(1))
  -- Two classes of three hold three edges each, and no edge leaves them.
  fails("only 6 of 7 edges found", {1, 1, 1, 1, 1, 1}, {1, 2, 1, 2, 1, 2}, 14, 1, rng(1))
end

-- ---------------------------------------------------------------- blocks

function tests.test_blocks_that_are_certain()
  local labels = ladies.index{1, 2, 1, 3, 2}
  local A = generate.blocks(labels, ladies.tensor{{1, 0, 0}, {0, 0, 1}, {0, 1, 1}}, rng(1))
  assert_simple(A, 5, 6)
  lu.assertEquals(A:to_dense():to_table(), {
    {0, 0, 1, 0, 0}, {0, 0, 0, 1, 0}, {1, 0, 0, 0, 0}, {0, 1, 0, 0, 1}, {0, 0, 0, 1, 0}})
end

--- Pairs are drawn each on its own: none is favoured by its place in a row, and pairs are
-- unrelated.
function tests.test_every_pair_has_its_probability()
  local labels, p = ladies.index{1, 2, 2, 1}, ladies.tensor{{0.3, 0.6}, {0.6, 0.05}}
  local trials, found, both = 6000, {}, 0
  for seed = 1, trials do
    local dense = generate.blocks(labels, p, rng(seed)):to_dense():to_table()
    for i = 1, 4 do
      for j = i + 1, 4 do found[i * 4 + j] = (found[i * 4 + j] or 0) + dense[i][j] end
    end
    both = both + dense[1][2] * dense[1][3]
  end
  for i = 1, 4 do
    for j = i + 1, 4 do
      assert_share(found[i * 4 + j], trials, p:get(labels[i], labels[j]))
    end
  end
  assert_share(both, trials, 0.36)
end

function tests.test_block_counts()
  local n = 3000
  local labels = generate.labels(n, ladies.tensor{1, 2}, rng(1))
  local A = generate.blocks(labels, ladies.tensor{{0.01, 0.002}, {0.002, 0.02}}, rng(2))
  assert_simple(A, n, A.nnz)
  local a, b = labels[A:row_of()]:to_table(), labels[A:col_of()]:to_table()
  local counts = {[2] = 0, [3] = 0, [4] = 0}
  for e = 1, #a do counts[a[e] + b[e]] = counts[a[e] + b[e]] + 1 end
  assert_share(counts[2] / 2, 1000 * 999 / 2, 0.01)
  assert_share(counts[3] / 2, 1000 * 2000, 0.002)
  assert_share(counts[4] / 2, 2000 * 1999 / 2, 0.02)
end

function tests.test_errors_of_blocks()
  local labels = ladies.index{1, 2}
  local function fails(message, p)
    lu.assertErrorMsgContains(message, generate.blocks, labels, ladies.tensor(p), rng(1))
  end
  fails("for 2 classes expected, got 1 x 1", {{1}})
  fails("for 2 classes expected, got 2 x 1", {{1}, {1}})
  fails("[1, 2] is 0.5, [2, 1] 0.25", {{1, 0.5}, {0.25, 1}})
  fails("[2, 2] is 1.5", {{1, 0.5}, {0.5, 1.5}})
  fails("[1, 1] is", {{0 / 0, 0.5}, {0.5, 1.5}})
end

-- ---------------------------------------------------------------- data sets

function tests.test_power_law_data_set()
  local options = {nodes = 600, entries = 5000, classes = 4, features = 9, train = 0.5, val = 0.25}
  local data = generate.power_law(options)
  assert_simple(data.graph.adjacency, 600, 5000)
  lu.assertEquals(tostring(data),
    "Dataset power_law: 600 nodes, 5000 entries, 9 features, 4 classes")
  lu.assertEquals({#data.train, #data.val, #data.test}, {300, 150, 150})
  lu.assertStrContains(data.source, "made by ladies.generate.power_law{classes = 4, entries = 5000")
  lu.assertStrContains(data.source, "seed = 1,")
  local function fingerprint(set)
    return {set.graph.adjacency:hash(), set.features:hash(), set.labels:hash(), set.train:hash()}
  end
  lu.assertEquals(fingerprint(generate.power_law(options)), fingerprint(data))
  options.seed = 2
  for i, hash in ipairs(fingerprint(generate.power_law(options))) do
    lu.assertNotEquals(hash, fingerprint(data)[i])
  end
  -- Other features leave the graph as it is.
  options.seed, options.features = 1, 5
  lu.assertEquals(generate.power_law(options).graph.adjacency:hash(), fingerprint(data)[1])
end

function tests.test_block_model_data_set()
  local data = generate.block_model{nodes = 300, classes = 3, p_inside = 1, p_outside = 0}
  lu.assertEquals(data.classes, 3)
  local _, components = data.graph:components()
  lu.assertEquals(components, 3)
  lu.assertEquals(count_inside(data.graph.adjacency, data.labels), data.graph.n_edges)
end

function tests.test_errors_of_data_sets()
  local function fails(message, options)
    lu.assertErrorMsgContains(message, generate.power_law, options)
  end
  fails("nodes must be a positive integer", {entries = 2})
  fails("entries must be a non-negative integer", {nodes = 2})
  fails("10 classes for 2 nodes", {nodes = 2, entries = 2})
  fails("ladies.generate.power_law: train + val must be at most 1",
    {nodes = 20, entries = 2, train = 0.8, val = 0.5})
  fails("did you mean", {nodes = 20, entrys = 2})
  fails("the exponent must be above 1", {nodes = 20, entries = 2, exponent = 0.5})
  lu.assertErrorMsgContains("p_outside must be a number in [0, 1]", generate.block_model,
    {nodes = 20, p_inside = 1})
end

function tests.test_command()
  local folder <close> = shell.folder()
  local path = folder.path .. "/graph.npz"
  for _, spelling in ipairs{"make-graph", "make_graph"} do
    local out = shell.silent(shell.run_ladies{spelling, "--nodes", "200", "--entries", "1000",
      "--classes", "3", "--features", "4", "--seed", "5", "--out", path})
    lu.assertStrContains(out, "500, each stored both ways")
    lu.assertStrContains(out, "written to " .. path)
  end
  local want = generate.power_law{nodes = 200, entries = 1000, classes = 3, features = 4, seed = 5}
  local data = ladies.data.load(path)
  lu.assertEquals(data.graph.adjacency:hash(), want.graph.adjacency:hash())
  lu.assertEquals(data.features:hash(), want.features:hash())
  lu.assertEquals(data.source, want.source)
  local out =
    shell.succeeded(shell.run_ladies{"make-graph", "--model", "block-model", "--nodes", "50",
    "--p-inside", "1", "--p-outside", "0", "--compress", "--out", path})
  lu.assertStrContains(out, "10, the largest with")
end

function tests.test_errors_of_the_command()
  local function fails(message, ...)
    local err = shell.refused(shell.run_ladies{"make-graph", ...})
    lu.assertStrMatches(err, "ladies make%-graph: [^\n]*" .. message .. "[^\n]*\n")
  end
  fails("%-%-out FILE is missing", "--nodes", "5")
  fails("%-%-entries is missing", "--nodes", "50", "--out", "/nowhere/x.npz")
  fails("%-%-p%-outside is missing", "--nodes", "50", "--model", "block-model", "--p-inside", "0.5",
    "--out", "/nowhere/x.npz")
  fails("%-%-out must end in %.npz or %.safetensors, got /nowhere/x", "--nodes", "50", "--entries",
    "100", "--out", "/nowhere/x")
  fails("%-%-p%-inside is an option of %-%-model block%-model", "--p-inside", "1", "--out", "x")
  -- Sooner than five classes for one node.
  fails("%-%-dtype is for .safetensors files", "--nodes", "1", "--entries", "0", "--classes", "5",
    "--dtype", "float16", "--out", "/nowhere/x.npz")
  fails("a .safetensors file is never compressed", "--nodes", "1", "--entries", "0", "--classes",
    "5", "--compress", "--out", "/nowhere/x.safetensors")
  fails("/nowhere/x.npz", "--nodes", "50", "--entries", "100", "--out", "/nowhere/x.npz")
end

return tests
