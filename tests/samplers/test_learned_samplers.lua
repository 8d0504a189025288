--- Tests the samplers that run in step with training, by `--method NAME`: a run in two halves is
-- one run, and their estimates train a model.
local lu = require "luaunit"
local ladies = require "ladies"
local files = require "tools.files"
local tables = require "ladies.base.tables"
local temporary = require "reference.temporary"
local toy = require "reference.toy_data"

local fails = lu.assertErrorMsgContains

local tests = {}

-- Settings of each that let something change within a few batches.
local METHODS = {
  asgcn = {samples = 30, penalty = 1},
  bandit = {samples = 2},
  bliss = {samples = 40},
  grapes = {samples = 20},
  mvs = {samples = 2, refresh = 4, large = 45},
  pass = {samples = 3},
  sketch = {method = "ladies", sketch = true, samples = 20},
  vrgcn = {samples = 2},
}

local function run(name, folder, max_batches, extra)
  local given = tables.merged({
    method = name, layers = 2, hidden = 8, lr = 0.02, dropout = 0.2, batch_size = 20,
    eval_every = 7, patience = 0, max_batches = max_batches,
  }, METHODS[name])
  local options = tables.merged({quiet = true, out = folder and temporary.path(folder)}, extra)
  local result, model = ladies.experiment.run(ladies.experiment.configure(given), toy.new(true),
    options)
  return result, model
end

local function hashes(model)
  return tables.map(model:parameters(), function(parameter) return parameter:hash() end)
end

-- The arrays of a checkpoint but the clocks, by name.
local function checkpoint(folder)
  local arrays = {}
  local file <close> = ladies.npz.open(temporary.path(folder .. "/checkpoint.npz"))
  for _, name in ipairs(file:names()) do
    if name:find "^sampler%." or name:find "^optimizer%." then
      arrays[name] = file:tensor(name):hash()
    end
  end
  return arrays
end

function tests.test_a_run_in_two_halves()
  for name in pairs(METHODS) do
    local halves, whole = name .. "-halves", name .. "-whole"
    run(name, halves, 5)
    run(name, halves, 13, {resume = true})
    run(name, whole, 13)
    lu.assertEquals(checkpoint(halves), checkpoint(whole), name)
    lu.assertTrue(files.read(temporary.path(halves .. "/model.npz"))
      == files.read(temporary.path(whole .. "/model.npz")), name)
  end
end

--- A sampler that learns changes something that it keeps while it trains.
function tests.test_they_adapt()
  for name in pairs(METHODS) do
    run(name, name .. "-begun", 1)
    run(name, name .. "-later", 9)
    local before, after, changed = checkpoint(name .. "-begun"), checkpoint(name .. "-later"), 0
    for key, hash in pairs(before) do
      if key:find "^sampler" and after[key] ~= hash then changed = changed + 1 end
    end
    lu.assertTrue(changed > 0, name)
  end
end

-- ---------------------------------------------------------------- parameters and a penalty

-- A sampler with a parameter whose penalty is `pull` times it; neighbourhoods are whole.
local function pulled(pull, own)
  local data = toy.new()
  local whole = toy.neighbourhoods(data.graph:normalize "sym", 2)
  local sampler = {name = "pulled", adaptive = true, parameters = {ladies.zeros(1)}}
  sampler.parameters[1]:requires_grad_()
  for key, value in pairs(own or {}) do sampler[key] = value end
  return setmetatable(sampler, {__call = function(self, seeds)
    local batch = whole(seeds)
    function batch.penalty(_, model, loss)
      self.seen = {model = model, loss = loss:item()}
      return pull(self.parameters[1])
    end
    return batch
  end})
end

local function train(sampler, own)
  local opts = tables.merged({
    data = toy.new(), sampler = sampler, batch_size = 60, quiet = true, max_batches = 3,
    model = ladies.nn.gcn{inputs = toy.FEATURES, hidden = 4, outputs = 3, layers = 2},
  }, own)
  return ladies.train(opts), opts
end

local function times_two(x) return (x * 2):sum() end

--- A sampler's parameters are in the optimizer, its penalty in the loss, and the model is trained
-- as without them.
function tests.test_parameters_and_penalty()
  local sampler = pulled(times_two)
  local losses = {}
  local _, with = train(sampler, {lr = 0.1, on_batch = function(at)
    losses[#losses + 1] = at.loss
  end})
  lu.assertAlmostEquals(sampler.parameters[1]:item(), -0.3, 1e-5)      -- three steps of Adam
  lu.assertIs(sampler.seen.model, with.model)
  lu.assertAlmostEquals(losses[3] - sampler.seen.loss, -0.4, 1e-5)
  local _, without = train(toy.neighbourhoods(toy.new().graph:normalize "sym", 2), {lr = 0.1})
  lu.assertEquals(hashes(with.model), hashes(without.model))
end

function tests.test_mistakes_with_parameters()
  local sampler = pulled(times_two)
  local model = ladies.nn.gcn{inputs = toy.FEATURES, hidden = 4, outputs = 3, layers = 2}
  fails("the optimizer has none of the sampler's parameters", train, sampler,
    {model = model, optimizer = ladies.optim.adam(model:parameters(), {lr = 0.1})})
  sampler = pulled(times_two, {parameters = {ladies.zeros(1):requires_grad_(),
    ladies.zeros(2):requires_grad_()}})
  model = ladies.nn.gcn{inputs = toy.FEATURES, hidden = 4, outputs = 3, layers = 2}
  local some = ladies.nn.parameters{model, sampler.parameters[1]}
  fails("the optimizer lacks the sampler's parameter 2", train, sampler,
    {model = model, optimizer = ladies.optim.adam(some, {lr = 0.1})})
  fails("batch 1: mini-batch: what penalty returns must be a Tensor, got 3", train,
    pulled(function() return 3 end))
  fails("must have one element, it is 1 x 2", train,
    pulled(function() return ladies.ones(1, 2) end))
  fails("batch 1: the loss is inf", train, pulled(function(x) return (x * 1e38):sum() end,
    {parameters = {ladies.full(1, 1e38):requires_grad_()}}))
end

--- A loop by hand must call penalty, or take it away.
function tests.test_a_loop_by_hand()
  local sampler, calls = pulled(times_two), 0
  local function loop(body)
    for batch in ladies.batches(ladies.range(1, 40), {batch_size = 20, sampler = sampler,
      epochs = 2}) do
      local _ <close> = ladies.step()
      body(batch)
      calls = calls + 1
    end
  end
  fails("pulled, epoch 1, batch 1: its penalty was not called; what the loop minimizes must hold "
    .. "it: if batch.penalty then loss = loss + batch:penalty(model, loss) end", loop,
    function() end)
  lu.assertEquals(calls, 1)
  loop(function(batch) batch.penalty = nil end)
  loop(function(batch) batch:penalty(nil, ladies.zeros(1)) end)
  lu.assertEquals(calls, 9)
end

return tests
