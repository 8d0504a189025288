--- Layers that read features or types of edges: what PyTorch Geometric computes with the same
-- weights (fixtures/make_edge_models.py), gradients, samples, loops, and what they refuse. Pooling,
-- too.
local lu = require "luaunit"
local ladies = require "ladies"
local compare = require "reference.compare"
local fixture = require "reference.fixture"
local gradcheck = require "reference.gradcheck"

local nn = ladies.nn
local fixtures = fixture.open "edge_models"
local tests = {}

local INPUTS, OUTPUTS, EDGE, RELATIONS = 5, 6, 3, 4

-- Each case of the fixture as a layer of ours.
local CASES = {
  gatv2 = {nn.gatv2_conv, {heads = 3, edge_inputs = EDGE}},
  gatv2_mean = {nn.gatv2_conv, {heads = 2, combine = "mean"}},
  transformer = {nn.transformer_conv, {heads = 3, edge_inputs = EDGE}},
  transformer_mean = {nn.transformer_conv, {heads = 2, combine = "mean"}},
  gine = {nn.gine_conv, {edge_inputs = EDGE, learn_eps = true}},
  pna = {nn.pna_conv, {edge_inputs = EDGE, messages = INPUTS,
    delta = fixtures:tensor "pna.delta":item()}},
  rgcn = {nn.rgcn_conv, {relations = RELATIONS, bases = 2}},
}

local rows, cols = fixtures:index "graph.rows", fixtures:index "graph.cols"
local x = fixtures:tensor "graph.x"
local NODES = x.n_rows
local ALL = ladies.range(1, NODES)

-- The whole graph as a block: row v has its sources.
local function whole()
  return {dst = ALL, src = ALL, adj = ladies.matrix{n_rows = NODES, n_cols = NODES, rows = rows,
    cols = cols}, edge_features = fixtures:tensor "graph.edge_features",
    edge_types = fixtures:index "graph.edge_types"}
end

-- Some rows of the block `of`, whose sources are in another order.
local function part(of, dst, src)
  local adj = of.adj:slice(dst, src)
  return {dst = dst, src = src, adj = adj, edge_features = of.edge_features[adj.edge],
    edge_types = of.edge_types[adj.edge]}
end

-- The layer of a case with the weights of the fixture.
local function layer_of(case, opts)
  local all = {inputs = INPUTS, outputs = OUTPUTS, rng = ladies.rng(1)}
  for key, value in pairs(opts or CASES[case][2]) do all[key] = value end
  local layer = CASES[case][1](all)
  for _, one in ipairs(layer:named_parameters()) do
    one.tensor:copy_(fixtures:tensor(case .. "." .. one.name))
  end
  return layer
end

local function for_all(f)
  local names = {}
  for name in pairs(CASES) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do f(layer_of(name), name) end
end

--- With the same weights they give what PyG's layers do, from sparse features too.
function tests.test_pyg()
  for_all(function(layer, name)
    local out = fixtures:tensor(name .. ".out")
    compare.assert_close(layer:forward(x, whole()), out, 2e-5, name)
    compare.assert_close(layer:forward(ladies.sparse(x), whole()), out, 2e-5, name .. ", sparse")
  end)
end

--- A part of the rows with all that they read, whatever the order of the nodes, has the rows of the
-- whole.
function tests.test_rows_of_the_whole()
  local src = ladies.sampling.permutation(NODES, ladies.rng(3))
  local dst = ladies.index{7, 2, NODES, 5}
  for_all(function(layer, name)
    local found = layer:forward(x:rows(src), part(whole(), dst, src))
    compare.assert_close(found, fixtures:tensor(name .. ".out"):rows(dst), 2e-5, name)
  end)
end

--- The gradients of parameters and of the input are those of differences.
function tests.test_gradients()
  local block = part(whole(), ladies.index{3, 8, NODES}, ALL)
  for_all(function(layer, name)
    if rawget(layer, "slope") then layer.slope = 0.7 end
    local h = x:clone():requires_grad_()
    local inputs = layer:parameters()
    inputs[#inputs + 1] = h
    gradcheck.check(name, function() return layer:forward(h, block) end, inputs)
  end)
end

--- From sparse features R-GCN has the gradients that it has from the same features as a Tensor.
function tests.test_gradients_from_sparse_features()
  local found = {}
  for _, h in ipairs{x, ladies.sparse(x)} do
    local layer, sums = layer_of "rgcn", {}
    local step <close> = ladies.step()                                   -- luacheck: ignore step
    layer:forward(h, whole()):square():sum():backward()
    for i, parameter in ipairs(layer:parameters()) do sums[i] = parameter.grad:clone() end
    found[#found + 1] = sums
  end
  for i, gradient in ipairs(found[1]) do compare.assert_close(found[2][i], gradient, 1e-3) end
end

-- The whole block with a loop at every node, of weight `weight` as all of its entries, and with
-- zeros for what is known of loops.
local function with_loops(weight)
  local plain = whole()
  local adj = plain.adj:add_diag(1)
  local loops = adj:col_of():equals(adj:row_of())
  local edges = (1 - loops):positions()
  local types = ladies.zeros(adj.nnz)
  types:add_at_(edges, plain.edge_types:to_tensor())
  return {dst = ALL, src = ALL, adj = adj:with_values(ladies.full(adj.nnz, weight)),
    edge_features = ladies.zeros(adj.nnz, EDGE):copy_rows_(edges, plain.edge_features),
    edge_types = types:to_index()}
end

--- The weights of entries, which samplers may learn, have their gradients, also where a row has no
-- edge of a relation, or nothing but its loop.
function tests.test_gradients_of_weights()
  for_all(function(layer, name)
    local block = with_loops(1)
    local values = ladies.zeros(block.adj.nnz):uniform_(0.5, 1.5, ladies.rng(6)):requires_grad_()
    if rawget(layer, "slope") then layer.slope = 0.7 end
    gradcheck.check(name, function()
      return layer:forward(x, {dst = ALL, src = ALL, adj = block.adj:with_values(values),
        edge_features = block.edge_features, edge_types = block.edge_types})
    end, {values})
  end)
end

--- Loops, such as those of A + I, are no edges for R-GCN and GINE; where all entries weigh the
-- same, the mean of R-GCN does not depend on what.
function tests.test_loops()
  for _, weight in ipairs{1, 0.25} do
    local layer = layer_of "rgcn"
    compare.assert_close(layer:forward(x, with_loops(weight)), fixtures:tensor "rgcn.out", 2e-5)
  end
  compare.assert_close(layer_of "gine":forward(x, with_loops(1)), fixtures:tensor "gine.out", 2e-5)
end

--- A weight counts as so many edges: in attention, in sums, in means by relation.
function tests.test_weights()
  local plain = whole()
  for _, name in ipairs{"gatv2", "transformer", "gine", "rgcn"} do
    local layer = layer_of(name)
    local one = part(plain, ladies.index{4}, ALL)
    local n = one.adj.nnz
    local nodes = ALL .. one.adj:col_of() + NODES
    local twice = {dst = one.dst,            -- the sources of the row twice, as other nodes
      src = nodes, edge_types = one.edge_types .. one.edge_types,
      edge_features = ladies.concat_rows{one.edge_features, one.edge_features},
      adj = ladies.matrix{n_rows = 1, n_cols = #nodes, rows = ladies.range(1, 2 * n) * 0 + 1,
        cols = one.adj:col_of() .. ladies.range(NODES + 1, NODES + n)}}
    local both = layer:forward(x:rows(ALL .. one.adj:col_of()), twice)
    one.adj = one.adj:with_values(ladies.full(n, 2))
    compare.assert_close(layer:forward(x, one), both, 2e-5, name)
  end
end

--- Parallel edges of one relation count as often as they are there.
function tests.test_parallel_edges()
  local layer, one = layer_of "rgcn", part(whole(), ladies.index{4}, ALL)
  local n, from, types = one.adj.nnz, one.adj:col_of(), one.edge_types
  local adj, order = ladies.edge_matrix{n_rows = 1, n_cols = NODES,
    rows = ladies.range(1, n + 1) * 0 + 1, cols = from .. from:slice(1, 1)}
  local weights = ladies.ones(n)
  weights:add_at_(ladies.index{1}, 1)
  local block = {dst = one.dst, src = ALL, adj = adj,
    edge_types = (types .. types:slice(1, 1))[order]}
  one.adj = one.adj:with_values(weights)
  compare.assert_close(layer:forward(x, block), layer:forward(x, one), 2e-5)
end

function tests.test_refused()
  local fails, block = lu.assertErrorMsgContains, whole()
  local layer = layer_of "rgcn"
  local features, types = block.edge_features, block.edge_types
  block.edge_types = nil
  fails("nn.rgcn_conv: the layer reads the types of edges, and the block has no edge_types",
    layer.forward, layer, x, block)
  block.edge_types = types:slice(1, 3)
  fails("must have " .. #types .. " elements, one for each entry, it has 3", layer.forward, layer,
    x, block)
  block.edge_types = types + 1
  fails("block.edge_types must be from 0 to 4, the relations of the model", layer.forward, layer, x,
    block)
  for _, name in ipairs{"gatv2", "transformer", "gine", "pna"} do
    local one = layer_of(name)
    block.edge_features = nil
    fails("_conv: the layer reads the features of edges, and the block has no edge_features",
      one.forward, one, x, block)
    block.edge_features = features:slice_cols(1, 2)
    fails(("block.edge_features must be %d x 3, a row for each entry, it is %d x 2"):format(#types,
      #types), one.forward, one, x, block)
  end
  for name, conv in pairs{gatv2_conv = nn.gatv2_conv, transformer_conv = nn.transformer_conv} do
    fails(name .. ": 7 columns cannot be divided among 2 heads", conv,
      {inputs = 2, outputs = 7, heads = 2, rng = ladies.rng(1)})
  end
end

--- GIN with one output or two still tells sums apart: layer normalisation of so few columns would
-- leave one row for all nodes, or two.
function tests.test_gin_of_few_outputs()
  local block = with_loops(1)
  for outputs = 1, 3 do
    for _, conv in ipairs{
      nn.gin{inputs = INPUTS, outputs = outputs, layers = 1, hidden = 8}.layers[1].conv,
      nn.gine{inputs = INPUTS, edge_inputs = EDGE, outputs = outputs, layers = 1,
        hidden = 8}.layers[1].conv,
    } do
      local different, count = {}, 0
      for _, row in ipairs(conv:forward(x, block):to_table()) do
        local text = ("%.4f"):format(row[1])
        if not different[text] then different[text], count = true, count + 1 end
      end
      lu.assertTrue(count > NODES / 2, ("%s: %d different rows of %d"):format(conv, count,
        NODES))
      -- Layers of three outputs and more have the parameters that they had.
      lu.assertEquals(#conv.norm.gain, outputs < 3 and 8 or outputs)
    end
  end
end

-- ---------------------------------------------------------------- models

local MODELS = {gatv2 = {edge_inputs = EDGE, heads = 2},
  transformer = {edge_inputs = EDGE, heads = 2}, gine = {edge_inputs = EDGE},
  pna = {edge_inputs = EDGE, delta = 1.2}, rgcn = {relations = RELATIONS, bases = 3}}

local function model_of(name)
  local opts = {inputs = INPUTS, outputs = OUTPUTS, hidden = 8, layers = 2}
  for key, value in pairs(MODELS[name]) do opts[key] = value end
  return nn[name](opts)
end

--- A mini-batch of whole neighbourhoods has the logits of one layer after the other over the graph,
-- and a file holds the model.
function tests.test_models()
  local path <close> = require("tools.shell").folder()
  for name in pairs(MODELS) do
    local model, block = model_of(name), with_loops(1)
    local h = x
    for i = 1, 2 do h = model:layer(i, h, block) end
    local output = ladies.index{9, 1, 4}
    local second = part(block, output, ladies.sampling.permutation(NODES, ladies.rng(1)))
    local first = part(block, second.src, ladies.sampling.permutation(NODES, ladies.rng(2)))
    local batch = {blocks = {first, second}, input = first.src, output = output}
    compare.assert_close(model:forward(x, batch, false), h:rows(output), 2e-5, name)
    ladies.save_model(model, path.path .. "/model.npz")
    local again = ladies.load_model(path.path .. "/model.npz")
    lu.assertEquals(tostring(again), tostring(model))
    lu.assertEquals(again:forward(x, batch, false):hash(), model:forward(x, batch, false):hash())
    lu.assertEquals(#nn.buffers(model):list(), 0, name)
  end
end

-- ---------------------------------------------------------------- pooling

local graphs = fixtures:index "graph.graphs"

--- Pooling by attention is PyG's; the others are what their names say, and 0 where there is
-- nothing.
function tests.test_pooling()
  local pooling = nn.pooling{kind = "attention", inputs = INPUTS, rng = ladies.rng(1)}
  pooling.score.weight:copy_(fixtures:tensor "pooling.score.weight")
  pooling.score.bias:copy_(fixtures:tensor "pooling.score.bias")
  compare.assert_close(pooling:forward(x, graphs, 4), fixtures:tensor "pooling.out", 1e-5)
  local h = ladies.tensor{{1, -5}, {3, -4}, {-1, 2}}
  local of = ladies.index{3, 3, 1}
  for kind, expected in pairs{sum = {{-1, 2}, {0, 0}, {4, -9}}, mean = {{-1, 2}, {0, 0}, {2, -4.5}},
    max = {{-1, 2}, {0, 0}, {3, -4}}} do
    lu.assertEquals(nn.pooling{kind = kind}:forward(h, of, 3):to_table(), expected, kind)
    lu.assertEquals(tostring(nn.pooling{kind = kind}), "Pooling by " .. kind)
  end
  lu.assertErrorMsgContains("n must be a positive integer", pooling.forward, pooling, x, graphs, 0)
  for message, given in pairs{
    ["inputs, for attention, must be a positive integer, got nil"] = {kind = "attention",
      rng = ladies.rng(1)},
    ["rng, for attention, must be an Rng, got nil"] = {kind = "attention", inputs = 2},
    ["init must be one of glorot_uniform"] = {kind = "sum", init = "kaiming"},
  } do
    lu.assertErrorMsgContains("ladies.nn.pooling: " .. message, nn.pooling, given)
  end
  local sum = nn.pooling{kind = "sum"}
  lu.assertErrorMsgContains("ladies.nn.pooling: there are 3 rows of h and 2 numbers of graphs",
    sum.forward, sum, h, ladies.index{1, 2}, 2)
end

--- The order of the nodes does not matter, and gradients are those of differences.
function tests.test_pooling_of_nodes_in_any_order()
  local order = ladies.sampling.permutation(NODES, ladies.rng(4))
  for _, kind in ipairs{"sum", "mean", "max", "attention"} do
    local pooling = nn.pooling{kind = kind, inputs = INPUTS, rng = ladies.rng(1)}
    compare.assert_close(pooling:forward(x:rows(order), graphs[order], 4),
      pooling:forward(x, graphs, 4), 1e-5, kind)
    local apart = ladies.sampling.permutation(NODES * INPUTS, ladies.rng(5)):to_tensor() / 10
    local h = apart:reshape(NODES, INPUTS):requires_grad_()     -- no two are about the same
    local inputs = pooling:parameters()
    inputs[#inputs + 1] = h
    gradcheck.check(kind, function() return pooling:forward(h, graphs[order], 4) end, inputs)
  end
end

return tests
