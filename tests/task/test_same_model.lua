--- Every task comes to the same model.npz with any number of threads, workers and ranks, and when a
-- run is killed at a mini-batch and goes on with another number of these.
local lu = require "luaunit"
local core = require "ladies_core"
local files = require "tools.files"
local ladies = require "ladies"
local ranks = require "tools.ranks"
local shell = require "tools.shell"
local tables = require "ladies.base.tables"
local task = require "ladies.task"
local temporary = require "reference.temporary"
local toy = require "reference.toy_data"

local tests = {}

-- ---------------------------------------------------------------- data sets

-- So many nodes that a parallel loop has several chunks, with classes, and with real targets.
local plain = ladies.generate.power_law{nodes = 1500, entries = 12000, features = 24, classes = 3,
  train = 0.3, val = 0.1, seed = 1}

-- Saves arrays that share graph, features and split of `plain`; returns the path.
local function saved(name, fields)
  local path = temporary.path(name .. ".npz")
  fields.graph = not fields.edges and plain.graph.adjacency or nil
  ladies.data.save(ladies.data.from_arrays(tables.merged({features = plain.features,
    train = plain.train, val = plain.val, test = plain.test}, fields)), path)
  return path
end

-- Rings, with a class or a number for each.
local function many_graphs(name, part, of_graph)
  local fields, means = toy.rings(240)
  local path, given = temporary.path(name .. ".npz"), {}
  for graph, mean in ipairs(means) do given[graph] = of_graph(graph, mean) end
  fields[part] = given
  ladies.data.save(ladies.data.from_arrays(fields), path)
  return path
end

local path = {
  classes = saved("one_class", {labels = plain.labels}),
  several = saved("several_classes", {labels = plain.features:slice_cols(1, 4):above(0)}),
  targets = saved("targets", {targets = plain.features:slice_cols(1, 2) * 3 + 10}),
  edges = saved("edges", toy.with_edges(plain)),
  graph_classes = many_graphs("classes", "labels", function(graph) return graph % 2 + 1 end),
  graph_targets = many_graphs("numbers", "targets", function(_, mean) return 100 + 10 * mean end),
}

-- ---------------------------------------------------------------- a task of one's own

-- A task whose units are the edges of the graph, and which has a decoder.
local OWN = [[
local ladies = require "ladies"
local find, unique = ladies.sampling.find, ladies.sampling.unique

return function(settings, data)
  local A = data.graph.adjacency
  local from, to = A:row_of(), A:col_of()
  local same = data.labels[from]:equals(data.labels[to])
  local order = ladies.sampling.permutation(#from, ladies.rng(settings.seed))
  local function scores(h, a, b, model)
    return model.decoder:forward(h:rows(a), h:rows(b))
  end
  return {
    name = "same class", unit = "edge", data = data, outputs = 16,
    units = {train = order:slice(1, 800), val = order:slice(801, 1000)},
    decoder = function()
      return ladies.nn.link_decoder{kind = "mlp", inputs = 16, rng = ladies.rng(settings.seed)}
    end,
    draw = function(edges, _, sample)
      local batch = sample(unique(from[edges] .. to[edges]))
      batch.from, batch.to = find(batch.output, from[edges]), find(batch.output, to[edges])
      return batch
    end,
    read = function(h, batch, model) return scores(h, batch.from, batch.to, model) end,
    score = function(h, edges, model) return scores(h, from[edges], to[edges], model) end,
    targets = function(edges) return same[edges] end,
    loss = function(out, truth) return ladies.loss.binary_cross_entropy(out, truth) end,
    metrics = {{name = "ROC-AUC", of = ladies.metrics.roc_auc, percent = true}},
  }
end
]]

local own = files.write(temporary.path "same_class.lua", OWN)

-- ---------------------------------------------------------------- runs

-- The trainings: the task, its data set, and settings besides those that all have.
local CASES = {
  {"node_classification", path.classes, {method = "ladies", samples = 64}},
  {"node_classification", path.several, {method = "fastgcn", samples = 64}},
  {"node_classification", path.edges, {method = "graphsage", samples = 5, model = "gine"}},
  {"node_regression", path.targets, {method = "labor", samples = 5}},
  {"link_prediction", path.classes, {method = "graphsage", samples = 5}},
  {"link_prediction", path.classes, {method = "ladies", samples = 64, exclude = "all",
    supervision = 0.5, variational = true, negatives = "degree", decoder = "mlp"}},
  {"link_prediction", path.edges, {method = "ladies", samples = 64, model = "rgcn",
    relations = true, decoder = "distmult", candidates = "20"}},
  {"link_prediction", path.edges, {method = "temporal", samples = 5, model = "gatv2", heads = 2,
    candidates = "10"}},
  {"edge_regression", path.edges, {method = "temporal", samples = 5, target = "1",
    strategy = "uniform"}},
  {"edge_classification", path.edges, {method = "ladies", samples = 64}},
  {"edge_regression", path.edges, {method = "graphsage", samples = 5, target = "2"}},
  {"graph_classification", path.graph_classes, {method = "full"}},
  {"graph_classification", path.graph_classes, {method = "ladies", samples = 64,
    pooling = "attention"}},
  {"graph_regression", path.graph_targets, {method = "graphsage", samples = 5, pooling = "max"}},
  {own, path.classes, {method = "ladies", samples = 64}},
}

local BATCHES, KILLED_AT = 16, 9

-- The options of ladies.train for a case.
local function options_of(case, out, more)
  return tables.merged({data = case[2], task = case[1], layers = 2, hidden = 16, dropout = 0.3,
    batch_size = 40, accumulate = 4, max_batches = BATCHES, eval_every = 8, lr = 0.01,
    quiet = true, out = temporary.path(out)}, case[3], more)
end

local SCRIPT = [[
local ladies = require "ladies"
local opts = assert(load("return " .. arg[1]))()
local threads, kill = opts.threads, opts.kill
opts.threads, opts.kill = nil, nil
if threads then ladies.threads(threads) end
opts.on_batch = kill and function(at)
  if at.batch == kill then io.popen("kill -KILL $PPID"):close() end
end or nil
ladies.train(opts)
]]

-- Options as the text of a Lua table.
local function text_of(opts)
  local words = {}
  for _, name in ipairs(tables.sorted_keys(opts)) do
    words[#words + 1] = ("%s = %q"):format(name, opts[name])
  end
  return "{" .. table.concat(words, ", ") .. "}"
end

-- The program that trains with these options, as a process of its own; how it ended.
local function process(opts)
  local script = files.write(temporary.path "train.lua", SCRIPT)
  local out, err, status = shell.run_ladies{script, text_of(opts)}
  return status, out .. err
end

local function name_of(i) return ("%d %s"):format(i, CASES[i][1]:match "[%w_]+%.?%l*$") end

local hashes = {}

-- The hash of the model of a case by one thread, without workers.
local function whole(i)
  if not hashes[i] then
    local before = ladies.threads()
    ladies.threads(1)
    ladies.train(options_of(CASES[i], "whole" .. i))
    ladies.threads(before)
    hashes[i] = core.zip.sha256(temporary.path("whole" .. i) .. "/model.npz")
  end
  return hashes[i]
end

local function assert_same(i, folder, how)
  lu.assertEquals(core.zip.sha256(temporary.path(folder) .. "/model.npz"), whole(i),
    name_of(i) .. " " .. how)
end

-- ---------------------------------------------------------------- tests

--- Each task that comes with the program is in the list, by its name.
function tests.test_every_task_is_there()
  local missing = {}
  for name in pairs(task) do
    local found = name == "new" or name == "of" or name == "default_name"
    for _, case in ipairs(CASES) do found = found or case[1] == name end
    if not found then missing[#missing + 1] = name end
  end
  lu.assertEquals(missing, {})
end

--- A run learns something: another seed is another model, so that the hashes below can differ.
function tests.test_another_seed()
  for i, case in ipairs(CASES) do
    ladies.train(options_of(case, "seed" .. i, {seed = 2}))
    lu.assertNotEquals(core.zip.sha256(temporary.path("seed" .. i) .. "/model.npz"), whole(i),
      name_of(i))
  end
end

function tests.test_threads_and_workers()
  for i, case in ipairs(CASES) do
    for n, workers in ipairs{[2] = 0, [3] = 2, [1] = 2} do
      ladies.threads(n)
      local folder = ("threads%d %d"):format(n, i)
      ladies.train(options_of(case, folder, {workers = workers}))
      assert_same(i, folder, ("%d threads, %d workers"):format(n, workers))
    end
  end
end

--- The run is killed in the middle of a step, between two validations.
function tests.test_killed_and_resumed()
  for i, case in ipairs(CASES) do
    local folder = "killed" .. i
    local status, said = process(options_of(case, folder, {threads = 2, kill = KILLED_AT,
      checkpoint_every = 0}))
    lu.assertEquals(status, 137, said)
    lu.assertFalse(core.exists(temporary.path(folder) .. "/summary.json"))
    ladies.train(options_of(case, folder, {resume = true, workers = 2}))
    assert_same(i, folder, "killed and resumed")
  end
end

--- Two ranks, which train from the beginning or, in every third case, go on with a run that one
-- process began.
function tests.test_ranks()
  for i, case in ipairs(CASES) do
    local folder, resume = "ranks" .. i, i % 3 == 0
    if resume then
      local status, said = process(options_of(case, folder, {kill = KILLED_AT,
        checkpoint_every = 0}))
      lu.assertEquals(status, 137, said)
    end
    local opts = options_of(case, folder, {threads = 1, workers = i % 2, resume = resume or nil})
    shell.succeeded(ranks.run_script(2, SCRIPT, {text_of(opts)}))
    assert_same(i, folder, resume and "1 and then 2 ranks" or "2 ranks")
  end
end

return tests
