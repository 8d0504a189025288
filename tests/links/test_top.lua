--- The best pairs without an edge, against plain loops over all pairs.
local lu = require "luaunit"
local core = require "ladies_core"
local ladies = require "ladies"
local bundle = require "tools.bundle"
local graphs = require "reference.graphs"
local shell = require "tools.shell"
local tables = require "ladies.base.tables"
local toy_study = require "tools.toy_study"

local tests = {}

local N, COLUMNS = 30, 4

-- Rows from which a dot product has no two equal scores for a node.
local function rows(seed) return ladies.zeros(N, COLUMNS):normal_(1, ladies.rng(seed)) end

local function graph(seed, both_ways)
  local rng = ladies.rng(seed)
  local from = ladies.sampling.uniform(N, 60, {rng = rng, replace = true})
  local to = ladies.sampling.uniform(N, 60, {rng = rng, replace = true})
  if both_ways then from, to = from .. to, to .. from end
  return ladies.graph.new(ladies.matrix{n_rows = N, n_cols = N, rows = to, cols = from}
    :without_loops())
end

-- Returns for each node `given` the k best others by score(given, other), among those that are
-- allowed.
local function plain(k, allowed, score)
  local list = {}
  for v = 1, N do
    local others = {}
    for u = 1, N do
      if u ~= v and allowed(v, u) then others[#others + 1] = u end
    end
    table.sort(others, function(a, b) return score(v, a) > score(v, b) end)
    for i = 1, math.min(k, #others) do list[#list + 1] = ("%d %d"):format(v, others[i]) end
  end
  return list
end

local function texts(found)
  local list = {}
  for i = 1, #found.given do list[i] = ("%d %d"):format(found.given[i], found.other[i]) end
  return list
end

local function dot(h)
  local scores = h:matmul(h:transpose()):to_table()
  return function(v, u) return scores[v][u] end
end

local DECODER = ladies.nn.link_decoder{inputs = COLUMNS}

--- Rows of too few or too many nodes are refused, which would be nodes that are none.
function tests.test_rows_of_other_nodes()
  local edges = ladies.links.split(graph(1, true), {seed = 1})
  for _, n in ipairs{N - 1, N + 1} do
    local message = (": h has %d rows for edges of %d nodes"):format(n, N)
    local h = ladies.ones(n, COLUMNS)
    lu.assertErrorMsgContains("ladies.links.top" .. message, ladies.links.top, edges, DECODER, h, 3)
    lu.assertErrorMsgContains("ladies.links.ranks" .. message, ladies.links.ranks, edges, edges.val,
      DECODER, h)
  end
end

--- Known pairs, whichever part they are in, and the node itself are left out, in both directions of
-- undirected graphs and in one of directed ones.
function tests.test_no_known_pairs()
  for seed, both_ways in ipairs{true, false} do
    local g, h = graph(seed, both_ways), rows(seed)
    local edges, A = ladies.links.split(g, {seed = seed}), g.adjacency
    for _, ends in ipairs{"to", "from"} do
      local function is_edge(v, u)
        if ends == "to" then v, u = u, v end        -- entry (end, beginning)
        return A:has(ladies.index{v}, ladies.index{u}):sum():item() > 0
      end
      local found = ladies.links.top(edges, DECODER, h, 5, {ends = ends})
      lu.assertEquals(texts(found), plain(5, function(v, u) return not is_edge(v, u) end, dot(h)))
      for i = 1, #found.given, 7 do
        lu.assertAlmostEquals(found.scores[i], dot(h)(found.given[i], found.other[i]), 1e-5)
      end
    end
  end
end

--- A node with fewer than k other nodes gets all of them; some nodes alone, and many at a time, get
-- the same pairs.
function tests.test_few()
  local edges, h = ladies.links.split(graph(3, true)), rows(3)
  local all = ladies.links.top(edges, DECODER, h, N)
  local known = 0
  for _, at in ipairs(edges:others("to"):degrees():to_table()) do known = known + at end
  lu.assertEquals(#all.given, N * (N - 1) - known)
  local some = ladies.links.top(edges, DECODER, h, N, {nodes = ladies.index{7, 2}})
  local wanted = {}
  for _, v in ipairs{7, 2} do
    for _, text in ipairs(texts(all)) do
      if text:match "^%d+" == tostring(v) then wanted[#wanted + 1] = text end
    end
  end
  lu.assertEquals(texts(some), wanted)
end

--- In a graph of customers and goods, the best pairs go from customers to goods alone.
function tests.test_types()
  local from, to, types = {}, {}, {}
  for v = 1, N do types[v] = v <= 10 and 1 or v <= 25 and 2 or 3 end
  for v = 1, 10 do
    for k = 1, 3 do from[#from + 1], to[#to + 1] = v, 10 + (v * k) % 15 + 1 end
  end
  local A = ladies.matrix{n_rows = N, n_cols = N,
    rows = ladies.index(from) .. ladies.index(to), cols = ladies.index(to) .. ladies.index(from)}
  local node_types, h = ladies.index(types), rows(4)
  local edges = ladies.links.split(ladies.graph.new(A), {node_types = node_types})
  local found = ladies.links.top(edges, DECODER, h, 4, {node_types = node_types})
  lu.assertEquals(texts(found), plain(4, function(v, u)
    return types[v] == 1 and types[u] == 2
      and A:has(ladies.index{v}, ladies.index{u}):sum():item() == 0
  end, dot(h)))
end

-- Finds the best k pairs of each node of a larger graph, by rows that are read `within` so many
-- bytes of memory, a piece at a time where that is wished. Returns the pieces, one where it is not,
-- and the most bytes that tensors and indices had at a time.
local function found_within(memory, k, in_pieces)
  local n, pieces = 6000, {}
  local data = ladies.generate.power_law{nodes = n, entries = 2 * n, features = 2, classes = 2}
  local edges = ladies.links.split(data.graph)
  ladies.memory_trim()
  local before = core.memory().total
  ladies.inference.way{memory = memory}.room:within(function()
    local h = ladies.zeros(n, 4):normal_(1, ladies.rng(1))
    local whole = ladies.links.top(edges, DECODER, h, k, in_pieces and {each = function(some)
      pieces[#pieces + 1] = {given = some.given:hash(), other = some.other:hash(),
        rank = some.rank:hash(), scores = some.scores:hash(), n = #some.rank}
    end} or nil)
    pieces[1] = pieces[1] or whole
  end)
  return pieces, core.memory().peak - before
end

--- `each` is called with the parts of the whole, one after the other, and only a piece and the
-- arrays by which it is found are in memory.
function tests.test_in_pieces()
  local k, PAIR = 200, 16
  local whole, of_whole = found_within("1G", k)
  local pieces, of_pieces = found_within("2M", k, true)
  local all, first = whole[1], 1
  lu.assertEquals(#pieces, 9)
  for _, piece in ipairs(pieces) do
    local last = first + piece.n - 1
    for _, name in ipairs{"given", "other", "rank", "scores"} do
      lu.assertEquals(all[name]:slice(first, last):hash(), piece[name], name)
    end
    first = last + 1
  end
  lu.assertEquals(first, #all.rank + 1)
  lu.assertTrue(of_whole > 2 * PAIR * #all.rank, of_whole)
  lu.assertTrue(of_pieces < PAIR * #all.rank, of_pieces)
end

--- The best pairs of a run are by exact inference, in time by the rows after the last edge; of a
-- variational model the means are the rows.
function tests.test_of_a_run()
  local data, all = graphs.in_time(N, 80, 25, 1), ladies.range(1, N)
  local edges = ladies.links.split(data.graph, {edges = data.edges, by = "time"})
  for _, method in ipairs{"graphsage", "temporal"} do
    local folder <close> = shell.folder()
    ladies.train{data = data, task = "link_prediction", edge_split = "time", variational = true,
      embedding = COLUMNS, hidden = 4, layers = 1, method = method, samples = 100, model = "sage",
      batch_size = 20, max_batches = 2, out = folder.path .. "/run", quiet = true}
    local run = ladies.saved_run(folder.path .. "/run", {data = data})
    local h = method == "graphsage" and ladies.inference.exact(run.model, run.task.data)
      or ladies.inference.in_time(run.model, data, all, all * 0 + data.edges.times:max() + 1,
        {sampler = ladies.samplers.temporal(data.edges, {samples = {100}})})
    local wanted = ladies.links.top(edges, run.model.decoder, h:slice_cols(1, COLUMNS), 3)
    local found = run:top(3)
    lu.assertEquals(found.from, wanted.given)
    lu.assertEquals(found.to, wanted.other)
    lu.assertEquals(found.rank, wanted.rank)
    lu.assertTrue((found.scores - wanted.scores):abs():max() < 1e-5)
  end
end

-- A run of link prediction on customers and goods, from a table with times.
local function shop_run(folder, options)
  local lines = {"user,item,time"}
  for i = 0, 119 do lines[#lines + 1] = ("u%d,i%d,%d"):format(i * 7 % 20, i * i % 31, 100 + i) end
  bundle.write_file(folder.path .. "/shop.csv", table.concat(lines, "\n") .. "\n")
  local argv = {"train", "./shop.csv", "--ids", "strings", "--make-features", "identity", "--task",
    "link_prediction", "--layers", "1", "--hidden", "4", "--embedding", "4", "--candidates", "3",
    "--batch-size", "20", "--max-batches", "2", "--out", "run", "--quiet"}
  shell.succeeded(shell.run_ladies(tables.append(argv, shell.words(options)),
    {folder = folder.path}))
end

--- `ladies predict --top` writes what run:top finds: new goods for customers, or customers for
-- goods where these are what negatives replace; in time, by the rows after the last edge.
function tests.test_the_command()
  for _, options in ipairs{"--method graphsage --corrupt to", "--method graphsage --corrupt from",
      "--method temporal --model sage --corrupt to"} do
    local folder <close> = shell.folder()
    shop_run(folder, options)
    local csv = shell.succeeded(shell.run_ladies({"predict", "run", "--top", "2"},
      {folder = folder.path}))
    local bought, count, last = {}, {}, {}
    for user, item in ladies.file.read(folder.path .. "/shop.csv"):gmatch "(u%d+),(i%d+)" do
      bought[user .. item] = true
    end
    lu.assertEquals(csv:match "^[^\n]*", "from,from_name,to,to_name,rank,score")
    local given = options:find("from", 1, true) and 2 or 1
    for from, to, rank, score in csv:gmatch "%d+,(%w+),%d+,(%w+),(%d),([^\n]+)" do
      lu.assertStrMatches(from .. to, "u%d+i%d+")
      lu.assertNil(bought[from .. to])
      local node = ({from, to})[given]
      count[node] = (count[node] or 0) + 1
      lu.assertEquals(tonumber(rank), count[node])
      lu.assertTrue(rank == "1" or tonumber(score) <= last[node])
      last[node] = tonumber(score)
    end
    local nodes = 0
    for _, n in pairs(count) do
      nodes = nodes + 1
      lu.assertTrue(n <= 2)
    end
    lu.assertTrue(nodes > 5)
    local out = shell.succeeded(shell.run_ladies({"predict", "run", "--top", "2", "--out",
      "top.npz"}, {folder = folder.path}))
    lu.assertStrContains(out, " pairs without an edge, at most the best 2 of each node\n")
    local file <close> = ladies.npz.open(folder.path .. "/top.npz")
    local ranks, in_csv = file:numbers "rank", {}
    lu.assertEquals(#ranks, tonumber(out:match "(%d+) pairs"))
    for rank in csv:gmatch "[^\n]*,(%d+),[^,\n]*\n" do table.insert(in_csv, tonumber(rank)) end
    lu.assertEquals(ranks, in_csv)
    shell.refuses("--top is of all nodes; leave --split out", shell.run_ladies({"predict", "run",
      "--top", "2", "--split", "test"}, {folder = folder.path}))
    local little = {"predict", "run", "--top", "2", "--memory", "1K"}
    lu.assertEquals(shell.succeeded(shell.run_ladies(little, {folder = folder.path})), csv)
    shell.refuses("ladies predict: --top 2 of 36 nodes needs 2.25 kB of memory for the arrays of "
      .. "an .npz file, and may have 1 kB (--memory); a file .csv is written in pieces\n",
      shell.run_ladies(tables.append(little, {"--out", "top.npz"}), {folder = folder.path}))
  end
end

--- Runs of another task are refused before anything is printed.
function tests.test_of_another_task()
  local folder <close> = shell.folder()
  local run = folder.path .. "/run"
  shell.succeeded(shell.run_ladies{"train", "--dataset", toy_study.dataset, "--max-batches", "1",
    "--hidden", "4", "--out", run, "--quiet"})
  shell.refuses("the best pairs are asked for", shell.run_ladies{"predict", run, "--top",
    "2"})
end

return tests
