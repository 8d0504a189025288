--- Graphs that are made in less memory than they take: entries on their way into rows, and
-- generated data sets in files, which are those that are made in memory.
local lu = require "luaunit"
local core = require "ladies_core"
local ladies = require "ladies"
local by_runs = require "ladies.data.by_runs"
local files = require "tools.files"
local message_of = require "tools.message_of"
local shell = require "tools.shell"

local generate, index = ladies.generate, ladies.index

by_runs.check()

local tests = {}

function tests.tearDown()
  core.memory_fail_at(0)
  core.cancel_at(0)
end

local folder = shell.folder_of_each(tests)

local function live()
  ladies.memory_trim()
  return ladies.memory().total
end

-- Calls f with the n-th allocation, or look at the cancel flag, failing, for n = 1, 2, ... until it
-- ends well: it fails otherwise, gives all back, and leaves no file in the folder.
local function fails_cleanly(set, f)
  local n, ok, message = 0
  repeat
    n = n + 1
    local before = live()
    set(n)
    ok, message = pcall(f)
    set(0)
    if not ok then
      lu.assertTrue(core.is_interruption(message) or tostring(message):find "memory" ~= nil,
        tostring(message))
      lu.assertEquals(live(), before, "after failure " .. n)
      lu.assertEquals(core.files(folder.path), {})
    end
  until ok
  lu.assertTrue(n > 10, n .. " failures")
end

-- ---------------------------------------------------------------- entries on their way into rows

function tests.test_edge_runs()
  local rows, cols = index{1, 5, 3, 3, 5, 4, 2}, index{2, 1, 3, 5, 1, 3, 2}
  local runs, gone = by_runs.new(folder.path, 5), by_runs.new(folder.path, 5)
  lu.assertEquals(core.files(folder.path), {})                 -- the file has no name
  runs:add(rows, cols, true)
  runs:add(index{3, 1}, index{1, 2})
  runs:add(index{}, index{}, true)
  lu.assertEquals({runs:counts(), runs:width()}, {{4, 2, 4, 1, 3}, 1})
  local function entries(A)
    return {A.n_rows, A.n_cols, A:row_of():to_table(), A:col_of():to_table()}
  end
  local all = {5, 5, {1, 1, 2, 2, 3, 3, 3, 3, 4, 5, 5}, {2, 5, 1, 2, 1, 3, 4, 5, 3, 1, 3}}
  lu.assertEquals(entries(runs:matrix(1, 5)), all)
  lu.assertEquals(entries(runs:matrix(1, 5)), all)             -- and again
  lu.assertEquals(entries(runs:matrix(3, 3)), {1, 5, {1, 1, 1, 1}, {1, 3, 4, 5}})
  gone:add(index{3, 2, 1}, index{4, 2, 4}, true)
  lu.assertEquals(entries(runs:matrix(2, 4, gone)), {3, 5, {1, 2, 2, 2}, {1, 1, 3, 5}})
  lu.assertEquals(entries(gone:matrix(4, 3)), {0, 5, {}, {}})
  lu.assertStrContains(message_of(runs.add, runs, rows, index{1}), "7 rows and 1 columns")
  lu.assertStrContains(message_of(runs.add, runs, index{6}, index{1}), "row 6 at position 1")
  lu.assertStrContains(message_of(runs.add, runs, index{1}, index{0}), "column 0 at position 1")
  lu.assertStrContains(message_of(runs.matrix, runs, 3, 6), "6")
  lu.assertStrContains(message_of(runs.matrix, runs, 1, 2, core.edge_runs(folder.path, 4, 5)),
    "what is left out is of 4 x 5, must be of 5 x 5")
  lu.assertStrContains(message_of(core.edge_runs, folder.path .. "/none", 5, 5),
    "none: the temporary file cannot be created: No such file")
  runs:close()
  lu.assertStrContains(message_of(runs.counts, runs), "closed")
end

-- The Indexes of a list, one behind the other.
local function joined(list)
  local all = list[1]
  for i = 2, #list do all = all .. list[i] end
  return all
end

--- Edges in many pieces make the matrix that is made in memory; ranges have several rows.
function tests.test_edge_runs_of_many_pieces()
  local n, rng = 5000, ladies.rng(1)
  local runs, rows, cols = by_runs.new(folder.path, n), {}, {}
  for i = 1, 20 do
    rows[i] = ladies.sampling.uniform(n, 1000, {rng = rng, replace = true})
    cols[i] = ladies.sampling.uniform(n, 1000, {rng = rng, replace = true})
    runs:add(rows[i], cols[i], true)
  end
  rows, cols = joined(rows), joined(cols)
  local A = ladies.matrix{n_rows = n, n_cols = n, rows = rows, cols = cols}:symmetrize()
  lu.assertEquals({#runs:counts(), runs:width()}, {625, 8})
  for _, count in ipairs{1, 2, 4} do
    ladies.threads(count)
    lu.assertTrue(runs:matrix(1, 625) == A)
  end
end

-- ---------------------------------------------------------------- generated data sets

-- Returns the hashes and numbers by which two data sets are compared.
local function fingerprint(data)
  return {data.graph.adjacency:hash(), data.labels:hash(), data.features:hash(), data.train:hash(),
    data.val:hash(), data.test:hash(), data.source, data.classes}
end

local SETTINGS = {
  {nodes = 300, entries = 20000, classes = 3, features = 5},       -- several rounds
  {nodes = 3000, entries = 40000, classes = 7, features = 9, exponent = 2.1, seed = 4},
  {nodes = 50, entries = 0, classes = 2, features = 1},
  {nodes = 400, entries = 3000, classes = 5, features = 4, overlap = 0.3, inside = 0.2},
}

function tests.test_power_law_file()
  local path = folder.path .. "/graph.safetensors"
  for _, settings in ipairs(SETTINGS) do
    local want = generate.power_law(settings)
    for _, case in ipairs{{"24K", 1}, {"1M", 2}, {"1G", 4}} do
      settings.memory = case[1]
      ladies.threads(case[2])
      generate.power_law_file(path, settings)
      lu.assertEquals(core.files(folder.path), {"graph.safetensors"})
      lu.assertEquals(fingerprint(ladies.data.load(path)), fingerprint(want))
    end
    settings.memory = nil
  end
end

function tests.test_power_law_file_of_halves_with_loops()
  local path, whole = folder.path .. "/graph.safetensors", folder.path .. "/whole.safetensors"
  local settings = {nodes = 2000, entries = 20000, features = 300}
  local want = generate.power_law(settings)
  for _, dtype in ipairs{"float16", "bfloat16"} do
    settings.dtype, settings.self_loops = dtype, true
    generate.power_law_file(path, settings)
    lu.assertTrue(files.read(path):find('"idx_train".*"idx_val".*"idx_test"') ~= nil)
    ladies.data.save(want, whole, {dtype = dtype})
    local data, other = ladies.data.load(path, {features_in = "file"}),
      ladies.data.load(whole, {features_in = "file"})
    lu.assertEquals({data.features.dtype, data.features:hash()}, {dtype, other.features:hash()})
    lu.assertTrue(data.graph.adjacency == want.graph:normalize "none")
  end
end

function tests.test_a_failure_leaves_nothing()
  local settings = {nodes = 10, entries = 60, classes = 2, features = 3, memory = "24K"}
  ladies.threads(1)
  for _, set in ipairs{core.memory_fail_at, core.cancel_at} do
    local path = folder.path .. "/graph.safetensors"
    fails_cleanly(set, function() generate.power_law_file(path, settings) end)
    os.remove(path)
  end
end

function tests.test_errors()
  local path = folder.path .. "/graph.safetensors"
  local function fails(message, settings, other)
    settings.nodes, settings.entries = settings.nodes or 100, settings.entries or 200
    lu.assertStrContains(message_of(generate.power_law_file, other or path, settings), message)
    lu.assertEquals(core.files(folder.path), {})
  end
  fails("must end in .safetensors", {}, folder.path .. "/graph.npz")
  fails('memory must be a size, as "4G" or "500M", got "much"', {memory = "much"})
  fails("for which 100 bytes of memory are too few; about ", {memory = 100})
  fails("entries must be even", {entries = 3})
  fails("a graph of 100 nodes has at most 9900 entries", {entries = 10000})
  fails("of 4950 edges found in", {entries = 9900, inside = 1})
  fails("10 classes for 5 nodes", {nodes = 5})
  fails("did you mean", {dtyp = "float16"})
  fails("cannot be created", {}, folder.path .. "/none/graph.safetensors")
end

function tests.test_command()
  local path = folder.path .. "/graph.safetensors"
  local out = shell.silent(shell.run_ladies{"make-graph", "--nodes", "200", "--entries", "1000",
    "--classes", "3", "--features", "4", "--memory", "1M", "--dtype", "float16", "--self-loops",
    "--out", path})
  lu.assertStrContains(out, "made and written to " .. path)
  lu.assertEquals(ladies.data.load(path).graph.n_nodes, 200)
  for _, case in ipairs{{"--memory", "1M", "--model", "block-model", "--memory goes with"},
                        {"--memory", "1M", "--compress", "is never compressed"},
                        {"--self-loops", "--self-loops goes with --memory"}} do
    local words = table.move(case, 1, #case - 1, 6, {"make-graph", "--nodes", "9", "--out", path})
    shell.refuses(case[#case], shell.run_ladies(words))
  end
end

return tests
