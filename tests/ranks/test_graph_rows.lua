--- The graph in shards: rows of a graph that are collected from parts are those of the whole, and
-- what samplers draw from them is what they draw from it; and files of such data sets.
local lu = require "luaunit"
local ladies = require "ladies"
local core = require "ladies_core"
local batches = require "ladies.training.batches"
local drawn_together = require "ladies.training.ranks.drawn_together"
local files = require "tools.files"
local message_of = require "tools.message_of"
local sharded_graph = require "ladies.data.formats.large.sharded_graph"
local shell = require "tools.shell"

local tests = {}

local NODES = 600

-- A graph, directed or not, perhaps with weights, some of whose nodes have self-loops and some no
-- other edges.
local function adjacency(directed, weighted)
  local data = ladies.generate.power_law{nodes = NODES - 5, entries = 6000, features = 2,
    classes = 2, seed = 3}
  local A = data.graph.adjacency
  local rows, cols = A:row_of(), A:col_of()
  if directed then rows, cols = rows:slice(1, 4000), cols:slice(1, 4000) end
  local loops = ladies.range(1, 80) * 7
  rows, cols = rows .. loops, cols .. loops
  local ends = rows:to_tensor() + cols:to_tensor()
  return ladies.matrix{n_rows = NODES, n_cols = NODES, rows = rows, cols = cols,
    values = weighted and ends / 300 or nil}
end

-- The rows of the whole in three parts: in order, and by ids.
local function parts_of(A)
  local even = ladies.range(101, 150) * 2
  local odd = even - 1
  local rest = ladies.range(301, NODES)
  return {{first = 1, rows = A:rows(ladies.range(1, 200))}, {ids = even, rows = A:rows(even)},
    {ids = odd .. rest, rows = A:rows(odd .. rest)}}
end

local function in_parts(A)
  local B = sharded_graph.in_one_part(A)
  B.graph.parts = parts_of(A)
  B.graph:forget()
  return B
end

-- Returns results in a form that can be compared: hashes, and other values as they are.
local function told(...)
  local list = table.pack(...)
  for i = 1, list.n do
    local ok, hash = pcall(function() return list[i]:hash() end)
    if ok then list[i] = hash end
  end
  return list
end

local IDS = ladies.index{7, 599, 14, 201, 202, 600, 300, 1}

-- Calls by name, each with a Matrix.
local CALLS = {
  slice = function(P) return P:slice(IDS) end,
  slice_first = function(P) return P:slice(IDS, {first = IDS}) end,
  slice_cols = function(P) return P:slice(IDS, ladies.range(10, 500)) end,
  rows = function(P) return P:rows(IDS .. IDS) end,
  rows_drawn = function(P)
    return P:rows(IDS):sample_rows(ladies.index{3, 1}, 2, {rng = ladies.rng(5)})
  end,
  draw_wor = function(P) return P:draw_cols(IDS, 9, {rng = ladies.rng(1), draw = "wor"}) end,
  draw_two_stages = function(P)
    return P:draw_cols(ladies.range(1, 300), 5, {rng = ladies.rng(1), draw = "wr"})
  end,
  draw_kept = function(P)
    return P:draw_cols(IDS, 9, {rng = ladies.rng(1), draw = "wor", always = IDS, debias = true})
  end,
  draw_poisson = function(P)
    return P:draw_cols(IDS, 80, {rng = ladies.rng(1), draw = "poisson"})
  end,
  sample = function(P) return P:sample_rows(IDS, 3, {rng = ladies.rng(2)}) end,
  sample_replace = function(P)
    return P:sample_rows(IDS, 3, {rng = ladies.rng(2), replace = true, first = IDS})
  end,
  sample_loops = function(P)
    return P:sample_rows(IDS, 2, {rng = ladies.rng(2), always = P:diagonal(), first = IDS})
  end,
  sample_always = function(P)
    local always = ladies.range(1, NODES) * 0
    return P:sample_rows(IDS, 2, {rng = ladies.rng(2), always = always})
  end,
  sample_p_cols = function(P)
    return P:sample_rows(IDS, 2, {rng = ladies.rng(2), p_cols = ladies.range(1, NODES):to_tensor()})
  end,
  poisson = function(P)
    return P:poisson_rows(IDS, ladies.full(#IDS, 0.4), {rng = ladies.rng(2)})
  end,
  poisson_shared = function(P)
    local c = P:poisson_factors(IDS, 2, {always = P:diagonal()})
    local S, src, w = P:poisson_rows(IDS, c, {rng = ladies.rng(2), shared = true,
      always = P:diagonal(), first = IDS})
    return S, src, w, c
  end,
  degrees = function(P) return P:degrees(), P:degrees(IDS) end,
  counts = function(P) return P.n_rows, P.n_cols, P.nnz, #P, P:loops(), P:empty_rows() end,
  symmetric = function(P) return P:is_symmetric() end,
}

for name, call in pairs(CALLS) do
  tests["test_" .. name] = function()
    for _, kind in ipairs{{false, false}, {true, false}, {false, true}, {true, true}} do
      local A = adjacency(table.unpack(kind))
      local B = in_parts(A)
      lu.assertEquals(told(call(B)), told(call(A)), "adjacency")
      for _, how in ipairs{{"sym", true}, {"row", true}, {"row", false}, {"none", true}} do
        local loops = {self_loops = how[2]}
        local P, Q = A:normalize(how[1], loops), B:normalize(how[1], loops)
        lu.assertEquals(told(call(Q)), told(call(P)), how[1] .. tostring(how[2]))
      end
    end
  end
end

--- A mini-batch of slices has the gradients of one of the whole.
function tests.test_gradients()
  local A = adjacency()
  local function gradient(P)
    local W = ladies.full(3, 2, 0.5):requires_grad_()
    local _ <close> = ladies.step()
    local U, src = P:slice(IDS, {first = IDS})
    U:row_normalize():matmul(ladies.ones(#src, 3)):matmul(W):square():sum():backward()
    return W.grad:hash()
  end
  lu.assertEquals(gradient(in_parts(A):normalize "sym"), gradient(A:normalize "sym"))
end

--- Positions of entries are not known, and what needs all of the graph says so.
function tests.test_what_is_not_there()
  local P = in_parts(adjacency()):normalize "sym"
  local U = P:slice(IDS)
  lu.assertNil(U.root)
  lu.assertStrContains(message_of(function() return U.edge end), "their positions in it are not")
  for _, name in ipairs{"col_sums", "transpose", "induced", "hash", "random_walk"} do
    lu.assertStrContains(message_of(function() return P[name](P) end),
      name .. ": that needs the whole graph, and this one is in shards")
  end
  lu.assertStrContains(message_of(P.sample_rows, P, IDS, 2, {p = ladies.ones(P.nnz)}), "p is for")
  lu.assertStrContains(message_of(P.matmul, P, ladies.ones(NODES, 2)), "ladies.comm.together(f")
  lu.assertStrContains(message_of(P.normalize, P, "sym"), "is normalised once")
  lu.assertStrContains(message_of(function() return P.edge end), "edge: that needs the whole graph")
  lu.assertStrContains(message_of(function() return P.slise end),
    'Matrix has no field or method "slise"; did you mean "slice"?')
  lu.assertStrContains(message_of(ladies.samplers.fastgcn, P, {samples = {3}}),
    "ladies.samplers.fastgcn: P must be a Matrix, got a MatrixInParts: that needs the whole graph")
end

--- Wrong arguments are reported in the words of the method that got them.
function tests.test_wrong_arguments()
  local A = in_parts(adjacency())
  for _, name in ipairs{"slice", "rows", "draw_cols", "sample_rows", "poisson_rows",
      "poisson_factors"} do
    lu.assertStrContains(message_of(A[name], A, {1}, 2),
      name .. ": the rows must be an Index, got a table")
  end
  lu.assertStrContains(message_of(A.degrees, A, 7), "degrees: the rows must be an Index, got 7")
  lu.assertStrContains(message_of(A.normalize, A, "foo"), 'normalize: the kind must be one of sym')
  for _, name in ipairs{"sample_rows", "poisson_rows", "poisson_factors"} do
    local second = name == "poisson_rows" and ladies.ones(#IDS) or 2
    local rng = name ~= "poisson_factors" and ladies.rng(1) or nil
    local function given(opts) return message_of(A[name], A, IDS, second, opts) end
    lu.assertStrContains(given(7), "table expected, got number")
    lu.assertStrContains(given{always = 7, rng = rng}, "always must be of class Index, got 7")
    lu.assertStrContains(given{always = IDS, rng = rng},
      ("%s: always has %d elements, must have %d, one for each row"):format(name, #IDS, NODES))
  end
end

function tests.test_missing()
  local A = adjacency()
  local rows = core.graph_rows{n_nodes = NODES, parts = {{first = 11, rows = A:rows(
    ladies.range(11, 20))}, {ids = ladies.index{3, 30}, rows = A:rows(ladies.index{3, 30})}},
    bounds = {0, 10, 300, NODES}}
  lu.assertEquals(rows:missing(ladies.index{31, 30, 12, 2, 31, 600}), ladies.index{2, 31, 600})
  lu.assertEquals(tostring(rows), "GraphRows 12 of 600 nodes")
  lu.assertStrContains(message_of(rows.collect, rows, ladies.index{3, 400}),
    "the graph: row 400 is at rank 2, and this one has its own part alone")
  local parts = core.graph_rows{n_nodes = NODES, parts = {{first = 1, rows = A:rows(
    ladies.range(1, 9))}}}
  lu.assertStrContains(message_of(parts.collect, parts, ladies.index{3, 400}),
    "the graph: row 400 is in none of the parts")
  lu.assertStrContains(message_of(rows.missing, rows, ladies.index{601}), "601")
  lu.assertStrContains(message_of(rows.collect, rows, ladies.index{0}), "0")
end

function tests.test_wrong_parts()
  local A = adjacency()
  local function refused(parts, bounds)
    return message_of(core.graph_rows, {n_nodes = NODES, parts = parts, bounds = bounds})
  end
  local two = A:rows(ladies.index{4, 5})
  lu.assertStrContains(refused{{first = 600, rows = two}}, "has the rows 600..601 of 600")
  lu.assertStrContains(refused{{ids = ladies.index{5, 4}, rows = two}}, "must ascend")
  lu.assertStrContains(refused{{ids = ladies.index{5}, rows = two}}, "1 ids for 2 rows")
  lu.assertStrContains(refused{{ids = ladies.index{5, 601}, rows = two}}, "601")
  lu.assertStrContains(refused{{first = 1, rows = two:scale_rows(ladies.ones(2))}}, "has scales")
  lu.assertStrContains(refused{{first = 1, rows = two:with_values(ladies.ones(two.nnz))}},
    "has unexpected weights")
  lu.assertStrContains(message_of(core.graph_rows, {n_nodes = NODES, weighted = true,
    parts = {{first = 1, rows = two}}}), "has no weights")
  lu.assertStrContains(refused{{first = 1, rows = ladies.matrix{n_rows = 1, n_cols = 3,
    rows = ladies.index{1}, cols = ladies.index{1}}}}, "3 columns")
  lu.assertStrContains(refused({}, {0, 300}), "bounds must go from 0 to 600")
  lu.assertStrContains(refused({}, {0, 300, 200, 600}), "bounds must not descend")
  local rows = core.graph_rows{n_nodes = NODES, parts = {{first = 1, rows = two}}}
  lu.assertStrContains(message_of(rows.collect, rows, ladies.index{1},
    {row_scale = ladies.ones(3)}), "a scale must be a vector of 600")
end

-- ---------------------------------------------------------------- files

local function dataset()
  local data = ladies.generate.power_law{nodes = 1000, entries = 6000, features = 3, classes = 3,
    train = 0.3, val = 0.2, seed = 1}
  data.graph = ladies.graph.new(data.graph:normalize "none")
  return data
end

local function written(folder, opts)
  local path = folder.path .. "/in 3"
  opts = opts or {}
  opts.shards, opts.shard_graph = 3, true
  ladies.data.to_shards(dataset(), path, opts)
  return path
end

--- One process alone has the whole graph, and its shards the rows of each.
function tests.test_there_and_back()
  local folder <close> = shell.folder()
  local path, data = written(folder), dataset()
  local read = ladies.data.load(path)
  lu.assertEquals(read.graph.adjacency:hash(), data.graph.adjacency:hash())
  lu.assertEquals(read.graph:normalize "sym":hash(), data.graph:normalize "sym":hash())
  lu.assertEquals(read.known_hashes.edges.hash, data.graph.adjacency:hash())
  lu.assertEquals(read:describe():match "edges[^\n]*", data:describe():match "edges[^\n]*")
  local file <close> = ladies.safetensors.open(path .. "/common.safetensors")
  lu.assertFalse(file:has "adj_indptr" or file:has "adj_indices")
  local again = folder.path .. "/again"
  ladies.data.to_shards(path, again, {shards = 2, shard_graph = true})
  lu.assertEquals(ladies.data.load(again).graph.adjacency:hash(), data.graph.adjacency:hash())
end

--- The command `ladies import --shard-graph` makes such shards, too.
function tests.test_import()
  local folder <close> = shell.folder()
  local source, out = folder.path .. "/x.npz", folder.path .. "/out"
  ladies.data.save(dataset(), source)
  local text = shell.succeeded(shell.run_ladies{"import", source, "--shards", "2", "--shard-graph",
    "--out", out})
  lu.assertStrContains(text, "entries    7,000")
  local _, complaint, failed = shell.run_ladies{"import", source, "--shard-graph", "--out",
    out .. ".safetensors"}
  lu.assertEquals({failed, complaint}, {1, "ladies import: --shard-graph, --parts and --by go with "
    .. "--shards\n"})
end

--- A graph with weights has the same draws in shards; weights with which they could not be the same
-- are refused before anything is written.
function tests.test_weights()
  local folder <close> = shell.folder()
  local data, path = dataset(), folder.path .. "/x"
  local A = data.graph.adjacency
  local function shard(w)
    data.graph = ladies.graph.new(A:scale_entries(w))
    return ladies.data.to_shards(data, path, {shards = 2, shard_graph = true})
  end
  for _, least in ipairs{-1, 0, 1e-30} do
    local w = ladies.full(7000, 2)
    w[5] = least
    lu.assertStrContains(message_of(shard, w), ("the weights of the graph of power_law are %g to "
      .. "2; in shards they must be positive"):format(least))
  end
  lu.assertFalse(core.exists(path))
  local w = ladies.range(1, 7000):to_tensor() / 100
  shard(w)
  local read = ladies.data.load(path, {directed = "keep"})
  lu.assertEquals(read.graph.adjacency:hash(), A:scale_entries(w):hash())
end

function tests.test_damaged()
  local folder <close> = shell.folder()
  local path = written(folder)
  local function refusal()
    local text = message_of(ladies.data.load, path)
    lu.assertNotStrContains(text, "\n")
    return text
  end
  local shard, common = path .. "/shard-2-of-3.safetensors", path .. "/common.safetensors"
  local bytes, of_common = files.read(shard), files.read(common)
  local file <close> = ladies.safetensors.open(shard)
  local columns = file:index "adj_indices"
  local first = string.pack("<i4i4i4", columns[1] - 1, columns[2] - 1, columns[3] - 1)
  local at = assert(bytes:find(first, 1, true))
  local foreign = "is a shard of another data set than common.safetensors: its hash is "
  for changed, text in pairs{[columns[1]] = foreign, [columns[2]] = foreign,
      [5000] = "adj_indices"} do
    files.write(shard, bytes:sub(1, at - 1) .. string.pack("<i4", changed) .. bytes:sub(at + 4))
    lu.assertStrContains(refusal(), text)
  end
  files.write(shard, (bytes:gsub("adj_indptr", "adx_indptr")))
  lu.assertStrContains(refusal(), "is no shard with a part of the graph: it has no adj_indptr")
  files.write(shard, bytes)
  for from, to in pairs{['"entries":7000'] = '"entries":"no"', ['"edges":'] = '"edgex":'} do
    files.write(common, (of_common:gsub(from, to)))
    lu.assertStrContains(refusal(), "common.safetensors: is damaged")
  end
  files.write(common, of_common)
  ladies.data.load(path)
end

--- Parts whose rows are not sorted are put in order: a loop is found, and not added twice.
function tests.test_unsorted_part()
  local A = ladies.matrix{n_rows = 4, n_cols = 4, rows = ladies.index{1, 1, 2, 3, 3, 4, 4},
    cols = ladies.index{1, 3, 4, 3, 1, 2, 4}}
  local back = ladies.index{4, 3, 2, 1}
  local unsorted = A:slice(ladies.range(1, 4), back)
  local rows = core.graph_rows{n_nodes = 4, parts = {{first = 1, rows = unsorted}}}
  local collected = rows:collect(ladies.range(1, 4), {self_loops = true, joined = true})
  local expected = unsorted:to_dense()
  for i = 1, 4 do
    local row = collected:to_dense()[i]:to_table()
    local wanted = expected[i]:to_table()
    wanted[i] = 1
    lu.assertEquals(row, wanted)
  end
end

function tests.test_samplers_that_fail_while_they_are_drawn()
  local P = in_parts(adjacency())
  local function refusal(sampler)
    local drawn = batches.drawn(ladies.range(1, 400), {batch_size = 50, sampler = sampler})
    local together = drawn_together.new(drawn, P.graph)
    return message_of(together.group, together, 2)
  end
  lu.assertStrContains(refusal(function() coroutine.yield "mine" end),
    "the sampler yields outside of a coroutine of its own")
  lu.assertFalse(P.graph.is_drawn)
  lu.assertStrContains(refusal(function() error "none today" end), "none today")
  lu.assertFalse(P.graph.is_drawn)
end

--- Rows of a whole in another order: the diagonal is where a row's own node is, whoever asks.
function tests.test_diagonal_of_rows_in_another_order()
  local A = ladies.matrix{n_rows = 3, n_cols = 3, rows = ladies.index{1, 1, 2, 3, 3},
    cols = ladies.index{1, 2, 3, 1, 3}, values = ladies.tensor{1, 2, 3, 4, 5}}
  local rows = core.graph_rows{n_nodes = 3, weighted = true, parts = {{first = 1, rows = A}}}
  local order = ladies.index{3, 1, 2}
  local B = rows:collect(order)
  lu.assertEquals(B:to_dense():to_table(), {{4, 0, 5}, {1, 2, 0}, {0, 0, 3}})
  lu.assertEquals(B:loops(), 2)
  lu.assertEquals(B:diagonal():to_table(), {2, 1, 0})
  lu.assertEquals(B:diagonal_values():to_table(), {5, 1, 0})
  local without = B:without_loops()
  lu.assertEquals(without:to_dense():to_table(), {{4, 0, 0}, {0, 2, 0}, {0, 0, 3}})
  lu.assertEquals(without:loops(), 0)
  lu.assertEquals(B:add_diag(10):to_dense():to_table(), {{4, 0, 15}, {11, 2, 0}, {0, 10, 3}})
  lu.assertEquals(without:add_diag(ladies.tensor{1, 2, 3}):diagonal_values():to_table(), {1, 2, 3})
  local v = ladies.tensor{1, 2, 3, 4, 5}:requires_grad_()
  local _ <close> = ladies.step();
  (B:scale_entries(v):diagonal_values() * ladies.tensor{1, 10, 100}):sum():backward()
  lu.assertEquals(v.grad:to_table(), {0, 5, 10, 0, 0})
  lu.assertStrContains(message_of(B.normalize, B, "sym"),
    "rows of a graph whose other rows are elsewhere")
end

return tests
