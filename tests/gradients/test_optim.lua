--- Twenty steps of every optimizer against torch.optim in float64 (fixtures/make_optimizers.py says
-- what a case holds), and the learning-rate schedules.
local lu = require "luaunit"
local ladies = require "ladies"
local compare = require "reference.compare"
local fixture = require "reference.fixture"

local optim, tensor = ladies.optim, ladies.tensor
local schedule = optim.schedule
local STEPS = 20
-- Twenty roundings of values about 1 come to 1e-6 at most.
local TOLERANCE = 2e-6
local fixtures = fixture.open "optimizers"

local tests = {}

local function member(case, name)
  name = case .. "." .. name
  return fixtures:has(name) and fixtures:numbers(name) or nil
end

-- PyTorch calls AdamW's decay as it does the L2 penalty of its others.
local function named_as_ours(case, options)
  if case:find "^adamw" then
    options.decoupled_decay, options.weight_decay = options.weight_decay, nil
  end
  return options
end

local function options_of(case)
  local options = {}
  for _, name in ipairs{"lr", "momentum", "weight_decay", "beta1", "beta2", "eps"} do
    options[name] = member(case, name)
  end
  return named_as_ours(case, options)
end

-- The options of the group that b is in a case where it has one, or nil.
local function group_of(case)
  local group = {}
  for _, name in ipairs{"lr", "weight_decay", "clip"} do
    group[name] = member(case, "group_" .. name)
  end
  return next(group) and named_as_ours(case, group)
end

local function parameters()
  local a, b = fixtures:tensor "start_a", fixtures:tensor "start_b"
  a:requires_grad_()
  b:requires_grad_()
  return a, b
end

--- Runs the optimizer that `make` makes through a case and compares the parameters at every step.
local function check(case, make)
  local a, b = parameters()
  local opt = make({a, b}, options_of(case))
  local group = group_of(case)
  if group then opt:group({b}, group) end
  local grads_a, grads_b = fixtures:tensor "grads_a", fixtures:tensor "grads_b"
  local path_a, path_b = fixtures:tensor(case .. ".a"), fixtures:tensor(case .. ".b")
  local rates, present = member(case, "rates"), member(case, "present")
  local clip, norms = member(case, "clip"), member(case, "norms")
  for k = 1, STEPS do
    local first, last = 3 * k - 2, 3 * k
    a:set_grad_(grads_a:slice(first, last))
    if not present or present[k] == 1 then b:set_grad_(grads_b[k]) end
    if rates then opt:set_lr(rates[k]) end
    if clip then
      lu.assertAlmostEquals(opt:clip_norm(clip), norms[k], 1e-5 * math.max(1, norms[k]))
    end
    opt:step()
    local what = ("%s, step %d"):format(case, k)
    compare.assert_close(a, path_a:slice(first, last), TOLERANCE, what .. ": a")
    compare.assert_close(b, path_b[k], TOLERANCE, what .. ": b")
    lu.assertNil(a.grad, what .. ": a step clears the gradients")
    lu.assertNil(b.grad, what .. ": a step clears the gradients")
  end
end

for _, member_name in ipairs(fixtures:names()) do
  local case, kind = member_name:match "^((%l+)[%l_]*)%.a$"
  if case then
    tests["test_" .. case] = function() check(case, optim[kind]) end
  end
end

function tests.test_every_optimizer_has_cases()
  for _, kind in ipairs{"sgd", "adam", "adamw"} do
    lu.assertNotNil(tests["test_" .. kind], kind)
  end
end

--- The learning rate is required of nobody: Adam's is 1e-3, its other defaults are the usual ones.
function tests.test_adam_defaults()
  check("adam", function(parameters_list) return optim.adam(parameters_list) end)
end

-- The names of the options for decay.
local DECAY = {sgd = "weight_decay", adam = "weight_decay", adamw = "decoupled_decay"}

--- A step that clips is one after clip_norm, bit by bit, and none when it is refused.
function tests.test_clip_in_a_step()
  for _, kind in ipairs{"sgd", "adam", "adamw"} do
    local function path(step)
      local a, b = parameters()
      local opt = optim[kind]({a, b}, {lr = 0.1, [DECAY[kind]] = 0.02})
      opt:group({b}, {lr = 0.03, clip = 0.2})
      local grads_a, grads_b, norms = fixtures:tensor "grads_a", fixtures:tensor "grads_b", {}
      for k = 1, STEPS do
        a:set_grad_(grads_a:slice(3 * k - 2, 3 * k))
        if k % 3 > 0 then b:set_grad_(grads_b[k]) end
        norms[k] = step(opt, k % 2 == 0 and 0.3 or 100)
        lu.assertNil(a.grad)
      end
      return {a:hash(), b:hash(), norms}
    end
    lu.assertEquals(path(function(opt, most) return opt:step{clip = most} end),
      path(function(opt, most)
        local norm = opt:clip_norm(most)
        lu.assertNil(opt:step())
        return norm
      end))
  end
  local a = parameters()
  local opt, before = optim.adam{a}, a:hash()
  local function stepped(...)                            -- 0 is no bound
    local b = parameters()
    local own = optim.adam{b}
    b:set_grad_(ladies.full(3, 4, 2))
    own:step(...)
    return b:hash()
  end
  lu.assertEquals(stepped{clip = 0}, stepped())
  a:set_grad_(ladies.full(3, 4, math.huge))
  lu.assertErrorMsgContains("step: the gradients' norm is inf", opt.step, opt, {clip = 1})
  lu.assertErrorMsgContains("step: the largest norm must be positive, got -1", opt.step, opt,
    {clip = -1})
  lu.assertEquals({a:hash(), opt:state().steps}, {before, {0}})
  lu.assertNotNil(a.grad)
  a:set_grad_(ladies.full(3, 4, 2))
  lu.assertAlmostEquals(opt:step{}, math.sqrt(48), 1e-5)
end

--- A group says what it has, and refuses what it cannot have.
function tests.test_groups()
  local a, b = parameters()
  local opt = optim.adam({a, b}, {lr = 0.5, weight_decay = 0.1})
  lu.assertEquals(opt:groups(), {{lr = 0.5, weight_decay = 0.1, clip = 0, parameters = {1, 2}}})
  lu.assertEquals(tostring(opt), "Adam of 2 parameters, lr 0.5")
  opt:group({b}, {lr = 0.25, weight_decay = 0})
  opt:set_lr(0.1)
  lu.assertEquals(opt:groups(), {{lr = 0.1, weight_decay = 0.1, clip = 0, parameters = {1}},
    {lr = 0.05, weight_decay = 0, clip = 0, parameters = {2}}})
  lu.assertEquals(tostring(opt), "Adam of 2 parameters in 2 groups, lr 0.1")
  local fails = lu.assertErrorMsgContains
  fails("tensor 2 is none of the optimizer's parameters", opt.group, opt, {a, b:clone()})
  fails("lr must be 0 or more and finite in float32, got -1", opt.group, opt, {a}, {lr = -1})
  fails("the optimizer has weight_decay, and no decoupled_decay, which is AdamW's", opt.group, opt,
    {a}, {decoupled_decay = 1})
  fails("has decoupled_decay, AdamW's, and no weight_decay", function()
    optim.adamw{a}:group({a}, {weight_decay = 1})
  end)
  fails("its lr, 1, is no multiple of the optimizer's, 0", function()
    optim.sgd({a}, {lr = 0}):group({a}, {lr = 1})
  end)
  lu.assertEquals(#opt:groups(), 2)
end

--- A norm of a group that is not finite is no step, and leaves the gradients as they are.
function tests.test_group_with_a_norm_that_is_not_finite()
  local a, b = parameters()
  local opt = optim.sgd({a, b}, {lr = 1})
  opt:group({a}, {clip = 0.1})
  opt:group({b}, {clip = 1})
  local before = {a:hash(), b:hash()}
  a:set_grad_(ladies.full(3, 4, 2))
  b:set_grad_(ladies.full(5, math.huge))
  for _, way in ipairs{opt.step, function() opt:step{clip = 1} end} do
    lu.assertErrorMsgContains("step: the gradients' norm is inf", way, opt)
    lu.assertEquals({a:hash(), b:hash()}, before)
    lu.assertEquals(a.grad:to_table()[1], {2, 2, 2, 2})
  end
  b:set_grad_(ladies.full(5, 1))
  opt:step()
  compare.assert_close(a, fixtures:tensor "start_a" - 0.1 / math.sqrt(12), 1e-6, "a")
  lu.assertErrorMsgContains("is not known from a part", opt.keep, opt, 1, 2)
end

--- Moments of weights without gradients end at zero, not among the denormal numbers.
function tests.test_moments_die_out()
  for name, options in pairs{
    adam = {lr = 0.1, beta1 = 0.5, beta2 = 0.5}, sgd = {lr = 0.1, momentum = 0.5},
  } do
    local w = ladies.ones(40):requires_grad_()
    local opt = optim[name]({w}, options)
    for i = 1, 160 do
      do
        local _ <close> = ladies.step();
        (w * (i == 1 and 1 or 0)):sum():backward()
      end
      opt:step()
      local smallest = opt:state().moment1:to_table()[7]
      lu.assertTrue(i > 120 and smallest == 0 or smallest >= 2^-126, i)
    end
    local v = opt:state().moment2
    lu.assertTrue(not v or v:to_table()[7] == 0)
  end
end

--- One optimizer trains what it was given and leaves the rest alone.
function tests.test_other_parameters_stay()
  local a, b = parameters()
  local before = b:to_table()
  local opt = optim.adam({a}, {lr = 0.1})
  a:set_grad_(ladies.ones(3, 4))
  b:set_grad_(ladies.ones(5))
  opt:step()
  lu.assertEquals(b:to_table(), before)
  lu.assertEquals(b.grad:to_table(), ladies.ones(5):to_table())
end

--- A parameter that is frozen loses the gradient it had, and stays as it is.
function tests.test_frozen_parameter_stays()
  local w = ladies.ones(2):requires_grad_()
  local opt = optim.sgd({w}, {lr = 1, momentum = 0.9})
  w:set_grad_(ladies.ones(2))
  opt:step()
  w:set_grad_(ladies.ones(2))
  lu.assertNil(w:requires_grad_(false).grad)
  opt:step()
  lu.assertEquals(w:to_table(), {0, 0})
end

function tests.test_a_step_of_the_tape()
  local w = ladies.tensor{3, -1}
  w:requires_grad_()
  local opt = optim.sgd({w}, {lr = 0.25})
  for _ = 1, 2 do
    local _ <close> = ladies.step()
    local loss = w:square():sum()
    loss:backward()
    opt:step()
  end
  lu.assertEquals(w:to_table(), {0.75, -0.25})  -- halved twice
end

function tests.test_unknown_option()
  local a = parameters()
  lu.assertErrorMsgContains(
    "adam: there are no parameters; those of a model are model:parameters()", optim.adam,
    ladies.nn.gcn{inputs = 2, outputs = 2, layers = 1})
  lu.assertErrorMsgContains("momentum", optim.sgd, {a}, {lr = 0.1, momentun = 0.9})
end

-- ---------------------------------------------------------------- state

-- An optimizer that has made a step, of parameters of these shapes.
local function stepped(make, ...)
  local list = {}
  for i, shape in ipairs{...} do
    list[i] = ladies.ones(shape[1], shape[2])
    list[i]:requires_grad_():set_grad_(ladies.full(shape[1], shape[2], i))
  end
  local opt = make(list, {lr = 0.1})
  opt:step()
  return opt
end

--- All that an optimizer carries goes into another one of the same shapes.
function tests.test_load_state()
  local from, to = stepped(optim.adam, {2, 3}, {4}), stepped(optim.adam, {2, 3}, {4})
  from:step()
  from:state().moment1:fill_(7)
  to:load_state(from:state())
  lu.assertEquals(to:state().moment1:to_table(), from:state().moment1:to_table())
  lu.assertEquals(to:state().steps, from:state().steps)
  lu.assertEquals(to:state().shapes, {{2, 2, 3}, {1, 4, 1}})
end

--- A state of other shapes is refused, also where all are as long together, and changes nothing.
function tests.test_load_state_of_other_shapes()
  for _, make in ipairs{optim.sgd, optim.adam} do
    local function refused(message, from, to)
      local before = to:state().moment1 and to:state().moment1:to_table()
      lu.assertErrorMsgContains(message, to.load_state, to, from:state())
      lu.assertEquals(to:state().moment1 and to:state().moment1:to_table(), before)
    end
    refused("parameter 1 is 3, in the state it is 2", stepped(make, {2}), stepped(make, {3}))
    refused("parameter 1 is 4, in the state it is 2 x 3", stepped(make, {2, 3}, {4}),
      stepped(make, {4}, {2, 3}))
    refused("parameter 2 is 3 x 2, in the state it is 2 x 3", stepped(make, {1}, {2, 3}),
      stepped(make, {1}, {3, 2}))
    refused("parameter 1 is 2 x 1, in the state it is 2", stepped(make, {2}),
      stepped(make, {2, 1}))
  end
  local adam = stepped(optim.adam, {2})
  for message, shapes in pairs{
    ["shapes must be a table of 1 shapes"] = {{1, 2, 1}, {1, 2, 1}},
    ["shapes[1] must be {dimensions, rows, columns}, got 3"] = {3},
    ["parameter 1 is 2, in the state it is 0 x 0"] = {{}},
  } do
    local state = adam:state()
    state.shapes = shapes
    lu.assertErrorMsgContains(message, adam.load_state, adam, state)
  end
end

--- Rates that are infinite in float32 are refused.
function tests.test_rates_beyond_float32()
  local a = parameters()
  local rates = {-1, 1e300, math.huge, 0 / 0}
  for _, rate in ipairs(rates) do
    for _, name in ipairs{"lr", "weight_decay"} do
      lu.assertErrorMsgContains(name .. " must be 0 or more and finite in float32, got",
        optim.adam, {a}, {[name] = rate})
    end
  end
  for _, eps in ipairs{0, 1e-60, 1e300} do
    lu.assertErrorMsgContains("eps must be positive and finite in float32", optim.adam, {a},
      {eps = eps})
  end
  local opt = optim.sgd({a}, {lr = 0.5})
  for _, rate in ipairs(rates) do
    lu.assertErrorMsgContains("lr must be 0 or more and finite in float32", opt.set_lr, opt, rate)
    lu.assertEquals(opt.lr, 0.5)
  end
end

function tests.test_has()
  local a, b = parameters()
  local opt = optim.sgd{a}
  lu.assertTrue(opt:has(a))
  lu.assertFalse(opt:has(b))
  lu.assertFalse(opt:has(a:clone()))
  lu.assertErrorMsgContains("Tensor expected", opt.has, opt, 1)
end

-- ---------------------------------------------------------------- schedules

-- factors[batch] is what the schedule must return for that batch.
local function check_schedule(factor_of, factors)
  for batch, factor in pairs(factors) do
    lu.assertAlmostEquals(factor_of(batch), factor, 1e-12, "batch " .. batch)
  end
end

function tests.test_constant()
  check_schedule(schedule.constant(), {1, 1, [1000] = 1})
end

function tests.test_step_schedule()
  check_schedule(schedule.step{every = 10, factor = 0.5},
                 {[1] = 1, [10] = 1, [11] = 0.5, [20] = 0.5, [21] = 0.25, [31] = 0.125})
end

--- Half a cosine, at `floor` after `batches` batches and ever after.
function tests.test_cosine()
  check_schedule(schedule.cosine{batches = 100},
                 {[1] = 1, [26] = 0.5 + math.sqrt(0.125), [51] = 0.5, [101] = 0, [500] = 0})
  check_schedule(schedule.cosine{batches = 100, floor = 0.2},
                 {[1] = 1, [51] = 0.6, [101] = 0.2, [500] = 0.2})
end

--- A straight line to 1 at batch `batches`, then `after`, which counts from there.
function tests.test_warmup()
  check_schedule(schedule.warmup{batches = 4},
                 {[1] = 0.25, [2] = 0.5, [4] = 1, [5] = 1, [100] = 1})
  local later = schedule.step{every = 10, factor = 0.5}
  check_schedule(schedule.warmup{batches = 4, after = later},
                 {[1] = 0.25, [4] = 1, [14] = 1, [15] = 0.5, [25] = 0.25})
end

--- A parameter that was looked at before can be trained; one that somebody has a view of cannot.
function tests.test_views()
  local w = ladies.ones(3, 2):requires_grad_()
  ladies.show(w)
  local sum = w:slice(1, 2):sum():item()
  lu.assertEquals(sum, 4)
  lu.assertStrContains(tostring(ladies.optim.adam{w}), "Adam of 1 parameters")
  local v = ladies.ones(3, 2):requires_grad_()
  local part = v:slice(1, 2)
  lu.assertErrorMsgContains("while a view of it", ladies.optim.adam, {v})
  lu.assertEquals(part.n_rows, 2)
end

--- An optimizer moves its parameters into memory of its own, also from that of another optimizer: a
-- view would be left behind, and is refused there as well.
function tests.test_views_of_another_optimizer()
  local w, b = ladies.ones(3, 2):requires_grad_(), ladies.ones(3):requires_grad_()
  local first = ladies.optim.sgd({w, b}, {lr = 1})
  local part = w:slice(1, 2)
  lu.assertErrorMsgContains("while a view of it", ladies.optim.adam, {w})
  lu.assertErrorMsgContains("while a view of it", ladies.optim.adam, {b, w})
  w:fill_(7)
  lu.assertEquals(part:to_table(), {{7, 7}, {7, 7}})
  lu.assertEquals(first:padded_values():slice(1, 6):sum():item(), 42)
end

--- Parameters of two optimizers lie in the memory of the later one. The earlier one still steps,
-- but refuses operations on its own memory.
function tests.test_parameters_of_two_optimizers()
  local w, b = ladies.ones(2):requires_grad_(), ladies.ones(2):requires_grad_()
  local first = ladies.optim.sgd({w, b}, {lr = 1})
  local gradient = w:set_grad_(tensor{1, 2}).grad
  local second = ladies.optim.sgd({w}, {lr = 10})
  lu.assertEquals(gradient:to_table(), {1, 2})
  w:set_grad_(tensor{3, 4})
  lu.assertEquals(gradient:to_table(), {3, 4}, "it is w's gradient still")
  b:set_grad_(tensor{1, 1})
  lu.assertAlmostEquals(first:step{clip = 100}, math.sqrt(27), 1e-6)
  lu.assertEquals({w:to_table(), b:to_table()}, {{-2, -3}, {0, 0}})
  w:set_grad_(tensor{1, 1})
  second:step()
  lu.assertEquals(w:to_table(), {-12, -13})
  w:set_grad_(tensor{1, 1})
  for _, name in ipairs{"padded_values", "sums"} do
    lu.assertErrorMsgContains(name .. ": parameter 1 belongs to another optimizer now",
      first[name], first)
  end
  lu.assertErrorMsgContains("accumulate: parameter 1 belongs to another", first.accumulate, first,
    2)
end

--- An optimizer takes all parameters or none: a frozen parameter stays frozen, and nothing moves.
function tests.test_refused_as_a_whole()
  local frozen = ladies.ones(2):requires_grad_(false)
  local plain, viewed = ladies.ones(3), ladies.ones(4):requires_grad_()
  local part = viewed:slice(1, 2)
  lu.assertErrorMsgContains("while a view of it", optim.adam, {frozen, plain, viewed})
  lu.assertEquals({frozen.is_parameter, frozen.requires_grad}, {true, false})
  lu.assertEquals({plain.is_parameter, plain.requires_grad}, {false, false})
  lu.assertErrorMsgContains("frozen", frozen.set_grad_, frozen, part)
  local other = plain:slice(1, 2)                     -- it is where it was
  plain:fill_(5)
  lu.assertEquals(other:to_table(), {5, 5})
end

--- Adam's updates agree with those in float64 to the last digits of float32, for which 1 - beta2
-- must not come from beta2 in float32: that has four digits less. A parameter that begins at 0 is
-- the sum of its updates.
function tests.test_digits_of_adam()
  for name, beta in pairs{usual = {0.9, 0.999}, slow = {0.99, 0.9999}} do
    local beta1, beta2 = beta[1], beta[2]
    local w = ladies.zeros(1):requires_grad_()
    local opt = optim.adam({w}, {lr = 0.5, beta1 = beta1, beta2 = beta2})
    local p, m, v = 0.0, 0.0, 0.0
    for k = 1, STEPS do
      local g = 1 + 0.125 * (k % 4)
      w:set_grad_(tensor{g})
      opt:step()
      m, v = beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * g * g
      p = p - 0.5 * (m / (1 - beta1 ^ k)) / (math.sqrt(v / (1 - beta2 ^ k)) + 1e-8)
      lu.assertAlmostEquals(w:sum():item() / p, 1, 5e-7, ("%s, step %d"):format(name, k))
    end
  end
end

return tests
