--- The laboratory under tasks of edges and of graphs, and with networks that are no GCN: what its
-- exact values are, that whole neighbourhoods have no error, what it says, and what it refuses.
local lu = require "luaunit"
local contexts = require "ladies.lab.context"
local files = require "tools.files"
local ladies = require "ladies"
local shell = require "tools.shell"
local tables = require "ladies.base.tables"
local temporary = require "reference.temporary"
local toy = require "reference.toy_data"

local tests = {}

-- Rings with a real target each.
local function graphs()
  local fields, means = toy.rings(40)
  fields.targets = tables.map(means, function(mean) return 100 + 10 * mean end)
  return ladies.data.from_arrays(fields)
end

local DATA = {nodes = toy.new(), graphs = graphs(),
  edges = ladies.data.from_arrays(toy.with_edges(toy.new()))}

local function lab(sampler, data, own)
  return ladies.lab(sampler, tables.merged({dataset = DATA[data], against = {}, hidden = 8,
    batch_size = 20, seconds = 0.2, quiet = true}, own))
end

-- Data, task, model and settings of the task.
local CASES = {
  {"nodes"},
  {"nodes", "link_prediction"},
  {"nodes", "link_prediction", nil, {decoder = "mlp", negatives = "pairs", per_positive = 2}},
  {"edges", "link_prediction", "rgcn", {relations = true, decoder = "distmult",
    candidates = "all"}},
  {"edges", "edge_classification", "sage"},
  {"edges", "edge_regression", nil, {target = "2"}},
  {"graphs", "graph_regression"},
  {"graphs", nil, "gat", {pooling = "attention"}},
  {"edges", nil, "gine"},
  {"edges", nil, "rgcn"},
  {"edges", nil, "transformer"},
  {"edges", nil, "gatv2"},
  {"nodes", nil, "gcnii"},
  {"nodes", nil, "jk"},
}

--- Whole neighbourhoods give what the exact values are, whichever way these are computed.
function tests.test_whole_neighbourhoods_are_exact()
  for i, case in ipairs(CASES) do
    local data, task, model, settings = table.unpack(case, 1, 4)
    local found = lab("full", data, {task = task, model = model, settings = settings, steps = 2})
    local one = found.examinations[1]
    for _, key in ipairs{"layers.1.error", "layers.2.error", "embedding.error", "gradient.error"} do
      lu.assertTrue(one.by_key[key].mean < 1e-9, ("case %d, %s"):format(i, key))
    end
    lu.assertStrContains(one.verdict, "Exact: it gives what the whole graph gives.")
    lu.assertEquals(one.faults, {}, i)
  end
end

-- The toy graph with each edge of two types, so that all entries have a parallel one.
local function parallel()
  local A = toy.new().graph.adjacency
  local rows, cols = A:row_of(), A:col_of()
  local one_way, types = rows:above(cols), {}
  local from, to = cols[one_way], rows[one_way]
  for i = 1, 2 * #from do types[i] = i > #from and "likes" or "knows" end
  local data = toy.new()
  return ladies.data.from_arrays{name = "parallel", edges = {from .. from, to .. to},
    edge_types = types, features = data.features, labels = data.labels, train = data.train,
    val = data.val, test = data.test}
end

--- Parallel edges are entries of their own: whole neighbourhoods are exact, blocks have no foreign
-- entry, and FastGCN, whose draws take all entries of a column, is not said to be off by entries.
function tests.test_parallel_edges()
  DATA.parallel = parallel()
  lu.assertFalse(DATA.parallel.graph.adjacency:is_simple())
  for _, method in ipairs{"full", "fastgcn:30"} do
    local found = lab(method, "parallel", {task = "link_prediction", model = "rgcn", steps = 2})
    local one = found.examinations[1]
    lu.assertNotStrContains(one.verdict, "by entries", method)
    if method == "full" then
      lu.assertStrContains(one.verdict, "Exact: it gives what the whole graph gives.")
    end
  end
end

-- Returns the ratio of the self-loops of some nodes to those of P, where a row is the mean of a
-- node and 3 of its neighbours: over all sets of 3, or with all neighbours where there are no more.
local function loops_of_graphsage(P, nodes)
  local rows, mean, own = {}, 0, 0
  for i = 1, P.n_rows do rows[i] = {others = {}} end
  local cols, values = P:col_of():to_table(), P:entry_values():to_table()
  for at, row in ipairs(P:row_of():to_table()) do
    local one = rows[row]
    if cols[at] == row then one.own = values[at] else table.insert(one.others, values[at]) end
  end
  for _, v in ipairs(nodes:to_table()) do
    local one = rows[v]
    local x, sum, sets = one.others, 0, 0
    while #x < 3 do table.insert(x, 0) end
    for i = 1, #x do
      for j = i + 1, #x do
        for k = j + 1, #x do
          sum, sets = sum + one.own / (one.own + x[i] + x[j] + x[k]), sets + 1
        end
      end
    end
    mean, own = mean + sum / sets, own + one.own
  end
  return mean / own
end

-- Estimates the same ratio from draws of a sampler.
local function loops_by_draws(P, nodes, sampler)
  local loops = P:row_of():equals(P:col_of()):positions()
  local own = P:entry_values()[loops][nodes]:sum():item()
  local sum, rng = 0, ladies.rng(1)
  for i = 1, 200 do
    local block = sampler(nodes, rng:fork(i)).blocks[1]
    local adj = block.adj
    local is_loop = block.dst[adj:row_of()]:equals(block.src[adj:col_of()])
    sum = sum + (adj:entry_values() * is_loop):sum():item()
  end
  return sum / 200 / own
end

--- Forms that average a node with a few of its neighbours have self-loops too large, on parallel
-- edges too, and by as much as the laboratory says; their unbiased forms have not.
function tests.test_self_loops_of_means()
  DATA.parallel = parallel()
  local P, nodes = DATA.parallel.graph:normalize "sym", DATA.parallel.train
  local opts = {layers = 1, steps = 2, seconds = 1}
  for _, name in ipairs{"graphsage", "labor"} do
    local sampler = ladies.samplers[name](P, {samples = {3}})
    local expected = loops_by_draws(P, nodes, sampler)
    if name == "graphsage" then
      lu.assertAlmostEquals(expected, loops_of_graphsage(P, nodes), 0.02)
    end
    opts.settings = nil
    local verdict = lab(name .. ":3", "parallel", opts).examinations[1].verdict
    local told = verdict:match "entries of a node to itself %(self%-loops%) come out ([%d.]+) times"
    lu.assertAlmostEquals(tonumber(told), expected, 0.05 * expected, verdict)
    opts.settings = {form = "unbiased"}
    for _, fault in ipairs(lab(name .. ":3", "parallel", opts).examinations[1].faults) do
      lu.assertNotStrContains(fault.text, "by entries")
    end
  end
end

--- The exact gradient of a set of edges is that of the loss with its negatives over rows that the
-- whole graph gives, and draws of the set differ by the sampler alone.
function tests.test_gradient_of_links()
  local opts = {task = "link_prediction", settings = {decoder = "distmult"}, layers = 2, hidden = 8,
    batch_size = 20, steps = 3, seed = 1}
  local context = contexts.new(DATA.nodes, opts)
  local task = context.task
  local P = task.data.graph:normalize "sym"
  local known = context:exact(P)
  local found = context:gradient(known, 5)
  local all = ladies.range(1, P.n_rows)
  local block = {adj = P, dst = all, src = all}
  local batch = context:of_group(5, function()
    return {blocks = {block, block}, input = all, output = all}
  end)
  lu.assertEquals({batch.pairs.positives, #batch.pairs.from, #batch.units}, {20, 40, 20})
  local model, sgd = known.model, ladies.optim.sgd(known.model:parameters(), {lr = 1})
  do
    local step <close> = ladies.step()
    local h = model:forward(task.data.features, batch, false)
    local from, to = h[batch.pairs.from], h[batch.pairs.to]
    local truth = ladies.range(1, 40):below(21)
    ladies.loss.binary_cross_entropy(model.decoder:forward(from, to), truth):backward()
    lu.assertNotNil(step)
  end
  local decoder = false
  for i, one in ipairs(model:named_parameters()) do
    lu.assertEquals(found[i].name, one.name)
    local grad = one.tensor.grad
    lu.assertTrue((found[i].tensor - grad):norm() <= 1e-5 * grad:norm() + 1e-7, one.name)
    decoder = decoder or one.name:find "decoder" ~= nil
  end
  sgd:clear()
  lu.assertTrue(decoder)
  local sampler = ladies.samplers.graphsage(P, {samples = {2, 2}})
  local a, b = context:draw(sampler, 5, 1), context:draw(sampler, 5, 2)
  lu.assertEquals(a.output, context:seeds(5))
  lu.assertEquals({a.output, a.pairs.from}, {b.output, b.pairs.from})
  lu.assertNotEquals(a.input, b.input)
  lu.assertNotEquals(context:seeds(6), context:seeds(5))
end

--- No layer of an unbiased sampler is said to be biased, and one that leaves its weights out is,
-- under links and with features of edges; sentences are held to their numbers by
-- reference.lab_sentences.
function tests.test_bias_is_found()
  local behind_layers = {nonlinear = true, undecided = true, tails = true}
  for _, given in ipairs{{"nodes", task = "link_prediction"}, {"edges", model = "gine"}} do
    local opts = {task = given.task, model = given.model, seconds = 1}
    opts.settings = {form = "unbiased", samples = 2, normalize = "row"}
    local right = lab("graphsage", given[1], opts)
    for _, fault in ipairs(right.examinations[1].faults) do
      lu.assertTrue(behind_layers[fault.key], fault.text)
    end
    opts.settings = nil
    local wrong = lab({name = "wrong", sampler = function(P)
      return function(seeds, rng)
        return ladies.sampling.mini_batch(seeds, 2, function(l, dst)
          local U, near = P:slice(dst, {first = dst})
          local pick = ladies.sampling.choice(U:col_sums(2), 30, {rng = rng:fork(l),
            always = ladies.range(1, #dst)})
          return U:pick_cols(pick), near[pick]
        end)
      end
    end}, given[1], opts)
    local one = wrong.examinations[1]
    lu.assertTrue(#one.faults > 0)
    lu.assertTrue(one.by_key["layers.2.scale"].high < 0.97)
  end
end

--- The report says what was examined.
function tests.test_what_is_told()
  local links = lab("ladies:20", "nodes", {task = "link_prediction"})
  local text = tostring(links):gsub("%s+", " ")
  lu.assertStrContains(text, "batches of 20 edges")
  lu.assertStrContains(text, "The task is link prediction: seeds are the nodes that a batch of "
    .. "edges asks for, and what the task draws besides is one for all draws of a set.")
  lu.assertStrContains(text, 'training leaves them out (exclude = "seeds")')
  lu.assertStrContains(text, "the nodes of edges something.")
  lu.assertNotStrContains(text, "training node")
  lu.assertNotStrContains(text, "label")
  lu.assertNil(links.examinations[1].by_key["coverage.unseen"])
  text = tostring(lab("ladies:20", "nodes", {task = "link_prediction",
    settings = {exclude = "none"}}))
  lu.assertNotStrContains(text, "exclude")
  text = tostring(lab("ladies:20", "edges", {model = "gine"})):gsub("%s+", " ")
  lu.assertStrContains(text, "A model gine of 2 layers, 8 wide")
  lu.assertStrContains(text, "Of one layer at a time the numbers are those of P~ H, ")
  lu.assertNotStrContains(text, "ReLU")
  text = tostring(lab("ladies:20", "nodes", {})):gsub("%s+", " ")
  lu.assertStrContains(text, "A GCN of 2 layers, 8 wide")
  lu.assertNotStrContains(text, "The task is")
end

-- ---------------------------------------------------------------- the command

local COMMON = {"--hidden", "8", "--batch-size", "20", "--seconds", "0.2", "--quiet"}

local function command(wanted, ...)
  local words = table.pack("lab", ...)
  local out, err, status = shell.run_ladies(table.move(COMMON, 1, #COMMON, #words + 1, words),
    {env = {shell.checked_lab()}})
  lu.assertEquals(status, wanted, out .. err)
  return wanted == 0 and out:gsub("%s+", " ") or err
end

local path = {}
for name, data in pairs(DATA) do
  path[name] = temporary.path(name .. ".npz")
  ladies.data.save(data, path[name])
end

local SAMPLER = [[
local ladies = require "ladies"
return function(P, settings)
  return ladies.samplers.ladies(P, {samples = settings.samples, layers = settings.layers})
end
]]

-- A task that leaves edges out of the blocks, if it is asked to.
local OWN = [[
local ladies = require "ladies"
return {settings = {{"times", "boolean", default = false, help = "of seeds"},
    {"cut", "boolean", default = false, help = "of entries"}},
  make = function(settings, data)
    return {
      name = "mine", unit = "edge", data = data, units = {train = ladies.range(1, 50)}, outputs = 4,
      draw = function(units, _, sample)
        local batch = sample(units, settings.times and units or nil)
        if settings.cut then
          for _, block in ipairs(batch.blocks) do block.adj = block.adj:scale_rows(
            ladies.ones(block.adj.n_rows)) end
        end
        return batch
      end,
      read = function(h) return h end, targets = function(units) return units end,
      loss = function(h) return h:square():mean() end,
      metrics = {{name = "none", of = function() return 0 end}},
    }
  end,
}
]]

function tests.test_command()
  local mine = files.write(temporary.path "mine.lua", SAMPLER)
  local own = files.write(temporary.path "own_task.lua", OWN)
  local out = command(0, mine .. ":20", "--task", "link_prediction", "--dataset", path.nodes,
    "--per-positive", "2", "--against", "graphsage:3")
  lu.assertStrContains(out, "mine (20), GraphSAGE (3) on ")
  lu.assertStrContains(command(0, "ladies:20", "--model", "gine", "--dataset", path.edges,
    "--against", "none"), "A model gine of ")
  lu.assertStrContains(command(0, "graphsage:2", "--dataset", path.graphs, "--against", "none"),
    "task is graph regression")
  lu.assertStrContains(command(0, "graphsage:2", "--dataset", path.nodes, "--task", own,
    "--against", "none"), "task is mine")
  out = command(0, "graphsage:2", "ladies:20", "--task", "link_prediction", "--dataset", path.nodes,
    "--train-batches", "4", "--seeds", "2")
  lu.assertStrContains(out, "test AUC after 4 batches")
  for expected, words in pairs{
    ["variational rows are drawn anew in every step"] =
      {"ladies", "--task", "link_prediction", "--variational", "true"},
    ["the method clustergcn draws its own seeds, nodes, and the task link prediction is of edges"] =
      {"clustergcn", "--task", "link_prediction", "--partition", "random"},
    ['the model reads no graph; its method is "none"'] = {"ladies", "--model", "mlp"},
    ["the model gine reads features of edges, and "] = {"ladies", "--model", "gine"},
    ["the task is node_classification, as the data set has it, and has no pooling, a setting of "
      .. "graph_classification, graph_regression"] = {"ladies", "--pooling", "sum"},
    ["the task mine gives its seeds times, and samplers are examined at none"] =
      {"graphsage", "--task", own, "--times", "true"},
    ["the task mine changes the blocks of mini-batches, and what is examined are those of the "
      .. "sampler alone"] = {"graphsage", "--task", own, "--cut", "true"},
  } do
    words = table.move({"--dataset", path.nodes, "--against", "none"}, 1, 4, #words + 1, words)
    local err = command(1, table.unpack(words))
    lu.assertStrContains(err, expected)
    lu.assertEquals(select(2, err:gsub("\n", "")), 1, err)
  end
end

return tests
