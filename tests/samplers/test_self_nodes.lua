--- The option self_nodes of samplers that draw for each node: with "previous" the destinations of a
-- layer are in its src, with "none" only the drawn nodes are. The draws are the same.
local lu = require "luaunit"
local ladies = require "ladies"
local graphs = require "reference.graphs"
local tables = require "ladies.base.tables"

local samplers, sampling, index = ladies.samplers, ladies.sampling, ladies.index
local tests = {}

local CASES = {
  {"graphsage", {}}, {"graphsage", {replace = true}}, {"graphsage", {form = "unbiased"}},
  {"labor", {}}, {"labor", {iterations = 2, form = "unbiased"}}, {"labor", {batch_dependency = 3}},
}

-- The P of a graph without self-loops, whose nodes 1 to 5 have no neighbours.
local function graph()
  local alone, others = graphs.matrix(5, {}), graphs.random(55, 4, 9):without_loops()
  return ladies.block_diagonal{alone, others}:row_normalize()
end

-- One layer over P from some nodes.
local function block_of(P, case, self_nodes, seeds)
  return samplers[case[1]](P, tables.merged({samples = {2},
    self_nodes = self_nodes}, case[2]))(seeds, ladies.rng(4)).blocks[1]
end

-- The entries of a block as "destination source" -> value.
local function entries_of(block)
  local found, src, dst = {}, block.src:to_table(), block.dst:to_table()
  for i, row in ipairs(block.adj:to_dense():to_table()) do
    for j, x in ipairs(row) do
      if x ~= 0 then found[("%d %d"):format(dst[i], src[j])] = x end
    end
  end
  return found
end

function tests.test_src_is_what_was_drawn()
  local P, seeds = graph(), index{3, 40, 12, 33, 58, 21}
  for _, case in ipairs(CASES) do
    local kept = block_of(P, case, "previous", seeds)
    local drawn = block_of(P, case, "none", seeds)
    lu.assertTrue(kept.src:slice(1, #seeds) == seeds, case[1])
    lu.assertEquals(entries_of(drawn), entries_of(kept), case[1])
    lu.assertTrue(#drawn.src < #kept.src, case[1])
    lu.assertEquals(#sampling.unique(drawn.adj:col_of()), #drawn.src, case[1])
  end
end

--- Seeds that have no neighbours need no node at all, and can be trained on.
function tests.test_nothing_was_drawn()
  local P = graph()
  local labels, features = index{1, 2, 1, 2, 1}, ladies.ones(60, 80)
  for _, case in ipairs(CASES) do
    local opts = tables.merged({samples = {2, 2}, self_nodes = "none"}, case[2])
    local batch = samplers[case[1]](P, opts)(ladies.range(1, 5), ladies.rng(1))
    lu.assertEquals(#batch.input, 0, case[1])
    local model = ladies.nn.gcn{inputs = 80, hidden = 3, outputs = 2, layers = 2, P = P}
    local _ <close> = ladies.step()
    local loss = ladies.loss.cross_entropy(model:forward(features, batch, false), labels)
    loss:backward()
    lu.assertAlmostEquals(loss:item(), math.log(2), 1e-6)
    lu.assertEquals(model.layers[1].conv.weight.grad:norm(), 0)
  end
end

return tests
