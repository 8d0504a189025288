--- Steps of several mini-batches: their gradients are added in one fixed binary tree, and a run
-- that counts in such steps stops, validates and goes on at their ends.
local lu = require "luaunit"
local fold = require "ladies.ranks.fold"
local ladies = require "ladies"
local temporary = require "reference.temporary"
local toy = require "reference.toy_data"
local toy_training = require "reference.toy_training"

local tests = {}
local options, weights = toy_training.options, toy_training.weights

-- The sum of leaves first .. last in the tree: the left half is the largest power of two of leaves
-- that leaves any to the right.
local function tree_sum(leaves, first, last)
  if first == last then return leaves[first] end
  local left = 1
  while 2 * left < last - first + 1 do left = 2 * left end
  return tree_sum(leaves, first, first + left - 1) + tree_sum(leaves, first + left, last)
end

-- Gradients that any other order of additions would give other bits.
local function gradients(n, ...)
  local rng, list = ladies.rng(n), {}
  for i = 1, n do list[i] = ladies.zeros(...):normal_(10 ^ (i % 5), rng) end
  return list
end

--- The mean is that of the tree by bits, for every number of leaves, and not that of another order.
function tests.test_tree()
  local others = 0
  for n = 1, 17 do
    local leaves, weight = gradients(n, 40, 3), ladies.zeros(40, 3):requires_grad_()
    local sgd = ladies.optim.sgd({weight}, {lr = 1})
    for _ = 1, 2 do                                    -- the second time with slabs that were used
      for i, leaf in ipairs(leaves) do
        weight:set_grad_(leaf)
        lu.assertEquals(sgd:accumulate(n), i == n)
        lu.assertEquals(weight.grad ~= nil, i == n)
      end
      local mean = n == 1 and leaves[1] or tree_sum(leaves, 1, n) / n
      lu.assertEquals(weight.grad:hash(), mean:hash(), n)
      local row = leaves[1]
      for i = 2, n do row = row + leaves[i] end
      if (n == 1 and row or row / n):hash() ~= mean:hash() then others = others + 1 end
      sgd:step()
    end
  end
  lu.assertTrue(others > 20)
end

--- A parameter without a gradient in some leaf counts as zeros there; one without any keeps none.
function tests.test_missing_gradients()
  local a, b, c = ladies.zeros(3):requires_grad_(), ladies.zeros(2):requires_grad_(),
    ladies.zeros(2):requires_grad_()
  local adam = ladies.optim.adam{a, b, c}
  for i = 1, 4 do
    a:set_grad_(ladies.full(3, i))
    if i == 3 then b:set_grad_(ladies.full(2, 8)) end
    adam:accumulate(4)
  end
  lu.assertEquals({a.grad:to_table(), b.grad:to_table(), c.grad}, {{2.5, 2.5, 2.5}, {2, 2}, nil})
  adam:step()
  lu.assertEquals(adam:state().steps, {1, 1, 0})
end

function tests.test_what_waits()
  local a = ladies.zeros(3):requires_grad_()
  local adam = ladies.optim.adam{a}
  a:set_grad_(ladies.ones(3))
  lu.assertFalse(adam:accumulate(2))
  lu.assertErrorMsgContains("step: gradients of 1 mini-batches wait for more of them", adam.step,
    adam)
  local function refused(expected, n)
    lu.assertErrorMsgContains("accumulate: " .. expected, adam.accumulate, adam, n)
  end
  refused("1 gradients are there already, of 1", 1)
  for _, n in ipairs{0, -1, 65537} do refused("there may be 1 to 65536 gradients", n) end
  adam:clear()                                         -- drops what waits
  a:set_grad_(ladies.full(3, 4))
  lu.assertFalse(adam:accumulate(2))
  a:requires_grad_(false)                              -- frozen meanwhile
  lu.assertTrue(adam:accumulate(2))
  lu.assertNil(a.grad)
  a:requires_grad_()
  local _ = ladies.optim.sgd{a}
  refused("parameter 1 belongs to another optimizer now", 2)
end

local WHOLE = 128       -- elements of a slab of one parameter, without any that fill it up

-- Gives the leaves first .. last of a step to an optimizer of its own; returns what it has of them.
local function part_of(leaves, first, last)
  local weight = ladies.zeros(WHOLE):requires_grad_()
  local sgd = ladies.optim.sgd({weight}, {lr = 1})
  for i = first, last do
    weight:set_grad_(leaves[i])
    lu.assertFalse(sgd:accumulate(#leaves, i))
  end
  return sgd:sums()
end

--- However a step is cut into parts, what these leave is as few sums as there can be, each that of
-- a node of the tree; added on, they give the mean of the whole by bits.
function tests.test_parts()
  for n = 2, 17 do
    local leaves = gradients(n, WHOLE)
    local mean = (tree_sum(leaves, 1, n) / n):hash()
    for size = 1, 9 do
      local all, most = {}, 0
      for rank = 0, size - 1 do
        local first, last = fold.share(rank, size, n)
        if last - first + 1 < n then
          local sums, has = part_of(leaves, first, last)
          lu.assertEquals(has, {last >= first})
          local nodes = fold.nodes(first, last, n)
          lu.assertEquals(#nodes, #sums)
          for i, one in ipairs(sums) do
            lu.assertEquals({one.first, one.last}, {nodes[i].first, nodes[i].last})
            lu.assertEquals(one.sum:hash(), tree_sum(leaves, one.first, one.last):hash())
            all[#all + 1] = {first = one.first, last = one.last, sum = one.sum:clone()}
          end
          most = math.max(most, #sums)
        end
      end
      lu.assertTrue(most <= 2 * math.ceil(math.log(n, 2)))
      if n % size == 0 and n // size & (n // size - 1) == 0 then lu.assertTrue(most <= 1) end
      if size > 1 then
        local weight = ladies.zeros(WHOLE):requires_grad_()
        local sgd = ladies.optim.sgd({weight}, {lr = 1})
        sgd:set_mean(fold.add(all, n) / n, {true})
        lu.assertEquals(weight.grad:hash(), mean, ("%d parts of %d"):format(size, n))
        sgd:step()                                     -- nothing waits
      end
    end
  end
end

--- The shares of the ranks give every leaf to one rank.
function tests.test_shares()
  for n = 1, 20 do
    for size = 1, 25 do
      local next = 1
      for rank = 0, size - 1 do
        local first, last = fold.share(rank, size, n)
        lu.assertEquals(first, next)
        lu.assertTrue(math.abs(last - first + 1 - n / size) < 1)
        lu.assertTrue(rank > 0 or last >= 1)
        next = last + 1
      end
      lu.assertEquals(next, n + 1)
    end
  end
end

--- Leaves come in their order, and a mean is one for all parameters.
function tests.test_parts_refused()
  local a, b = ladies.zeros(3):requires_grad_(), ladies.zeros(2):requires_grad_()
  local adam = ladies.optim.adam{a, b}
  local function refused(expected, f, ...)
    lu.assertErrorMsgContains(expected, f, adam, ...)
  end
  refused("gradient 0 of 4 cannot come now, expected 1 or one after it", adam.accumulate, 4, 0)
  refused("gradient 0 of 4 cannot come now, expected 1 or one after it", adam.accumulate, 4,
    math.mininteger)
  refused("gradient 5 of 4 cannot come now, expected 1 or one after it", adam.accumulate, 4, 5)
  adam:accumulate(4, 3)
  refused("gradient 3 of 4 cannot come now, expected 4", adam.accumulate, 4, 3)
  refused("step: gradients of 1 mini-batches wait for more of them", adam.step)
  lu.assertFalse(adam:accumulate(4))                   -- the fourth, as the next one
  refused("4 gradients are there already, of 4", adam.accumulate, 4)
  local size = adam:sums()[1].sum.n_rows
  refused(("set_mean: 2 numbers, expected %d"):format(size), adam.set_mean, ladies.ones(2),
    {true, true})
  a:set_grad_(ladies.ones(3))
  adam:set_mean(ladies.ones(size), {false, true})
  lu.assertNil(a.grad)
  lu.assertEquals(b.grad:to_table(), {1, 1})
  lu.assertEquals(adam:sums(), {})
end

-- ---------------------------------------------------------------- ladies.train

-- Trains by hand: gradients of every mini-batch one by one, added in the tree.
local function by_hand(size, epochs)
  local opts = options{}
  local model, data = opts.model, opts.data
  local sgd = ladies.optim.sgd(model:parameters(), {lr = 0.5})
  local leaves = {}
  for batch in ladies.batches(data.train, {batch_size = 20, sampler = opts.sampler,
    epochs = epochs}) do
    local step <close> = ladies.step()                                  -- luacheck: ignore step
    ladies.loss.cross_entropy(model:forward(data.features, batch), data.labels[batch.output])
      :backward()
    local leaf = {}
    for i, parameter in ipairs(model:parameters()) do leaf[i] = parameter.grad:clone() end
    leaves[#leaves + 1] = leaf
    sgd:clear()
    if #leaves == size then
      for i, parameter in ipairs(model:parameters()) do
        local column = {}
        for j = 1, size do column[j] = leaves[j][i] end
        parameter:set_grad_(tree_sum(column, 1, size) / size)
      end
      sgd:clip_norm(0.3)
      sgd:step()
      leaves = {}
    end
  end
  return weights(model)
end

local function train(own)
  own.validation = own.validation or function() return 0 end
  own.eval_every = own.eval_every or 1000
  local opts = options(own)
  opts.optimizer = ladies.optim.sgd(opts.model:parameters(), {lr = 0.5})
  opts.lr = nil
  local result = ladies.train(opts)
  return weights(opts.model), result, opts
end

--- Steps of S mini-batches are those of the tree sum by hand, by bits; 3 batches make an epoch, so
-- steps go across the ends of epochs.
function tests.test_equals_the_tree_sum_by_hand()
  for _, size in ipairs{2, 3, 4, 5} do
    local found, result = train{accumulate = size, epochs = 7, clip = 0.3}
    lu.assertEquals(found, by_hand(size, 7), size)
    lu.assertEquals({result.batches, result.stopped}, {21 // size * size, "epochs"})
  end
end

--- The setting `accumulate` of experiments is this one.
function tests.test_setting()
  local config = ladies.experiment.configure{model = "gcn", layers = 2, hidden = 8, accumulate = 3,
    max_batches = 7, batch_size = 20}
  lu.assertEquals(ladies.experiment.run(config, toy.new(), {quiet = true}).batches, 6)
  lu.assertNil(ladies.experiment.configure{}.accumulate)
end

function tests.test_one_is_as_ever()
  lu.assertEquals(train{accumulate = 1, epochs = 3}, train{epochs = 3})
end

--- A step is that of one batch of all nodes where the loss of each mini-batch is weighed by its
-- share of the nodes.
function tests.test_equals_one_batch_of_the_union()
  local function run(own)
    own.max_batches, own.model = own.accumulate or 1, ladies.nn.gcn{inputs = toy.FEATURES,
      hidden = 16, outputs = 3, layers = 2}
    local _, _, opts = train(own)
    return opts.model
  end
  local n = #toy.new().train
  local parts = run{batch_size = 17, accumulate = 4, loss = function(logits, labels)
    return ladies.loss.cross_entropy(logits, labels, ladies.full(#labels, 4 / n))
  end}
  local union = run{batch_size = n}
  for i, parameter in ipairs(union:parameters()) do
    local difference = (parameter - parts:parameters()[i]):square():sum():item() ^ 0.5
    lu.assertTrue(difference < 1e-6 * parameter:square():sum():item() ^ 0.5, difference)
  end
end

--- Stopped in the midst of an epoch or at any bound, a run goes on to the same bits; it ends with
-- its last whole step.
function tests.test_resumed()
  local function run(folder, batches, resume, workers)
    local own = {accumulate = 4, max_batches = batches, out = temporary.path(folder),
      resume = resume, workers = workers or 0, schedule = ladies.schedule.cosine{batches = 20}}
    return train(own)
  end
  local whole, result = run("whole", 22)
  lu.assertEquals({result.batches, result.stopped}, {20, "max_batches"})
  for _, first in ipairs{4, 7, 13} do
    local folder = "parts" .. first
    local _, half = run(folder, first)
    lu.assertEquals(half.batches, first // 4 * 4)
    lu.assertEquals(run(folder, 22, true, 1), whole)
    lu.assertEquals(#toy_training.log(temporary.path(folder)), 20)
  end
  lu.assertErrorMsgContains("accumulate was 4 and is 1", train,
    {out = temporary.path "whole", resume = true})
end

--- Validation, schedule and callbacks come only at the ends of steps of several mini-batches.
function tests.test_ends_of_steps()
  local validated, asked, seen = {}, {}, {}
  local _, result = train{accumulate = 3, max_batches = 30, eval_every = 4,
    validation = function(_, number)
      validated[#validated + 1] = number
      return number
    end,
    schedule = function(number)
      asked[#asked + 1] = number
      return 1
    end,
    on_batch = function(at)
      seen[#seen + 1] = at.batch
      return at.batch == 13 and "stop" or nil
    end}
  lu.assertEquals({result.stopped, result.batches}, {"on_batch", 15})
  lu.assertEquals(validated, {6, 9, 12, 15})           -- the steps with batches 4, 8, 12; the end
  lu.assertEquals(asked, {3, 6, 9, 12, 15})
  lu.assertEquals(#seen, 15)
  lu.assertErrorMsgContains("ladies.train: a step of 8 mini-batches (accumulate) is more than "
    .. "the run has, 5", train, {accumulate = 8, max_batches = 5})
end

--- after_step of a mini-batch is called before the next one is asked for, in its own step.
function tests.test_after_step()
  local calls, opts = {}, options{}
  local plain = opts.sampler
  local _, result = train{accumulate = 2, max_batches = 4, sampler = function(seeds)
    local batch = plain(seeds)
    function batch.after_step(_, model) calls[#calls + 1] = weights(model) end
    return batch
  end}
  lu.assertEquals(result.batches, 4)
  lu.assertEquals(#calls, 4)
  lu.assertNotEquals(calls[1], calls[2])               -- the step is at the second
  lu.assertEquals(calls[2], calls[3])
end

return tests
