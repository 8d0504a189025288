--- Tests the count of memory that a mini-batch and its step hold: it is the same number for the
-- same run, whatever ran before it in this process, however it is computed, and where it goes on.
local lu = require "luaunit"
local core = require "ladies_core"
local ladies = require "ladies"
local methods = require "ladies.experiment.methods"
local tables = require "ladies.base.tables"
local temporary = require "reference.temporary"
local toy = require "reference.toy_data"
local toy_training = require "reference.toy_training"

local tests = {}

local COMMON = {layers = 2, hidden = 8, batch_size = 20, max_batches = 18, patience = 0,
  eval_every = 5, lr = 0.02}
local OWN = {clustergcn = {partition = "random", parts = 8, clusters = 2}, none = {model = "mlp"},
  graphsaint = {samples = 30, coverage = 5}}

-- The bytes of a run of a method on a data set.
local function held(method, data, extra, settings)
  local config = ladies.experiment.configure(tables.merged(COMMON, OWN[method], settings,
    {method = method}))
  local result = ladies.experiment.run(config, data, tables.merged({quiet = true}, extra))
  return result.memory_batch
end

--- Every method has the same count twice on one data set, forward and backward through the list:
-- caches of the data set are made by whoever comes first, and garbage of others lies about.
function tests.test_whatever_ran_before()
  local data, first = toy.new(true), {}
  local names = {}
  for _, name in ipairs(tables.sorted_keys(methods.by_name)) do
    if not methods.by_name[name].in_time then names[#names + 1] = name end
  end
  for _, name in ipairs(names) do
    first[name] = held(name, data)
    lu.assertTrue(first[name] > 0, name)
  end
  for i = #names, 1, -1 do
    collectgarbage "stop"
    local again = held(names[i], data)
    collectgarbage "restart"
    lu.assertEquals(again, first[names[i]], names[i])
  end
end

--- The count does not depend on workers, threads, callbacks or a profile.
function tests.test_however_it_is_computed()
  local before = core.threads()
  for _, name in ipairs{"ladies", "graphsage", "labor", "graphsaint", "asgcn"} do
    local expected = held(name, toy.new(true))
    for _, extra in ipairs{{workers = 2}, {on_batch = function() end}, {profile = true},
      {out = temporary.path("out of " .. name), checkpoint_every = 0}} do
      lu.assertEquals(held(name, toy.new(true), extra), expected, name)
    end
    core.threads(1)
    lu.assertEquals(held(name, toy.new(true)), expected, name)
    core.threads(before)
  end
end

--- A run that goes on after any batch has what a whole one has.
function tests.test_resumed()
  for _, name in ipairs{"ladies", "vrgcn"} do
    local expected = held(name, toy.new(true))
    for _, batches in ipairs{1, 3, 4, 5, 15, 16} do
      local out = temporary.path(("resumed %s %d"):format(name, batches))
      held(name, toy.new(true), {out = out}, {max_batches = batches})
      lu.assertEquals(held(name, toy.new(true), {out = out, resume = true}), expected, batches)
    end
  end
end

-- ---------------------------------------------------------------- what is counted

local MB = 1000 * 1000 / 4     -- floats

-- The bytes of a run whose sampler has `extra` make something for the mini-batch.
local function with(extra)
  local data = toy.new()
  local inner = toy.neighbourhoods(data.graph:normalize "sym", 2)
  return ladies.train(toy_training.options{data = data, max_batches = 5,
    sampler = setmetatable({adaptive = true}, {__call = function(_, seeds, rng)
      local batch = inner(seeds, rng)
      extra(batch)
      return batch
    end})}).memory_batch
end

--- Tensors of a mini-batch count; garbage, and tensors that outlive the step or that another step
-- left, do not.
function tests.test_what_counts()
  local base = with(function() end)
  local object = with(function(batch) batch.more = core.zeros(1, 1) end) - base
  lu.assertEquals(with(function(batch) batch.more = core.zeros(MB, 1) end) - base,
    object + 1000 * 1000 - 4)
  lu.assertEquals(with(function() core.zeros(MB, 1) end), base)
  local kept, last
  lu.assertEquals(with(function() kept = kept or core.zeros(MB, 1) end), base)
  lu.assertEquals(with(function() last = core.zeros(MB, 1) end), base)
  lu.assertNotNil(kept)
  lu.assertNotNil(last)
end

--- Activations and their gradients count: twice the width, more than the rows of that width.
function tests.test_width()
  local data = toy.new(true)
  local narrow = held("full", data, nil, {model = "gcn", dropout = 0, hidden = 64})
  local wide = held("full", data, nil, {model = "gcn", dropout = 0, hidden = 128})
  local rows = data.graph.n_nodes
  lu.assertTrue(wide - narrow >= 2 * 4 * 64 * rows)       -- a hidden layer and its gradient
  lu.assertTrue(wide - narrow <= 10 * 4 * 64 * rows)
end

--- A run within another one's callback changes nothing, and has its own number.
function tests.test_a_run_within_a_run()
  local data, inner = toy.new(true), {}
  local alone = held("ladies", data)
  local outer = held("ladies", data, {on_batch = function(at)
    if at.batch <= 4 then inner[at.batch] = held("ladies", data) end
  end})
  lu.assertEquals(outer, alone)
  for i = 1, 4 do lu.assertEquals(inner[i], alone) end
end

--- The counts of the core.
function tests.test_counts()
  local n, before = core.memory_count()
  local a = core.zeros(1000)
  local bytes = core.memory_counted(n)
  lu.assertTrue(bytes >= 4000)
  lu.assertEquals({core.memory_count(0)}, {0, n})
  local b = core.zeros(1000)
  lu.assertEquals(core.memory_counted(n), bytes)
  b:release()
  lu.assertEquals(core.memory_counted(n), bytes)
  a:release()
  lu.assertTrue(core.memory_counted(n) <= bytes - 4000)
  core.memory_count(before)
  lu.assertEquals({core.memory_counted(0), core.memory_counted(-3), core.memory_counted(n + 1)},
    {0, 0, 0})
end

return tests
