--- Random node sampling: batches against a dense reference, epochs that hold every node once,
-- chances by enumeration, few training nodes, given seeds, and bits.
local lu = require "luaunit"
local ladies = require "ladies"
local compare = require "reference.compare"
local dense = require "reference.dense"
local graphs = require "reference.graphs"
local statistics = require "reference.statistics"
local toy = require "reference.toy_data"

local fails = lu.assertErrorMsgContains
local index, rns = ladies.index, ladies.samplers.rns

local tests = {}

--- A batch is the subgraph of its nodes, normalised by itself, in each layer.
function tests.test_subgraphs()
  dense.cases(function(A, D)
    for _, opts in ipairs{{}, {normalize = "row"}, {self_loops = false}, {normalize = "none"}} do
      local given = {layers = 2, train = index{2, 5, 7, 11}, parts = 3}
      for name, value in pairs(opts) do given[name] = value end
      local sampler = rns(A, given)
      for batch in ladies.batches(given.train, {sampler = sampler, epochs = 5}) do
        ladies.sampling.check(batch)
        local nodes = batch.output:to_table()
        local S, kind = dense.pick(D, nodes, nodes), opts.normalize or "sym"
        if kind ~= "none" then S = dense.normalize(S, kind, opts.self_loops ~= false) end
        if kind ~= "none" then
          compare.assert_close(batch.blocks[1].adj:to_dense(),
            dense.map(S, function(v) return v or 0 end), 1e-6)
        else
          lu.assertEquals(batch.blocks[1].adj:hash(),
            A:induced(batch.output):normalize "none":hash())
        end
        lu.assertIs(batch.blocks[2], batch.blocks[1])
        lu.assertEquals(batch.stats.isolated, 2 * batch.blocks[1].adj:empty_rows())
      end
    end
  end)
end

--- An epoch has each node in one batch; all have training nodes, and sizes differ by two at most.
function tests.test_every_node_once()
  local data = toy.new()
  local A, n = data.graph.adjacency, data.graph.n_nodes
  for _, train in ipairs{data.train, data.train:slice(1, 5), index{17}} do
    for _, parts in ipairs{1, 2, 7, 20} do
      local sampler = rns(A, {layers = 1, train = train, parts = parts})
      lu.assertEquals(sampler.batches_per_epoch, math.min(parts, #train))
      local nodes, losses, least, most = {index{}, index{}}, {index{}, index{}}, n, 0
      for batch in ladies.batches(train, {sampler = sampler, epochs = 2, seed = parts}) do
        lu.assertTrue(#batch.loss_nodes > 0)
        local e = batch.epoch
        nodes[e] = nodes[e] .. batch.output
        losses[e] = losses[e] .. batch.output[batch.loss_nodes]
        least, most = math.min(least, #batch.output), math.max(most, #batch.output)
      end
      for e = 1, 2 do
        lu.assertTrue(nodes[e]:sort() == ladies.range(1, n))
        lu.assertTrue(losses[e]:sort() == train:sort())
      end
      lu.assertTrue(most - least <= 2, ("%d to %d"):format(least, most))
      lu.assertEquals(nodes[1] == nodes[2], sampler.batches_per_epoch == 1)
    end
  end
end

--- Two batches of six nodes, two of them for training: each has one of these and two of the four
-- others, all twelve such sets alike.
function tests.test_all_sets_are_as_likely()
  local A, train = graphs.matrix(6, {{1, 2}, {2, 1}}), index{2, 5}
  local sampler = rns(A, {layers = 1, train = train, parts = 2})
  statistics.assert_equally_likely(statistics.count(1200, function(i)
    local nodes = sampler(nil, nil, {index = 1 + i % 2, rng = ladies.rng(i)}).output
    lu.assertEquals(#ladies.sampling.find(nodes, train), 1)
    return table.concat(nodes:to_table(), " ")
  end), 12)
end

--- On average, one of `parts` neighbours of a node is in the node's batch.
function tests.test_share_of_edges()
  local A, parts = graphs.random(400, 20, 1), 5
  local sampler = rns(A, {layers = 1, train = ladies.range(1, 400), parts = parts,
    normalize = "none", self_loops = false})
  local share = statistics.running()
  for e = 1, 40 do
    local kept = 0
    for i = 1, parts do
      kept = kept + sampler(nil, nil, {index = i, rng = ladies.rng(e)}).blocks[1].adj.nnz
    end
    share.add(kept / A.nnz)
  end
  local expected = (400 / parts - 1) / 399
  lu.assertTrue(math.abs(share.mean() - expected) < 4.9 * share.standard_error(), share.mean())
end

--- A batch of given seeds has others besides, up to the size of a part.
function tests.test_given_seeds()
  local A = graphs.random(100, 4, 3)
  local sampler = rns(A, {layers = 2, train = ladies.range(1, 50), parts = 5})
  local seeds = index{90, 3, 41}
  local batch = ladies.sampling.check(sampler(seeds, ladies.rng(1)))
  lu.assertEquals(#batch.output, 20)
  lu.assertTrue(batch.output[batch.loss_nodes] == seeds)
  lu.assertNotEquals(batch.output:hash(), sampler(seeds, ladies.rng(2)).output:hash())
  lu.assertEquals(#sampler(ladies.range(1, 60), ladies.rng(1)).output, 60)
  lu.assertEquals(#sampler(ladies.range(1, 100), ladies.rng(1)).output, 100)
  fails("the seeds must be an Index, got nil", sampler)
  fails("there are no seeds", sampler, index{}, ladies.rng(1))
  fails("node 3 occurs twice", sampler, index{3, 1, 3}, ladies.rng(1))
  fails("rng must be an Rng, got nil", sampler, seeds)
  fails("out of range", sampler, index{101}, ladies.rng(1))
end

function tests.test_errors()
  local A = graphs.star()
  local function rejects(message, ...)
    fails("ladies.samplers.rns: " .. message, rns, ...)
  end
  rejects("P must be square, got Matrix 5 x 6", graphs.five_by_six(),
    {layers = 2, train = index{1}})
  rejects("train must be an Index, got nil", A, {layers = 2})
  rejects("train must not be empty", A, {layers = 2, train = index{}})
  rejects("training node 1 occurs twice", A, {layers = 2, train = index{1, 1}})
  rejects("parts must be a positive integer, got 0", A, {layers = 2, train = index{1}, parts = 0})
end

return tests
