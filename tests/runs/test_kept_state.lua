--- Tests the state that a run has besides model and optimizer: schedules that go by validation, and
-- objects of the script's own, are saved with the checkpoint and are the same after a resumption.
local lu = require "luaunit"
local ladies = require "ladies"
local object_state = require "ladies.training.checkpoint.object_state"
local shell = require "tools.shell"
local temporary = require "reference.temporary"
local toy_training = require "reference.toy_training"

local tests = {}
local options, weights = toy_training.options, toy_training.weights

-- ---------------------------------------------------------------- schedules

local function plateau()
  return ladies.schedule.plateau{factor = 0.5, patience = 5, min_gain = 0.001}
end

-- Trains up to a number of batches with the schedule that `make` makes; returns the weights. Every
-- model is a little better than the one before, and none so much that it counts as a gain.
local function train(folder, batches, resume, make)
  local opts = options{max_batches = batches, out = temporary.path(folder), resume = resume,
    schedule = make(), validation = function(_, number) return number * 1e-6 end}
  ladies.train(opts)
  return weights(opts.model), opts.schedule
end

function tests.test_plateau()
  local schedule = ladies.schedule.plateau{factor = 0.5, patience = 20, min_gain = 0.1, floor = 0.2}
  local factors = {}
  for i, value in ipairs{0.5, 0.55, 0.59, 0.61, 0.61, 0.61, 0.61, 0.61, 0.61, 0.61} do
    schedule:update(value, 10 * i)
    factors[i] = schedule(10 * i + 1)
  end
  lu.assertEquals(factors, {1, 1, 0.5, 0.5, 0.5, 0.25, 0.25, 0.2, 0.2, 0.2})
  schedule = ladies.schedule.plateau{factor = 0.5, patience = 10, mode = "min"}
  for i, value in ipairs{3, 2, 1, 1} do schedule:update(value, 10 * i) end
  lu.assertEquals(schedule(1), 0.5)
end

--- A plateau schedule, also behind a warm-up, ends in the same bits when the run was stopped on the
-- way; without its state it would not.
function tests.test_plateau_schedule_resumed()
  for name, make in pairs{plain = plateau, warm = function()
    return ladies.schedule.warmup{batches = 3, after = plateau()}
  end} do
    local whole, schedule = train(name, 40, false, make)
    lu.assertTrue(schedule(40) < 0.1)
    train(name .. " in parts", 22, false, make)
    local parts = train(name .. " in parts", 40, true, make)
    lu.assertEquals(parts, whole)
    train(name .. " forgotten", 22, false, make)
    lu.assertNotEquals(train(name .. " forgotten", 40, true, function()
      local forgetful = make()
      forgetful.load_state = function() end
      return forgetful
    end), whole)
  end
end

--- A note names a schedule that remembers something of its own; one that cannot be saved is
-- refused.
function tests.test_schedules_whose_memory_is_not_saved()
  local script = temporary.path "closure.lua"
  ladies.file.write(script, ([[
    package.path = %q
    local toy_training = require "reference.toy_training"
    local factor = 1
    local opts = toy_training.options{max_batches = 12, out = arg[1], resume = arg[2] == "resume",
      schedule = function() return factor end,
      on_validation = function(at) if at.batch == 10 then factor = 0.5 end end}
    if arg[2] == "pure" then
      opts.schedule = require "ladies".schedule.cosine{batches = 30}
    elseif arg[2] == "kept" then
      opts.schedule = setmetatable({
        state = function() return factor end, load_state = function(_, f) factor = f end,
      }, {__call = function() return factor end})
    end
    require "ladies".train(opts)
  ]]):format(package.path))
  local told = "ladies.train: the schedule has changed what it remembers, which checkpoints do not "
  local out = temporary.path "closure"
  local _, err = shell.succeeded(shell.run_ladies{script, out})
  lu.assertStrContains(err, told)
  lu.assertEquals(select(2, err:gsub("\n", "")), 1)
  _, err = shell.run_ladies{script, out, "resume"}
  lu.assertStrContains(err, told)
  for _, how in ipairs{"kept", "pure"} do
    shell.silent(shell.run_ladies{script, temporary.path(how), how})
  end
  local ok, message = pcall(train, "refused", 5, false, function()
    return setmetatable({update = function() end}, {__call = function() return 1 end})
  end)
  lu.assertFalse(ok)
  lu.assertStrContains(message, "but not the methods state and load_state")
end

-- ---------------------------------------------------------------- optimizers in Lua

--- A note names an optimizer in Lua that remembers something in variables of its own; a run does
-- not go on with an optimizer of other numbers.
function tests.test_optimizers_that_remember()
  local script = temporary.path "remembers.lua"
  ladies.file.write(script, ([[
    package.path = %q
    local ladies = require "ladies"
    local toy_training = require "reference.toy_training"
    local opts = toy_training.options{max_batches = 12, out = arg[1], resume = arg[2] == "resume"}
    opts.lr = nil
    local calls, rate, parameters = 0, tonumber(arg[4]), {}
    for i, one in ipairs(opts.model:named_parameters()) do parameters[i] = one.tensor end
    opts.optimizer = ladies.optim.own(parameters, {name = "mine", update = function(p, g, _, at)
      if arg[3] == "counts" then calls = calls + 1 end
      return p - g * (rate / (1 + calls + at.step))
    end})
    ladies.train(opts)
  ]]):format(package.path))
  local told = "the optimizer has changed what checkpoints do not hold"
  local _, err = shell.succeeded(shell.run_ladies{script, temporary.path "counting", "", "counts",
    "0.1"})
  lu.assertStrContains(err, told)
  local out = temporary.path "not counting"
  for _, how in ipairs{"", "resume"} do
    shell.silent(shell.run_ladies{script, out, how, "", "0.1"})
  end
  shell.refuses("optimizer was ", shell.run_ladies{script, out, "resume", "", "0.2"})
end

-- ---------------------------------------------------------------- objects of the script's own

-- An object that counts, and changes the learning rate by what it has counted.
local function counter()
  return {
    n = 0, list = {}, last = ladies.zeros(2), ids = ladies.index{3, 1},
    state = function(self)
      return {n = self.n, list = self.list, last = self.last, ids = self.ids, odd = {[-1] = 1 / 0}}
    end,
    load_state = function(self, state)
      self.n, self.list, self.last, self.ids = state.n, state.list, state.last, state.ids
      self.odd = state.odd
    end,
  }
end

function tests.test_objects_resumed()
  local function run(folder, batches, resume, named)
    local mine = counter()
    local opts = options{max_batches = batches, out = temporary.path(folder), resume = resume,
      state = named and {mine = mine} or {mine},
      on_batch = function(at)
        mine.n = mine.n + 1
        mine.list[mine.n] = {at.loss, mine.n % 2 == 0, "n" .. mine.n}
        mine.last:fill_(at.loss)
        return {lr = 0.02 / mine.n}
      end}
    ladies.train(opts)
    return mine, weights(opts.model)
  end
  for _, named in ipairs{true, false} do
    local folder = named and "named" or "listed"
    local whole, expected = run(folder, 9, false, named)
    run(folder .. " in parts", 4, false, named)
    local mine, found = run(folder .. " in parts", 9, true, named)
    lu.assertEquals(found, expected)
    lu.assertEquals(mine.n, 9)
    lu.assertEquals(mine.list, whole.list)
    lu.assertEquals(mine.last:to_table(), whole.last:to_table())
    lu.assertEquals(mine.ids:to_table(), {3, 1})
    lu.assertEquals(mine.odd, {[-1] = 1 / 0})
  end
  for expected, state in pairs{
    ["has no state of given.other: it is of another run"] = {mine = counter(), other = counter()},
    ["has the state of given.mine, for which there is no object; the script that began it goes on "
      .. "with it (resume = true)"] = {},
  } do
    lu.assertErrorMsgContains(expected, ladies.train, options{max_batches = 9, resume = true,
      out = temporary.path "named", state = state})
  end
end

--- Every kind of plain data comes back as it was, bit for bit and type for type.
function tests.test_states_come_back()
  local state = {1, 2.0, "text", true, {x = {y = {-0.0, 1e-310, math.mininteger, 0.1}}},
    ["1"] = "string key", [7] = 1 / 0, minus = -1 / 0, empty = {}, [-3] = false,
    odd = "\0\n\1\"\xff"}
  local arrays, found = {}, nil
  object_state.put(arrays, {it = {state = function() return state end}})
  arrays.other = 1
  local path = temporary.path "states.npz"
  ladies.npz.write(path, arrays)
  object_state.get(ladies.npz.open(path), path, {it = {
    load_state = function(_, given) found = given end,
  }})
  lu.assertEquals(found, state)
  lu.assertEquals(math.type(found[2]), "float")
  lu.assertEquals(1 / found[5].x.y[1], -math.huge)
  lu.assertEquals(math.type(found[5].x.y[3]), "integer")
end

function tests.test_states_that_are_refused()
  local function refused(expected, state)
    lu.assertErrorMsgContains(expected, ladies.train, options{max_batches = 2,
      out = temporary.path "bad", state = state})
    os.execute(("rm -rf '%s'"):format(temporary.path "bad"))
  end
  refused("state[1] must have the methods state and load_state", {{}})
  refused('state["mine"] must have the methods state and load_state', {mine = 7})
  local function with(value)
    return {mine = {load_state = function() end, state = function() return {a = value} end}}
  end
  local circle = {}
  circle.again = circle
  refused("the state of given.mine holds a function", with(print))
  refused("the state of given.mine holds a Rng", with(ladies.rng(1)))
  refused("the state of given.mine holds tables more than 100 deep", with(circle))
  refused("the state of given.mine holds a key that is a boolean", with{[true] = 1})
end

return tests
