--- MVS-GNN: its probabilities from norms made by hand, weights that leave the mean of the losses as
-- it is, the norms of a model's gradients, when and of which nodes they are measured.
local lu = require "luaunit"
local ladies = require "ladies"
local compare = require "reference.compare"
local statistics = require "reference.statistics"
local tables = require "ladies.base.tables"
local toy = require "reference.toy_data"

local fails, close = lu.assertErrorMsgContains, compare.assert_close
local index, mvs, sampling = ladies.index, ladies.samplers.mvs, ladies.sampling

local tests = {}

-- A sampler that gives the seeds back, in descending order.
local function alone(seeds)
  local list = seeds:to_table()
  table.sort(list, function(a, b) return a > b end)
  local nodes = index(list)
  local adj = ladies.csr{n_rows = #list, n_cols = #list, offsets = ladies.range(1, #list + 1),
    columns = ladies.range(1, #list)}
  return {blocks = {{adj = adj, dst = nodes, src = nodes}}, input = nodes, output = nodes}
end

-- A sampler of training nodes 11, 12, ... with these norms.
local function by_hand(norms, own)
  return mvs(alone, tables.merged({
    train = ladies.range(11, 10 + #norms), floor = 1e-6,
    norms = function(nodes)
      local list = {}
      for i, node in ipairs(nodes:to_table()) do list[i] = norms[node - 10] end
      return ladies.tensor(list)
    end,
  }, own))
end

local function place(number)
  return {epoch = number, index = 1, rng = ladies.rng(1)}
end

--- min(1, g / mu), where mu is solved for by hand: 3 of {8, 4, 2, 1, 1} take the first two for
-- certain, so 1 = 4 / mu; and so on.
function tests.test_threshold()
  for _, case in ipairs{
    {{8, 4, 2, 1, 1}, 3, {1, 1, 1 / 2, 1 / 4, 1 / 4}},
    {{8, 4, 2, 1, 1}, 2, {1, 1 / 2, 1 / 4, 1 / 8, 1 / 8}},
    {{1, 1, 2, 4, 8}, 1, {1 / 16, 1 / 16, 1 / 8, 1 / 4, 1 / 2}},
    {{3, 3, 3, 3}, 2, {1 / 2, 1 / 2, 1 / 2, 1 / 2}},
    {{8, 0, 2}, 1, {0.8, 0, 0.2}}, {{8, 0, 2}, 2, {1, 0, 1}}, {{8, 0, 2}, 3, {1, 0, 1}},
    {{1e30, 1, 1, 1}, 2, {1, 1 / 3, 1 / 3, 1 / 3}}, {{5}, 1, {1}},
  } do
    close(sampling.poisson_probabilities(ladies.tensor(case[1]), case[2]), case[3], 1e-6, "p")
  end
  local g = ladies.zeros(500):uniform_(0, 1, ladies.rng(3)):square()
  for _, k in ipairs{1, 50, 400, 499} do
    local p = sampling.poisson_probabilities(g, k)
    lu.assertAlmostEquals(p:sum():item(), k, 1e-3)
    local _, w = sampling.choice(g, k, {draw = "poisson", rng = ladies.rng(k)})
    local pick = sampling.choice(g, k, {draw = "poisson", rng = ladies.rng(k)})
    close(1 / p[pick], w, 1e-3, "design weights")
  end
  for text, p in pairs{["got Tensor 2: 0 0"] = {0, 0}, ["got Tensor 2: 1 -1"] = {1, -1}} do
    fails(text, sampling.poisson_probabilities, ladies.tensor(p), 1)
  end
end

--- Every set of seeds comes up as often as it should, and over all of them the weights have the
-- mean 1/N for every training node: exactly, for the sets are enumerated.
function tests.test_unbiased_by_enumeration()
  local draws, root = 4000, ladies.rng(5)
  for _, case in ipairs{
    {{4, 2, 1, 1}, {1, 1 / 2, 1 / 4, 1 / 4}}, {{2, 2, 3, 1}, {1 / 2, 1 / 2, 3 / 4, 1 / 4}},
  } do
    local sampler, p = by_hand(case[1], {batch_size = 2}), case[2]
    local counts, found = statistics.count(draws, function(i)
      local batch = sampler(nil, root:fork(i), place(1))
      local weights = ladies.zeros(14):add_at_(batch.output, batch.loss_weight):slice(11, 14)
      return table.concat(weights:above(0):to_table(), " "), weights
    end)
    local mean, expected, none = ladies.zeros(4), {}, 1
    for _, one in ipairs(p) do none = none * (1 - one) end
    for set = 1, 15 do
      local chance, bits = 1 / (1 - none), {}
      for i, one in ipairs(p) do
        bits[i] = set >> (i - 1) & 1
        chance = chance * (bits[i] == 1 and one or 1 - one)
      end
      local key = table.concat(bits, ".0 ") .. ".0"
      lu.assertEquals(found[key] ~= nil, chance > 0)
      if found[key] then mean, expected[key] = mean + found[key] * chance, chance * draws end
    end
    close(mean, {1 / 4, 1 / 4, 1 / 4, 1 / 4}, 1e-5, "mean weight")
    statistics.assert_frequencies(counts, expected)
  end
end

--- Norms are measured at the first batch and every `refresh` after it, of `large` nodes, and only
-- these are drawn; an index in the middle of an epoch counts as well.
function tests.test_refresh()
  local asked = {}
  local sampler = by_hand({}, {
    train = ladies.range(1, 50), batch_size = 10, refresh = 3, large = 20,
    norms = function(nodes)
      asked[#asked + 1] = nodes
      return ladies.ones(#nodes)
    end,
  })
  lu.assertEquals(sampler.batches_per_epoch, 5)
  local root = ladies.rng(2)
  for number = 1, 12 do
    local at = {epoch = (number - 1) // 5 + 1, index = (number - 1) % 5 + 1}
    local batch = sampler(nil, root:fork(number), at)
    lu.assertEquals(#asked, (number + 2) // 3)
    lu.assertEquals(#sampling.find(asked[#asked], batch.output), #batch.output)
    close(batch.loss_weight, ladies.full(#batch.output, 2 / 20), 1e-6, "weights")   -- p = 10 / 20
    lu.assertEquals(#asked[#asked], 20)
  end
  lu.assertFalse(asked[1] == asked[2])
end

--- A floor bounds the weights; norms that are all zero make a uniform draw.
function tests.test_floor()
  local sampler = by_hand({100, 0, 0, 0}, {batch_size = 1, floor = 0.2})
  sampler(nil, ladies.rng(1), place(1))
  close(sampler.measured, {100, 5, 5, 5}, 1e-6, "norms")
  sampler = by_hand({0, 0}, {batch_size = 1})
  sampler(nil, ladies.rng(1), place(1))
  close(sampler.measured, {1, 1}, 1e-6, "norms")
end

--- The norms are those of softmax - one-hot, and of (sigmoid - target) / classes for labels of
-- several classes; training leaves no trace in the model.
function tests.test_norms_of_a_model()
  local data = toy.new()
  local P, several = data.graph:normalize "row", toy.new()
  several.labels = ladies.zeros(toy.NODES, 2):uniform_(0, 1, ladies.rng(4)):above(0.5)
  for _, case in ipairs{{data, 3}, {several, 2}} do
    local given = case[1]
    local model = ladies.nn.gcn{inputs = toy.FEATURES, outputs = case[2], hidden = 4, layers = 1,
      normalize = "row"}
    local sampler = mvs(ladies.samplers.full(P, {layers = 1}), {train = data.train, model = model,
      data = given, batch_size = 10, floor = 1e-9})
    sampler(data.train, ladies.rng(1), place(1))
    local logits = ladies.inference.exact(model, P, {features = data.features}):to_table()
    for i, node in ipairs(data.train:to_table()) do
      local squares, total = 0, 0
      for _, z in ipairs(logits[node]) do total = total + math.exp(z) end
      for c, z in ipairs(logits[node]) do
        local gradient
        if given == data then
          gradient = math.exp(z) / total - (data.labels[node] == c and 1 or 0)
        else
          gradient = (1 / (1 + math.exp(-z)) - several.labels:get(node, c)) / 2
        end
        squares = squares + gradient ^ 2
      end
      lu.assertAlmostEquals(sampler.measured[i], math.sqrt(squares), 1e-5)
    end
    for _, parameter in ipairs(model:parameters()) do lu.assertNil(parameter.grad) end
  end
end

--- A call without a place in an epoch returns the inner sampler's mini-batch for the seeds that it
-- is given.
function tests.test_given_seeds()
  local batch = by_hand{1, 2, 3}(index{13, 11}, ladies.rng(1))
  lu.assertEquals(batch.output:to_table(), {13, 11})
  lu.assertNil(batch.loss_weight)
end

--- What the inner sampler learns is trained.
function tests.test_parameters()
  local data = toy.new()
  local P = data.graph:normalize "row"
  local model = ladies.nn.gcn{inputs = toy.FEATURES, outputs = 3, hidden = 4, layers = 2,
    normalize = "row"}
  local inner = ladies.samplers.asgcn(P, {samples = {9, 9}, features = data.features})
  local sampler = mvs(inner, {train = data.train, model = model, data = data, batch_size = 10})
  local before = inner.parameters[1]:detach():clone()
  ladies.train{data = data, model = model, sampler = sampler, max_batches = 3, patience = 0,
    quiet = true}
  lu.assertTrue(rawequal(sampler.parameters, inner.parameters))
  lu.assertTrue((inner.parameters[1] - before):norm() > 0)
  lu.assertNil(by_hand{1}.parameters)
end

function tests.test_errors()
  local function norms(value)
    return by_hand({1, 2}, {norms = function() return value end})(nil, ladies.rng(1), place(1))
  end
  fails("a vector of 2 finite numbers, none of them negative, got Tensor 3", norms, ladies.ones(3))
  fails("nan", norms, ladies.tensor{1, 0 / 0})
  fails("got Tensor 2: 1 -1", norms, ladies.tensor{1, -1})
  fails("what norms returns must be a Tensor, got nil", norms)
  fails("train must not be empty", by_hand, {})
  fails("there must be model and data, or norms", mvs, alone, {train = index{1}})
  fails("arrays has no labels", mvs, alone, {train = index{1}, model = {},
    data = ladies.data.from_arrays{edges = {{1, 2}}, features = ladies.ones(2, 1),
      targets = ladies.ones(2), directed = "keep"}})
  fails("training node", by_hand, {}, {train = index{1, 1}})
  fails("the inner sampler must be a callable", mvs, 3, {train = index{1}})
  fails("must be one that is given its seeds", mvs, by_hand{1},
    {train = index{1}, norms = ladies.ones})
end

return tests
