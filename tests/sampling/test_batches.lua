--- Mini-batches: sizes, order, what each is a function of, errors.
local lu = require "luaunit"
local ladies = require "ladies"
local toy = require "reference.toy_data"
local step_of_training = require "ladies.training.loop.step"
local tables = require "ladies.base.tables"

local tests = {}

-- The batches of an iterator as a list.
local function collect(idx, opts)
  local list = {}
  for batch in ladies.batches(idx, opts) do list[#list + 1] = batch end
  return list
end

local function hashes(list)
  return tables.map(list, function(batch)
    return ("%d.%d %s %s"):format(batch.epoch, batch.index, batch.output:hash(), batch.rng)
  end)
end

local ids = ladies.range(101, 110)

function tests.test_sizes()
  local list = collect(ids, {batch_size = 4, epochs = 2})
  local sizes = tables.map(list, function(batch) return #batch.output end)
  lu.assertEquals(sizes, {4, 4, 2, 4, 4, 2})
  lu.assertEquals(#collect(ids, {batch_size = 4, drop_last = true}), 2)
  lu.assertEquals(#collect(ids, {batch_size = 4, drop_last = true, epochs = 3}), 6)
end

--- Garbage of mini-batches is collected by its memory, beside much that is in use.
function tests.test_garbage()
  local most, used <const> = 0, ladies.zeros(32 << 20)                   -- 128 MiB
  collectgarbage()
  local before = ladies.memory().total
  for batch in ladies.batches(ladies.range(1, 400), {batch_size = 4}) do
    batch.own = ladies.zeros(1 << 18)                                       -- a MiB
    most = math.max(most, ladies.memory().total - before)
  end
  lu.assertTrue(most < 40 << 20, most)
  lu.assertEquals(#used, 32 << 20)
end

--- A step is of whole mini-batches, of which there must be as many.
function tests.test_steps()
  lu.assertEquals(#collect(ids, {batch_size = 4, epochs = 2, step = 4}), 4)
  lu.assertErrorMsgContains("ladies.batches: a step of 7 mini-batches is more than there are, 6",
    collect, ids, {batch_size = 4, epochs = 2, step = 7})
  lu.assertErrorMsgContains("ladies.batches: start: mini-batch 2 is in the midst of a step of 2",
    collect, ids, {batch_size = 4, epochs = 2, step = 2, start = {epoch = 1, batch = 2}})
end

--- The rest of an epoch joins the batch before when it is less than a quarter of a batch.
function tests.test_a_small_last_batch()
  local function sizes(n, own)
    local opts, list = {batch_size = 512, epochs = 2}, {}
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

--- Fewer nodes than a batch holds make one batch of all, with drop_last too.
function tests.test_fewer_nodes_than_a_batch()
  for _, drop_last in ipairs{false, true} do
    local list = collect(ids, {batch_size = 512, epochs = 3, drop_last = drop_last})
    lu.assertEquals(#list, 3)
    lu.assertEquals(list[2].output:sort():to_table(), ids:to_table())
  end
end

--- Every epoch has every node once, in an order of its own.
function tests.test_epochs_are_permutations()
  local list = collect(ids, {batch_size = 3, epochs = 2})
  local epochs = {ladies.index{}, ladies.index{}}
  for _, batch in ipairs(list) do epochs[batch.epoch] = epochs[batch.epoch] .. batch.output end
  for _, epoch in ipairs(epochs) do lu.assertEquals(epoch:sort():to_table(), ids:to_table()) end
  lu.assertNotEquals(epochs[1]:to_table(), epochs[2]:to_table())
end

function tests.test_without_shuffling()
  local list = collect(ids, {batch_size = 5, shuffle = false})
  lu.assertEquals(list[1].output:to_table(), {101, 102, 103, 104, 105})
  lu.assertEquals(list[2].output:to_table(), {106, 107, 108, 109, 110})
end

function tests.test_same_seed_same_batches()
  local opts = {batch_size = 3, epochs = 3, seed = 5}
  lu.assertEquals(hashes(collect(ids, opts)), hashes(collect(ids, opts)))
  local other = {batch_size = 3, epochs = 3, seed = 6}
  lu.assertNotEquals(hashes(collect(ids, opts)), hashes(collect(ids, other)))
end

--- A run that starts in the middle has the batches of one from the start.
function tests.test_start()
  local all = hashes(collect(ids, {batch_size = 3, epochs = 3}))       -- 4 batches an epoch
  for first = 1, #all do
    local start = {epoch = (first - 1) // 4 + 1, batch = (first - 1) % 4 + 1}
    local rest = hashes(collect(ids, {batch_size = 3, epochs = 3, start = start}))
    lu.assertEquals(rest, table.move(all, first, #all, 1, {}))
  end
  -- After the last batch of an epoch comes the next epoch.
  local rest = hashes(collect(ids, {batch_size = 3, epochs = 3, start = {epoch = 1, batch = 5}}))
  lu.assertEquals(rest[1], all[5])
end

--- The sampler's rng is rng:fork(epoch):fork(index); the model has one of its own.
function tests.test_streams()
  local seen = {}
  local data = toy.new()
  local sampler = toy.neighbourhoods(data.graph:normalize "sym", 1)
  local list = collect(data.train, {batch_size = 20, epochs = 2, seed = 9, sampler = setmetatable(
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
    local nodes, at = seeds:slice(1, 2), ladies.index{1, 2}
    local adj = ladies.matrix{n_rows = 2, n_cols = 2, rows = at, cols = at}
    return {blocks = {{adj = adj, dst = nodes, src = nodes}}, input = nodes, output = nodes}
  end
  local sampler = setmetatable({batches_per_epoch = 3, adaptive = true}, {__call = draw})
  local list = collect(ids, {batch_size = 4, sampler = sampler, epochs = 2})
  lu.assertEquals(#list, 6)
  lu.assertEquals(calls, {10, 10, 10, 10, 10, 10})
end

-- ---------------------------------------------------------------- a loop of one's own

-- A data set and what the README trains on it, with a loop of one's own.
local function setting()
  local data = toy.new()
  local model = ladies.nn.gcn{inputs = toy.FEATURES, hidden = 8, outputs = 3, layers = 2,
    dropout = 0}
  return data, model, ladies.optim.sgd(model:parameters(), {lr = 0.1})
end

local function clusters(data)
  return ladies.samplers.clustergcn(data.graph.adjacency,
    {layers = 2, train = data.train, parts = 6, clusters = 2, partition = "random"})
end

-- The batch's loss over all outputs, as the README has it.
local function plain_loss(logits, data, batch)
  return ladies.loss.cross_entropy(logits, data.labels[batch.output], batch.loss_weight)
end

--- A loss of all outputs with batch.loss_weight is that of ladies.train; the other nodes have no
-- gradient.
function tests.test_the_loss_of_loss_nodes()
  local data, model, sgd = setting()
  local others, training = 0, step_of_training.new({data = data,
    task = ladies.task.of(data), model = model}, sgd)
  for batch in ladies.batches(data.train, {sampler = clusters(data), epochs = 2}) do
    local step <close> = ladies.step()                                  -- luacheck: ignore step
    local logits = model:forward(data.features, batch):keep_grad_()
    local loss = plain_loss(logits, data, batch)
    lu.assertAlmostEquals(loss:item(), training:loss_of(logits, batch):item(), 1e-6)
    loss:backward()
    local carries = {}
    for _, place in ipairs(batch.loss_nodes:to_table()) do carries[place] = true end
    for place, row in ipairs(logits.grad:to_table()) do
      local sum = math.abs(row[1]) + math.abs(row[2]) + math.abs(row[3])
      lu.assertEquals(sum > 0, carries[place] or false)
      others = others + (carries[place] and 0 or 1)
    end
    sgd:step()
  end
  lu.assertTrue(others > 0)
end

--- The loss over loss_nodes is right with weights of the sampler's own, too.
function tests.test_the_loss_of_weighted_loss_nodes()
  local data, model, sgd = setting()
  local training = step_of_training.new({data = data,
    task = ladies.task.of(data), model = model}, sgd)
  local draw = toy.neighbourhoods(data.graph:normalize "sym", 2)
  local function sampler(seeds)
    local batch = draw(seeds)
    batch.loss_nodes = ladies.index{2, 5}
    batch.loss_weight = ladies.tensor{0.5, 2}:scatter_add(batch.loss_nodes, #seeds)
    return batch
  end
  for batch in ladies.batches(data.train, {batch_size = 20, sampler = sampler}) do
    local logits = model:forward(data.features, batch)
    lu.assertAlmostEquals(plain_loss(logits, data, batch):item(),
      training:loss_of(logits, batch):item(), 1e-6)
  end
end

--- The loop of the README moves VR-GCN's history; one that leaves after_step out is reported.
function tests.test_after_step_is_called()
  local data, model, sgd = setting()
  local sampler = ladies.samplers.vrgcn(data.graph:normalize "sym", {layers = 2, hidden = 8})
  local function loop(leave)
    local seen = 0
    for batch in ladies.batches(data.train, {batch_size = 20, sampler = sampler}) do
      local step <close> = ladies.step()                                -- luacheck: ignore step
      seen = seen + 1
      plain_loss(model:forward(data.features, batch), data, batch):backward()
      sgd:step()
      if leave == seen then
        goto continue
      elseif leave == -seen then
        break
      end
      if batch.after_step then batch:after_step(model) end
      ::continue::
    end
    return seen
  end
  lu.assertEquals(loop(), 3)
  lu.assertTrue(sampler.history[1]:norm() > 0)
  for _, left in ipairs{1, 2, 3} do                      -- the last one's too
    lu.assertErrorMsgContains(("ladies.samplers.vrgcn, epoch 1, batch %d: its after_step was "
      .. "not called; between the optimizer's step and the end of ladies.step() there must be: "
      .. "if batch.after_step then batch:after_step(model) end"):format(left), loop, left)
  end
  lu.assertEquals(loop(-2), 2)                           -- break is none of its business
  for batch in ladies.batches(data.train, {batch_size = 20, sampler = sampler}) do
    batch.after_step = nil                               -- nor is a loop that has no step
  end
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
  lu.assertStrContains(refused(ids, {batchsize = 4}), 'did you mean "batch_size"?')
  lu.assertStrContains(refused(ids, {batch_size = 0}), "size must be a positive integer")
end

--- Errors of a sampler tell whose they are and in which batch.
function tests.test_errors_of_a_sampler()
  local message = refused(ids, {batch_size = 4, sampler = function() error "no luck" end})
  lu.assertStrMatches(message,
    "[^ ]*test_batches%.lua:%d+: sampler of .*test_batches%.lua:%d+, epoch 1, batch 1: no luck")
  local named = setmetatable({name = "mine"}, {__call = function() return 7 end})
  lu.assertStrContains(refused(ids, {sampler = named}),
    "mine, epoch 1, batch 1: it must return a mini-batch, got a number")
end

--- A sampler that is given seeds answers for them; others say so.
function tests.test_other_nodes_than_the_seeds()
  local data = toy.new()
  local draw = toy.neighbourhoods(data.graph:normalize "row", 1)
  local function sampler() return draw(data.test:slice(1, 20)) end
  for workers = 0, 1 do
    lu.assertStrContains(refused(data.train,
      {batch_size = 20, sampler = sampler, workers = workers}),
      "batch 1: output (20 nodes) differs from the seeds (20 nodes), expected the same ids; a "
        .. "sampler that draws its own has batches_per_epoch")
  end
  local function more(seeds)
    local batch = draw(data.val:slice(1, 5) .. seeds)
    batch.loss_nodes = ladies.range(6, 5 + #seeds)
    return batch
  end
  lu.assertEquals(#collect(data.train, {batch_size = 20, sampler = more}), 3)
  local function own(nodes)
    return setmetatable({name = "own", batches_per_epoch = 2}, {__call = function()
      return draw(nodes)
    end})
  end
  lu.assertEquals(#collect(data.train, {sampler = own(data.train:slice(1, 20))}), 2)
end

--- The loss is over nodes to train on alone: the labels of others would be learned unnoticed.
function tests.test_loss_over_other_nodes()
  local data = toy.new()
  local draw = toy.neighbourhoods(data.graph:normalize "row", 1)
  local others, seeds = data.test:slice(1, 5), data.train:slice(1, 7)
  local function own(change)
    return setmetatable({name = "own", batches_per_epoch = 1}, {__call = function()
      local batch = draw(others .. seeds)
      change(batch)
      return batch
    end})
  end
  local function fails(n, of, sampler)
    for workers = 0, 1 do
      lu.assertStrContains(refused(data.train, {sampler = sampler, batch_size = 7,
        workers = workers}), ("own, epoch 1, batch 1: its loss is over nodes that are not to be "
          .. "trained on, %d of %d, the first is node %d; loss_nodes are the positions in output "
          .. "of those that are"):format(n, of, others[1]))
    end
  end
  fails(5, 12, own(function() end))
  fails(2, 4, own(function(batch) batch.loss_nodes = ladies.index{6, 7, 1, 2} end))
  fails(5, 12, own(function(batch) batch.loss_weight = ladies.full(12, 1 / 12) end))
  -- A sampler that is given seeds, and whose positions are those of other nodes.
  fails(5, 7, setmetatable({name = "own"}, {__call = function(_, given)
    local batch = draw(others .. given)
    batch.loss_nodes = ladies.range(1, #given)
    return batch
  end}))
  lu.assertStrContains(refused(data.train, {sampler = own(function(batch)
    batch.loss_nodes = ladies.index{}
  end)}), "batch 1: loss_nodes is empty, expected a node at least")
  local function weighted(batch)
    batch.loss_weight = ladies.full(7, 1 / 7):scatter_add(ladies.range(6, 12), 12)
  end
  lu.assertEquals(#collect(data.train, {sampler = own(weighted)}), 1)
end

--- A mini-batch is a plain table: what it inherited would not be seen everywhere.
function tests.test_no_metatable()
  local draw = toy.neighbourhoods(toy.new().graph:normalize "row", 1)
  lu.assertStrContains(refused(ids, {batch_size = 5, sampler = function(seeds)
    return setmetatable(draw(seeds), {})
  end}), "epoch 1, batch 1: a mini-batch must have no metatable")
end

--- A sampler whose features change is found out like any other.
function tests.test_a_memory_in_the_features()
  local data, calls = toy.new(), 0
  local draw = toy.neighbourhoods(data.graph:normalize "row", 1)
  for _, put in ipairs{
    function(batch, value) batch.features = value end,
    function(batch, value) batch.blocks[1].control = value end,
    function(batch, value) batch.blocks[1].noise = value end,
  } do
    lu.assertStrContains(refused(data.train, {batch_size = 20, sampler = function(seeds)
      local batch = draw(seeds)
      calls = calls + 1
      put(batch, ladies.full(#batch.blocks[1].dst, 2, calls))
      return batch
    end}), "drawn again after 1 batch, it was another mini-batch")
  end
end

--- A mini-batch that breaks the contract is refused.
function tests.test_the_contract_is_checked()
  local function sampler(seeds)
    local one = ladies.index{1}
    local adj = ladies.matrix{n_rows = 1, n_cols = 1, rows = one, cols = one}
    return {blocks = {{adj = adj, dst = seeds, src = seeds}}, input = seeds, output = seeds}
  end
  lu.assertFalse((pcall(collect, ids, {batch_size = 4, sampler = sampler})))
end

return tests
