--- ladies.lab: intervals and tests, exact values against the tape, the bias found in samplers of
-- known bias, statistics of a user's own, and what is refused.
local lu = require "luaunit"
local ladies = require "ladies"
local context = require "ladies.lab.context"
local estimate = require "ladies.lab.error.estimate"
local full = require "ladies.samplers.full"
local layer_wise = require "reference.layer_wise"
local message_of = require "tools.message_of"
local statistics = require "ladies.statistics"
local tables = require "ladies.base.tables"
local temporary = require "reference.temporary"
local view = require "ladies.lab.report.view"

local tests = {}

local function toy(given)
  local data = ladies.generate.power_law{nodes = 400, entries = 3200, features = 12, classes = 3,
    signal = 0.5, seed = given and given.seed}
  return data:split("50/20/30")
end

local DATA = toy()

local function lab(sampler, more)
  return ladies.lab(sampler, tables.merged({dataset = DATA, against = {}, hidden = 16,
    batch_size = 60, seconds = 0.2, quiet = true}, more))
end

-- The keys of faults and warnings, but for those of a bias that may be one behind what is not
-- linear.
local function faults_of(one)
  local keys = {}
  for _, fault in ipairs(one.faults) do
    if fault.key ~= "nonlinear" and fault.key ~= "undecided" then keys[#keys + 1] = fault.key end
  end
  return table.concat(keys, " ")
end

--- Options that are not given have the values that the docstring tells; networks are of up to 4
-- layers.
function tests.test_defaults()
  local found = ladies.lab("full", {dataset = DATA, against = {}, seconds = 0.01, quiet = true})
  lu.assertEquals(found.settings, {layers = 2, hidden = 64, steps = 5, seed = 1, draws = 6,
    batch_size = #DATA.train, one_set = true, precision = 0.1, seconds = 0.01})
  local depth = tables.by_field(found.examinations[1].series, "key")["nodes.layers"]
  lu.assertEquals(#depth.lines[1].points, 4)
end

--- Quantities that are 0 get no error relative to their size: the gradient with one class, and with
-- features of 0 the layers and, at first, the embedding. They are not reported as heavy tails.
function tests.test_nothing_to_estimate()
  local A, n = DATA.graph.adjacency, DATA.graph.n_nodes
  local function found(features, labels)
    local one = lab("ladies", {steps = 0, samples = 60, dataset = ladies.data.from_arrays{
      graph = A, features = features, labels = labels, train = DATA.train, val = DATA.val,
      test = DATA.test}}).examinations[1]
    for _, number in ipairs(one.findings) do
      lu.assertEquals(number.mean, number.mean, number.key .. " is NaN")
    end
    return one
  end
  local one = found(DATA.features, ladies.range(1, n) * 0 + 1)
  lu.assertNil(one.by_key["gradient.error"])
  lu.assertStrMatches(one.verdict, ".*The embedding is off by .* of its size; the gradient is 0%.")
  one = found(ladies.zeros(n, 12), DATA.labels)
  lu.assertNil(one.by_key["layers.1.error"])
  lu.assertNil(one.by_key["embedding.error"])
  lu.assertNotStrContains(faults_of(one), "tails")
end

-- ---------------------------------------------------------------- intervals

-- Quantiles as tables of Student's t have them.
function tests.test_student()
  for _, one in ipairs{{0.95, 1, 12.7062}, {0.95, 2, 4.30265}, {0.99, 5, 4.03214},
    {0.999, 10, 4.58689}, {0.95, 30, 2.04227}} do
    lu.assertAlmostEquals(statistics.student(one[1], one[2]), one[3], 1e-4)
  end
  local x = statistics.interval{1, 2, 3, 4}
  lu.assertAlmostEquals(x.mean, 2.5, 1e-12)
  lu.assertAlmostEquals(x.high - x.mean, 3.18245 * math.sqrt(5 / 3 / 4), 1e-4)
  lu.assertAlmostEquals(statistics.p_value({1, 2, 3, 4}, x.low), 0.05, 1e-9)
end

-- ---------------------------------------------------------------- exact values

-- Exact embeddings and gradients are those of the tape over whole neighbourhoods, by depth and P.
function tests.test_exact_values_are_those_of_the_tape()
  for _, layers in ipairs{1, 2, 4} do
    for _, normalize in ipairs{"sym", "row"} do
      local shared = context.new(DATA, {batch_size = 60, layers = layers, hidden = 8, steps = 3,
        seed = 1})
      local P = DATA.graph:normalize(normalize)
      local known, seeds = shared:exact(P), shared:seeds(1)
      local target = known:gradient(seeds)
      local draw = estimate.of(known, full(P, {layers = layers})(seeds), target)
      for i, one in ipairs(target) do
        lu.assertTrue(one.square > 0)
        lu.assertTrue(draw.gradient[i]:norm() < 1e-5 * math.sqrt(one.square))
      end
      lu.assertTrue(draw.embedding.error:norm() < 1e-5 * known.embedding:norm())
    end
  end
end

-- ---------------------------------------------------------------- what is found

-- Draws with replacement and their weights are unbiased in every layer; without replacement and
-- with the same weights they are not, and the cause is named.
function tests.test_weights()
  local right = lab("ladies:60", {settings = {row_normalize = false, draw = "wr"}}).examinations[1]
  lu.assertNotStrContains(faults_of(right), "naive")
  for layer = 1, 2 do
    local scale = right.by_key[("layers.%d.scale"):format(layer)]
    lu.assertTrue(math.abs(scale.mean - 1) < 5 * (scale.high - scale.low) / 4, scale.sentence)
  end
  local naive = lab("ladies:120", {settings = {row_normalize = false}}).examinations[1]
  lu.assertStrContains(faults_of(naive), "naive")
  lu.assertStrContains(naive.verdict, "Something is wrong")
  local debiased = lab("ladies:120", {settings = {row_normalize = false, debias = true}})
  lu.assertEquals(faults_of(debiased.examinations[1]), "")
end

-- Weights that are right in themselves are not blamed for a bias that has another cause: here rows
-- that are divided by their sums.
function tests.test_right_weights_are_not_blamed()
  for _, settings in ipairs{{draw = "wr"}, {debias = true}} do
    local keys = faults_of(lab("ladies:15", {settings = settings}).examinations[1])
    lu.assertEquals(keys:gsub(" bias%.%d%.%l+", ""), "normalized")
  end
end

-- Errors beside the exact values of different networks are said to be such.
function tests.test_another_P_is_told()
  local function notes_of(settings)
    local both = lab({"ladies:60", "graphsage:2"}, {settings = settings, seconds = 0.01})
    return table.concat(both.examinations[2].notes, "; ")
  end
  lu.assertStrContains(notes_of(), 'those of a network over P of normalize = "row", those of '
    .. 'LADIES (60) over P of normalize = "sym"')
  lu.assertNotStrContains(notes_of{normalize = "sym"}, "network")
end

-- A fault is found in a sampler of one's own whose weights are not what they should be.
local function weighted(weigh) return layer_wise.weighted("own", "poisson", weigh) end

function tests.test_wrong_weights_have_names()
  local cases = {
    unweighted = function(w) return w * 0 + 1 end,
    inverted = function(w) return 1 / w end,
    factor = function(w) return 2 * w end,
  }
  for name, weigh in pairs(cases) do
    lu.assertStrContains(faults_of(lab(weighted(weigh)).examinations[1]), name)
  end
  lu.assertEquals(faults_of(lab(weighted(function(w) return w end)).examinations[1]), "")
end

-- Weights that are too large by about as much in all, but by otherwise much for single rows, are no
-- factor, which would be a fault with a remedy of its own: a node keeps itself, and its neighbours
-- have d / k instead of (d - 1) / k.
function tests.test_weights_that_are_not_all_alike()
  local given = layer_wise.new("self", function(P, dst, rng)
    local d = P:degrees()
    local too_much = ladies.where((d - 1):above(3), d / (d - 1), 1)
    local S, src, w = P:sample_rows(dst, 3, {first = dst, rng = rng, always = P:diagonal()})
    local factor = too_much[dst][S:row_of()]
    return S:scale_entries(ladies.where(w:above(1), w * factor, w)), src
  end)
  local one = lab(given).examinations[1]
  lu.assertNotStrContains(faults_of(one), "factor")
  lu.assertStrContains(one.verdict, "ayer ")
end

-- Both layers are reported where no cause is proved.
function tests.test_no_cause()
  local function faults_of_odd(given)
    return lab(given).examinations[1].faults
  end
  local odd = weighted(function(w) return w * (2 - w:above(1.5)) end)
  local found = {}
  for _, fault in ipairs(faults_of_odd(odd)) do found[fault.key:match "^bias%.%d" or ""] = fault end
  lu.assertStrContains(found["bias.1"].text, "layer 1 is off by ")
  lu.assertStrContains(found["bias.2"].text, "layer 2 is off by ")
end

-- A large bias of the gradient is reported where the embedding has none to speak of.
function tests.test_embedding_and_gradient_stand_apart()
  local one = lab("fastgcn:20", {seconds = 1e-3}).examinations[1]
  lu.assertStrContains(one.verdict, "its gradient badly biased (by ")
end

-- A sampler whose draws are too noisy to tell is not called close to unbiased.
function tests.test_noise_is_no_verdict()
  local verdict = require "ladies.lab.verdict"
  local function of(bias, scale)
    local columns = {}
    for _, name in ipairs{"embedding", "gradient"} do
      columns[name .. ".bias"], columns[name .. ".scale"] = bias, scale or {0.9, 1.1, 1.0, 1.0}
    end
    return verdict{faults = {}, sample = {columns = columns}, findings = {
      {key = "embedding.error", mean = 1}, {key = "gradient.error", mean = 1}}}
  end
  lu.assertStrContains(of{-0.002, 0.003, 0, 0.001}, "Close to unbiased: the mean of many draws is "
    .. "off by at most 6.17 % of its size in the embedding, by at most 6.17 % in the gradient.")
  -- An estimate below 0, which happens by chance where the number is near 0, has a bound as well.
  lu.assertStrContains(of{-0.0012, -0.0010, -0.0011, -0.0009}, "Close to unbiased: the mean of "
    .. "many draws is off by at most 1.43 % of its size in the embedding, by at most 1.43 % in "
    .. "the gradient.")
  lu.assertStrContains(of{-3, 4, -5, 6}, "Too noisy to judge: for all that these draws show")
  lu.assertStrContains(of{-3, 4, -5, 6}, "--same-as NAME")
  lu.assertStrContains(of{0.9, 0.91, 0.9, 0.91}, "Badly biased")
  -- A bias that is certain, and less than a tenth of the error, is reported by its size.
  lu.assertStrContains(of{0.0144, 0.0145, 0.0143, 0.0144}, "Biased: the mean of many draws is off "
    .. "by 12 % of its size")
  -- The bias may be certain only in its part along the exact value, which is not all of the bias.
  lu.assertStrContains(of({-0.02, 0.03, 0.01, -0.01}, {0.95, 0.951, 0.949, 0.95}), "Biased: the "
    .. "mean of many draws is off by at least 5 % of its size in the embedding, by at least 5 %")
  lu.assertStrContains(of{0.0036, 0.0037, 0.0035, 0.0036}, "Close to unbiased")
end

-- LADIES with replacement, of which one layer in ten has all weights, and these times ten.
local function seldom(name)
  return layer_wise.weighted(name, "wr", function(w, rng)
    return w * (rng:below(10) == 1 and 10 or 0)
  end)
end

--- Where rare draws decide, the bias of the other draws is not reported as the sampler's, samplers
-- are not ranked by it, and blocks without weights are not taken for normalised rows.
function tests.test_rare_draws_are_no_verdict()
  local both = lab({seldom "one", seldom "other"})
  local one = both.examinations[1]
  lu.assertStrContains(one.verdict, "Its bias cannot be judged by so few draws, since rare ones "
    .. "decide: as far as these tell, the mean of many is off by ")
  lu.assertNotStrContains(one.verdict, "iased:")
  lu.assertNotStrContains(faults_of(one), "normalized")
  lu.assertStrContains(one.by_key["embedding.bias"].sentence, "Rare draws decide")
  lu.assertStrMatches(one.by_key["embedding.error"].sentence, "In these draws the embedding is "
    .. "off by [%d.]+ %% of its size, as a root mean square, which rare ones decide%.")
  lu.assertStrMatches(one.verdict, ".* In these draws the embedding is off by [%d.]+ %% of its "
    .. "size, the gradient by [%d.]+ %%; rare ones may make it more%.")
  lu.assertStrContains(one.by_key["ranking.gradient"].sentence, "Not to rank by")
  local second = both.comparison.rows[2]
  lu.assertTrue(second.values["ranking.gradient"].mean > 0)
  lu.assertNil(second.ratios["ranking.gradient"])
end

-- A sampler that fails only when it is timed leaves the others their times.
function tests.test_failure_while_timed()
  local rare = {name = "rare", sampler = function(P)
    local whole = full(P, {layers = 2})
    return function(seeds)
      if debug.traceback():find "lab/cost/init.lua" then error("out of luck", 0) end
      return whole(seeds)
    end
  end}
  local both = lab({rare, "ladies:20"}, {seconds = 1e-3}).examinations
  lu.assertEquals(both[1].verdict:match "it fails: out of luck", "it fails: out of luck")
  lu.assertTrue(both[1].by_key["embedding.error"].mean < 1e-9)
  lu.assertNil(both[1].by_key["cost.seconds"])
  lu.assertTrue(both[2].by_key["cost.seconds"].mean > 0)
end

-- The notes say whether a sampler uses `samples`, and whether it changes with training.
function tests.test_notes()
  local path = temporary.path "whole.lua"
  ladies.file.write(path, [[return function(P, settings)
    return require "ladies".samplers.full(P, {layers = settings.layers})
  end]])
  local notes = table.concat(lab(path).examinations[1].notes, "; ")
  lu.assertStrContains(notes, "it does not use `samples`")
  notes = table.concat(lab("vrgcn", {steps = 1, seconds = 1, precision = 1e-4})
    .examinations[1].notes, "; ")
  lu.assertStrContains(notes, "of the one state that it had after 1 step, and")
  lu.assertStrContains(notes, "need: the 1 second did not allow more")
end

-- The rank is by variance, and says what bias it leaves out.
function tests.test_bias_is_told_beside_the_rank()
  local biased = lab("ladies:15").examinations[1].by_key["ranking.embedding"]
  lu.assertStrContains(biased.sentence, "is left besides, whatever the time")
  local unbiased = lab("full").examinations[1].by_key["ranking.embedding"]
  lu.assertNotStrContains(unbiased.sentence, "besides")
end

-- A sampler that fails in step with training leaves the network to the others as it was.
function tests.test_failure_on_the_way()
  local shared = context.new(DATA, {batch_size = 60, layers = 2, hidden = 8, steps = 3, seed = 1})
  local P = DATA.graph:normalize "row"
  local whole, calls = full(P, {layers = 2}), 0
  local known = shared:exact(P)
  local before = known.model:parameters()[1]:clone()
  local sampler = setmetatable({}, {__call = function(_, seeds)
    calls = calls + 1
    if calls == 2 then error("out of luck", 0) end
    return whole(seeds)
  end})
  lu.assertStrContains(message_of(shared.accompany, shared, sampler, known), "out of luck")
  lu.assertEquals((known.model:parameters()[1] - before):abs():max(), 0)
end

-- Samplers that learn in step with training, and those that draw their own seeds, are examined too.
function tests.test_samplers_of_all_kinds()
  local found = lab{"vrgcn", "clustergcn", "graphsage:3"}
  lu.assertEquals(#found.examinations, 3)
  lu.assertTrue(found.examinations[1].by_key["embedding.error"].mean > 1e-6)
  lu.assertTrue(found.examinations[1].by_key["layers.1.error"].mean < 1e-9)
  lu.assertEquals(found.comparison.rows[2].name, "Cluster-GCN")
  lu.assertTrue(found.comparison.rows[3].ratios["gradient.error"].low > 0)
  for _, key in ipairs{"connection.alone.1", "connection.alone.2", "coverage.never"} do
    lu.assertNotNil(found.comparison.rows[3].values[key], key)
  end
  lu.assertEquals(found.settings.own_seeds, {"Cluster-GCN"})
  local head = view.circumstances(found)
  lu.assertStrContains(head, "batches of 60 seeds;")
  lu.assertStrContains(head, "Cluster-GCN draws its own seeds")
  head = view.circumstances(lab("clustergcn", {batch_size = 1000}))
  lu.assertStrContains(head, "batches with seeds of their own;")
  lu.assertNotStrContains(head, "one and the same")
end

-- A sampler that is made already, and a statistic of one's own.
function tests.test_own_sampler_and_statistic()
  local P = DATA.graph:normalize "row"
  local sampler = ladies.samplers.graphsage(P, {samples = 2, layers = 2})
  local seen = lab(sampler, {statistics = {
    inputs = function(batch) return #batch.input end,
    signal = function(_, exact) return exact.embedding:norm() end,
    never = function() return nil end,
  }}).examinations[1]
  lu.assertTrue(seen.by_key["own.inputs"].mean > 60)
  local signal = seen.by_key["own.signal"]
  lu.assertAlmostEquals(signal.low, signal.high, 1e-9)
  lu.assertNil(seen.by_key["own.never"])
end

-- At equal nodes another sampler gets the samples that it needs for them, and says so.
function tests.test_equal_nodes()
  local found = lab({"ladies:40", "graphsage:1"}, {equal = "nodes", seconds = 0.1})
  local rows = found.comparison.rows
  local a, b = rows[1].values["connection.nodes"].mean, rows[2].values["connection.nodes"].mean
  lu.assertTrue(math.abs(b / a - 1) < 0.25, ("%g and %g nodes"):format(a, b))
  lu.assertEquals(found.comparison.equal, "nodes")
  lu.assertStrContains(found.examinations[2].notes[#found.examinations[2].notes], "distinct nodes")
end

-- Training compares runs of the same seeds: for a sampler beside itself the differences are 0.
function tests.test_training()
  local found = lab({"ladies:20", "full"}, {train = {batches = 8, seeds = 3}})
  local again = lab({"full", "ladies:20"}, {train = {batches = 8, seeds = 3}})
  local f1 = found.examinations[1].by_key["training.val_f1"]
  local difference = found.examinations[2].by_key["training.test_f1_difference"]
  lu.assertEquals(f1.n, 3)
  lu.assertTrue(f1.mean > 0 and f1.mean <= 1)
  lu.assertAlmostEquals(difference.mean,
    -again.examinations[2].by_key["training.test_f1_difference"].mean, 1e-12)
end

-- A seed gives the same numbers each time.
function tests.test_repeatable()
  local function error_of(seed)
    return lab("ladies:20", {seed = seed, seconds = 1e-3}).examinations[1].by_key[
      "gradient.error"].mean
  end
  lu.assertEquals(error_of(3), error_of(3))
  lu.assertNotEquals(error_of(3), error_of(4))
end

-- ---------------------------------------------------------------- refusals

function tests.test_refusals()
  local function message(...) return message_of(ladies.lab, ...) end
  local two = temporary.path "two.lua"
  ladies.file.write(two, "return function() return require 'ladies'.nn.gcn{inputs = 12, "
    .. "outputs = 2, layers = 2} end")
  lu.assertEquals(message("full", {dataset = DATA, model = two}),
    "ladies.lab: the model has 2 outputs, the data set 3 classes")
  lu.assertEquals(message(nil, {dataset = DATA}),
    "ladies.lab: the sampler must be a string or a table or a callable, got nil")
  lu.assertStrContains(message("ladis", {dataset = DATA}), 'did you mean "ladies"')
  lu.assertStrContains(message("ladies", {layer = 2}), 'did you mean "layers"')
  lu.assertStrContains(message("ladies", {dataset = DATA, quiet = true, statistics = {x = 1}}),
    'statistics["x"]')
  local without = setmetatable({}, {__index = DATA})
  without.train = false
  lu.assertStrContains(message("ladies", {dataset = without}), "no nodes for training")
  local text = message("ladies:20", {dataset = DATA, quiet = true, against = {}, batch_size = 20,
    seconds = 1, statistics = {x = function() return "much" end}})
  lu.assertStrContains(text, 'the statistic "own.x" must be a number')
  local nothing = {name = "nothing", sampler = function() return function() end end}
  lu.assertStrContains(faults_of(lab(nothing).examinations[1]), "contract")
  local deep = {name = "deep", sampler = function(P)
    return ladies.samplers.full(P, {layers = 3})
  end}
  local words = "deep gives mini-batches of 3 blocks, and the network has 2 layers; give layers = 3"
  lu.assertStrContains(message(deep, {dataset = DATA, quiet = true, against = {}}), words)
  local both = lab({deep, "ladies:20"}, {seconds = 0.01}).examinations
  lu.assertStrContains(both[1].faults[1].text, words)
  lu.assertTrue(both[2].by_key["cost.seconds"].mean > 0)
  lu.assertStrContains(message({"ladies:20", "ladies:20"}, {dataset = DATA}),
    "LADIES (20) is there twice")
end

--- A sampler that draws after the step has the batch's generator there, as in training.
function tests.test_a_sampler_that_draws_after_the_step()
  local one = lab({"ladies:40"}, {settings = {sketch = true}, draws = 2}).examinations[1]
  lu.assertTrue(one.by_key["cost.sampling"].mean > 0)
end

return tests
