--- Tests the faults that the laboratory finds by looking at mini-batches and making calls again:
-- each is planted in a sampler that keeps the contract, and the samplers of the library have none.
local lu = require "luaunit"
local core = require "ladies_core"
local ladies = require "ladies"
local contract = require "ladies.lab.contract"
local edges = require "ladies.lab.contract.edges"
local Context = require "ladies.lab.context"
local graphs = require "reference.graphs"
local layer_wise = require "reference.layer_wise"
local method_names = require "reference.method_names"
local methods = require "ladies.experiment.methods"
local primitive_calls = require "ladies.base.primitive_calls"
local subject = require "ladies.lab.subject"
local tables = require "ladies.base.tables"
local temporary = require "reference.temporary"
local toy = require "reference.toy_data"

local index, choice = ladies.index, ladies.sampling.choice

local OPTS = {batch_size = 20, layers = 2, hidden = 8, steps = 2, seed = 1}

local data = toy.new()
local context = Context.new(data, OPTS)

-- The methods that have a sampler for tasks on nodes, before any test adds its own.
local METHODS = method_names()

-- Returns the toy data with edges one way, so that a matrix and its transpose differ.
local function one_way()
  local rng, rows, cols = ladies.rng(1), {}, {}
  for e = 1, 700 do rows[e], cols[e] = rng:below(toy.NODES), rng:below(toy.NODES) end
  local of = toy.new()
  of.graph = ladies.graph.new(ladies.matrix{n_rows = toy.NODES, n_cols = toy.NODES,
    rows = index(rows), cols = index(cols)})
  return of
end

local directed = one_way()
local directed_context = Context.new(directed, OPTS)

local tests = {}

-- A sampler as LADIES with places for faults: `own` may have P(P, data), rng(rng, l), batch(batch)
-- and layer(block, l, P), each of which gives what is taken instead.
local function planted(own)
  return {name = "planted", sampler = function(P, of)
    P = own.P and own.P(P, of) or P
    return function(seeds, rng)
      local dst, blocks = seeds, {}
      for l = 2, 1, -1 do
        local U, near = P:slice(dst)
        local draws = own.rng and own.rng(rng, l) or rng
        local pick, w = choice(U:col_sums(2), 12, {rng = draws})
        local block = {adj = U:pick_cols(pick):scale_cols(w), dst = dst, src = near[pick]}
        if own.layer then block = own.layer(block, l, P) end
        blocks[l], dst = block, block.src
      end
      local batch = {blocks = blocks, input = dst, output = seeds}
      if own.batch then return own.batch(batch) end
      return batch
    end
  end}
end

local function examined(given, of)
  of = of or context
  local one = subject.of("test", given, of.data, OPTS)
  return contract.examine(one, of)
end

-- The keys of the faults of a sampler, and the first fault.
local function faults_of(given, of)
  local _, faults = examined(given, of)
  return tables.map(faults, function(fault) return fault.key:gsub("^contract%.", "") end), faults[1]
end

-- Asserts that there is this fault, whose text has `text`, and none besides.
local function assert_fault(given, key, text, of)
  local keys, fault = faults_of(given, of)
  lu.assertEquals(keys, {key}, fault and fault.text)
  lu.assertStrContains(fault.text, text)
  lu.assertTrue(#fault.proof > 0 and #fault.remedy > 0)
  for _, part in ipairs{"text", "proof", "remedy"} do lu.assertNotStrContains(fault[part], "\n") end
  return fault
end

-- ---------------------------------------------------------------- none where there is none

--- The samplers of the library keep the contract with few samples, those of the defaults, and all
-- that there are.
function tests.test_samplers_of_the_library_keep_the_contract()
  for _, of in ipairs{context, directed_context} do
    for _, name in ipairs(METHODS) do
      local all = methods.takes(name, "samples") and {name, name .. ":2", name .. ":400"} or {name}
      for _, given in ipairs(all) do lu.assertEquals(faults_of(given, of), {}, given) end
    end
  end
end

function tests.test_variants_keep_the_contract()
  for name, sampler in pairs{
    poisson = function(P)
      return ladies.samplers.ladies(P, {samples = {9, 9}, draw = "poisson",
        self_nodes = "previous"})
    end,
    one = function(P) return ladies.samplers.fastgcn(P, {samples = {1, 1}, draw = "wor"}) end,
    replace = function(P)
      return ladies.samplers.graphsage(P, {samples = {2, 2}, replace = true, form = "unbiased"})
    end,
    layers_share = function(P)
      return ladies.samplers.labor(P, {samples = {2, 2}, layer_dependency = true,
        batch_dependency = 4, iterations = "converge"})
    end,
  } do
    lu.assertEquals(faults_of{name = name, sampler = sampler}, {}, name)
  end
end

function tests.test_findings_and_notes()
  local findings, faults, notes = examined(planted{})
  lu.assertEquals(faults, {})
  lu.assertEquals(notes, {})
  local batches, entries, foreign = table.unpack(findings)
  lu.assertEquals({batches.mean, batches.low, batches.high, batches.n}, {8, 8, 8, 1})
  lu.assertTrue(entries.mean > 200)
  lu.assertEquals(foreign.mean, 0)
  local _, _, of_full = examined "full"
  lu.assertStrContains(of_full[1], "no row left out an entry")
  local _, _, of_vrgcn = examined "vrgcn"
  lu.assertStrContains(of_vrgcn[1], "it may remember")
end

-- ---------------------------------------------------------------- a mini-batch by itself

-- A block with a field changed.
local function with(field, f)
  return function(block, l, P)
    return l == 2 and tables.merged(block, {[field] = f(block[field], P, block)}) or block
  end
end

function tests.test_shapes()
  assert_fault(planted{layer = with("adj", function(adj) return adj:transpose() end)}, "shape",
    "layer 2: adj is 12 x 20, expected 20 x 12")
  local function first_id(id)
    return planted{layer = function(block, l)
      return l == 1 and tables.merged(block,
        {src = index{id or block.src[2]} .. block.src:slice(2, 12)}) or block
    end}
  end
  assert_fault(first_id(), "shape", "layer 1: src has 12 ids, but only 11 distinct ones")
  assert_fault(first_id(181), "shape", "layer 1: src has the id 181")
  assert_fault(planted{batch = function(batch)
    batch.blocks[1].dst = batch.blocks[1].dst:sort()
    return batch
  end}, "shape", "layer 1: dst (12 nodes) differs from src of the next layer")
  assert_fault(planted{batch = function(batch) return setmetatable(batch, {}) end}, "shape",
    "no metatable")
  assert_fault(planted{batch = function() end}, "shape", "a mini-batch must be a table, got nil")
  assert_fault({name = "others", sampler = function(P)
    local good = toy.neighbourhoods(P, 2)
    return function(seeds) return good(seeds:slice(1, #seeds - 1)) end
  end}, "shape", "output (19 nodes) differs from the seeds (20 nodes)")
  assert_fault({name = "subgraph", sampler = function(P, of)
    local good = toy.neighbourhoods(P, 2)
    return setmetatable({name = "subgraph", batches_per_epoch = 2}, {__call = function()
      return good(of.val)
    end})
  end}, "shape", "its loss is over nodes that are not to be trained on")
end

function tests.test_failure()
  lu.assertErrorMsgMatches(
    ".*tests/lab/test_lab_contract%.lua:%d+: planted[^:]*: seeds 1, draw 1: no luck", faults_of,
    planted{batch = function() error "no luck" end})
end

function tests.test_entries_that_are_no_edges()
  local function turned(by)
    return with("src", function(src)
      return by > 0 and src:slice(2, #src) .. src:slice(1, 1)
        or src:slice(#src, #src) .. src:slice(1, #src - 1)
    end)
  end
  for _, by in ipairs{1, -1} do
    local fault = assert_fault(planted{layer = turned(by)}, "edges",
      "layer 2 has entries that are no edges of P: columns and src are off by one place")
    lu.assertStrMatches(fault.proof,
      "seeds 1, draw 1: %d+ of %d+ entries, the first from node %d+ to node %d+")
  end
  assert_fault(planted{layer = function(block, l)
    return l == 1 and tables.merged(block, {adj = block.adj:pick_cols(
      index{12} .. ladies.range(1, 11))}) or block
  end}, "edges", "layer 1 has entries that are no edges of P: columns and src are off by one")
  for _, first in ipairs{2, 0} do                  -- the row that comes to be the first, 0 the last
    assert_fault(planted{layer = function(block, l)
      local n, order = block.adj.n_rows, {}
      for i = 1, n do order[i] = (first + i - 2) % n + 1 end
      return l == 1 and tables.merged(block, {adj = block.adj:slice(index(order),
        ladies.range(1, block.adj.n_cols))}) or block
    end}, "edges", "layer 1 has entries that are no edges of P: rows and dst are off by one place")
  end
  local findings = examined(planted{layer = turned(1)})
  lu.assertTrue(findings[3].mean > 0.5 * findings[2].mean / 2)
end

--- Transposed entries are found as such in a square block of a directed P.
function tests.test_transposed_blocks()
  local function square(spoil)
    return {name = "square", sampler = function(P)
      return function(seeds)
        local adj = P:slice(seeds, seeds)
        local block = {adj = spoil(adj), dst = seeds, src = seeds}
        return {blocks = {block, block}, input = seeds, output = seeds}
      end
    end}
  end
  local function spoil(adj) return adj:transpose() end
  local small = Context.new(directed, tables.merged(OPTS, {batch_size = 60}))
  local keys, fault = faults_of(square(spoil), small)
  lu.assertEquals(keys[1], "edges")
  lu.assertStrContains(fault.text, "the block is transposed")
  assert_fault(planted{P = function(P) return P:transpose() end}, "transposed",
    "layer 1 is sliced from the transpose of P", directed_context)
end

function tests.test_another_P()
  local fault = assert_fault(planted{P = function(_, of) return of.graph:normalize "row" end},
    "other_P", "layer 1 is sliced from another matrix than P")
  lu.assertEquals(fault.proof, 'it has normalize = "row", P is normalize = "sym"')
end

function tests.test_stats()
  local function told(n)
    return planted{batch = function(batch)
      batch.stats = {isolated = n(batch)}
      return batch
    end}
  end
  assert_fault(told(function() return 99 end), "isolated", "stats.isolated is not the number")
  lu.assertEquals(faults_of(told(function(batch)
    return batch.blocks[1].adj:empty_rows() + batch.blocks[2].adj:empty_rows()
  end)), {})
end

--- The number of entries that are no edges, against counting them in a table.
function tests.test_number_of_foreign_entries()
  local P = graphs.directed()
  local there = P:to_dense():to_table()
  local rng = ladies.rng(3)
  for trial = 1, 20 do
    local draw = rng:fork(trial)
    local dst = ladies.sampling.uniform(12, 5, {rng = draw})
    local src = ladies.sampling.uniform(12, 4, {rng = draw})
    local rows, cols, seen, foreign = {}, {}, {}, 0
    for _ = 1, 9 do
      local i, j = draw:below(5), draw:below(4)
      rows[#rows + 1], cols[#cols + 1] = i, j
      if not seen[i * 10 + j] and there[dst[i]][src[j]] == 0 then foreign = foreign + 1 end
      seen[i * 10 + j] = true
    end
    local adj = ladies.matrix{n_rows = 5, n_cols = 4, rows = index(rows), cols = index(cols)}
    local count, row, col = edges.foreign(P, {adj = adj, dst = dst, src = src})
    lu.assertEquals(count, foreign)
    if foreign > 0 then lu.assertEquals(there[row][col], 0) end
  end
end

-- ---------------------------------------------------------------- random numbers

function tests.test_rng_that_is_not_used()
  assert_fault(layer_wise.new("first", function(P, dst)
    local U, near = P:slice(dst)
    return U:pick_cols(ladies.range(1, 5)), near:slice(1, 5)
  end), "rng", "it ignores its rng: ")
  -- A sampler that takes all neighbours has nothing left to be drawn.
  lu.assertEquals(faults_of{name = "all", sampler = function(P)
    return ladies.samplers.ladies(P, {samples = {400, 400}})
  end}, {})
end

function tests.test_random_numbers_that_are_used_twice()
  assert_fault(planted{rng = function(rng) return rng:fork(1) end}, "streams",
    "2 calls of sampling.choice use the same random numbers within one mini-batch")
  assert_fault(planted{rng = function(rng) return rng:at(3) end}, "streams", "sampling.choice")
  assert_fault(planted{rng = function(rng, l) return l == 1 and ladies.rng(7) or rng end},
    "same_stream", "sampling.choice has the same random numbers in different mini-batches")
  lu.assertEquals(faults_of(planted{rng = function() return ladies.rng(7) end}),
    {"streams", "same_stream"})
  lu.assertEquals(faults_of(planted{rng = function(rng, l) return rng:fork(l) end}), {})
  -- Options that are checked by a draw of no nodes, in each call, use no numbers.
  lu.assertEquals(faults_of{name = "made_anew", sampler = function(P)
    return function(seeds, rng)
      return ladies.sampling.layerwise(P, {samples = 12, layers = 2, draw = "poisson",
        probability = function(U) return U:col_sums(2) end})(seeds, rng)
    end
  end}, {})
end

-- ---------------------------------------------------------------- memory

function tests.test_random_numbers_from_elsewhere()
  local random = math.random
  assert_fault(planted{rng = function() return ladies.rng(random(1 << 30)) end}, "repeated",
    "the same calls give other mini-batches the second time (it calls math.random)")
end

--- Hidden state is found: probabilities that are kept from the first call, a counter that grows,
-- and what the call before was.
function tests.test_samplers_that_remember()
  assert_fault({name = "first", sampler = function(P)
    local kept
    return function(seeds, rng)
      local U, near = P:slice(seeds)
      kept = kept or #near
      local pick, w = choice(U:col_sums(2), kept // 4, {rng = rng})
      local block = {adj = U:pick_cols(pick):scale_cols(w), dst = seeds, src = near[pick]}
      return {blocks = {block}, input = block.src, output = seeds}
    end
  end}, "memory", "it remembers: one that was made anew gives other")
  local calls = 0
  assert_fault(planted{rng = function(rng, l)
    calls = calls + 1
    return rng:fork(10 * calls + l)
  end}, "repeated", "the same calls give other")
  local last = 0
  assert_fault(planted{batch = function(batch)
    local before = last
    last = batch.output[1]
    for _, block in ipairs(batch.blocks) do
      block.adj = block.adj:scale_rows(ladies.full(block.adj.n_rows, 1 + before))
    end
    return batch
  end}, "repeated", "the same calls give other")
end

--- The memory of a sampler that is given as it is shows itself in another Lua state.
function tests.test_memory_of_a_sampler_that_is_given()
  local P, kept = data.graph:normalize "sym", nil
  local inner = ladies.samplers.ladies(P, {samples = {6, 6}})
  local function sampler(seeds, rng)
    local batch = inner(seeds, rng)
    kept = kept or #ladies.sampling.unique(batch.input) + batch.input[1]
    batch.loss_weight = ladies.full(#seeds, kept)
    return batch
  end
  local keys, fault = faults_of(sampler)
  lu.assertEquals(keys, {"state"})
  lu.assertStrContains(fault.text, "in another Lua state it draws other mini-batches")
end

function tests.test_globals_do_not_cross()
  local path = temporary.path "global.lua"
  ladies.file.write(path, [[
    rawset(_G, "WANTED", 12)
    return function(P, settings)
      local inner = require "ladies".samplers.ladies(P, {samples = {6, 6}})
      return function(seeds, rng)
        assert(WANTED == 12, "no global")
        return inner(seeds, rng)
      end
    end]])
  assert_fault(path, "state", "in another Lua state it fails: no global")
  rawset(_G, "WANTED", nil)
end

function tests.test_new_globals()
  local inner = ladies.samplers.ladies(data.graph:normalize "sym", {samples = {6, 6}})
  local function sampler(seeds, rng)
    rawset(_G, "LAST_SEEDS", seeds)
    return inner(seeds, rng)
  end
  assert_fault(sampler, "globals", "it sets the global LAST_SEEDS")
  rawset(_G, "LAST_SEEDS", nil)
end

function tests.test_what_cannot_cross_is_a_note()
  local file <close> = io.open(debug.getinfo(1, "S").source:sub(2))
  local inner = ladies.samplers.ladies(data.graph:normalize "sym", {samples = {6, 6}})
  local _, faults, notes = examined(function(seeds, rng)
    return file and inner(seeds, rng)
  end)
  lu.assertEquals(faults, {})
  lu.assertStrContains(notes[1], "it does not cross into workers")
  lu.assertStrContains(notes[1], "file")
end

--- Mini-batches with after_step or penalty go in step with training, whatever their sampler says.
function tests.test_after_step_and_penalty_are_a_memory()
  for _, field in ipairs{"after_step", "penalty"} do
    local _, faults, notes = examined(planted{batch = function(batch)
      batch[field] = function() end
      return batch
    end})
    lu.assertEquals(faults, {}, field)
    lu.assertStrContains(notes[1], "goes in step with training")
  end
end

--- A sampler in step with training that draws its own seeds meets the first mini-batch of an epoch
-- first, as in training: MVS-GNN measures its norms there.
function tests.test_places_in_step_with_training()
  for seed = 1, 6 do
    local other = Context.new(data, tables.merged(OPTS, {seed = seed}))
    lu.assertEquals(faults_of("mvs", other), {}, seed)
  end
end

-- ---------------------------------------------------------------- calls of primitives

function tests.test_calls_are_seen()
  local names, P = {}, data.graph:normalize "sym"
  local n = primitive_calls.watch(function(name, arguments)
    if name then names[#names + 1] = {name, arguments[1]} end
  end, function()
    local slice = P.slice
    local ok = pcall(slice, P, 7)
    local _, near = slice(P, index{1, 2})
    return ok, #ladies.sampling.unique(near) + 1
  end)
  lu.assertFalse(n)
  lu.assertEquals(tables.map(names, function(one) return one[1] end),
    {"Matrix:slice", "index", "Matrix:slice", "sampling.unique"})
  lu.assertTrue(rawequal(names[1][2], P))
  lu.assertNil(debug.gethook())
end

--- Seconds go to the call that spent them; an error in between leaves the others right.
function tests.test_seconds_of_primitives()
  local x = ladies.ones(600, 600)
  local before = core.clock()
  local spent = primitive_calls.timed(function()
    for _ = 1, 3 do
      local _ = x:matmul(x)
      pcall(x.matmul, x, ladies.ones(2, 2))
      local _ = x + x
    end
  end)
  local all = core.clock() - before
  lu.assertEquals(spent["Tensor:matmul"].calls, 3)
  lu.assertEquals(spent["Tensor +"].calls, 3)
  lu.assertTrue(spent["Tensor:matmul"].seconds > spent.ones.seconds)
  local sum = 0
  for _, one in pairs(spent) do sum = sum + one.seconds end
  lu.assertTrue(sum > 0 and sum < all, ("%g of %g"):format(sum, all))
  lu.assertNil(debug.gethook())
end

--- A hook of the user's is there again afterwards.
function tests.test_hooks_come_back()
  local count = 0
  local function hook() count = count + 1 end
  debug.sethook(hook, "", 1000000)
  lu.assertErrorMsgContains("oh", primitive_calls.timed, function() error "oh" end)
  lu.assertTrue(rawequal((debug.gethook()), hook))
  debug.sethook()
end

--- One that is written in C, as a worker's is, stays where it is, and nothing is run.
function tests.test_hooks_in_c()
  local of_worker <close> = core.workers(function()
    return function()
      local calls, ran = require "ladies.base.primitive_calls", false
      local _, message = pcall(calls.timed, function() ran = true end)
      return {message, ran, debug.gethook()}
    end
  end, 0, {threads = 1, first = 1, last = 1, ahead = 1})
  local found = of_worker:next()
  lu.assertStrContains(found[1], "a debug hook is set that is written in C")
  lu.assertEquals({found[2], found[3]}, {false, "external hook"})
end

return tests
