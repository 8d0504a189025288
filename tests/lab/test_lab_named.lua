--- Tests faults that the laboratory calls by their names: labels that no loss has, state that a
-- checkpoint would lose, heavy tails; and what it does not take for a fault: shared numbers, and
-- histories.
local lu = require "luaunit"
local ladies = require "ladies"

local tests = {}

local DATA = ladies.generate.power_law{nodes = 400, entries = 2400, features = 8, classes = 3,
  signal = 0.5}:split("50/20/30")

local function examine(sampler)
  local found = ladies.lab(sampler, {dataset = DATA, against = {}, hidden = 8, batch_size = 60,
    steps = 3, seconds = 0.1, quiet = true})
  return found.examinations[1]
end

local function faults_of(one)
  local texts = {}
  for _, fault in ipairs(one.faults) do
    if fault.kind == "fault" then texts[#texts + 1] = fault.text end
  end
  return table.concat(texts, "\n")
end

-- Poisson draws of columns with unbiased weights, by uniform numbers that numbers(ids, rng) gives.
local function draw(P, seeds, rng, samples, numbers)
  return ladies.sampling.mini_batch(seeds, 2, function(_, dst)
    local U, near = P:slice(dst)
    local p = ladies.sampling.poisson_probabilities(U:col_sums(2), samples)
    local pick = p:above(numbers(near, rng)):positions()
    return U:pick_cols(pick):scale_cols(1 / p[pick]), near[pick]
  end)
end

function tests.test_numbers_that_are_shared_on_purpose()
  local one = examine{name = "shared", sampler = function(P)
    return function(seeds, rng)
      return draw(P, seeds, rng, 60, function(ids) return rng:at(1):uniform_of(ids) end)
    end
  end}
  lu.assertEquals(faults_of(one), "")
end

-- GAS: edges between the seeds, and histories of all others, which are exact here but for a step.
local function gas(P)
  local sampler
  sampler = setmetatable({adaptive = true, state = {}}, {__call = function(_, seeds)
    local blocks = {}
    for l = 2, 1, -1 do
      local all = P:rows(seeds)
      local inside = P:slice(seeds, seeds)
      local history = l == 1 and DATA.features or sampler.history
      local control = all:matmul(history) - inside:matmul(history:rows(seeds))
      blocks[l] = {adj = inside, dst = seeds, src = seeds, control = control}
    end
    return {blocks = blocks, input = seeds, output = seeds}
  end})
  sampler.history = ladies.zeros(P.n_rows, 8)
  sampler.state[1] = {name = "history", tensor = sampler.history}
  return sampler
end

function tests.test_histories_are_no_fault()
  lu.assertEquals(faults_of(examine{name = "gas", sampler = gas}), "")
end

-- All neighbours, and weights of the loss that are 0 for some.
local function weighted(weight_of)
  return function(P)
    local whole = ladies.samplers.full(P, {layers = 2})
    return function(seeds, rng)
      local batch = whole(seeds, rng)
      batch.loss_weight = weight_of(batch.output) / #seeds
      return batch
    end
  end
end

function tests.test_labels_that_no_loss_has()
  local labels = DATA.labels
  local one = examine{name = "classless", sampler = weighted(function(seeds)
    return 1 - labels[seeds]:equals(2)
  end)}
  lu.assertStrMatches(faults_of(one), "%d+ of the 200 training nodes, all that have class 2, "
    .. "are in "
    .. "no loss: their labels are never learned")
  lu.assertStrContains(one.verdict, "Something is wrong with it: ")
  one = examine{name = "third", sampler = weighted(function(seeds)
    return (seeds % 3):above(0)
  end)}
  lu.assertStrMatches(faults_of(one), "%d+ of the 200 training nodes are in no loss.*")
  one = examine{name = "even", sampler = weighted(function(seeds)
    return ladies.ones(#seeds)
  end)}
  lu.assertEquals(faults_of(one), "")
end

-- Makes a sampler that learns in after_step, and has its numbers in `state` or, without is_kept,
-- loses them at a checkpoint.
local function learning(is_kept)
  return function(P)
    local steps = ladies.zeros(1)
    local sampler = setmetatable({adaptive = true, state = is_kept and {{name = "steps",
      tensor = steps}} or {}}, {__call = function(_, seeds, rng)
      local samples = 20 + math.tointeger(steps:sum():item())
      local batch = draw(P, seeds, rng, samples, function(ids) return rng:uniform_of(ids) end)
      batch.after_step = function() steps:add_at_(ladies.index{1}, 1) end
      return batch
    end})
    return sampler
  end
end

--- A sampler that learns is taken along the network's training: it meets the parameters of every
-- step.
function tests.test_parameters_along_training()
  local seen, n = {}, 0
  examine{name = "watches", sampler = function(P)
    return setmetatable({adaptive = true, state = {}}, {__call = function(_, seeds, rng)
      local batch = draw(P, seeds, rng, 40, function(ids) return rng:uniform_of(ids) end)
      batch.after_step = function(_, model)
        local hash = ladies.nn.parameters(model)[1]:hash()
        n, seen[hash] = n + (seen[hash] and 0 or 1), true
      end
      return batch
    end})
  end}
  lu.assertTrue(n >= 3, n)
end

function tests.test_state_that_is_not_kept()
  lu.assertStrContains(faults_of(examine{name = "forgets", sampler = learning(false)}),
    "it remembers what is not in its `state`")
  lu.assertEquals(faults_of(examine{name = "keeps", sampler = learning(true)}), "")
end

return tests
