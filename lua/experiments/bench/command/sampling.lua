-- ladies bench sampling: compares the speed of samplers written in Lua on the primitives with that
-- of the same samplers written as one loop of C (scripts/bench/fused/), and GraphSAGE with DGL's
-- NeighborSampler. The two sides take turns, so that both meet the same machine and the same
-- caches. With --growth it measures how the time of the samplers in Lua grows with the nodes of
-- graphs of one degree.

local core = require "ladies_core"
local ladies = require "ladies"
local cli = require "ladies.command.cli"
local counted = require("ladies.base.units").counted
local install = require "experiments.bench.peers.install"
local medians = require "ladies.statistics.medians"
local shell_word = require "ladies.base.shell_word"

local LAYERS, BATCH, WARM_UP, TURNS = 5, 512, 10, 3

local spec = {
  name = "ladies bench sampling",
  about = "Measures samplers in Lua against fused ones in C: 5 layers, batch 512.",
  {"rounds", "N", "positive integer", default = 51, help = "measurements of each side"},
  {"nodes", "N", "positive integer", default = 1000000, help = "nodes of the power-law graph"},
  {"degree", "N", "positive integer", default = 20, help = "its mean degree"},
  {"threads", "N", "positive integer", default = 2, help = "measure with 1 and with so many"},
  {"method", "NAME", "ladies|fastgcn|graphsage", help = "this method alone"},
  {"graph", "NAME", "wordnet|power-law", help = "this graph alone"},
  {"peers", help = "GraphSAGE against DGL instead"},
  {"growth", "LIST", "array of positive integers", help = "the samplers in Lua alone, on power-law "
    .. "graphs of so many nodes each"},
  {"python", "PROGRAM", "string", help = "a Python with DGL; by default that of "
    .. "`ladies bench peers`, or python3"},
}

-- ---------------------------------------------------------------- what is measured

-- The rows of the table: what P is, nodes of a layer or neighbours of a node, and the sampler.
local WORK = {
  {method = "ladies", size = 64, P = "sym"},
  {method = "ladies", size = 512, P = "sym"},
  {method = "fastgcn", size = 64, P = "sym"},
  {method = "fastgcn", size = 512, P = "sym"},
  {method = "graphsage", size = 5, P = "row"},
}

local function sampler_of(work, P)
  return ladies.samplers[work.method](P, {samples = work.size, layers = LAYERS})
end

local function load_fused()
  local path = ladies.home() .. "/../../lib/ladies/ladies_fused.so"
  local open, reason = package.loadlib(path, "luaopen_ladies_fused")
  if not open then error("the fused samplers are in the build tree alone: " .. reason) end
  return open()
end

local GRAPHS = {
  {"wordnet", function() return ladies.data.load("wordnet").graph end},
  {"power-law", function(opts)
    return ladies.generate.power_law{nodes = opts.nodes, entries = opts.nodes * opts.degree,
      features = 1}.graph
  end},
}

-- ---------------------------------------------------------------- measuring

-- Milliseconds a batch of a sampler that makes `count` of them in a row from random seeds. What was
-- made before is given back first.
local function time_of(sampler, n_nodes, rng, count)
  local seeds, batches = {}, {}                        -- all live until the clock has been read
  for i = 1, count do seeds[i] = ladies.sampling.uniform(n_nodes, BATCH, {rng = rng}) end
  collectgarbage()
  local began = core.clock()
  for i = 1, count do batches[i] = sampler(seeds[i], rng) end
  return 1e3 * (core.clock() - began) / #batches
end

-- Returns how many batches in a row a measurement needs, so that the clock and the first steps in a
-- cold cache weigh little.
local function batches_of(sampler, n_nodes)
  return math.max(1, math.min(32, math.ceil(1 / time_of(sampler, n_nodes, ladies.rng(1), 2))))
end

local function spread(list)
  local found = medians.spread(list)
  return ("%8.3f (%.3f to %.3f)"):format(found.median, found.low, found.high)
end

-- Fails unless two blocks have the same nodes and entries, and weights that differ by rounding.
local function check_block(work, l, src, adj, wanted_src, wanted)
  local far = adj.nnz == wanted.nnz
    and (adj:entry_values() - wanted:entry_values()):norm() / (1e-30 + wanted:entry_values():norm())
  assert(src == wanted_src and adj:col_of() == wanted:col_of() and adj:row_of() == wanted:row_of()
    and far < 1e-5, ("%s: layer %d of the fused sampler is wrong"):format(work.method, l))
end

-- The fused sampler must do what ours does: it draws the same from the same random numbers, or, for
-- LADIES, where ours has two ways to draw, makes the paper's block of what it draws.
local function check_fused(work, P, ours, fused)
  local seeds = ladies.sampling.uniform(P.n_rows, BATCH, {rng = ladies.rng(7)})
  local batch = ladies.sampling.check(fused(seeds, ladies.rng(8)), work.method)
  local wanted = ours(seeds, ladies.rng(8))
  for l = LAYERS, 1, -1 do
    local block = batch.blocks[l]
    if work.method == "ladies" then
      local U, near = P:slice(block.dst)
      local pick = ladies.sampling.find(near, block.src)
      local p = U:col_sums(2)
      assert(#block.src == math.min(work.size, #near))
      check_block(work, l, block.src, block.adj, near[pick],
        U:pick_cols(pick):scale_cols(1 / p[pick]):row_normalize())
    else
      check_block(work, l, block.src, block.adj, wanted.blocks[l].src, wanted.blocks[l].adj)
    end
  end
end


local function compare(work, P, fused, rounds)
  local ours = sampler_of(work, P)
  check_fused(work, P, ours, fused)
  local rng, mine, theirs, ratios = ladies.rng(1), {}, {}, {}
  local count = batches_of(ours, P.n_rows)
  for i = 1 - WARM_UP, rounds do
    local first = i % 2 == 0 and ours or fused          -- who goes first alternates
    local second = first == ours and fused or ours
    local a = time_of(first, P.n_rows, rng:fork(2 * (i + WARM_UP)), count)
    local b = time_of(second, P.n_rows, rng:fork(2 * (i + WARM_UP) + 1), count)
    if first ~= ours then a, b = b, a end
    if i >= 1 then mine[i], theirs[i], ratios[i] = a, b, a / b end
  end
  return mine, theirs, ratios
end

local function samplers_table(opts)
  local fused = load_fused()
  print(("ladies %s; %d layers, batch %d; ms a batch: median (quartiles) of %d rounds"):format(
    ladies.version, LAYERS, BATCH, opts.rounds))
  print(("%-10s %-15s %-9s%-28s %-28s ratio"):format("graph", "sampler", "threads", "Lua", "fused"))
  for _, graph in ipairs(GRAPHS) do
    local name, make = table.unpack(graph)
    local data = (not opts.graph or opts.graph == name) and make(opts)
    for _, work in ipairs(data and WORK or {}) do
      if not opts.method or opts.method == work.method then
        local P = data:normalize(work.P)
        local rival = fused[work.method](P, LAYERS, work.size)
        for _, threads in ipairs(opts.threads > 1 and {1, opts.threads} or {1}) do
          ladies.threads(threads)
          local mine, theirs, ratios = compare(work, P, rival, opts.rounds)
          print(("%-10s %-9s %5d  %7d  %-28s %-28s %5.2f"):format(name, work.method, work.size,
            threads, spread(mine), spread(theirs), medians.of(ratios)))
        end
      end
    end
  end
end

-- ---------------------------------------------------------------- the peer

-- Milliseconds of DGL's batches on the graph in an .npz, and what it says of itself.
local function peer(python, path, threads, rounds)
  local script = ladies.home() .. "/scripts/bench/peers/dgl_sampling.py"
  local pipe = io.popen(("OMP_NUM_THREADS=%d %s %s %s %d %d %d %d"):format(threads,
    shell_word(python), shell_word(script), shell_word(path), LAYERS, 5, BATCH, rounds))
  local title, times = pipe:read "l", {}
  for line in pipe:lines() do times[#times + 1] = tonumber(line) end
  if not pipe:close() then error("--peers needs a Python with torch and dgl: see --python") end
  return title, times
end

local function peers_table(opts)
  print(("ladies %s; GraphSAGE, %d layers, 5 neighbours, batch %d; ms: median (quartiles) of %d "
    .. "batches"):format(ladies.version, LAYERS, BATCH, TURNS * opts.rounds))
  local path, python = os.tmpname(), opts.python or install.found() or "python3"
  for _, graph in ipairs(GRAPHS) do
    local name, make = table.unpack(graph)
    local data = (not opts.graph or opts.graph == name) and make(opts)
    if data then
      local A, P = data.adjacency, data:normalize "row"
      ladies.npz.write(path, {indptr = A:offsets(), indices = A:col_of()})
      local ours = sampler_of({method = "graphsage", size = 5}, P)
      for _, threads in ipairs(opts.threads > 1 and {1, opts.threads} or {1}) do
        ladies.threads(threads)
        local rng, mine, theirs, title = ladies.rng(1), {}, {}, nil
        for round = 1, TURNS do                            -- the two take turns
          for i = 1 - WARM_UP, opts.rounds do
            local time = time_of(ours, P.n_rows, rng:fork(round):fork(i + WARM_UP), 1)
            if i >= 1 then mine[#mine + 1] = time end
          end
          local times
          title, times = peer(python, path, threads, opts.rounds)
          table.move(times, 1, #times, #theirs + 1, theirs)
        end
        print(("%-10s %d threads  ladies %-28s %s %-28s %5.2f"):format(name, threads, spread(mine),
          title, spread(theirs), medians.of(theirs) / medians.of(mine)))
      end
    end
  end
  os.remove(path)
end

-- ---------------------------------------------------------------- growth

-- Returns the median of the milliseconds of a batch, of a kind of work on a graph.
local function median_of(work, graph, rounds)
  local P, times, rng = graph:normalize(work.P), {}, ladies.rng(1)
  local sampler = sampler_of(work, P)
  for i = 1 - WARM_UP, rounds do
    local time = time_of(sampler, P.n_rows, rng:fork(i + WARM_UP), 1)
    if i >= 1 then times[i] = time end
  end
  return medians.of(times)
end

local function growth_table(opts)
  ladies.threads(opts.threads)
  print(("ladies %s, %s; power-law graphs of mean degree %d; %d layers, batch %d; ms a "
    .. "batch: median of %d"):format(ladies.version, counted(opts.threads, "thread"), opts.degree,
    LAYERS, BATCH, opts.rounds))
  local times = {}
  for _, nodes in ipairs(opts.growth) do
    local graph = ladies.generate.power_law{nodes = nodes, entries = nodes * opts.degree,
      features = 1}.graph
    for i, work in ipairs(WORK) do
      times[i] = times[i] or {}
      table.insert(times[i], median_of(work, graph, opts.rounds))
    end
  end
  print(("%-15s%s  last by first"):format("sampler",
    ("%16d nodes"):rep(#opts.growth):format(table.unpack(opts.growth))))
  for i, work in ipairs(WORK) do
    local own = times[i]
    print(("%-9s %5d%s %14.2f"):format(work.method, work.size,
      ("%22.3f"):rep(#own):format(table.unpack(own)), own[#own] / own[1]))
  end
end

cli.main(spec, arg, function(opts)
  if opts.growth then return growth_table(opts) end
  if opts.peers then return peers_table(opts) end
  samplers_table(opts)
end)
