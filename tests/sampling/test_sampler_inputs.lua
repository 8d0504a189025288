--- Odd input to every sampler: directed, disconnected, weighted and star-shaped graphs, self-loops,
-- isolated nodes, more samples than neighbours, empty batches, seeds that repeat or are no nodes.
local lu = require "luaunit"
local ladies = require "ladies"
local graphs = require "reference.graphs"
local tables = require "ladies.base.tables"
local toy = require "reference.toy_data"

local sampling, samplers, index = ladies.sampling, ladies.samplers, ladies.index
local fails = lu.assertErrorMsgContains

local tests = {}

local function mvs(P, opts)
  return samplers.mvs(samplers.vrgcn(P, opts), {train = ladies.range(1, P.n_rows),
    norms = function(nodes) return ladies.ones(#nodes) end})
end

-- A sampler that reads features.
local function reads(constructor)
  return function(P, opts)
    local own = {features = ladies.zeros(P.n_rows, 3):uniform_(-1, 1, ladies.rng(1))}
    for key, value in pairs(opts) do own[key] = value end
    return constructor(P, own)
  end
end

-- Those that take more than P and options; the others are ladies.samplers by their names.
local MADE = {mvs = mvs, asgcn = reads(samplers.asgcn), grapes = reads(samplers.grapes),
  pass = reads(samplers.pass)}

-- A sampler by rows of P joins with a line: its name; options for two layers; and the options with
-- which it takes whole neighbourhoods, so that on a row-normalised P it is exact (none: it never
-- is).
local SAMPLERS = {
  {"full", {layers = 2}, {layers = 2}},
  {"ladies", {samples = {3, 4}}, {samples = {50, 50}}},
  {"ladies", {samples = {3, 4}, draw = "wr", self_nodes = "batch", row_normalize = false}},
  {"ladies", {samples = {3, 4}, self_nodes = "previous", union = "post"}},
  {"ladies", {samples = {3, 4}, draw = "poisson"}, {samples = {50, 50}, draw = "poisson"}},
  {"ladies", {samples = {3, 4}, sketch = true}, {samples = {50, 50}, sketch = true}},
  {"ladies", {samples = {3, 4}, flat = true}, {samples = {50, 50}, flat = true}},
  {"ladies", {samples = {1, 1}, debias = true, self_nodes = "batch", row_normalize = false}},
  {"fastgcn", {samples = {3, 4}}},
  {"fastgcn", {samples = {3, 4}, draw = "wor"}, {samples = {50, 50}, draw = "wor"}},
  {"fastgcn", {samples = {3, 4}, candidates = "touched", flat = true},
    {samples = {50, 50}, candidates = "touched", draw = "wor"}},
  {"fastgcn", {samples = {3, 4}, self_nodes = "batch", row_normalize = true}},
  {"graphsage", {samples = {2, 3}}, {samples = {50, 50}}},
  {"graphsage", {samples = {2, 3}, form = "unbiased", replace = true}},
  {"graphsage", {samples = {1, 1}, form = "unbiased", self_nodes = "none"},
    {samples = {50, 50}, form = "unbiased", self_nodes = "none"}},
  {"labor", {samples = {2, 3}}, {samples = {50, 50}}},
  {"labor", {samples = {2, 3}, iterations = 2, form = "unbiased", self_nodes = "none"},
    {samples = {50, 50}, iterations = 2, form = "unbiased", self_nodes = "none"}},
  {"labor", {samples = {1, 1}, iterations = "converge", layer_dependency = true},
    {samples = {50, 50}, iterations = "converge"}},
  {"pooled", {samples = {2, 3}}, {samples = {50, 50}}},
  {"pooled", {samples = {1, 1}, form = "unbiased", self_nodes = "previous"},
    {samples = {50, 50}, form = "unbiased", self_nodes = "previous"}},
  {"pooled", {samples = {2, 1}, self_nodes = "batch"}, {samples = {50, 50}, self_nodes = "batch"}},
  {"pps", {samples = {3, 4}}, {samples = {50, 50}}},
  {"pps", {samples = {1, 1}, draw = "poisson", self_nodes = "batch"},
    {samples = {50, 50}, self_nodes = "none"}},
  {"vrgcn", {layers = 2, hidden = 4}, {layers = 2, hidden = 4, samples = 50}},
  {"bandit", {samples = {2, 3}}, {samples = {50, 50}}},
  {"bandit", {samples = {2, 1}, replace = true, row_normalize = true}},
  {"bliss", {samples = {3, 4}}, {samples = {50, 50}}},
  {"bliss", {samples = {3, 4}, draw = "wor", self_nodes = "previous"},
    {samples = {50, 50}, draw = "wor"}},
  {"bliss", {samples = {3, 4}, draw = "wr", self_nodes = "batch", row_normalize = false}},
  {"asgcn", {samples = {3, 4}}},
  {"asgcn", {samples = {3, 4}, self_nodes = "previous"}},
  {"asgcn", {samples = {3, 4}, self_nodes = "batch", row_normalize = true}},
  {"grapes", {samples = {3, 4}}, {samples = {50, 50}}},
  {"grapes", {samples = {3, 4}, self_nodes = "none", row_normalize = false}},
  {"pass", {samples = {2, 3}, attention = 3}},
  {"mvs", {layers = 2, hidden = 4}, {layers = 2, hidden = 4, samples = 50}},
}

-- Samplers of subgraphs, with the options that they need.
local OF_SUBGRAPHS = {clustergcn = {parts = 3, partition = "random"}, graphsaint = {},
  rns = {parts = 3}, shadow = {}}

local function make(P, one, opts)
  return (MADE[one[1]] or samplers[one[1]])(P, opts)
end

-- Graph, seeds.
local GRAPHS = {
  directed = {graphs.directed(), index{3, 12, 7}},
  disconnected = {graphs.disconnected(), index{9, 1, 5}},
  weighted = {graphs.weighted(), index{2, 14, 6, 1}},
  leaves = {graphs.star(), index{4, 20}},
  hub = {graphs.star(), index{1}},
  self_loops = {graphs.self_loops(), index{1, 10}},
  isolated = {graphs.isolated(), index{4, 3, 8}},
  everything = {graphs.random(12, 2, 1), ladies.range(1, 12)},
}

-- Calls f(sampler, graph, seeds, P, exact sampler or nil) for all of them, with and without
-- self-loops in P; errors name the case.
local function every(f, self_loops)
  for kind, given in pairs(GRAPHS) do
    local P = given[1]:normalize("row", {self_loops = self_loops})
    for i, one in ipairs(SAMPLERS) do
      local ok, message = xpcall(f, debug.traceback, make(P, one, one[2]), P, given[2],
        one[3] and make(P, one, one[3]))
      if not ok then
        lu.fail(("sampler %d (%s), graph %s: %s"):format(i, one[1], kind, message))
      end
    end
  end
end

local function hashes(batch)
  local list = {}
  for l, block in ipairs(batch.blocks) do
    list[l] = block.adj:hash() .. block.src:hash() .. block.dst:hash()
  end
  return table.concat(list, " ")
end

-- Asserts the contract, that every entry is one of P's, and the count of empty rows.
local function assert_batch(batch, P, seeds)
  sampling.check(batch, "test", {nodes = P.n_rows})
  lu.assertEquals(batch.output:sort():to_table(), seeds:sort():to_table())
  local isolated = 0
  for _, block in ipairs(batch.blocks) do
    local dense = P:slice(block.dst, block.src):to_dense()
    local row, col, value = block.adj:row_of(), block.adj:col_of(), block.adj:entry_values()
    for e = 1, block.adj.nnz do
      lu.assertTrue(dense:get(row[e], col[e]) > 0 and value[e] > 0)
    end
    isolated = isolated + block.adj:empty_rows()
  end
  lu.assertEquals(batch.stats.isolated, isolated)
end

function tests.test_batches_keep_the_contract()
  every(function(sampler, P, seeds)
    for seed = 1, 5 do
      local batch = sampler(seeds, ladies.rng(seed))
      assert_batch(batch, P, seeds)
      lu.assertEquals(hashes(sampler(seeds, ladies.rng(seed))), hashes(batch))
    end
  end, true)
end

--- Samplers take nodes without self-loops too, where rows may be empty, which is counted.
function tests.test_without_self_loops()
  every(function(sampler, P, seeds)
    for seed = 1, 5 do
      local ok, batch = pcall(sampler, seeds, ladies.rng(seed))
      if ok then
        assert_batch(batch, P, seeds)
      else                          -- none of the nodes of a layer has a neighbour
        lu.assertStrMatches(batch, ".*layer 1: choice: all %d+ probabilities are zero.*")
      end
    end
  end, false)
end

--- With more samples than neighbours nothing is left to chance.
function tests.test_more_samples_than_neighbours()
  every(function(_, P, seeds, exact)
    if not exact then return end
    local h = ladies.zeros(P.n_rows, 2):uniform_(1, 2, ladies.rng(1))
    local batch = exact(seeds, ladies.rng(2))
    local x = h[batch.input]
    for _, block in ipairs(batch.blocks) do x = block.adj:matmul(x) end
    local want = P:matmul(P:matmul(h))[batch.output]
    lu.assertTrue((x - want):norm() < 1e-5)
  end, true)
end

local function assert_refused_seeds(sampler, P)
  local rng, n = ladies.rng(1), P.n_rows
  fails("there are no seeds", sampler, index{}, rng)
  fails("occurs twice", sampler, index{1, 3, 1}, rng)
  fails(("%d at position 2 is out of range 1..%d"):format(n + 1, n), sampler, index{1, n + 1},
    rng)
  fails(" 0 at position 1 is out of range", sampler, index{0}, rng)
  fails("the seeds must be an Index, got a table", sampler, {1, 2}, rng)
  fails("the seeds must be an Index, got nil", sampler, nil, rng)
end

function tests.test_refused_seeds()
  every(assert_refused_seeds, true)
  local A = graphs.random(12, 2, 1)
  for name, given in pairs(OF_SUBGRAPHS) do
    local own = {layers = 2, train = name ~= "shadow" and ladies.range(1, 12) or nil}
    assert_refused_seeds(samplers[name](A, tables.merged(given, own)), A)
  end
end

--- Every sampler is in one of the lists, but for that of edges in time, which has no P.
function tests.test_every_sampler_is_here()
  local here = tables.merged(OF_SUBGRAPHS, {temporal = true})
  for _, one in ipairs(SAMPLERS) do here[one[1]] = true end
  lu.assertEquals(tables.sorted_keys(here), tables.sorted_keys(samplers))
end

--- Every sampler over a matrix refuses another P, unknown options and wrong numbers of samples in
-- the same way.
function tests.test_refused_arguments()
  local P, data = graphs.star():normalize "row", toy.new()
  for name, constructor in pairs(samplers) do
    local where = "ladies.samplers." .. name .. ": "
    if name ~= "temporal" and name ~= "mvs" then
      fails(where .. "P must be a Matrix, got nil", constructor)
      fails(where .. 'P must be a Matrix, got a Graph; graph:normalize "sym" makes one',
        constructor, data.graph)
      fails(where .. 'P must be a Matrix, got a Dataset; data.graph:normalize "sym" makes one',
        constructor, data)
      fails(where .. "P must be square, got Matrix 2 x 20", constructor, P:rows(index{1, 2}))
      fails(where .. 'unknown option "layerz"; did you mean "layers"?', constructor, P,
        {layerz = 2})
    end
  end
  for _, name in ipairs{"ladies", "fastgcn", "graphsage", "labor", "pooled", "pps"} do
    local where = "ladies.samplers." .. name .. ": samples "
    local wanted = "must be a positive integer or an array of positive integers, got "
    fails(where .. wanted .. "nil", samplers[name], P, {})
    fails(where .. wanted .. "0", samplers[name], P, {samples = 0, layers = 2})
  end
end

--- On these graphs draw_cols, in two stages wherever it can, gives what the long form gives when
-- nothing is left to chance, and otherwise a slice of P with weights of 1 or more.
function tests.test_draw_cols_in_two_stages()
  for kind, given in pairs(GRAPHS) do
    for _, P in ipairs{given[1], given[1]:normalize("row", {self_loops = false})} do
      local dst, n = given[2], P.n_cols
      local U, near = P:slice(dst)
      for _, always in ipairs{index{}, dst} do
        for seed = 1, 20 do
          local draw = {way = "two stages", always = always, rng = ladies.rng(seed)}
          local V, src, w = P:draw_cols(dst, n - 1, draw)
          lu.assertEquals(V:hash(), P:slice(dst, src):hash(), kind)
          if n > #near then                            -- no more than n - 1 have any probability
            lu.assertEquals(w:to_table(), ladies.ones(#src):to_table(), kind)
            lu.assertEquals(#sampling.union(near, always), #src, kind)
            lu.assertEquals(V.nnz, U.nnz, kind)
          end
          V, src, w = P:draw_cols(dst, 1, draw)
          lu.assertEquals(V:hash(), P:slice(dst, src):hash(), kind)
          lu.assertTrue(w:min() >= 1 - 1e-6, kind)
        end
      end
    end
  end
end

--- Isolated seeds alone: an error that names the layer where nodes must be drawn, empty rows where
-- every node looks after itself.
function tests.test_isolated_seeds_alone()
  local P, rng = graphs.isolated():normalize("row", {self_loops = false}), ladies.rng(1)
  local seeds = index{2, 8}
  fails("layer 2: choice: all 0 probabilities are zero", samplers.ladies(P, {samples = {2, 2}}),
    seeds, rng)
  fails("layer 2: choice: all 0 probabilities are zero",
    samplers.fastgcn(P, {samples = {2, 2}, candidates = "touched"}), seeds, rng)
  local batch = samplers.fastgcn(P, {samples = {2, 2}})(seeds, rng)
  lu.assertEquals(batch.blocks[2].adj.nnz, 0)
  batch = samplers.graphsage(P, {samples = {2, 2}})(seeds, rng)
  lu.assertTrue(batch.input == seeds)
  lu.assertEquals(batch.stats.isolated, 4)
end

--- One number of samples is that of all layers, an array has a number for each of them.
function tests.test_samples()
  local P, seeds = graphs.random(40, 6, 2):normalize "row", index{5, 9, 1}
  for name, own in pairs{ladies = {}, fastgcn = {draw = "wor"}, graphsage = {}, labor = {},
    vrgcn = {hidden = 3}, bandit = {}, bliss = {}} do
    local function batch(samples, layers)
      own.samples, own.layers = samples, layers
      return sampling.hash(samplers[name](P, own)(seeds, ladies.rng(3)))
    end
    lu.assertEquals(batch(4, 3), batch({4, 4, 4}, 3), name)
    lu.assertNotEquals(batch({4, 2, 4}, 3), batch(4, 3), name)
    fails("samples has 2 numbers for 3 layers", batch, {4, 4}, 3)
    fails("samples must not be empty", batch, {}, 3)
    fails("samples[2] must be a positive integer, got 0", batch, {4, 0, 4}, 3)
    if name ~= "vrgcn" then
      lu.assertEquals(batch({4, 4, 4}), batch(4, 3), name)
      fails("samples is one number, 4, and layers does not say for how many layers", batch, 4)
    end
  end
end

return tests
