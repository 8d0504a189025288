--- A finished run predicts for a data set that has neither labels nor targets, or none of them
-- known, as for the same one with them.
local lu = require "luaunit"
local csv_rows = require "tools.csv_rows"
local ladies = require "ladies"
local options = require "ladies.base.options"
local shell = require "tools.shell"
local tables = require "ladies.base.tables"
local temporary = require "reference.temporary"
local toy = require "reference.toy_data"

local tests = {}

-- Saves the toy graph's data set with these arrays, some in place of its own, and with `unknown`
-- written over what was checked; returns the path.
local function saved(name, arrays, unknown)
  local data, path = toy.new(), temporary.path(name .. ".npz")
  local whole = ladies.data.from_arrays(tables.merged({graph = data.graph.adjacency,
    features = data.features}, arrays))
  for part, values in pairs(unknown or {}) do whole[part] = values end
  ladies.data.save(whole, path)
  return path
end

-- Labels or targets of the form of these, of which no unit has any.
local function unknown_of(values)
  if options.class_of(values) == "Index" then return values * 0 end
  return ladies.full(values.n_rows, values.n_cols, 0 / 0)
end

-- A run on a data set with these arrays; the paths of this one, of the same without what is to be
-- predicted, and of the same with none of it known.
local function trained(name, arrays, model)
  local path, run = saved(name, arrays), temporary.path(name .. " run")
  ladies.train{data = path, out = run, quiet = true, max_batches = 3, eval_every = 3, layers = 2,
    hidden = 6, model = model or "gcn", batch_size = 30}
  local rest = {graph = arrays.graph, graph_of = arrays.graph_of}
  return run, path, saved(name .. " without", rest),
    saved(name .. " unknown", rest, {labels = arrays.labels and unknown_of(arrays.labels),
      targets = arrays.targets and unknown_of(arrays.targets)})
end

local function predicted(...)
  return shell.succeeded(shell.run_ladies{"predict", ...})
end

-- The cells of a column of CSV.
local function column(text, name)
  return tables.map(csv_rows(text), function(row) return row[name] end)
end

-- Tests that the command gives the same columns with and without what is to be predicted, and where
-- none of it is known; returns the run, the path of the data set without, and the CSV of its
-- predictions.
local function check(name, arrays, columns, model)
  local run, with, without, none = trained(name, arrays, model)
  local expected, got = predicted(run, "--dataset", with), predicted(run, "--dataset", without)
  for _, title in ipairs(columns) do
    local known = column(expected, title)
    lu.assertTrue(#known > 0)
    lu.assertEquals(column(got, title), known, name)
  end
  local also, told = predicted(run, "--dataset", none)
  lu.assertEquals(also, got)
  lu.assertStrContains(told, " has any: the data set counts as one without ")
  local err = shell.refused(shell.run_ladies{"predict", run, "--dataset", none, "--split",
    "labelled"})
  lu.assertStrMatches(err:match "[^\n]*\n$", "ladies predict: [^:]* has no labelled [^:]*s\n")
  return run, without, got
end

local function with_parts(arrays)
  local data = toy.new()
  return tables.merged({train = data.train, val = data.val, test = data.test}, arrays)
end

function tests.test_classes()
  local labels = toy.new().labels
  local run, without, csv = check("classes", with_parts{labels = labels,
    class_names = {"a", "b", "c"}}, {"predicted", "class", "probability"})
  for _, label in ipairs(column(csv, "label")) do lu.assertEquals(label, -1) end
  local err = shell.refused(shell.run_ladies{"evaluate", run, "--dataset", without})
  lu.assertStrContains(err, "has no test nodes")
  -- Without names the model's file says how many classes there are.
  check("nameless", with_parts{labels = labels}, {"predicted"})
end

function tests.test_several_classes()
  local rows = {}
  for v = 1, toy.NODES do
    rows[v] = {v % 2, v % 3 // 2, 1, v % 5 // 4}
  end
  check("several", with_parts{labels = ladies.tensor(rows)}, {"predicted"})
end

function tests.test_targets()
  check("targets", with_parts{targets = toy.new().features:slice_cols(1, 2)},
    {"predicted_target_0", "predicted_target_1"})
end

--- Thirty rows of six nodes, of two classes.
function tests.test_graphs()
  local edges, graph_of, labels, n = {}, {}, {}, toy.NODES // 6
  for v = 1, toy.NODES do
    graph_of[v], labels[(v - 1) // 6 + 1] = (v - 1) // 6 + 1, v // 6 % 2 + 1
    if v % 6 ~= 0 then table.insert(edges, {v, v + 1}) end
  end
  local graph = ladies.data.from_arrays{edges = edges, features = toy.new().features}.graph
  check("graphs", {graph = graph.adjacency, graph_of = ladies.index(graph_of),
    labels = ladies.index(labels), train = ladies.range(1, 20), val = ladies.range(21, 25),
    test = ladies.range(26, n)}, {"predicted"}, "gin")
end

return tests
