--- Tests how ladies.train changes the parameters: groups by patterns of names, AdamW's decay,
-- optimizers of one's own, and averages of weights.
local lu = require "luaunit"
local ladies = require "ladies"
local compare = require "reference.compare"
local shell = require "tools.shell"
local stderr_of = require "tools.stderr_of"
local tables = require "ladies.base.tables"
local temporary = require "reference.temporary"
local toy_study = require "tools.toy_study"
local toy_training = require "reference.toy_training"

local tests = {}

-- The parameters at the end of a short run with these options.
local function trained(own)
  local opts = toy_training.options(tables.merged({max_batches = 12}, own))
  ladies.train(opts)
  return toy_training.weights(opts.model)
end

-- A model, and an optimizer of its parameters that `make` makes.
local function with_optimizer(make)
  local model = toy_training.options{}.model
  return {model = model, optimizer = make(model:parameters(), model)}
end

-- ---------------------------------------------------------------- groups

--- Patterns make the groups that a script makes by hand; the first that fits has a parameter.
function tests.test_groups_by_patterns()
  local by_pattern = trained{lr = 0.02, clip = 0.7, weight_decay = 0.1,
    groups = "layers.1.*.bias: clip=0.01 ;layers.1.*:lr=0.002,weight_decay=0"}
  lu.assertEquals(by_pattern, trained(tables.merged({clip = 0.7}, with_optimizer(
    function(parameters, model)
      local adam = ladies.optim.adam(parameters, {lr = 0.02, weight_decay = 0.1})
      local conv = model.layers[1].conv
      adam:group({conv.bias}, {clip = 0.01})
      adam:group({conv.weight}, {lr = 0.002, weight_decay = 0})
      return adam
    end))))
  lu.assertNotEquals(by_pattern, trained{lr = 0.02, clip = 0.7, weight_decay = 0.1})
end

function tests.test_decoupled_decay()
  local adamw = trained{lr = 0.02, decoupled_decay = 0.3, groups = "*.bias:decoupled_decay=0"}
  lu.assertEquals(adamw, trained(with_optimizer(function(parameters, model)
    local optimizer = ladies.optim.adamw(parameters, {lr = 0.02, decoupled_decay = 0.3})
    optimizer:group({model.layers[1].conv.bias, model.layers[2].conv.bias}, {decoupled_decay = 0})
    return optimizer
  end)))
  lu.assertNotEquals(adamw, trained{lr = 0.02, weight_decay = 0.3})
end

function tests.test_refused()
  for text, opts in pairs{
    ["weight_decay is Adam's and decoupled_decay AdamW's; give one of them"] =
      {weight_decay = 0.1, decoupled_decay = 0.1},
    ['"layers.1" is no group; one is PATTERN:NAME=NUMBER'] = {groups = "layers.1"},
    ['"lr" is no option of a group with its number'] = {groups = "layers.1.*:lr"},
    ['a group has no weigth_decay; did you mean "weight_decay"?'] =
      {groups = "layers.1.*:weigth_decay=1"},
    ["in no group before fits layer.1.*; they are: layers.1.conv.bias, layers.1.conv.weight,"] =
      {groups = "layer.1.*:lr=1"},
    ["in no group before fits layers.2.*"] = {groups = "*:lr=1;layers.2.*:lr=2"},
    ["lr must be 0 or more and finite in float32, got -1"] = {groups = "*:lr=-1"},
    ["the optimizer has weight_decay, and no decoupled_decay"] = {groups = "*:decoupled_decay=1"},
  } do
    lu.assertErrorMsgContains(text, trained, opts)
  end
end

--- A pattern is no pattern of Lua's: its dots are dots.
function tests.test_dots_are_dots()
  lu.assertErrorMsgContains("fits layers-1.conv.weight", trained,
    {groups = "layers-1.conv.weight:lr=1"})
  lu.assertErrorMsgContains("fits conv.weight", trained, {groups = "conv.weight:lr=1"})
end

--- The command takes groups, and refuses to go on with a run by other groups.
function tests.test_command()
  local folder, again = temporary.path "groups", temporary.path "groups whole"
  local function run(out, batches, ...)
    return shell.run_ladies{"train", toy_study.dataset, "--layers", "2", "--hidden", "4", "--quiet",
      "--out", out, "--max-batches", batches, ...}
  end
  local groups = {"--groups", "layers.1.*:lr=0.1,weight_decay=5e-4"}
  shell.silent(run(again, "20", table.unpack(groups)))
  run(folder, "10", table.unpack(groups))
  local _, other, failed = shell.run_ladies{"train", "--resume", folder, "--max-batches", "20",
    "--groups", "layers.1.*:lr=0.2"}
  lu.assertStrContains(other, "groups")
  lu.assertNotEquals(failed, 0)
  shell.silent(shell.run_ladies{"train", "--resume", folder, "--max-batches", "20",
    "--quiet"})
  lu.assertTrue(ladies.file.read(folder .. "/model.npz")
    == ladies.file.read(again .. "/model.npz"))
end

--- A run does not go on with an optimizer that was given other groups.
function tests.test_given_groups_are_compared()
  local folder = temporary.path "given groups"
  local function run(batches, lr)
    local own = with_optimizer(function(parameters)
      local adam = ladies.optim.adam(parameters, {lr = 0.02})
      adam:group({parameters[1]}, {lr = lr})
      return adam
    end)
    return trained(tables.merged(own, {out = folder, resume = batches > 10, max_batches = batches}))
  end
  run(10, 0.1)
  lu.assertErrorMsgContains("optimizer was", run, 20, 0.2)
  run(20, 0.1)
end

-- ---------------------------------------------------------------- optimizers of one's own

-- Momentum as ladies.optim.sgd has it, in Lua.
local function momentum(parameters, opts)
  return ladies.optim.own(parameters, {name = "Momentum", lr = opts.lr, state = {"v"},
    weight_decay = opts.weight_decay,
    update = function(p, g, state, at)
      state.v = state.v * 0.9 + g + p * at.weight_decay
      return p - state.v * at.lr
    end})
end

-- The largest difference between the parameters of two runs.
local function apart(one, other)
  local most = 0
  for i, parameter in ipairs(one:parameters()) do
    local difference = (parameter - other:parameters()[i]):abs():max()
    lu.assertNotNaN(difference)
    most = math.max(most, difference)
  end
  return most
end

-- A run with an optimizer that `make` makes; returns the model.
local function run_of(make, own)
  local given = with_optimizer(make)
  ladies.train(toy_training.options(tables.merged({max_batches = 12}, given, own)))
  return given.model
end

--- An update in Lua is that of C, with groups, bounds, several mini-batches a step and a schedule.
function tests.test_own_update()
  for _, own in ipairs{{}, {clip = 0.3}, {accumulate = 3},
    {schedule = ladies.schedule.step{every = 4}}} do
    local function grouped(make)
      return run_of(function(parameters)
        local optimizer = make(parameters)
        optimizer:group({parameters[2]}, {lr = 0.01, weight_decay = 0.1, clip = 0.05})
        return optimizer
      end, own)
    end
    local ours = grouped(function(p) return momentum(p, {lr = 0.1, weight_decay = 0.01}) end)
    local theirs = grouped(function(p)
      return ladies.optim.sgd(p, {lr = 0.1, weight_decay = 0.01, momentum = 0.9})
    end)
    lu.assertTrue(apart(ours, theirs) < 1e-5)
    local plain = run_of(function(p) return ladies.optim.sgd(p, {lr = 0.1, momentum = 0.9}) end)
    lu.assertTrue(apart(ours, plain) > 1e-4)
  end
end

--- Lion moves every weight by its learning rate.
function tests.test_lion()
  local w = ladies.tensor{1, 2, -3}:requires_grad_()
  local lion = ladies.optim.own({w}, {lr = 0.5, state = {"momentum"}, name = "Lion",
    update = function(p, g, state, at)
      local c = state.momentum * 0.9 + g * 0.1
      state.momentum = state.momentum * 0.99 + g * 0.01
      return p - (c:above(0) - c:below(0)) * at.lr
    end})
  lu.assertEquals(tostring(lion), "Lion of 1 parameters, lr 0.5")
  w:set_grad_(ladies.tensor{4, -2, 0})
  lion:step()
  lu.assertEquals({w:to_table(), w.grad}, {{0.5, 2.5, -3}})
  w:set_grad_(ladies.tensor{-0.1, -1, 0})                  -- the momentum outweighs the first
  lu.assertAlmostEquals(lion:step{clip = 0}, math.sqrt(1.01), 1e-6)
  lu.assertEquals(w:to_table(), {0, 3, -3})
  lu.assertEquals(lion:state().steps, {2})
end

--- SAM takes the gradients where the loss is higher: of w^2 those at w (1 + rho / |w|), by SGD.
function tests.test_gradients_computed_twice()
  local w = ladies.tensor{3, 4}:requires_grad_()
  local calls, seen = 0, {}
  local sam = ladies.optim.own({w}, {optimizer = ladies.optim.sgd({w}, {lr = 0.25}),
    differentiate = function(compute, parameters)
      compute()
      seen[1] = parameters[1].grad:to_table()
      local before = w:clone()
      ladies.no_grad(function() w:copy_(w + w.grad * (0.5 / 10)) end)
      compute()
      seen[2] = parameters[1].grad:to_table()
      w:copy_(before)
    end})
  for _ = 1, 2 do                                          -- the mean of two mini-batches
    sam:differentiate(function()
      local _ <close> = ladies.step()
      calls = calls + 1
      w:square():sum():backward()
    end)
    sam:accumulate(2)
  end
  sam:step()
  lu.assertEquals(calls, 4)
  lu.assertAlmostEquals(seen[1], {6, 8}, 1e-5)
  lu.assertAlmostEquals(seen[2], {6.6, 8.8}, 1e-5)
  lu.assertAlmostEquals(w:to_table(), {3 - 1.65, 4 - 2.2}, 1e-5)
end

-- SAM without going uphill: the gradients of the second time are the same.
local function twice(parameters)
  return ladies.optim.own(parameters, {name = "twice",
    optimizer = ladies.optim.adam(parameters, {lr = 0.02}),
    differentiate = function(compute) compute(); compute() end})
end

--- Gradients that are computed twice give the run of gradients that are computed once, and a loss
-- that is not finite ends both in the same way.
function tests.test_computed_twice_in_a_run()
  local function bare(parameters) return ladies.optim.adam(parameters, {lr = 0.02}) end
  for _, own in ipairs{{}, {accumulate = 3, clip = 0.4}} do
    local model, none = {}, {model = nil}
    for i, make in ipairs{twice, bare} do
      local given = with_optimizer(make)
      given.model.config.dropout = 0
      for _, layer in ipairs(given.model.layers) do layer.dropout.p = 0 end
      ladies.train(toy_training.options(tables.merged({max_batches = 12}, given, own, none)))
      model[i] = toy_training.weights(given.model)
    end
    lu.assertEquals(model[1], model[2])
  end
  lu.assertErrorMsgContains("batch 1: the loss is nan", run_of, twice,
    {loss = function(logits) return logits:sum() * (0 / 0) end})
end

--- Killed and taken up, a run ends with the bits of one that was not: what update remembers is in
-- the checkpoint, and so is an average.
function tests.test_resumed()
  local function lua(parameters) return momentum(parameters, {lr = 0.1, weight_decay = 0}) end
  for name, make in pairs{momentum = lua, twice = twice} do
    for _, average in ipairs{"ema:0.9", "swa:4"} do
      local function run(folder, batches, resume)
        return toy_training.weights(run_of(make, {out = folder, max_batches = batches,
          resume = resume, average = average}))
      end
      local folder = temporary.path(name .. average:sub(1, 3))
      run(folder, 7)
      local whole = run(folder .. " whole", 15)
      lu.assertEquals(run(folder, 15, true), whole, name)
    end
  end
end

--- Another optimizer, or other code, is another run.
function tests.test_own_optimizers_are_compared()
  local folder = temporary.path "compared"
  local function made(factor)
    return function(parameters)
      return ladies.optim.own(parameters, {lr = 0.1, update = factor == 1
        and function(p, g, _, at) return p - g * at.lr end
        or function(p, g, _, at) return p - g * (at.lr * 2) end})
    end
  end
  run_of(made(1), {out = folder, max_batches = 5})
  lu.assertErrorMsgContains("optimizer was", run_of, made(2), {out = folder, resume = true})
  run_of(made(1), {out = folder, resume = true, max_batches = 10})
end

function tests.test_own_optimizers_refused()
  local fails, w = lu.assertErrorMsgContains, ladies.ones(2):requires_grad_()
  local function plain(p, g) return p - g end
  fails("give update, or differentiate and the optimizer", ladies.optim.own, {w}, {})
  fails("lr and weight_decay are the optimizer's where one is given", ladies.optim.own, {w},
    {lr = 1, update = plain, optimizer = ladies.optim.sgd{w}})
  fails("the optimizer lacks parameter 1", ladies.optim.own, {ladies.ones(2)},
    {update = plain, optimizer = ladies.optim.sgd{w}})
  local other = ladies.ones(2):requires_grad_()
  fails("the optimizer has 2 parameters, 1 are given", ladies.optim.own, {w},
    {update = plain, optimizer = ladies.optim.sgd{w, other}})
  local nothing = ladies.optim.own({w}, {name = "N", update = function() end})
  w:set_grad_(ladies.ones(2))
  fails("N: update: what it returns must be a Tensor", nothing.step, nothing)
  local lost = ladies.optim.own({w}, {state = {"m"}, update = function(p, g, state)
    state.m = nil
    return p - g
  end})
  w:set_grad_(ladies.ones(2))
  fails("state.m must be a Tensor", lost.step, lost)
  for text, update in pairs{
    ["state.m must have the shape of the parameter, 2, got 1"] = function(p, g, state)
      state.m = g:sum()
      return p - g
    end,
    ["what it returns must have the shape of the parameter, 2, got 1 x 2"] = function(p, g)
      return (p - g):reshape(1, 2)
    end,
    ["state.v is not kept, as state of ladies.optim.own does not name it"] = function(p, g, state)
      state.v = g
      return p - g
    end,
  } do
    local wrong = ladies.optim.own({w}, {name = "N", state = {"m"}, update = update})
    w:set_grad_(ladies.ones(2))
    fails("N: update: " .. text, wrong.step, wrong)
  end
  local own = ladies.optim.own({w}, {update = plain})
  fails('unknown option "clipp"; did you mean "clip"?', own.step, own, {clipp = 1})
  fails("step: clip must be a non-negative number", own.step, own, {clip = -1})
  fails("is not divided among processes", lost.part, lost, 1, 2)
  fails("m.1 must be a Tensor", lost.load_state, lost, {})
  local idle = ladies.optim.own({w},
    {optimizer = ladies.optim.sgd{w}, differentiate = function() end})
  fails("differentiate has not called compute()", idle.differentiate, idle, function() end)
end

-- ---------------------------------------------------------------- averages of weights

--- Averages are those of their formulas; swapping twice changes nothing.
function tests.test_averages()
  local model = {w = ladies.zeros(1):requires_grad_(),
    frozen = ladies.ones(1):requires_grad_(false)}
  for how, expected in pairs{["ema:0.5"] = (((1 * 0.5 + 2 * 0.5) * 0.5) + 3 * 0.5) * 0.5 + 4 * 0.5,
    ["swa:3"] = 3.5, ["swa:1"] = 2.5, ["ema:0"] = 4} do
    local average = ladies.optim.average(model, how)
    average:swap()                                         -- there is none yet
    for i = 1, 4 do
      model.w:fill_(i)
      average:update()
    end
    average:swap()
    lu.assertAlmostEquals(model.w:item(), expected, 1e-6, how)
    lu.assertEquals(model.frozen:item(), 1)
    local state = average:state()
    average:swap()
    lu.assertEquals(model.w:item(), 4)
    local again = ladies.optim.average(model, how)
    again:load_state(state)
    again:swap()
    lu.assertAlmostEquals(model.w:item(), expected, 1e-6, how)
  end
  for _, how in ipairs{"ema", "ema:1", "ema:-0.1", "swa:0", "swa:1.5", "mean:3", "ema:x"} do
    lu.assertErrorMsgContains("an average is", ladies.optim.average, model, how)
  end
end

--- A run validates and keeps the average; training itself goes on as without one.
function tests.test_average_of_a_run()
  local seen, kept = {}, nil
  local function run(average, data)
    local model = toy_training.options{}.model
    local steps, mean = 0, model.layers[1].conv.weight:detach() * 0
    ladies.train(toy_training.options{model = model, max_batches = 20, average = average,
      data = data, on_batch = function(at)
        steps = steps + 1
        mean = mean + at.model.layers[1].conv.weight:detach()
        seen[average or "none"] = at.model.layers[1].conv.weight:hash()
      end, validation = function(now)
        kept = now.layers[1].conv.weight:detach():clone()
        return steps                                       -- the last is the best
      end})
    return model.layers[1].conv.weight, mean / steps
  end
  local plain = run(nil)
  local averaged, mean = run "swa:1"
  lu.assertEquals(seen["swa:1"], seen.none)
  compare.assert_close(kept, mean, 1e-6)
  lu.assertEquals(averaged:hash(), kept:hash())
  lu.assertNotEquals(averaged:hash(), plain:hash())
end

--- An average whose first step the run does not reach is told of.
function tests.test_average_that_never_began()
  local function told(average)
    return stderr_of(function()
      ladies.train(toy_training.options{max_batches = 3, average = average})
    end)
  end
  lu.assertEquals(told "swa:3", "")
  lu.assertStrContains(told "swa:4", "the average swa:4 never began, and the weights are those of "
    .. "one step: the run ended after 3 steps")
end

return tests
