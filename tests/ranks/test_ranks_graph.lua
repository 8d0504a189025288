--- Training by several ranks of which each has its own rows of the graph, as of the features: the
-- bits of one process alone with the whole graph, whatever the number of ranks, the sampler, and
-- however the run went on.
local lu = require "luaunit"
local files = require "tools.files"
local graph_traffic = require "ladies.training.ranks.graph_traffic"
local json = require "ladies.base.json"
local ladies = require "ladies"
local rank_runs = require "tools.rank_runs"
local ranks = require "tools.ranks"
local shell = require "tools.shell"
local temporary = require "reference.temporary"

local tests = {}
local read, assert_same = rank_runs.read, rank_runs.assert_same

local SHARDS = 5

-- A graph some of whose nodes have self-loops; that of seed 3 has weights.
local function dataset(seed)
  local data = rank_runs.data(seed)
  local A = data.graph.adjacency
  local loops = ladies.range(1, 100) * 7
  local rows, cols = A:row_of() .. loops, A:col_of() .. loops
  data.graph = ladies.graph.new(ladies.matrix{n_rows = 1000, n_cols = 1000, rows = rows,
    cols = cols, values = seed == 3 and (rows:to_tensor() + cols:to_tensor()) / 300 or nil})
  return data
end

-- The folders of a data set: the whole one, as a file, and in shards with its graph.
local made = {}
local function folders(seed)
  seed = seed or 1
  if made[seed] then return table.unpack(made[seed]) end
  local whole = temporary.path("whole" .. seed .. ".safetensors")
  local parts = temporary.path("in" .. seed)
  ladies.data.save(dataset(seed), whole, {dtype = "float16"})
  ladies.data.to_shards(whole, parts, {shards = SHARDS, shard_graph = true, features_in = "file"})
  made[seed] = {whole, parts}
  return whole, parts
end

local runs = rank_runs.on_data [[max_batches = 32, eval_every = 16, batch_size = 20,
  model = ladies.nn.gcn{inputs = 12, hidden = 8, outputs = 3, layers = 2}]]
local run, train = runs.run, runs.train

-- n ranks print and leave what one process does with the whole graph.
local function assert_whole(n, options, more, seed)
  local all, parts = folders(seed)
  runs.check(n, parts, all, options, more)
end

-- The options of a run with a sampler, of which P is the propagation matrix.
local function sampler(text)
  return ("settle = function(opts, P) opts.sampler = %s end, "):format(text)
end

--- Samplers of ours, each with the most ranks that its test takes.
local SAMPLERS = {
  {"ladies.samplers.ladies(P, {samples = {20, 20}})", 4},
  {"ladies.samplers.ladies(P, {samples = {20, 20}, self_nodes = 'previous', draw = 'wr'})", 2},
  {"ladies.samplers.ladies(P, {samples = {20, 20}, self_nodes = 'batch', union = 'post'})", 3},
  {"ladies.samplers.ladies(P, {samples = {20, 90}, draw = 'poisson', debias = false})", 2},
  {"ladies.samplers.ladies(P, {samples = {20, 20}, flat = true, debias = true})", 3},
  {"ladies.samplers.graphsage(P, {samples = {3, 4}, form = 'unbiased'})", 3},
  {"ladies.samplers.graphsage(P, {samples = {3, 4}, self_nodes = 'none', replace = true})", 2},
  {"ladies.samplers.labor(P, {samples = {3, 4}})", 2},
  {"ladies.samplers.labor(P, {samples = {3, 4}, iterations = 1, batch_dependency = 4})", 3},
  {"ladies.samplers.full(P, {layers = 2})", 2},
  {"function(...) return ladies.no_grad(ladies.samplers.full(P, {layers = 2}), ...) end", 2},
}

function tests.test_samplers()
  for _, case in ipairs(SAMPLERS) do assert_whole(case[2], sampler(case[1])) end
end

--- A sampler of one's own, by the methods that take rows, on a P of another kind.
function tests.test_own_sampler()
  assert_whole(3, [[model = ladies.nn.gcn{inputs = 12, hidden = 8, outputs = 3, layers = 2,
    normalize = "row"}, settle = function(opts)
    local P, sampling = opts.data.graph:normalize "row", ladies.sampling
    function opts.sampler(seeds, rng)
      local U, near = P:slice(seeds, {first = seeds})
      local pick, w = sampling.choice(U:col_sums(2) + 1e-3, 20, {rng = rng})
      local src = near[pick]
      local below = ladies.sampling.unique(src .. P:rows(src):col_of())
      local own = P:slice(src, below)
      return {blocks = {{adj = own, dst = src, src = below},
          {adj = U:pick_cols(pick):scale_cols(w), dst = seeds, src = src}},
        input = below, output = seeds, stats = {isolated = P:degrees(src):min() // 1}}
    end
  end, ]])
end

function tests.test_numbers_of_ranks()
  for n = 0, 7 do
    if n ~= 4 and n ~= 6 then assert_whole(n, sampler(SAMPLERS[1][1]), "threads = 1, ") end
  end
end

--- A graph with weights.
function tests.test_weights()
  for i, text in ipairs{"ladies.samplers.ladies(P, {samples = {20, 20}})",
      "ladies.samplers.graphsage(P, {samples = {3, 4}})"} do
    assert_whole(i + 1, sampler(text), "", 3)
  end
end

--- Steps of more mini-batches than a group has, ranks without any, and features in the cache.
function tests.test_groups()
  assert_whole(3, "accumulate = 26, epochs = 6, max_batches = 52, ")
  assert_whole(4, "accumulate = 2, ", "feature_cache = 2000, ")
end

--- Models whose exact inference goes other ways give the bits of one process, too.
function tests.test_models()
  assert_whole(2, "model = ladies.nn.gcn{inputs = 12, hidden = 16, outputs = 3, layers = 3}, "
    .. sampler "ladies.samplers.ladies(P, {samples = {20, 20, 20}})")
  assert_whole(3, "model = ladies.nn.gcnii{inputs = 12, hidden = 16, outputs = 3, layers = 2}, ")
end

--- A layer that reads all rows at once, as one that subtracts their mean, is computed on all of
-- them by every rank; it has no bits of its own rows alone.
function tests.test_layers_that_are_not_by_rows()
  assert_whole(3, [[model = (function()
    local model = ladies.nn.gcn{inputs = 12, hidden = 8, outputs = 3, layers = 2}
    local layer = model.layer
    rawset(model, "layer", function(self, i, h, block, rng)
      h = layer(self, i, h, block, rng)
      if rng then return h end
      return h - ladies.ones(h.n_rows, 1):matmul(ladies.ones(1, h.n_rows):matmul(h) / h.n_rows)
    end)
    return model
  end)(), ]])
end

--- A run goes on with another number of ranks, alone, and with the whole graph.
function tests.test_resumed()
  local all, parts = folders()
  local expected, other = runs.alone(all, "")
  train(3, parts, "parts", "max_batches = 8")
  train(2, parts, "parts", "max_batches = 16")
  train(0, parts, "parts", "max_batches = 24")
  lu.assertEquals(train(4, parts, "parts", ""), expected)
  assert_same("parts", other)
end

--- A model whose exact inference needs more of the graph than products is refused at once, whatever
-- validation is.
function tests.test_models_that_need_the_whole_graph()
  local _, parts = folders()
  local SAGE = "ladies.samplers.graphsage(P, {samples = {3, 4}})"
  local none = "on_batch = function() error 'a step' end, validation = function() return 1 end, "
  for text, method in pairs{
    ["gat{heads = 2, %s}"] = "add_edges", ["sage{aggregate = 'max', %s}"] = "neighbour_max",
  } do
    local model = ("model = ladies.nn.%s, "):format(text:format(
      "inputs = 12, hidden = 8, outputs = 3, layers = 2"))
    local out, err, status = run(2, parts, "needs " .. method, none .. model .. sampler(SAGE))
    lu.assertEquals(status, 1, out)
    lu.assertStrContains(err, ("ladies.train: validation and test of the model: layer 1: %s: that "
      .. "needs the whole graph, and this one is in shards"):format(method))
    lu.assertStrContains(err, "(ladies import --shards without --shard-graph) has it")
    lu.assertNotStrContains(err, "a step")
  end
end

--- Each rank needs the files of its own shards alone; so what others have was brought.
function tests.test_folders_of_their_own()
  local all, parts = folders()
  local expected, other = runs.alone(all, "")
  local options = ("settings = {lr = 0.02}, data = ladies.data.load(%q .. rank)"):format(
    rank_runs.apart(parts, "at"))
  lu.assertEquals(train(2, all, "apart", options), expected)
  assert_same("apart", other)
  local sent = json.decode(read("apart", "summary.json")).ranks.kinds.graph
  lu.assertTrue(sent.bytes > 10000 and sent.messages > 10, sent.bytes)
end

--- The bytes that a run counts as sent for the graph are those that one process computes by drawing
-- the mini-batches. A case is: ranks, the data set's seed, the sampler and its samples.
function tests.test_bytes()
  for i, case in ipairs{{2, 1, "ladies", 20}, {4, 1, "ladies", 20}, {3, 1, "graphsage", 3},
      {3, 1, "labor", 3}, {3, 3, "ladies", 20}} do
    local n, seed, name, size = table.unpack(case)
    local _, parts = folders(seed)
    train(n, parts, "bytes" .. i, "accumulate = 20, max_batches = 40, " .. sampler(
      ("ladies.samplers.%s(P, {samples = {%d, %d}})"):format(name, size, size)))
    local found = json.decode(read("bytes" .. i, "summary.json")).ranks.kinds.graph
    local data, asked = graph_traffic.noted(ladies.data.load(parts))
    local sum = graph_traffic.of({data = data, batch_size = 20, seed = 1, accumulate = 20,
      sampler = ladies.samplers[name](data.graph:normalize "sym", {samples = {size, size}})},
      asked, n, 2)
    lu.assertEquals({found.messages, found.bytes}, {sum.messages, sum.bytes}, i)
    lu.assertTrue(sum.bytes > 10000, sum.bytes)
  end
end

-- ---------------------------------------------------------------- outside of ladies.train

-- A loop of one's own, and what all ranks may ask of P together. Arguments: the data set, workers.
local LOOP = [[
local ladies = require "ladies"
local comm, data, S = ladies.comm, ladies.data.load(arg[1]), 4
local P = data.graph:normalize "sym"
local sampler = ladies.samplers.ladies(P, {samples = {20, 20}})
local model = ladies.nn.gcn{inputs = 12, hidden = 8, outputs = 3, layers = 2}
local adam = ladies.optim.adam(model:parameters(), {lr = 0.01})
for batch in ladies.batches(data.train, {batch_size = 10, sampler = sampler, epochs = 2, step = S,
    features = data.features, model = model, workers = math.tointeger(arg[2])}) do
  local step <close> = ladies.step()
  local logits = model:forward(data.features, batch)
  ladies.loss.cross_entropy(logits, data.labels[batch.output], batch.loss_weight):backward()
  if comm.accumulate(adam, S, batch.place) then adam:step() end
end
local found = comm.together(function()
  local ids = ladies.index{1000, 3, 500}
  local sampled = ladies.inference.sampled(model, data, data.val, {sampler = sampler, draws = 2})
  local U, src = P:slice(ids, {first = ids})
  return {ladies.metrics.f1(model, data, data.val), sampled:hash(), U:hash(), src:hash(),
    P:rows(ids):hash(), P:matmul(ladies.ones(1000, 3)):hash(), P.nnz, P:degrees():hash(),
    P:loops(), P:empty_rows(), P:is_symmetric(), data.graph:n_isolated(),
    data.graph:n_self_loops(), data.graph.n_edges}
end)
for i, value in ipairs(found) do found[i] = tostring(value) end
if comm.rank == 0 then print(model:parameters()[1]:hash(), table.concat(found, " ")) end
]]

function tests.test_loops()
  local all, parts = folders()
  local script = files.write(temporary.path "script.lua", LOOP)
  local expected = shell.run_ladies{script, all, "0"}
  lu.assertStrMatches(expected, "%x+\t.* true 9 100 %d+\n")
  for _, n in ipairs{2, 3} do
    local out, err, status = ranks.run_script(n, LOOP, {parts, tostring(n - 2)})
    lu.assertEquals({out, status}, {expected, 0}, err)
    lu.assertEquals(err:find("the ranks bring each other the rows of the graph", 1, true) ~= nil,
      n == 3, err)
  end
end

-- ---------------------------------------------------------------- failures

-- The one line of a run of two ranks that is refused.
local function refused(path, options)
  return rank_runs.refused(run(2, path, "refused", options))
end

--- A sampler that needs the whole graph says so.
function tests.test_whole_graph_needed()
  local _, parts = folders()
  for _, text in ipairs{"ladies.samplers.fastgcn(P, {samples = {20, 20}})",
      "ladies.samplers.clustergcn(P, {layers = 2, train = opts.data.train})",
      "ladies.samplers.graphsaint(P, {layers = 2, train = opts.data.train})"} do
    local out, err, status = run(2, parts, "refused", sampler(text))
    lu.assertEquals(status, 1, out)
    lu.assertStrContains(err, "needs the whole graph, and this one is in shards")
  end
end

--- An error of one rank while others wait for its rows ends all.
function tests.test_error_of_one_rank()
  local _, parts = folders()
  lu.assertStrContains(refused(parts, [[settle = function(opts)
    local draw, count = opts.sampler, 0
    function opts.sampler(...)
      count = count + 1
      if rank == 1 and count == 13 then error "none of mine" end
      return draw(...)
    end
  end]]), "none of mine")
end

--- Rows that are not here are an error where nobody brings them.
function tests.test_rows_elsewhere()
  local _, parts = folders()
  lu.assertStrContains(refused(parts, [[settle = function(opts, P)
    function opts.on_batch() if rank == 0 then P:slice(ladies.range(500, 1000)) end end
  end]]), "232 rows of the graph, which is in shards, are at other ranks, the first of them row "
    .. "769; they are brought for")
  lu.assertStrContains(refused(parts, sampler [[function()
    table.sort({1, 2}, function() return #P:slice(ladies.range(1, 1000)) == 0 end)
  end]]), "a sampler cannot wait for them within a function in C that calls it")
end

--- Ranks that were given other graphs are told of what does not fit.
function tests.test_other_graphs()
  local err = shell.refused(ranks.run_script(2, [[
    local ladies, core = require "ladies", require "ladies_core"
    local link = require "ladies.ranks.link"
    local n, first = 4 + 2 * link.rank, 2 * link.rank + 1
    local A = ladies.matrix{n_rows = 2, n_cols = n, rows = ladies.index{1, 2},
      cols = ladies.index{n, n}}
    local graph = core.graph_rows{n_nodes = n, bounds = {0, 2, n},
      parts = {{first = first, rows = A}}}
    local got = link.fetch_graph("graph", graph, core.index(link.rank == 0 and {3} or {}))
    if link.rank == 0 then print(got:col_of()[1]) end]]))
  lu.assertStrContains(err, "rows came that are of another graph than this one's; all must have "
    .. "the same data set")
end

--- The numbers of nodes in the common file, which no shard repeats, are compared with their hash.
function tests.test_damaged_degrees()
  local _, parts = folders()
  local copy = temporary.path "damaged"
  os.execute(("cp -r %s %s"):format(shell.quote(parts), shell.quote(copy)))
  local common, degrees = copy .. "/common.safetensors", dataset(1).graph:degrees():to_table()
  local bytes = files.read(common)
  local at = bytes:find(string.pack("<ffff", table.unpack(degrees, 1, 4)), 1, true)
  files.write(common, bytes:sub(1, at - 1) .. string.pack("<f", degrees[1] + 1)
    .. bytes:sub(at + 4))
  local out, err, status = run(2, copy, "refused")
  lu.assertEquals(status, 1, out)
  lu.assertStrContains(err, "graph_degrees, graph_loops or graph_sums is not what was written")
end

--- A P that no rank can make of its rows is refused in the words of who asked for it.
function tests.test_lambda()
  local _, parts = folders()
  local err = shell.refused(ranks.run(2, {"-e", ([[ladies.data.load(%q).graph:normalize("sym",
    {lambda = 1})]]):format(parts)}))
  lu.assertStrContains(err, "lambda needs the whole graph, and this one is in shards")
end

return tests
