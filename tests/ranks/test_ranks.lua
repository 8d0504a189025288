--- ladies.train by several processes gives the bits of one process alone, whichever mini-batch each
-- process has, and however often the run went on with another number of processes.
local lu = require "luaunit"
local gradients = require "ladies.ranks.gradients"
local json = require "ladies.base.json"
local ladies = require "ladies"
local rank_runs = require "tools.rank_runs"
local ranks_cost = require "ladies.training.ranks.cost"
local shell = require "tools.shell"
local temporary = require "reference.temporary"

local tests = {}
local run, train, read = rank_runs.run, rank_runs.train, rank_runs.read

-- Elements of the slab of the model: two layers of 12 x 16 + 16 and 16 x 3 + 3, in lines of 16.
local SLAB = 192 + 16 + 48 + 16

-- Returns the fields of the log in a folder that do not depend on time.
local function log_of(folder)
  local lines = {}
  for line in io.lines(temporary.path(folder) .. "/log.jsonl") do
    local record = json.decode(line)
    lines[#lines + 1] = {record.batch, record.epoch, record.loss or false, record.nodes or false,
      record.edges or false, record.validation or false, record.smooth or false}
  end
  return lines
end

local printed

-- The whole run of one process alone.
local function whole()
  printed = printed or train(0, "whole")
  return printed
end

local function assert_same(folder, name)
  rank_runs.assert_same(folder, name or "whole")
  lu.assertEquals(log_of(folder), log_of(name or "whole"))
end

--- Any number of ranks, with any number of threads and workers, gives the bits of one process: the
-- model, its predictions, the log and the scores.
function tests.test_same_bits()
  for _, case in ipairs{{2, "threads = 2, workers = 1"}, {3, "threads = 1"}, {4}, {8}} do
    local n, options = table.unpack(case)
    lu.assertEquals(train(n, "ranks" .. n, options), whole())
    assert_same("ranks" .. n)
  end
end

--- More ranks than a step has mini-batches give the bits of one process, although some have nothing
-- to do.
function tests.test_more_ranks_than_mini_batches()
  local options = "accumulate = 3, max_batches = 24"
  lu.assertEquals(train(5, "many", options), train(0, "few", options))
  assert_same("many", "few")
end

--- A run goes on with another number of ranks.
function tests.test_resumed()
  whole()
  train(3, "parts", "max_batches = 24")
  train(2, "parts", "max_batches = 55")                  -- 48 are whole steps
  lu.assertEquals(#log_of "parts", 48 + 3)
  lu.assertEquals(train(0, "parts"), whole())
  assert_same "parts"
end

--- A run whose ranks each have a part of the optimizer gives the same bits, and goes on with
-- another number of ranks: a checkpoint holds all of it.
function tests.test_shards()
  whole()
  for n = 2, 4 do
    local options = "shard_optimizer = true, checkpoint_every = 0"
    lu.assertEquals(train(n, "shards" .. n, options), whole())
    assert_same("shards" .. n)
  end
  train(4, "shards", "shard_optimizer = true, max_batches = 24")
  train(3, "shards", "shard_optimizer = true, max_batches = 48")
  train(2, "shards", "max_batches = 64")
  lu.assertEquals(train(0, "shards", "shard_optimizer = true"), whole())
  assert_same "shards"
end

-- Options that keep the optimizer in shards, with Adam and with momentum: at the last validation
-- each of several ranks still has a part of its state alone.
local OPTIMIZERS = [[shard_optimizer = true, settle = function(opts)
  opts.lr = nil
  opts.optimizer = ladies.optim.%s(opts.model:parameters(), {lr = 0.02, %s})
  opts.on_validation = function(at)
    if at.batch < 80 then return end
    local moment = opts.optimizer:state().moment1
    assert((#moment < %d) == (ladies.comm.size > 1), #moment)
  end
end]]

function tests.test_shards_of_other_optimizers()
  for name, options in pairs{adamw = "decoupled_decay = 0.1", sgd = "momentum = 0.9"} do
    local text = OPTIMIZERS:format(name, options, SLAB)
    lu.assertEquals(train(3, name .. "3", text), train(0, name, text))
    assert_same(name .. "3", name)
  end
end

--- A step of an optimizer in parts sends the same bytes.
function tests.test_cost_of_shards()
  train(3, "shards' cost", "shard_optimizer = true, settle = function(opts) opts.clip = nil end")
  local found = json.decode(read("shards' cost", "summary.json")).ranks.kinds.gradients
  local _, bytes = gradients.cost(SLAB, 3, 8, {{1, 192}, {193, 208}, {209, 272}})
  lu.assertEquals(found.bytes, 10 * bytes)
end

local CALLBACKS = [[settle = function(opts)
  local smooth, value = {}, 0
  function smooth:state() return {value = value} end
  function smooth:load_state(state) value = state.value end
  opts.state = {smooth = smooth}
  opts.schedule = ladies.schedule.plateau{factor = 0.5, patience = 1}
  opts.optimizer = ladies.optim.sgd(opts.model:parameters(), {lr = 0.5, momentum = 0.9})
  opts.lr = nil
  function opts.on_batch(at)
    value = 0.9 * value + 0.1 * at.loss
    local numbers = {smooth = value, lr = at.batch == 20 and 0.25 or nil}
    if at.batch == 61 then return numbers, "stop" end
    return numbers
  end
end]]

--- Callbacks, schedules and other optimizers give the bits of one process, too.
function tests.test_callbacks()
  local alone = train(0, "callbacks", CALLBACKS)
  lu.assertStrContains(alone, "on_batch after 64")
  lu.assertEquals(train(3, "callbacks3", CALLBACKS), alone)
  assert_same("callbacks3", "callbacks")
end

--- The data set may lie elsewhere at every rank.
function tests.test_other_places()
  local settings = "settings = {dataset = \"at rank \" .. %s, lr = 0.02}"
  lu.assertEquals(train(2, "places", settings:format "rank"), whole())
  lu.assertTrue(read("places", "model.npz") == read("whole", "model.npz"))
end

--- The bytes that a run counts are those that the exchange costs: two slabs and the sums of the
-- tree.
function tests.test_cost()
  lu.assertEquals({gradients.cost(1600, 4, 8)}, {24, 4 * 2 * 3 * 1600})
  lu.assertEquals({gradients.cost(1600, 1, 8)}, {0, 0})
  lu.assertEquals({gradients.cost(16, 4, 8)}, {6, 4 * 2 * 3 * 16})    -- one rank has all of it
  for n, sums in pairs{[2] = 1, [3] = 2} do            -- 3 ranks have 3, 3 and 2 of 8: 2, 2, 1 sums
    local folder = "cost" .. n
    train(n, folder)
    local found = json.decode(read(folder, "summary.json")).ranks
    local messages, bytes = gradients.cost(SLAB, n, 8)
    lu.assertEquals({found.ranks, found.batches}, {n, 80})
    lu.assertEquals({found.kinds.gradients.messages, found.kinds.gradients.bytes},
      {10 * messages, 10 * bytes})
    lu.assertTrue(bytes >= 4 * (n - 1) * SLAB * 2 and bytes <= 4 * (n - 1) * SLAB * (1 + sums))
    lu.assertTrue(found.busy.largest >= found.busy.mean and found.busy.mean > 0)
  end
end

--- The summary has what each rank worked and waited, and by what it computed; one that worked
-- longer than the others is named.
function tests.test_each()
  local options = [[max_batches = 24, loss = function(...)
    if rank == 1 then os.execute "sleep 0.3" end
    return ladies.loss.cross_entropy(...)
  end]]
  train(3, "slow", options)
  local found = json.decode(read("slow", "summary.json")).ranks
  lu.assertEquals(#found.each, 3)
  for i, one in ipairs(found.each) do
    lu.assertEquals({one.rank, one.host}, {i - 1, found.each[1].host})
    lu.assertStrContains(one.numerics, "OpenBLAS")
    lu.assertTrue(one.busy > 0 and one.waited > 0)
  end
  -- Rank 1 slept for 0.3 s in each of its 3 mini-batches of 3 steps, and the others waited for it.
  local each = found.each
  lu.assertTrue(each[2].busy >= 2.7, tostring(each[2].busy))
  lu.assertTrue(each[2].busy - each[1].busy > 1 and each[1].waited - each[2].waited > 1)
  lu.assertEquals(ranks_cost.slowest(found).rank, 1)
end

-- Returns what ranks_cost.since returns for ranks that worked for these seconds.
local function worked(...)
  local found = {each = {}}
  for i, seconds in ipairs{...} do
    found.each[i] = {rank = i - 1, host = "node" .. i, busy = seconds, numerics = "A"}
  end
  return found
end

--- A slow rank is reported where it cost the others more than a few seconds; the measure is the
-- median of the others.
function tests.test_slow_line()
  lu.assertNil(ranks_cost.slowest(worked(100, 129, 100)))
  lu.assertNil(ranks_cost.slowest(worked(0, 0)))
  lu.assertNil(ranks_cost.slowest(worked(5)))
  lu.assertNil(ranks_cost.slowest{})                          -- of a summary from before
  lu.assertEquals(ranks_cost.slowest(worked(100, 140, 300, 100)),
    {rank = 2, host = "node3", busy = 300, others = 100, times = 3})
  lu.assertNil(ranks_cost.slow_line(worked(1, 5.9)))
  lu.assertStrContains(ranks_cost.slow_line(worked(20, 10)),
    "rank 0 on node1 worked for 20.0 s, 2.00 times as long as the others (10.0 s, their median)")
end

--- Ranks on other kernels stand in the summary.
function tests.test_numerics()
  local found = worked(1, 1, 1)
  lu.assertNil(ranks_cost.numerics(found))
  found.each[2].numerics = "B"
  lu.assertEquals(ranks_cost.numerics(found),
    {{numerics = "A", ranks = {0, 2}}, {numerics = "B", ranks = {1}}})
  found.ranks, found.kinds, found.busy = 3, {}, {mean = 1}
  found.kinds.gradients = {bytes = 0, seconds = {mean = 0.5}}
  found.kinds.validation = {bytes = 0, seconds = {mean = 2}}
  local text = tostring(ladies.summary{method = "x", ranks = found})
  lu.assertStrContains(text, "each trained for 1.00 s and waited 2.50 s, validation included")
  lu.assertStrContains(text, "rank 0, 2 by A")
  lu.assertStrContains(text, "rank 1 by B")
end

--- A loss that is not finite ends the run where it ends alone, with the same words.
function tests.test_not_finite()
  local options = [[loss = function(logits, labels, weight, batch)
    local loss = ladies.loss.cross_entropy(logits, labels, weight)
    return batch.epoch == 7 and batch.index == 5 and loss / 0 or loss
  end]]
  local _, expected, failed = run(0, "nan", options)
  lu.assertEquals(failed, 1)
  expected = expected:match "batch 41: the loss is [^\n]*"
  local err = shell.refused(run(3, "nan3", options))
  lu.assertStrContains(err, expected)
  lu.assertEquals(log_of "nan3", log_of "nan")
  lu.assertTrue(read("nan3", "model.npz") == read("nan", "model.npz"))
end

-- ---------------------------------------------------------------- refusals

-- The one line of a run that is refused.
local function refused(n, options) return rank_runs.refused(run(n, "refused", options)) end

function tests.test_what_ranks_cannot_share()
  lu.assertStrContains(refused(2, "accumulate = 1"), "2 ranks share the mini-batches of a "
    .. "step, which has one: add --accumulate 2, or a multiple of it (accumulate in a script)")
  lu.assertStrContains(refused(2, [[settle = function(opts, P)
    opts.sampler = ladies.samplers.bandit(P, {samples = {4, 4}})
  end]]), "is adaptive: it learns from every mini-batch before the next one")
  lu.assertStrContains(refused(2, [[settle = function(opts, P)
    local sampler = opts.sampler
    function opts.sampler(seeds, rng)
      local batch = sampler(seeds, rng)
      function batch.after_step() end
      return batch
    end
  end]]), "have after_step: they change what the next one is made of")
  lu.assertStrContains(refused(2, [[settle = function(opts)
    local model = opts.model
    local norm, forward = ladies.nn.batch_norm{width = toy.FEATURES}, model.forward
    model.norm = norm
    function model.forward(self, features, batch, training)
      norm:forward(features:rows(batch.input), training ~= false and batch.rng or nil)
      return forward(self, features, batch, training)
    end
  end]]), "the forward pass changes norm.")
end

--- Ranks that are not of one run say so, before any of them trains.
function tests.test_other_runs()
  local text = refused(2, "lr = 0.02 + rank, max_batches = 80 + rank, data = toy.new(rank == 1)")
  for _, part in ipairs{"rank 1 on ", " has another run: lr is 0.02 at rank 0, and 1.02 there; ",
      "its data set has other features; ", "max_batches is 80 at rank 0, and 81 there"} do
    lu.assertStrContains(text, part)
  end
  lu.assertStrContains(refused(2, [[settle = function(opts)
    if rank == 1 then opts.model:parameters()[1]:fill_(1) end
  end]]), "its model has other parameters at the beginning")
end

return tests
