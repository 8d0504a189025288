--- Tasks of edges in time: parts by time, mini-batches that hold nothing from their seeds' times or
-- later, by enumeration; a graph on which looking ahead gives a perfect score; inference in
-- batches, runs by names with workers, negatives and candidates of a node's type, refusals.
local lu = require "luaunit"
local core = require "ladies_core"
local ladies = require "ladies"
local compare = require "reference.compare"
local graphs = require "reference.graphs"
local links_in_time = require "ladies.links.in_time"
local other_ends = require "ladies.links.other_ends"
local tables = require "ladies.base.tables"
local temporary = require "reference.temporary"

local close, fails = compare.assert_close, lu.assertErrorMsgContains
local index, links, sampling, task = ladies.index, ladies.links, ladies.sampling, ladies.task

local tests = {}

-- Purchases, without times where in_time is false: each of the first nodes buys some of the others,
-- each at most once, in random order; equal times are many.
local function shop(users, items, seed, in_time)
  local rng, from, to, times, kinds = ladies.rng(seed), {}, {}, {}, {}
  local order = sampling.permutation(users * items, rng):to_table()
  for k = 1, users * items // 2 do
    local pair = order[k] - 1
    from[k], to[k], times[k] = pair // items + 1, users + pair % items + 1, k // 3
  end
  for v = 1, users + items do kinds[v] = v <= users and 1 or 2 end
  local given = {edges = {index(from), index(to)}, edge_times = times, node_types = kinds,
    labels = kinds,
    features = ladies.matrix{n_rows = users + items, n_cols = users + items,
      rows = ladies.range(1, users + items), cols = ladies.range(1, users + items)}:to_dense()}
  if in_time == false then given.edge_times = nil end
  return ladies.data.from_arrays(given)
end

--- Parts by time hold at least their shares, are in order, and divide no time; every event once.
function tests.test_split()
  for seed = 1, 6 do
    local data = graphs.in_time(20, 150, 25, seed, seed % 2 == 0 and {} or nil)
    local edges = links.split(data.graph, {edges = data.edges, by = "time", val = 0.1, test = 0.2})
    local n, times = #edges, edges.times
    lu.assertEquals(#edges.train + #edges.val + #edges.test, n)
    lu.assertTrue(#edges.test >= n // 5)
    lu.assertTrue(#edges.test + #edges.val >= n // 5 + n // 10)
    local cut, first_test = times[edges.val]:min(), times[edges.test]:min()
    lu.assertTrue(times[edges.train]:max() < cut)
    lu.assertTrue(times[edges.val]:max() < first_test)
    local later = #(1 - times:below(first_test + 1)):positions()
    lu.assertTrue(later < n // 5, "more than the time that the share cuts is in the test")
    lu.assertTrue(edges.edge_data.times:max() < cut)
    lu.assertTrue(edges.graph.adjacency == edges.edge_data.adjacency)
    local seen, A, all = {}, data.graph.adjacency, data.edges.times:to_table()
    local to, from, events = A:row_of():to_table(), A:col_of():to_table(), 0
    for e = 1, #to do
      local a, b = from[e], to[e]
      if edges.undirected and a > b then a, b = b, a end
      local key = ("%d %d %d"):format(a, b, all[e])
      if a ~= b and not seen[key] then seen[key], events = true, events + 1 end
    end
    lu.assertEquals(n, events)
  end
end

--- No entry of any block of a mini-batch is from its seed's time or later; a negative has the time
-- of its positive, is no edge at that time, and has a node of the same type at the other end.
function tests.test_mini_batches()
  local data = shop(12, 15, 3)
  local known, A = {}, data.graph.adjacency
  local to, from, times = A:row_of(), A:col_of(), data.edges.times
  for e = 1, A.nnz do known[("%d %d %d"):format(from[e], to[e], times[e])] = true end
  local one = task.link_prediction(data, {edge_split = "time", in_time = true, per_positive = 3})
  local sampler = ladies.samplers.temporal(one.data.edges, {samples = {3, 4}})
  local count = 0
  for batch in ladies.batches(one.units.train, {task = one, sampler = sampler, batch_size = 20,
    edges = one.data.edges, epochs = 2, workers = 2}) do
    for _, block in ipairs(batch.blocks) do
      local at, row = block.edge_times, block.adj:row_of()
      for k = 1, block.adj.nnz do
        if block.edge[k] > 0 then
          lu.assertTrue(at[k] < block.times[row[k]])
          count = count + 1
        end
      end
    end
    local p, of = batch.pairs, batch.blocks[2].times
    local out, n = batch.output, batch.pairs.positives
    lu.assertEquals(#p.from, 4 * n)
    for i = 1, #p.from do
      local a, b, t = out[p.from[i]], out[p.to[i]], of[p.from[i]]
      lu.assertEquals(of[p.to[i]], t)
      lu.assertEquals({data.node_types[a], data.node_types[b]}, {1, 2})
      lu.assertEquals(known[("%d %d %d"):format(a, b, t)] or false, i <= n)
    end
  end
  lu.assertTrue(count > 400)
end

-- A model without parameters: rows are propagated once for each layer.
local function propagating(layers)
  return {
    n_layers = layers, normalize = "row",
    decoder = ladies.nn.link_decoder{kind = "dot", inputs = 27, rng = ladies.rng(1)},
    layer = function(_, _, h, block) return block.adj:matmul(h) end,
    forward = function(_, features, batch)
      local h = features:rows(batch.input)
      for _, block in ipairs(batch.blocks) do h = block.adj:matmul(h) end
      return h
    end,
  }
end

--- Each pair buys once, at random: the whole graph tells all of it, and the past of an edge
-- nothing, but that a pair which has bought does not do so again.
function tests.test_leak()
  local data, model = shop(12, 15, 1), propagating(1)
  local one = task.link_prediction(data, {edge_split = "time", in_time = true, embedding = 27})
  for _, strategy in ipairs{"uniform", "recent"} do
    local sampler = ladies.samplers.temporal(data.edges, {samples = {1000}, strategy = strategy})
    lu.assertTrue(one:evaluate(model, "test", {sampler = sampler}).AUC <= 0.5)
  end
  local h = ladies.inference.exact(model, data)
  local any = task.link_prediction(data, {embedding = 27})
  local ahead = any:scored(h:rows(any.nodes(any.units.test)), any.units.test, model)
  lu.assertEquals(ladies.metrics.roc_auc(ahead, any.targets(any.units.test)), 1.0)
  local still = task.link_prediction(data, {edge_split = "time", embedding = 27})
  lu.assertTrue(still:evaluate(model, "test").AUC <= 0.5)      -- edges for training alone
end

--- The scores of edges and of the pairs that they are tested against are by the rows of their two
-- ends: in time those at the time of the edge, each computed by itself; else those of the edges for
-- training. Rows of a variational model are the means.
function tests.test_scores()
  local data = graphs.in_time(20, 150, 25, 8)
  local sampler = ladies.samplers.temporal(data.edges, {samples = {2, 3}})
  for _, in_time in ipairs{true, false} do
    local one = task.link_prediction(data, {edge_split = "time", in_time = in_time, embedding = 6,
      decoder = "complex", variational = true})
    local model = one:equip(ladies.nn.sage{inputs = 3, hidden = 8, outputs = 12, layers = 2,
      seed = 1})
    local test = one.units.test
    local z = ladies.inference.exact(model, one.data):slice_cols(1, 6)
    local function row(node, time)
      return in_time and ladies.inference.in_time(model, data, index{node}, index{time},
        {sampler = sampler}):slice_cols(1, 6) or z[index{node}]
    end
    local function check(predicted, from, to, times)
      lu.assertEquals(#predicted, #test)
      for i = 1, #test do
        close(predicted[i], model.decoder:forward(row(from[i], times[i]), row(to[i], times[i]))[1],
          1e-5)
      end
    end
    local out = in_time and one:inferred("test_scores", test, model, sampler)
      or one:scored(ladies.inference.exact(model, one.data)[one.nodes(test)], test, model)
    local found = one.arrays(out, test)
    check(found.predicted, found.from, found.to, found.times)
    check(found.predicted_of_pairs, found.pairs_from, found.pairs_to, found.times)
    lu.assertAlmostEquals(ladies.metrics.roc_auc(out, one.targets(test)),
      one:evaluate(model, "test", in_time and {sampler = sampler} or nil).AUC, 1e-9)
  end
end

--- Inference in batches, of sizes that follow from the data, is that of each node by itself.
function tests.test_inference()
  local data = shop(12, 15, 5)
  local model = ladies.nn.sage{inputs = 27, hidden = 8, outputs = 6, layers = 2, seed = 9}
  local nodes, times = ladies.range(1, 200) % 27 + 1, ladies.range(1, 200) // 27 * 4 + 1
  for _, strategy in ipairs{"uniform", "recent"} do
    local sampler = ladies.samplers.temporal(data.edges, {samples = {2, 3}, strategy = strategy})
    local all = ladies.inference.in_time(model, data, nodes, times, {sampler = sampler})
    for i = 1, 200, 13 do
      close(all:rows(index{i}), ladies.inference.in_time(model, data, index{nodes[i]},
        index{times[i]}, {sampler = sampler}), 1e-6)
    end
  end
  local one = task.link_prediction(data, {edge_split = "time", in_time = true, candidates = 5,
    embedding = 6})
  one:equip(model)
  local sampler = ladies.samplers.temporal(data.edges, {samples = {2, 3}})
  fails("needs the sampler ladies.samplers.temporal", one.evaluate, one, model, "test")
  fails("memory is of exact inference, which a task in time has not", one.evaluate, one, model,
    "test", {sampler = sampler, memory = "1G"})
  fails("must be a ladies.samplers.temporal", ladies.inference.in_time, model, data, nodes, times,
    {sampler = ladies.samplers.full(data.graph:normalize "row", {layers = 2})})
end

-- The ranks of edges at one end among the k candidates that the task draws for it, of which each is
-- scored by row(node, time) and counted.
local function ranks_by_hand(edges, units, which, k, rng, node_types, decoder, row)
  local given, replaced = edges.from[units], edges.to[units]
  if which == "from" then given, replaced = replaced, given end
  local times = edges.times[units]
  local others, rows_at = links_in_time.others(edges, which, ladies.range(1, #edges))
  local drawn = other_ends(node_types)(others, rows_at(given, nil, times), replaced, k,
    {rng = rng, fixed = given})
  local ranks = {}
  for i = 1, #units do
    local function score(node)
      local from, to = row(given[i], times[i]), row(node, times[i])
      if which == "from" then from, to = to, from end
      return decoder:forward(from, to)[1]
    end
    local positive, higher = score(replaced[i]), 0
    for j = (i - 1) * k + 1, i * k do
      if score(drawn[j]) > positive then higher = higher + 1 end
    end
    ranks[i] = 1 + higher
  end
  return ranks
end

--- A rank is what counting gives among the same candidates, each scored by itself at the time of
-- the edge, at both ends of each; rows of a variational model are the means.
function tests.test_ranks()
  for seed, data in ipairs{shop(12, 15, 6), graphs.in_time(20, 150, 25, 6)} do
    local edges = links.split(data.graph, {edges = data.edges, by = "time",
      node_types = data.node_types})
    local one = task.link_prediction(data, {edge_split = "time", in_time = true, candidates = 7,
      embedding = 6, decoder = "complex", edge_split_seed = seed, variational = seed == 2})
    local model = one:equip(ladies.nn.sage{inputs = data.features.n_cols, hidden = 8,
      outputs = one.outputs, layers = 2, seed = seed})
    local sampler = ladies.samplers.temporal(data.edges, {samples = {2, 3}})
    local function row(node, time)
      return ladies.inference.in_time(model, one.data, index{node}, index{time},
        {sampler = sampler}):slice_cols(1, 6)
    end
    local wanted, test = {}, edges.test
    for side, which in ipairs{"to", "from"} do
      tables.append(wanted, ranks_by_hand(edges, test, which, 7, ladies.rng(seed):fork(side),
        data.node_types, model.decoder, row))
    end
    lu.assertEquals(one:inferred("test_ranks", test, model, sampler):to_table(), wanted)
    local sum = 0
    for _, rank in ipairs(wanted) do sum = sum + 1 / rank end
    lu.assertAlmostEquals(one:evaluate(model, "test", {sampler = sampler}).MRR, sum / #wanted, 1e-6)
  end
end

-- Trains by names and returns the summary.
local function run(data, more)
  return ladies.train(tables.merged({data = data, task = "link_prediction", method = "temporal",
    model = "sage", layers = 2, samples = 3, hidden = 8, embedding = 4, batch_size = 16,
    max_batches = 12, eval_every = 4, quiet = true}, more))
end

--- Runs have the same test scores with any number of workers and threads, also from their folder.
function tests.test_runs()
  local folder = temporary.path "in_time"
  local data = shop(12, 15, 2)
  ladies.data.save(data, folder .. ".npz")
  data = ladies.data.load(folder .. ".npz")
  local one = run(data, {out = folder, candidates = "20"})
  local two = run(data, {workers = 2, candidates = "20"})
  lu.assertEquals(one.test, two.test)
  local threads = core.threads()
  core.threads(threads == 1 and 2 or 1)
  local three = run(data, {candidates = "20"})
  core.threads(threads)
  lu.assertEquals(one.test, three.test)
  lu.assertTrue(one.test.MRR > 0)
  local saved = ladies.saved_run(folder, {data = data})
  local test = saved:units "test"
  local out = saved:scores(test)
  lu.assertEquals(saved.task:values(out, out, test).MRR, one.test.MRR)
  fails("would look ahead", saved.logits, saved, index{1, 2})
  fails("would look ahead", ladies.train, {task = saved.task, quiet = true, max_batches = 1,
    model = ladies.nn.sage{inputs = 27, outputs = 4, layers = 1},
    sampler = ladies.samplers.full(saved.data.graph:normalize "row", {layers = 1})})
end

--- A script's run on nodes with times is not evaluated by what looks ahead.
function tests.test_script_of_nodes()
  local path = temporary.path "nodes"
  local made = shop(6, 8, 3)
  made.train, made.test = ladies.range(1, 8), ladies.range(9, 14)
  ladies.data.save(made, path .. ".npz")
  local data = ladies.data.load(path .. ".npz")
  local sampler = ladies.samplers.temporal(data.edges, {samples = {2},
    node_times = ladies.range(1, 14)})
  ladies.train{data = data, sampler = sampler, max_batches = 2, quiet = true, out = path,
    model = ladies.nn.sage{inputs = 14, outputs = 2, layers = 1, normalize = "row"}}
  local saved = ladies.saved_run(path, {sampler = sampler})
  fails("would look ahead", saved.scores, saved, data.test)
  lu.assertEquals(#saved:scores(data.test, {how = "sampled"}), 6)
end

--- Types and numbers of edges in time: rows are those at the times of edges; without, propagation
-- has the edges for training alone.
function tests.test_edge_tasks()
  local data = shop(12, 15, 4)
  local amounts = ladies.zeros(#data.edges, 1):uniform_(0, 1, ladies.rng(1))
  local A = data.graph.adjacency
  data = ladies.data.from_arrays{edges = {A:col_of(), A:row_of()}, edge_times = data.edges.times,
    edge_features = amounts, features = data.features, directed = "keep"}
  local found = run(data, {task = "edge_regression", model = "gatv2"})
  lu.assertTrue(found.test.MAE < 2)
  local still = task.edge_regression(data, {edge_split = "time"})
  local one = task.edge_regression(data, {edge_split = "time", in_time = true})
  lu.assertTrue(one.units.test == still.units.test)
  lu.assertTrue(still.data.graph.adjacency == one.data.graph.adjacency)
  lu.assertTrue(still.data.graph.adjacency.nnz < data.graph.adjacency.nnz)
  lu.assertNil(still.data.edges)
  lu.assertEquals(#one.data.edges, #data.edges)
end

--- Where nodes have types, negatives and candidates are of the type of the end that they replace.
function tests.test_node_types()
  local data = shop(6, 30, 1, false)
  local edges = links.split(data.graph, {node_types = data.node_types})
  lu.assertEquals(data.node_types[edges.from]:max(), 1)
  local draw = links.negatives(edges, {node_types = data.node_types, per_positive = 4})
  local some = edges.train
  local from, to, _, positives = draw(edges.from[some], edges.to[some], nil, ladies.rng(1))
  lu.assertEquals(data.node_types[from]:max(), 1)
  lu.assertEquals(data.node_types[to]:min(), 2)
  for i = 1, #from do
    local k = some[positives[i]]
    lu.assertTrue((from[i] == edges.from[k]) ~= (to[i] == edges.to[k]))
  end
  local h = ladies.zeros(36, 3):uniform_(-1, 1, ladies.rng(2))
  local decoder = ladies.nn.link_decoder{kind = "dot", inputs = 3, rng = ladies.rng(1)}
  local ranks = links.ranks(edges, some, decoder, h, {node_types = data.node_types, ends = "to"})
  local all = edges:others "to"
  for i = 1, #some, 5 do
    local u, v, rank = edges.from[some[i]], edges.to[some[i]], 1
    local function score(w) return (h[u] * h[w]):sum():item() end
    for w = 7, 36 do
      local known = all:has(index{u}, index{w})[1] == 1
      if not known and score(w) > score(v) then rank = rank + 1 end
    end
    lu.assertEquals(ranks[i], rank)
  end
  local ten = links.ranks(edges, some, decoder, h, {node_types = data.node_types, candidates = 10})
  lu.assertTrue(ten:max() <= 11)
end

--- Every model trains and is tested in time, or says in one line what its edges lack.
function tests.test_models()
  local data, lacking = shop(6, 8, 1), {}
  for name, entry in pairs(require("ladies.experiment.models").by_name) do
    if not entry.no_graph then
      local ok, found = pcall(run, data, {model = name, max_batches = 2, samples = 2})
      if ok then
        lu.assertNotNaN(found.test.AUC, name)
      else
        lacking[#lacking + 1] = name
        lu.assertStrContains(found, "the model " .. name .. " reads ")
      end
    end
  end
  table.sort(lacking)
  lu.assertEquals(lacking, {"gine", "rgcn"})
end

function tests.test_refusals()
  local data = shop(6, 8, 1)
  local function refused(text, opts) fails(text, task.link_prediction, data, opts) end
  refused('edge_split = "time" or "time:85/5/10"', {in_time = true})
  refused("a number of candidates", {in_time = true, edge_split = "time", candidates = "all"})
  refused("nothing has to be left out", {in_time = true, edge_split = "time", exclude = "all",
    supervision = 0.5})
  refused('draw = "pairs" has no time', {in_time = true, edge_split = "time", negatives = "pairs"})
  refused('or "time:85/5/10" by the times of edges', {edge_split = "time:85/5"})
  fails("asks for edges with times", task.link_prediction, ladies.data.from_arrays{
    edges = {{1, 2}, {2, 3}, {3, 1}}, features = ladies.ones(3, 2)}, {edge_split = "time"})
  fails("none is left for training", task.link_prediction, ladies.data.from_arrays{
    edges = {{1, 2}, {2, 3}, {3, 1}}, edge_times = {5, 5, 5}, features = ladies.ones(3, 2)},
    {edge_split = "time:40/20/40"})
  fails("is for tasks on edges, such as link_prediction, not for node_classification", ladies.train,
    {data = ladies.data.from_arrays{edges = {{1, 2}, {2, 3}}, edge_times = {1, 2}, train = {1},
      features = ladies.ones(3, 2), labels = {1, 2, 1}}, method = "temporal", quiet = true})
  fails("asks for edges with times", run, shop(6, 8, 1, false))
end

return tests
