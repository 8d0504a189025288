--- GraphSAINT: every subgraph of a graph of six nodes with its exact probability, for each way to
-- draw; both normalisations against those probabilities; batches, inductive graphs, training.
local lu = require "luaunit"
local ladies = require "ladies"
local compare = require "reference.compare"
local dense = require "reference.dense"
local graphs = require "reference.graphs"
local statistics = require "reference.statistics"
local toy = require "reference.toy_data"
local walks = require "reference.walks"

local fails, index, graphsaint = lu.assertErrorMsgContains, ladies.index, ladies.samplers.graphsaint

-- Standard errors that a right program passes in one of a million comparisons.
local BOUND = 4.9

local tests = {}

-- A triangle with a path of three nodes behind it: 1-2, 2-3, 3-1, 3-4, 4-5, 5-6.
local EDGES = {{1, 2}, {2, 3}, {3, 1}, {3, 4}, {4, 5}, {5, 6}}

local function six()
  local entries = {}
  for _, e in ipairs(EDGES) do
    entries[#entries + 1] = {e[1], e[2]}
    entries[#entries + 1] = {e[2], e[1]}
  end
  return graphs.matrix(6, entries)
end

-- ---------------------------------------------------------------- every subgraph

-- The sorted distinct nodes of lists of them, as text.
local function key_of(...)
  local inside, list = {}, {}
  for _, nodes in ipairs{...} do
    for _, v in ipairs(nodes) do inside[v] = true end
  end
  for v = 1, 6 do
    if inside[v] then list[#list + 1] = v end
  end
  return table.concat(list, " ")
end

local function nodes_of(text)
  local list = {}
  for v in text:gmatch "%d+" do list[#list + 1] = tonumber(v) end
  return list
end

-- {key of the nodes = probability} of n independent draws from {nodes as text = probability}.
local function drawn(p, n)
  local found = {[""] = 1}
  for _ = 1, n do
    local longer = {}
    for before, x in pairs(found) do
      for one, y in pairs(p) do
        local key = key_of(nodes_of(before), nodes_of(one))
        longer[key] = (longer[key] or 0) + x * y
      end
    end
    found = longer
  end
  return found
end

local function normalized(p)
  local total = 0
  for _, x in pairs(p) do total = total + x end
  for key, x in pairs(p) do p[key] = x / total end
  return p
end

-- The probabilities of all subgraphs, as the paper defines the four ways; D is P, dense, and roots
-- are the training nodes.
local WAYS = {}

function WAYS.node(D, _, opts)
  local p = {}
  for u = 1, 6 do
    p[tostring(u)] = 0
    for v = 1, 6 do p[tostring(u)] = p[tostring(u)] + (D[v][u] or 0) ^ 2 end
  end
  return drawn(normalized(p), opts.samples)
end

function WAYS.edge(_, _, opts)
  local degree, p = {0, 0, 0, 0, 0, 0}, {}
  for _, e in ipairs(EDGES) do
    for _, v in ipairs(e) do degree[v] = degree[v] + 1 end
  end
  for _, e in ipairs(EDGES) do p[key_of(e)] = 1 / degree[e[1]] + 1 / degree[e[2]] end
  return drawn(normalized(p), opts.samples)
end

-- The neighbours alone, all alike.
local function adjacency()
  local A = dense.new(6, 6)
  for _, e in ipairs(EDGES) do A[e[1]][e[2]], A[e[2]][e[1]] = 1, 1 end
  return A
end

function WAYS.rw(_, roots, opts)
  local p = {}
  for _, root in ipairs(roots) do
    for path, x in pairs(walks.paths(adjacency(), root, opts.length, {})) do
      local key = key_of(nodes_of(path))
      p[key] = (p[key] or 0) + x / #roots
    end
  end
  return drawn(p, opts.samples)
end

function WAYS.mrw(_, roots, opts)
  local p = {}
  for _, a in ipairs(roots) do
    for _, b in ipairs(roots) do
      for left, x in pairs(walks.frontier(adjacency(), {a, b}, opts.samples - 2)) do
        local key = key_of({a, b}, nodes_of(left))
        p[key] = (p[key] or 0) + x / (#roots * #roots)
      end
    end
  end
  return p
end

-- Returns the probabilities of subgraphs given that there is a training node among their nodes.
local function subgraphs(D, train, opts)
  local found = {}
  for key, x in pairs(WAYS[opts.by](D, train, opts)) do
    for _, v in ipairs(train) do
      if key:find(v, 1, true) then found[key] = x end
    end
  end
  return normalized(found)
end

local SETTINGS = {
  {by = "node", samples = 3}, {by = "edge", samples = 2}, {by = "rw", samples = 2, length = 2},
  {by = "mrw", samples = 4, frontier = 2},
}

-- f(sampler, subgraphs, P, train, name) for all ways, with all nodes and with three for training.
local function every(coverage, f)
  for _, train in ipairs{{1, 2, 3, 4, 5, 6}, {2, 5, 6}} do
    for _, kind in ipairs{"row", "sym"} do
      local P = six():normalize(kind)
      local D = P:to_dense():to_table()
      for _, given in ipairs(SETTINGS) do
        local opts = {layers = 2, train = index(train), coverage = coverage}
        for key, value in pairs(given) do opts[key] = value end
        f(graphsaint(P, opts), subgraphs(D, train, given), P, train,
          ("%s, %s, %d training nodes"):format(given.by, kind, #train))
      end
    end
  end
end

--- Batches have the subgraphs of the definition, as often as it says.
function tests.test_every_subgraph()
  every(1, function(sampler, expected, _, _, name)
    local means, n = {}, 2000
    for key, x in pairs(expected) do means[key] = n * x end
    statistics.assert_frequencies(statistics.count(n, function(i)
      local rng = ladies.rng(i)
      local batch = sampler(nil, rng, {epoch = 1, index = i, rng = rng})
      return table.concat(batch.output:to_table(), " ")
    end), means, name)
  end)
end

-- The probability that a subgraph has all of the given nodes.
local function inclusion(found, ...)
  local total = 0
  for key, x in pairs(found) do
    local all = true
    for _, v in ipairs{...} do all = all and key:find(v, 1, true) end
    total = total + (all and x or 0)
  end
  return total
end

--- The counts' N / C_v and C_v / C_vu are 1 / p_v and p_v / p_vu, up to the noise of the counts.
function tests.test_normalisations()
  every(1500, function(sampler, found, P, _, name)
    local least = 1500                                 -- subgraphs, of at most 6 nodes
    local row, col = P:row_of(), P:col_of()
    for v = 1, 6 do
      local p = inclusion(found, v)
      local error = math.abs(1 / sampler.loss[v] - p)
      lu.assertTrue(error <= BOUND * math.sqrt(p * (1 - p) / least) + 1e-6,
        ("%s: node %d: %g, exactly %g"):format(name, v, 1 / sampler.loss[v], p))
    end
    for e = 1, P.nnz do
      local p = inclusion(found, row[e])
      local alpha = inclusion(found, row[e], col[e]) / p
      local error = math.abs(1 / sampler.aggregator[e] - alpha)
      local never = alpha == 0 and 1.2 / (least * p) or 1e-6           -- a count of zero is one
      lu.assertTrue(error <= BOUND * math.sqrt(alpha * (1 - alpha) / (least * p)) + never,
        ("%s: edge %d %d: %g, exactly %g"):format(name, row[e], col[e],
          1 / sampler.aggregator[e], alpha))
    end
  end)
end

--- With these counts the rows are unbiased estimates of P's, given their nodes, and the loss is one
-- of the mean over the training nodes: over all subgraphs with their probabilities, up to the
-- counts' noise.
function tests.test_unbiased_by_enumeration()
  every(1500, function(sampler, found, P, train, name)
    local D, row, col = P:to_dense():to_table(), P:row_of(), P:col_of()
    local aggregator = dense.new(6, 6)
    for e = 1, P.nnz do aggregator[row[e]][col[e]] = sampler.aggregator[e] end
    local function h(v) return 1 + v * 7 % 5 end
    local loss, exact_loss = 0, 0
    for _, v in ipairs(train) do
      local mean, exact = 0, 0
      for u = 1, 6 do exact = exact + D[v][u] * h(u) end
      for key, x in pairs(found) do
        if key:find(v, 1, true) then
          loss = loss + x * sampler.loss[v] * h(v) / #train
          for _, u in ipairs(nodes_of(key)) do
            mean = mean + x * D[v][u] * (aggregator[v][u] or 0) * h(u)
          end
        end
      end
      lu.assertAlmostEquals(mean / inclusion(found, v) / exact, 1, 0.1, name)
      exact_loss = exact_loss + h(v) / #train
    end
    lu.assertAlmostEquals(loss / exact_loss, 1, 0.05, name)
  end)
end

--- All layers share the subgraph: a path that goes to and fro over an edge is there as often as the
-- edge is, but divided by the edge's alphas once for every step. Over all subgraphs, given that its
-- first node is in them, its mean is 1 after one step, and grows with every other.
function tests.test_paths_over_one_edge()
  local steps = 5
  every(1500, function(sampler, found, P, _, name)
    local row, col, weight = P:row_of(), P:col_of(), dense.new(6, 6)
    for e = 1, P.nnz do weight[row[e]][col[e]] = sampler.aggregator[e] end
    for _, edge in ipairs(EDGES) do
      local v, u = edge[1], edge[2]
      local both = inclusion(found, v, u)
      local there, back = both / inclusion(found, v), both / inclusion(found, u)
      local noise = BOUND / math.sqrt(1500 * both)
      local mean, exact = there, there
      for step = 1, both > 0 and steps or 0 do
        local forth, before = step % 2 == 1, exact
        mean = mean * (forth and weight[v][u] or weight[u][v])
        exact = exact / (forth and there or back)
        lu.assertTrue(math.abs(math.log(mean / exact)) < step * noise, name)
        lu.assertTrue(step == 1 and math.abs(exact - 1) < 1e-9 or exact > before - 1e-9, name)
      end
    end
  end)
end

-- ---------------------------------------------------------------- batches

local function place(i)
  local rng = ladies.rng(11):fork(1)
  return rng:fork(i), {epoch = 1, index = i, rng = rng:fork(0)}
end

--- The blocks, the weights and the loss nodes of a batch are what the tables say.
function tests.test_batches()
  local data = toy.new()
  local P = data.graph:normalize "row"
  for _, by in ipairs{"node", "edge", "rw", "mrw"} do
    local sampler = graphsaint(P, {layers = 3, train = data.train, by = by, samples = 30,
      coverage = 5})
    for i = 1, 5 do
      local batch = ladies.sampling.check(sampler(data.train, place(i)))
      local nodes, block = batch.output, batch.blocks[1]
      lu.assertIs(batch.blocks[3], block)
      lu.assertTrue(nodes == nodes:sort())
      local whole = P:induced(nodes)
      compare.assert_close(block.adj:entry_values(),
        whole:entry_values() * sampler.aggregator[whole.edge], 1e-6, by)
      local inside = ladies.sampling.find(data.train, nodes)
      lu.assertTrue(nodes[batch.loss_nodes]:sort() == data.train[inside]:sort())
      lu.assertTrue(#inside > 0)
      compare.assert_close(batch.loss_weight[batch.loss_nodes],
        sampler.loss[nodes[batch.loss_nodes]] / #data.train, 1e-6, by)
    end
  end
end

--- An inductive sampler draws only training nodes, and has the P of their own graph.
function tests.test_inductive()
  local data = toy.new()
  local A, train = data.graph.adjacency, data.train
  local own = A:induced(train:sort()):normalize "row"
  for _, by in ipairs{"node", "edge", "rw", "mrw"} do
    local sampler = graphsaint(A:normalize "row", {layers = 2, train = train, by = by,
      samples = 20, coverage = 5, inductive = true})
    lu.assertEquals({#sampler.loss, #sampler.aggregator}, {60, own.nnz})
    for i = 1, 5 do
      local batch = ladies.sampling.check(sampler(train, place(i)))
      local at = ladies.sampling.find(train:sort(), batch.output)
      lu.assertEquals(#at, #batch.output)
      local whole = own:induced(at)
      compare.assert_close(batch.blocks[1].adj:entry_values(),
        whole:entry_values() * sampler.aggregator[whole.edge], 1e-5, by)
      lu.assertEquals(#batch.loss_nodes, #batch.output)
    end
    fails("the seeds must be training nodes", sampler, data.val, ladies.rng(1))
  end
end

--- Without a place in an epoch the seeds are in the batch and carry the loss.
function tests.test_given_seeds()
  local data = toy.new()
  local sampler = graphsaint(data.graph:normalize "row", {layers = 2, train = data.train,
    samples = 10, coverage = 2})
  local seeds = index{9, 180, 30}
  local batch = ladies.sampling.check(sampler(seeds, ladies.rng(1)))
  lu.assertTrue(batch.output[batch.loss_nodes] == seeds)
  fails("there are no seeds", sampler, index{}, ladies.rng(1))
end

--- A sampler of the same graph and settings has the counts of the one before; a slice of a larger
-- matrix counts its own edges.
function tests.test_kept_counts()
  local A = graphs.random(40, 4, 1)
  local opts = {layers = 1, train = index{1, 2, 3}, samples = 5, coverage = 3}
  local one, two = graphsaint(A:normalize "row", opts), graphsaint(A:normalize "row", opts)
  lu.assertIs(two.aggregator, one.aggregator)
  for key, value in pairs{samples = 6, by = "edge", length = 3, coverage = 4,
    train = index{1, 2}} do
    local other = {[key] = value}
    for name, same in pairs(opts) do other[name] = other[name] or same end
    local kept = graphsaint(A:normalize "row", opts).aggregator
    lu.assertNotIs(graphsaint(A:normalize "row", other).aggregator, kept, key)
  end
  local S = A:normalize("row"):induced(ladies.range(11, 40))
  local sampler = graphsaint(S, opts)
  lu.assertEquals(#sampler.aggregator, S.nnz)
  ladies.sampling.check(sampler(nil, place(1)))
end

function tests.test_training()
  local data = toy.new()
  for _, by in ipairs{"node", "edge", "rw", "mrw"} do
    local sampler = graphsaint(data.graph:normalize "row", {layers = 2, train = data.train,
      by = by, samples = 60})
    local model = ladies.nn.gcn{inputs = toy.FEATURES, hidden = 16, outputs = 3, layers = 2,
      normalize = "row"}
    local result = ladies.train{data = data, model = model, sampler = sampler, lr = 0.02,
      max_batches = 150, quiet = true}
    lu.assertTrue(result.test_f1 > 0.8, by .. " " .. result.test_f1)
  end
end

--- The sampler takes isolated nodes, directed edges, and graphs without any.
function tests.test_odd_graphs()
  local empty = graphs.matrix(8, {})
  for _, A in ipairs{graphs.star(), graphs.directed(), graphs.isolated(), graphs.self_loops(),
      graphs.weighted(), graphs.disconnected(), empty} do
    for _, loops in ipairs{true, false} do
      local P = A:normalize("row", {self_loops = loops})
      for _, by in ipairs{"node", "edge", "rw", "mrw"} do
        local opts = {layers = 2, train = index{1, 3, 4, 8}, by = by, samples = 4, coverage = 3}
        local ok, sampler = pcall(graphsaint, P, opts)
        if ok then
          for i = 1, 5 do
            local batch = ladies.sampling.check(sampler(nil, place(i)))
            lu.assertTrue(batch.blocks[1].adj:entry_values():is_finite())
          end
        else
          lu.assertEquals(A, by == "node" and not loops and empty or by == "edge" and empty or nil,
            sampler)
        end
      end
    end
  end
end

function tests.test_errors()
  local P = six():normalize "row"
  local function rejects(message, given, A)
    given.layers = given.layers or 2
    fails("ladies.samplers.graphsaint: " .. message, graphsaint, A or P, given)
  end
  rejects("train must be an Index, got nil", {})
  rejects("train must not be empty", {train = index{}})
  rejects("training node 1 occurs twice", {train = index{1, 1}})
  rejects("by must be one of node, edge, rw, mrw", {train = index{1}, by = "walk"})
  rejects("samples must be a positive integer, got a table", {train = index{1}, samples = {3, 3}})
  rejects("frontier must be at most samples, got 5 and 4",
    {train = index{1}, by = "mrw", samples = 4, frontier = 5})
  rejects("the graph has no edges", {train = index{1}, by = "edge"}, graphs.matrix(6, {}))
  rejects("1000 subgraphs in a row without a training node",
    {train = index{6}, by = "node", samples = 2},
    graphs.matrix(6, {{1, 2}, {2, 1}}):normalize("row", {self_loops = false}))
  local config = ladies.experiment.configure{method = "graphsaint", inductive = true,
    normalize = "sym"}
  fails('inductive is for normalize = "row"', ladies.experiment.resolve, config, toy.new())
end

return tests
