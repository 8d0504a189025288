--- The data set of a finished run: its own, and others that are prepared in the same way, for runs
-- of `ladies train` and of scripts.
local lu = require "luaunit"
local ladies = require "ladies"
local json = require "ladies.base.json"
local message_of = require "tools.message_of"
local run_identity = require "ladies.training.checkpoint.identity"
local shell = require "tools.shell"
local tables = require "ladies.base.tables"
local temporary = require "reference.temporary"
local toy = require "reference.toy_data"

local saved = temporary.saved
local tests = {}

-- The toy graph with features times a factor plus one, in which no column is zero, and with other
-- fields.
local function toy_with(factor, fields)
  local data = toy.new()
  data.features = data.features * factor + 1
  for name, value in pairs(fields or {}) do data[name] = value end
  return data
end

-- Trains a script's model on a data set, for a few steps; returns the folder.
local function left_by_script(name, data, more)
  local out = temporary.path(name)
  ladies.train(tables.merged({data = data, out = out, quiet = true, max_batches = 3,
    batch_size = 30, model = ladies.nn.gcn{inputs = data.features.n_cols, hidden = 6,
      outputs = data.classes, layers = 2},
    sampler = ladies.samplers.full(data.graph:normalize "sym", {layers = 2})}, more))
  return out
end

local function train(...)
  shell.succeeded(shell.run_ladies{"train", "--layers", "2", "--hidden", "6", "--max-batches", "3",
    "--batch-size", "30", "--quiet", ...})
end

local function output(...) return (shell.succeeded(shell.run_ladies{...})) end

-- Returns what `ladies evaluate` prints below the lines on the run, the data set and the time.
local function scores(run, ...)
  return output("evaluate", run, ...):match "\n(.*)"
end

local row, standard = ladies.data.row_normalized, ladies.data.standardized

--- Features that a script has changed in two steps are changed so in another data set, too, and its
-- own needs no name.
function tests.test_steps_of_a_script()
  local own, other = saved("own.npz", toy_with(3)), saved("other.npz", toy_with(5))
  local raw = ladies.data.load(other)
  for name, change in pairs{
    one = function(data, by) return standard(row(data), by and row(by)) end,
    two = function(data, by) return row(standard(data, by)) end,
  } do
    local first = ladies.data.load(own)
    local data = change(first)
    local run = left_by_script(name, data)
    lu.assertEquals(ladies.saved_run(run).data.features:hash(), data.features:hash())
    local wanted = change(raw, first)
    local found = ladies.saved_run(run, {dataset = other})
    lu.assertEquals(found.data.features:hash(), wanted.features:hash())
    local nodes = found:units "test"
    lu.assertEquals(found:logits(nodes):hash(),
      ladies.saved_run(run, {data = wanted}):logits(nodes):hash())
    -- A file in which all of this was done already is taken as it is.
    lu.assertEquals(ladies.saved_run(run, {dataset = saved("done.npz", wanted)}).data.features
      :hash(), wanted.features:hash())
    -- A data set that was standardized by its own scale does not have the run's.
    lu.assertStrContains(message_of(ladies.saved_run, run,
      {dataset = saved("alone.npz", change(raw))}), "by another mean and deviation")
  end
  local python = output("export", temporary.path "one", "--out", temporary.path "one.npz")
  local first, second = python:find("keepdims", 1, true), python:find("features.mean", 1, true)
  lu.assertTrue(first and second and first < second)
end

--- A data set that a script has built is read as it was built, with its features and its split,
-- also where names stand for the other parts of the run.
function tests.test_names_for_the_parts()
  local own = saved("built.npz", toy_with(3))
  local data = standard(ladies.data.load(own):split("50/20/30", {seed = 7}))
  local run = temporary.path "by names"
  ladies.train{data = data, out = run, quiet = true, max_batches = 3, layers = 2, hidden = 6,
    model = "gcn", batch_size = 30}
  local read = ladies.saved_run(run)
  lu.assertEquals({read.data.features:hash(), read.data.test:hash()},
    {data.features:hash(), data.test:hash()})
  local other = saved("for names.npz", toy_with(5))
  lu.assertEquals(ladies.saved_run(run, {dataset = other}).data.features:hash(),
    standard(ladies.data.load(other), data).features:hash())
end

--- Features that were made of degrees are made again, also for another graph.
function tests.test_degrees()
  local edges, labels = {}, {}
  for v = 0, 29 do
    for k = 1, 1 + v % 3 do edges[#edges + 1] = ("%d,%d"):format(v, (v + k * 7) % 30) end
    labels[v + 1] = v % 2
  end
  local function folder(name, n)
    local path = temporary.path(name)
    ladies.folder.make(path)
    ladies.file.write(path .. "/edges.csv", table.concat(edges, "\n", 1, n) .. "\n")
    ladies.file.write(path .. "/labels.csv", table.concat(labels, "\n") .. "\n")
    return path
  end
  local own, other = folder("many", #edges), folder("few", 12)
  local data = ladies.data.load(own, {make_features = "degree"}):split "50/20/30"
  local run, run_of_train = left_by_script("degrees", data), temporary.path "degrees train"
  train(own, "--make-features", "degree", "--out", run_of_train)
  for _, path in ipairs{run, run_of_train} do
    lu.assertEquals(ladies.saved_run(path).data.features:hash(), data.features:hash())
    local found = ladies.saved_run(path, {dataset = other}).data
    lu.assertEquals(found.features.n_cols, data.features.n_cols)
    lu.assertTrue(found.features_are_degrees)
    lu.assertNotEquals(found.features:hash(), data.features:hash())
  end
end

--- The run's data set has the run's split wherever it lies, if its file has none; another one has
-- its own, or the default one.
function tests.test_splits()
  local bare = toy_with(1)
  bare.train, bare.val, bare.test = nil, nil, nil
  local own, run = saved("split.npz", bare), temporary.path "split run"
  train(own, "--split", "50/20/30", "--out", run)
  local kept = ladies.saved_run(run).data
  lu.assertEquals(#kept.test, 54)
  lu.assertEquals(ladies.saved_run(run, {dataset = saved("moved.npz", bare)}).data.test:hash(),
    kept.test:hash())
  local split = toy_with(1)
  lu.assertEquals(ladies.saved_run(run, {dataset = saved("with.npz", split)}).data.test:hash(),
    split.test:hash())
  bare.features = bare.features * 2
  lu.assertEquals(#ladies.saved_run(run, {dataset = saved("twice.npz", bare)}).data.train, 18)
end

--- A run whose mini-batches took their seeds from parts of the graph finds its data set unchanged.
function tests.test_seeds_from_parts()
  local own = saved("parts.npz", toy_with(1))
  local run = temporary.path "parts run"
  train(own, "--seeds-from", "parts", "--accumulate", "2", "--out", run)
  lu.assertStrContains(scores(run), "test micro-F1")
end

-- ---------------------------------------------------------------- classes by name

-- The toy graph with its classes in another order, or in as many names as there are, under the same
-- names: class i becomes places[i].
local function renumbered(name, names, places, factor)
  local data = toy_with(factor or 1, {class_names = names})
  local labels = data.labels:to_table()
  for v, class in ipairs(labels) do labels[v] = places[class] end
  data.labels, data.classes = ladies.index(labels), #names
  return saved(name, data)
end

--- Labels are brought into the order of the run's classes by their names.
function tests.test_classes_in_another_order()
  local run = temporary.path "classes"
  train(renumbered("abc.npz", {"a", "b", "c"}, {1, 2, 3}), "--out", run)
  local same = renumbered("abc2.npz", {"a", "b", "c"}, {1, 2, 3}, 2)
  local turned = renumbered("cab.npz", {"c", "a", "b"}, {2, 3, 1}, 2)
  lu.assertNotEquals(ladies.data.load(same).labels:hash(), ladies.data.load(turned).labels:hash())
  lu.assertEquals(scores(run, "--dataset", turned), scores(run, "--dataset", same))
  lu.assertEquals(output("predict", run, "--dataset", turned),
    output("predict", run, "--dataset", same))
  local found = ladies.saved_run(run, {data = ladies.data.load(turned)}).data
  lu.assertEquals({found.class_names, found.labels:hash()},
    {{"a", "b", "c"}, ladies.data.load(same).labels:hash()})
  output("view", run, "--dataset", turned, "--out", temporary.path "turned.html")
  -- A class that the other data set has not, and nodes without a label.
  local fewer = toy_with(2, {class_names = {"c", "a"}, classes = 2})
  local labels, wanted = fewer.labels:to_table(), {}
  for v, class in ipairs(labels) do
    labels[v], wanted[v] = ({2, 0, 1})[class], ({1, 0, 3})[class]
  end
  fewer.labels = ladies.index(labels)
  for _, part in ipairs{"train", "val", "test"} do
    fewer[part] = fewer[part][fewer.labels[fewer[part]]:above(0):positions()]
  end
  found = ladies.saved_run(run, {dataset = saved("ca.npz", fewer)}).data
  lu.assertEquals({found.classes, found.labels:to_table()}, {3, wanted})
end

--- Other names, more of them, or one name twice are refused.
function tests.test_other_classes()
  local run = left_by_script("named", ladies.data.load(renumbered("xyz.npz", {"x", "y", "z"},
    {1, 2, 3})))
  for text, path in pairs{
    ['the class_names of xyw must be those of the run, in any order: "w" stands where the run has '
      .. '"z"'] = renumbered("xyw.npz", {"x", "y", "w"}, {1, 2, 3}),
    ["for 12 features and has 3 outputs, xyzw has 12 and 4 classes"] =
      renumbered("xyzw.npz", {"z", "y", "x", "w"}, {3, 2, 1}),
    ['"x" stands where the run has "y"'] = renumbered("xxz.npz", {"x", "x", "z"}, {1, 2, 3}),
  } do
    local err = shell.refused(shell.run_ladies{"evaluate", run, "--dataset", path})
    lu.assertStrContains(err, text)
    lu.assertEquals(select(2, err:gsub("\n", "")), 1, err)
  end
end

--- The columns of several classes a node are brought into order alike, and a class that is not
-- there is nobody's.
function tests.test_several_classes_in_another_order()
  local function several(name, names, factor)
    local rows, data = {}, toy_with(factor)
    for v = 1, toy.NODES do
      local has = {a = v % 2, b = v % 3 // 2, c = 1}
      for i, class in ipairs(names) do
        rows[v] = rows[v] or {}
        rows[v][i] = v % 10 == 9 and 0 / 0 or has[class]
      end
    end
    local function labelled(part)
      local list = {}
      for _, v in ipairs(data[part]:to_table()) do
        if v % 10 ~= 9 then list[#list + 1] = v end
      end
      return ladies.index(list)
    end
    return saved(name, ladies.data.from_arrays{graph = data.graph.adjacency,
      features = data.features, labels = ladies.tensor(rows), class_names = names,
      train = labelled "train", val = labelled "val", test = labelled "test"})
  end
  local run = left_by_script("several", ladies.data.load(several("s.npz", {"a", "b", "c"}, 1)))
  local same = several("same.npz", {"a", "b", "c"}, 2)
  local turned = several("turned.npz", {"c", "a", "b"}, 2)
  lu.assertEquals(scores(run, "--dataset", turned), scores(run, "--dataset", same))
  lu.assertEquals(output("predict", run, "--dataset", turned),
    output("predict", run, "--dataset", same))
  local labels = ladies.saved_run(run, {dataset = several("ca2.npz", {"c", "a"}, 2)}).data.labels
  lu.assertEquals({labels[1]:to_table(), labels[2]:to_table()}, {{1, 0, 1}, {0, 0, 1}})
  lu.assertFalse(labels[9]:is_finite())
end

--- Logits of one class each are not read as targets, nor as of several classes or of graphs, though
-- there are as many, nor the other way round.
function tests.test_labels_of_another_form()
  local paths, runs, both = {}, {}, {}
  for v = 1, toy.NODES do both[v] = {v % 2, 1, 0} end
  for form, fields in pairs{
    ["one class each"] = {},
    ["several classes each"] = {labels = ladies.tensor(both)},
    targets = {targets = ladies.tensor(both) / 4},
  } do
    local data = toy_with(1, fields)
    paths[form] = saved(form .. ".npz", ladies.data.from_arrays{graph = data.graph.adjacency,
      features = data.features, labels = not fields.targets and data.labels or nil,
      targets = fields.targets, train = data.train, val = data.val, test = data.test})
    runs[form] = temporary.path("of " .. form)
    train(paths[form], "--out", runs[form])
  end
  for form, run in pairs(runs) do
    for other, path in pairs(paths) do
      if other == form then
        scores(run, "--dataset", path)
      else
        shell.refuses(("the run is of %s, and %s has %s"):format(form, other, other),
          shell.run_ladies{"evaluate", run, "--dataset", path})
      end
    end
  end
  local graphs = saved("graphs.npz", ladies.data.from_arrays{edges = {{1, 2}, {2, 1}},
    graph_of = {1, 1, 2, 3}, features = ladies.ones(4, toy.FEATURES), labels = {1, 2, 3},
    train = {1}, test = {2, 3}})
  shell.refuses("the run is of nodes, and graphs has many graphs",
    shell.run_ladies{"evaluate", runs["one class each"], "--dataset", graphs})
end

--- Types and features of edges with other names, or in another order, are refused where the run
-- goes by them, and only there.
function tests.test_names_of_edges()
  local function of_edges(name, types, features)
    local data, list = toy_with(1), {types = {}, features = {}}
    local from, to = data.graph.adjacency:col_of(), data.graph.adjacency:row_of()
    for i = 1, #from do
      list.types[i] = types[data.labels[from[i]] == data.labels[to[i]] and 1 or 2]
      list.features[i] = {i % 3, i % 2}
    end
    return saved(name, ladies.data.from_arrays{edges = {from, to}, edge_types = list.types,
      edge_features = list.features, edge_feature_names = features, features = data.features,
      labels = data.labels, train = data.train, val = data.val, test = data.test,
      directed = "keep"})
  end
  local own = of_edges("edges.npz", {"within", "between"}, {"x", "y"})
  local types = of_edges("types.npz", {"a-within", "between"}, {"x", "y"})
  local turned = of_edges("turned.npz", {"within", "between"}, {"y", "x"})
  for name, case in pairs{
    ["edge types"] = {types, "--task", "edge_classification"},
    relations = {types, "--model", "rgcn"},
    ["edge numbers"] = {turned, "--task", "edge_regression"}, gine = {turned, "--model", "gine"},
    ["named number"] = {false, "--task", "edge_regression", "--target", "y"}, gcn = {false},
  } do
    local run = temporary.path(name)
    train(own, "--directed", "keep", "--out", run, table.unpack(case, 2))
    for _, other in ipairs{types, turned} do
      if other == case[1] then
        shell.refuses(other == types and '"a-within" stands where the run has "between"'
          or '"y" stands where the run has "x"',
          shell.run_ladies{"evaluate", run, "--dataset", other})
      else
        scores(run, "--dataset", other)
      end
    end
  end
end

-- ---------------------------------------------------------------- earlier versions

-- Puts another record into the checkpoint of a run; nothing else is read of that of a finished one.
local function record(run, change)
  local path = run .. "/checkpoint.npz"
  local before = run_identity.read(path)
  change(before)
  ladies.npz.write(path, {run = json.encode(before)})
end

--- Runs of earlier versions recorded the path of the data set alone, or not even that.
function tests.test_runs_of_earlier_versions()
  local own, other = saved("old.npz", toy_with(3)), saved("old other.npz", toy_with(5))
  local function features(run, ...) return ladies.saved_run(run, ...).data.features:hash() end
  local by_train = temporary.path "old train"
  train(own, "--features", "standardized", "--out", by_train)
  local by_script = left_by_script("old script", standard(ladies.data.load(own)))
  local data = ladies.data.load(own)
  local wanted = standard(data).features:hash()
  local of_other = standard(ladies.data.load(other), data).features:hash()
  for _, run in ipairs{by_train, by_script} do
    lu.assertEquals({features(run), features(run, {dataset = other})}, {wanted, of_other})
    record(run, function(before) before.source = {path = own} end)
    lu.assertEquals({features(run), features(run, {dataset = other})}, {wanted, of_other})
    record(run, function(before) before.source = nil end)
    lu.assertEquals(features(run, {dataset = other}), of_other)
  end
  os.remove(by_train .. "/checkpoint.npz")
  lu.assertEquals(features(by_train), wanted)
  lu.assertStrContains(message_of(ladies.saved_run, by_script), "was a script's own")
  record(by_script, function(before) before.source = {steps = {{call = "folded"}}} end)
  lu.assertStrContains(message_of(ladies.saved_run, by_script), "there is no step folded")
end

return tests
