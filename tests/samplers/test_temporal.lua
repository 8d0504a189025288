--- Neighbours before a time: nothing later is ever seen, whole neighbourhoods against plain
-- recursion, each set of k equally likely, the most recent k, seeds of several times in one batch,
-- workers, refusals.
local lu = require "luaunit"
local ladies = require "ladies"
local compare = require "reference.compare"
local graphs = require "reference.graphs"
local statistics = require "reference.statistics"
local tables = require "ladies.base.tables"

local close, fails = compare.assert_close, lu.assertErrorMsgContains
local index, sampling, temporal = ladies.index, ladies.sampling, ladies.samplers.temporal
local ALL = 1000000

local tests = {}

-- The edges of a data set as {from =, to =, time =, edge =}, self-loops left out.
local function edges_of(data)
  local A, list = data.edges.adjacency, {}
  local to, from, times = A:row_of():to_table(), A:col_of():to_table(), data.edges.times:to_table()
  for e = 1, #to do
    if to[e] ~= from[e] then
      list[#list + 1] = {from = from[e], to = to[e], time = times[e], edge = e}
    end
  end
  return list
end

-- The edges to v before a time, ascending in time, of equal times by position.
local function before(list, v, time)
  local found = {}
  for _, one in ipairs(list) do
    if one.to == v and one.time < time then found[#found + 1] = one end
  end
  table.sort(found, function(a, b)
    if a.time ~= b.time then return a.time < b.time end
    return a.edge < b.edge
  end)
  return found
end

-- The edges of the rows of a block: for each an array of positions, without the loop, which must
-- come first. Asserts that what is drawn is earlier than the row's time, that its column is where
-- the edge begins, at the time of the row, and that the row's own node is where block.own says.
local function rows_of(data, block, src_times)
  local A, rows = data.edges.adjacency, {}
  local from, to = A:col_of(), A:row_of()
  local row, col, edge = block.adj:row_of(), block.adj:col_of(), block.edge
  lu.assertEquals(#edge, block.adj.nnz)
  for i = 1, #block.dst do
    rows[i] = {}
    lu.assertEquals(block.src[block.own[i]], block.dst[i])
    lu.assertEquals(src_times[block.own[i]], block.times[i])
  end
  for k = 1, #edge do
    local i, e = row[k], edge[k]
    lu.assertEquals(src_times[col[k]], block.times[i])
    if e == 0 then
      lu.assertEquals(col[k], block.own[i])
      lu.assertEquals(#rows[i], 0)
    else
      lu.assertTrue(data.edges.times[e] < block.times[i], "an edge that is not earlier")
      lu.assertEquals({from[e], to[e]}, {block.src[col[k]], block.dst[i]})
      table.insert(rows[i], e)
    end
  end
  return rows
end

-- The times of the sources of the first block, which no block has: those of the rows that have an
-- entry there. rows_of then holds them to be the same for all of these.
local function times_of_input(block)
  local times = {}
  local row, col = block.adj:row_of(), block.adj:col_of()
  for k = 1, block.adj.nnz do times[col[k]] = times[col[k]] or block.times[row[k]] end
  return times
end

-- Checks a mini-batch and returns the rows of all of its blocks.
local function check_batch(data, batch, seeds, times)
  sampling.check(batch, "test", {nodes = #data})
  lu.assertTrue(batch.output == seeds)
  lu.assertTrue(batch.blocks[#batch.blocks].times == times)
  return tables.map(batch.blocks, function(block, l)
    return rows_of(data, block, l > 1 and batch.blocks[l - 1].times or times_of_input(block))
  end)
end

--- On random graphs with parallel edges, self-loops and many equal times, no mini-batch has an edge
-- that is not earlier than the time of its seed, whatever the layer.
function tests.test_never_looks_ahead()
  for seed = 1, 8 do
    local data = graphs.in_time(30, 200, 12, seed, seed % 2 == 0 and {} or nil)
    for _, opts in ipairs{{strategy = "uniform"}, {strategy = "recent"}, {normalize = "none"}} do
      opts.samples = {4, 3, 2}
      local sampler = temporal(data.edges, opts)
      local seeds, times = index{3, 7, 3, 12, 7, 3}, index{5, 11, 0, 5, 3, 12}
      local batch = sampler(seeds, ladies.rng(seed), {times = times})
      for l, rows in ipairs(check_batch(data, batch, seeds, times)) do
        local block, list = batch.blocks[l], edges_of(data)
        for i, row in ipairs(rows) do
          local there = #before(list, block.dst[i], block.times[i])
          lu.assertEquals(#row, math.min(there, opts.samples[l]))
        end
      end
    end
  end
end

-- The mean over v and its neighbours before a time, of the means below; times P's weights are one.
local function plain(data, list, v, time, layers, sum)
  if layers == 0 then return data.features[v]:to_table() end
  local total, n = plain(data, list, v, time, layers - 1, sum), 1
  for _, one in ipairs(before(list, v, time)) do
    for j, x in ipairs(plain(data, list, one.from, time, layers - 1, sum)) do
      total[j] = total[j] + x
    end
    n = n + 1
  end
  for j in ipairs(total) do total[j] = sum and total[j] or total[j] / n end
  return total
end

--- With all edges, what three layers compute is plain recursion over the edges before the time of
-- each seed, enumerated; a node may be a seed at several times.
function tests.test_whole_neighbourhoods()
  for seed = 1, 3 do
    local data = graphs.in_time(7, 25, 6, seed)
    local list, seeds, times = edges_of(data), {}, {}
    for v = 1, 7 do
      for time = 0, 7 do seeds[#seeds + 1], times[#times + 1] = v, time end
    end
    for _, normalize in ipairs{"row", "none"} do
      local sampler = temporal(data.edges, {samples = ALL, layers = 3, normalize = normalize})
      local batch = sampler(index(seeds), ladies.rng(1), {times = index(times)})
      local h = data.features[batch.input]
      for _, block in ipairs(batch.blocks) do h = block.adj:matmul(h) end
      for i, v in ipairs(seeds) do
        local want = plain(data, list, v, times[i], 3, normalize == "none")
        close(h[i], ladies.tensor(want), normalize == "row" and 1e-5 or 1e-3, "seed " .. i)
      end
    end
  end
end

--- When all edges are past, whole neighbourhoods are those of P, whose name the sampler has.
function tests.test_when_all_is_past()
  local data = graphs.in_time(20, 60, 9, 4, {})
  local A = data.graph.adjacency:without_loops()
  local batch = temporal(data.edges, {samples = ALL, layers = 1})(ladies.range(1, 20),
    ladies.rng(1), {times = ladies.range(1, 20) * 0 + 9})
  local h = batch.blocks[1].adj:matmul(data.features[batch.input])
  close(h, A:normalize "row":matmul(data.features), 1e-6, "P")
end

--- The most recent k against a plain reference; of equal times those that come last in the graph.
function tests.test_recent()
  for seed = 1, 5 do
    local data = graphs.in_time(12, 150, 8, seed)
    local list = edges_of(data)
    local sampler = temporal(data.edges, {samples = {3, 4}, strategy = "recent"})
    local seeds, times = index{1, 5, 9, 1, 2}, index{4, 8, 6, 7, 4}
    local batch = sampler(seeds, ladies.rng(seed), {times = times})
    for l, rows in ipairs(check_batch(data, batch, seeds, times)) do
      local k, block = ({3, 4})[l], batch.blocks[l]
      for i, row in ipairs(rows) do
        local all, want = before(list, block.dst[i], block.times[i]), {}
        for j = math.max(1, #all - k + 1), #all do want[#want + 1] = all[j].edge end
        lu.assertEquals(row, want)
      end
    end
  end
end

--- Each k of the d edges before the seed's time is drawn equally often, and with the sum its mean
-- is that of all d.
function tests.test_uniform()
  local to, from, times = {}, {}, {}
  for e = 1, 9 do from[e], to[e], times[e] = e + 1, 1, e end
  local data = ladies.data.from_arrays{edges = {index(from), index(to)}, edge_times = times,
    features = ladies.zeros(10, 3):uniform_(-1, 1, ladies.rng(1)), directed = "keep"}
  local sampler = temporal(data.edges, {samples = {2}, normalize = "none"})
  local counts, n, sum = {}, 6000, ladies.zeros(1, 3)
  for draw = 1, n do
    local batch = sampler(index{1}, ladies.rng(draw), {times = index{6}})
    local found = rows_of(data, batch.blocks[1], times_of_input(batch.blocks[1]))[1]
    local key = found[1] .. " " .. found[2]
    counts[key] = (counts[key] or 0) + 1
    sum = sum + batch.blocks[1].adj:matmul(data.features[batch.input]) / n
  end
  local expected = {}
  for a = 1, 5 do
    for b = a + 1, 5 do expected[a .. " " .. b] = n / 10 end
  end
  statistics.assert_frequencies(counts, expected)
  local all = ladies.zeros(1, 3)
  for v = 1, 6 do all = all + data.features[index{v}] end
  close(sum, all, 0.1, "mean")
end

--- A seed has the same neighbourhood alone and among seeds of other times, row by row: no draw
-- depends on the other seeds.
function tests.test_several_times_in_one_batch()
  local data = graphs.in_time(40, 600, 30, 2)
  local seeds, times = index{4, 4, 9, 4, 31}, index{10, 29, 20, 3, 29}
  for _, strategy in ipairs{"uniform", "recent"} do
    local sampler = temporal(data.edges, {samples = {4}, strategy = strategy})
    local together = sampler(seeds, ladies.rng(7), {times = times})
    local rows, different = check_batch(data, together, seeds, times)[1], {}
    for i = 1, #seeds do
      local one, at = seeds:slice(i, i), times:slice(i, i)
      local alone = sampler(one, ladies.rng(7), {times = at})
      lu.assertEquals(check_batch(data, alone, one, at)[1][1], rows[i])
      different[table.concat(rows[i], " ")] = true
    end
    local n = 0
    for _ in pairs(different) do n = n + 1 end
    lu.assertEquals(n, #seeds)
  end
end

--- A model that reads the rows of a node's own gives each of its times the row of that time.
function tests.test_own_rows()
  local data = graphs.in_time(7, 40, 6, 5)
  local seeds, times = index{2, 2, 5, 2}, index{6, 1, 4, 3}
  local sampler = temporal(data.edges, {samples = ALL, layers = 2})
  for _, name in ipairs{"sage", "gin", "gat"} do
    local model = ladies.nn[name]{inputs = 3, hidden = 8, outputs = 2, layers = 2,
      normalize = "row", seed = 3}
    local together = sampler(seeds, ladies.rng(1), {times = times})
    local h = model:forward(data.features, together, false)
    for i = 1, #seeds do
      local alone = sampler(seeds:slice(i, i), ladies.rng(1), {times = times:slice(i, i)})
      close(h:slice(i, i), model:forward(data.features, alone, false), 1e-5, name .. i)
    end
  end
end

--- Nodes have times of their own where a call gives none; with all edges, sampled inference is the
-- exact one in time, and the exact one over the whole graph is refused.
function tests.test_nodes_with_times()
  local data = graphs.in_time(7, 30, 6, 3)
  local node_times = index{6, 1, 4, 3, 5, 0, 2}
  local sampler = temporal(data.edges, {samples = ALL, layers = 2, node_times = node_times})
  local model = ladies.nn.gcn{inputs = 3, hidden = 4, outputs = 2, layers = 2, normalize = "row"}
  local nodes = index{1, 4, 7}
  local found = ladies.inference.sampled(model, data, nodes, {sampler = sampler})
  local batch = sampler(nodes, ladies.rng(1), {times = node_times[nodes]})
  close(found, model:forward(data.features, batch, false), 1e-6, "sampled")
  batch.rng = ladies.rng(2)
  model:forward(data.features, batch)
  fails("exact inference over the whole graph would look ahead", ladies.inference.exact, model,
    data)
end

--- ladies.train refuses to validate by exact inference, and tells that there is no test.
function tests.test_training_by_hand()
  local n = 30
  local data = graphs.in_time(n, 200, 12, 3, {labels = (ladies.range(1, n) % 2 + 1):to_table(),
    train = ladies.range(1, 20), val = ladies.range(21, 25), test = ladies.range(26, 30)})
  local node_times = ladies.range(1, n) % 12
  local sampler = temporal(data.edges, {samples = {3, 3}, node_times = node_times})
  local whole = temporal(data.edges, {samples = ALL, layers = 2, node_times = node_times})
  local function train(validation)
    return ladies.train{data = data, sampler = sampler, batch_size = 10, max_batches = 4,
      quiet = true, validation = validation, eval_every = 2,
      model = ladies.nn.sage{inputs = 3, hidden = 4, outputs = 2, layers = 2, normalize = "row"}}
  end
  fails("would look ahead", train, "exact")
  local result = train(function(model)
    local logits = ladies.inference.sampled(model, data, data.val, {sampler = whole})
    return ladies.metrics.accuracy(logits:argmax(), data.labels[data.val])
  end)
  lu.assertNil(result.test)
  lu.assertEquals(result.batches, 4)
end

--- A task gives its seeds times: the same mini-batches with any number of workers. Samplers that
-- do not go by times are refused.
function tests.test_times_of_a_task()
  local data = graphs.in_time(50, 800, 40, 6)
  local from, times = data.edges.adjacency:col_of(), data.edges.times
  local one = ladies.range(1, 300)
  local task = ladies.task.new{name = "at its time", unit = "edge", data = data,
    units = {train = one}, metrics = {{name = "none", of = function() return 0 end}},
    draw = function(units, _, sample)
      local all = ladies.matrix{n_rows = 40, n_cols = 50, rows = times[units] + 1,
        cols = from[units]}
      return sample(all:col_of(), all:row_of() - 1)
    end,
    read = function(h) return h end, targets = function() return nil end,
    loss = function(h) return h:sum() end}
  local function hashes(sampler, workers)
    local list = {}
    for batch in ladies.batches(one, {task = task, sampler = sampler, batch_size = 60, epochs = 2,
        workers = workers}) do
      list[#list + 1] = sampling.hash(batch) .. batch.blocks[2].edge:hash()
      lu.assertTrue(batch.blocks[1].edge:max() > 0)
    end
    return list
  end
  local sampler = temporal(data.edges, {samples = {3, 3}})
  local want = hashes(sampler, 0)
  lu.assertEquals(#want, 10)
  lu.assertNotEquals(want[1], want[6])
  lu.assertEquals(hashes(sampler, 2), want)
  local P = data.graph:normalize "row"
  fails("ladies.samplers.full would look ahead: the task gives the seeds times", hashes,
    ladies.samplers.full(P, {layers = 2}), 0)
end

function tests.test_errors()
  local data = graphs.in_time(9, 30, 5, 1)
  local sampler, rng = temporal(data.edges, {samples = {2}}), ladies.rng(1)
  fails("the seeds have no times", sampler, index{1}, rng)
  fails("2 times for 1 seeds", sampler, index{1}, rng, {times = index{1, 2}})
  fails("node 3 is twice there at one time", sampler, index{3, 4, 3}, rng,
    {times = index{2, 1, 2}})
  fails("the edges have no times", temporal, ladies.data.from_arrays{edges = {{1, 2}},
    edge_types = {1}, features = ladies.ones(2, 1)}.edges, {samples = {2}})
  fails("the edges must be an EdgeData, got a Graph", temporal, data.graph, {samples = {2}})
  local A, one = data.graph.adjacency, index{1}
  local t = A:row_of() * 0 + 1
  local order = ladies.range(1, A.nnz)
  local function call(...) return A:sample_before(...) end
  fails("k must be 0", call, one, one, -1, t, order, {rng = rng})
  fails("before has 2 times for 1 rows", call, one, index{1, 1}, 1, t, order, {rng = rng})
  fails("times and order must have", call, one, one, 1, one, order, {rng = rng})
  fails("order must list", call, one, index{2}, ALL, t, ladies.range(1, A.nnz) * 0 + A.nnz,
    {rng = rng})
  fails("sample_before: node", call, index{10}, one, 1, t, order, {rng = rng})
end

return tests
