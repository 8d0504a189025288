--- Mini-batches: sizes, order, what each is a function of, errors.
local here = debug.getinfo(1, "S").source:match "^@(.*)/" or "."
package.path = here .. "/?.lua;" .. package.path

local lu = require "luaunit"
local ladies = require "ladies"
local toy = require "reference.toy_data"

local tests = {}

-- The batches of an iterator as a list.
local function collect(idx, opts)
  local list = {}
  for batch in ladies.batches(idx, opts) do list[#list + 1] = batch end
  return list
end

local function hashes(list)
  local all = {}
  for i, batch in ipairs(list) do
    all[i] = ("%d.%d %s %s"):format(batch.epoch, batch.index, batch.output:hash(), batch.rng)
  end
  return all
end

local ids = ladies.range(101, 110)

function tests.test_sizes()
  local list = collect(ids, {size = 4, epochs = 2})
  local sizes = {}
  for i, batch in ipairs(list) do sizes[i] = #batch.output end
  lu.assertEquals(sizes, {4, 4, 2, 4, 4, 2})
  lu.assertEquals(#collect(ids, {size = 4, drop_last = true}), 2)
  lu.assertEquals(#collect(ids, {size = 4, drop_last = true, epochs = 3}), 6)
end

--- What is left of an epoch joins the batch before when it is less than a quarter of a batch.
function tests.test_a_small_last_batch()
  local function sizes(n, own)
    local opts, list = {size = 512, epochs = 2}, {}
    for key, value in pairs(own or {}) do opts[key] = value end
    for i, batch in ipairs(collect(ladies.range(1, n), opts)) do list[i] = #batch.output end
    return list
  end
  lu.assertEquals(sizes(520), {520, 520})
  lu.assertEquals(sizes(512 + 127), {639, 639})
  lu.assertEquals(sizes(512 + 128), {512, 128, 512, 128})
  lu.assertEquals(sizes(1024), {512, 512, 512, 512})
  lu.assertEquals(sizes(1025), {512, 513, 512, 513})
  lu.assertEquals(sizes(8), {8, 8})
  lu.assertEquals(sizes(520, {drop_last = true}), {512, 512})
  lu.assertEquals(sizes(1025, {workers = 1}), {512, 513, 512, 513})
  -- Every node is in one batch of an epoch all the same.
  local seen = ladies.index{}
  for batch in ladies.batches(ladies.range(1, 1025)) do seen = seen .. batch.output end
  lu.assertEquals(seen:sort():to_table(), ladies.range(1, 1025):to_table())
end

--- Fewer nodes than a batch holds make one batch of all.
function tests.test_fewer_nodes_than_a_batch()
  for _, drop_last in ipairs{false, true} do
    local list = collect(ids, {size = 512, epochs = 3, drop_last = drop_last})
    lu.assertEquals(#list, 3)
    lu.assertEquals(list[2].output:sort():to_table(), ids:to_table())
  end
end

--- Every epoch has every node once, in an order of its own.
function tests.test_epochs_are_permutations()
  local list = collect(ids, {size = 3, epochs = 2})
  local epochs = {ladies.index{}, ladies.index{}}
  for _, batch in ipairs(list) do epochs[batch.epoch] = epochs[batch.epoch] .. batch.output end
  for _, epoch in ipairs(epochs) do lu.assertEquals(epoch:sort():to_table(), ids:to_table()) end
  lu.assertNotEquals(epochs[1]:to_table(), epochs[2]:to_table())
end

function tests.test_without_shuffling()
  local list = collect(ids, {size = 5, shuffle = false})
  lu.assertEquals(list[1].output:to_table(), {101, 102, 103, 104, 105})
  lu.assertEquals(list[2].output:to_table(), {106, 107, 108, 109, 110})
end

function tests.test_same_seed_same_batches()
  local opts = {size = 3, epochs = 3, seed = 5}
  lu.assertEquals(hashes(collect(ids, opts)), hashes(collect(ids, opts)))
  local other = {size = 3, epochs = 3, seed = 6}
  lu.assertNotEquals(hashes(collect(ids, opts)), hashes(collect(ids, other)))
end

--- A run that starts in the middle has the batches of one from the start.
function tests.test_start()
  local all = hashes(collect(ids, {size = 3, epochs = 3}))       -- 4 batches an epoch
  for first = 1, #all do
    local start = {epoch = (first - 1) // 4 + 1, batch = (first - 1) % 4 + 1}
    local rest = hashes(collect(ids, {size = 3, epochs = 3, start = start}))
    lu.assertEquals(rest, table.move(all, first, #all, 1, {}))
  end
  -- After the last batch of an epoch comes the next epoch.
  local rest = hashes(collect(ids, {size = 3, epochs = 3, start = {epoch = 1, batch = 5}}))
  lu.assertEquals(rest[1], all[5])
end

--- The sampler's rng is rng:fork(epoch):fork(index); the model has one of its own.
function tests.test_streams()
  local seen = {}
  local data = toy.new()
  local sampler = toy.neighbourhoods(data.graph:normalize "sym", 1)
  local list = collect(data.train, {size = 20, epochs = 2, seed = 9, sampler = setmetatable(
    {adaptive = true}, {__call = function(_, seeds, rng)
      seen[#seen + 1] = tostring(rng)
      return sampler(seeds)
    end})})
  local root, all = ladies.rng(9), {}
  for i, batch in ipairs(list) do
    lu.assertEquals(seen[i], tostring(root:fork(batch.epoch):fork(batch.index)))
    all[seen[i]], all[tostring(batch.rng)] = true, true
  end
  local different = 0
  for _ in pairs(all) do different = different + 1 end
  lu.assertEquals(different, 2 * #list)
end

function tests.test_a_sampler_with_seeds_of_its_own()
  local calls = {}
  local function draw(_, seeds)
    calls[#calls + 1] = #seeds
    local nodes = ladies.index{1, 2}
    local adj = ladies.matrix{n_rows = 2, n_cols = 2, rows = nodes, cols = nodes}
    return {blocks = {{adj = adj, dst = nodes, src = nodes}}, input = nodes, output = nodes}
  end
  local sampler = setmetatable({batches_per_epoch = 3, adaptive = true}, {__call = draw})
  local list = collect(ids, {size = 4, sampler = sampler, epochs = 2})
  lu.assertEquals(#list, 6)
  lu.assertEquals(calls, {10, 10, 10, 10, 10, 10})
end

-- ---------------------------------------------------------------- errors

local function refused(idx, opts)
  local ok, message = pcall(collect, idx, opts)
  lu.assertFalse(ok)
  return message
end

function tests.test_bad_nodes()
  lu.assertStrContains(refused(ladies.index{}, {}), "there are no nodes")
  lu.assertStrContains(refused(ladies.index{3, 4, 3}, {}), "3")
  lu.assertStrContains(refused({1, 2}, {}), "the nodes must be an Index")
  lu.assertStrContains(refused(ids, {sise = 4}), 'did you mean "size"?')
  lu.assertStrContains(refused(ids, {size = 0}), "size must be a positive integer")
end

--- Errors of a sampler tell whose they are and in which batch.
function tests.test_errors_of_a_sampler()
  local message = refused(ids, {size = 4, sampler = function() error "no luck" end})
  lu.assertStrMatches(message,
    "sampler of .*test_batches%.lua:%d+, epoch 1, batch 1: .*test_batches%.lua:%d+: no luck")
  local named = setmetatable({name = "mine"}, {__call = function() return 7 end})
  lu.assertStrContains(refused(ids, {sampler = named}),
    "mine, epoch 1, batch 1: it must return a mini-batch, got a number")
end

--- A mini-batch that breaks the contract is refused.
function tests.test_the_contract_is_checked()
  local function sampler(seeds)
    local one = ladies.index{1}
    local adj = ladies.matrix{n_rows = 1, n_cols = 1, rows = one, cols = one}
    return {blocks = {{adj = adj, dst = seeds, src = seeds}}, input = seeds, output = seeds}
  end
  lu.assertFalse((pcall(collect, ids, {size = 4, sampler = sampler})))
end

os.exit(lu.LuaUnit.new():runSuiteByInstances{{"batches", tests}}, true)
