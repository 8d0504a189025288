--- Tests the profile of a run's batches: time goes to the part that took it, and the run is not
-- changed.
local lu = require "luaunit"
local core = require "ladies_core"
local ladies = require "ladies"
local Profile = require "ladies.training.cost.profile"
local tables = require "ladies.base.tables"
local toy = require "reference.toy_data"
local training = require "reference.toy_training"

local tests = {}

local function run(own)
  local opts = training.options(tables.merged({max_batches = 12, profile = true}, own))
  return ladies.train(opts), opts.model
end

local function sum_of(rows)
  local sum = 0
  for _, row in ipairs(rows) do sum = sum + row.forward + row.backward end
  return sum
end

local function by_name(rows) return tables.by_field(rows, "name") end

function tests.test_sums()
  local found = run{}.profile
  lu.assertEquals(found.batches, 5)                 -- of 12, without 2, every other
  lu.assertEquals(tables.map(found.parts, function(part) return part.name end),
    {"sampling", "features", "layer 1", "layer 2", "loss", "update"})
  lu.assertAlmostEquals(sum_of(found.parts), sum_of(found.primitives), 1e-9)
  lu.assertAlmostEquals(sum_of(found.parts) + found.lua, found.ms, 1e-9)
  local parts, primitives = by_name(found.parts), by_name(found.primitives)
  for _, name in ipairs{"layer 1", "layer 2"} do
    lu.assertTrue(parts[name].forward > 0 and parts[name].backward > 0, name)
  end
  lu.assertEquals(parts.sampling.backward, 0)
  lu.assertEquals(parts.update.backward, 0)
  lu.assertEquals(primitives["Matrix:matmul"].calls, 2)
  lu.assertEquals(primitives["Optimizer:step"].calls, 1)
  lu.assertTrue(primitives.cross_entropy.backward > 0)
end

--- The run has the same bits with and without a profile, and the model keeps its class's methods.
function tests.test_same_bits()
  local with, model = run{}
  local without, plain = run{profile = false}
  lu.assertNotNil(with.profile)
  lu.assertNil(without.profile)
  lu.assertEquals(training.weights(model), training.weights(plain))
  lu.assertNil(rawget(model, "layer"))
  lu.assertNil(debug.gethook())
end

local function busy(seconds)
  local began, n = core.clock(), 0
  while core.clock() - began < seconds do n = n + 1 end
  return n
end

--- Time in a primitive that a layer calls, forward and backward, counts as the layer's; time in Lua
-- code counts as Lua's.
function tests.test_time_goes_to_what_took_it()
  local x = ladies.ones(300, 300)
  local slow = {}
  function slow.forward(h) return h end
  function slow.backward(gradient)
    for _ = 1, 8 do local _ = x:matmul(x) end
    return gradient
  end
  local opts = training.options{}
  local model, layer = opts.model, opts.model.layer
  rawset(model, "layer", function(this, i, h, block, rng)
    if i == 2 then
      h = ladies.op(slow)(h)
      for _ = 1, 8 do local _ = x:matmul(x) end
    end
    return layer(this, i, h, block, rng)
  end)
  local own = rawget(model, "layer")
  local found = run{model = model, on_batch = function() busy(0.001) end}.profile
  lu.assertTrue(rawequal(rawget(model, "layer"), own))
  local parts = by_name(found.parts)
  lu.assertTrue(parts["layer 2"].forward > 2 * parts["layer 1"].forward)
  lu.assertTrue(parts["layer 2"].backward > 2 * parts["layer 1"].backward)
  local sampler = opts.sampler
  local lua = run{sampler = function(...)
    busy(0.02)
    return sampler(...)
  end}.profile
  lu.assertTrue(lua.lua > 0.5 * lua.ms)
end

--- The profile of a model without layers has all parts but those.
function tests.test_models_without_layers()
  local data = toy.new()
  local weight = ladies.zeros(toy.FEATURES, 3):requires_grad_()
  local found = run{
    data = data, sampler = toy.neighbourhoods(data.graph:normalize "sym", 1),
    model = {weight = weight, forward = function(self, features, batch)
      return batch.blocks[1].adj:matmul(features:rows(batch.input):matmul(self.weight))
    end},
    validation = function() return 1 end,
  }.profile
  lu.assertEquals(tables.map(found.parts, function(part) return part.name end),
    {"sampling", "features", "loss", "update"})
  lu.assertTrue(by_name(found.parts).features.backward > 0)
end

function tests.test_too_few_batches()
  lu.assertNil(run{max_batches = 1}.profile)
  lu.assertEquals(run{max_batches = 2}.profile.batches, 1)
  lu.assertEquals(Profile.text(run{max_batches = 3}.profile),
    "no profile: the run had too few batches; one of 4 or more has it")
  lu.assertEquals(run{max_batches = 4}.profile.batches, 1)
end

function tests.test_text()
  local row = {calls = 2, forward = 1, backward = 0.5}
  local text = Profile.text{batches = 3, ms = 10, plain_ms = 9.5, lua = 6,
    parts = {tables.merged(row, {name = "layer 1"})},
    primitives = {tables.merged(row, {name = "a"}),
      {name = "b", calls = 1, forward = 0.05, backward = 0},
      {name = "c", calls = 1, forward = 0.02, backward = 0.01}}}
  lu.assertStrContains(text, "profile of 3 batches, 10.000 ms each; the others 9.500 ms")
  lu.assertStrMatches(text, ".*| layer 1 +| +2.0 | +1.000 | +0.500 | +15.0 |\n.*")
  lu.assertStrMatches(text, ".*| others +| +2.0 | +0.070 | +0.010 | +0.8 |\n.*")
  lu.assertStrMatches(text, ".*| Lua, and the measuring +| +| +6.000 | +| +60.0 |.*")
  lu.assertNotStrContains(text, "| b ")
end

--- A step tells for each of its operations the seconds that backward took in it.
function tests.test_seconds_of_operations()
  local w = ladies.ones(200, 200):requires_grad_()
  local step <close> = ladies.step()
  lu.assertEquals(#step, 0)
  local loss = (w:matmul(w) * 2):sum()
  lu.assertEquals(step:seconds(), {0, 0, 0})
  local began = core.clock()
  loss:backward()
  local all, seconds, sum = core.clock() - began, step:seconds(), 0
  for _, x in ipairs(seconds) do
    lu.assertTrue(x > 0)
    sum = sum + x
  end
  lu.assertEquals(#seconds, #step)
  lu.assertTrue(sum <= all)
  step:close()
  lu.assertEquals(#step, 0)
  lu.assertEquals(step:seconds(), {})
end

return tests
