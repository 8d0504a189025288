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
  lu.assertAlmostEquals(metrics.macro_f1(predicted, labels, 3), expected, 1e-12)
  -- A fourth class that never occurs changes nothing.
  lu.assertAlmostEquals(metrics.macro_f1(predicted, labels, 4), expected, 1e-12)
end

--- Class 1: TP 2, FP 1, FN 0; class 2: TP 1, FP 0, FN 2; class 3: nothing; class 4: FP 1.
function tests.test_multilabel_f1()
  local logits = ladies.tensor{{1, 3, -1, -1}, {2, -1, -1, 0.1}, {0.5, 0, -2, -1}, {-9, -1, 0, -1}}
  local targets = ladies.tensor{{1, 1, 0, 0}, {0, 1, 0, 0}, {1, 1, 0, 0}, {0, 0, 0, 0}}
  local micro, macro = metrics.multilabel_f1(logits, targets)
  lu.assertAlmostEquals(micro, 2 * 3 / (2 * 3 + 2 + 2), 1e-12)
  lu.assertAlmostEquals(macro, (4 / 5 + 2 / 4 + 0) / 3, 1e-12)
  lu.assertEquals({metrics.multilabel_f1(logits, targets, ladies.index{1})}, {1, 1})
  lu.assertEquals({metrics.multilabel_f1(logits, targets, ladies.index{4})}, {0, 0})
  lu.assertErrorMsgContains("logits of 4 x 4 for targets of 4 x 3", metrics.multilabel_f1, logits,
    ladies.ones(4, 3))
  lu.assertErrorMsgContains("the targets must be a Tensor", metrics.multilabel_f1, logits, labels)
end

function tests.test_errors()
  lu.assertErrorMsgContains("7 predictions for 8 labels", metrics.accuracy,
    ladies.index{1, 1, 1, 1, 1, 1, 1}, labels)
  lu.assertErrorMsgContains("none of the nodes has a label", metrics.accuracy, predicted, labels,
    ladies.index{8})
  lu.assertErrorMsgContains("the predictions must be an Index", metrics.accuracy, {1, 2}, labels)
end

os.exit(lu.LuaUnit.new():runSuiteByInstances{{"metrics", tests}}, true)
