--- Metrics on predictions scored by hand.
local lu = require "luaunit"
local ladies = require "ladies"

local metrics = ladies.metrics
local tests = {}

-- Three classes, eight nodes, the first without a label.
local predicted = ladies.index{3, 1, 2, 2, 3, 1, 2, 1}
local labels = ladies.index{0, 2, 2, 2, 1, 1, 2, 1}

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

function tests.test_by_class()
  local one, two, three, four = table.unpack(metrics.by_class(predicted, labels, 4))
  lu.assertEquals({one.nodes, one.predicted, one.correct}, {3, 3, 2})
  lu.assertEquals({one.precision, one.recall, one.f1}, {2 / 3, 2 / 3, 4 / 6})
  lu.assertEquals({two.precision, two.recall, two.f1}, {1, 3 / 4, 6 / 7})
  lu.assertEquals({three.nodes, three.predicted, three.precision, three.f1}, {0, 1, 0, 0})
  lu.assertNotEquals(three.recall, three.recall)                                 -- 0 / 0
  lu.assertEquals({four.nodes, four.predicted, four.correct}, {0, 0, 0})
  lu.assertEquals(#metrics.by_class(predicted, labels), 3)
  lu.assertEquals(metrics.by_class(predicted, labels, nil, ladies.index{2, 8})[2].recall, 0)
  local several = metrics.by_class(ladies.tensor{{1, 1}, {1, 0}}, ladies.tensor{{1, 0}, {0, 0}})
  lu.assertEquals({several[1].precision, several[1].recall}, {1 / 2, 1})
  lu.assertEquals({several[2].nodes, several[2].predicted, several[2].f1}, {0, 1, 0})
end

--- Two classes, probabilities 0.9, 0.9, 0.6 and 0.6 of the first; right, wrong, right, no label.
function tests.test_calibration()
  local nine, six = math.log(9), math.log(1.5)
  local logits = ladies.tensor{{nine, 0}, {nine, 0}, {six, 0}, {six, 0}}
  local truth = ladies.index{1, 2, 1, 0}
  local found = metrics.calibration(logits, truth, {bins = 4})
  lu.assertEquals(#found.bins, 4)
  lu.assertEquals({found.bins[3].from, found.bins[3].to}, {0.5, 0.75})
  lu.assertEquals({found.bins[4].nodes, found.bins[4].accuracy}, {2, 0.5})
  lu.assertAlmostEquals(found.bins[4].confidence, 0.9, 1e-6)
  lu.assertEquals({found.bins[3].nodes, found.bins[3].accuracy}, {1, 1})
  lu.assertAlmostEquals(found.error, (2 * 0.4 + 0.4) / 3, 1e-6)
  lu.assertAlmostEquals(metrics.calibration(logits, truth, {idx = ladies.index{3, 4}}).error, 0.4,
    1e-6)
  lu.assertErrorMsgContains("the logits must be a Tensor", metrics.calibration, truth, truth)
  lu.assertErrorMsgContains("the labels must be an Index", metrics.calibration, logits)
  lu.assertErrorMsgContains("bins must be an integer in [1, 10000]", metrics.calibration, logits,
    truth, {bins = 1e9})
  lu.assertErrorMsgContains("classes must be an integer in [1, 100000]", metrics.by_class,
    truth, truth, 1e9)
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

--- Positives of 3 and 1 beside 4 3 2 -inf and 0 1 1 1: ranks 2 or 3, and 1 to 4.
function tests.test_ranks_and_ties()
  local positive = ladies.tensor{3, 1}
  local negative = ladies.tensor{{4, 3, 2, -math.huge}, {0, 1, 1, 1}}
  local function ranks(ties) return metrics.ranks(positive, negative, {ties = ties}):to_table() end
  lu.assertEquals(ranks(), {2.5, 2.5})
  lu.assertEquals(ranks "optimistic", {2, 1})
  lu.assertEquals(ranks "pessimistic", {3, 4})
  lu.assertAlmostEquals(metrics.mrr(positive, negative), 0.4, 1e-12)
  lu.assertEquals(metrics.hits(positive, negative, 2), 0)
  lu.assertEquals(metrics.hits(positive, negative, 2, {ties = "optimistic"}), 1)
  local shared = ladies.tensor{2, -math.huge, 3, 1, 0, 3}
  lu.assertEquals(metrics.ranks(positive, shared):to_table(), {2, 4.5})
  lu.assertEquals(metrics.ranks(positive:reshape(2, 1), shared):to_table(), {2, 4.5})
  lu.assertEquals(metrics.ranks(positive, ladies.zeros(0)):to_table(), {1, 1})
end

--- Ranks are right for more rows of candidates than are compared at a time.
function tests.test_ranks_of_many_candidates()
  local negative = ladies.range(1, 3 << 20):to_tensor():reshape(3, 1 << 20)
  local positive = ladies.tensor{0.5, (1 << 20) + 10, 3 << 20}
  lu.assertEquals(metrics.ranks(positive, negative, {ties = "pessimistic"}):to_table(),
    {(1 << 20) + 1, (1 << 20) - 9 + 1, 2})
end

function tests.test_a_curve_needs_both_kinds()
  local scores = ladies.tensor{1, 2, 3}
  lu.assertErrorMsgContains("there are no targets with both 1 and 0", metrics.roc_auc, scores,
    ladies.ones(3))
  lu.assertEquals(metrics.average_precision(scores, ladies.ones(3)), 1)
  lu.assertErrorMsgContains("no column has targets with 1", metrics.average_precision,
    ladies.ones(2, 2), ladies.zeros(2, 2))
  lu.assertErrorMsgContains("the scores have nan", metrics.roc_auc, ladies.tensor{1, 0 / 0, 3},
    ladies.tensor{0, 1, 1})
  lu.assertErrorMsgContains("a target must be 0 or 1", metrics.roc_auc, scores,
    ladies.tensor{0, 0.5, 1})
  lu.assertErrorMsgContains("scores of 3 x 1 for targets of 2 x 1", metrics.roc_auc, scores,
    ladies.ones(2))
  lu.assertEquals(metrics.roc_auc(scores, ladies.tensor{0, 1, 0}, ladies.index{1, 2}), 1)
  local infinite = ladies.tensor{-math.huge, 5, math.huge}
  lu.assertEquals(metrics.roc_auc(infinite, ladies.tensor{0, 1, 1}), 1)
end

function tests.test_numbers()
  local got, want = ladies.tensor{1, 2, 4}, ladies.tensor{1, 3, 0 / 0}
  lu.assertEquals(metrics.mse(got, want), 0.5)
  lu.assertEquals(metrics.mae(got, want), 0.5)
  lu.assertEquals(metrics.r2(got, want), 0.5)
  lu.assertEquals(metrics.mse(got, want, ladies.index{1}), 0)
  local alone = metrics.r2(got, want, ladies.index{1})
  lu.assertNotEquals(alone, alone)
  lu.assertErrorMsgContains("no target is known", metrics.mae, got, want, ladies.index{3})
  lu.assertErrorMsgContains("predictions of 3 x 1 for targets of 2 x 2", metrics.mse, got,
    ladies.ones(2, 2))
end

function tests.test_errors_of_ranks()
  lu.assertErrorMsgContains("candidates of 3 rows for 2 positives", metrics.mrr, ladies.ones(2),
    ladies.ones(3, 4))
  lu.assertErrorMsgContains("the positives' scores have -inf", metrics.ranks,
    ladies.tensor{-math.huge}, ladies.ones(3))
  lu.assertErrorMsgContains("the candidates' scores have nan", metrics.mrr, ladies.ones(1),
    ladies.tensor{0 / 0})
  lu.assertErrorMsgContains("there are no positives", metrics.hits, ladies.zeros(0), ladies.ones(1),
    1)
  lu.assertErrorMsgContains("k must be a positive integer", metrics.hits, ladies.ones(1),
    ladies.ones(1), 0)
end

function tests.test_precision_of_a_class_that_nobody_is_given()
  lu.assertEquals(metrics.precision(ladies.index{1, 1}, ladies.index{1, 2}, {class = 2}), 0)
  lu.assertEquals(metrics.recall(ladies.index{1, 1}, ladies.index{1, 2}, {class = 7}), 0)
  lu.assertEquals(metrics.precision(ladies.index{1, 1}, ladies.index{1, 2}), 1 / 4)
  lu.assertEquals(metrics.recall(ladies.index{1, 1}, ladies.index{1, 2},
    {idx = ladies.index{2}}), 0)
end

function tests.test_errors()
  lu.assertErrorMsgContains("7 predictions for 8 labels", metrics.accuracy,
    ladies.index{1, 1, 1, 1, 1, 1, 1}, labels)
  lu.assertErrorMsgContains("none of the nodes has a label", metrics.accuracy, predicted, labels,
    ladies.index{1})
  lu.assertErrorMsgContains("the predictions must be an Index", metrics.accuracy, {1, 2}, labels)
  lu.assertErrorMsgContains("the labels must be an Index or a Tensor", metrics.accuracy, predicted,
    {1, 2})
  lu.assertErrorMsgContains("idx must be an Index", metrics.micro_f1, predicted, labels, {1})
end

--- Targets have no classes; a data set with nothing to be predicted may have those of a model.
function tests.test_data_without_labels()
  local model = ladies.nn.gcn{inputs = 1, outputs = 2, layers = 1, hidden = 1}
  local arrays = {edges = {{1, 2}, {2, 1}}, features = ladies.ones(2, 1)}
  local none = ladies.data.from_arrays(arrays)
  lu.assertEquals(#metrics.predictions(model, none), 2)
  arrays.targets = ladies.ones(2)
  local targets = ladies.data.from_arrays(arrays)
  lu.assertErrorMsgContains("ladies.metrics.predictions: arrays has no labels",
    metrics.predictions, model, targets)
  for _, data in ipairs{none, targets} do
    lu.assertErrorMsgContains("ladies.metrics.f1: arrays has no labels", metrics.f1, model, data,
      ladies.index{1})
  end
end

return tests
