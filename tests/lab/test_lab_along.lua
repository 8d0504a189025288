--- ladies.lab along a training: the numbers of pairs by hand; gap, variance and bias against the
-- enumeration of all mini-batches of a small graph; and what the command prints.
local lu = require "luaunit"
local ladies = require "ladies"
local along = require "ladies.lab.along"
local context = require "ladies.lab.context"
local graphs = require "reference.graphs"
local shell = require "tools.shell"
local subjects = require "ladies.lab.subject"
local tables = require "ladies.base.tables"

local tests = {}

local DATA = ladies.data.from_arrays{graph = graphs.random(40, 4, 1),
  features = ladies.zeros(40, 5):normal_(1, ladies.rng(2)), labels = ladies.range(1, 40) % 3 + 1,
  train = ladies.range(1, 12), val = ladies.range(13, 20), test = ladies.range(21, 40)}

local function tensor(...) return ladies.tensor{...} end

function tests.test_a_pair_by_hand()
  local whole = {loss = 2, gradients = {tensor(1, 0), tensor(2)}}
  local one = {loss = 3, gradients = {tensor(2, 1), tensor(2)}}
  local other = {loss = 2, gradients = {tensor(1, -1), tensor(5)}}
  local found = along.pair(whole, one, other, 5)
  lu.assertAlmostEquals(found.gap, 0.25, 1e-7)
  lu.assertAlmostEquals(found.variance, (1 + 4 + 9) / 2 / 5, 1e-6)
  lu.assertAlmostEquals(found.bias, (1 * 0 + 1 * -1 + 0 * 3) / 5, 1e-6)
end

local STEPS = 20

local function examined(given, batch_size, seconds)
  local opts = {layers = 2, hidden = 6, batch_size = batch_size, steps = 3, seed = 1}
  local shared = context.new(DATA, opts)
  local subject = subjects.of("test", given, DATA, opts)
  local findings, series = along.examine(shared, subject, STEPS, seconds or 0.2)
  return findings and tables.by_field(findings, "key"), series, shared
end

--- With all training nodes and whole neighbourhoods a mini-batch is all there is.
function tests.test_the_whole_graph()
  local by_key, series = examined("full", 12)
  for _, at in ipairs{0, 5, STEPS} do
    for _, name in ipairs{"gap", "variance", "bias"} do
      lu.assertAlmostEquals(by_key[("along.%d.%s"):format(at, name)].mean, 0, 1e-6)
    end
  end
  lu.assertEquals(#series, 2)
  lu.assertEquals(series[1].lines[1].points[3][1], STEPS)
end

-- Loss and gradients of the mean loss over nodes, of the model as it is.
local function of_nodes(model, nodes)
  local P = DATA.graph:normalize "sym"
  local batch = ladies.samplers.full(P, {layers = 2})(nodes, ladies.rng(1))
  local step <close> = ladies.step()                                        -- luacheck: ignore
  local logits = model:forward(DATA.features, batch, false)
  local loss = ladies.loss.cross_entropy(logits, DATA.labels[batch.output])
  loss:backward()
  local list = tables.map(model:parameters(), function(one) return one.grad:clone() end)
  for _, one in ipairs(model:parameters()) do one:set_grad_(one.grad * 0) end
  return loss:item(), list
end

local function square(list)
  local sum = 0
  for _, one in ipairs(list) do sum = sum + one:square():sum():item() end
  return sum
end

-- The variance of the gradient of a mini-batch of one node, over all training nodes.
local function variance_of(model)
  local _, mean = of_nodes(model, DATA.train)
  local sum = 0
  for i = 1, #DATA.train do
    local _, own = of_nodes(model, DATA.train:slice(i, i))
    sum = sum + square(tables.map(own, function(one, k) return one - mean[k] end))
  end
  return sum / #DATA.train, square(mean)
end

-- Two draws agree with a number where it is within so many of their standard errors.
local BOUND = 4.9

local function assert_near(found, expected)
  local error = (found.high - found.low) / 2 / 1.96
  lu.assertTrue(math.abs(found.mean - expected) < BOUND * error + 1e-6,
    ("%s: %g, expected %g"):format(found.key, found.mean, expected))
end

--- Mini-batches of one node with whole neighbourhoods: the expected loss and gradient are those of
-- all, and the variance is the one over the twelve nodes.
function tests.test_one_node_by_enumeration()
  local by_key, _, shared = examined("full", 1, 1)
  local training = select(2, next(shared.trainings))
  local model, at_first = training.known.model, nil
  for i, at in ipairs{0, 5, STEPS} do
    for k, parameter in ipairs(model:parameters()) do
      parameter:copy_(training.points[i].values[k])
    end
    local variance, size = variance_of(model)
    at_first = at_first or size
    assert_near(by_key[("along.%d.gap"):format(at)], 0)
    assert_near(by_key[("along.%d.bias"):format(at)], 0)
    assert_near(by_key[("along.%d.variance"):format(at)], variance / at_first)
  end
end

--- The training lowers the loss, or nothing that was said would be of a training.
function tests.test_the_path_is_a_training()
  local _, _, shared = examined("full", 12)
  local points = select(2, next(shared.trainings)).points
  lu.assertTrue(points[3].whole.loss < 0.95 * points[1].whole.loss)
end

--- Random nodes lose neighbours, and so the loss is another one.
function tests.test_a_biased_sampler()
  local by_key = examined({name = "alone", sampler = function(P)
    return function(seeds)
      local own = P:induced(seeds)
      local block = {adj = own, dst = seeds, src = seeds}
      return {blocks = {block, block}, input = seeds, output = seeds}
    end
  end}, 12)
  lu.assertTrue(by_key["along.20.gap"].low > 0)
  lu.assertTrue(by_key["along.20.bias"].mean > 0.001)
  lu.assertStrContains(by_key["along.20.gap"].sentence, "a higher loss")
end

function tests.test_samplers_in_step_with_training()
  local findings, text = examined("bandit:2", 6)
  lu.assertNil(findings)
  lu.assertStrContains(text, "it goes in step with its own")
end

function tests.test_command()
  local folder <close> = shell.folder()
  ladies.data.save(DATA, folder.path .. "/graph.npz")
  local text, err = shell.run_ladies({"lab", "rns", "--against", "graphsage:2", "--along", "20",
    "--dataset", "./graph.npz", "--seconds", "0.2", "--quiet", "--hidden", "6"},
    {folder = folder.path})
  lu.assertEquals(err, "")
  for _, words in ipairs{"random nodes: Along a training", "step 0: loss above that of all",
      "step 5: gradient's variance", "step 20: gradient's bias²"} do
    lu.assertStrContains(text, words)
  end
end

function tests.test_other_tasks_are_refused()
  lu.assertErrorMsgContains("along is for tasks of nodes, and link prediction is of edges",
    ladies.lab, "graphsage:2", {dataset = DATA, task = "link_prediction", along = 5, hidden = 4,
      seconds = 0.1, against = {}, quiet = true})
  lu.assertErrorMsgContains("along must be a positive integer", ladies.lab, "ladies",
    {dataset = DATA, along = 0})
end

return tests
