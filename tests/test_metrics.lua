--- Metrics on predictions scored by hand.
local lu = require "luaunit"
local ladies = require "ladies"

local metrics = ladies.metrics
local tests = {}

-- Three classes, eight nodes, the last without a label.
local predicted = ladies.index{1, 1, 2, 2, 3, 1, 2, 3}
local labels = ladies.index{1, 2, 2, 2, 1, 1, 2, 0}

function tests.test_accuracy_and_micro_f1()
  lu.assertEquals(metrics.accuracy(predicted, labels), 5 / 7)
  lu.assertEquals(metrics.micro_f1(predicted, labels), 5 / 7)
  lu.assertEquals(metrics.accuracy(predicted, labels, ladies.index{1, 2, 8}), 1 / 2)
end

function tests.test_confusion()
  lu.assertEquals(metrics.confusion(predicted, labels, 3), {{2, 0, 1}, {1, 3, 0}, {0, 0, 0}})
end

--- Class 1: TP 2, FP 1, FN 1; class 2: TP 3, FP 0, FN 1; class 3: TP 0, FP 1, FN 0.
function tests.test_macro_f1()
  local expected = (4 / 6 + 6 / 7 + 0) / 3
  lu.assertAlmostEquals(metrics.macro_f1(predicted, labels), expected, 1e-12)
  lu.assertEquals(metrics.macro_f1(predicted, labels, ladies.index{1, 3, 4}), 1)
end

--- Class 1: TP 2, FP 1, FN 0; class 2: TP 1, FP 0, FN 2; class 3: nothing; class 4: FP 1. The fifth
-- node has no label.
function tests.test_several_classes_a_node()
  local NAN = 0 / 0
  local logits = ladies.tensor{{1, 3, -1, -1}, {2, -1, -1, 0.1}, {0.5, 0, -2, -1}, {-9, -1, 0, -1},
    {1, 1, 1, 1}}
  local targets = ladies.tensor{{1, 1, 0, 0}, {0, 1, 0, 0}, {1, 1, 0, 0}, {0, 0, 0, 0},
    {NAN, NAN, NAN, NAN}}
  local marked = logits:above(0)
  lu.assertAlmostEquals(metrics.micro_f1(marked, targets), 2 * 3 / (2 * 3 + 2 + 2), 1e-12)
  lu.assertAlmostEquals(metrics.macro_f1(marked, targets), (4 / 5 + 2 / 4 + 0 + 0) / 4, 1e-12)
  lu.assertEquals(metrics.accuracy(marked, targets), 2 / 4)
  local function scores(...)
    local idx = ladies.index{...}
    return {metrics.micro_f1(marked, targets, idx), metrics.macro_f1(marked, targets, idx),
      metrics.accuracy(marked, targets, idx)}
  end
  lu.assertEquals(scores(1, 5), {1, 2 / 4, 1})
  lu.assertEquals(scores(4), {0, 0, 1})
  lu.assertErrorMsgContains("predictions of 5 x 4 for labels of 4 x 3", metrics.micro_f1, marked,
    ladies.ones(4, 3))
  lu.assertErrorMsgContains("predictions must be 0 or 1, as logits:above(0) gives them",
    metrics.micro_f1, logits, targets)
  lu.assertErrorMsgContains("the predictions must be a Tensor", metrics.micro_f1, labels, targets)
  lu.assertErrorMsgContains("none of the nodes has a label", metrics.macro_f1, marked, targets,
    ladies.index{5})
end

function tests.test_errors()
  lu.assertErrorMsgContains("7 predictions for 8 labels", metrics.accuracy,
    ladies.index{1, 1, 1, 1, 1, 1, 1}, labels)
  lu.assertErrorMsgContains("none of the nodes has a label", metrics.accuracy, predicted, labels,
    ladies.index{8})
  lu.assertErrorMsgContains("the predictions must be an Index", metrics.accuracy, {1, 2}, labels)
  lu.assertErrorMsgContains("the labels must be an Index or a Tensor", metrics.accuracy, predicted,
    {1, 2})
  lu.assertErrorMsgContains("idx must be an Index", metrics.micro_f1, predicted, labels, {1})
end

return tests
