--- Mini-batches made by workers: the same ones, in order, and the same model at the end; what
-- happens when a sampler fails, must run in step, or is not a function of seeds and rng.
local lu = require "luaunit"
local core = require "ladies_core"
local ladies = require "ladies"
local message_of = require "tools.message_of"
local stderr_of = require "tools.stderr_of"
local tables = require "ladies.base.tables"
local temporary = require "reference.temporary"
local toy = require "reference.toy_data"

local tests = {}

local data = toy.new()
local P = data.graph:normalize "sym"
local small = ladies.samplers.ladies(P, {samples = {16, 16}})

-- Returns texts that distinguish the batches of an iterator: place, blocks, rng and statistics.
local function describe(opts, ids)
  local list = {}
  for batch in ladies.batches(ids or data.train, opts) do
    batch.after_step = nil                                         -- there is no step
    list[#list + 1] = ("%d.%d %s %s %s"):format(batch.epoch, batch.index, batch.rng,
      batch.stats and batch.stats.isolated, batch.blocks and ladies.sampling.hash(batch))
  end
  return list
end

-- Asserts that the batches are the same for 0, 1 and 3 workers, and returns them.
local function same_batches(opts)
  local want = describe(opts)
  for _, own in ipairs{{workers = 1}, {workers = 3}, {workers = 3, ahead = 1},
    {workers = 2, ahead = 9}} do
    lu.assertEquals(describe(tables.merged(opts, own)), want)
  end
  return want
end

-- ---------------------------------------------------------------- the same batches

function tests.test_same_batches_with_any_number_of_workers()
  local samplers = {
    small, ladies.samplers.full(P, {layers = 2}), toy.neighbourhoods(P, 2),
    ladies.samplers.ladies(P, {samples = {9, 9}, draw = "poisson", self_nodes = "previous"}),
    ladies.samplers.fastgcn(P, {samples = {30, 30}}),
    ladies.samplers.graphsage(P, {samples = {2, 3}, form = "unbiased"}),
  }
  for _, sampler in ipairs(samplers) do
    lu.assertEquals(#same_batches{batch_size = 7, sampler = sampler, epochs = 4, seed = 3}, 36)
  end
end

--- Clusters are dealt by the place in the epoch, which workers know too.
function tests.test_same_clusters_with_any_number_of_workers()
  local sampler = ladies.samplers.clustergcn(data.graph.adjacency, {layers = 2, train = data.train,
    parts = 12, clusters = 2, partition = "random", lambda = 1})
  lu.assertEquals(#same_batches{sampler = sampler, epochs = 4, seed = 3}, 24)
end

function tests.test_options_with_workers()
  same_batches{batch_size = 7, sampler = small, epochs = 2, drop_last = true}
  same_batches{batch_size = 7, sampler = small, epochs = 2, shuffle = false}
  same_batches{batch_size = 100, sampler = small, epochs = 3}
  lu.assertEquals(#same_batches{batch_size = 100, sampler = small}, 1)
  lu.assertEquals(#same_batches{batch_size = 20, epochs = 2}, 6)          -- without a sampler
end

--- An iterator with workers may start at every place, and gives the rest of the batches.
function tests.test_start_with_workers()
  local all = describe{batch_size = 20, sampler = small, epochs = 3}
  for first = 1, #all do
    local rest = describe{batch_size = 20, sampler = small, epochs = 3, workers = 2,
      start = {epoch = (first - 1) // 3 + 1, batch = (first - 1) % 3 + 1}}
    lu.assertEquals(rest, table.move(all, first, #all, 1, {}))
  end
end

--- Batches that take long are waited for, not overtaken.
function tests.test_slow_and_fast_batches_keep_their_order()
  local function sampler(seeds, rng)
    local slow, began = rng:fork(1):below(3) - 1, core.clock()
    while core.clock() - began < slow * 0.004 do end
    return small(seeds, rng)
  end
  lu.assertEquals(describe{batch_size = 7, sampler = sampler, epochs = 3, workers = 3},
    describe{batch_size = 7, sampler = small, epochs = 3})
end

--- Samplers may be callable tables, with fields, a method and seeds of their own.
function tests.test_callable_tables()
  local Sampler = {}
  Sampler.__index = Sampler
  function Sampler:draw(seeds, rng) return self.inner(seeds, rng) end
  function Sampler:__call(seeds, rng) return self:draw(seeds, rng) end
  local sampler = setmetatable({inner = small, name = "mine"}, Sampler)
  lu.assertEquals(same_batches{batch_size = 20, sampler = sampler, epochs = 2},
    describe{batch_size = 20, sampler = small, epochs = 2})
  sampler.batches_per_epoch = 5
  lu.assertEquals(#same_batches{sampler = sampler, epochs = 2}, 10)
end

--- Fields of a user's own arrive as they are.
function tests.test_what_a_batch_carries()
  local function sampler(seeds, rng)
    local batch = small(seeds, rng)
    batch.loss_nodes, batch.loss_weight = ladies.range(1, #seeds), ladies.ones(#seeds)
    batch.extra = {name = "x", list = {1, 2}, same = batch.output, f = function() return #seeds end}
    return batch
  end
  local opts = {batch_size = 20, sampler = sampler, workers = 1, epochs = 2}
  for batch in ladies.batches(data.train, opts) do
    lu.assertEquals(#batch.loss_weight, 20)
    lu.assertEquals({batch.extra.name, batch.extra.list, batch.extra.f()}, {"x", {1, 2}, 20})
    lu.assertTrue(rawequal(batch.extra.same, batch.output))
    lu.assertTrue(rawequal(batch.blocks[1].src, batch.input))
    lu.assertTrue(batch.sampling > 0)
  end
end

-- ---------------------------------------------------------------- how far ahead

--- At most `ahead` batches are made before they are asked for.
function tests.test_bound_on_what_is_made_ahead()
  local path = temporary.path "made"
  local function sampler(seeds, rng)
    local file <close> = io.open(path, "a")
    file:write "x"
    return small(seeds, rng)
  end
  local function made()
    local file <close> = io.open(path)
    return file and #file:read "a" or 0
  end
  local iterator <close> = ladies.batches(data.train, {batch_size = 7, sampler = sampler,
    workers = 2,
    ahead = 3, epochs = 9})
  iterator()
  -- The first one in step, and then, as the first one again, up to three by workers.
  local began = core.clock()
  while made() < 4 and core.clock() - began < 30 do end
  lu.assertEquals(made(), 4)
  while core.clock() - began < 0.05 do end
  lu.assertEquals(made(), 4)
  iterator()
  began = core.clock()
  -- Two more have room, and the loop draws the second one itself.
  while made() < 7 and core.clock() - began < 30 do end
  lu.assertEquals(made(), 7)
end

-- ---------------------------------------------------------------- the same model

local function train(own)
  local model = ladies.nn.gcn{inputs = toy.FEATURES, hidden = 16, outputs = 3, layers = 2,
    dropout = 0.2}
  local result = ladies.train(tables.merged({
    data = data, sampler = small, model = model, batch_size = 20, lr = 0.02, eval_every = 7,
    patience = 0, quiet = true, max_batches = 40,
  }, own))
  local hashes = {}
  for i, parameter in ipairs(model:parameters()) do hashes[i] = parameter:hash() end
  return hashes, result
end

function tests.test_same_model_with_any_number_of_workers()
  local want, result = train{}
  lu.assertTrue(result.sampling_ms <= result.waiting_ms)
  lu.assertStrContains(tostring(result), ("  batch        %.2f ms sampling, %.2f ms around it, ")
    :format(result.sampling_ms, result.waiting_ms - result.sampling_ms))
  for _, k in ipairs{1, 3} do
    local found
    found, result = train{workers = k}
    lu.assertEquals(found, want)
    lu.assertStrContains(tostring(result), ("workers      %d, "):format(k))
    lu.assertStrContains(tostring(result), "% of its time")
  end
end

--- A run that goes on with another number of workers, again and again, has the same bits.
function tests.test_resumed_with_other_workers()
  local want = train{}
  local found
  for i, k in ipairs{0, 2, 1, 3, 0} do
    found = train{out = temporary.path "resumed", resume = i > 1, workers = k, max_batches = 8 * i}
  end
  lu.assertEquals(found, want)
end

-- ---------------------------------------------------------------- in step

function tests.test_samplers_that_run_in_step()
  local steps = 0
  local function updates(seeds, rng)
    local batch = small(seeds, rng)
    batch.after_step = function() steps = steps + 1 end
    return batch
  end
  local adaptive = setmetatable({adaptive = true, name = "bandit"},
    {__call = function(_, seeds, rng) return small(seeds, rng) end})
  local want = describe{batch_size = 20, sampler = small, epochs = 2}
  for sampler, note in pairs{
    [adaptive] = "ladies: bandit runs in step with the loop, for it is adaptive; "
      .. "workers = 2 has no effect\n",
    [updates] = "test_workers%.lua:%d+ runs in step with the loop, for its mini%-batches have "
      .. "after_step; workers = 2 has no effect\n",
  } do
    local opts = {batch_size = 20, sampler = sampler, epochs = 2, workers = 2}
    local said = stderr_of(function() lu.assertEquals(describe(opts), want) end)
    lu.assertStrMatches(said, ".*" .. note)
    lu.assertEquals(select(2, said:gsub("\n", "")), 1)               -- told once
    opts.quiet = true
    lu.assertEquals(stderr_of(function() describe(opts) end), "")
  end
  train{sampler = updates, workers = 3}
  lu.assertEquals(steps, 40)
end

--- VR-GCN is adaptive; its mini-batches are the same, whatever is asked for.
function tests.test_vrgcn_runs_in_step()
  local function sampler() return ladies.samplers.vrgcn(P, {layers = 2, hidden = 4}) end
  local want = describe{batch_size = 20, sampler = sampler()}
  local said = stderr_of(function()
    lu.assertEquals(describe{batch_size = 20, sampler = sampler(), workers = 2}, want)
  end)
  lu.assertStrContains(said, "ladies: ladies.samplers.vrgcn runs in step with the loop, for ")
end

--- A sampler with after_step in a later batch alone is refused in workers.
function tests.test_late_after_step()
  local function sampler(seeds, rng)
    local batch = small(seeds, rng)
    if #seeds < 20 then batch.after_step = print end
    return batch
  end
  lu.assertErrorMsgContains("epoch 1, batch 3: after_step cannot leave a worker; set adaptive",
    describe, {batch_size = 25, sampler = sampler, workers = 1})
end

--- Samplers with a memory of whatever kind are found out, with and without workers, in the batch
-- that differed.
function tests.test_samplers_with_a_memory()
  local calls, cache, held = 0, {}, 0
  local count = function() calls = calls + 1 return calls end
  local memories = {
    -- its name, the batch by which it is found with one sampler at work, what goes into the rng
    {"a counter", 2, function() return count() end},
    {"one that changes slowly", 40, function() return count() // 16 end},
    {"one that changes late", 129, function() return count() > 60 and calls or 0 end},
    {"a cache that grows", 40, function(seeds)
      if not cache[seeds[1]] then cache[seeds[1]], held = true, held + 1 end
      return held // 8
    end},
    {"a global generator", 3, function() return math.random(1 << 30) end},
    {"the clock", 3, function() return math.tointeger(core.clock() * 1e6 // 1) end},
  }
  for _, memory in ipairs(memories) do
    local name, latest, draw = table.unpack(memory)
    for workers = 0, 2 do
      calls, cache, held = 0, {}, 0
      local seen = 0
      local ok, message = pcall(function()
        for _ in ladies.batches(data.train, {batch_size = 4, epochs = 40, workers = workers,
          sampler = function(seeds, rng) return small(seeds, rng:fork(draw(seeds))) end}) do
          seen = seen + 1
        end
      end)
      lu.assertFalse(ok, name)
      -- Two workers may share the batches unevenly.
      lu.assertTrue(seen <= (workers < 2 and latest or 513),
        ("%s, %d workers, %d batches"):format(name, workers, seen))
      lu.assertStrContains(message, workers == 0 and ", it was another mini-batch"
        or "a worker drew another mini-batch than the loop itself")
      lu.assertStrContains(message, "; a sampler must depend on seeds and rng alone, or be a table "
        .. "with adaptive = true, which says that it has a memory")
      local epoch, index = message:match "epoch (%d+), batch (%d+): "
      lu.assertTrue((epoch - 1) * 15 + index <= seen + 1)
    end
  end
end

--- A sampler that says that it is adaptive is left alone: no batch is drawn again, with or without
-- workers.
function tests.test_a_memory_that_is_told()
  for workers = 0, 1 do
    local calls = 0
    local sampler = setmetatable({adaptive = true}, {__call = function(_, seeds, rng)
      calls = calls + 1
      return small(seeds, rng:fork(calls))
    end})
    describe{batch_size = 4, epochs = 2, workers = workers, sampler = sampler, quiet = true}
    lu.assertEquals(calls, 30)
  end
end

--- Further draws are few: at 1, 2, 3, 5, 9, ..., 257 and every 256th from there on.
function tests.test_further_draws()
  local batch, further, first = 0, {}, nil
  local sampler = function(seeds, rng)
    first = first or tostring(rng)
    if tostring(rng) ~= first or batch == 0 then
      batch = batch + 1
    else
      further[#further + 1] = batch
    end
    return small(seeds, rng)
  end
  for _ in ladies.batches(data.train, {batch_size = 60, epochs = 1100, sampler = sampler}) do end
  lu.assertEquals(batch, 1100)
  lu.assertEquals(further, {1, 2, 3, 5, 9, 17, 33, 65, 129, 257, 513, 769, 1025})
end

-- ---------------------------------------------------------------- refused

local function refused(sampler)
  return message_of(describe, {batch_size = 20, sampler = sampler, workers = 1})
end

function tests.test_samplers_that_cannot_cross()
  local cache = {file = io.stdout}
  lu.assertStrMatches(
    refused(function(seeds, rng) return small(seeds, rng), cache end),
    ".*ladies.batches: sampler of .*test_workers%.lua:%d+: upvalue 'cache%.file' is a file, "
      .. "which cannot cross into a worker")
  local named = setmetatable({name = "mine", file = io.stdout},
    {__call = function(_, seeds, rng) return small(seeds, rng) end})
  lu.assertStrContains(refused(named), "ladies.batches: mine: field 'file' is a file, which")
end

--- Some operations are refused to a sampler in a worker that it may do in step.
function tests.test_only_in_step()
  local weights = ladies.ones(4)
  lu.assertStrContains(refused(function(seeds, rng)
    weights:fill_(2)
    return small(seeds, rng)
  end), "is frozen")
  local dense = ladies.ones(2, 2)
  lu.assertStrContains(refused(function(seeds, rng)
    return small(seeds, rng), dense:matmul(dense)
  end), "a worker has no dense products")
end

function tests.test_globals()
  rawset(_G, "forgotten", small)
  -- luacheck: globals forgotten
  local message = refused(function(seeds, rng) return forgotten(seeds, rng) end)
  rawset(_G, "forgotten", nil)
  lu.assertStrContains(message, "attempt to call a nil value (global 'forgotten') (a worker has "
    .. "globals of its own: what a sampler uses must be local)")
  lu.assertNil(message:find "\n")
end

function tests.test_options_are_checked()
  for text, own in pairs{
    ["workers must be a non-negative integer, got -1"] = {workers = -1},
    ["ahead must be a positive integer, got 0"] = {ahead = 0, workers = 1},
    ["threads must be an integer 1 to 256, got 1000"] = {workers = 1000},
  } do
    lu.assertErrorMsgContains(text, describe,
      tables.merged({batch_size = 20, sampler = small}, own))
  end
end

return tests
