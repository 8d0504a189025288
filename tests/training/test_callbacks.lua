--- Tests what a script may do within ladies.train: look at every batch and validation, stop the
-- run, add numbers to the log, change the learning rate, and compute a loss of the batch and the
-- model.
local lu = require "luaunit"
local ladies = require "ladies"
local shell = require "tools.shell"
local temporary = require "reference.temporary"
local toy_training = require "reference.toy_training"

local tests = {}
local complaint, options = toy_training.complaint, toy_training.options
local weights = toy_training.weights

-- Returns the arguments of a callback without those that are compared by identity.
local function plain(at)
  local fields = {}
  for name, value in pairs(at) do
    if type(value) ~= "table" and type(value) ~= "userdata" then fields[name] = value end
  end
  return fields
end

function tests.test_what_on_batch_is_told()
  local told = {}
  local opts = options{max_batches = 4, seed = 3}
  function opts.on_batch(at)
    lu.assertTrue(rawequal(at.model, opts.model))
    lu.assertEquals(#at.mini_batch.output, 20)
    lu.assertEquals(at.optimizer.lr, 0.02)
    lu.assertTrue(at.seconds > 0 and at.loss > 0)
    told[#told + 1] = {at.batch, at.epoch, at.index, at.lr}
  end
  ladies.train(opts)
  lu.assertEquals(told, {{1, 1, 1, 0.02}, {2, 1, 2, 0.02}, {3, 1, 3, 0.02}, {4, 2, 1, 0.02}})
end

function tests.test_what_on_validation_is_told()
  local told = {}
  local opts = options{max_batches = 10}
  function opts.on_validation(at)
    lu.assertTrue(rawequal(at.model, opts.model))
    local data = opts.data
    lu.assertEquals(ladies.metrics.micro_f1(at.predicted, data.labels, data.val), at.value)
    lu.assertEquals(at.found, {["micro-F1"] = at.value})
    local fields = plain(at)
    fields.seconds, fields.value = nil, nil
    told[#told + 1] = fields
  end
  ladies.train(opts)
  lu.assertEquals(told[1], {batch = 5, epoch = 2, name = "micro-F1", is_best = true, lr = 0.02})
  lu.assertEquals(#told, 2)
end

--- Callbacks that only look change no bit.
function tests.test_looking_changes_nothing()
  local one, two = options{max_batches = 10}, options{max_batches = 10,
    on_batch = function() return {seen = 1} end, on_validation = function() return {} end}
  ladies.train(one)
  ladies.train(two)
  lu.assertEquals(weights(two.model), weights(one.model))
end

function tests.test_early_stop_from_a_callback()
  local result = ladies.train(options{max_batches = 50, on_batch = function(at)
    if at.batch == 7 then return "stop" end
  end})
  lu.assertEquals({result.stopped, result.batches}, {"on_batch", 7})
  result = ladies.train(options{max_batches = 50, on_validation = function(at)
    return at.batch == 10 and "stop" or nil, {mine = 1}
  end})
  lu.assertEquals({result.stopped, result.batches}, {"on_validation", 10})
  lu.assertStrContains(tostring(result), "\n  ended by     on_validation")
end

--- A run that a callback has stopped stays stopped when it is resumed with that callback, goes on
-- without it or with another one, and then ends as if it had never stopped.
function tests.test_a_stop_survives_resume()
  local function run(folder, batches, at_batch, resume)
    local opts = options{max_batches = batches, out = temporary.path(folder), resume = resume,
      checkpoint_every = 0}
    if at_batch == 7 then
      function opts.on_batch(at) return at.batch == 7 and "stop" or nil end
    elseif at_batch == 9 then
      function opts.on_batch(at) return at.batch >= 9 and "stop" or nil end
    end
    return ladies.train(opts), opts
  end
  local first = run("stopped", 50, 7)
  local again = run("stopped", 60, 7, true)
  lu.assertEquals({again.stopped, again.batches, again.best_value},
    {"on_batch", 7, first.best_value})
  again = run("stopped", 60, 9, true)
  lu.assertEquals({again.stopped, again.batches}, {"on_batch", 9})
  local last, resumed = run("stopped", 20, nil, true)
  lu.assertEquals({last.stopped, last.batches}, {"max_batches", 20})
  local _, whole = run("never stopped", 20)
  lu.assertEquals(weights(resumed.model), weights(whole.model))
end

function tests.test_numbers_for_the_log()
  local out = temporary.path "numbers"
  ladies.train(options{max_batches = 5, out = out,
    on_batch = function(at) return {twice = 2 * at.loss, ['odd "name"'] = 1 / 0} end,
    on_validation = function(at) return {batch_squared = at.batch ^ 2} end})
  local batches, validations = toy_training.log(out)
  lu.assertEquals(#batches, 5)
  for _, line in ipairs(batches) do
    lu.assertEquals(line.twice, 2 * line.loss)
    lu.assertNil(line['odd "name"'])                   -- null: JSON has no infinities
  end
  lu.assertEquals(validations[1].batch_squared, 25)
end

--- A learning rate that a callback gives holds from the next batch on, also after a resumption; a
-- schedule's factor multiplies it.
function tests.test_learning_rate()
  local function run(folder, batches, resume, schedule)
    local rates = {}
    local opts = options{max_batches = batches, out = temporary.path(folder), resume = resume,
      schedule = schedule, lr = 0.5}
    function opts.on_batch(at)
      rates[at.batch] = at.optimizer.lr
      if at.batch % 3 == 0 then return {lr = at.lr / 2} end
    end
    ladies.train(opts)
    return rates, weights(opts.model)
  end
  for name, schedule in pairs{plain = false, half = function() return 0.5 end} do
    local factor = schedule and 0.5 or 1
    schedule = schedule or nil
    local rates, whole = run(name, 8, false, schedule)
    lu.assertEquals(rates, {0.5 * factor, 0.5 * factor, 0.5 * factor, 0.25 * factor, 0.25 * factor,
      0.25 * factor, 0.125 * factor, 0.125 * factor})
    run(name .. " in parts", 4, false, schedule)
    local _, parts = run(name .. " in parts", 8, true, schedule)
    lu.assertEquals(parts, whole)
  end
  local batches = toy_training.log(temporary.path "plain")
  lu.assertEquals({batches[2].lr, batches[3].lr, batches[6].lr}, {nil, 0.25, 0.125})
end

--- A learning rate that is set by the optimizer's own method holds too, and after a resumption.
function tests.test_learning_rate_of_the_optimizer()
  local function run(folder, batches, resume)
    local opts = options{max_batches = batches, out = temporary.path(folder), resume = resume,
      on_batch = function(at) if at.batch == 2 then at.optimizer:set_lr(0.3) end end}
    ladies.train(opts)
    return weights(opts.model)
  end
  local whole = run("set", 8)
  run("set in parts", 4)
  lu.assertEquals(run("set in parts", 8, true), whole)
  local unset = options{max_batches = 8}
  ladies.train(unset)
  lu.assertNotEquals(weights(unset.model), whole)
end

function tests.test_bad_results()
  local function refused(expected, result)
    lu.assertStrContains(complaint{max_batches = 1, on_batch = function() return result end},
      "ladies.train: on_batch" .. expected)
  end
  local wanted = ' must return "stop", a table of numbers, both, or nothing, got '
  refused(wanted .. '"stopp"', "stopp")
  refused(wanted .. "a number", 3)
  refused(" must return numbers by name, got a string for x", {x = "1"})
  refused(" must return numbers by name, got a number for 1", {7})
  refused(" returns a number by the name loss, which the log's lines have already", {loss = 1})
  refused(": lr must be 0 or more, and finite in float32, got -1", {lr = -1})
  refused(": lr must be 0 or more, and finite in float32, got nan", {lr = 0 / 0})
end

--- A loss is given the mini-batch and the model.
function tests.test_a_loss_of_batch_and_model()
  local opts, seen = options{max_batches = 2}, 0
  local plain_run = options{max_batches = 2}
  function opts.loss(logits, labels, weight, batch, model)
    lu.assertTrue(rawequal(model, opts.model))
    lu.assertEquals({logits.n_rows, #labels, weight}, {#batch.output, #batch.output, nil})
    seen = seen + 1
    local penalty = model.layers[1].conv.weight:square():sum()
    return ladies.loss.cross_entropy(logits, labels, weight) + penalty * 1e-2
  end
  ladies.train(opts)
  plain_run.loss = ladies.loss.cross_entropy
  ladies.train(plain_run)
  lu.assertEquals(seen, 2)
  lu.assertNotEquals(weights(opts.model), weights(plain_run.model))
end

--- Ctrl-C in a run without a folder returns its summary too, with the best model so far.
function tests.test_interrupted_without_a_folder()
  local script = temporary.path "interrupted.lua"
  ladies.file.write(script, ([[
    package.path = %q
    local ladies = require "ladies"
    local toy_training = require "reference.toy_training"
    local opts = toy_training.options{max_batches = 100000, eval_every = 1, on_batch = function(at)
      if at.batch == 5 then io.popen("kill -INT $PPID"):close() end
    end}
    local best
    function opts.on_validation(at)
      if at.is_best then best = toy_training.weights(at.model) end
    end
    local result = ladies.train(opts)
    print(result.stopped, result.batches < 100000, toy_training.weights(opts.model) == best)
  ]]):format(package.path))
  local out = shell.silent(shell.run_ladies{script})
  lu.assertEquals(out, "interrupted\ttrue\ttrue\n")
end

return tests
