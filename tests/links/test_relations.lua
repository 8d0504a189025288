--- Link prediction on edges that have types and features: the edges for training keep theirs, in
-- whole graphs, in the blocks of mini-batches without the edges that are to be predicted, and in
-- exact inference; all against plain lists.
local lu = require "luaunit"
local ladies = require "ladies"
local edge_list = require "ladies.data.edges.list"
local shell = require "tools.shell"

local links = ladies.links
local tests = {}

local N = 60

-- Triples {from, to, type} with parallel edges of several types; "same" is its own inverse.
local function triples()
  local rng, list, seen = ladies.rng(5), {}, {}
  local function add(u, v, name)
    local key = table.concat({u, v, name}, " ")
    if u == v or seen[key] then return end
    seen[key] = true
    list[#list + 1] = {u, v, name}
  end
  for i = 1, 260 do
    local u, v = rng:below(N), rng:below(N)
    local name = ({"same", "part", "kind"})[i % 3 + 1]
    add(u, v, name)
    if name == "same" then add(v, u, name) end
    if i % 4 == 0 then add(u, v, "kind") end                     -- parallel, or there already
    if i % 5 == 0 then add(v, u, "kind") end                     -- and the other way round
  end
  return list
end

-- The data set of these triples; the features of an edge are the number of its triple and of its
-- type, without which parallel edges of a type would be one.
local function typed(list, opts)
  local edges, types, features = {}, {}, {}
  for i, one in ipairs(list) do
    edges[i], types[i], features[i] = {one[1], one[2]}, one[3], {i / 100, #one[3]}
  end
  return ladies.data.from_arrays{edges = edges, edge_types = types,
    edge_type_names = {"same", "part", "kind"}, name = "typed",
    edge_features = opts and opts.features and ladies.tensor(features) or nil,
    features = ladies.zeros(N, 6):normal_(1, ladies.rng(2)),
    labels = ladies.range(1, N) % 3 + 1, directed = opts and opts.directed}
end

-- The entries "row column type" that the triples at `positions` of a split have in the graph, each
-- with how often it is there: a triple is one entry where it ends, and its inverse where it begins.
local function entries_of(edges, names, positions, one_way)
  local counts = {}
  local function add(row, col, name)
    local key = ("%d %d %s"):format(row, col, name)
    counts[key] = (counts[key] or 0) + 1
  end
  for _, at in ipairs(positions:to_table()) do
    local u, v, name = edges.from[at], edges.to[at], names[edges.relations[at]]
    add(v, u, name)
    if not one_way then add(u, v, name == "same" and name or "inverse " .. name) end
  end
  return counts
end

-- The entries of a block with their types, as entries_of counts; loops that are no edges are told
-- by the name "loop".
local function entries_in(block, names)
  local counts, adj = {}, block.adj
  local rows, cols, types = block.dst[adj:row_of()], block.src[adj:col_of()], block.edge_types
  for k = 1, adj.nnz do
    local key = ("%d %d %s"):format(rows[k], cols[k], names[types[k]] or "loop")
    counts[key] = (counts[key] or 0) + 1
  end
  return counts
end

local function task_of(data, opts)
  local all = {relations = true, decoder = "distmult", embedding = 8, candidates = "all"}
  for key, value in pairs(opts or {}) do all[key] = value end
  return ladies.task.link_prediction(data, all)
end

--- Every triple is an example once, and the graph has those for training alone, with their types.
function tests.test_the_training_graph_has_types()
  local list = triples()
  for _, directed in ipairs{"both", "keep"} do
    local data = typed(list, {directed = directed == "keep" and "keep" or nil})
    local edges = links.split(data.graph, {edges = data.edges, relations = true, test = 0.3})
    local names, distinct, n = data.edges.type_names, {}, 0
    for _, one in ipairs(list) do
      local u, v, name = table.unpack(one)
      if name == "same" and directed == "both" and u > v then u, v = v, u end
      local key = table.concat({u, v, name}, " ")
      if not distinct[key] then distinct[key], n = true, n + 1 end
    end
    lu.assertEquals(#edges, n)
    local own = edges.edge_data
    lu.assertTrue(own.adjacency == edges.graph.adjacency)
    lu.assertFalse(own.is_simple)
    local all = ladies.range(1, N)
    local block = own:attach{adj = own.adjacency, dst = all, src = all}
    lu.assertEquals(entries_in(block, names),
      entries_of(edges, names, edges.train, directed == "keep"))
    local kind = names[1] == "kind" and 1 or names[2] == "kind" and 2 or 3
    lu.assertEquals(edges.graph.relations.kind.nnz,
      #edges.relations[edges.train]:equals(kind):positions())
  end
end

--- The other ends of the edges at `positions`, one by one: in both directions where they are
-- undirected, or of a relation that is its own inverse.
function tests.test_incident()
  local both, one_way = typed(triples()), typed(triples(), {directed = "keep"})
  for _, case in ipairs{{both, true}, {both, false}, {one_way, false}} do
    local data, relations = table.unpack(case)
    local edges = links.split(data.graph, {edges = data.edges, relations = relations})
    lu.assertEquals(edges.undirected, data == both and not relations)
    for _, positions in ipairs{ladies.range(1, #edges), edges.test} do
      for _, which in ipairs{"to", "from"} do
        local wanted, found = {}, {}
        for _, at in ipairs(positions:to_table()) do
          local u, v, r = edges.from[at], edges.to[at], relations and edges.relations[at] or 1
          if which == "from" then u, v = v, u end
          wanted[#wanted + 1] = ("%d %d %d"):format((r - 1) * N + u, v, at)
          if edges.undirected or relations and edges.symmetric[r] == 1 then
            wanted[#wanted + 1] = ("%d %d %d"):format((r - 1) * N + v, u, at)
          end
        end
        local rows, cols, of = edges:incident(which, positions)
        lu.assertEquals({#cols, #of}, {#rows, #rows})
        for i = 1, #rows do found[i] = ("%d %d %d"):format(rows[i], cols[i], of[i]) end
        table.sort(wanted)
        table.sort(found)
        lu.assertEquals(found, wanted)
      end
    end
    local all = {edges:incident "to"}
    lu.assertEquals(all, {edges:incident("to", ladies.range(1, #edges))})
    lu.assertErrorMsgContains("edges:incident: which", edges.incident, edges, "both")
  end
end

--- Without relations an example is a pair of nodes, and the graph keeps all edges of it.
function tests.test_pairs_keep_parallel_edges_and_features()
  local data = typed(triples(), {features = true})
  local edges = links.split(data.graph, {edges = data.edges, test = 0.3})
  local plain = links.split(data.graph, {test = 0.3})
  lu.assertEquals({edges.from, edges.to, edges.test}, {plain.from, plain.to, plain.test})
  lu.assertTrue(edges.graph.adjacency:is_symmetric())
  lu.assertTrue(edges.graph.adjacency.nnz > plain.graph.adjacency.nnz)
  local A, whole, own = edges.graph.adjacency, data.edges, edges.edge_data
  lu.assertEquals(#own, A.nnz)
  local there = plain.graph.adjacency:has(data.graph.adjacency:row_of(),
    data.graph.adjacency:col_of()):positions()
  lu.assertTrue(own.features == whole.features[there])
  lu.assertTrue(own.types == whole.types[there])
end

--- Parallel edges are left out together, and the weights of all others are those of the graph
-- without them.
function tests.test_parallel_edges_are_left_out_together()
  local data = typed(triples())
  local A = data.graph.adjacency
  for _, kind in ipairs{"sym", "row", "none"} do
    local P = data.graph:normalize(kind)
    local some = ladies.index{1, 40, 77}
    local rows, cols = A:row_of()[some], A:col_of()[some]
    rows, cols = rows .. cols, cols .. rows
    local gone = ladies.matrix{n_rows = N, n_cols = N, rows = rows, cols = cols}
    local kept = (1 - gone:has(A:row_of(), A:col_of())):positions()
    local less = ladies.graph.new(edge_list.part(data.edges, kept).adjacency)
    local batch = ladies.samplers.full(P, {layers = 1})(ladies.range(1, N))
    links.left_out(data.graph, batch, rows, cols)
    local block = batch.blocks[1]
    lu.assertEquals(block.adj.nnz, less.n_edges + N)
    local expected = less:normalize(kind):slice(block.dst, block.src)
    local off = (block.adj:to_dense() - expected:to_dense()):abs():max()
    lu.assertTrue(off < 1e-6, ("%s: off by %g"):format(kind, off))
  end
end

-- The mini-batches of an epoch, with whole neighbourhoods or sampled ones.
local function batches_of(task, opts)
  return ladies.batches(task.units.train, {batch_size = 30, task = task, seed = 5, quiet = true,
    edges = task.data.edges,
    sampler = ladies.samplers.labor(task.data.graph:normalize "row",
      {samples = {opts.samples, opts.samples}, self_nodes = "previous"})})
end

--- In whole neighbourhoods a block has all training edges of its nodes with their types, but those
-- of pairs that the mini-batch asks for; a sampled block has some of these.
function tests.test_blocks_have_the_types_of_their_edges()
  local data = typed(triples())
  local names = data.edges.type_names
  for _, opts in ipairs{{samples = 1000}, {samples = 2}, {samples = 1000, exclude = "none"}} do
    local task = task_of(data, {exclude = opts.exclude})
    local edges = links.split(data.graph, {edges = data.edges, relations = true})
    local all, n = entries_of(edges, names, edges.train), 0
    local row_of, col_of = {}, {}
    for key in pairs(all) do
      local v, u = key:match "(%d+) (%d+)"
      row_of[key], col_of[key] = math.tointeger(v), math.tointeger(u)
    end
    for batch in batches_of(task, opts) do
      local from, to = edges.from[batch.units], edges.to[batch.units]
      local asked = {}
      for i = 1, #from do
        asked[from[i] .. " " .. to[i]], asked[to[i] .. " " .. from[i]] = true, true
      end
      for _, block in ipairs(batch.blocks) do
        local expected, is_row, found = {}, {}, entries_in(block, names)
        for _, v in ipairs(block.dst:to_table()) do
          is_row[v], expected[v .. " " .. v .. " loop"] = true, 1
        end
        for key, count in pairs(all) do
          local is_asked = opts.exclude ~= "none" and asked[row_of[key] .. " " .. col_of[key]]
          if is_row[row_of[key]] and not is_asked then expected[key] = count end
        end
        if opts.samples == 1000 then
          lu.assertEquals(found, expected)
        else
          for key, count in pairs(found) do lu.assertTrue(count <= (expected[key] or 0), key) end
          n = n + (block.adj.nnz - #block.dst)
        end
      end
    end
    if opts.samples == 2 then lu.assertTrue(n > 100) end
  end
end

--- Exact inference has the rows that whole neighbourhoods give, for R-GCN and for GINE.
function tests.test_exact_inference_reads_types_and_features()
  local task = task_of(typed(triples(), {features = true}))
  local data = task.data
  local function same(model, P)
    local nodes = ladies.index{3, 17, 40}
    local batch = ladies.samplers.full(P, {layers = 2})(nodes)
    data.edges:attach_all(batch)
    local h = ladies.no_grad(model.forward, model, data.features, batch, false)
    for _, opts in ipairs{{}, {nodes = nodes}} do
      local exact = ladies.inference.exact(model, data, opts)
      if not opts.nodes then exact = exact[nodes] end
      lu.assertTrue((exact - h):abs():max() < 1e-5)
    end
  end
  same(ladies.nn.rgcn{inputs = 6, outputs = 8, hidden = 8, layers = 2, relations = 5,
    normalize = "row"}, data.graph:normalize "row")
  same(ladies.nn.gine{inputs = 6, outputs = 8, hidden = 8, layers = 2, edge_inputs = 2,
    normalize = "none"}, data.graph:normalize "none")
end

function tests.test_what_is_refused()
  local data, other = typed(triples()), typed(triples(), {directed = "keep"})
  lu.assertErrorMsgContains("the edges are of another graph", links.split, data.graph,
    {edges = other.edges})
  lu.assertErrorMsgContains("relations = true asks for edges with types", links.split, data.graph,
    {relations = true})
end

-- --- by command ---------------------------------------------------------------------------------

--- Commands train and evaluate models that read types of edges, or their features.
function tests.test_commands()
  local folder <close> = shell.folder()
  ladies.data.save(typed(triples(), {features = true}), folder.path .. "/typed.npz")
  local function run(...)
    return (shell.succeeded(shell.run_ladies({...}, {folder = folder.path})))
  end
  for model, own in pairs{gine = {}, rgcn = {"--relations", "true", "--decoder", "distmult",
    "--candidates", "all"}} do
    run("train", "./typed.npz", "--task", "link_prediction", "--model", model, "--method", "labor",
      "--samples", "3", "--layers", "2", "--hidden", "8", "--embedding", "8", "--batch-size", "40",
      "--max-batches", "4", "--quiet", "--out", model, table.unpack(own))
    lu.assertStrContains(run("evaluate", model), model == "gine" and "test AUC" or "test MRR")
  end
end

return tests
