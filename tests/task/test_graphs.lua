--- Graph classification and regression: mini-batches of graphs, pooled rows, and the same bits by
-- command, in Lua and with workers.
local lu = require "luaunit"
local ladies = require "ladies"
local shell = require "tools.shell"
local temporary = require "reference.temporary"
local toy = require "reference.toy_data"

local tests = {}

local GRAPHS = 60

-- Rings with a class or a number for each, in files.
local function made(name, part, of_graph)
  local fields, means = toy.rings(GRAPHS)
  fields[part] = {}
  for graph, mean in ipairs(means) do fields[part][graph] = of_graph(graph, mean) end
  return temporary.saved(name, ladies.data.from_arrays(fields))
end

local classes = made("classes.npz", "labels", function(graph) return graph % 2 + 1 end)
local numbers = made("numbers.npz", "targets", function(_, mean) return 100 + 10 * mean end)

local function run(...)
  return (shell.succeeded(shell.run_ladies({...}, {folder = temporary.path "."})))
end

--- A mini-batch has all nodes of its graphs, and the loss is that of the means of their rows.
function tests.test_a_mini_batch()
  local data = ladies.data.load(classes)
  local task = ladies.task.of(data)
  lu.assertEquals({task.name, task.unit, #task.all}, {"graph classification", "graph", GRAPHS})
  local P = data.graph:normalize "sym"
  local model = ladies.nn.gcn{inputs = 2, outputs = 2, layers = 2}
  local of_node = data.graph_of:to_table()
  for batch in ladies.batches(task.units.train, {task = task, batch_size = 12,
    sampler = ladies.samplers.full(P, {layers = 2})}) do
    local wanted = 0
    for _, unit in ipairs(batch.units:to_table()) do wanted = wanted + 4 + unit % 6 end
    lu.assertEquals(#batch.output, wanted)
    local h = ladies.no_grad(model.forward, model, data.features, batch, false)
    local sums, sizes, rows = {}, {}, h:to_table()
    for i, node in ipairs(batch.output:to_table()) do
      local g = of_node[node]
      sums[g] = sums[g] or {0, 0}
      sizes[g] = (sizes[g] or 0) + 1
      for c = 1, 2 do sums[g][c] = sums[g][c] + rows[i][c] end
    end
    local pooled = {}
    for i, g in ipairs(batch.units:to_table()) do
      pooled[i] = {sums[g][1] / sizes[g], sums[g][2] / sizes[g]}
    end
    local expected = ladies.loss.cross_entropy(ladies.tensor(pooled), data.labels[batch.units])
    local loss = ladies.no_grad(task.loss_of, task, h, batch, model)
    lu.assertAlmostEquals(loss:item(), expected:item(), 1e-5)
  end
end

--- The command, ladies.train and workers come to the same bits, and evaluate to the same numbers.
function tests.test_the_same_bits()
  local folder = temporary.path "command"
  local out = run("train", numbers, "--model", "gcn", "--layers", "2", "--batch-size", "12",
    "--lr", "0.01", "--max-batches", "60", "--workers", "2", "--out", folder)
  lu.assertStrContains(out, "task: graph regression\n")
  local result = ladies.train{data = numbers, model = "gcn", layers = 2, batch_size = 12, lr = 0.01,
    max_batches = 60, out = temporary.path "lua", quiet = true}
  for _, name in ipairs{"model.npz", "predictions.npz"} do
    lu.assertTrue(ladies.file.read(folder .. "/" .. name)
      == ladies.file.read(temporary.path "lua" .. "/" .. name), name)
  end
  lu.assertTrue(result.test.R2 > 0.5, result.test.R2)
  lu.assertStrContains(run("evaluate", folder), ("test MAE %.4f"):format(result.test.MAE))
  local csv = run("predict", folder)
  lu.assertStrContains(csv, "graph,predicted,target,split\n0,")
  lu.assertEquals(select(2, csv:gsub("\n", "")), GRAPHS + 1)
end

--- Attention has weights of its own, which are saved with the model.
function tests.test_attention()
  local folder = temporary.path "attention"
  run("train", classes, "--pooling", "attention", "--layers", "2", "--batch-size", "12",
    "--max-batches", "20", "--out", folder)
  local found = false
  for _, name in ipairs(ladies.npz.open(folder .. "/model.npz"):names()) do
    found = found or name:find("parameter.decoder.", 1, true) ~= nil
  end
  lu.assertTrue(found)
  lu.assertStrContains(run("evaluate", folder), "test accuracy ")
end

--- The page of a run, and what is said of several classes, speak of graphs where these are counted.
function tests.test_graphs_in_words()
  local folder = temporary.path "words"
  local result = ladies.train{data = classes, model = "gcn", layers = 2, batch_size = 12,
    max_batches = 5, out = folder, quiet = true}
  lu.assertEquals(result.stopped, "max_batches")
  local page = ladies.saved_run(folder):page()
  lu.assertStrContains(page, "Graphs of a class that are taken for each, in %")
  lu.assertNotNil(page:find "<th[^>]*>graphs</th>%s*<th[^>]*>F1 %%</th>")
  lu.assertNotStrContains(page, ">nodes</th>")
  local several = ladies.data.from_arrays{edges = {{1, 2}, {2, 1}}, graph_of = {1, 1, 2},
    features = ladies.ones(3, 1), labels = ladies.tensor{{1, 1}, {1, 0}}, train = {1}, test = {2}}
  lu.assertStrContains(several:describe(), "2; 1.50 a graph")
end

--- Tasks and settings for nodes are refused in one line.
function tests.test_what_is_refused()
  for expected, arguments in pairs{
    ["many graphs, and its labels are of these: graph_classification"] =
      {"train", classes, "--task", "node_classification"},
    ["the task is graph_classification, as the data set has it, and has no shift, a setting of "
      .. "graph_regression, node_regression"] = {"train", classes, "--shift", "0"},
    ["exclude is a setting of the task link_prediction; name the task, too"] =
      {"train", classes, "--exclude", "all"},
    ["the method clustergcn draws its own seeds, nodes, and the task graph regression is of graphs"]
      = {"train", numbers, "--method", "clustergcn"},
  } do
    shell.refuses(expected, shell.run_ladies(arguments, {folder = temporary.path "."}))
  end
end

return tests
