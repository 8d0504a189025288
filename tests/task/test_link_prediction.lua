--- Link prediction: what a mini-batch holds, and what is scored and how.
local lu = require "luaunit"
local ladies = require "ladies"
local toy = require "reference.toy_data"

local sampling, links = ladies.sampling, ladies.links
local tests = {}

local function task_of(opts) return ladies.task.link_prediction(toy.new(), opts) end

local function encoder(data, opts)
  return ladies.nn.gcn{inputs = data.features.n_cols, hidden = 16, outputs = opts or 8, layers = 2,
    seed = 3}
end

local function sampler_of(task)
  return ladies.samplers.graphsage(task.data.graph:normalize "sym", {samples = {5, 5}})
end

-- The edges that a task with these options has.
local function edges_of(opts)
  return links.split(toy.new().graph,
    {val = 0.05, test = 0.1, seed = opts and opts.edge_split_seed or 1})
end

local function batches_of(task, opts)
  opts = opts or {}
  return ladies.batches(task.units.train, {batch_size = 20, task = task, epochs = 1,
    sampler = opts.sampler or sampler_of(task), seed = 5, quiet = true})
end

--- The positives come first, none of the negatives is an edge that training knows, and no block has
-- an edge that is asked for.
function tests.test_what_a_mini_batch_holds()
  local data = toy.new()
  for _, opts in ipairs{{}, {exclude = "none"}, {exclude = "all", supervision = 0.4},
    {negatives = "degree", per_positive = 3}, {negatives = "pairs", corrupt = "to"}} do
    local task, edges = task_of(opts), edges_of()
    local known = edges:others("to", edges.train):to_dense()
    local k, found = opts.per_positive or 1, 0
    local positives = task.units.train
    lu.assertEquals(#positives, opts.supervision and math.floor(#edges.train * 0.4) or #edges.train)
    for batch in batches_of(task) do
      local at, units = batch.pairs, batch.units
      local from, to = batch.output[at.from], batch.output[at.to]
      lu.assertEquals({at.positives, #from}, {#units, #units * (k + 1)})
      lu.assertEquals(from:slice(1, #units), edges.from[units])
      lu.assertEquals(to:slice(1, #units), edges.to[units])
      for i = #units + 1, #from do lu.assertEquals(known:get(from[i], to[i]), 0) end
      local asked = opts.exclude == "all" and positives or units
      local ends = edges.from[asked] .. edges.to[asked]
      local others = edges.to[asked] .. edges.from[asked]
      local left_out = ladies.matrix{n_rows = #data, n_cols = #data, rows = ends, cols = others}
      for _, block in ipairs(batch.blocks) do
        local hit = left_out:has(block.dst[block.adj:row_of()], block.src[block.adj:col_of()])
        found = found + hit:sum():item()
      end
    end
    lu.assertEquals(found > 0, opts.exclude == "none")
  end
end

--- Nothing of the edges for validation and test is in what propagates.
function tests.test_propagation_has_the_edges_for_training_alone()
  local task, edges = task_of(), edges_of()
  lu.assertTrue(task.data.graph.adjacency == edges.graph.adjacency)
  local hidden = sampling.concat{edges.val, edges.test}
  local A = task.data.graph.adjacency
  lu.assertEquals(A:has(edges.from[hidden], edges.to[hidden]):sum():item(), 0)
  lu.assertEquals(A:has(edges.from[edges.train], edges.to[edges.train]):sum():item(), #edges.train)
end

--- Positives and negatives count one half each.
function tests.test_loss_by_hand()
  local task = task_of{embedding = 8, per_positive = 3}
  local model = task:equip(encoder(task.data))
  local batch = batches_of(task)()
  local step <close> = ladies.step()
  local h = model:forward(task.data.features, batch)
  local loss = task:loss_of(h, batch, model):item()
  local at, sums = batch.pairs, {0, 0}
  for i = 1, #at.from do
    local s = 0
    for c = 1, 8 do s = s + h:get(at.from[i], c) * h:get(at.to[i], c) end
    local side = i <= at.positives and 1 or 2
    sums[side] = sums[side] + math.log(1 + math.exp(side == 1 and -s or s))
  end
  local n = at.positives
  lu.assertAlmostEquals(loss, (sums[1] / n + sums[2] / (3 * n)) / 2, 1e-5)
  step:close()
end

function tests.test_variational_loss_by_hand()
  local task = task_of{embedding = 4, variational = true}
  lu.assertEquals(task.outputs, 8)
  local model, n = task:equip(encoder(task.data)), #task.data
  local batch = batches_of(task)()
  local step <close> = ladies.step()
  local h = model:forward(task.data.features, batch)
  local out = task.read(h, batch, model)
  local sum = 0
  for i = 1, h.n_rows do
    for c = 1, 4 do
      local mean, log = h:get(i, c), h:get(i, c + 4)
      sum = sum + (mean ^ 2 + math.exp(2 * log) - 2 * log - 1) / 2
    end
  end
  lu.assertAlmostEquals(out.divergence:item(), sum / h.n_rows, 1e-4)
  local targets = task.targets(batch.units, batch)
  lu.assertAlmostEquals(task.loss(out, targets, nil, batch, model):item(),
    ladies.loss.binary_cross_entropy(out.scores, targets):item() + sum / h.n_rows / n, 1e-5)
  step:close()
end

-- The toy graph, one way.
local function directed()
  local all = toy.with_edges(toy.new())
  return ladies.data.from_arrays{edges = all.edges, features = all.features, labels = all.labels,
    directed = "keep", name = "directed"}
end

--- A test draws as many pairs without an edge as it has edges, all different; scores, AUC and AP
-- are those by hand. In a directed graph a decoder is given the two ends in their order.
function tests.test_evaluation_against_pairs()
  for decoder, data in pairs{dot = toy.new(), complex = directed()} do
    local task = ladies.task.link_prediction(data, {embedding = 8, decoder = decoder})
    local edges = links.split(data.graph, {val = 0.05, test = 0.1, seed = 1})
    lu.assertEquals(edges.undirected, decoder == "dot")
    local model = task:equip(encoder(task.data))
    local z = ladies.inference.exact(model, task.data)
    local arrays = task.arrays(task:scored(z[task.nodes(edges.test)], edges.test, model),
      edges.test)
    local known, seen = edges:others "to":to_dense(), {}
    for i = 1, #edges.test do
      local u, v = arrays.pairs_from[i], arrays.pairs_to[i]
      lu.assertEquals(known:get(u, v), 0)
      lu.assertNil(seen[u * 1000 + v])
      seen[u * 1000 + v] = true
      if edges.undirected then seen[v * 1000 + u] = true end
    end
    local function scores(a, b) return model.decoder:forward(z[a], z[b]) end
    local one, none = scores(edges.from[edges.test], edges.to[edges.test]),
      scores(arrays.pairs_from, arrays.pairs_to)
    lu.assertTrue((one - arrays.predicted):abs():max() < 1e-5)
    lu.assertTrue((none - arrays.predicted_of_pairs):abs():max() < 1e-5)
    local wins = 0
    for i = 1, #one do
      for j = 1, #none do
        wins = wins + (one[i] > none[j] and 1 or one[i] == none[j] and 0.5 or 0)
      end
    end
    local found = task:evaluate(model, "test")
    lu.assertAlmostEquals(found.AUC, wins / (#one * #none), 1e-5)
    lu.assertTrue(found.AP > 0 and found.AP <= 1)
    lu.assertEquals(task:evaluate(model, edges.test), found)
  end
end

--- Ranks are those of links.ranks; of a variational model by the means.
function tests.test_evaluation_among_candidates()
  local edges = edges_of()
  for _, case in ipairs{{"all"}, {20}, {"20"}, {"all", true}} do
    local candidates, variational = case[1], case[2]
    local task = task_of{embedding = 8, candidates = candidates, decoder = "distmult",
      variational = variational}
    local model = task:equip(encoder(task.data, task.outputs))
    local z = ladies.inference.exact(model, task.data):slice_cols(1, 8)
    local ranks = links.ranks(edges, edges.val, model.decoder, z,
      {candidates = math.tointeger(tonumber(candidates))})
    local found = task:evaluate(model, "val")
    lu.assertAlmostEquals(found.MRR, (1 / ranks):mean():item(), 1e-6)
    for _, k in ipairs{1, 3, 10} do
      local hits = 0
      for i = 1, #ranks do hits = hits + (ranks[i] <= k and 1 or 0) end
      lu.assertAlmostEquals(found["Hits@" .. k], hits / #ranks, 1e-6)
    end
  end
end

--- With relations a mini-batch has triples, a negative keeps its relation, and those that are true
-- in training are none; pairs with an edge of the mini-batch, of whatever type, do not propagate.
function tests.test_relations()
  local data, edges, types = toy.new(), {}, {}
  local A = data.graph.adjacency
  local rows, cols = A:row_of(), A:col_of()
  for i = 1, A.nnz do
    if rows[i] > cols[i] then
      edges[#edges + 1] = {cols[i], rows[i]}
      types[#types + 1] = data.labels[rows[i]] == data.labels[cols[i]] and "near" or "far"
    end
  end
  data = ladies.data.from_arrays{edges = edges, edge_types = types, features = data.features,
    labels = data.labels, name = "typed"}
  local task = ladies.task.link_prediction(data, {relations = true, decoder = "distmult",
    embedding = 8, candidates = "all", per_positive = 2})
  local list = links.split(data.graph, {edges = data.edges, relations = true})
  lu.assertEquals({#list, list.n_relations}, {#edges, 2})
  local known = list:others("to", list.train)
  for batch in batches_of(task) do
    local at, units = batch.pairs, batch.units
    local from, to = batch.output[at.from], batch.output[at.to]
    lu.assertEquals(at.relations:slice(1, #units), list.relations[units])
    local hits = known:has(list:rows(from, at.relations), to)
    lu.assertEquals(hits:slice(1, #units):min(), 1)
    lu.assertEquals(hits:slice(#units + 1, #hits):max(), 0)
    for r = 1, 2 do
      lu.assertEquals(#at.relations:equals(r):positions(),
        3 * #list.relations[units]:equals(r):positions())
    end
    local left_out = ladies.matrix{n_rows = #data, n_cols = #data,
      rows = list.from[units] .. list.to[units], cols = list.to[units] .. list.from[units]}
    for _, block in ipairs(batch.blocks) do
      local hit = left_out:has(block.dst[block.adj:row_of()], block.src[block.adj:col_of()])
      lu.assertEquals(hit:sum():item(), 0)
    end
  end
  local model = task:equip(encoder(task.data))
  lu.assertEquals(model.decoder.relations.n_rows, 2)
  local ranks = links.ranks(list, list.test, model.decoder,
    ladies.inference.exact(model, task.data), {loops = true})
  lu.assertAlmostEquals(task:evaluate(model, "test").MRR, (1 / ranks):mean():item(), 1e-6)
  local function fails(text, of, opts)
    lu.assertErrorMsgContains(text, ladies.task.link_prediction, of, opts)
  end
  fails("dot does not tell 2 relations apart", data, {relations = true, candidates = "all"})
  fails('relations are tested against candidates: --candidates all', data,
    {relations = true, decoder = "distmult"})
  fails("relations = true asks for types of edges, which toy has not", toy.new(),
    {relations = true, candidates = 5, decoder = "distmult"})
end

--- Edges divided by time are tested as the options say: against pairs that share an end with them
-- and are no edges at that time, or among all nodes, without those of edges at any time.
function tests.test_tested_by_time()
  local rng, n, edges, times, ever = ladies.rng(7), 12, {}, {}, {}
  for i = 1, 120 do
    local from = rng:below(n)
    local to = (from + rng:below(n - 1) - 1) % n + 1
    edges[i], times[i] = {from, to}, (i + 1) // 2
    ever[from * n + to], ever[to * n + from] = true, true
  end
  local data = ladies.data.from_arrays{edges = edges, edge_times = times,
    features = ladies.ones(n, 2), name = "timed"}
  local pairs_task = ladies.task.link_prediction(data, {edge_split = "time", embedding = 3})
  local test = pairs_task.units.test
  local shown = pairs_task.arrays(ladies.zeros(2 * #test), test)
  local no_edges = 0
  for i = 1, #test do
    local from, to = shown.pairs_from[i], shown.pairs_to[i]
    lu.assertTrue(from == shown.from[i] or to == shown.to[i])
    no_edges = no_edges + (ever[from * n + to] and 0 or 1)
  end
  lu.assertTrue(no_edges < #test)                        -- some are edges at other times
  local task = ladies.task.link_prediction(data, {edge_split = "time", candidates = "all",
    embedding = 3, corrupt = "to"})
  local h, model = ladies.zeros(n, 3):normal_(1, rng), task:equip{}
  local ranks, scores = task.score(h, test, model), h:matmul(h:transpose())
  local ends = task.arrays(ranks, test)
  for i = 1, #test do
    local from, to, rank = ends.from[i], ends.to[i], 1
    for other = 1, n do
      if other ~= from and not ever[from * n + other]
        and scores:get(from, other) > scores:get(from, to) then rank = rank + 1 end
    end
    lu.assertEquals(ranks[i], rank)
  end
end

--- Negatives of one's own: the nodes beside the positive's, but for those that are edges.
function tests.test_negatives_of_ones_own()
  local task = task_of{negatives = function(from, to) return from, to % 179 + 1 end}
  for batch in batches_of(task) do
    local n, beside = batch.pairs.positives, {}
    local from, to = batch.output[batch.pairs.from], batch.output[batch.pairs.to]
    for i = 1, n do beside[from[i] .. " " .. to[i] % 179 + 1] = true end
    lu.assertTrue(#from > n)
    for i = n + 1, #from do lu.assertTrue(beside[from[i] .. " " .. to[i]]) end
  end
end

function tests.test_errors()
  local function fails(text, opts) lu.assertErrorMsgContains(text, task_of, opts) end
  fails("edge_split must be three shares of 100 per cent", {edge_split = "80/10/20"})
  fails("edge_split must be three shares of 100 per cent", {edge_split = "80"})
  fails('candidates must be "pairs", "all" or a positive integer, got "some"',
    {candidates = "some"})
  fails('exclude = "all" leaves nothing to propagate on', {exclude = "all"})
  fails("complex needs an even number of columns, got 7", {decoder = "complex", embedding = 7})
  local task = task_of()
  local all = ladies.batches(task.units.train, {batch_size = #task.units.train, task = task,
    sampler = sampler_of(task)})
  lu.assertErrorMsgContains('exclude = "seeds" leaves nothing to propagate on', all)
  local history = ladies.samplers.vrgcn(task.data.graph:normalize "sym",
    {samples = {2, 2}, hidden = 16, features = task.data.features, layers = 2})
  lu.assertErrorMsgContains("a method that keeps histories", batches_of(task, {sampler = history}))
end

return tests
