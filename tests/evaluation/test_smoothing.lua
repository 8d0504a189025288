--- Label propagation and Correct and Smooth, against plain loops over dense matrices.
local lu = require "luaunit"
local ladies = require "ladies"
local compare = require "reference.compare"
local toy = require "reference.toy_data"

local smoothing = ladies.smoothing
local tests = {}

local function random(n_rows, n_cols, seed)
  return ladies.zeros(n_rows, n_cols):normal_(1, ladies.rng(seed))
end

-- alpha S F + (1 - alpha) F0, some times, in double.
local function propagated(S, first, alpha, steps)
  local n, f = #first, first
  for _ = 1, steps do
    local after = {}
    for v = 1, n do
      after[v] = {}
      for c = 1, #first[v] do
        local sum = 0
        for u = 1, n do sum = sum + S[v][u] * f[u][c] end
        after[v][c] = alpha * sum + (1 - alpha) * first[v][c]
      end
    end
    f = after
  end
  return f
end

-- D^-1/2 A D^-1/2 of a graph without self-loops; a node without edges has zeros.
local function normalized(A)
  A = A:to_dense():to_table()
  local degrees = {}
  for v, row in ipairs(A) do
    degrees[v] = 0
    for _, a in ipairs(row) do degrees[v] = degrees[v] + a end
  end
  for v, row in ipairs(A) do
    for u, a in ipairs(row) do row[u] = a == 0 and 0 or a / math.sqrt(degrees[v] * degrees[u]) end
  end
  return A
end

local function size(row)
  local sum = 0
  for _, x in ipairs(row) do sum = sum + math.abs(x) end
  return sum
end

-- Logits whose softmax these rows are, as far as they are positive.
local function as_probabilities(f)
  local rows = {}
  for v, row in ipairs(f) do
    local sum, clamped = 0, {}
    for c, x in ipairs(row) do
      clamped[c] = math.max(x, 1e-9)
      sum = sum + clamped[c]
    end
    rows[v] = {}
    for c in ipairs(row) do rows[v][c] = clamped[c] / sum end
  end
  return rows
end

function tests.test_label_propagation()
  local data = toy.new()
  local first = ladies.zeros(toy.NODES, toy.CLASSES):to_table()
  for _, v in ipairs(data.train:to_table()) do first[v][data.labels[v]] = 1 end
  local expected = propagated(normalized(data.graph.adjacency), first, 0.7, 4)
  local found = smoothing.label_propagation(data, {alpha = 0.7, steps = 4})
  compare.assert_close(found:softmax(), as_probabilities(expected), 1e-5, "logits")
  local f1 = ladies.metrics.micro_f1(smoothing.label_propagation(data):argmax(), data.labels,
    data.test)
  lu.assertTrue(f1 > 0.8, f1)
end

function tests.test_correct_and_smooth()
  local data, logits = toy.new(), random(toy.NODES, toy.CLASSES, 3)
  local S, z = normalized(data.graph.adjacency), logits:softmax():to_table()
  local first, mean = ladies.zeros(toy.NODES, toy.CLASSES):to_table(), 0
  local train = data.train:to_table()
  for _, v in ipairs(train) do
    for c = 1, toy.CLASSES do first[v][c] = (data.labels[v] == c and 1 or 0) - z[v][c] end
    mean = mean + size(first[v]) / #train
  end
  local e = propagated(S, first, 0.6, 3)
  for v = 1, toy.NODES do
    local scale = mean / size(e[v])
    for c = 1, toy.CLASSES do z[v][c] = z[v][c] + (scale > 1000 and 1 or scale) * e[v][c] end
  end
  local function found(given)
    given.steps = 3
    return smoothing.correct_and_smooth(data, logits, given):softmax()
  end
  compare.assert_close(found{correct = 0.6, smooth = 0}, as_probabilities(z), 1e-4, "corrected")
  for _, v in ipairs(train) do
    for c = 1, toy.CLASSES do z[v][c] = data.labels[v] == c and 1 or 0 end
  end
  compare.assert_close(found{correct = 0.6, smooth = 0.3},
    as_probabilities(propagated(S, z, 0.3, 3)), 1e-4, "smoothed")
  compare.assert_close(found{correct = 0, smooth = 0}, logits:softmax(), 1e-5, "neither")
end

--- Correct and Smooth raises the F1 of a network that reads no graph.
function tests.test_what_a_model_gains()
  local data = toy.new()
  local config = ladies.experiment.configure{model = "mlp", dataset = "toy", hidden = 16,
    max_batches = 60, batch_size = 20, lr = 0.02, patience = 0}
  local _, model = ladies.experiment.run(config, data, {quiet = true})
  local logits = ladies.inference.exact(model, data)
  local function f1(x) return ladies.metrics.micro_f1(x:argmax(), data.labels, data.test) end
  lu.assertTrue(f1(smoothing.correct_and_smooth(data, logits)) > f1(logits) + 0.05)
end

--- Nodes that may have several classes: logits are above 0 where the smoothed number is above 1/2.
function tests.test_several_classes()
  local edges = {{1, 2}, {2, 1}, {3, 4}, {4, 3}}
  local data = ladies.data.from_arrays{edges = edges, features = ladies.ones(4, 1),
    labels = ladies.tensor{{1, 1}, {0, 0}, {0, 1}, {0, 0}}, train = {1, 3}, val = {2}, test = {4}}
  local logits = smoothing.label_propagation(data, {alpha = 0.5, steps = 60})
  -- The values of a pair with labels 1 and none solve F1 = F2 / 2 + 1/2, F2 = F1 / 2.
  compare.assert_close(logits:sigmoid(), {{2 / 3, 2 / 3}, {1 / 3, 1 / 3}, {0, 2 / 3}, {0, 1 / 3}},
    1e-5, "probabilities")
  local smoothed = smoothing.correct_and_smooth(data, ladies.zeros(4, 2), {correct = 0.5})
  lu.assertTrue(smoothed:get(1, 1) > 0 and smoothed:get(4, 1) < 0)
end

function tests.test_errors()
  local data = toy.new()
  lu.assertErrorMsgContains("logits of 3 x 2 for 180 nodes of 3 classes",
    smoothing.correct_and_smooth, data, ladies.zeros(3, 2))
  lu.assertErrorMsgContains("there are no nodes whose labels are known",
    smoothing.label_propagation, data, {nodes = ladies.index{}})
  local part = ladies.data.from_arrays{edges = {{1, 2}, {2, 1}}, features = ladies.ones(2, 1),
    labels = ladies.index{1, 0}, train = {1}}
  lu.assertErrorMsgContains("nodes[2] has no label", smoothing.label_propagation, part,
    {nodes = ladies.index{1, 2}})
  local targets = ladies.data.from_arrays{graph = data.graph.adjacency, features = data.features,
    targets = ladies.ones(180), train = {1}}
  lu.assertErrorMsgContains("ladies.smoothing.label_propagation: arrays has no labels",
    smoothing.label_propagation, targets)
  lu.assertErrorMsgContains("ladies.smoothing.correct_and_smooth: arrays has no labels",
    smoothing.correct_and_smooth, targets, ladies.zeros(180, 3))
end

return tests
